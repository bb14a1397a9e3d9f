"""What is wrong with a request, all of it at once, in our own words and with the path of each field."""

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from hangar.wire.operator import JsonObject
from hangar.wire.problems import FieldError

SPACE = 0x20
DELETE = "\x7f"


def field_errors(error: ValidationError, root: str = "", allowed: tuple[str, ...] = ()) -> tuple[FieldError, ...]:
    """Return what pydantic found, with paths below `root`. `allowed` names the fields there are, for unknown ones."""
    return tuple(FieldError(_path(root, each), sentence(each, allowed)) for each in error.errors(include_url=False))


def has_control_characters(text: str) -> bool:
    """Tell whether a text holds what no name and no sentence has; tabs and line ends are let through."""
    return any(ord(each) < SPACE and each not in "\t\n\r" for each in text) or DELETE in text


def check_text(text: str) -> str:
    """Return a text as it is. Raises ValueError where it holds control characters."""
    if has_control_characters(text):
        raise ValueError("may not contain control characters")
    return text


def _path(root: str, error: ErrorDetails) -> str:
    path = root
    for part in error["loc"]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def sentence(error: ErrorDetails, allowed: tuple[str, ...]) -> str:
    """Return what is wrong with a field; `allowed` names the fields there are."""
    context: JsonObject = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            return f"there is no such field here; there are: {', '.join(allowed) or 'none'}"
        case "missing":
            return "is missing"
        case "greater_than_equal":
            return f"must be at least {context['ge']}, not {error['input']}"
        case "less_than_equal":
            return f"must be at most {context['le']}, not {error['input']}"
        case "string_too_long":
            return f"may have at most {context['max_length']} characters"
        case "string_too_short":
            return f"must have at least {context['min_length']} characters"
        case "literal_error" | "enum":
            return f"must be {context['expected']}"
        case "int_type" | "int_from_float" | "int_parsing":
            return "must be a whole number"
        case "string_type":
            return "must be a text"
        case "bool_type":
            return "must be true or false"
        case "value_error":
            return str(context["error"])
        case "dict_type" | "model_type":
            return "must be an object"
        case _:
            return error["msg"]

"""What is wrong with a request, all of it at once, in our own words and with the path of each field."""

import re

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from hangar.domain.limits import NAME_CHARS_MAX, TARGET_CHARS_MAX
from hangar.wire.operator import JsonObject
from hangar.wire.problems import FieldError

SPACE = 0x20
DELETE = "\x7f"

DNS_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
"""What Kubernetes takes for the name of a node: an RFC 1123 subdomain; names of clusters are like it."""


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


def check_name(text: str) -> str:
    """Return the name of a cluster as it is. Raises ValueError where it could not be one."""
    if text and not DNS_NAME.fullmatch(text):
        raise ValueError(f"{text[:NAME_CHARS_MAX]!r} is no name: lower-case letters, digits, and - . between them")
    return text


def check_target(text: str) -> str:
    """Return a target, NAME or CLUSTER/NAME, as it is. Raises ValueError where it could not be one."""
    cluster, slash, name = text.partition("/")
    for part in (cluster, name) if slash else (cluster,):
        if slash and not part:
            raise ValueError(f"{text[:TARGET_CHARS_MAX]!r} is no target: a name, or cluster/name")
        check_name(part)
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
            return f"is no field here: there are {', '.join(allowed) or 'none'}"
        case "missing":
            return "is missing"
        case "greater_than_equal":
            return f"must be at least {context['ge']}, not {error['input']}"
        case "less_than_equal":
            return f"must be at most {context['le']}, not {error['input']}"
        case "string_too_long" | "too_long":
            return f"may have at most {context['max_length']} characters"
        case "string_too_short" | "too_short":
            least = context["min_length"]
            return "may not be empty" if least == 1 else f"must have at least {least} characters"
        case "literal_error" | "enum":
            return f"must be {context['expected']}"
        case "int_type" | "int_from_float" | "int_parsing":
            return "must be a whole number"
        case "string_type":
            return "must be a text"
        case "bool_type":
            return "must be true or false"
        case "datetime_parsing" | "datetime_from_date_parsing" | "datetime_type":
            return f"{error['input']!r} is no instant: write 2026-10-27T12:34:56Z"
        case "value_error":
            return str(context["error"])
        case "dict_type" | "model_type":
            return "must be an object"
        case _:
            return error["msg"]

"""What is wrong with a request, in our words."""

from typing import Annotated, Literal

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from hangar.hub.validation import check_text, field_errors, has_control_characters


class Thing(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    count: int = Field(default=1, ge=1, le=5)
    name: Annotated[str, AfterValidator(check_text)] = Field(default="ab", min_length=2, max_length=3)
    is_on: bool = False
    mode: Literal["keep", "drop"] = "keep"
    parts: dict[str, int] = {}
    many: list[int] = []
    needed: int


@pytest.mark.parametrize(
    ("given", "path", "message"),
    [
        ({"count": 0}, "count", "must be at least 1, not 0"),
        ({"count": 6}, "count", "must be at most 5, not 6"),
        ({"count": "1"}, "count", "must be a whole number"),
        ({"count": 1.5}, "count", "must be a whole number"),
        ({"count": True}, "count", "must be a whole number"),
        ({"name": 1}, "name", "must be a text"),
        ({"name": "a"}, "name", "must have at least 2 characters"),
        ({"name": "abcd"}, "name", "may have at most 3 characters"),
        ({"name": "a\x00"}, "name", "may not contain control characters"),
        ({"is_on": 1}, "is_on", "must be true or false"),
        ({"mode": "x"}, "mode", "must be 'keep' or 'drop'"),
        ({"parts": []}, "parts", "must be an object"),
        ({"parts": {"a": "b"}}, "parts.a", "must be a whole number"),
        ({"many": [1, "b"]}, "many[1]", "must be a whole number"),
        ({"colour": 1}, "colour", "is no field here: there are count, name"),
    ],
)
@pytest.mark.parametrize("root", ["", "params"])
def test_each_fault_has_its_path_and_sentence(given: dict[str, object], path: str, message: str, root: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Thing.model_validate({"needed": 1} | given)
    (error,) = field_errors(caught.value, root, allowed=("count", "name"))
    assert (error.path, error.message) == (f"{root}.{path}" if root else path, message)


def test_what_is_missing_is_said_so_and_all_is_said_at_once() -> None:
    with pytest.raises(ValidationError) as caught:
        Thing.model_validate({"count": 0})
    assert [(each.path, each.message) for each in field_errors(caught.value)] == [
        ("count", "must be at least 1, not 0"),
        ("needed", "is missing"),
    ]


@pytest.mark.parametrize(
    ("text", "has"), [("plain ü\n\ttext\r\n", False), ("\x00", True), ("\x1b[31m", True), ("\x7f", True)]
)
def test_control_characters_are_found(text: str, has: bool) -> None:
    assert has_control_characters(text) is has

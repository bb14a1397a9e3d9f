"""Reads the file that `apply` is given: one object, in YAML or JSON, as the user wants it to be."""

from __future__ import annotations

import json
import sys

from hangar.cli.failures import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hangar.cli.documents import Document

STDIN = "-"


def read_desired(path: str, what: str) -> Document:
    """Return the object in a file, or on stdin for `-`; `what` is what it has to be, for the complaints.

    Raises:
        UsageError: there is no such file, it is no YAML or JSON, or holds anything else than one object.
    """
    where = "stdin" if path == STDIN else path
    text = _text(path, where)
    try:
        document: object = json.loads(text)
    except ValueError:
        document = _yaml(text, where, what)
    if not isinstance(document, dict):
        said = "is empty" if document is None else f"holds {_called(document)}"
        raise UsageError(f"{where} {said}; one {what} is wanted, as `name: value` lines")
    try:
        json.dumps(document, allow_nan=False)
    except (TypeError, ValueError) as error:  # YAML has dates, and the like, that JSON cannot say
        raise UsageError(f"{where} holds what cannot be sent as JSON ({error}); put it in quotes") from None
    return document


def name_in(document: Document, path: str) -> str:
    """Return the name of an object that was read from a file. Raises UsageError where it has none."""
    name = document.get("name")
    if not isinstance(name, str) or not name:
        where = "stdin" if path == STDIN else path
        given = "has no `name`" if name is None else f"has the name {name!r}, which is no text"
        raise UsageError(f"{where} {given}; write `name: NAME`")
    return name


def _text(path: str, where: str) -> str:
    try:
        if path == STDIN:
            return sys.stdin.read() if sys.stdin is not None else ""
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"cannot read {where}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"cannot read {where}: it is no UTF-8 text") from None


def _yaml(text: str, where: str, what: str) -> object:
    import yaml  # as with what is printed, only when it is needed

    try:
        documents: list[object] = [each for each in yaml.safe_load_all(text) if each is not None]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise UsageError(f"{where} is no YAML and no JSON{line}: {problem}") from None
    if len(documents) > 1:
        raise UsageError(f"{where} holds {len(documents)} documents; one {what} a file is wanted")
    return documents[0] if documents else None


def _called(document: object) -> str:
    return "a list" if isinstance(document, list) else f"only {document!r}"

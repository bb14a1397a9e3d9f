"""Log lines: one form for ours and for libraries', on stderr, with the ids that tie them together."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from hangar.telemetry.logs import configure_logs


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_json_lines_carry_level_logger_instant_and_what_is_bound(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("json", "info")
    with structlog.contextvars.bound_contextvars(request="r1", operation="op_1"):
        structlog.get_logger("hangar.test").info("request", status=202)
        structlog.get_logger("hangar.test").debug("not asked for")
    captured = capsys.readouterr()
    line = json.loads(captured.err)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "request",
        "level": "info",
        "logger": "hangar.test",
        "status": 202,
        "request": "r1",
        "operation": "op_1",
    }
    assert captured.out == ""


def test_libraries_lines_look_the_same_and_their_everyday_ones_are_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logs("json", "info")
    logging.getLogger("uvicorn.error").info("Started server process")
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["level"]) == ("Invalid HTTP request received.", "warning")


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_fault_is_told_with_its_traceback_but_without_the_values_around_it(
    capsys: pytest.CaptureFixture[str], form: str
) -> None:
    configure_logs("json" if form == "json" else "console", "info")
    try:
        _fault("hgr_" + "do-not-log-this")
    except ValueError as error:
        structlog.get_logger("hangar.test").error("a fault", exc_info=error)
    said = capsys.readouterr().err
    assert "ValueError: a fault of 19 letters" in said
    assert "hgr_do-not" not in said


def _fault(secret: str) -> None:
    raise ValueError(f"a fault of {len(secret)} letters")

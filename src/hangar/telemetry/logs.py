"""Log lines: JSON or for the eye, one an event, on stderr; libraries' lines look the same."""

import logging
import sys
from typing import Literal

import structlog
from structlog.typing import Processor

REQUEST = "request"
"""The key of a request's id, in the hub's lines and in its operators'."""


def configure_logs(form: Literal["json", "console"], level: Literal["debug", "info", "warning", "error"]) -> None:
    """Send all log lines of this process to stderr, from `level` on.

    What is bound by `structlog.contextvars` (`request`, `operation`, `cluster`) is on every line of that request.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    last: list[Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if form == "json"
        # Plain: the renderer's own tracebacks show local variables, and with them tokens.
        else [
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
        ]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last]
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for library in ("alembic", "httpcore2", "httpx2", "uvicorn"):
        logging.getLogger(library).setLevel(logging.WARNING)  # the rest is told by us, or not worth a line
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def current_request() -> str | None:
    """Return the id of the request that is being answered here, or None."""
    found = structlog.contextvars.get_contextvars().get(REQUEST)
    return found if isinstance(found, str) else None

"""Shows how an operation gets on: one line rewritten in place on a terminal, one line a change elsewhere."""

from __future__ import annotations

import time

from hangar.cli.durations import rough
from hangar.cli.failures import Detached
from hangar.cli.printing import is_capable, is_coloured, width_of
from hangar.cli.render import clean, cut, inline, paint, phase_colour

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from hangar.cli.documents import Document

TERMINAL_PHASES = frozenset({"succeeded", "failed", "cancelled"})
"""The words of the API's promise; domain.operation has the table behind them, and a test compares the two."""

WIDTH_UNKNOWN = 80
"""Some terminals do not say how wide they are; hardly one is narrower than this."""

_START_OF_LINE_AND_ERASE = "\r\x1b[2K"


def title(record: Document) -> str:
    """Return what an operation does to what: `node.drain iad-1-n02`."""
    return clean(f"{record['type']} {record['target']}")


def outcome(record: Document) -> str:
    """Return how an operation ended: `node.drain iad-1-n02 succeeded: evicted_replicas=3 (42s)`."""
    result = record.get("result") or {}
    message = f": {inline(result['message'])}" if result.get("message") else ""
    duration = f" ({inline(result['duration'])})" if result.get("duration") else ""
    return f"{title(record)} {clean(record['phase'])}{message}{duration}"


def doing(record: Document, blockers_max: int | None = None) -> str:
    """Return what an open operation does and waits for, or an empty text when it has not said."""
    progress = record.get("progress") or {}
    parts = []
    if progress.get("total"):
        parts.append(f"{progress['done']}/{progress['total']} {clean(str(progress.get('unit') or ''))}".rstrip())
    if progress.get("message"):
        parts.append(clean(progress["message"]))
    elif record.get("status_reason"):
        parts.append(inline(record["status_reason"]))
    if record.get("cancel"):
        parts.append(f"cancel asked for by {inline(record['cancel'].get('requested_by'))}")
    said = ", ".join(parts)
    waits = [inline(blocker) for blocker in progress.get("blockers") or []]
    shown = waits[:blockers_max]
    more = f" (+{len(waits) - len(shown)} more)" if len(waits) > len(shown) else ""
    return "; ".join([*([said] if said else []), *shown]) + more


class Screen:
    """Where progress is shown. Every method raises Detached when nobody reads any more."""

    def __init__(self, stream: TextIO | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream  # None shows nothing
        self._is_live = is_capable(stream)
        self._is_coloured = is_coloured(stream)
        self._clock = clock
        self._since_s = clock()
        self._record: Document | None = None
        self._last_line = ""

    def show(self, record: Document) -> None:
        """Show an operation as it is now."""
        self._record = record
        if self._is_live:
            self.tick()
            return
        said = doing(record)
        line = f"{title(record)} {clean(record['phase'])}" + (f": {said}" if said else "")
        if line != self._last_line:
            self._last_line = line
            self._write(f"{line}\n")

    def tick(self) -> None:
        """Draw the live line anew, with the time that has gone by."""
        if self._stream is None or self._record is None or not self._is_live:
            return
        phase = clean(self._record["phase"])
        head = f"{title(self._record)} {phase}"
        said = doing(self._record, blockers_max=1)
        tail = f" {rough(self._clock() - self._since_s)}" + (f": {said}" if said else "")
        # A line as wide as the terminal would wrap, and could not be erased.
        room = (width_of(self._stream) or WIDTH_UNKNOWN) - 1
        line = cut(head + tail, room)
        if self._is_coloured and line.startswith(head) and (colour := phase_colour(phase)):
            line = f"{head.removesuffix(phase)}{paint(phase, colour)}{line.removeprefix(head)}"
        self._write(f"{_START_OF_LINE_AND_ERASE}{line}")

    def note(self, text: str) -> None:
        """Print a line that stays."""
        self._write((_START_OF_LINE_AND_ERASE if self._is_live else "") + f"{clean(text)}\n")

    def clear(self) -> None:
        """Erase the live line, before others write."""
        if self._is_live and self._record is not None:
            self._write(_START_OF_LINE_AND_ERASE)

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            raise Detached from None

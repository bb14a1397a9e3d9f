"""Shows how an operation gets on: a few lines rewritten in place on a terminal, one line a change elsewhere."""

from __future__ import annotations

import time

from hangar.cli.durations import rough
from hangar.cli.failures import Detached
from hangar.cli.printing import is_capable, is_coloured, size_of
from hangar.cli.render import clean, cut, fold, inline, paint, phase_colour

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from hangar.cli.documents import Document

TERMINAL_PHASES = frozenset({"succeeded", "failed", "cancelled"})
"""The words of the API's promise; domain.operation has the table behind them, and a test compares the two."""

WIDTH_UNKNOWN = 80
"""Some terminals do not say how wide they are; hardly one is narrower than this."""

ROWS_UNKNOWN = 24
"""Nor how high."""

LIVE_LINES_MAX = 2
"""Enough for how far it is, also on narrow terminals."""

LIVE_BLOCKERS_MAX = 2
"""As many of those it waits for have a line of their own below; a longer list would only flicker."""

BLOCKERS_SHOWN_MAX = 5
"""What is waited for, named in one line; `hgr operation get` lists all of it."""

ECHO_CELLS = 2
"""Where the terminal echoes ^C: it must not run into the next line, which would then not be erased."""

_START_OF_LINE_AND_ERASE = "\r\x1b[2K"
_LINE_ABOVE_AND_ERASE = "\x1b[1A\x1b[2K"


def title(record: Document) -> str:
    """Return what an operation does to what: `node.drain iad-1-n02`, `workload.drain llama on iad-1`."""
    # A node's name says which cluster it is of; that of a workload does not.
    is_somewhere = record["type"].startswith("workload.") and record["cluster"] is not None
    where = f" on {record['cluster']}" if is_somewhere else ""
    return clean(f"{record['type']} {record['target']}{where}")


def outcome(record: Document) -> str:
    """Return how an operation ended: `node.drain iad-1-n02 succeeded: evicted_replicas=3 (42s)`."""
    result = record.get("result") or {}
    message = f": {said}" if (said := result_of(record)) else ""
    duration = f" ({inline(result['duration'])})" if result.get("duration") else ""
    return f"{title(record)} {clean(record['phase'])}{message}{duration}"


def result_of(record: Document) -> str:
    """Return what a finished operation says of itself, without the phase that stands beside it anyway."""
    result = record.get("result") or {}
    return clean(str(result.get("message") or "").removeprefix(f"{record['phase']}: "))


def doing(record: Document, blockers_max: int = BLOCKERS_SHOWN_MAX) -> str:
    """Return what an open operation does and waits for, or an empty text when it has not said.

    At most `blockers_max` blockers are named, and how many more there are; with 0 none is spoken of.
    """
    progress = record.get("progress") or {}
    parts = []
    if progress.get("message"):
        parts.append(clean(progress["message"]))
    elif progress.get("total"):
        parts.append(f"{progress['done']}/{progress['total']} {clean(str(progress.get('unit') or ''))}".rstrip())
    reason = record.get("status_reason") or {}
    if reason:
        parts.append(inline(reason))
    if record.get("cancel") and reason.get("code") != "cancel_requested":
        parts.append(f"cancel asked for by {inline(record['cancel'].get('requested_by'))}")
    waits = [inline(blocker) for blocker in progress.get("blockers") or []]
    shown = waits[:blockers_max]
    more = f" (+{len(waits) - len(shown)} more)" if 0 < len(shown) < len(waits) else ""
    return "; ".join([*parts, *shown]) + more


def waits_of(record: Document, lines_max: int) -> list[str]:
    """Return what an operation waits for, one line each, and in a last line how many more there are."""
    waits = [inline(blocker) for blocker in (record.get("progress") or {}).get("blockers") or []]
    return waits if len(waits) <= lines_max else [*waits[:lines_max], f"and {len(waits) - lines_max} more"]


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
        self._drawn_lines = 0

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
        """Draw the live lines anew, with the time that has gone by."""
        if self._stream is None or self._record is None or not self._is_live:
            return
        phase = clean(self._record["phase"])
        head = f"{title(self._record)} {phase}"
        said = doing(self._record, blockers_max=0)
        tail = f" {rough(self._clock() - self._since_s)}" + (f": {said}" if said else "")
        columns, rows = size_of(self._stream) or (WIDTH_UNKNOWN, ROWS_UNKNOWN)
        # A line as wide as the terminal would wrap, and one above its top could not be erased.
        room = columns - 1 - ECHO_CELLS
        first, *more = fold(head + tail, room, LIVE_LINES_MAX)
        waits = [cut(f"  {each}", room) for each in waits_of(self._record, LIVE_BLOCKERS_MAX)]
        more = [*more, *waits][: max(0, rows - 2)]
        if self._is_coloured and first.startswith(head) and (colour := phase_colour(phase)):
            first = f"{head.removesuffix(phase)}{paint(phase, colour)}{first.removeprefix(head)}"
        erased = self._erasing()
        self._drawn_lines = 1 + len(more)
        self._write(erased + "\n".join([first, *more]))

    def note(self, text: str) -> None:
        """Print a line that stays."""
        self._write(f"{self._erasing()}{clean(text)}\n")

    def clear(self) -> None:
        """Erase the live lines, before others write."""
        if erased := self._erasing():
            self._write(erased)

    def _erasing(self) -> str:
        """Return what erases the live lines, if there are any; the next ones are drawn where they stood."""
        count, self._drawn_lines = self._drawn_lines, 0
        return _START_OF_LINE_AND_ERASE + _LINE_ABOVE_AND_ERASE * (count - 1) if count else ""

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            raise Detached from None

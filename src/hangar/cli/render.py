"""Turns documents into lines: tables, `key: value`, and one-line values; pure, and safe for a terminal.

What others wrote (reasons, names, messages) may hold control characters that would move the cursor or forge a line;
everything passes through `clean`.
"""

from __future__ import annotations

from hangar.cli.durations import rough

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hangar.cli.documents import Document

ABSENT = "-"
GAP = "   "

NARROW_GAP = "  "
"""What parts columns where three spaces would cost one of them its place."""

GREEN, RED, YELLOW, CYAN, GREY = "32", "31", "33", "36", "90"
_PHASES = {"pending": GREY, "running": CYAN, "succeeded": GREEN, "failed": RED, "cancelled": YELLOW}


class Column:
    """One column of a table: its header, the text of a cell at an instant, and perhaps a colour for that text.

    On a narrow terminal columns are left out, those with the smallest `gives_way` first (with 0 a column stays), until
    `cells_min` cells of the last one find room (all of it where that is None). Then it is cut.
    """

    __slots__ = ("cell", "cells_min", "gives_way", "header", "is_wide", "style")

    def __init__(
        self,
        header: str,
        cell: Callable[[Document, float], str],
        *,
        is_wide: bool = False,
        gives_way: int = 0,
        cells_min: int | None = None,
        style: Callable[[str], str | None] = lambda _text: None,
    ) -> None:
        self.header = header
        self.cell = cell
        self.is_wide = is_wide
        self.gives_way = gives_way
        self.cells_min = cells_min
        self.style = style


class Table:
    """Aligned lines, page after page: the first page sets the widths, so that a long list need not be held back.

    `width_max` is the terminal's width, to which lines are cut; None leaves them whole. With `is_growing` wider texts
    of later pages move the columns to the right, and there is a new header when a column has to give way to them.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        has_header: bool,
        is_coloured: bool,
        width_max: int | None,
        is_growing: bool = False,
    ) -> None:
        self._columns = columns
        self._has_header = has_header
        self._is_coloured = is_coloured
        self._width_max = width_max
        self._is_growing = is_growing
        self._widths: list[int] = []  # of all columns, also of those that are not shown
        self._shown: list[int] = []
        self._gap = GAP

    def lines(self, items: Iterable[Document], now_s: float) -> Iterator[str]:
        """Yield the lines for more items, before the first of them the header."""
        rows = [[column.cell(item, now_s) for column in self._columns] for item in items]
        if (not self._widths or self._is_growing) and self._is_laid_out_anew(rows) and self._has_header:
            yield self._line([column.header for column in self._columns], is_header=True)
        for row in rows:
            yield self._line(row)

    def _is_laid_out_anew(self, rows: Sequence[Sequence[str]]) -> bool:
        """Choose the widths, the columns and the gap between them; tell whether other columns or gaps came of it."""
        before = self._shown, self._gap
        widths = self._widths or [cells_of(column.header) for column in self._columns]
        self._widths = [max([width, *map(cells_of, texts)]) for width, *texts in zip(widths, *rows, strict=True)]
        self._shown = list(range(len(self._columns)))
        leaving = sorted((index for index in self._shown if self._columns[index].gives_way), key=self._gives_way)
        while not self._has_found_a_gap() and leaving:
            self._shown.remove(leaving.pop(0))
        return before != (self._shown, self._gap)

    def _gives_way(self, index: int) -> int:
        return self._columns[index].gives_way

    def _has_found_a_gap(self) -> bool:
        *others, last = (self._widths[index] for index in self._shown)
        cells_min = self._columns[-1].cells_min
        if cells_min is not None:  # what comes later in a growing table may need as much, whatever there is now
            last = cells_min if self._is_growing else min(last, cells_min)
        for self._gap in (GAP, NARROW_GAP):
            needed = sum(others) + len(others) * len(self._gap) + last
            if self._width_max is None or needed <= self._width_max:
                return True
        return False

    def _line(self, texts: Sequence[str], *, is_header: bool = False) -> str:
        line, used = "", 0
        for index in self._shown:
            column, text, width = self._columns[index], texts[index], self._widths[index]
            shown = text if self._width_max is None else cut(text, self._width_max - used)
            padding = "" if index == self._shown[-1] else " " * (width - cells_of(text)) + self._gap
            style = column.style(text) if self._is_coloured and not is_header else None
            line += (paint(shown, style) if style and shown else shown) + padding
            used += width + len(self._gap)
        return line.rstrip()


def paint(text: str, colour: str) -> str:
    """Return a text in a colour, for a terminal."""
    return f"\x1b[{colour}m{text}\x1b[0m"


def phase_colour(phase: str) -> str | None:
    """Return the colour of a phase."""
    return _PHASES.get(phase)


def clean(text: str) -> str:
    """Return a text that prints as one line and moves nothing: what is not printable is shown by its escape."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def cells_of(text: str) -> int:
    """Return how many cells of a terminal a clean text takes."""
    if text.isascii():
        return len(text)
    # Names are ASCII; only people's reasons bring wide letters, so few calls ever need the tables.
    import unicodedata

    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def cut(text: str, width_max: int) -> str:
    """Return a clean text cut to a number of cells, with an ellipsis where something is missing."""
    if cells_of(text) <= width_max:
        return text
    return f"{_start(text, width_max - 1)}…" if width_max > 0 else ""


def fold(text: str, width: int, lines_max: int) -> list[str]:
    """Return a clean text as lines of a width, broken at spaces; all but the first are indented, the last is cut."""
    lines: list[str] = []
    rest = text
    while cells_of(rest) > width and len(lines) + 1 < lines_max:
        end = len(_start(rest, width))
        if rest[end] != " " and rest[:end].lstrip().find(" ") > 0:  # in the middle of a word, and not of the first one
            end = rest.rindex(" ", 0, end)
        lines.append(rest[:end].rstrip())
        rest = f"  {rest[end:].lstrip()}"
    return [*lines, cut(rest, width)]


def _start(text: str, cells_max: int) -> str:
    """Return as much of a clean text as fits into a number of cells."""
    start = text[:cells_max]
    while cells_of(start) > cells_max:
        start = start[:-1]
    return start


def inline(value: object) -> str:
    """Return any JSON value on one line."""
    if isinstance(value, str):  # most are, and a table has thousands
        return clean(value) or ABSENT
    if value in (None, [], {}):
        return ABSENT
    match value:
        case bool():
            return "true" if value else "false"
        case list():
            between = "; " if any(isinstance(each, dict) for each in value) else ", "
            return between.join(map(inline, value))
        case dict():
            if isinstance(message := value.get("message"), str):
                return inline(message)
            return " ".join(f"{clean(name)}={inline(each)}" for name, each in value.items() if each is not None)
        case _:
            return str(value)


def key_values(document: Document, prefix: str = "") -> Iterator[str]:
    """Yield `key: value` lines; nested keys are joined by dots, items of a list of objects are numbered from 1."""
    for name, value in document.items():
        key = f"{prefix}{clean(name)}"
        match value:
            case {**fields} if fields:
                yield from key_values(value, f"{key}.")
            case [{**_first}, *_]:
                for number, item in enumerate(value, start=1):
                    yield f"{key}[{number}]: {inline(item)}"
            case _:
                yield f"{key}: {inline(value)}"


# --- cells ------------------------------------------------------------------------------------------------------------


def text_of(*path: str) -> Callable[[Document, float], str]:
    """Return a cell that shows the field at a path."""

    def cell(item: Document, _now_s: float) -> str:
        value: object = item
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return inline(value)

    return cell


def age_of(name: str) -> Callable[[Document, float], str]:
    """Return a cell that shows how long ago the instant in a field was."""

    def cell(item: Document, now_s: float) -> str:
        instant = item.get(name)
        return ABSENT if instant is None else age(instant, now_s)

    return cell


def age(instant: str, now_s: float) -> str:
    """Return how long ago an RFC 3339 instant was; what is no instant is shown as it is."""
    try:
        return rough(now_s - seconds_of(instant))
    except (ValueError, TypeError):
        return inline(instant)


def seconds_of(instant: str) -> float:
    """Return an RFC 3339 instant in seconds since 1970. Raises ValueError, TypeError where it is none."""
    from datetime import datetime

    return datetime.fromisoformat(instant).timestamp()

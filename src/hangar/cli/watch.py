"""What `ls --watch` does: it prints the list, and from then on one line for each thing that changes."""

from __future__ import annotations

import select
import sys
import time

from hangar.cli.failures import Failure
from hangar.cli.printing import compact_json, hint, table_for, yaml_of
from hangar.cli.render import clean
from hangar.cli.stream import RESET, Absence, Feed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import NoReturn, Protocol

    from hangar.cli.documents import Document
    from hangar.cli.http import Hub, Query
    from hangar.cli.render import Column

    class Changing(Protocol):
        """A list that changes."""

        def first(self) -> tuple[int, list[Document]]:
            """Return the revision that the list was read at, and what to print of it."""

        def concerns(self, event: Document) -> bool:
            """Tell whether the list may look otherwise after an event."""

        def changed(self, events: Sequence[Document] | None) -> list[Document]:
            """Return what to print after some events; None: anything may have happened."""


PACE_S = 0.5
"""At most so often what changed is read and printed: in between several changes of one thing become one line."""

REFRESH_S = 10.0
"""So often a list is read without any event: what pods take of a node changes, and nobody writes that down."""

NOT_NEWS = ("updated_at", "last_seen_at")
"""Fields that change while nothing does."""


class Printer:
    """Prints documents as they come: rows of one growing table, one JSON document a line, or names."""

    def __init__(self, args: Namespace, columns: Sequence[Column], name: Callable[[Document], str]) -> None:
        self._form = "name" if args.quiet else args.output
        self._name = name
        self._columns = [column for column in columns if self._form == "wide" or not column.is_wide]
        self._table = table_for(args, columns, is_growing=True)

    def print(self, documents: Sequence[Document]) -> None:
        """Print some more, at once, for whoever reads at the other end of a pipe."""
        if not documents:
            return
        for line in self._lines(documents):
            print(line)
        sys.stdout.flush()

    def news(self, document: Document) -> object:
        """Return what of a document is worth a new line when it changes: all of it, or what its row shows."""
        lasting = {name: value for name, value in document.items() if name not in NOT_NEWS}
        if self._form in ("json", "yaml"):
            return lasting
        return [column.cell(lasting, 0.0) for column in self._columns]

    def _lines(self, documents: Sequence[Document]) -> Iterable[str]:
        match self._form:
            case "name":
                return (clean(self._name(each)) for each in documents)
            case "json":
                return map(compact_json, documents)
            case "yaml":
                return (f"---\n{yaml_of(each)}".rstrip("\n") for each in documents)
            case _:
                return self._table.lines(documents, time.time())


def watch(
    args: Namespace,
    hub: Hub,
    query: Query,
    printer: Printer,
    changing: Changing,
    *,
    is_told_all: bool = False,
) -> NoReturn:
    """Print a list and follow it; this ends only by a Failure or an interruption.

    `query` filters the feed; `is_told_all` says that nothing changes in the list without an event.
    """
    note = note_for(args)
    after, documents = changing.first()
    printer.print(documents)
    if not documents:
        note("nothing yet; watching")
    absence = Absence(note, time.sleep)
    events: list[Document] = []
    is_all_stale, read_s = False, time.monotonic()
    for told in Feed(hub.endpoint, query, note).follow(after):
        if told is None:
            _stop_if_nobody_reads()
        elif told.type == RESET:
            note(f"the feed has a gap ({clean(str(told.document.get('reason')))}): the list is read again")
            is_all_stale = True
        elif changing.concerns(told.document):
            events.append(told.document)
        age_s = time.monotonic() - read_s
        is_old = not is_told_all and age_s >= REFRESH_S
        if (events or is_all_stale or is_old) and age_s >= PACE_S:
            try:
                printer.print(changing.changed(None if is_all_stale else events))
            except Failure as failure:
                absence.stay(failure)
                continue
            absence.is_over()
            events, is_all_stale, read_s = [], False, time.monotonic()
    raise AssertionError("a feed has no end")


def note_for(args: Namespace) -> Callable[[str], None]:
    """Return what tells people of the troubles and ends of what they watch: nothing with -q."""
    return (lambda _text: None) if args.quiet else hint


def _stop_if_nobody_reads() -> None:
    """Raise BrokenPipeError where whoever read our output is gone, instead of when there is something to print."""
    if sys.stdout is None:
        return
    poll = select.poll()
    try:
        poll.register(sys.stdout.fileno(), 0)
    except OSError:
        return  # what is no file has no other end
    if any(what & select.POLLERR for _, what in poll.poll(0)):
        raise BrokenPipeError


# --- lists that change ------------------------------------------------------------------------------------------------


class Rows:
    """A list that is short enough to be read as a whole whenever something may have changed in it."""

    def __init__(
        self,
        args: Namespace,
        pages: Callable[[], Iterator[Document]],
        key: Callable[[Document], str],
        news: Callable[[Document], object],
        is_concerned: Callable[[Document], bool],
    ) -> None:
        self._pages = pages
        self._key = key
        self._news = news
        self._is_concerned = is_concerned
        self._note = note_for(args)
        self._shown: dict[str, object] = {}

    def first(self) -> tuple[int, list[Document]]:
        """Return the revision that the list was read at, and all of it."""
        as_of, items = read(self._pages())
        self._shown = {self._key(each): self._news(each) for each in items}
        return as_of, items

    def concerns(self, event: Document) -> bool:
        """Tell whether the list may look otherwise after an event."""
        return self._is_concerned(event)

    def changed(self, _events: Sequence[Document] | None) -> list[Document]:
        """Read the list again; return what is new or otherwise in it, and note what is gone."""
        before = self._shown
        _, items = self.first()
        for gone in before.keys() - self._shown.keys():
            self._note(f"{gone} is not in the list any more")
        return [each for each in items if before.get(self._key(each)) != self._shown[self._key(each)]]


class Operations:
    """Operations that fit some filters; one that was shown is shown a last time when it does not fit any more."""

    def __init__(
        self,
        pages: Callable[[], Iterator[Document]],
        get: Callable[[str], Document],
        fits: Callable[[Document], bool],
        news: Callable[[Document], object],
    ) -> None:
        self._pages = pages
        self._get = get
        self._fits = fits
        self._news = news
        self._shown: dict[str, object] = {}

    def first(self) -> tuple[int, list[Document]]:
        """Return the revision that the list was read at, and the operations, the oldest first."""
        as_of, items = read(self._pages())
        self._shown = {each["id"]: self._news(each) for each in items}
        return as_of, items[::-1]

    def concerns(self, event: Document) -> bool:
        """Tell whether an event is about an operation."""
        return event.get("operation") is not None

    def changed(self, events: Sequence[Document] | None) -> list[Document]:
        """Return the operations of some events that look otherwise than they were shown."""
        if events is None:
            items = read(self._pages())[1][::-1]
            ids = self._shown.keys() - {each["id"] for each in items}
        else:
            items, ids = [], {str(event["operation"]) for event in events}
        # All are read before any counts as shown: what fails half-way is read again, and must be news again.
        records = [*items, *[self._get(each) for each in sorted(ids)]]
        return [each for each in records if self._is_news(each)]

    def _is_news(self, record: Document) -> bool:
        was_shown, news, fits = self._shown.get(record["id"]), self._news(record), self._fits(record)
        if was_shown == news or (was_shown is None and not fits):
            return False
        if fits:
            self._shown[record["id"]] = news
        else:
            del self._shown[record["id"]]
        return True


class Events:
    """The events of the feed themselves: none twice, and none left out where the feed begins anew."""

    def __init__(
        self, pages: Callable[[], Iterator[Document]], pages_after: Callable[[int], Iterator[Document]]
    ) -> None:
        self._pages = pages
        self._pages_after = pages_after
        self._last_rev = 0

    def first(self) -> tuple[int, list[Document]]:
        """Return the revision that the list was read at, and the events, the oldest first."""
        self._last_rev, items = read(self._pages())
        return self._last_rev, items[::-1]

    def concerns(self, event: Document) -> bool:
        """Tell whether an event has not been printed yet."""
        return bool(event["rev"] > self._last_rev)

    def changed(self, events: Sequence[Document] | None) -> list[Document]:
        """Return the events that are to be printed."""
        if events is None:
            as_of, events = read(self._pages_after(self._last_rev))
            self._last_rev = min(self._last_rev, as_of)  # a hub that was restored from a backup has gone back
        new = [each for each in events if self.concerns(each)]
        self._last_rev = max([self._last_rev, *(each["rev"] for each in new)])
        return new


def read(pages: Iterator[Document]) -> tuple[int, list[Document]]:
    """Return the revision that the first page of a list was read at, and the items of all pages."""
    first = next(pages)
    return int(first["as_of"]), [*first["items"], *(item for page in pages for item in page["items"])]

"""Follows the hub's feed of events, through lost connections and resets, for as long as somebody watches."""

from __future__ import annotations

import json
import queue
import threading
import time
from contextlib import closing
from http.client import HTTPException

from hangar.cli.exits import Exit
from hangar.cli.failures import Failure
from hangar.cli.http import Hub

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hangar.cli.documents import Document
    from hangar.cli.http import LongAnswer, Query
    from hangar.cli.settings import Endpoint

PATH = "/v1/stream"

RESET = "reset"
"""What the hub sends when it cannot go on from where it was asked to: what was read before has to be read anew."""

HEARTBEAT = ""
"""The type of what carries nothing but the id to go on from."""

SILENCE_MAX_S = 60.0
"""The hub sends a sign of life several times a minute: without any, the connection is dead, whatever it says."""

TICK_S = 0.5
"""How often whoever watches may look around while nothing comes."""

PAUSES_S = (0.5, 1.0, 2.0, 5.0)
"""Pauses between tries while the hub is away; the last one goes on."""


class Told:
    """One message of the feed: its id to go on from, its type, and the document in it."""

    __slots__ = ("document", "id", "type")

    def __init__(self, id_: str | None, type_: str, document: Document) -> None:
        self.id = id_
        self.type = type_
        self.document = document


def told_in(lines: Iterable[bytes]) -> Iterator[Told]:
    """Yield the messages in the lines of server-sent events, and a HEARTBEAT where there is but a new id.

    Raises:
        ValueError: what a message holds is no JSON object.
    """
    last_id: str | None = None
    told_id, type_, data = last_id, "", list[str]()
    for raw in lines:
        line = raw.decode("utf-8").rstrip("\r\n")
        if not line:
            if data:
                document = json.loads("\n".join(data))
                if not isinstance(document, dict):
                    raise ValueError("a message is no JSON object")
                yield Told(last_id, type_ or "message", document)
            elif last_id != told_id:
                yield Told(last_id, HEARTBEAT, {})
            told_id, type_, data = last_id, "", []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "id":
                last_id = value
            case "event":
                type_ = value
            case "data":
                data.append(value)
            case _:
                pass  # a comment, or a field of a later day


class Absence:
    """The hub's being away: told once for each cause, and waited out in growing pauses."""

    def __init__(self, note: Callable[[str], None], sleep: Callable[[float], None]) -> None:
        self._note = note
        self._sleep = sleep
        self._cause: str | None = None
        self._tries = 0

    def stay(self, failure: Failure) -> None:
        """Wait a while for the hub to come back. Raises the failure where waiting would not mend it."""
        if not failure.is_passing and failure.code is not Exit.UNEXPECTED:
            raise failure
        if self._cause != failure.message:
            self._note(f"still watching: {failure.message}")
        self._cause = failure.message
        self._sleep(PAUSES_S[min(self._tries, len(PAUSES_S) - 1)])
        self._tries += 1

    def is_over(self) -> None:
        """Say that the hub is back, if it was away."""
        if self._cause is not None:
            self._note("the hub answers again")
        self._cause = None
        self._tries = 0


class Feed:
    """The feed of one hub; `query` cuts it down, as it does a list of events. `note` tells people of its troubles."""

    def __init__(
        self,
        endpoint: Endpoint,
        query: Query,
        note: Callable[[str], None],
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._endpoint = endpoint
        self._query = query
        self._sleep = sleep
        self._absence = Absence(note, sleep)
        self._after: int | None = None
        self._last_id: str | None = None

    def follow(self, after: int) -> Iterator[Told | None]:
        """Yield each message after a revision, and None when nothing came for a moment; it ends only by a Failure.

        After a message of the type RESET the feed goes on, with a gap before it.
        """
        self._after, self._last_id = after, None
        while True:
            try:
                yield from self._connected()
            except Failure as failure:
                self._absence.stay(failure)
            else:
                self._sleep(PAUSES_S[0])  # the hub ended it in order: it restarts, or our token is over
            yield None

    def _connected(self) -> Iterator[Told | None]:
        """Yield what comes over one connection, until the hub ends it in order."""
        with closing(Hub(self._endpoint)) as hub:
            after = None if self._last_id is not None else self._after
            headers = {"Accept": "text/event-stream"}
            if self._last_id is not None:
                headers["Last-Event-ID"] = self._last_id
            answer = hub.open(PATH, {**self._query, "after": after}, headers, SILENCE_MAX_S)
            self._absence.is_over()
            with closing(_Reading(hub, answer)) as reading:
                while (told := reading.next(TICK_S)) is not _END:
                    if told is not None:
                        self._last_id = told.id
                    yield None if told is None or told.type == HEARTBEAT else told


_END = Told(None, "end", {})


class _Reading:
    """A thread that reads a long answer, so that whoever watches is never stuck in it."""

    def __init__(self, hub: Hub, answer: LongAnswer) -> None:
        self._hub = hub
        self._answer = answer
        self._come: queue.SimpleQueue[Told | Failure] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def next(self, timeout_s: float) -> Told | None:
        """Return the next message, None if none comes in time, _END when the hub has ended it. Raises Failure."""
        try:
            come = self._come.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if isinstance(come, Failure):
            raise come
        return come

    def close(self) -> None:
        """Read no more."""
        self._answer.end()
        self._thread.join()

    def _read(self) -> None:
        try:
            for told in told_in(self._answer.lines()):
                self._come.put(told)
        except (OSError, HTTPException) as error:
            self._come.put(self._hub.unreachable(error))
        except ValueError as error:  # JSONDecodeError and UnicodeDecodeError are both
            self._come.put(Failure(Exit.UNEXPECTED, f"{self._hub.endpoint.server} does not stream like a hub: {error}"))
        else:
            self._come.put(_END)

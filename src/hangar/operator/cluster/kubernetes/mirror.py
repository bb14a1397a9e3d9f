"""One kind's objects as last seen: what the watch says, and what our own writes returned before the watch said it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Entry(Generic[V]):
    """One object: `version` is its resourceVersion, a number that rises with every change in the cluster."""

    uid: str
    version: int
    value: V


class Mirror(Generic[V]):
    """Keeps a ClusterIndex in step with one kind, object by object, by UID.

    Args:
        put: Adds or replaces a value in the index.
        drop: Removes a value from the index.
        changed: Told of every change that a decision could see.
    """

    def __init__(self, put: Callable[[V], None], drop: Callable[[V], None], changed: Callable[[], None]) -> None:
        self._put = put
        self._drop = drop
        self._changed = changed
        self._entries: dict[str, Entry[V]] = {}
        self._ahead: dict[str, int] = {}  # versions that our own writes returned and the watch has not reached
        self._seen = 0

    def get(self, uid: str) -> Entry[V] | None:
        """Return an object as last seen."""
        return self._entries.get(uid)

    def values(self) -> Iterator[V]:
        """Yield all objects as last seen."""
        return (each.value for each in self._entries.values())

    def replace(self, entries: Iterable[Entry[V]], version: int) -> None:
        """Swap all objects for those of a list made at `version`; those that are not in it are gone."""
        fresh = {each.uid: each for each in entries}
        # Old ones go first: a new object may have taken an old one's name.
        for uid in [uid for uid in self._entries if uid not in fresh]:
            self._remove(uid)
        for each in fresh.values():
            self._store(each)
        self._seen = version

    def put(self, entry: Entry[V]) -> None:
        """Take in an object that the watch says was added or changed."""
        self._seen = entry.version
        self._store(entry)

    def drop(self, uid: str, version: int) -> None:
        """Forget an object that the watch says was deleted."""
        self._seen = version
        self._remove(uid)

    def reached(self, version: int) -> None:
        """Note that the watch has said all up to a version."""
        self._seen = version

    def merge(self, entry: Entry[V]) -> None:
        """Take in what a write of ours returned, unless the watch is there already (perhaps past its deletion)."""
        if entry.version > self._seen:
            self._store(entry)
            self._ahead[entry.uid] = entry.version

    def _store(self, entry: Entry[V]) -> None:
        if entry.version < self._ahead.get(entry.uid, 0):
            return  # from before our write: it would undo what we know
        self._ahead.pop(entry.uid, None)
        before = self._entries.get(entry.uid)
        self._entries[entry.uid] = entry
        if before is None or before.value != entry.value:
            self._put(entry.value)
            self._changed()

    def _remove(self, uid: str) -> None:
        self._ahead.pop(uid, None)
        before = self._entries.pop(uid, None)
        if before is not None:
            self._drop(before.value)
            self._changed()

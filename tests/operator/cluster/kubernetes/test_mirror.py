"""One kind's objects: what the watch says, and what our own writes returned before it did."""

from hangar.operator.cluster.kubernetes.mirror import Entry, Mirror


class Index:
    """What a mirror keeps in step: values whose first letter names their object."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.changes = 0
        self.mirror: Mirror[str] = Mirror(self.put, self.drop, self.changed)

    def put(self, value: str) -> None:
        self.values[value[0]] = value

    def drop(self, value: str) -> None:
        del self.values[value[0]]

    def changed(self) -> None:
        self.changes += 1

    @property
    def shown(self) -> set[str]:
        return set(self.values.values())


def entry(value: str, version: int, uid: str | None = None) -> Entry[str]:
    return Entry(uid or f"uid-{value[0]}", version, value)


def test_what_a_list_does_not_name_is_gone() -> None:
    index = Index()
    index.mirror.replace([entry("a1", 1), entry("b1", 2)], 5)
    index.mirror.replace([entry("b1", 2), entry("c1", 7)], 9)
    assert index.shown == {"b1", "c1"}


def test_an_object_that_took_anothers_name_between_two_lists_stays() -> None:
    index = Index()
    index.mirror.replace([entry("a1", 1, uid="old")], 5)
    index.mirror.replace([entry("a2", 7, uid="new")], 9)
    assert index.shown == {"a2"}
    assert index.mirror.get("old") is None


def test_changes_are_told_and_repetitions_are_not() -> None:
    index = Index()
    index.mirror.replace([entry("a1", 1)], 5)
    assert index.changes == 1
    index.mirror.put(entry("a1", 6))  # another version, nothing that we read
    index.mirror.replace([entry("a1", 6)], 7)
    assert index.changes == 1
    index.mirror.put(entry("a2", 8))
    index.mirror.drop("uid-a", 9)
    index.mirror.drop("uid-a", 9)
    assert index.changes == 3


def test_what_a_write_returned_is_seen_at_once_and_not_undone_by_older_events() -> None:
    index = Index()
    index.mirror.replace([entry("a1", 1)], 5)
    index.mirror.merge(entry("a3", 8))
    assert index.shown == {"a3"}
    index.mirror.put(entry("a2", 7))
    assert index.shown == {"a3"}
    index.mirror.put(entry("a3", 8))
    index.mirror.put(entry("a4", 9))
    assert index.shown == {"a4"}


def test_a_write_whose_object_the_watch_has_seen_deleted_does_not_bring_it_back() -> None:
    index = Index()
    index.mirror.replace([entry("a1", 1)], 5)
    index.mirror.drop("uid-a", 9)
    index.mirror.merge(entry("a3", 8))
    assert index.shown == set()


def test_a_write_that_the_watch_has_passed_changes_nothing() -> None:
    index = Index()
    index.mirror.replace([entry("a1", 1)], 5)
    index.mirror.put(entry("a9", 9))
    index.mirror.merge(entry("a3", 8))
    index.mirror.reached(20)
    index.mirror.merge(entry("a4", 19))
    assert index.shown == {"a9"}


def test_a_list_made_before_our_write_does_not_undo_it() -> None:
    index = Index()
    index.mirror.replace([entry("a1", 1)], 5)
    index.mirror.merge(entry("a3", 8))
    index.mirror.replace([entry("a1", 1)], 6)
    assert index.shown == {"a3"}


def test_a_cluster_restored_from_a_backup_is_believed_though_its_versions_fell() -> None:
    index = Index()
    index.mirror.replace([entry("a9", 900)], 1000)
    index.mirror.replace([entry("a1", 1)], 5)
    index.mirror.put(entry("a2", 6))
    assert index.shown == {"a2"}

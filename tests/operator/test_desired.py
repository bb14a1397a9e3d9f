"""What is desired of a cluster's graphs: what was said last counts, and nothing else may leave."""

from hangar.domain.decision import Apply, Create, Remove, Scale
from hangar.domain.workloads.errands import errand, reductions
from hangar.domain.workloads.graph import Removal
from hangar.operator.desired import WhatIsDesired
from hangar.wire.operator import DesiredDoc, RemovalDoc, SyncAnswer
from tests.domain.building import CHAT, LLAMA, NOON, a_graph, a_view, desired

BOTH = frozenset({"scale", "deploy"})
TEMPLATE = {"kind": "DynamoGraphDeployment"}
REMOVAL = RemovalDoc(namespace="serving", graph="llama", uid="llama-uid")
GONE_BY_NOW = "something else is desired of the graph by now"
APPLY = Apply(LLAMA, "llama-uid", "1", 7, {"decode": 3})
FIRST = Apply(LLAMA, "llama-uid", "1", None, {"decode": 3})
SCALE = Scale(LLAMA, "decode", "llama-decode", "decode-adapter", "1", 3)
CREATE = Create(LLAMA, 7, {"decode": 3}, CHAT, TEMPLATE)
REMOVE = Remove(LLAMA, "llama-uid")
ROW, FALLING, LEAVING = errand(desired(7)), reductions(desired(7)), errand(Removal(LLAMA, "llama-uid"))


def row(rev: int = 7) -> DesiredDoc:
    counts = {"decode": 3}
    return DesiredDoc(workload="chat", namespace="serving", graph="llama", rev=rev, counts=counts, template=TEMPLATE)


def heard(*said: DesiredDoc | RemovalDoc, allowed: frozenset[str] = BOTH) -> WhatIsDesired:
    wants = WhatIsDesired(allowed)
    rows = [each for each in said if isinstance(each, DesiredDoc)]
    removals = [each for each in said if isinstance(each, RemovalDoc)]
    wants.heard(SyncAnswer(seen=1, jobs=[], desired=rows, removals=removals))
    return wants


def test_a_template_and_the_workload_reach_what_is_created() -> None:
    wants = heard(row())
    assert wants.workloads == {LLAMA: CHAT}
    assert wants.converge(a_view(), NOON).steps == ((ROW, CREATE),)


def test_what_is_to_be_removed_is_removed_unless_something_is_desired_of_it() -> None:
    view = a_view(a_graph(is_ours=True))
    assert heard(REMOVAL).converge(view, NOON).steps == ((LEAVING, REMOVE),)
    both = heard(REMOVAL, row())
    assert [type(step) for _, step in both.converge(view, NOON).steps] == [Apply]
    assert both.why_withheld(LEAVING, REMOVE) == GONE_BY_NOW
    assert both.errands == {ROW, FALLING}


def test_every_step_leaves_as_long_as_it_is_what_is_desired() -> None:
    wants = heard(row())
    for operation, step in ((ROW, APPLY), (FALLING, FIRST), (ROW, SCALE), (ROW, CREATE)):
        assert wants.why_withheld(operation, step) is None
    assert heard(REMOVAL).why_withheld(LEAVING, REMOVE) is None


def test_no_step_leaves_once_another_revision_is_desired_or_nothing_is() -> None:
    for wants in (heard(row(8)), heard(), heard(REMOVAL)):
        for operation, step in ((ROW, APPLY), (FALLING, FIRST), (ROW, SCALE), (ROW, CREATE)):
            assert wants.why_withheld(operation, step) == GONE_BY_NOW
    another = RemovalDoc(namespace="serving", graph="llama", uid="another")
    for wants in (heard(), heard(row()), heard(another)):
        assert wants.why_withheld(LEAVING, REMOVE) == GONE_BY_NOW


def test_the_ids_of_all_that_can_be_written_are_known() -> None:
    assert heard(row()).errands == {ROW, FALLING}
    assert heard(REMOVAL).errands == {LEAVING}


def test_why_a_graph_is_not_written_is_kept_until_the_session_ends() -> None:
    wants = heard(row(), allowed=frozenset())
    wants.converge(a_view(a_graph()), NOON)
    assert [(ref, why.code) for ref, why in wants.unwritten.items()] == [(LLAMA, "not_allowed")]
    assert wants.is_heard
    wants.begin_session()
    assert (wants.unwritten, wants.is_heard, wants.workloads, wants.errands) == ({}, False, {}, frozenset())

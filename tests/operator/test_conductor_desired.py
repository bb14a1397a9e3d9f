"""The conductor and what is desired of graphs: written while it is the newest, with or without operations."""

from datetime import datetime, timedelta

from hangar.domain.decision import Accepted, Apply, Busy, Go, Progress, Trouble
from hangar.domain.ids import NodeName, NodeUid
from hangar.domain.kind import Job
from hangar.domain.limits import HELD_MAX_S, RETRY_FIRST_S
from hangar.domain.view import Claims, View
from hangar.domain.workloads.errands import errand
from hangar.domain.workloads.graph import Graph, GraphRef
from hangar.domain.workloads.members import Part
from hangar.operator.conductor import Turned
from hangar.wire.operator import DesiredDoc, SyncAnswer
from tests.domain.building import (
    API,
    LLAMA,
    OP,
    a_component,
    a_graph,
    a_node,
    a_pod,
    a_snapshot,
    an_owner,
    at,
    desired,
)
from tests.operator.scripted import EVICT_A, Memory, Params, Stage, a_doc, going

SCALE = frozenset({"cordon", "drain", "scale"})
ERRAND = errand(desired(7))
REPLICAS = (a_pod("a"), a_pod("b", on="n2"), a_pod("c", on="n2"))


def row(rev: int = 7, decode: int = 3, graph: str = "llama") -> DesiredDoc:
    return DesiredDoc(workload="chat", namespace="serving", graph=graph, rev=rev, counts={"decode": decode})


def told(stage: Stage, *rows: DesiredDoc) -> None:
    """Let the hub tell what is desired, and of no operation."""
    stage.conductor.heard(SyncAnswer(seen=1, jobs=[], desired=list(rows)), stage.now)


def a_stage(graph: Graph | None = None, allowed: frozenset[str] = SCALE) -> Stage:
    """Return a stage with a graph that nothing was written to."""
    return Stage(snapshot=a_snapshot(graph or a_graph()), allowed=allowed)


def write(rev: int = 7, decode: int = 3, version: str = "1") -> Apply:
    return Apply(LLAMA, "llama-uid", version, rev, {"decode": decode})


def sent() -> Stage:
    """Return a stage on which revision 7 is under way."""
    stage = a_stage()
    told(stage, row())
    assert stage.turn().steps == ((ERRAND, write()),)
    return stage


def test_what_is_desired_is_written_without_any_operation() -> None:
    stage = sent()
    assert stage.withheld(write(), ERRAND) is None
    assert stage.conductor.outbox() == [], "and nobody is told of it but by the inventory"


def test_a_write_is_decided_once_until_it_is_answered() -> None:
    stage = sent()
    assert stage.turn(1) == Turned((), None)
    stage.answer(write(), Busy("409", trouble=Trouble.CONFLICT), ERRAND)
    assert stage.turn() == Turned((), at(1 + RETRY_FIRST_S))
    stage.snapshot = a_snapshot(a_graph(version="2"))
    assert stage.turn(1 + RETRY_FIRST_S).steps == ((ERRAND, write(version="2")),)


def test_what_was_written_and_seen_is_left_alone() -> None:
    stage = sent()
    stage.snapshot = a_snapshot(a_graph(a_component(replicas=3), version="2", applied_rev=7))
    stage.answer(write(), Accepted(), ERRAND)
    assert stage.turn(1) == Turned((), None)


def test_writes_and_operations_share_a_turn() -> None:
    stage = a_stage()
    stage.hear(a_doc(phase="running"))
    stage.turn()
    stage.ack()
    stage.conductor.heard(SyncAnswer(seen=2, jobs=[a_doc(phase="running")], desired=[row()]), stage.now)
    stage.script.says = going(0, EVICT_A)
    assert stage.turn(1).steps == ((OP, EVICT_A), (ERRAND, write()))


def test_a_write_does_not_leave_once_something_else_is_desired() -> None:
    why = "something else is desired of the graph by now"
    stage = sent()
    told(stage, row(rev=8, decode=5))
    assert stage.withheld(write(), ERRAND) == why
    stage = sent()
    told(stage)
    assert stage.withheld(write(), ERRAND) == why
    stage = sent()
    stage.conductor.begin_session()
    assert stage.withheld(write(), ERRAND) == why, "until the new session has heard of it"


def test_a_write_that_was_decided_long_ago_does_not_leave() -> None:
    stage = sent()
    stage.now = at(HELD_MAX_S) + timedelta(milliseconds=1)
    assert stage.withheld(write(), ERRAND) == "it could not leave soon after it was decided, and is decided anew"


def test_a_newer_revision_is_written_as_soon_as_the_older_is_answered() -> None:
    stage = sent()
    told(stage, row(rev=8, decode=5))
    assert stage.turn(1).steps == ()
    stage.answer(write(), Busy("unavailable"), ERRAND)
    assert stage.turn().steps == ((errand(desired(8)), write(rev=8, decode=5)),)


def test_of_two_rows_for_one_graph_the_newest_counts() -> None:
    for rows in ([row(rev=8, decode=5), row(rev=7)], [row(rev=7), row(rev=8, decode=5)]):
        stage = a_stage()
        told(stage, *rows)
        assert stage.turn().steps == ((errand(desired(8)), write(rev=8, decode=5)),)


def test_a_cluster_that_does_not_allow_it_is_not_written_to() -> None:
    stage = a_stage(allowed=frozenset({"cordon", "drain"}))
    told(stage, row())
    assert stage.turn() == Turned((), None)
    assert [each.code for each in stage.conductor.desired.unwritten.values()] == ["not_allowed"]


def test_answers_are_kept_as_long_as_they_are_asked_for() -> None:
    """Many graphs and no operation: a pause must outlast the turn in which answers are let go of."""
    stage = a_stage()
    other = GraphRef("serving", "other")
    stage.snapshot = a_snapshot(a_graph(), a_graph(ref=other))
    told(stage, row(), row(graph="other"))
    steps = stage.turn().steps
    assert len(steps) == 2
    for operation, step in steps:
        stage.answer(step, Busy("unavailable"), operation)
    assert stage.turn() == Turned((), at(RETRY_FIRST_S))
    told(stage, row())
    stage.turn()
    told(stage, row(), row(graph="other"))
    assert [operation for operation, _ in stage.turn().steps] == [errand(desired(7, ref=other))]


def test_what_was_put_back_is_not_written_again_after_the_session_was_renewed() -> None:
    stage = sent()
    stage.answer(write(), Accepted(), ERRAND)
    stage.conductor.begin_session()
    assert stage.turn(1).steps == (), "the hub has not said yet what is desired"
    told(stage, row())
    assert stage.turn(2) == Turned((), None)
    assert [each.code for each in stage.conductor.desired.unwritten.values()] == ["reverted"]


def test_a_reduction_sees_what_was_evicted_in_the_same_turn() -> None:
    """One ledger: what the operations of a turn decide counts for what is written after them."""
    stage = Stage(snapshot=a_snapshot(a_node(), a_graph(a_component(replicas=3)), an_owner(), *REPLICAS), allowed=SCALE)
    node, moved, parts = (NodeName("n1"), NodeUid("n1-uid")), frozenset({API.uid}), {API.uid: Part(LLAMA, "decode")}

    def evicting(job: Job[Params, Memory], view: View, now: datetime) -> Go[Memory]:
        stage.script.holds = Claims(node, {API.uid: 3}, moved=moved, parts=parts)
        return Go(Memory(1), Progress(0, 1, "pods", "evicting"), (EVICT_A,))

    stage.script.says = evicting
    stage.conductor.heard(SyncAnswer(seen=1, jobs=[a_doc(phase="running")], desired=[row(decode=1)]), stage.now)
    stage.turn()
    assert [each.code for each in stage.conductor.desired.unwritten.values()] == ["draining"]

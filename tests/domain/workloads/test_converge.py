"""What is written of what is desired, when it is tried again, and what is said of the rest."""

from dataclasses import replace

import pytest

from hangar.domain.decision import (
    Accepted,
    Answer,
    Answered,
    Apply,
    Busy,
    Create,
    Denied,
    Gone,
    Remove,
    Scale,
    Step,
    Trouble,
    Unknown,
)
from hangar.domain.ids import NodeName, NodeUid
from hangar.domain.limits import CREATED_AGAIN_S, RETRY_FIRST_S, RETRY_MAX_S
from hangar.domain.view import Claims, StepKey, View, key_of
from hangar.domain.workloads.converge import Converging, converge
from hangar.domain.workloads.errands import errand, reductions
from hangar.domain.workloads.graph import Desired, Graph, GraphRef, Removal, Unwritten
from hangar.domain.workloads.members import Part
from tests.domain.building import (
    API,
    CHAT,
    LLAMA,
    NOON,
    OP,
    a_component,
    a_graph,
    a_pod,
    a_view,
    an_answer,
    an_owner,
    at,
    behind_adapter,
    desired,
    terminating,
)

OTHER = GraphRef("serving", "other")
ALL = frozenset({"scale", "deploy"})
TEMPLATE = {"kind": "DynamoGraphDeployment"}
NEW = replace(desired(7), workload=CHAT, template=TEMPLATE)
CREATE = Create(LLAMA, 7, {"decode": 3}, CHAT, TEMPLATE)
OURS = a_graph(is_ours=True)
REMOVAL = Removal(LLAMA, "llama-uid")
REMOVE = Remove(LLAMA, "llama-uid")


def write(of: Desired, graph: Graph) -> Apply:
    return Apply(graph.ref, graph.uid, graph.version, of.rev, of.counts)


def converged(
    view: View, *rows: Desired, removals: tuple[Removal, ...] = (), allowed: frozenset[str] = ALL, seconds: float = 0
) -> Converging:
    return converge(rows, removals, allowed, view, at(seconds))


def steps(view: View, *rows: Desired, seconds: float = 0) -> list[Step]:
    return [step for _, step in converged(view, *rows, seconds=seconds).steps]


def code(converging: Converging, ref: GraphRef = LLAMA) -> str | None:
    why = converging.unwritten.get(ref)
    return why.code if why is not None else None


# --- writing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("applied_rev", [None, 6])
def test_a_graph_that_lacks_the_revision_is_written_whole_at_the_version_it_was_read_at(
    applied_rev: int | None,
) -> None:
    graph = a_graph(a_component("prefill"), a_component("decode"), version="41", applied_rev=applied_rev)
    wanted = desired(7, prefill=1, decode=3)
    step = Apply(LLAMA, "llama-uid", "41", 7, {"prefill": 1, "decode": 3})
    assert converged(a_view(graph), wanted) == Converging(((errand(wanted), step),))


@pytest.mark.parametrize("applied_rev", [7, 8])
def test_a_graph_that_carries_the_revision_or_a_later_one_is_not_fought_over(applied_rev: int) -> None:
    graph = a_graph(a_component(replicas=9), applied_rev=applied_rev)
    assert converged(a_view(graph), desired(7)) == Converging()


@pytest.mark.parametrize(
    ("graph", "why"),
    [
        (a_graph(is_paused=True), "graph_paused"),
        (a_graph(a_component("worker")), "component_missing"),
        (a_graph(a_component(has_adapter=True)), "adapter_missing"),
        (a_graph(ref=OTHER), None),
    ],
    ids=["paused", "without the component", "without its adapter", "not there"],
)
def test_what_must_not_be_written_is_left_alone_and_said_to_be(graph: Graph, why: str | None) -> None:
    converging = converged(a_view(graph), desired(7))
    assert (converging.steps, converging.recheck_at, code(converging)) == ((), None, why)


def test_a_cluster_that_does_not_allow_to_scale_is_not_written_to_and_says_so() -> None:
    graph = a_graph()
    assert code(converged(a_view(graph), desired(7), allowed=frozenset({"deploy"}))) == "not_allowed"
    written = a_graph(applied_rev=7)
    assert converged(a_view(written), desired(7), allowed=frozenset()) == Converging(), "there is nothing to write"


def test_an_adapter_of_a_component_that_nothing_is_desired_of_does_not_matter() -> None:
    graph = a_graph(a_component("decode"), a_component("planner", has_adapter=True))
    assert steps(a_view(graph), desired(7)) == [write(desired(7), graph)]


def test_nothing_is_written_while_something_cannot_be_read() -> None:
    """Unknown is not empty: what is known of the graphs may be old."""
    graph = a_graph()
    cut = converged(a_view(graph, unreadable=("pods: no reply",)), desired(7))
    assert cut.unwritten == {LLAMA: Unwritten(7, "unreadable", "the cluster cannot be read: pods: no reply")}
    view = a_view(graph)
    blind = replace(view, snapshot=replace(view.snapshot, graphs_unreadable="forbidden"))
    for row in (desired(7), NEW):
        assert (steps(blind, row), code(converged(blind, row))) == ([], "unreadable")
    assert converged(blind, removals=(REMOVAL,)).steps == ()
    assert steps(view, desired(7)) == [write(desired(7), graph)]


def test_each_graph_is_written_by_itself() -> None:
    graphs = [a_graph(), a_graph(ref=OTHER, applied_rev=7)]
    view = a_view(*graphs)
    assert steps(view, desired(7), desired(8, ref=OTHER)) == [
        write(desired(7), graphs[0]),
        write(desired(8), graphs[1]),
    ]


@pytest.mark.parametrize("rev", [7, 6], ids=["the same revision", "an older one"])
def test_a_graph_is_not_written_while_a_write_to_it_is_under_way(rev: int) -> None:
    graph = a_graph()
    under_way = key_of(errand(desired(rev)), write(desired(rev), graph))
    assert converged(a_view(graph, in_flight=frozenset({under_way})), desired(7)) == Converging()


def test_a_graph_is_not_written_while_an_adapter_of_it_is() -> None:
    graph = a_graph(behind_adapter(), a_component("prefill"))
    scale = Scale(LLAMA, "decode", "llama-decode", "decode-adapter", "1", 5)
    under_way = key_of(errand(desired(6)), scale)
    assert converged(a_view(graph, in_flight=frozenset({under_way})), desired(7)) == Converging()


# --- trying again -----------------------------------------------------------------------------------------------------

TROUBLES: dict[str, list[Answer]] = {
    "refused": [Denied("403: a webhook")],
    "retry": [Busy("409", trouble=Trouble.CONFLICT), Unknown("timed out"), Gone()],
}


@pytest.mark.parametrize(("says", "answer"), [(says, answer) for says, all_ in TROUBLES.items() for answer in all_])
def test_what_was_not_settled_is_tried_again_in_pauses_that_grow_and_says_why(says: str, answer: Answer) -> None:
    graph, wanted = a_graph(), desired(7)
    for tries, pause_s in ((1, RETRY_FIRST_S), (2, 2 * RETRY_FIRST_S), (20, RETRY_MAX_S)):
        answers = an_answer(write(wanted, graph), answer, tries=tries, operation=errand(wanted))
        view = a_view(graph, answers=answers)
        waiting = converged(view, wanted, seconds=pause_s - 0.001)
        assert (waiting.steps, waiting.recheck_at, code(waiting)) == ((), at(pause_s), says)
        again = converged(view, wanted, seconds=pause_s)
        assert ([step for _, step in again.steps], code(again)) == ([write(wanted, graph)], says)
        under_way = replace(view, in_flight=frozenset({key_of(errand(wanted), write(wanted, graph))}))
        assert code(converged(under_way, wanted)) == says, "and it is said until it succeeds"


def test_a_newer_revision_does_not_wait_for_the_pause_of_an_older_one() -> None:
    graph = a_graph()
    answers = an_answer(write(desired(7), graph), Denied("403"), tries=20, operation=errand(desired(7)))
    converging = converged(a_view(graph, answers=answers), desired(8))
    assert converging == Converging(((errand(desired(8)), write(desired(8), graph)),))


def test_it_looks_again_when_the_first_of_the_pauses_is_over() -> None:
    graphs = [a_graph(), a_graph(ref=OTHER)]
    rows = [desired(7), desired(7, ref=OTHER)]
    answers: dict[StepKey, Answered] = {}
    for row, graph, tries in zip(rows, graphs, (3, 2), strict=True):
        answers |= an_answer(write(row, graph), Denied("403"), tries=tries, operation=errand(row))
    assert converged(a_view(*graphs, answers=answers), *rows).recheck_at == at(2 * RETRY_FIRST_S)


def test_a_revision_that_somebody_took_off_again_is_not_written_a_second_time() -> None:
    """Whoever puts a whole object back would do so each time."""
    graph, wanted = a_graph(), desired(7)
    answers = an_answer(write(wanted, graph), Accepted(), operation=errand(wanted))
    view = a_view(graph, answers=answers)
    assert converged(view, wanted) == Converging((), at(RETRY_FIRST_S)), "its sight may be a moment behind"
    later = converged(view, wanted, seconds=RETRY_FIRST_S)
    assert (later.steps, later.recheck_at, code(later)) == ((), None, "reverted")
    replaced = a_view(a_graph(uid="another"), answers=answers)
    assert len(steps(replaced, wanted, seconds=RETRY_FIRST_S)) == 1, "another object was never written to"


def test_trouble_with_one_of_several_writes_is_said() -> None:
    graph, wanted = a_graph(behind_adapter("prefill"), behind_adapter("decode")), desired(7, prefill=3, decode=3)
    scale = Scale(LLAMA, "decode", "llama-decode", "decode-adapter", "1", 3)
    view = a_view(graph, answers=an_answer(scale, Denied("403"), operation=errand(wanted)))
    converging = converged(view, wanted)
    assert [step.component for _, step in converging.steps if isinstance(step, Scale)] == ["prefill"]
    assert converging.unwritten == {LLAMA: Unwritten(7, "refused", "403")}


# --- drains -----------------------------------------------------------------------------------------------------------


def test_a_reduction_waits_for_what_a_drain_has_evicted_and_the_next_turn_takes_it() -> None:
    claims = Claims(
        (NodeName("n1"), NodeUid("n1-uid")),
        {API.uid: 3},
        {},
        frozenset({API.uid}),
        parts={API.uid: Part(LLAMA, "decode")},
    )
    claims = replace(claims, sent={terminating("a").ref.uid: NOON})
    graph = a_graph(a_component(replicas=3))
    pods = [terminating("a"), a_pod("b", on="n2"), a_pod("c", on="n2")]
    view = a_view(graph, an_owner(), *pods, claims={OP: claims})
    waiting = converged(view, desired(7, decode=1))
    assert (waiting.steps, code(waiting)) == ((), "draining")
    assert len(steps(view, desired(7, decode=4))) == 1, "more may come at any time"
    assert len(steps(replace(view, claims={}), desired(7, decode=1))) == 1, "the drain is over"


# --- creating and removing --------------------------------------------------------------------------------------------


def test_a_graph_that_is_not_there_is_created_from_its_template_once_anything_is_to_run() -> None:
    assert converged(a_view(), NEW) == Converging(((errand(NEW), CREATE),))
    assert converged(a_view(), replace(NEW, counts={"decode": 0})) == Converging()
    assert converged(a_view(), replace(NEW, template=None)) == Converging(), "the hub shows that it is missing"
    assert code(converged(a_view(), NEW, allowed=frozenset({"scale"}))) == "not_allowed"


def test_a_graph_that_is_there_is_written_whether_or_not_there_is_a_template() -> None:
    assert steps(a_view(a_graph()), NEW) == [write(NEW, a_graph())]


def test_what_is_being_created_is_not_created_twice_and_again_only_a_while_after_somebody_deleted_it() -> None:
    under_way = frozenset({key_of(errand(NEW), CREATE)})
    assert converged(a_view(in_flight=under_way), NEW) == Converging()
    view = a_view(answers=an_answer(CREATE, Accepted(), operation=errand(NEW)))
    assert converged(view, NEW) == Converging((), at(RETRY_FIRST_S))
    gone = converged(view, NEW, seconds=RETRY_FIRST_S)
    assert (gone.steps, gone.recheck_at, code(gone)) == ((), at(CREATED_AGAIN_S), "reverted")
    assert gone.unwritten[LLAMA].why.endswith("it is created again at 12:10:00 UTC")
    assert converged(view, NEW, seconds=CREATED_AGAIN_S) == Converging(((errand(NEW), CREATE),))
    newer = replace(NEW, rev=8)
    assert steps(view, newer, seconds=RETRY_FIRST_S) == [replace(CREATE, rev=8)]


def test_a_graph_of_ours_is_removed_by_its_uid() -> None:
    assert converged(a_view(OURS), removals=(REMOVAL,)) == Converging(((errand(REMOVAL), REMOVE),))
    assert converged(a_view(), removals=(REMOVAL,)) == Converging()
    assert converged(a_view(replace(OURS, uid="another")), removals=(REMOVAL,)) == Converging(), "another of its name"


def test_what_must_not_be_removed_is_left_and_said_to_be() -> None:
    theirs = converged(a_view(a_graph()), removals=(REMOVAL,))
    assert (theirs.steps, theirs.unwritten[LLAMA].rev, code(theirs)) == ((), 0, "not_ours")
    scaling = converged(a_view(OURS), removals=(REMOVAL,), allowed=frozenset({"scale"}))
    assert (scaling.steps, code(scaling)) == ((), "not_allowed")


def test_a_removal_is_sent_once_and_waited_for() -> None:
    view = a_view(OURS, answers=an_answer(REMOVE, Accepted(), operation=errand(REMOVAL)))
    later = converged(view, removals=(REMOVAL,), seconds=RETRY_FIRST_S)
    assert (later.steps, code(later)) == ((), "removing")
    refused = a_view(OURS, answers=an_answer(REMOVE, Denied("403"), operation=errand(REMOVAL)))
    assert code(converged(refused, removals=(REMOVAL,))) == "refused"
    assert len(converged(refused, removals=(REMOVAL,), seconds=RETRY_FIRST_S).steps) == 1


def test_the_errands_of_a_revision_are_its_own() -> None:
    ids = {
        errand(desired(7)),
        reductions(desired(7)),
        errand(desired(8)),
        errand(desired(7, ref=OTHER)),
        errand(REMOVAL),
    }
    assert len(ids) == 5
    assert all(isinstance(each, str) for each in ids)

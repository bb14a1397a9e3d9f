"""What is written of what is desired, and when it is tried again."""

from dataclasses import replace

import pytest

from hangar.domain.decision import Accepted, Answer, Apply, Busy, Denied, Trouble, Unknown
from hangar.domain.limits import RETRY_FIRST_S, RETRY_MAX_S
from hangar.domain.view import View, key_of
from hangar.domain.workloads.converge import Converging, converge, errand
from hangar.domain.workloads.graph import Desired, Graph, GraphRef
from tests.domain.building import LLAMA, NOON, a_component, a_graph, a_view, an_answer, at, desired

OTHER = GraphRef("serving", "other")


def write(of: Desired, graph: Graph) -> Apply:
    return Apply(graph.ref, graph.uid, graph.version, of.rev, of.counts)


def steps(view: View, *rows: Desired, seconds: float = 0) -> list[Apply]:
    return [step for _, step in converge(rows, view, at(seconds)).steps]


@pytest.mark.parametrize("applied_rev", [None, 6])
def test_a_graph_that_lacks_the_revision_is_written_whole_at_the_version_it_was_read_at(
    applied_rev: int | None,
) -> None:
    graph = a_graph(a_component("prefill"), a_component("decode"), version="41", applied_rev=applied_rev)
    wanted = desired(7, prefill=1, decode=3)
    step = Apply(LLAMA, "llama-uid", "41", 7, {"prefill": 1, "decode": 3})
    assert converge([wanted], a_view(graph), NOON) == Converging(((errand(wanted), step),))


@pytest.mark.parametrize("applied_rev", [7, 8])
def test_a_graph_that_carries_the_revision_or_a_later_one_is_not_fought_over(applied_rev: int) -> None:
    graph = a_graph(a_component(replicas=9), applied_rev=applied_rev)
    assert converge([desired(7)], a_view(graph), NOON) == Converging()


@pytest.mark.parametrize(
    "graph",
    [
        a_graph(is_paused=True),
        a_graph(a_component("worker")),
        a_graph(a_component(has_adapter=True)),
        a_graph(ref=OTHER),
    ],
    ids=["paused", "without the component", "behind an adapter", "not there"],
)
def test_what_must_not_be_written_is_left_alone(graph: Graph) -> None:
    assert converge([desired(7)], a_view(graph), NOON) == Converging()


def test_an_adapter_of_a_component_that_nothing_is_desired_of_does_not_matter() -> None:
    graph = a_graph(a_component("decode"), a_component("planner", has_adapter=True))
    assert steps(a_view(graph), desired(7)) == [write(desired(7), graph)]


def test_nothing_is_written_while_something_cannot_be_read() -> None:
    """Unknown is not empty: what is known of the graphs may be old."""
    graph = a_graph()
    assert steps(a_view(graph, unreadable=("pods: no reply",)), desired(7)) == []
    view = a_view(graph)
    blind = replace(view, snapshot=replace(view.snapshot, graphs_unreadable="forbidden"))
    assert steps(blind, desired(7)) == []
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
    assert steps(a_view(graph, in_flight=frozenset({under_way})), desired(7)) == []


@pytest.mark.parametrize(
    "answer", [Busy("409", trouble=Trouble.CONFLICT), Unknown("timed out"), Denied("403"), Accepted()], ids=repr
)
def test_what_was_not_settled_is_tried_again_in_pauses_that_grow(answer: Answer) -> None:
    """An accepted write counts too: its sight may be a moment behind."""
    graph, wanted = a_graph(), desired(7)
    for tries, pause_s in ((1, RETRY_FIRST_S), (2, 2 * RETRY_FIRST_S), (20, RETRY_MAX_S)):
        answers = an_answer(write(wanted, graph), answer, tries=tries, operation=errand(wanted))
        view = a_view(graph, answers=answers)
        assert converge([wanted], view, at(pause_s - 0.001)) == Converging((), at(pause_s))
        assert steps(view, wanted, seconds=pause_s) == [write(wanted, graph)]


def test_a_newer_revision_does_not_wait_for_the_pause_of_an_older_one() -> None:
    graph = a_graph()
    answers = an_answer(write(desired(7), graph), Denied("403"), tries=20, operation=errand(desired(7)))
    assert steps(a_view(graph, answers=answers), desired(8)) == [write(desired(8), graph)]


def test_it_looks_again_when_the_first_of_the_pauses_is_over() -> None:
    graphs = [a_graph(), a_graph(ref=OTHER)]
    rows = [desired(7), desired(7, ref=OTHER)]
    answers = {}
    for row, graph, tries in zip(rows, graphs, (3, 2), strict=True):
        answers |= an_answer(write(row, graph), Denied("403"), tries=tries, operation=errand(row))
    assert converge(rows, a_view(*graphs, answers=answers), NOON).recheck_at == at(2 * RETRY_FIRST_S)

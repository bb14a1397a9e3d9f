"""In which order a graph is written whose components are behind scaling adapters."""

import pytest

from hangar.domain.decision import Apply, Scale, Step
from hangar.domain.ids import OperationId
from hangar.domain.workloads.errands import errand, reductions
from hangar.domain.workloads.graph import Component, Graph, Unwritten
from hangar.domain.workloads.stages import next_stage, takes
from tests.domain.building import LLAMA, a_component, a_graph, behind_adapter, desired

WANTED = desired(7, prefill=2, decode=4)
ERRAND, FIRST = errand(WANTED), reductions(WANTED)


def scale(name: str, replicas: int) -> Scale:
    return Scale(LLAMA, name, f"llama-{name}", f"{name}-adapter", "1", replicas)


def write(rev: int | None, **counts: int) -> Apply:
    return Apply(LLAMA, "llama-uid", "1", rev, counts)


def never(_operation: OperationId, _step: Step) -> bool:
    return False


def adapted(prefill: tuple[int, int], decode: tuple[int, int]) -> Graph:
    """Return a graph of two components behind adapters: what it shows of each, and what the adapter was given."""
    return a_graph(behind_adapter("prefill", *prefill), behind_adapter("decode", *decode))


@pytest.mark.parametrize(
    ("graph", "stage"),
    [
        (a_graph(a_component("prefill", 9), a_component("decode", 1)), ((ERRAND, write(7, prefill=2, decode=4)),)),
        (adapted((4, 4), (6, 6)), ((ERRAND, scale("prefill", 2)), (ERRAND, scale("decode", 4)))),
        (adapted((1, 1), (2, 2)), ((ERRAND, scale("prefill", 2)), (ERRAND, scale("decode", 4)))),
        (adapted((4, 4), (2, 2)), ((ERRAND, scale("prefill", 2)),)),
        (adapted((4, 2), (2, 2)), "adapter_pending"),
        (adapted((2, 2), (2, 2)), ((ERRAND, scale("decode", 4)),)),
        (adapted((2, 2), (2, 4)), "adapter_pending"),
        (adapted((2, 2), (4, 4)), ((ERRAND, write(7)),)),
        (a_graph(behind_adapter("prefill", 4), a_component("decode", 2)), ((ERRAND, scale("prefill", 2)),)),
        (
            a_graph(behind_adapter("prefill", 1), a_component("decode", 6)),
            ((FIRST, write(None, decode=4)),),
        ),
        (a_graph(behind_adapter("prefill", 1), a_component("decode", 2)), ((ERRAND, scale("prefill", 2)),)),
        (a_graph(behind_adapter("prefill", 4, 2), a_component("decode", 2)), "adapter_pending"),
        (a_graph(behind_adapter("prefill", 2), a_component("decode", 6)), ((ERRAND, write(7, decode=4)),)),
        (a_graph(behind_adapter("prefill", 2), a_component("decode", 4)), ((ERRAND, write(7, decode=4)),)),
    ],
    ids=[
        "no adapter: all at once",
        "both fall",
        "both rise",
        "one falls, so the other waits",
        "it is not seen to have fallen",
        "it has fallen: the other rises",
        "it is not seen to have risen",
        "both were read back: the revision",
        "the direct one rises last, with the revision",
        "the direct one falls before the other rises",
        "nothing of the direct one falls",
        "the direct one waits for the other to be seen",
        "the other was read back: the direct one falls with the revision",
        "nothing is left but the revision",
    ],
)
def test_what_falls_is_written_and_seen_before_what_rises_and_the_revision_last(
    graph: Graph, stage: tuple[tuple[OperationId, Step], ...] | str
) -> None:
    found = next_stage(graph, WANTED, never)
    assert (found.code if isinstance(found, Unwritten) else found) == stage


def ends(prefill: Component, decode: Component, *undone: Step) -> object:
    return next_stage(a_graph(prefill, decode), WANTED, lambda _, step: step in undone)


def test_a_number_that_somebody_put_back_is_not_written_again_and_the_rest_goes_on() -> None:
    back = behind_adapter("prefill", 4)
    assert ends(back, behind_adapter("decode", 2), scale("prefill", 2)) == ((ERRAND, scale("decode", 4)),)
    assert ends(back, behind_adapter("decode", 4), scale("prefill", 2)) == ((ERRAND, write(7)),)
    assert ends(back, a_component("decode", 4), scale("prefill", 2)) == ((ERRAND, write(7, decode=4)),)


def test_a_direct_count_that_somebody_put_back_does_not_hold_up_the_rest_either() -> None:
    first = write(None, decode=4)
    assert ends(behind_adapter("prefill", 1), a_component("decode", 6), first) == ((ERRAND, scale("prefill", 2)),)


def test_a_revision_that_somebody_took_off_is_not_put_on_again() -> None:
    found = ends(behind_adapter("prefill", 2), behind_adapter("decode", 4), write(7))
    assert isinstance(found, Unwritten)
    assert (found.rev, found.code) == (7, "reverted")


@pytest.mark.parametrize(
    ("graph", "code", "words"),
    [
        (a_graph(is_paused=True), "graph_paused", "nvidia.com/paused"),
        (a_graph(a_component("decode"), a_component("other")), "component_missing", "no component prefill; it has de"),
        (
            a_graph(behind_adapter("prefill", adapter=None), a_component("decode")),
            "adapter_missing",
            "of prefill is mi",
        ),
    ],
    ids=["paused", "without a component", "without an adapter"],
)
def test_a_graph_that_cannot_be_written_whole_is_not_written_at_all(graph: Graph, code: str, words: str) -> None:
    found = next_stage(graph, WANTED, never)
    assert isinstance(found, Unwritten)
    assert (found.rev, found.code) == (7, code)
    assert words in found.why


def test_what_a_write_takes_is_counted_by_the_number_that_was_given_last() -> None:
    graph = a_graph(behind_adapter("prefill", 5, 4), a_component("decode", 6))
    assert takes(graph, [scale("prefill", 1), write(None, decode=2)]) == {"prefill": 3, "decode": 4}
    assert takes(graph, [scale("prefill", 4), write(7, decode=7)]) == {}

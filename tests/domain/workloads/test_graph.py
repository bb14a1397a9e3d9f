"""When a graph runs what is wanted of it, and when somebody else has changed it."""

from dataclasses import replace

import pytest

from hangar.domain.workloads.graph import (
    Component,
    Counts,
    Desired,
    Graph,
    GraphRef,
    Role,
    has_drifted,
    is_converged,
    role_of,
)

REF = GraphRef("serving", "llama")
WANTED = Desired(REF, 7, {"worker": 2})


def worker(replicas: int, counts: Counts | None = None) -> Component:
    return Component("worker", Role.WORKER, replicas, counts=counts)


def graph(*components: Component) -> Graph:
    return Graph(REF, "u1", "1", "nvidia.com/v1beta1", components, applied_rev=7)


DONE = graph(worker(2, Counts(2, 2, 2)))


def test_converged_is_written_seen_updated_and_ready() -> None:
    assert is_converged(DONE, WANTED)
    assert is_converged(replace(DONE, rollout="Completed"), WANTED)
    assert is_converged(graph(worker(0)), Desired(REF, 7, {"worker": 0}))


@pytest.mark.parametrize(
    "of",
    [
        replace(DONE, applied_rev=6),
        replace(DONE, applied_rev=None),
        replace(DONE, is_observed=False),
        replace(DONE, rollout="InProgress"),
        graph(worker(3, Counts(3, 3, 3))),
        graph(worker(2, Counts(2, 2, 1))),
        graph(worker(2, Counts(2, 1, 2))),
        graph(worker(2, Counts(3, 2, 2))),
        graph(worker(2)),
        graph(),
    ],
    ids=[
        "not written",
        "never written",
        "not seen by its operator",
        "rolling",
        "other numbers",
        "not ready",
        "not updated",
        "one too many",
        "not counted",
        "without the component",
    ],
)
def test_anything_less_is_not_converged(of: Graph) -> None:
    assert not is_converged(of, WANTED)


def test_all_components_count() -> None:
    wanted = Desired(REF, 7, {"worker": 2, "encode": 1})
    encode = Component("encode", Role.OTHER, 1, counts=Counts(1, 1, 0))
    assert not is_converged(graph(*DONE.components, encode), wanted)
    assert is_converged(graph(*DONE.components, replace(encode, counts=Counts(1, 1, 1))), wanted)


def test_drifted_is_our_revision_with_other_numbers() -> None:
    now = graph(worker(3))
    assert has_drifted(now, WANTED)
    assert not has_drifted(now, Desired(REF, 7, {"worker": 3}))
    assert not has_drifted(now, Desired(REF, 8, {"worker": 2}))  # ours is still to be written
    assert has_drifted(now, Desired(REF, 7, {"encode": 1}))


def test_a_component_is_found_by_its_name() -> None:
    assert DONE.component("worker") is DONE.components[0]
    assert DONE.component("encode") is None
    assert str(REF) == "serving/llama"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("frontend", ""), Role.FRONTEND),
        (("worker", ""), Role.WORKER),
        (("worker", "prefill"), Role.PREFILL),
        (("worker", "decode"), Role.DECODE),
        (("worker", "encode"), Role.WORKER),
        (("decode", ""), Role.DECODE),
        (("frontend", "decode"), Role.FRONTEND),
        (("planner", ""), Role.PLANNER),
        (("epp", ""), Role.EPP),
        (("", ""), Role.OTHER),
        (("other", ""), Role.OTHER),
    ],
)
def test_a_role_is_the_type_or_the_finer_one_of_a_worker(names: tuple[str, str], expected: Role) -> None:
    assert role_of(*names) is expected

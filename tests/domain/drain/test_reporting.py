"""What a drain says of itself: on its way in one line, at its end every pod in one of its lists."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from hangar.domain.blockers import blocker
from hangar.domain.decision import Accepted, Answered, Blocker, Fact, Unknown
from hangar.domain.drain.moves import TrackedPod
from hangar.domain.drain.reporting import DrainState, cancelled_message, details, progress
from hangar.domain.ids import NodeName
from hangar.domain.snapshot import Pod, PodPhase
from hangar.domain.view import StepKey, View
from hangar.domain.workloads.members import COMPONENT_LABEL, GRAPH_LABEL, Part
from tests.domain.building import (
    API,
    CHAT,
    LLAMA,
    NOON,
    OP,
    Object,
    a_node,
    a_pod,
    a_ref,
    a_view,
    an_answer,
    an_owner,
    at,
    draining,
    our_node,
    pending,
    terminating,
    uids,
)

AGENT = an_owner("agent", kind="DaemonSet")
DECODE = Part(LLAMA, "decode")
OF_DECODE = {"app": "api", GRAPH_LABEL: "llama", COMPONENT_LABEL: "decode"}


def a_state(
    *objects: Object, evicted: str = "", left: str = "", there: str = "", leaving: str = "", is_cordoned: bool = True
) -> DrainState:
    """Return a drain of n1 that tracks pods named by single letters; api had as many ready pods as were evicted."""
    pods = {
        uid: TrackedPod(a_ref(uid), API, sent_at=None if uid in left + there else NOON)
        for uid in uids(*evicted, *left, *there, *leaving)
    }
    shown = [a_pod(name) for name in there + leaving if not any(_is_named(each, name) for each in objects)]
    claims = draining("n1", baselines={"api": len(evicted)})
    view: View = a_view(our_node(), an_owner(), *shown, *objects, claims=claims, leaving=uids(*leaving))
    return DrainState(OP, NodeName("n1"), is_cordoned, pods, view)


def _is_named(each: Object, name: str) -> bool:
    return isinstance(each, Pod) and each.ref.name == name


# --- on its way -------------------------------------------------------------------------------------------------------


def test_before_its_cordon_is_seen_a_drain_says_that_it_cordons() -> None:
    assert progress(a_state(is_cordoned=False), ()).message == "cordoning"


def test_on_an_empty_node_it_says_that_there_is_nothing_to_move() -> None:
    assert progress(a_state(), ()).message == "no pods to move"


def test_it_counts_what_is_gone_and_what_serves_elsewhere() -> None:
    told = progress(a_state(a_pod("x", on="n2"), terminating("d"), evicted="ab", left="c", there="de"), ())
    assert (told.done, told.total, told.unit) == (3, 5, "pods")
    assert told.message == "evicted 3/5, rescheduled 2/5 (1 loading), 1 terminating"


def test_what_may_still_land_is_not_gone() -> None:
    assert progress(a_state(leaving="a"), ()).message == "evicted 0/1, rescheduled 0/1"


SPENT: Mapping[str, Fact] = {"pods": ["default/a", "default/b"], "needs": 4, "has": 4}


ONE_OF_TWO: Mapping[str, Fact] = {"has": 1, "needs": 2, "missing": []}
ENDING = blocker("terminating", "default/z", due_at="2026-10-27T12:00:30Z", held="")


@pytest.mark.parametrize(
    ("blockers", "said"),
    [
        (
            (blocker("budget_spent", "pdb default/api", **SPENT),),
            "blocked 2 by pdb default/api: needs 4 has 4",
        ),
        ((blocker("budget_behind", "pdb default/api", pods=["default/a"]),), "blocked 1 by pdb default/api"),
        (
            (
                blocker(
                    "last_ready", "default/a", owner="deployment default/api", unit="pod", has=1, needs=2, missing=[]
                ),
            ),
            "blocked 1 by the last ready pod of deployment default/api",
        ),
        ((blocker("several_budgets", "default/a", budgets="x and y"),), "blocked 1 by several budgets"),
        ((blocker("retry", "default/a", trouble="conflict", why="x"), ENDING), "blocked 1 by retry"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_blocks_it_is_summed_up_by_its_cause(blockers: tuple[Blocker, ...], said: str) -> None:
    told = progress(a_state(there="ab"), blockers)
    assert told.message == f"evicted 0/2, rescheduled 0/2, {said}"
    assert told.blockers == blockers


def test_what_is_on_its_way_blocks_nothing() -> None:
    waits = (ENDING, blocker("loading", "api", has=0, needs=1, unit="pod", loading=""))
    assert "blocked" not in progress(a_state(there="a"), waits).message


# --- at its end -------------------------------------------------------------------------------------------------------


def test_a_cancelled_drain_says_how_much_it_did() -> None:
    state = a_state(terminating("c"), evicted="a", left="b", there="cd")
    assert cancelled_message(state) == "cancelled: 1 moved, 1 terminating, 1 not touched"
    assert cancelled_message(a_state(leaving="a")) == (
        "cancelled: 0 moved, 0 terminating, 1 sent with unknown outcome, 0 not touched"
    )


def names(rows: object, key: str = "pod") -> list[object]:
    assert isinstance(rows, list)
    return [row[key] for row in rows]


def test_every_pod_of_the_node_is_in_one_of_the_lists() -> None:
    successor = a_pod("x", on="n2", created_at=at(5))
    skipped = (a_pod("y", owner=AGENT.ref), a_pod("w", owner=None, phase=PodPhase.SUCCEEDED, ready=False))
    state = a_state(
        a_node("n2"), AGENT, successor, terminating("c"), *skipped, evicted="a", left="b", there="cd", leaving="e"
    )
    told: Mapping[str, object] = details(state)
    assert {name: names(told[name]) for name in told if name != "warnings"} == {
        "moved": ["default/a"],
        "left": ["default/b"],
        "terminating": ["default/c"],
        "unknown": ["default/e"],
        "untouched": ["default/d"],
        "skipped": ["default/w", "default/y"],
        "forced": [],
    }
    assert names(told["moved"], "successor") == ["default/x"]
    assert names(told["untouched"], "owner") == ["deployment default/api"]
    assert names(told["skipped"], "reason") == ["finished", "daemonset"]


def test_data_on_disks_is_warned_of_in_the_order_of_names() -> None:
    state = a_state()
    pods = {uid: TrackedPod(a_ref(uid), API, has_disk_empty_dir=uid != "b") for uid in sorted(uids("c", "b", "a"))}
    told = details(DrainState(OP, state.node, True, dict(reversed(pods.items())), state.view))
    assert told["warnings"] == [
        "default/a keeps data in an emptyDir on disk, which is lost when it moves",
        "default/c keeps data in an emptyDir on disk, which is lost when it moves",
    ]


def test_what_runs_on_a_node_that_took_the_name_is_not_listed() -> None:
    claims = draining("n1")
    view = a_view(a_node("n1", uid="another"), AGENT, a_pod("y", owner=AGENT.ref), pending("z"), claims=claims)
    assert details(DrainState(OP, NodeName("n1"), True, {}, view))["skipped"] == []


@pytest.mark.parametrize(
    ("answers", "ends_in"),
    [
        (an_answer("e", Accepted(), seconds=1), "terminating"),  # and the watch has not shown it yet
        (an_answer("e", Unknown("timed out"), seconds=1), "unknown"),
        (an_answer("e", Accepted(), seconds=-1), "unknown"),  # to an earlier try
        ({}, "unknown"),
    ],
    ids=["accepted", "cut off", "an earlier try", "no answer"],
)
def test_an_eviction_that_was_accepted_has_begun(answers: Mapping[StepKey, Answered], ends_in: str) -> None:
    state = a_state(leaving="e")
    state = replace(state, view=replace(state.view, answers=answers))
    told: Mapping[str, object] = details(state)
    assert [name for name in ("terminating", "unknown") if names(told[name])] == [ends_in]
    said = "1 terminating, " if ends_in == "terminating" else "0 terminating, 1 sent with unknown outcome, "
    assert cancelled_message(state) == f"cancelled: 0 moved, {said}0 not touched"


def test_every_row_on_a_pod_of_a_graph_says_of_which_workload_and_component() -> None:
    state = a_state(
        a_pod("x", on="n2"), terminating("d", labels=OF_DECODE, namespace="serving"), evicted="a", left="b", there="cd"
    )
    pods = {uid: replace(each, part=DECODE) for uid, each in state.pods.items()}
    found = details(replace(state, pods=pods, view=replace(state.view, workloads={LLAMA: CHAT})))
    names = {"workload": "chat", "component": "decode"}
    for of in ("moved", "left", "terminating"):
        (row,) = _rows(found[of])
        assert row.items() >= names.items(), of
    (untouched,) = _rows(found["untouched"])
    assert "component" not in untouched, "its labels say that it is of no graph"


def _rows(fact: Fact) -> list[dict[str, str | int | None]]:
    assert isinstance(fact, list)
    return [each for each in fact if isinstance(each, dict)]

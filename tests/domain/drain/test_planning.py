"""What a drain would do, told before anything is done."""

from dataclasses import fields, replace

import pytest

from hangar.domain.drain.planning import DrainChoices, plan_drain
from hangar.domain.ids import NodeName, OwnerUid
from hangar.domain.plan import Fits, LeftPod, Obstruction, Plan, PlannedBudget, PlannedLoss, PlannedMove
from hangar.domain.snapshot import OwnerRef, PodPhase, Toleration
from hangar.domain.view import View
from hangar.domain.workloads.members import COMPONENT_LABEL, GRAPH_LABEL
from hangar.wire import plans
from tests.domain.building import (
    CHAT,
    GPU,
    LLAMA,
    NOON,
    Object,
    a_budget,
    a_member,
    a_node,
    a_pod,
    a_view,
    an_owner,
    at,
    draining,
    terminating,
)

CHOICES = DrainChoices(deadline_s=3600, grace_period_s=None, skip_fit_check=False, force=False)
AGENT = an_owner("agent", kind="DaemonSet")
FOREIGN = OwnerRef("PodClique", "decode", OwnerUid("decode"))


def a_drain(*objects: Object) -> View:
    return a_view(a_node("n1"), *objects, claims=draining("n1"))


def planned(*objects: Object, choices: DrainChoices = CHOICES) -> Plan:
    view = a_drain(*objects)
    return plan_drain(view.snapshot.nodes[NodeName("n1")], choices, view, NOON)


def test_a_whole_plan_names_everything() -> None:
    """C96: what moves and where to, what stays and why, budgets, losses, warnings and the time it takes."""
    pods = [a_pod(f"api-{number}", ready_at=at(-3590), requests={GPU: 2}) for number in range(2)]
    others = [a_pod(f"api-{number}", on="n2", ready_at=at(-3590)) for number in (2, 3)]
    daemon = a_pod("dcgm", owner=AGENT.ref, labels={}, runtime_class="nvidia")
    done = a_pod("done", owner=None, phase=PodPhase.SUCCEEDED)
    plan = planned(a_node("n2"), an_owner(desired=4), AGENT, *pods, *others, daemon, done, a_budget(healthy=4, needs=3))
    api = "deployment default/api"
    assert plan == Plan(
        message="would evict 2 pod(s) in at least 2 steps, about 80 s; all fit elsewhere",
        fits=Fits.YES,
        moves=tuple(
            PlannedMove(f"default/api-{number}", api, Fits.YES, NodeName("n2"), requests={GPU: 2})
            for number in range(2)
        ),
        skipped=(
            LeftPod("default/dcgm", "daemonset: it would be put back at once"),
            LeftPod("default/done", "finished: it holds nothing any more"),
        ),
        warnings=("stay, and may hold GPUs, so that no driver can be unloaded: default/dcgm",),
        budgets=(PlannedBudget("pdb default/api", 2, 1, 2, "needs 3 has 4"),),
        losses=(PlannedLoss(api, 4, 2, 3),),
        expected_duration_s=80,
        basis=f"{api}: 2 step(s) of up to 30 s to end and 10 s to be ready (median of 4 pod(s))",
    )


def test_a_pod_that_fits_nowhere_is_named_with_what_is_missing() -> None:
    plan = planned(a_node("n2", gpus=4), a_pod("api-1", requests={GPU: 8}), an_owner(desired=1))
    said = "default/api-1 needs 8 nvidia.com/gpu on one node, at most 4 are free on one"
    assert [(each.pod, each.fits, each.why) for each in plan.moves] == [("default/api-1", Fits.NO, said)]
    assert plan.obstructions == (Obstruction("no_capacity", said),)
    assert plan.message == "would fail once n1 is cordoned, before any of 1 pod(s) is evicted: no_capacity"
    assert (plan.fits, plan.expected_duration_s, plan.basis) == (Fits.NO, None, "")


def test_every_reason_to_fail_is_told_at_once() -> None:
    """C13, C21, C96."""
    returns = a_pod("t", tolerations=(Toleration("", "Exists", "", ""),))
    bare = a_pod("bare", owner=None, labels={})
    plan = planned(a_node("n2"), an_owner(desired=1), returns, bare, a_budget(healthy=1, needs=1))
    assert [each.code for each in plan.obstructions] == ["unmanaged_pods", "returns_to_node", "blocked_by_budget"]
    assert plan.obstructions[1].message == "default/t would be put back on n1: it tolerates every taint"
    assert plan.obstructions[2].message.endswith("scale up, relax the budget, or drain with skip_fit_check")
    assert plan.message.endswith("unmanaged_pods, returns_to_node, blocked_by_budget")


def test_what_its_caller_chose_not_to_check_is_a_warning() -> None:
    """C23."""
    choices = replace(CHOICES, skip_fit_check=True)
    plan = planned(a_pod("api-1"), an_owner(desired=1), choices=choices)
    assert plan.obstructions == ()
    assert plan.warnings[0] == "skipped by choice: default/api-1 fits on no other node: there is none"
    assert plan.message == "would evict 1 pod(s) at once; none fits elsewhere"


def test_by_force_pods_go_that_nothing_recreates() -> None:
    choices = replace(CHOICES, force=True)
    plan = planned(a_node("n2"), a_pod("bare", owner=None), choices=choices)
    assert [(each.pod, each.owner, each.fits) for each in plan.moves] == [("default/bare", None, Fits.YES)]
    assert plan.obstructions == ()
    assert plan.warnings == ("nothing would recreate what is moved by force: default/bare",)


def test_a_controller_of_its_own_kind_has_time_to_react() -> None:
    plan = planned(a_pod("decode-0", owner=FOREIGN))
    assert [each.message for each in plan.obstructions] == [
        "default/decode-0 fits on no other node: there is none; its controller would have 30 s to react to the cordon"
    ]


def test_a_pod_that_terminates_already_is_not_in_the_way() -> None:
    plan = planned(terminating("api-1", requests={GPU: 8}), an_owner(desired=1))
    assert plan.obstructions == ()
    assert plan.moves[0].why == ("it is terminating already; default/api-1 fits on no other node: there is none")
    assert planned(a_node("n2"), terminating("a"), an_owner(desired=1)).moves[0].why == "it is terminating already"


def test_a_pod_of_a_group_names_it_with_its_size() -> None:
    """C53."""
    keepers = an_owner("llama-0", desired=2, kind="StatefulSet")
    pods = a_member("llama-0"), a_member("llama-1", on="n2")
    plan = planned(a_node("n2"), keepers, *pods)
    assert [(each.pod, each.group) for each in plan.moves] == [
        ("default/llama-0", "leaderworkerset default/llama group 0 (2 pods)")
    ]


def test_an_empty_node_is_only_cordoned() -> None:
    plan = planned()
    assert (plan.message, plan.fits) == ("would cordon n1, which has no pod to move", Fits.YES)
    assert (plan.expected_duration_s, plan.basis) == (0, "no pod has to move")


@pytest.mark.parametrize("count", [1, 3])
def test_the_message_counts_what_fits_and_what_is_not_known(count: int) -> None:
    pods = [a_pod(f"api-{number}", requests={GPU: 2}) for number in range(3)]
    plan = planned(a_node("n2", gpus=3), a_node("n3", gpus=3), an_owner(desired=3), *pods[:count])
    fits = {1: "all fit elsewhere", 3: "2 fit elsewhere, 1 may fit or not"}
    assert plan.message.endswith(fits[count])


def test_an_unchanged_world_gives_the_same_plan_in_whatever_order_it_was_seen() -> None:
    objects: list[Object] = [
        *(a_pod(f"api-{number}", requests={GPU: number}) for number in range(4)),
        *(a_node(f"n{number}", gpus=4) for number in (2, 3, 4)),
        an_owner(desired=4),
        AGENT,
        a_pod("dcgm", owner=AGENT.ref),
        a_budget("a", healthy=4, needs=2),
        a_budget("b", healthy=4, needs=2),
    ]
    assert planned(*objects) == planned(*reversed(objects))


def test_what_is_shown_of_a_plan_has_the_same_fields() -> None:
    """What stands around a plan is the request it answers."""
    around = {"type", "target", "cluster", "params", "planned_at"}
    pairs = (
        (Plan, plans.Plan),
        (PlannedMove, plans.PlannedMove),
        (PlannedBudget, plans.PlannedBudget),
        (PlannedLoss, plans.PlannedLoss),
        (LeftPod, plans.LeftPod),
        (Obstruction, plans.Obstruction),
    )
    for ours, theirs in pairs:
        assert {each.name for each in fields(ours)} == {each.name for each in fields(theirs)} - around


def test_a_pod_of_a_graph_is_planned_with_its_workload_and_component() -> None:
    labels = {GRAPH_LABEL: "llama", COMPONENT_LABEL: "decode"}
    view = a_drain(a_node("n2"), an_owner(), a_pod("api-1", namespace="serving", labels=labels), a_pod("b"))
    view = replace(view, workloads={LLAMA: CHAT})
    plan = plan_drain(view.snapshot.nodes[NodeName("n1")], CHOICES, view, NOON)
    assert {(each.pod, each.workload, each.component) for each in plan.moves} == {
        ("serving/api-1", "chat", "decode"),
        ("default/b", None, None),
    }

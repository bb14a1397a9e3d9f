"""Workloads as they are bound, changed at once, and forgotten."""

from typing import Any

import pytest

from hangar.domain.workloads.placement import Bounds, Division, Policy
from hangar.hub.principals import Role
from hangar.hub.store.tx import Tx
from hangar.hub.usecases.check_workloads import Binding
from hangar.hub.usecases.remove_workloads import delete_deployment, delete_workload
from hangar.hub.usecases.workloads import set_replicas
from hangar.wire import shown
from hangar.wire.operator import ComponentDoc, RivalDoc
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.sites import Fleet, Site, a_graph
from tests.hub.world import ADMIN, MAINTAINER, VIEWER, Operator

PAIR = [
    ComponentDoc(name="prefill", role="prefill", replicas=2, gpus_per_pod=1),
    ComponentDoc(name="decode", role="decode", replicas=4, gpus_per_pod=1),
]
MIXED = [ComponentDoc(name="a", role="worker", replicas=1), ComponentDoc(name="b", role="worker", replicas=1)]


def applied(fleet: Fleet, name: str = "llama", **given: Any) -> Problem:
    with pytest.raises(Problem) as caught:
        fleet.apply(name, **given)
    return caught.value


def patch(fleet: Fleet, replicas: int) -> shown.Workload:
    return fleet.world.store.write(lambda tx: set_replicas(tx, ADMIN, "llama", replicas, fleet.world.now_us))


def forget(fleet: Fleet, cluster: str) -> None:
    fleet.world.store.write(lambda tx: delete_deployment(tx, ADMIN, "llama", cluster, fleet.world.now_us))


def delete(fleet: Fleet) -> None:
    fleet.world.store.write(lambda tx: delete_workload(tx, ADMIN, "llama", fleet.world.now_us))


# --- binding ----------------------------------------------------------------------------------------------------------


def test_what_runs_is_adopted_as_it_is(fleet: Fleet) -> None:
    fleet["fra-1"].decode(replicas=2)
    fleet["iad-1"].decode(replicas=2)
    fleet["sin-1"].decode(replicas=1)
    added = fleet.bind()
    assert (added.replicas, added.placement) == (5, "2 + 2 + 1 = 5, divided")
    assert added.gpus_per_replica == 4
    assert fleet["sin-1"].wanted().counts == {"decode": 1}
    assert fleet.world.events("workload") == ["workload.added"]
    assert fleet.world.events("deployment.added") == ["deployment.added"] * 3


def test_of_duplicated_ones_the_largest_number_is_adopted(fleet: Fleet) -> None:
    fleet["fra-1"].decode(replicas=2)
    added = fleet.bind(policy=Policy(Division.DUPLICATED))
    assert (added.replicas, fleet.numbers()) == (2, {"fra-1": 2, "iad-1": 2, "sin-1": 2})


def test_a_graph_that_is_not_there_yet_gets_its_number_once_it_is_seen(fleet: Fleet) -> None:
    fleet["sin-1"].lose()
    added = fleet.bind(replicas=6)
    assert [each.state for each in added.deployments] == ["reconciling", "reconciling", "missing"]
    assert fleet["sin-1"].desired() is None
    fleet["sin-1"].tell(a_graph())
    assert fleet["sin-1"].wanted().counts == {"decode": 2}


def test_all_that_is_wrong_with_a_binding_is_said_at_once(fleet: Fleet) -> None:
    fleet.bind()
    bindings = (Binding("iad-1", "serving", "llama"), Binding("iad-1", "serving", "x"), Binding("mars", "a", "b"))
    problem = applied(fleet, "other", bindings=bindings)
    assert problem.code is ProblemCode.INVALID_VALUE
    assert [(each.path, each.message) for each in problem.errors] == [
        ("deployments[0].graph", "serving/llama of iad-1 is bound to workload llama already"),
        ("deployments[1].cluster", "iad-1 is given twice"),
        ("deployments[2].cluster", "there is no cluster mars"),
    ]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"who": VIEWER}, ProblemCode.FORBIDDEN),
        ({"who": MAINTAINER}, ProblemCode.FORBIDDEN),
        ({"project": "other"}, ProblemCode.NOT_FOUND),
    ],
)
def test_only_admins_bind_and_only_to_a_project_that_is_there(
    fleet: Fleet, given: dict[str, Any], code: ProblemCode
) -> None:
    assert applied(fleet, **given).code is code


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (None, "serving/mixed of fra-1 does not tell what a replica is: it has several components that could be"),
        ({"c": 1}, "serving/mixed has no component 'c'; it has a, b"),
    ],
)
def test_a_graph_whose_replica_nobody_knows_needs_a_shape_of_its_own(
    fleet: Fleet, shape: dict[str, int] | None, message: str
) -> None:
    fleet["fra-1"].tell(a_graph("mixed", components=MIXED))
    problem = applied(fleet, "mixed", shape=shape, bindings=(Binding("fra-1", "serving", "mixed"),))
    assert [each.path for each in problem.errors] == ["shape"]
    assert message in problem.detail
    fleet.bind("mixed", on=["fra-1"], shape={"a": 1, "b": 2}, replicas=2)
    assert fleet["fra-1"].wanted("mixed").counts == {"a": 2, "b": 4}


def test_a_pair_keeps_its_ratio(fleet: Fleet) -> None:
    fleet["fra-1"].tell(a_graph("pair", components=PAIR))
    added = fleet.bind("pair", on=["fra-1"])
    assert (added.replicas, added.gpus_per_replica) == (2, 3)
    assert fleet["fra-1"].wanted("pair").counts == {"prefill": 2, "decode": 4}


def test_a_cluster_that_does_not_let_workloads_be_scaled_is_not_bound(fleet: Fleet) -> None:
    Site(fleet.world, "ord-1", allowed=("cordon", "drain"))
    problem = applied(fleet, bindings=(Binding("ord-1", "serving", "llama"),))
    assert problem.code is ProblemCode.OPERATION_NOT_ALLOWED
    assert problem.context["clusters"] == ["ord-1"]


# --- changing ---------------------------------------------------------------------------------------------------------


def test_an_apply_changes_what_it_gives_and_leaves_the_rest(fleet: Fleet) -> None:
    fleet.bind(replicas=6)
    changed = fleet.apply(policy=Policy(default_bounds=Bounds(0, 3)))
    assert (changed.replicas, changed.policy.max, len(changed.deployments)) == (6, 3, 3)
    moved = fleet.bind(on=["fra-1", "iad-1"])
    assert (moved.replicas, fleet.numbers()) == (6, {"fra-1": 3, "iad-1": 3})
    assert fleet["sin-1"].desired() is None
    assert fleet.world.events("deployment.removed") == ["deployment.removed"]
    assert fleet.world.events("workload") == ["workload.added", "workload.changed", "workload.changed"]


def test_an_apply_that_cannot_be_placed_changes_nothing(fleet: Fleet) -> None:
    fleet.bind(replicas=6)
    problem = applied(fleet, replicas=2, policy=Policy(default_bounds=Bounds(1, 3)))
    assert [each.path for each in problem.errors] == ["replicas"]
    assert "2 replicas are out of its bounds: its clusters need at least 3 and at most 9, or 0" in problem.detail
    assert fleet.see().replicas == 6


def test_another_graph_of_a_cluster_is_another_deployment(fleet: Fleet) -> None:
    fleet["fra-1"].tell(a_graph("next"))
    fleet.bind(on=["fra-1"], replicas=2)
    fleet.apply(bindings=(Binding("fra-1", "serving", "next"),))
    assert fleet["fra-1"].desired() is None
    assert fleet["fra-1"].wanted("next").counts == {"decode": 2}


def test_a_revision_rises_with_each_change_even_in_one_instant(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    revs = [fleet["fra-1"].wanted().rev]
    for replicas in (6, 9, 6):
        patch(fleet, replicas)
        revs.append(fleet["fra-1"].wanted().rev)
    assert revs == [revs[0] + step for step in range(4)]


# --- at once ----------------------------------------------------------------------------------------------------------


def test_a_patch_is_at_once_and_leaves_an_event_but_no_operation(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    assert patch(fleet, 6).replicas == 6
    assert fleet.numbers() == {"fra-1": 2, "iad-1": 2, "sin-1": 2}
    patch(fleet, 6)
    assert fleet.world.events("workload.scaled") == ["workload.scaled"]
    assert fleet.world.events("operation") == []


def test_a_patch_of_what_was_changed_by_hand_writes_it_again(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.write()
    fleet["iad-1"].decode(replicas=5, written_by="kubectl-edit")
    revs = {name: site.wanted().rev for name, site in fleet.sites.items()}
    patch(fleet, 3)
    assert {name for name, site in fleet.sites.items() if site.wanted().rev > revs[name]} == {"iad-1"}


def test_a_patch_is_refused_as_a_scale_is(fleet: Fleet) -> None:
    fleet.bind(replicas=3, policy=Policy(default_bounds=Bounds(1, 6)))
    with pytest.raises(Problem) as caught:
        patch(fleet, 19)
    assert [each.path for each in caught.value.errors] == ["replicas"]
    with pytest.raises(Problem) as caught:
        patch(fleet, 17)
    assert caught.value.code is ProblemCode.QUOTA_EXCEEDED
    fleet.world.create("workload.pause", "llama")
    with pytest.raises(Problem) as caught:
        patch(fleet, 4)
    assert caught.value.code is ProblemCode.CONFLICT
    fleet.write()
    with pytest.raises(Problem) as caught:
        patch(fleet, 4)
    assert caught.value.code is ProblemCode.WORKLOAD_PAUSED
    fleet["sin-1"].operator.release()
    Operator(fleet.world, "sin-1", allowed=["cordon"]).open()
    with pytest.raises(Problem) as caught:
        patch(fleet, 4)
    assert caught.value.code is ProblemCode.OPERATION_NOT_ALLOWED


# --- going ------------------------------------------------------------------------------------------------------------


def test_a_deployment_that_is_deleted_leaves_its_graph_alone(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    forget(fleet, "sin-1")
    assert fleet["sin-1"].desired() is None
    assert fleet.numbers() == {"fra-1": 2, "iad-1": 1}
    delete(fleet)
    assert fleet["fra-1"].desired() is None
    assert fleet.world.events("deployment.removed") == ["deployment.removed"] * 3
    assert fleet.world.events("workload.removed") == ["workload.removed"]


def test_a_deployment_whose_share_has_no_place_elsewhere_stays(fleet: Fleet) -> None:
    fleet.bind(replicas=6, policy=Policy(default_bounds=Bounds(0, 2)))
    with pytest.raises(Problem) as caught:
        forget(fleet, "sin-1")
    assert [each.path for each in caught.value.errors] == ["cluster"]
    assert "the other clusters cannot take over" in caught.value.detail
    assert fleet.numbers() == {"fra-1": 2, "iad-1": 2, "sin-1": 2}


def test_a_deployment_that_is_not_there_is_not_found_and_those_there_are_are_named(fleet: Fleet) -> None:
    fleet.bind(on=["fra-1", "iad-1"])
    with pytest.raises(Problem) as caught:
        forget(fleet, "sin-1")
    assert caught.value.code is ProblemCode.NOT_FOUND
    assert "it has one on: fra-1, iad-1" in caught.value.detail


def test_a_workload_that_is_held_is_neither_deleted_nor_applied(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.scale(6)
    for refused in (lambda: delete(fleet), lambda: forget(fleet, "sin-1"), lambda: fleet.apply(replicas=4)):
        with pytest.raises(Problem) as caught:
            refused()
        assert caught.value.code is ProblemCode.CONFLICT


@pytest.mark.parametrize("role", [Role.VIEWER, Role.MAINTAINER])
def test_only_admins_delete(fleet: Fleet, role: Role) -> None:
    fleet.bind(replicas=3)
    who = VIEWER if role is Role.VIEWER else MAINTAINER

    def of_cluster(tx: Tx) -> None:
        delete_deployment(tx, who, "llama", "sin-1", fleet.world.now_us)

    def whole(tx: Tx) -> None:
        delete_workload(tx, who, "llama", fleet.world.now_us)

    for run in (of_cluster, whole):
        with pytest.raises(Problem) as caught:
            fleet.world.store.write(run)
        assert caught.value.code is ProblemCode.FORBIDDEN


def test_another_shape_is_written_anew_with_the_same_number(fleet: Fleet) -> None:
    fleet["fra-1"].tell(a_graph("pair", components=PAIR))
    fleet.bind("pair", on=["fra-1"])
    rev = fleet["fra-1"].wanted("pair").rev
    fleet.apply("pair", shape={"prefill": 1, "decode": 2})
    assert fleet["fra-1"].wanted("pair").rev == rev, "it is the one that it has"
    fleet.apply("pair", shape={"prefill": 1, "decode": 3})
    wanted = fleet["fra-1"].wanted("pair")
    assert (wanted.counts, wanted.rev) == ({"prefill": 2, "decode": 6}, rev + 1)
    assert fleet.see("pair").replicas == 2


def test_another_shape_is_another_number_for_whoever_else_writes_it(fleet: Fleet) -> None:
    rival = RivalDoc(kind="HorizontalPodAutoscaler", name="pair", component="decode")
    fleet["fra-1"].tell(a_graph("pair", components=PAIR, rivals=[rival]))
    fleet.bind("pair", on=["fra-1"])
    assert applied(fleet, "pair", shape={"prefill": 1, "decode": 3}).code is ProblemCode.RIVAL_OWNER
    fleet.apply("pair", shape={"prefill": 1, "decode": 2})

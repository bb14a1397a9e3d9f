"""Workloads on several clusters: what is wanted of each, who writes it, and when an operation on them is over."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from hangar.domain.operation import Phase
from hangar.domain.workloads.placement import Bounds, Division, Policy
from hangar.hub.principals import Principal, Role
from hangar.hub.usecases.inventory import inventory
from hangar.hub.usecases.paging import PageRequest
from hangar.hub.usecases.projects import QuotaFilters, apply_project, list_quotas
from hangar.hub.usecases.show_workloads import show_workload
from hangar.hub.usecases.sync import jobs_of
from hangar.hub.usecases.workloads import (
    Binding,
    WorkloadRequest,
    apply_workload,
    delete_deployment,
    delete_workload,
    set_replicas,
)
from hangar.wire import shown
from hangar.wire.operator import ComponentDoc, DesiredDoc, GraphDoc, InventoryRequest
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.world import ADMIN, VIEWER, Operator, World

GPU = "nvidia.com/gpu"
ALL = ["cordon", "drain", "scale", "deploy"]


class Site:
    """A cluster with one graph, and an operator that writes what is desired of it."""

    def __init__(self, world: World, name: str, allowed: list[str] = ALL) -> None:
        self.world = world
        world.add_cluster(name)
        self.name = name
        self.operator = Operator(world, name, allowed=allowed)
        self.operator.open()
        self.operator.sync()
        self.graph = GraphDoc(
            namespace="serving",
            name="llama",
            uid=f"{name}-llama",
            api_version="nvidia.com/v1beta1",
            components=[
                ComponentDoc(name="Frontend", role="frontend", replicas=1),
                ComponentDoc(name="decode", role="worker", replicas=0, gpus_per_pod=4),
            ],
        )
        self.tell()

    def tell(self, *, is_gone: bool = False) -> None:
        """Tell of the graph as it is."""
        self.operator.inventory_n += 1
        request = InventoryRequest(
            session=self.operator.grant.session,
            epoch=self.operator.grant.epoch,
            n=self.operator.inventory_n,
            complete=True,
            nodes=[],
            graphs=[] if is_gone else [self.graph],
        )
        world = self.world
        world.store.write(lambda tx: inventory(tx, self.name, request, world.rules, world.now_us))

    def desired(self) -> DesiredDoc | None:
        """Return what the hub wants here."""
        world = self.world
        answer = world.store.read(lambda connection: jobs_of(connection, self.name, world.now_us))
        return answer.desired[0] if answer.desired else None

    def decode(self, **changes: Any) -> None:
        """Let the worker component be otherwise, and tell so."""
        front, decode = self.graph.components
        changed = msgspec.structs.replace(decode, **changes)
        self.graph = msgspec.structs.replace(self.graph, components=[front, changed])
        self.tell()

    def write(self) -> None:
        """Write what is desired, as an operator does; nothing is ready by that."""
        wanted = self.desired()
        assert wanted is not None
        self.graph = msgspec.structs.replace(self.graph, applied_rev=wanted.rev)
        self.decode(replicas=wanted.counts["decode"], written_by="hangar-operator")

    def settle(self) -> None:
        """Let all replicas that are asked for be there and ready, and no other pod."""
        count = self.graph.components[1].replicas
        self.decode(counted=count, updated=count, ready=count, pods=count)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def fleet(world: World) -> Mapping[str, Site]:
    world.store.write(lambda tx: apply_project(tx, ADMIN, "chat", {GPU: 64}, world.now_us))
    return {name: Site(world, name) for name in ("fra-1", "iad-1", "sin-1")}


def bind(world: World, fleet: Mapping[str, Site], **given: Any) -> shown.Workload:
    """Add the workload `llama` on all clusters."""
    bindings = tuple(Binding(name, "serving", "llama") for name in fleet)
    request = WorkloadRequest(**{"project": "chat", "bindings": bindings} | given)
    return world.store.write(lambda tx: apply_workload(tx, ADMIN, "llama", request, world.now_us)).workload


def see(world: World) -> shown.Workload:
    return world.store.read(lambda connection: show_workload(connection, "llama"))


def numbers(world: World) -> dict[str, int]:
    return {each.cluster: each.desired for each in see(world).deployments}


def refusal(world: World, type_: str, **given: Any) -> Problem:
    with pytest.raises(Problem) as caught:
        world.submit(type_, "llama", **given)
    return caught.value


def scale(world: World, replicas: int, **params: Any) -> str:
    return world.create("workload.scale", "llama", params={"replicas": replicas, **params})


# --- binding ----------------------------------------------------------------------------------------------------------


def test_what_runs_is_adopted_as_it_is(world: World, fleet: Mapping[str, Site]) -> None:
    fleet["fra-1"].decode(replicas=2)
    fleet["iad-1"].decode(replicas=2)
    fleet["sin-1"].decode(replicas=1)
    added = bind(world, fleet)
    assert (added.replicas, added.placement) == (5, "2 + 2 + 1 = 5, divided")
    assert added.gpus_per_replica == 4
    wanted = fleet["sin-1"].desired()
    assert wanted is not None
    assert wanted.counts == {"decode": 1}


def test_a_graph_that_is_not_there_yet_gets_its_number_once_it_is_seen(world: World, fleet: Mapping[str, Site]) -> None:
    fleet["sin-1"].tell(is_gone=True)
    added = bind(world, fleet, replicas=6)
    assert [each.state for each in added.deployments] == ["reconciling", "reconciling", "missing"]
    assert fleet["sin-1"].desired() is None
    fleet["sin-1"].tell()
    wanted = fleet["sin-1"].desired()
    assert wanted is not None
    assert wanted.counts == {"decode": 2}


def test_all_that_is_wrong_with_a_binding_is_said_at_once(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet)
    bindings = (Binding("iad-1", "serving", "llama"), Binding("iad-1", "serving", "x"), Binding("mars", "a", "b"))
    request = WorkloadRequest("chat", bindings=bindings)
    with pytest.raises(Problem) as caught:
        world.store.write(lambda tx: apply_workload(tx, ADMIN, "other", request, world.now_us))
    assert [(each.path, each.message) for each in caught.value.errors] == [
        ("deployments[0].graph", "serving/llama of iad-1 is bound to workload llama already"),
        ("deployments[1].cluster", "iad-1 is given twice"),
        ("deployments[2].cluster", "there is no cluster mars"),
    ]


def test_only_admins_bind_and_only_to_a_project_that_is_there(world: World, fleet: Mapping[str, Site]) -> None:
    assert fleet
    for who, project, code in (
        (VIEWER, "chat", ProblemCode.FORBIDDEN),
        (Principal("kim", Role.MAINTAINER), "chat", ProblemCode.FORBIDDEN),
        (ADMIN, "other", ProblemCode.NOT_FOUND),
    ):
        assert code_of(world, who, WorkloadRequest(project)) is code


def code_of(world: World, who: Principal, request: WorkloadRequest) -> ProblemCode:
    with pytest.raises(Problem) as caught:
        world.store.write(lambda tx: apply_workload(tx, who, "llama", request, world.now_us))
    return caught.value.code


# --- scaling ----------------------------------------------------------------------------------------------------------


def test_a_scale_is_over_when_every_connected_cluster_has_written_it(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=3)
    id_ = scale(world, 8)
    assert numbers(world) == {"fra-1": 3, "iad-1": 3, "sin-1": 2}
    waiting = world.get(id_)
    assert waiting.phase == Phase.RUNNING
    assert waiting.progress is not None
    assert [each.code for each in waiting.progress.blockers] == ["not_written"] * 3
    for each in fleet.values():
        each.write()
    done = world.get(id_)
    assert done.result is not None
    assert (done.phase, done.result.message) == (Phase.SUCCEEDED, "scaled to 8: 3 + 3 + 2 = 8, divided")
    assert (done.result.attempts, done.target, done.cluster) == (1, "llama", None)


def test_a_duplicated_number_is_each_clusters_own(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=2, policy=Policy(Division.DUPLICATED))
    id_ = scale(world, 1)
    for each in fleet.values():
        each.write()
    result = world.get(id_).result
    assert result is not None
    assert result.message == "scaled to 1: 1 each x 3 = 3, duplicated"


def test_until_ready_waits_for_the_replicas(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=3)
    id_ = scale(world, 3, until="ready")
    for each in fleet.values():
        each.write()
    assert world.get(id_).phase == Phase.RUNNING
    for each in fleet.values():
        each.settle()
    assert world.get(id_).phase == Phase.SUCCEEDED
    assert see(world).state == "running"
    assert see(world).ready == 3


def test_a_cluster_that_is_offline_is_named_and_follows(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=3)
    world.pass_s(14)
    for name in ("fra-1", "iad-1"):
        fleet[name].operator.sync()
    world.pass_s(2)
    id_ = scale(world, 6)
    for name in ("fra-1", "iad-1"):
        fleet[name].write()
    result = world.get(id_).result
    assert result is not None
    assert result.message == "scaled to 6: 2 + 2 + 2 = 6, divided; sin-1 is offline and will follow"
    assert fleet["sin-1"].desired().counts == {"decode": 2}  # type: ignore[union-attr]


def test_what_was_changed_by_hand_is_shown_and_written_over_only_when_asked(
    world: World, fleet: Mapping[str, Site]
) -> None:
    bind(world, fleet, replicas=3)
    for each in fleet.values():
        each.write()
    rev = fleet["iad-1"].desired().rev  # type: ignore[union-attr]
    fleet["iad-1"].decode(replicas=5, written_by="kubectl-edit")
    shown_now = see(world)
    drifted = next(each for each in shown_now.deployments if each.cluster == "iad-1")
    assert (shown_now.state, drifted.state, drifted.changed_by) == ("drifted", "drifted", ["kubectl-edit"])
    assert fleet["iad-1"].desired().rev == rev  # type: ignore[union-attr]
    assert world.events("deployment.drifted") == ["deployment.drifted"]
    id_ = scale(world, 3)
    assert fleet["iad-1"].desired().rev > rev  # type: ignore[union-attr]
    fleet["iad-1"].write()
    assert world.get(id_).phase == Phase.SUCCEEDED


def test_a_cancelled_scale_takes_back_what_nobody_has_written(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=3)
    for each in fleet.values():
        each.write()
    id_ = scale(world, 6)
    fleet["fra-1"].write()
    done = world.cancel(id_)
    assert done.result is not None
    assert (done.phase, done.result.message) == (
        Phase.CANCELLED,
        "cancelled: withdrawn: iad-1 stays at 1, sin-1 stays at 1; written: fra-1 at 2",
    )
    assert numbers(world) == {"fra-1": 2, "iad-1": 1, "sin-1": 1}
    scale(world, 6)
    assert numbers(world) == {"fra-1": 2, "iad-1": 2, "sin-1": 2}


def test_a_scale_that_is_not_written_in_time_fails_and_what_is_wanted_stays(
    world: World, fleet: Mapping[str, Site]
) -> None:
    bind(world, fleet, replicas=3)
    id_ = scale(world, 6, deadline_s=10)
    world.pass_s(11)
    done = world.get(id_)
    assert done.phase == Phase.FAILED
    assert done.status_reason is not None
    assert done.status_reason.code == "deadline_exceeded"
    assert "not written in time: fra-1/serving/llama, iad-1/serving/llama, sin-1/serving/llama" in (
        done.result.message if done.result else ""
    )
    assert numbers(world) == {"fra-1": 2, "iad-1": 2, "sin-1": 2}


# --- what must not begin ----------------------------------------------------------------------------------------------


def test_a_scale_out_of_bounds_is_refused_with_the_numbers(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=3, policy=Policy(default_bounds=Bounds(1, 4)))
    problem = refusal(world, "workload.scale", params={"replicas": 13})
    assert problem.code is ProblemCode.INVALID_VALUE
    assert "its clusters need at least 3 and at most 12, or 0" in problem.detail


def test_a_scale_beyond_the_quota_is_refused_with_the_numbers(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=3)
    problem = refusal(world, "workload.scale", params={"replicas": 17})
    assert problem.code is ProblemCode.QUOTA_EXCEEDED
    assert "may use 64 nvidia.com/gpu" in problem.detail
    assert "would use 68 with 17 replicas: 4 too many" in problem.detail
    scale(world, 16)
    page = world.store.read(lambda c: list_quotas(c, QuotaFilters(), PageRequest()))
    assert [(each.resource, each.limit, each.used) for each in page.items] == [(GPU, 64, 64)]


def test_a_cluster_that_does_not_allow_it_is_named_and_nothing_is_changed(
    world: World, fleet: Mapping[str, Site]
) -> None:
    bind(world, fleet, replicas=3)
    before = numbers(world)
    fleet["sin-1"].operator.release()
    Operator(world, "sin-1", allowed=["cordon", "drain"]).open()
    problem = refusal(world, "workload.scale", params={"replicas": 6})
    assert problem.code is ProblemCode.OPERATION_NOT_ALLOWED
    assert problem.context["clusters"] == ["sin-1"]
    assert "cluster.workloads" in problem.detail
    assert numbers(world) == before


def test_two_scales_at_once_conflict_and_a_patch_too(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=3)
    first = scale(world, 6)
    problem = refusal(world, "workload.scale", params={"replicas": 7})
    assert problem.code is ProblemCode.CONFLICT
    assert problem.detail.startswith(f"llama is held by workload.scale {first}, running")
    with pytest.raises(Problem) as caught:
        world.store.write(lambda tx: set_replicas(tx, ADMIN, "llama", 7, world.now_us))
    assert caught.value.code is ProblemCode.CONFLICT


@pytest.mark.parametrize(
    ("type_", "given", "path"),
    [
        ("workload.scale", {"cluster": "iad-1", "params": {"replicas": 1}}, "cluster"),
        ("workload.drain", {}, "cluster"),
        ("workload.drain", {"cluster": "mars"}, "cluster"),
        ("workload.undrain", {"cluster": "mars"}, "cluster"),
        ("workload.scale", {"params": {}}, "params.replicas"),
        ("workload.scale", {"params": {"replicas": -1}}, "params.replicas"),
        ("workload.scale", {"params": {"replicas": 10**6}}, "params.replicas"),
    ],
)
def test_what_is_wrong_with_a_request_is_named_by_its_field(
    world: World, fleet: Mapping[str, Site], type_: str, given: dict[str, Any], path: str
) -> None:
    bind(world, fleet, replicas=3)
    problem = refusal(world, type_, **given)
    assert problem.code is ProblemCode.INVALID_VALUE
    assert [each.path for each in problem.errors] == [path]


def test_an_unknown_workload_is_not_found_and_those_there_are_are_named(
    world: World, fleet: Mapping[str, Site]
) -> None:
    bind(world, fleet)
    with pytest.raises(Problem) as caught:
        world.submit("workload.pause", "mistral")
    assert caught.value.code is ProblemCode.NOT_FOUND
    assert "there are llama" in caught.value.detail


# --- pausing ----------------------------------------------------------------------------------------------------------


def test_a_pause_keeps_the_number_and_a_resume_places_it_again(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=6)
    paused = world.create("workload.pause", "llama", reason="nightly shutdown")
    assert numbers(world) == {"fra-1": 0, "iad-1": 0, "sin-1": 0}
    for each in fleet.values():
        each.write()
        each.settle()
    assert world.get(paused).phase == Phase.SUCCEEDED
    assert (see(world).state, see(world).replicas, see(world).placement) == ("paused", 6, "paused")
    problem = refusal(world, "workload.scale", params={"replicas": 7})
    assert problem.code is ProblemCode.WORKLOAD_PAUSED
    assert "hgr workload resume llama" in problem.detail
    resumed = world.create("workload.resume", "llama")
    assert numbers(world) == {"fra-1": 2, "iad-1": 2, "sin-1": 2}
    for each in fleet.values():
        each.write()
    result = world.get(resumed).result
    assert result is not None
    assert result.message == "resumed: 2 + 2 + 2 = 6, divided"


def test_pausing_twice_and_resuming_what_runs_succeed_and_say_so(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=3)
    for each in fleet.values():
        each.write()
    resumed = world.get(world.create("workload.resume", "llama"))
    assert resumed.result is not None
    assert resumed.result.message == "was not paused: 1 + 1 + 1 = 3, divided"
    world.create("workload.pause", "llama")
    for each in fleet.values():
        each.write()
    again = world.get(world.create("workload.pause", "llama"))
    assert again.result is not None
    assert again.result.message == "already paused; `resume` places its 3 replicas again"


# --- draining ---------------------------------------------------------------------------------------------------------


def test_a_drain_lowers_a_cluster_only_as_the_others_are_ready(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=6)
    for each in fleet.values():
        each.write()
        each.settle()
    id_ = world.create("workload.drain", "llama", cluster="sin-1", reason="cluster decommission")
    assert numbers(world) == {"fra-1": 3, "iad-1": 3, "sin-1": 2}
    fleet["fra-1"].write()
    assert numbers(world)["sin-1"] == 2
    fleet["fra-1"].settle()
    assert numbers(world)["sin-1"] == 1
    fleet["iad-1"].write()
    fleet["iad-1"].settle()
    assert numbers(world)["sin-1"] == 0
    fleet["sin-1"].write()
    waiting = world.get(id_)
    assert waiting.phase == Phase.RUNNING  # its pods are still there
    assert waiting.progress is not None
    assert [each.code for each in waiting.progress.blockers] == ["leaving"]
    fleet["sin-1"].settle()
    done = world.get(id_)
    assert done.result is not None
    assert (done.phase, done.result.message, done.cluster) == (
        Phase.SUCCEEDED,
        "drained: 2 replicas left sin-1",
        "sin-1",
    )
    scale(world, 9)
    assert numbers(world) == {"fra-1": 5, "iad-1": 4, "sin-1": 0}
    assert next(each.state for each in see(world).deployments if each.cluster == "sin-1") == "drained"


def test_an_undrain_brings_the_cluster_back(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=3)
    for each in fleet.values():
        each.write()
        each.settle()
    drained = world.create("workload.drain", "llama", cluster="sin-1")
    for name in ("fra-1", "iad-1", "sin-1"):
        fleet[name].write()
        fleet[name].settle()
    fleet["sin-1"].write()
    fleet["sin-1"].settle()
    assert world.get(drained).phase == Phase.SUCCEEDED
    back = world.create("workload.undrain", "llama", cluster="sin-1")
    assert numbers(world) == {"fra-1": 1, "iad-1": 1, "sin-1": 1}
    for each in fleet.values():
        each.write()
    assert world.get(back).phase == Phase.SUCCEEDED
    again = world.get(world.create("workload.undrain", "llama", cluster="sin-1"))
    assert again.result is not None
    assert again.result.message.startswith("sin-1 was not drained")


def test_the_only_cluster_is_drained_only_where_an_outage_is_allowed(world: World, fleet: Mapping[str, Site]) -> None:
    alone = {"fra-1": fleet["fra-1"]}
    bind(world, alone, replicas=2)
    fleet["fra-1"].write()
    fleet["fra-1"].settle()
    problem = refusal(world, "workload.drain", cluster="fra-1")
    assert problem.code is ProblemCode.INVALID_VALUE
    assert "allow_outage" in problem.detail
    id_ = world.create("workload.drain", "llama", cluster="fra-1", params={"allow_outage": True})
    assert numbers(world) == {"fra-1": 0}
    fleet["fra-1"].write()
    fleet["fra-1"].settle()
    assert world.get(id_).phase == Phase.SUCCEEDED


def test_a_drain_that_the_others_bounds_do_not_allow_fails_before_it_touches_anything(
    world: World, fleet: Mapping[str, Site]
) -> None:
    bind(world, fleet, replicas=6, policy=Policy(default_bounds=Bounds(0, 2)))
    before = numbers(world)
    done = world.get(world.create("workload.drain", "llama", cluster="sin-1"))
    assert done.phase == Phase.FAILED
    assert done.result is not None
    assert "6 replicas are out of its bounds: its clusters need at least 0 and at most 4" in done.result.message
    assert numbers(world) == before


def test_a_cancelled_drain_leaves_every_cluster_where_it_is(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=6)
    for each in fleet.values():
        each.write()
        each.settle()
    id_ = world.create("workload.drain", "llama", cluster="sin-1")
    fleet["fra-1"].write()
    fleet["fra-1"].settle()
    done = world.cancel(id_)
    assert done.phase == Phase.CANCELLED
    assert done.result is not None
    assert "held until the next scale: fra-1 at 3, iad-1 at 2, sin-1 at 2" in done.result.message
    assert numbers(world) == {"fra-1": 3, "iad-1": 2, "sin-1": 2}


# --- at once, and going -----------------------------------------------------------------------------------------------


def test_a_patch_is_at_once_and_leaves_an_event_but_no_operation(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=3)
    changed = world.store.write(lambda tx: set_replicas(tx, ADMIN, "llama", 6, world.now_us))
    assert changed.replicas == 6
    assert world.events("workload.scaled") == ["workload.scaled"]
    assert world.events("operation") == []


def test_a_deployment_that_is_deleted_leaves_its_graph_alone(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=3)
    world.store.write(lambda tx: delete_deployment(tx, ADMIN, "llama", "sin-1", world.now_us))
    assert fleet["sin-1"].desired() is None
    assert numbers(world) == {"fra-1": 2, "iad-1": 1}
    world.store.write(lambda tx: delete_workload(tx, ADMIN, "llama", world.now_us))
    assert fleet["fra-1"].desired() is None
    assert world.events("deployment.removed") == ["deployment.removed"] * 3


def test_a_workload_that_is_held_is_not_deleted(world: World, fleet: Mapping[str, Site]) -> None:
    bind(world, fleet, replicas=3)
    scale(world, 6)
    with pytest.raises(Problem) as caught:
        world.store.write(lambda tx: delete_workload(tx, ADMIN, "llama", world.now_us))
    assert caught.value.code is ProblemCode.CONFLICT

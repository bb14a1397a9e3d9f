"""What an operation on a workload would do, asked of the hub: the checks of the real thing, and nothing that stays."""

from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from hangar.hub.store.tables import metadata
from hangar.hub.usecases.foresee_workload import foresee_workload
from hangar.hub.usecases.requests import OperationRequest
from hangar.wire import plans
from hangar.wire.operator import RivalDoc
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.sites import GPU, Fleet
from tests.hub.world import ADMIN, VIEWER, Operator, a_node


def plan(fleet: Fleet, type_: str = "workload.scale", **given: Any) -> plans.WorkloadPlan:
    who, world = given.pop("who", ADMIN), fleet.world
    request = OperationRequest(type=type_, target="llama", **{"params": {}} | given)
    return fleet.read(lambda connection: foresee_workload(connection, who, request, world.rules, world.now_us))


def rows(fleet: Fleet) -> dict[str, list[object]]:
    """Return all that the store holds."""
    return fleet.read(
        lambda connection: {
            table.name: [tuple(row) for row in connection.execute(select(table))] for table in metadata.sorted_tables
        }
    )


def codes(found: plans.WorkloadPlan) -> list[str]:
    return [each.code for each in found.obstructions]


def test_a_plan_has_a_row_for_each_cluster_and_leaves_no_trace(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.settle()
    site = fleet["fra-1"]
    site.nodes = [a_node("n", allocated={GPU: 0})]
    rival = RivalDoc(kind="GitOps", name="argocd", component="decode")
    site.tell(msgspec.structs.replace(site.graphs["llama"], rivals=[rival]))
    fleet["sin-1"].operator.release()
    before = rows(fleet)
    found = plan(fleet, params={"replicas": 6}, reason="launch")
    assert rows(fleet) == before
    assert (found.type, found.target, found.cluster, found.params["replicas"]) == ("workload.scale", "llama", None, 6)
    assert found.message == "1 + 1 + 1 = 3, divided becomes 2 + 2 + 2 = 6, divided"
    fra, iad, sin = found.deployments
    assert (fra.cluster, fra.before, fra.after, fra.ready, fra.room, fra.online) == ("fra-1", 1, 2, 1, 2, True)
    assert (fra.last_seen_at, [each.name for each in fra.rivals]) == (None, ["argocd"])
    assert (iad.room, sin.online, sin.last_seen_at) == (None, False, "2026-11-18T11:06:40.000Z")
    assert "sin-1 is offline, and follows when it is back" in found.warnings
    assert codes(found) == []


def test_what_the_state_would_refuse_is_in_the_way(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    assert codes(plan(fleet, params={"replicas": 17})) == ["quota_exceeded"]
    id_ = fleet.scale(4)
    found = plan(fleet, params={"replicas": 5})
    assert codes(found) == ["conflict"]
    assert id_ in found.obstructions[0].message


def test_a_drain_is_foreseen_with_its_cluster(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    found = plan(fleet, "workload.drain", cluster="sin-1")
    assert (found.cluster, [each.after for each in found.deployments]) == ("sin-1", [2, 1, 0])
    fleet["fra-1"].nodes = [a_node("n", allocated={GPU: 8})]
    fleet["fra-1"].tell()
    assert codes(plan(fleet, "workload.drain", cluster="sin-1")) == ["no_room"]


def test_who_must_not_ask_and_what_makes_no_sense_is_refused(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet["sin-1"].operator.release()
    Operator(fleet.world, "sin-1", allowed=["cordon"]).open()
    for given, code in (
        ({"who": VIEWER, "params": {"replicas": 3}}, ProblemCode.FORBIDDEN),
        ({"params": {}}, ProblemCode.INVALID_VALUE),
        ({"params": {"replicas": 3, "override": True}}, ProblemCode.INVALID_VALUE),
        ({"params": {"replicas": 3}, "cluster": "fra-1"}, ProblemCode.INVALID_VALUE),
        ({"params": {"replicas": 3}}, ProblemCode.OPERATION_NOT_ALLOWED),
    ):
        with pytest.raises(Problem) as caught:
            plan(fleet, **given)
        assert caught.value.code is code

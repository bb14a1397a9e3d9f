"""Deleting workloads and their deployments: whose leave it needs, and what it must not take down by the way."""

import pytest

from hangar.hub.usecases.check_workloads import Binding
from hangar.hub.usecases.remove_workloads import delete_deployment, delete_workload
from hangar.wire import shown
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.sites import ALL, TEMPLATE, Fleet, a_graph
from tests.hub.world import ADMIN, Operator


def undeploy(fleet: Fleet, cluster: str, *, keep: bool = False, allow_outage: bool = False) -> shown.Removal:
    world = fleet.world
    return world.store.write(
        lambda tx: delete_deployment(tx, ADMIN, "llama", cluster, world.now_us, keep=keep, allow_outage=allow_outage)
    )


def allow(fleet: Fleet, cluster: str, *allowed: str) -> None:
    fleet[cluster].operator.release()
    Operator(fleet.world, cluster, allowed=list(allowed)).open()


def test_the_others_take_over_only_where_their_clusters_let_them(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    allow(fleet, "fra-1", "cordon")
    with pytest.raises(Problem) as caught:
        undeploy(fleet, "sin-1")
    assert caught.value.code is ProblemCode.OPERATION_NOT_ALLOWED
    assert caught.value.context["clusters"] == ["fra-1"]
    assert fleet.numbers() == {"fra-1": 1, "iad-1": 1, "sin-1": 1}
    undeploy(fleet, "fra-1")


def test_the_only_cluster_that_serves_is_deleted_only_where_that_is_asked_for(fleet: Fleet) -> None:
    fleet.bind(on=["fra-1"], replicas=2)
    with pytest.raises(Problem) as caught:
        undeploy(fleet, "fra-1")
    assert [each.path for each in caught.value.errors] == ["query.allow_outage"]
    assert "fra-1 is the only cluster that serves llama" in caught.value.detail
    removal = undeploy(fleet, "fra-1", allow_outage=True)
    assert (removal.workload, removal.cluster, len(removal.graphs)) == ("llama", "fra-1", 1)


def test_what_serves_nothing_may_go_without_asking(fleet: Fleet) -> None:
    fleet.bind(on=["fra-1"], replicas=0)
    undeploy(fleet, "fra-1")


def test_removing_a_graph_needs_the_leave_to_deploy_and_keeping_it_does_not(fleet: Fleet) -> None:
    bindings = (Binding("fra-1", "serving", "new"),)
    fleet.apply("new", template=TEMPLATE, bindings=bindings, replicas=1)
    fleet["fra-1"].tell(a_graph("new", is_ours=True))
    allow(fleet, "fra-1", "cordon", "scale")
    with pytest.raises(Problem) as caught:
        fleet.world.store.write(lambda tx: delete_workload(tx, ADMIN, "new", fleet.world.now_us))
    assert caught.value.code is ProblemCode.OPERATION_NOT_ALLOWED
    assert caught.value.context["needs"] == "deploy"
    assert "`manage`. What Kubernetes" in caught.value.detail
    kept = fleet.world.store.write(lambda tx: delete_workload(tx, ADMIN, "new", fleet.world.now_us, keep=True))
    assert [each.fate for each in kept.graphs] == ["kept"]


def test_creating_a_graph_needs_the_leave_to_deploy_there(fleet: Fleet) -> None:
    allow(fleet, "fra-1", *(each for each in ALL if each != "deploy"))
    bindings = tuple(Binding(each, "serving", "new") for each in ("fra-1", "iad-1"))
    with pytest.raises(Problem) as caught:
        fleet.apply("new", template=TEMPLATE, bindings=bindings)
    assert caught.value.code is ProblemCode.OPERATION_NOT_ALLOWED
    assert (caught.value.context["clusters"], caught.value.context["needs"]) == (["fra-1"], "deploy")
    fleet.apply("new", template=TEMPLATE, bindings=bindings[1:])

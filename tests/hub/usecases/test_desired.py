"""What syncs say of what is desired: all of a cluster's own, and when there is something newer."""

from hangar.hub.usecases.renew import answer_if_online
from hangar.hub.usecases.workloads import delete_deployment
from hangar.wire.operator import SyncAnswer, SyncRequest
from tests.hub.sites import Fleet, a_graph
from tests.hub.world import ADMIN


def renewed(fleet: Fleet, cluster: str) -> SyncAnswer:
    """Return what a sync says that writes nothing but its lease."""
    grant = fleet[cluster].operator.grant
    request = SyncRequest(session=grant.session, epoch=grant.epoch)
    answer = fleet.read(lambda connection: answer_if_online(connection, cluster, request, fleet.world.now_us))
    assert answer is not None
    return answer


def test_a_cluster_hears_of_its_own_deployments_by_workload(fleet: Fleet) -> None:
    fleet["fra-1"].tell(a_graph("alpha"))
    fleet.bind(replicas=6)
    fleet.bind("alpha", on=["fra-1"], replicas=1)
    rows = fleet["fra-1"].hears().desired
    assert [(each.workload, each.namespace, each.graph, each.counts) for each in rows] == [
        ("alpha", "serving", "alpha", {"decode": 1}),
        ("llama", "serving", "llama", {"decode": 2}),
    ]
    assert [each.workload for each in fleet["iad-1"].hears().desired] == ["llama"]
    assert renewed(fleet, "fra-1") == fleet["fra-1"].hears()


def test_a_cluster_without_deployments_hears_of_none(fleet: Fleet) -> None:
    fleet.bind(on=["fra-1"])
    assert fleet["iad-1"].hears().desired == []
    assert renewed(fleet, "iad-1") == fleet["iad-1"].hears()


def test_what_is_seen_rises_where_something_else_is_desired_and_only_there(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    before = {name: site.hears().seen for name, site in fleet.sites.items()}
    fleet.scale(4)
    after = {name: site.hears().seen for name, site in fleet.sites.items()}
    assert {name for name in before if after[name] > before[name]} == {"fra-1"}
    assert after["fra-1"] <= fleet.world.store.position().rev


def test_what_is_not_desired_any_more_is_not_told(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.world.store.write(lambda tx: delete_deployment(tx, ADMIN, "llama", "sin-1", fleet.world.now_us))
    assert fleet["sin-1"].hears().desired == []
    assert renewed(fleet, "sin-1").desired == []


def test_a_pause_is_told_as_no_replicas(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.world.create("workload.pause", "llama")
    assert [each.counts for each in fleet["fra-1"].hears().desired] == [{"decode": 0}]

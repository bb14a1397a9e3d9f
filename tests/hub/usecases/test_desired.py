"""What syncs say of what is desired: all of a cluster's own, and when there is something newer."""

from hangar.hub.usecases.check_workloads import Binding
from hangar.hub.usecases.remove_workloads import delete_deployment
from hangar.hub.usecases.renew import answer_if_online
from hangar.wire.operator import SyncAnswer, SyncRequest
from tests.hub.sites import TEMPLATE, Fleet, a_graph
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


def test_a_template_goes_along_until_the_graph_is_known_and_again_when_it_is_lost(fleet: Fleet) -> None:
    site = fleet["fra-1"]
    fleet.apply("new", template=TEMPLATE, bindings=(Binding("fra-1", "serving", "new"),), replicas=2)
    wanted = site.wanted("new")
    assert (wanted.template, wanted.counts) == (TEMPLATE, {"decode": 2})
    made = fleet.see("new")
    assert (made.gpus_per_replica, made.deployments[0].state) == (4, "reconciling")
    assert "is to be created with 2 replicas" in made.deployments[0].message
    site.tell(a_graph("new", is_ours=True))
    assert site.wanted("new").template is None
    seen = site.hears().seen
    site.lose("new")
    assert site.wanted("new").template == TEMPLATE
    assert site.hears().seen > seen


def test_a_graph_is_not_created_to_run_nothing(fleet: Fleet) -> None:
    fleet.apply("new", template=TEMPLATE, bindings=(Binding("fra-1", "serving", "new"),))
    assert fleet["fra-1"].wanted("new").template is None
    assert fleet.see("new").deployments[0].state == "ready"
    id_ = fleet.world.create("workload.scale", "new", params={"replicas": 1})
    assert fleet.waits(id_) == ["not_created"]
    assert fleet["fra-1"].wanted("new").template == TEMPLATE
    fleet["fra-1"].tell(a_graph("new", is_ours=True))
    fleet["fra-1"].write("new")
    assert fleet.ended(id_)[0] == "succeeded"


def test_a_graph_that_was_adopted_is_not_made_anew_when_it_is_lost(fleet: Fleet) -> None:
    fleet.bind(on=["fra-1"], replicas=2, template=TEMPLATE)
    fleet["fra-1"].lose()
    assert fleet["fra-1"].wanted().template is None
    assert fleet.deployment("fra-1").state == "missing"
    fleet.apply(replicas=3)
    assert fleet.deployment("fra-1").state == "missing"
    fleet.bind(on=["fra-1"])
    assert fleet["fra-1"].wanted().template == TEMPLATE, "it was bound again while it was not there"

"""What a drain says of itself while it is on its way."""

from hangar.domain.drain_report import DrainState, progress
from hangar.domain.ids import NodeName, OperationId, PodUid
from hangar.domain.moves import TrackedPod
from hangar.domain.view import View
from tests.simulation.fleet import a_world, an_app

DRAIN = OperationId("op_1")


def said(*, replicas: int, is_cordoned: bool, knows_pods: bool) -> str:
    world = a_world()
    world.add_workload(an_app(replicas, on=("n1",) * replicas))
    snapshot = world.snapshot()
    pods: dict[PodUid, TrackedPod] = {}
    if knows_pods:
        pods = {
            each.ref.uid: TrackedPod(each.ref, snapshot.top_owner(each), has_disk_empty_dir=False)
            for each in snapshot.pods_on(NodeName("n1"))
        }
    return progress(DrainState(DRAIN, NodeName("n1"), is_cordoned, pods, View(snapshot)), ()).message


def test_before_its_cordon_is_seen_a_drain_says_that_it_cordons() -> None:
    assert said(replicas=2, is_cordoned=False, knows_pods=False) == "cordoning"


def test_after_the_cordon_it_counts_what_there_is_to_move() -> None:
    assert said(replicas=2, is_cordoned=True, knows_pods=True) == "evicted 0/2, rescheduled 0/2"


def test_on_an_empty_node_it_says_that_there_is_nothing_to_move() -> None:
    assert said(replicas=0, is_cordoned=True, knows_pods=True) == "no pods to move"

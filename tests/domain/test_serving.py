"""Pods that do not serve: moved, ending, coming, or in trouble."""

from hangar.domain.ids import NodeName, NodeUid, OwnerUid, PodUid
from hangar.domain.serving import missing_pods
from hangar.domain.snapshot import PodPhase
from hangar.domain.view import Claims
from tests.domain.building import NOON, OTHER_OP, a_pod, a_view, at, pending, terminating, uids


def test_each_is_named_once_with_its_reason_and_what_serves_or_has_finished_is_not() -> None:
    moved = Claims((NodeName("n2"), NodeUid("n2-uid")), {OwnerUid("api"): 5}, {PodUid("c"): NOON})
    pods = (
        a_pod("a"),
        a_pod("b", ready=False, waiting="CrashLoopBackOff"),
        terminating("c"),
        a_pod("d"),
        terminating("e"),
        pending("f", created_at=at(1)),
        pending("g"),
        a_pod("h", phase=PodPhase.FAILED, ready=False),
    )
    ours, troubled = missing_pods(pods, a_view(*pods, claims={OTHER_OP: moved}, leaving=uids("d")))
    assert ours == [
        {"pod": "default/c", "why": "moved by op_02"},
        {"pod": "default/d", "why": "terminating"},
        {"pod": "default/e", "why": "terminating"},
        {"pod": "default/f", "why": "not ready"},
    ]
    assert troubled == [
        {"pod": "default/b", "why": "CrashLoopBackOff"},
        {"pod": "default/g", "why": "not ready"},
    ]

"""Selection: every pod of a node is moved, left or refused, by the first rule that knows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hangar.domain.drain.selection import Move, Refuse, RefuseReason, Selected, Skip, SkipReason, returns_to, select
from hangar.domain.ids import OwnerUid
from hangar.domain.snapshot import OwnerRef, Pod, PodPhase, Taint, Toleration
from tests.domain.building import a_node, a_pod, a_snapshot, an_owner, pending, terminating

AGENT = an_owner("agent", kind="DaemonSet")
FOREIGN = OwnerRef("PodClique", "decode", OwnerUid("decode"))
MISSING = OwnerRef("ReplicaSet", "gone", OwnerUid("gone"))
MISSING_DAEMONS = OwnerRef("DaemonSet", "gone", OwnerUid("gone"))
UNMANAGED, ORPHANED = Refuse(RefuseReason.UNMANAGED), Refuse(RefuseReason.ORPHANED)
MIRROR, FINISHED, DAEMON = Skip(SkipReason.MIRROR), Skip(SkipReason.FINISHED), Skip(SkipReason.DAEMON_SET)

CASES: list[tuple[str, Pod, Selected]] = [
    ("of a deployment", a_pod(), Move()),
    ("pending", pending("a", on="n1"), Move()),
    ("of a controller that we cannot read", a_pod(owner=FOREIGN), Move()),
    ("mirror", a_pod(owner=None, is_mirror=True), MIRROR),
    ("of a node", a_pod(owner=OwnerRef("Node", "n1", OwnerUid("n1-uid"))), MIRROR),
    ("finished mirror", a_pod(is_mirror=True, phase=PodPhase.FAILED), MIRROR),
    ("finished", a_pod(phase=PodPhase.SUCCEEDED), FINISHED),
    ("finished and bare", a_pod(owner=None, phase=PodPhase.FAILED), FINISHED),
    ("finished and terminating", terminating("a", phase=PodPhase.SUCCEEDED), FINISHED),
    ("daemon", a_pod(owner=AGENT.ref), DAEMON),
    ("daemon that is being replaced", terminating("a", owner=AGENT.ref), DAEMON),
    ("daemon without a set", a_pod(owner=MISSING_DAEMONS), ORPHANED),
    ("daemon that follows its set", terminating("a", owner=MISSING_DAEMONS), Move()),
    ("bare", a_pod(owner=None), UNMANAGED),
    ("bare and leaving", terminating("a", owner=None), Move()),
    ("orphaned", a_pod(owner=MISSING), ORPHANED),
    ("orphaned and leaving", terminating("a", owner=MISSING), Move()),
]


@pytest.mark.parametrize(("pod", "selected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_first_rule_that_knows_decides(pod: Pod, selected: Selected) -> None:
    assert select(pod, a_snapshot(an_owner(), AGENT)) == selected


@given(
    owner=st.sampled_from((None, an_owner().ref, AGENT.ref, FOREIGN, MISSING, MISSING_DAEMONS)),
    phase=st.sampled_from(PodPhase),
    is_mirror=st.booleans(),
    is_leaving=st.booleans(),
)
def test_what_is_moved_comes_back_or_leaves_by_itself(
    owner: OwnerRef | None, phase: PodPhase, is_mirror: bool, is_leaving: bool
) -> None:
    make = terminating if is_leaving else a_pod
    pod = make("a", owner=owner, phase=phase, is_mirror=is_mirror)
    if isinstance(select(pod, a_snapshot(an_owner(), AGENT)), Move):
        assert is_leaving or owner in (an_owner().ref, FOREIGN)
        assert not pod.is_finished
        assert not is_mirror


# --- what comes back --------------------------------------------------------------------------------------------------

EVERYTHING = Toleration("", "Exists", "", "")
THE_CORDON = Toleration("node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule")
CORDON_TAINT = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
NODE = a_node(cordoned=True, labels={"zone": "a"}, taints=(CORDON_TAINT,))


def test_a_pod_that_tolerates_the_cordon_comes_back() -> None:
    assert returns_to(a_pod(tolerations=(EVERYTHING,)), NODE) == "it tolerates every taint"
    assert returns_to(a_pod(tolerations=(THE_CORDON,)), NODE) == "it tolerates node.kubernetes.io/unschedulable"
    assert returns_to(a_pod(node_selector={"zone": "a"}, tolerations=(EVERYTHING,)), NODE) is not None


def test_other_tolerations_do_not_bring_it_back() -> None:
    others = (Toleration("node.kubernetes.io/not-ready", "Exists", "", "NoExecute"), Toleration("", "Equal", "", ""))
    assert returns_to(a_pod(tolerations=others), NODE) is None
    assert returns_to(a_pod(), NODE) is None


def test_a_pod_that_the_node_would_not_take_anyway_does_not_come_back() -> None:
    assert returns_to(a_pod(node_selector={"zone": "b"}, tolerations=(THE_CORDON,)), NODE) is None
    retired = a_node(cordoned=True, taints=(CORDON_TAINT, Taint("retired", "", "NoSchedule")))
    assert returns_to(a_pod(tolerations=(THE_CORDON,)), retired) is None

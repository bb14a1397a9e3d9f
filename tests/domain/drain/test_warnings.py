"""Warnings: what a caller ought to know, one line each."""

from typing import Any

import pytest

from hangar.domain.drain.selection import Move, select
from hangar.domain.drain.warnings import Prospect, warnings_of
from hangar.domain.ids import NodeName, OwnerUid
from hangar.domain.placing import Quota
from hangar.domain.plan import PlannedLoss
from hangar.domain.snapshot import OwnerRef
from tests.domain.building import GPU, Object, a_member, a_node, a_pod, a_view, an_owner, draining, terminating

AGENT = an_owner("agent", kind="DaemonSet")
JOB = an_owner("train", kind="Job")


def warned(*objects: Object, force: bool = False, **fields: Any) -> list[str]:
    """Return the warnings on a drain of n1."""
    node = a_node("n1", **{name: fields.pop(name) for name in ("is_heard",) if name in fields})
    view = a_view(node, an_owner(), *objects, claims=draining("n1"))
    pods = sorted(view.snapshot.pods_on(NodeName("n1")), key=lambda pod: pod.ref)
    moving = tuple(pod for pod in pods if isinstance(select(pod, view.snapshot, force=force), Move))
    given: dict[str, Any] = {"losses": (), "deadline_s": 3600, "grace_s": None, "expected_s": None}
    return list(warnings_of(Prospect(node=node, moving=moving, view=view, **(given | fields))))


def test_an_ordinary_drain_has_no_warnings() -> None:
    assert warned(a_pod(), a_pod("d", owner=AGENT.ref), AGENT) == []


def test_a_silent_node_confirms_nothing() -> None:
    assert warned(is_heard=False) == [
        "the kubelet of n1 is silent: it would not confirm that pods have ended, "
        "and the drain would fail at its deadline"
    ]


def test_a_deadline_shorter_than_the_longest_grace_is_told() -> None:
    """C60."""
    pods = a_pod("a", grace_s=60), a_pod("b", grace_s=10)
    said = "the deadline of 20 s is shorter than the longest grace period: "
    assert warned(*pods, deadline_s=20) == [f"{said}default/a may take 60 s to end"]
    assert warned(*pods, deadline_s=20, grace_s=30) == [f"{said}every pod may take 30 s to end"]
    assert warned(*pods, deadline_s=20, grace_s=5) == []
    assert warned(*pods, deadline_s=60) == []


def test_a_deadline_shorter_than_what_is_expected_is_told() -> None:
    said = "the deadline of 60 s is shorter than the 90 s that are expected"
    assert warned(a_pod(), deadline_s=60, expected_s=90) == [said]
    assert warned(a_pod(), deadline_s=60, expected_s=60) == []


def test_an_owner_that_would_serve_nothing_is_named() -> None:
    losses = PlannedLoss("deployment a", 2, 2, 0), PlannedLoss("deployment b", 2, 1, 1), PlannedLoss("c", 0, 1, 0)
    assert warned(losses=losses) == [
        "deployment a serves nothing for a while: all of its 2 ready are here, and may go at once"
    ]


def test_a_group_that_restarts_elsewhere_too_is_named() -> None:
    """C53."""
    keepers = an_owner("llama-0", desired=3, kind="StatefulSet")
    pods = [a_member(f"g{number}", on=on) for number, on in enumerate(("n1", "n2", "n3"))]
    assert warned(keepers, *pods)[0] == (
        "leaderworkerset default/llama group 0 restarts as a whole, its 2 pod(s) on other nodes too (3 pods)"
    )
    assert warned(keepers, pods[0]) == []


def test_what_is_lost_for_good_is_named() -> None:
    lost = warned(a_pod("a", has_disk_empty_dir=True), a_pod("b", owner=None), force=True)
    assert lost == [
        "nothing would recreate what is moved by force: default/b",
        "what is kept in an emptyDir on disk is lost with its pod: default/a",
    ]
    assert warned(a_pod("b", owner=None)) == []


def test_requests_that_dynamo_may_cut_are_told_once_a_graph() -> None:
    def graph(name: str) -> dict[str, str]:
        return {"nvidia.com/dynamo-graph-deployment-name": name}

    pods = a_pod("a", labels=graph("llama")), a_pod("b", labels=graph("llama")), terminating("c", labels=graph("x"))
    (only,) = warned(*pods)
    assert only.startswith("dynamo graph default/llama: requests in flight on 2 pod(s) may be cut")


def test_jobs_come_back_late() -> None:
    """C68."""
    said = "job default/train makes its pods anew late, from 10 s on, and may count each as a failure"
    assert warned(JOB, a_pod("a", owner=JOB.ref), a_pod("b", owner=JOB.ref)) == [said]


def quota(used: int) -> Quota:
    return Quota("default", "gpus", {f"requests.{GPU}": 8}, {f"requests.{GPU}": used})


@pytest.mark.parametrize(("used", "is_told"), [(4, False), (5, True), (8, True), (9, False)])
def test_a_quota_without_room_for_two_at_a_time_is_told(used: int, is_told: bool) -> None:
    """With 9 of 8 used it is more than a warning."""
    said = f"quota default/gpus is full ({used} of 8 requests.nvidia.com/gpu): "
    waits = "what comes in a pod's place waits until that pod has ended"
    assert warned(quota(used), a_pod(requests={GPU: 4})) == ([said + waits] if is_told else [])


def test_gpus_that_are_used_without_being_asked_for_are_told() -> None:
    """C69."""
    hidden = a_pod("a", runtime_class="nvidia")
    asking = a_pod("b", runtime_class="nvidia-cdi", requests={GPU: 1})
    assert warned(hidden, asking, a_pod("c", runtime_class="kata")) == [
        "may use GPUs without asking for any, by their runtime class: default/a"
    ]


def test_daemons_that_go_on_holding_gpus_are_told() -> None:
    """C69."""
    daemons = (
        a_pod("dcgm", owner=AGENT.ref, runtime_class="nvidia"),
        a_pod("burner", owner=AGENT.ref, requests={GPU: 1}),
        a_pod("logs", owner=AGENT.ref),
    )
    static = a_pod("static", owner=OwnerRef("Node", "n1", OwnerUid("n1-uid")), requests={GPU: 1})
    assert warned(AGENT, *daemons, static) == [
        "stay, and may hold GPUs, so that no driver can be unloaded: default/burner, default/dcgm, default/static"
    ]

"""Promised: what room is kept for before a drain places its own pods."""

from dataclasses import replace

from hangar.domain.fit.promised import by_size, is_gated, promised
from hangar.domain.ids import NodeName, OwnerUid
from hangar.domain.snapshot import OwnerRef
from hangar.domain.view import Claims, View
from tests.domain.building import (
    GPU,
    NOON,
    OP,
    OTHER_OP,
    Object,
    a_member,
    a_node,
    a_pod,
    a_view,
    an_owner,
    draining,
    pending,
    terminating,
)

DB = OwnerRef("StatefulSet", "db", OwnerUid("db"))
THE_DB = an_owner("db", desired=2, kind="StatefulSet")


def a_drain_of_n2(*objects: Object, before: int = 2) -> View:
    """Return a view in which n1 is drained, and n2 by another operation that remembers how many of db were ready."""
    view = a_view(a_node("n1"), a_node("n2"), an_owner(), *objects, claims=draining("n1", "n2"))
    return replace(view, claims={**view.claims, OTHER_OP: replace(view.claims[OTHER_OP], baselines={DB.uid: before})})


def kept(view: View) -> list[str]:
    return [each.ref.name for each in promised(NodeName("n1"), view)]


def test_pods_without_a_place_come_first_by_their_size() -> None:
    waiting = pending("small"), pending("large", requests={GPU: 8}), pending("gated", waiting="SchedulingGated: later")
    ended = pending("ending", deletion_at=a_pod().created_at)
    assert kept(a_view(a_node("n1"), *waiting, ended, claims=draining("n1"))) == ["large", "small"]


def test_pods_that_another_drain_is_still_to_move_are_kept_room_for() -> None:
    agent = an_owner("agent", kind="DaemonSet")
    view = a_drain_of_n2(a_pod("b", on="n2"), a_pod("own"), agent, a_pod("daemon", on="n2", owner=agent.ref))
    assert kept(view) == ["b"]


def test_a_drained_node_that_was_replaced_has_no_pods_of_that_drain() -> None:
    view = a_drain_of_n2(a_node("n2", uid="new"), a_pod("b", on="n2"))
    assert kept(view) == []


def test_what_ends_or_is_gone_and_has_not_come_back_is_kept_room_for() -> None:
    leaving = terminating("db-0", on="n2", owner=DB, requests={GPU: 4})
    stays = a_pod("db-1", on="n3", owner=DB, requests={GPU: 1})
    (other,) = promised(NodeName("n1"), a_drain_of_n2(THE_DB, leaving, stays))
    assert (other.requests, other.node, other.is_terminating) == ({GPU: 4}, None, False)
    assert other.ref.uid not in ("db-0", "db-1"), "it is none of those that are there"
    assert len(promised(NodeName("n1"), a_drain_of_n2(THE_DB, stays))) == 1
    assert promised(NodeName("n1"), a_drain_of_n2(THE_DB, stays, before=1)) == []


def test_what_has_come_back_already_is_kept_room_for_once() -> None:
    leaving = terminating("db-0", on="n2", owner=DB)
    new = pending("db-2", owner=DB)
    stays = a_pod("db-1", on="n3", owner=DB)
    assert kept(a_drain_of_n2(THE_DB, leaving, stays, new)) == ["db-2"]


def test_a_group_is_kept_room_for_with_all_of_its_pods() -> None:
    leaving = a_member("a0", on="n2", deletion_at=a_pod().created_at), a_member("a1", on="n2", deletion_at=NOON)
    view = a_drain_of_n2(*leaving)
    group = leaving[0].group
    assert group is not None
    claims = replace(view.claims[OTHER_OP], baselines={group.owner_uid: 1}, group_sizes={group.owner_uid: 2})
    assert len(promised(NodeName("n1"), replace(view, claims={**view.claims, OTHER_OP: claims}))) == 2


def test_an_owner_without_any_pod_left_tells_nothing_of_what_will_come() -> None:
    assert kept(a_drain_of_n2(THE_DB)) == []


def test_ones_own_drain_promises_nothing_to_itself() -> None:
    view = a_view(a_node("n1"), THE_DB, a_pod("db-0", owner=DB), terminating("db-1", owner=DB))
    own = Claims((NodeName("n1"), a_node("n1").uid), {DB.uid: 2})
    assert kept(replace(view, claims={OP: own})) == []


def test_order_and_gates() -> None:
    assert by_size(a_pod("b")) > by_size(a_pod("a"))
    assert by_size(a_pod("b", requests={GPU: 1})) < by_size(a_pod("a", requests={"cpu": 9}))
    assert is_gated(pending("a", waiting="SchedulingGated"))
    assert not is_gated(pending("a", waiting="Unschedulable: full"))
    assert not is_gated(pending("a", on="n1", waiting="SchedulingGated"))
    assert not is_gated(pending("a"))

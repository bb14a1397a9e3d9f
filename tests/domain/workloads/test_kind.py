"""What each change makes of a workload, before its numbers are derived."""

from dataclasses import replace

from hangar.domain.workloads.kind import Hold, SetPaused, SetReplicas, TakeIn, TakeOut, changed
from tests.domain.building import OP
from tests.domain.workloads.building import FRA, IAD, SIN, a_deployment, a_workload

HELD = a_workload(a_deployment(FRA, held=2), a_deployment(IAD), a_deployment(SIN, held=0))


def test_another_number_lets_go_of_what_was_held() -> None:
    after = changed(HELD, SetReplicas(9))
    assert after.replicas == 9
    assert [each.held for each in after.deployments] == [None, None, None]


def test_another_number_does_not_drop_what_a_failed_drain_left_behind() -> None:
    left = a_workload(a_deployment(FRA), a_deployment(SIN, drained_by=OP, held=2))
    for replicas, held in ((9, 2), (2, 2), (1, 1), (0, None)):
        sin = changed(left, SetReplicas(replicas)).deployment(SIN)
        assert sin is not None
        assert (sin.drained_by, sin.held) == (OP, held)


def test_a_pause_leaves_the_number_and_lets_go_too() -> None:
    after = changed(HELD, SetPaused(on=True))
    assert (after.is_paused, after.replicas) == (True, 6)
    assert [each.held for each in after.deployments] == [None, None, None]
    assert not changed(after, SetPaused(on=False)).is_paused


def test_a_cluster_is_taken_out_at_the_number_it_has() -> None:
    after = changed(a_workload(), TakeOut(SIN, OP))
    fra, iad, sin = after.deployments
    assert (sin.drained_by, sin.held) == (OP, 2)
    assert (fra, iad) == a_workload().deployments[:2]
    assert after.open_deployments == (fra, iad)


def test_a_cluster_that_is_taken_in_is_not_held() -> None:
    workload = a_workload()
    assert changed(changed(workload, TakeOut(SIN, OP)), TakeIn(SIN)) == workload


def test_a_hold_is_of_one_cluster() -> None:
    after = changed(a_workload(), Hold(IAD, 5))
    assert [each.held for each in after.deployments] == [None, 5, None]
    assert changed(after, Hold(IAD, None)) == a_workload()


def test_a_change_of_a_cluster_that_is_not_there_changes_nothing() -> None:
    alone = a_workload(a_deployment(FRA))
    for change in (TakeOut(SIN, OP), TakeIn(SIN), Hold(SIN, 3)):
        assert changed(alone, change) == alone
    assert replace(alone) == alone

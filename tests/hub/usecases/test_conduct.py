"""Operations on workloads: what each changes, what it waits for, and when it is over."""

import pytest

from hangar.domain.operation import Phase
from hangar.domain.workloads.placement import Bounds, Division, Policy
from tests.hub.sites import Fleet

# --- scaling ----------------------------------------------------------------------------------------------------------


def test_a_scale_is_over_when_every_connected_cluster_has_written_it(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    id_ = fleet.scale(8)
    assert fleet.numbers() == {"fra-1": 3, "iad-1": 3, "sin-1": 2}
    assert fleet.waits(id_) == ["not_written"] * 3
    fleet.write("fra-1")
    assert fleet.waits(id_) == ["not_written"] * 2
    fleet.write()
    assert fleet.ended(id_) == (Phase.SUCCEEDED, "scaled to 8: 3 + 3 + 2 = 8, divided")
    done = fleet.world.get(id_)
    assert done.result is not None
    assert (done.result.attempts, done.target, done.cluster) == (1, "llama", None)
    types = ["operation.created", "operation.started", "operation.progressed"]
    assert fleet.world.events("operation")[:3] == types
    assert fleet.world.events("operation")[-1] == "operation.succeeded"


def test_a_duplicated_number_is_each_clusters_own(fleet: Fleet) -> None:
    fleet.bind(replicas=2, policy=Policy(Division.DUPLICATED))
    id_ = fleet.scale(1)
    fleet.write()
    assert fleet.ended(id_) == (Phase.SUCCEEDED, "scaled to 1: 1 each x 3 = 3, duplicated")


def test_until_ready_waits_for_the_replicas(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    id_ = fleet.scale(3, until="ready")
    fleet.write()
    assert fleet.waits(id_) == ["not_ready"] * 3
    fleet.settle()
    assert fleet.world.get(id_).phase == Phase.SUCCEEDED
    assert (fleet.see().state, fleet.see().ready) == ("running", 3)


def test_a_cluster_that_is_offline_is_named_and_follows(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.world.pass_s(14)
    fleet["fra-1"].operator.sync()
    fleet["iad-1"].operator.sync()
    fleet.world.pass_s(2)
    id_ = fleet.scale(6)
    fleet.write("fra-1", "iad-1")
    message = "scaled to 6: 2 + 2 + 2 = 6, divided; sin-1 is offline and will follow"
    assert fleet.ended(id_) == (Phase.SUCCEEDED, message)
    assert fleet["sin-1"].wanted().counts == {"decode": 2}


@pytest.mark.parametrize("has_released", [True, False], ids=["signed off", "fell silent"])
def test_a_cluster_that_goes_away_while_it_is_waited_for_is_not_waited_for_any_longer(
    fleet: Fleet, has_released: bool
) -> None:
    fleet.bind(replicas=3)
    id_ = fleet.scale(6)
    fleet.write("fra-1", "iad-1")
    assert fleet.waits(id_) == ["not_written"]
    if has_released:
        fleet["sin-1"].operator.release()
        fleet.world.pass_s(1)
    else:
        fleet.world.pass_s(14)
        fleet["fra-1"].operator.sync()
        fleet["iad-1"].operator.sync()
        fleet.world.pass_s(1)
    message = "scaled to 6: 2 + 2 + 2 = 6, divided; sin-1 is offline and will follow"
    assert fleet.ended(id_) == (Phase.SUCCEEDED, message)


def test_a_cancelled_scale_takes_back_what_nobody_has_written(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.write()
    id_ = fleet.scale(6)
    fleet.write("fra-1")
    done = fleet.world.cancel(id_)
    assert done.result is not None
    assert (done.phase, done.result.message) == (
        Phase.CANCELLED,
        "cancelled: withdrawn: iad-1 stays at 1, sin-1 stays at 1; written: fra-1 at 2",
    )
    assert fleet.numbers() == {"fra-1": 2, "iad-1": 1, "sin-1": 1}
    fleet.scale(6)
    assert fleet.numbers() == {"fra-1": 2, "iad-1": 2, "sin-1": 2}


def test_a_cancel_does_not_write_over_what_somebody_changed_meanwhile(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.write()
    id_ = fleet.scale(6)
    fleet.write("fra-1", "iad-1")
    fleet["iad-1"].decode(replicas=9, written_by="kubectl-edit")
    rev = fleet["iad-1"].wanted().rev
    assert fleet.world.cancel(id_).phase == Phase.CANCELLED
    assert fleet["iad-1"].wanted().rev == rev
    assert fleet.deployment("iad-1").state == "drifted"


def test_a_scale_that_is_not_written_in_time_fails_and_what_is_wanted_stays(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    id_ = fleet.scale(6, deadline_s=10)
    fleet.world.pass_s(9)
    assert fleet.world.get(id_).phase == Phase.RUNNING
    fleet.world.pass_s(1)
    done = fleet.world.get(id_)
    assert done.phase == Phase.FAILED
    assert done.status_reason is not None
    assert done.status_reason.code == "deadline_exceeded"
    for each in ("fra-1", "iad-1", "sin-1"):
        late = f"{each}/serving/llama is to have 2 replicas, and its operator has not written that yet"
        assert late in done.status_reason.message
    assert fleet.numbers() == {"fra-1": 2, "iad-1": 2, "sin-1": 2}


# --- pausing ----------------------------------------------------------------------------------------------------------


def test_a_pause_keeps_the_number_and_a_resume_places_it_again(fleet: Fleet) -> None:
    fleet.bind(replicas=6)
    paused = fleet.world.create("workload.pause", "llama", reason="nightly shutdown")
    assert fleet.numbers() == {"fra-1": 0, "iad-1": 0, "sin-1": 0}
    fleet.settle()
    assert fleet.world.get(paused).phase == Phase.SUCCEEDED
    seen = fleet.see()
    assert (seen.state, seen.replicas, seen.placement) == ("paused", 6, "paused")
    assert seen.paused_at is not None
    resumed = fleet.world.create("workload.resume", "llama")
    assert fleet.numbers() == {"fra-1": 2, "iad-1": 2, "sin-1": 2}
    fleet.write()
    assert fleet.ended(resumed) == (Phase.SUCCEEDED, "resumed: 2 + 2 + 2 = 6, divided")
    assert fleet.see().paused_at is None


def test_pausing_twice_and_resuming_what_runs_succeed_and_say_so(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.write()
    resumed = fleet.world.create("workload.resume", "llama")
    assert fleet.ended(resumed) == (Phase.SUCCEEDED, "was not paused: 1 + 1 + 1 = 3, divided")
    fleet.world.create("workload.pause", "llama")
    fleet.write()
    again = fleet.world.create("workload.pause", "llama")
    assert fleet.ended(again) == (Phase.SUCCEEDED, "already paused; `resume` places its 3 replicas again")


def test_a_pause_after_a_cancelled_one_pauses_what_still_runs(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.write()
    fleet.world.cancel(fleet.world.create("workload.pause", "llama"))
    assert fleet.numbers() == {"fra-1": 1, "iad-1": 1, "sin-1": 1}
    again = fleet.world.create("workload.pause", "llama")
    assert fleet.numbers() == {"fra-1": 0, "iad-1": 0, "sin-1": 0}
    fleet.write()
    assert fleet.ended(again) == (Phase.SUCCEEDED, "paused; `resume` places its 3 replicas again")


def test_a_resume_after_a_cancelled_one_starts_what_still_rests(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.write()
    fleet.world.create("workload.pause", "llama")
    fleet.write()
    fleet.world.cancel(fleet.world.create("workload.resume", "llama"))
    assert fleet.numbers() == {"fra-1": 0, "iad-1": 0, "sin-1": 0}
    again = fleet.world.create("workload.resume", "llama")
    fleet.write()
    assert fleet.ended(again) == (Phase.SUCCEEDED, "resumed: 1 + 1 + 1 = 3, divided")


# --- draining ---------------------------------------------------------------------------------------------------------


def test_a_drain_lowers_a_cluster_only_as_the_others_are_ready(fleet: Fleet) -> None:
    fleet.bind(replicas=6)
    fleet.settle()
    id_ = fleet.world.create("workload.drain", "llama", cluster="sin-1", reason="cluster decommission")
    assert fleet.numbers() == {"fra-1": 3, "iad-1": 3, "sin-1": 2}
    fleet.write("fra-1")
    assert fleet.numbers()["sin-1"] == 2
    fleet["fra-1"].settle()
    assert fleet.numbers()["sin-1"] == 1
    fleet.settle("iad-1")
    assert fleet.numbers()["sin-1"] == 0
    fleet.write("sin-1")
    assert fleet.waits(id_) == ["leaving"]  # its pods are still there
    fleet["sin-1"].settle()
    assert fleet.ended(id_) == (Phase.SUCCEEDED, "drained: 2 replicas left sin-1")
    assert fleet.world.get(id_).cluster == "sin-1"
    fleet.scale(9)
    assert fleet.numbers() == {"fra-1": 5, "iad-1": 4, "sin-1": 0}
    assert fleet.deployment("sin-1").state == "drained"


def test_a_drain_does_not_write_over_what_somebody_changes_meanwhile(fleet: Fleet) -> None:
    fleet.bind(replicas=6)
    fleet.settle()
    fleet.drain("sin-1")
    fleet.settle("fra-1")
    fleet["fra-1"].decode(replicas=5, written_by="kubectl-edit")
    rev = fleet["fra-1"].wanted().rev
    fleet.settle("iad-1")
    assert fleet.numbers()["sin-1"] == 0
    assert fleet["fra-1"].wanted().rev == rev


def test_an_undrain_brings_the_cluster_back(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.settle()
    drained = fleet.drain("sin-1")
    fleet.settle()
    fleet.settle("sin-1")
    assert fleet.world.get(drained).phase == Phase.SUCCEEDED
    again = fleet.drain("sin-1")
    assert fleet.ended(again) == (Phase.SUCCEEDED, f"already drained by {drained}")
    back = fleet.world.create("workload.undrain", "llama", cluster="sin-1")
    assert fleet.numbers() == {"fra-1": 1, "iad-1": 1, "sin-1": 1}
    fleet.write()
    assert fleet.ended(back) == (Phase.SUCCEEDED, "sin-1 counts again: 1 + 1 + 1 = 3, divided")
    again = fleet.world.create("workload.undrain", "llama", cluster="sin-1")
    assert fleet.ended(again) == (Phase.SUCCEEDED, "sin-1 was not drained: 1 + 1 + 1 = 3, divided")


def test_the_only_cluster_is_drained_where_an_outage_is_allowed(fleet: Fleet) -> None:
    fleet.bind(on=["fra-1"], replicas=2)
    fleet.settle("fra-1")
    id_ = fleet.drain("fra-1", allow_outage=True)
    assert fleet.numbers() == {"fra-1": 0}
    fleet.settle("fra-1")
    assert fleet.world.get(id_).phase == Phase.SUCCEEDED


def test_a_drain_that_the_others_bounds_do_not_allow_fails_before_it_touches_anything(fleet: Fleet) -> None:
    fleet.bind(replicas=6, policy=Policy(default_bounds=Bounds(0, 2)))
    before = fleet.numbers()
    phase, message = fleet.ended(fleet.drain("sin-1"))
    assert phase == Phase.FAILED
    assert "6 replicas are out of its bounds: its clusters need at least 0 and at most 4" in message
    assert fleet.numbers() == before


def test_a_cancelled_drain_leaves_every_cluster_where_it_is(fleet: Fleet) -> None:
    fleet.bind(replicas=6)
    fleet.settle()
    id_ = fleet.drain("sin-1")
    fleet.settle("fra-1")
    fleet.world.cancel(id_)
    phase, message = fleet.ended(id_)
    assert phase == Phase.CANCELLED
    assert "held until the next scale: fra-1 at 3, iad-1 at 2, sin-1 at 2" in message
    assert fleet.numbers() == {"fra-1": 3, "iad-1": 2, "sin-1": 2}
    assert fleet.deployment("sin-1").drained_by is None


def test_a_drain_that_failed_is_taken_up_by_the_next_one(fleet: Fleet) -> None:
    fleet.bind(replicas=6)
    fleet.settle()
    late = fleet.drain("sin-1", deadline_s=10)
    fleet.world.pass_s(10)
    phase, message = fleet.ended(late)
    assert phase == Phase.FAILED
    assert message.startswith("handed over 0 of 2 replicas; not done in time: fra-1/serving/llama is to have 3")
    assert message.endswith("until others are ready: 4 of 6 are. sin-1 stays out of the placement")
    assert fleet.deployment("sin-1").drained_by == late
    id_ = fleet.drain("sin-1")
    assert fleet.deployment("sin-1").drained_by == id_
    assert fleet.numbers() == {"fra-1": 3, "iad-1": 3, "sin-1": 2}
    fleet.settle("fra-1", "iad-1")
    fleet.settle("sin-1")
    assert fleet.ended(id_) == (Phase.SUCCEEDED, "drained: 2 replicas left sin-1")


# --- beside it --------------------------------------------------------------------------------------------------------


def test_operators_are_not_told_of_operations_that_the_hub_carries_out(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.drain("sin-1")
    answer = fleet["sin-1"].hears()
    assert answer.jobs == []
    assert [each.workload for each in answer.desired] == ["llama"]


def test_an_operator_cannot_end_what_the_hub_carries_out(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    id_ = fleet.drain("sin-1")
    assert fleet["sin-1"].operator.say(id_, "succeeded").outcome == "unknown"
    assert fleet.world.get(id_).phase == Phase.RUNNING


def test_what_is_conducted_again_without_news_writes_nothing(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    id_ = fleet.scale(6)
    fleet["sin-1"].operator.release()
    fleet.world.sweep()
    before = fleet.world.store.position()
    fleet.world.sweep()
    assert fleet.world.store.position() == before
    assert fleet.world.get(id_).phase == Phase.RUNNING


def test_a_scale_that_somebody_changes_back_fails_and_names_him(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.settle()
    id_ = fleet.scale(6, until="ready")
    fleet.settle("fra-1")
    fleet["iad-1"].write()
    fleet["iad-1"].decode(replicas=1, written_by="argocd")
    assert fleet.waits(id_) == ["drifted", "not_written"]
    fleet.settle("sin-1")
    phase, message = fleet.ended(id_)
    assert phase == Phase.FAILED
    assert "iad-1/serving/llama: argocd has set decode to 1 instead of 2" in message
    reason = fleet.world.get(id_).status_reason
    assert reason is not None
    assert reason.code == "reverted"
    assert fleet.numbers() == {"fra-1": 2, "iad-1": 2, "sin-1": 2}


def test_a_scale_after_a_drain_that_failed_keeps_what_nobody_has_taken_over(fleet: Fleet) -> None:
    fleet.bind(replicas=6)
    fleet.settle()
    id_ = fleet.drain("sin-1", deadline_s=60)
    fleet.world.pass_s(61)
    assert fleet.ended(id_)[0] == Phase.FAILED
    for site in fleet.sites.values():
        site.operator.sync()
    fleet.scale(4)
    assert fleet.numbers() == {"fra-1": 2, "iad-1": 2, "sin-1": 2}
    fleet.settle()
    again = fleet.drain("sin-1")
    fleet.settle()
    assert fleet.ended(again) == (Phase.SUCCEEDED, "drained: 2 replicas left sin-1")
    assert fleet.numbers() == {"fra-1": 2, "iad-1": 2, "sin-1": 0}


def test_the_conflict_of_a_drain_names_its_cluster(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    id_ = fleet.drain("sin-1")
    assert f"workload.drain {id_} on sin-1, running" in fleet.refusal("workload.pause").detail

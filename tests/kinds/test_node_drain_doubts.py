"""node.drain where what is seen at one moment proves nothing yet: owners that are missing, refusals that may pass."""

from collections.abc import Callable, Iterable
from datetime import timedelta

from hangar.domain.decision import Answer, Cordon, Denied, Evict, Step
from hangar.domain.ids import OperationId
from hangar.domain.limits import DENIED_TRIES_MAX
from hangar.domain.snapshot import Owner, OwnerRef
from hangar.operator.cluster.simulated import api
from hangar.operator.cluster.simulated.spec import PodTemplate, WorkloadSpec
from hangar.operator.cluster.simulated.world import World
from tests.simulation.fleet import a_budget, a_world, an_app
from tests.simulation.solo import NOON, Solo


def drain(world: World) -> tuple[Solo, OperationId]:
    solo = Solo(world)
    return solo, solo.submit("node.drain", "n1")


def lose(world: World, top: OwnerRef) -> tuple[Owner, ...]:
    """Delete a workload's controllers and leave its pods; return what was deleted."""
    workload = world.workloads.pop(top.uid)
    gone = tuple(world.snapshot().owners[ref.uid] for ref in dict.fromkeys((workload.top, workload.controller)))
    for owner in gone:
        world.index.drop_owner(owner.ref.uid)
    return gone


def codes(solo: Solo, operation: OperationId) -> list[str]:
    return [each.code for each in solo.progress[operation].blockers]


# --- owners -----------------------------------------------------------------------------------------------------------


def test_a_pod_whose_owner_was_deleted_gets_time_to_follow_it() -> None:
    world = a_world()
    lose(world, world.add_workload(an_app(1, on=("n1",))))
    solo, operation = drain(world)
    solo.run(2)
    assert codes(solo, operation) == ["orphaned"]
    assert solo.progress[operation].blockers[0].message == (
        "default/api-rs-00000 belongs to replicaset default/api-rs, which is not seen; it counts as gone after 5 s"
    )
    (pod,) = world.snapshot().pods.values()
    world.delete_pod(pod.ref.uid)
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=0")
    assert [row["uid"] for row in result.details["left"]] == [pod.ref.uid]
    assert not solo.evictions()


def test_a_pod_that_is_seen_before_its_owner_is_moved_when_the_owner_is_seen() -> None:
    for kind in ("Deployment", "StatefulSet"):
        world = a_world()
        top = world.add_workload(an_app(1, on=("n1",), kind=kind))
        workload = world.workloads[top.uid]
        late = lose(world, top)
        solo, operation = drain(world)
        solo.run(2)
        assert codes(solo, operation) == ["orphaned"]
        world.workloads[top.uid] = workload
        for owner in late:
            world.index.put_owner(owner)
        assert solo.finish(operation)[1].message == "evicted_replicas=1"


def test_a_daemon_that_is_seen_before_its_daemon_set_is_left_where_it_is() -> None:
    world = a_world()
    top = world.add_workload(WorkloadSpec("DaemonSet", "agent", 0))
    solo, operation = drain(world)
    solo.world.advance(NOON + timedelta(seconds=1))
    late = lose(world, top)
    solo.run(2)
    assert codes(solo, operation) == ["orphaned"]
    for owner in late:
        world.index.put_owner(owner)
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=0")
    assert [row["reason"] for row in result.details["skipped"]] == ["daemonset"]


def test_a_pod_that_stays_without_its_owner_fails_the_drain_before_any_eviction() -> None:
    world = a_world()
    world.add_workload(an_app(2, on=("n1", "n1"), name="other"))
    lose(world, world.add_workload(an_app(1, on=("n1",))))
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "unmanaged_pods")
    assert result.message == (
        "default/api-rs-00000 belongs to a controller that no longer exists, so nothing would recreate it"
    )
    assert world.now == NOON + timedelta(seconds=5)
    assert not solo.evictions()


def test_a_pod_that_loses_its_owner_in_mid_drain_is_held_while_the_others_go_on() -> None:
    world = a_world(4)
    world.add_workload(an_app(3, on=("n1",) * 3, name="other"))
    world.add_budget(a_budget("other", max_unavailable=1))
    top = world.add_workload(an_app(2, on=("n1",) * 2))
    world.add_budget(a_budget(min_available=1))
    solo, operation = drain(world)
    solo.run(1)
    assert len(solo.evictions()) == 2
    lost = {pod.ref.uid for pod in world.snapshot().pods_of(top.uid)}
    lose(world, top)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "unmanaged_pods")
    assert NOON + timedelta(seconds=6) == world.now
    later = [uid for at, uid, _ in solo.evictions() if at > NOON + timedelta(seconds=1)]
    assert later
    assert not lost & set(later)


def test_a_bare_pod_that_shows_up_late_is_not_passed_over() -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",), ready_after_s=2.0, terminate_after_s=1.0))
    solo, operation = drain(world)
    solo.run(2)
    world.advance(NOON + timedelta(seconds=10))  # all else is done before anybody looks again
    world.add_bare_pod("scratch", "n1", PodTemplate())
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "unmanaged_pods")
    assert "default/scratch has no controller" in result.message


# --- refusals ---------------------------------------------------------------------------------------------------------


def denying(kind: type[Step], answers: Iterable[Answer]) -> Callable[[World, Step], Answer]:
    """Return a cluster that gives these answers to one kind of step, and then takes it."""
    given = iter(answers)

    def answer(world: World, step: Step) -> Answer:
        return (next(given, None) if isinstance(step, kind) else None) or api.take(world, step)

    return answer


def test_a_refusal_that_passes_is_outlived() -> None:
    for kind in (Cordon, Evict):
        world = a_world()
        world.add_workload(an_app(1, on=("n1",)))
        solo, operation = drain(world)
        solo.answer = denying(kind, [Denied("403: forbidden")] * (DENIED_TRIES_MAX - 1))
        solo.run(1)
        assert codes(solo, operation) == ["retry"]
        assert solo.finish(operation)[0] == "succeeded"


def test_a_refusal_that_stays_fails_the_drain_after_a_few_seconds() -> None:
    for kind, code in ((Cordon, "forbidden"), (Evict, "eviction_denied")):
        world = a_world()
        world.add_workload(an_app(1, on=("n1",)))
        solo, operation = drain(world)
        solo.answer = denying(kind, [Denied("403: forbidden")] * DENIED_TRIES_MAX)
        phase, result = solo.finish(operation)
        assert (phase, result.code) == ("failed", code)
        assert "403: forbidden" in result.message
        assert world.now == NOON + timedelta(seconds=3)

"""node.drain while it waits: for what, in which order, and for how long."""

from dataclasses import replace
from datetime import timedelta

from hangar.domain.decision import Accepted
from tests.kinds.draining import codes, drain
from tests.simulation.fleet import a_budget, a_world, an_app
from tests.simulation.solo import NOON, Solo


def test_success_waits_for_the_replacements_to_be_ready() -> None:
    """C06: gone is not done."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",), ready_after_s=60))
    solo, operation = drain(world)
    solo.run(30)
    assert operation not in solo.results
    assert solo.progress[operation].message == "evicted 1/1, rescheduled 0/1 (1 loading)"
    solo.finish(operation)
    assert world.now >= NOON + timedelta(seconds=60)


def test_a_budget_is_never_exceeded_and_the_drain_goes_on_as_it_opens() -> None:
    """C18: at no moment is more gone than may be."""
    world = a_world(4)
    world.add_workload(an_app(5, on=("n1",) * 5))
    world.add_budget(a_budget(max_unavailable=1))
    least_ready = [5]
    seen = world.on_change

    def watch() -> None:
        seen()
        least_ready.append(sum(pod.serves for pod in world.snapshot().pods.values()))

    world.on_change = watch
    solo, operation = drain(world)
    assert solo.finish(operation)[0] == "succeeded"
    assert min(least_ready) == 4
    assert all(isinstance(answer, Accepted) for _, _, answer in solo.evictions())


def test_a_pod_whose_budget_is_spent_is_waited_for_by_name_and_numbers() -> None:
    world = a_world(4)
    world.add_workload(an_app(5, on=("n1",) * 5))
    world.add_budget(a_budget(max_unavailable=1))
    solo, operation = drain(world)
    solo.run(1)
    progress = solo.progress[operation]
    assert "blocked 4 by pdb default/api: needs 4 has 4" in progress.message
    blocked = [each for each in progress.blockers if each.code == "budget_ours"]
    (told,) = blocked
    assert told.message.startswith("pdb default/api holds back default/api-rs-00001, default/api-rs-00002, ")
    assert ": needs 4 has 4; on their way: default/api-rs-00005: starting" in told.message
    assert (told.subject, told.facts["needs"], told.facts["has"]) == ("pdb default/api", 4, 4)
    assert len(told.facts["pods"]) == 4


def test_a_quota_that_stops_the_replacement_fails_the_drain_with_its_text() -> None:
    world = a_world()
    owner = world.add_workload(an_app(2, on=("n1", "n2")))
    solo, operation = drain(world)
    workload = world.workloads[owner.uid]
    workload.replicas = 1  # the controller cannot make the second one
    solo.run(1.5)
    workload.replicas = 2
    world.put_owner_failure(workload, "exceeded quota: gpus, requested 1, used 8, limited 8")
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "quota_exceeded")
    assert "exceeded quota: gpus" in result.message


def test_a_replacement_that_cannot_be_placed_fails_the_drain_after_a_while() -> None:
    world = a_world(2)
    world.add_workload(an_app(1, on=("n1",), gpus=4))
    solo, operation = drain(world)
    solo.settle()
    world.add_workload(an_app(2, on=("n2", "n2"), name="late", gpus=4))
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "no_capacity")
    assert "cannot be placed: 0/2 nodes are available" in result.message
    assert world.now >= NOON + timedelta(seconds=30)


def test_two_drains_never_take_an_owners_last_ready_pod() -> None:
    """C47: one at a time, with no budget at all."""
    world = a_world(4)
    world.add_workload(an_app(2, on=("n1", "n2"), ready_after_s=20))
    solo = Solo(world)
    first, second = solo.submit("node.drain", "n1"), solo.submit("node.drain", "n2")
    solo.run(5)
    (held,) = [each for each in solo.progress[second].blockers if each.code == "last_ready"]
    assert (
        held.message == "default/api-rs-00001 is the last ready pod of deployment default/api, which has 1 of 2 ready; "
        "the others: default/api-rs-00002: starting"
    )
    solo.finish(first)
    solo.finish(second)
    (_, _, _), (at, _, _) = solo.evictions()
    assert at >= NOON + timedelta(seconds=20)


def test_a_pod_that_left_by_itself_is_waited_for_elsewhere_by_name() -> None:
    world = a_world()
    top = world.add_workload(an_app(1, on=("n1",), ready_after_s=20))
    world.add_budget(a_budget(min_available=1))
    solo, operation = drain(world, skip_fit_check=True)
    solo.run(1)
    (pod,) = world.snapshot().pods_of(top.uid)
    world.delete_pod(pod.ref.uid)
    solo.run(5)
    progress = solo.progress[operation]
    assert progress.message == "evicted 1/1, rescheduled 0/1 (1 loading)"
    assert [each.message for each in progress.blockers] == [
        "deployment default/api has 0 of 1 pods ready off the draining nodes (default/api-rs-00001: starting)"
    ]
    assert solo.finish(operation)[1].message == "evicted_replicas=0"


def test_a_quota_that_is_full_only_until_the_old_pod_has_ended_is_outlived() -> None:
    world = a_world()
    owner = world.add_workload(an_app(1, on=("n1",)))
    workload = world.workloads[owner.uid]
    workload.replicas = 0  # its controller makes no pod while the old one counts against the quota
    world.put_owner_failure(workload, None)
    solo, operation = drain(world)
    solo.run(0.5)
    workload.replicas = 1
    world.put_owner_failure(workload, "exceeded quota: gpus, requested 1, used 1, limited 1")
    world.workloads.pop(owner.uid)
    solo.run(25)
    assert codes(solo, operation) == ["loading"]
    world.workloads[owner.uid] = workload
    world.put_owner_failure(workload, None)
    world.reconcile(workload)
    assert solo.finish(operation)[1].message == "evicted_replicas=1"


def test_what_holds_a_terminating_pod_is_said() -> None:
    world = a_world()
    top = world.add_workload(an_app(1, on=("n1",), terminate_after_s=30))
    solo, operation = drain(world)
    solo.run(1)
    (pod,) = (pod for pod in world.snapshot().pods_of(top.uid) if pod.is_terminating)
    world.put_pod(replace(pod, waiting="held by finalizers: example.com/disk"))
    solo.run(1)
    (ending,) = (each for each in solo.progress[operation].blockers if each.code == "terminating")
    assert (
        ending.message
        == f"{pod.ref} is terminating until 2026-10-27T12:00:30Z at the latest (held by finalizers: example.com/disk)"
    )


def test_pods_that_do_not_serve_are_named_where_they_alone_hold_a_budget() -> None:
    """C17: what crashes holds the budget, and is named with its reason."""
    world = a_world()
    top = world.add_workload(an_app(3, on=("n1", "n2", "n3")))
    world.add_budget(a_budget(min_available=2))
    for pod in list(world.snapshot().pods_of(top.uid)):
        if pod.node != "n1":
            world.put_pod(replace(pod, ready=False, waiting="CrashLoopBackOff"))
    world.advance(NOON + timedelta(seconds=1))
    solo, operation = drain(world, deadline_s=60)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "deadline_exceeded")
    assert result.message == (
        "not done within the deadline of 60 s: "
        "pdb default/api holds back default/api-rs-00000: needs 2 has 1; "
        "not ready: default/api-rs-00001: CrashLoopBackOff, default/api-rs-00002: CrashLoopBackOff"
    )
    assert not solo.evictions()


def test_a_budget_that_another_drain_has_spent_is_waited_for_by_that_drains_name() -> None:
    world = a_world(4)
    world.add_workload(an_app(4, on=("n1", "n2", "n3", "n4"), ready_after_s=20))
    world.add_budget(a_budget(max_unavailable=1))
    solo, first = drain(world)
    second = solo.submit("node.drain", "n2")
    solo.run(0.5)
    assert [each.message for each in solo.progress[second].blockers] == [
        "pdb default/api holds back default/api-rs-00001: needs 3 has 3; "
        f"on their way: default/api-rs-00000: moved by {first}, default/api-rs-00004: starting",
    ]

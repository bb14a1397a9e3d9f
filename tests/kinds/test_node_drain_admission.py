"""node.drain and what else has a say in evictions: webhooks that deny, are slow or move the pod, dying namespaces."""

from dataclasses import replace
from datetime import timedelta

from hangar.domain.decision import Cordon, Delete, Evict
from hangar.operator.cluster.simulated.spec import WebhookSpec
from tests.kinds.draining import codes, drain, rows
from tests.simulation.fleet import a_world, an_app
from tests.simulation.solo import NOON


def test_a_webhook_that_denies_and_moves_the_pod_itself_is_waited_for() -> None:
    """C28: the denial is its way of saying that it has begun."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    world.webhooks.add(WebhookSpec("mover", message="will restart it", moves_after_s=3.0))
    solo, operation = drain(world)
    solo.run(1)
    assert codes(solo, operation) == ["retry"]
    assert "will restart it" in solo.progress[operation].blockers[0].message
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=0")
    assert rows(solo, operation, "left") == ["default/api-rs-00000"]


def test_a_webhook_that_denies_and_does_nothing_fails_the_drain_with_its_words() -> None:
    """C28, C35: half a minute is enough to see that nothing moves; and there is no deletion behind its back."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    world.webhooks.add(WebhookSpec("guard", message="unknown version policy/v1"))
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "eviction_denied")
    assert 'admission webhook "guard" denied the request: unknown version policy/v1' in result.message
    assert timedelta(seconds=20) < world.now - NOON < timedelta(seconds=60)
    assert {type(step) for _, _, step, _ in solo.taken} == {Cordon, Evict}


def test_a_webhook_that_went_with_a_pod_of_the_node_holds_up_no_other_pod() -> None:
    """C30: the evictions that hang are told with their cause, the others go on, and all is tried again."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",), name="backend", ready_after_s=20.0))
    world.add_workload(an_app(2, on=("n1", "n1")))
    world.webhooks.add(WebhookSpec("backend", {"app": "api"}, is_slow=True))
    world.at(25.0, lambda: world.webhooks.drop("backend"))
    solo, operation = drain(world)
    solo.run(5)
    assert solo.progress[operation].message.startswith("evicted 1/3")
    (told,) = {each.message for each in solo.progress[operation].blockers if "api-rs-00000" in each.subject}
    assert (
        'is tried again (webhook): webhook timeout: 500: Internal error occurred: failed calling webhook "backend"'
        in told
    )
    assert solo.finish(operation)[1].message == "evicted_replicas=3"
    assert world.now < NOON + timedelta(seconds=60)


def test_a_pod_whose_namespace_is_being_deleted_goes_with_it() -> None:
    """C31: a refusal that only says that the pod is about to go is no failure."""
    world = a_world()
    world.add_workload(replace(an_app(1, on=("n1",), terminate_after_s=5.0, name="doomed"), namespace="doomed"))
    world.add_workload(an_app(1, on=("n1",)))
    world.admission.terminate("doomed")
    world.at(3.0, lambda: world.remove_namespace("doomed"))
    solo, operation = drain(world)
    solo.run(1)
    assert "namespace_terminating" in codes(solo, operation)
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=1")
    assert rows(solo, operation, "left") == ["doomed/doomed-rs-00000"]
    assert not any(isinstance(step, Delete) for _, _, step, _ in solo.taken)

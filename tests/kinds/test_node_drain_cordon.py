"""node.drain and whose cordon it is, where people meddle."""

from hangar.domain.decision import Answer, Cordon, Step, Uncordon
from hangar.domain.ids import NodeName
from hangar.operator.cluster.simulated import api
from hangar.operator.cluster.simulated.world import World
from tests.simulation.fleet import a_budget, a_world, an_app
from tests.simulation.solo import Solo


def test_a_cordon_put_on_by_hand_while_ours_is_undone_stays() -> None:
    world = a_world(1)
    world.add_workload(an_app(1, on=("n1",)))
    solo = Solo(world)
    operation = solo.submit("node.drain", "n1", on_failure="uncordon")

    def meddle(world: World, step: Step) -> Answer:
        if isinstance(step, Uncordon):
            world.cordon_by_hand("n1", on=False)
            world.cordon_by_hand("n1", "kubectl-cordon")
        return api.take(world, step)

    solo.answer = meddle
    phase, result = solo.finish(operation)
    assert phase == "failed"
    assert result.message.endswith("the cordon is kubectl-cordon's")
    assert world.snapshot().nodes[NodeName("n1")].cordon_manager == "kubectl-cordon"


def test_a_cordon_that_was_lifted_before_the_drain_began_is_nobodys_objection() -> None:
    """C40: every drain begins on a schedulable node; only our own cordon, once seen, can be undone against us."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    world.cordon_by_hand("n1", "kubectl-cordon")
    solo = Solo(world)
    operation = solo.submit("node.drain", "n1")
    world.cordon_by_hand("n1", "kubectl-uncordon", on=False)
    assert solo.finish(operation)[0] == "succeeded"


def test_a_drain_that_takes_its_cordon_off_leaves_what_people_cordoned_meanwhile() -> None:
    """C39: nodes without our mark are not ours to touch, whatever we do to others."""
    world = a_world(3, gpus=1)
    world.add_workload(an_app(3, on=("n1", "n2", "n3")))
    solo = Solo(world)
    operation = solo.submit("node.drain", "n2", on_failure="uncordon")
    world.cordon_by_hand("n1", "kubectl-cordon")
    assert solo.finish(operation)[1].code == "no_capacity"
    solo.run(60)
    nodes = world.snapshot().nodes
    assert {name: node.cordon_manager for name, node in nodes.items()} == {
        "n1": "kubectl-cordon",
        "n2": None,
        "n3": None,
    }
    assert {step.node for _, _, step, _ in solo.taken if isinstance(step, Cordon | Uncordon)} == {"n2"}


def test_that_a_node_was_cordoned_before_is_noted_and_it_stays_so() -> None:
    """C38: whoever cordoned it for repair finds it as it was left."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    world.cordon_by_hand("n1", "kubectl-cordon")
    solo = Solo(world)
    operation = solo.submit("node.drain", "n1", on_failure="uncordon")
    phase, result = solo.finish(operation)
    assert phase == "succeeded"
    assert result.details["warnings"] == ["node n1 was cordoned before this drain, and stays so whatever becomes of it"]
    assert world.snapshot().nodes[NodeName("n1")].cordon_manager == "kubectl-cordon"


def test_a_drain_that_fails_after_its_first_eviction_keeps_its_cordon_and_says_what_stays_there() -> None:
    """C41, C64: a cordoned node with pods on it looks unused to who removes nodes; that is told."""
    world = a_world()
    world.add_workload(an_app(2, on=("n1", "n1"), ready_after_s=60.0))
    world.add_budget(a_budget(max_unavailable=1))
    solo = Solo(world)
    operation = solo.submit("node.drain", "n1", deadline_s=20)
    phase, result = solo.finish(operation)
    assert (phase, result.code, len(solo.evictions())) == ("failed", "deadline_exceeded", 1)
    node = world.snapshot().nodes[NodeName("n1")]
    assert node.mark is not None
    assert (node.unschedulable, node.mark.operation) == (True, operation)
    assert result.details["warnings"] == [
        "1 pod(s) are still on n1, which stays cordoned: see that nothing takes it for unused and removes it"
    ]

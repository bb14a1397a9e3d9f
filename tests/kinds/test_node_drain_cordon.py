"""node.drain and whose cordon it is, where people meddle."""

from hangar.domain.decision import Answer, Step, Uncordon
from hangar.domain.ids import NodeName
from hangar.operator.cluster.simulated import api
from hangar.operator.cluster.simulated.world import World
from tests.simulation.fleet import a_world, an_app
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

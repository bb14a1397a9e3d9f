"""Starting a drain on a simulated world, and reading what became of it."""

from typing import Any

from hangar.domain.ids import OperationId
from hangar.operator.cluster.simulated.world import World
from tests.simulation.solo import Solo


def drain(world: World, target: str = "n1", **params: Any) -> tuple[Solo, OperationId]:
    """Ask for a drain; it begins when time passes."""
    solo = Solo(world)
    return solo, solo.submit("node.drain", target, reason="firmware", **params)


def rows(solo: Solo, operation: OperationId, name: str) -> list[str]:
    """Return the pods of one list of a drain's result."""
    return [row["pod"] for row in solo.results[operation][1].details[name]]


def codes(solo: Solo, operation: OperationId) -> list[str]:
    """Return the codes of what a drain waits for now."""
    return [each.code for each in solo.progress[operation].blockers]

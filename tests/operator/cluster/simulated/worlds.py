"""Worlds to try the simulated cluster's own parts on."""

from datetime import UTC, datetime, timedelta

from hangar.domain.ids import NodeName
from hangar.domain.snapshot import Pod
from hangar.operator.cluster.simulated.spec import NodeSpec, PodTemplate, WorkloadSpec
from hangar.operator.cluster.simulated.world import World

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def a_world(*nodes: str, **labels: str) -> World:
    """Return a world of empty nodes, n1 and n2 if not named."""
    world = World(NOON)
    for name in nodes or ("n1", "n2"):
        world.add_node(NodeSpec(name, labels=labels))
    return world


def an_app(replicas: int = 1, *, name: str = "web", kind: str = "Deployment", **template: object) -> WorkloadSpec:
    """Return a workload whose pods carry the label app=NAME."""
    return WorkloadSpec(kind, name, replicas, PodTemplate(labels={"app": name}, **template))  # type: ignore[arg-type]


def pass_s(world: World, seconds: float) -> None:
    """Let time pass."""
    world.advance(world.now + timedelta(seconds=seconds))


def pods(world: World, app: str = "web") -> list[Pod]:
    """Return the pods of an app, by name."""
    found = (pod for pod in world.snapshot().pods.values() if pod.labels.get("app") == app)
    return sorted(found, key=lambda pod: pod.ref)


def cordon(world: World, name: str) -> NodeName:
    """Keep new pods off a node."""
    world.cordon_by_hand(name)
    return NodeName(name)

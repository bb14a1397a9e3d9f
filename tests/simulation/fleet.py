"""Small worlds that tests begin from."""

from hangar.domain.devices import GPU
from hangar.operator.cluster.simulated.spec import GROUPED, BudgetSpec, NodeSpec, PodTemplate, WorkloadSpec
from hangar.operator.cluster.simulated.world import World
from tests.simulation.solo import NOON


def a_world(nodes: int = 3, gpus: int = 8) -> World:
    """Return a world of empty nodes n1, n2 and so on."""
    world = World(NOON)
    for number in range(1, nodes + 1):
        world.add_node(NodeSpec(f"n{number}", {GPU: gpus, "cpu": 192_000, "memory": 2 << 40, "pods": 110}))
    return world


def an_app(
    replicas: int = 3,
    *,
    on: tuple[str, ...] = (),
    name: str = "api",
    kind: str = "Deployment",
    gpus: int = 1,
    ready_after_s: float = 2.0,
    terminate_after_s: float = 1.0,
    grace_s: int = 30,
) -> WorkloadSpec:
    """Return a workload whose pods carry the label app=NAME."""
    template = PodTemplate(
        requests={GPU: gpus, "cpu": 1000} if gpus else {"cpu": 1000},
        labels={"app": name},
        ready_after_s=ready_after_s,
        terminate_after_s=terminate_after_s,
        grace_s=grace_s,
    )
    return WorkloadSpec(kind, name, replicas, template, pinned=on)


def a_budget(app: str = "api", *, min_available: int | None = None, max_unavailable: int | None = None) -> BudgetSpec:
    """Return a budget over the pods with the label app=APP."""
    return BudgetSpec(app, {"app": app}, min_available, max_unavailable)


def a_group_set(
    groups: int = 2, size: int = 2, *, on: tuple[str, ...] = (), name: str = "big", ready_after_s: float = 2.0
) -> WorkloadSpec:
    """Return a LeaderWorkerSet: groups of pods that serve only as a whole."""
    template = PodTemplate(requests={GPU: 1, "cpu": 1000}, labels={"app": name}, ready_after_s=ready_after_s)
    return WorkloadSpec(GROUPED, name, groups, template, pinned=on, group_size=size)

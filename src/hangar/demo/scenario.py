"""Scenario: a fleet as a TOML file declares it, and the simulated clusters made of it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from hangar.domain.devices import GPU
from hangar.domain.ids import ClusterName
from hangar.domain.snapshot import Taint, Toleration
from hangar.domain.workloads.graph import RivalKind, Role
from hangar.domain.workloads.placement import Bounds, Division, Policy
from hangar.hub.usecases.check_workloads import Binding
from hangar.hub.usecases.workloads import WorkloadRequest
from hangar.operator.cluster.simulated.spec import (
    BudgetSpec,
    ComponentSpec,
    GraphSpec,
    NodeSpec,
    PodTemplate,
    RivalSpec,
    WorkloadSpec,
)
from hangar.operator.cluster.simulated.world import World

GIB = 1 << 30
CPU_PER_NODE = 192_000
MEMORY_PER_NODE = 2048 * GIB
PODS_PER_NODE = 110
RIVALS = {"hpa": RivalKind.HPA, "keda": RivalKind.KEDA, "planner": RivalKind.PLANNER, "gitops": RivalKind.GITOPS}


Raw: TypeAlias = dict[str, Any]
"""A table of the file."""


class ScenarioError(Exception):
    """A scenario that cannot be read; the message says where and why."""


@dataclass(frozen=True, slots=True)
class ClusterScenario:
    """One cluster of the fleet."""

    name: str
    allowed: frozenset[str]
    nodes: tuple[NodeSpec, ...]
    workloads: tuple[WorkloadSpec, ...]
    graphs: tuple[GraphSpec, ...]
    budgets: tuple[BudgetSpec, ...]
    cordoned: tuple[str, ...]

    def build(self, now: datetime) -> World:
        """Return the cluster, with all pods placed and ready."""
        world = World(now, uid=f"{self.name}-uid")
        for node in self.nodes:
            world.add_node(node)
        for workload in self.workloads:
            world.add_workload(workload)
        for graph in self.graphs:
            world.add_graph(graph)
        for budget in self.budgets:
            world.add_budget(budget)
        for name in self.cordoned:
            world.cordon_by_hand(name, "kubectl-cordon")
        return world


@dataclass(frozen=True, slots=True)
class Scenario:
    """A fleet: its clusters, the quotas of its projects, and its workloads by name."""

    clusters: tuple[ClusterScenario, ...]
    projects: Mapping[str, Mapping[str, int]]
    workloads: Mapping[str, WorkloadRequest]


def load(path: Path) -> Scenario:
    """Read a scenario. Raises ScenarioError."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        return Scenario(
            tuple(_cluster(each) for each in document["cluster"]),
            {each["name"]: each["quotas"] for each in document.get("project", [])},
            {each["name"]: _served(each) for each in document.get("served", [])},
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise ScenarioError(f"{path}: {type(error).__name__}: {error}") from error


def _cluster(raw: Raw) -> ClusterScenario:
    nodes = tuple(node for pool in raw["nodes"] for node in _pool(pool))
    return ClusterScenario(
        raw["name"],
        frozenset(raw["allowed"]),
        nodes,
        tuple(_workload(each) for each in raw.get("workload", [])),
        tuple(_graph(each) for each in raw.get("graph", [])),
        tuple(_budget(each) for each in raw.get("budget", [])),
        tuple(raw.get("cordoned", [])),
    )


def _pool(raw: Raw) -> list[NodeSpec]:
    """Return the nodes of a pool: PREFIX01 to PREFIXnn, from `first` on."""
    resources = {
        GPU: raw.get("gpus", 8),
        "cpu": CPU_PER_NODE,
        "memory": MEMORY_PER_NODE,
        "pods": PODS_PER_NODE,
    }
    resources = {name: amount for name, amount in resources.items() if amount}
    taints = tuple(Taint(each["key"], each.get("value", ""), each["effect"]) for each in raw.get("taint", []))
    first = raw.get("first", 1)
    return [
        NodeSpec(f"{raw['prefix']}{number:02d}", resources, raw.get("labels", {}), taints, raw.get("ready", True))
        for number in range(first, first + raw["count"])
    ]


def _served(raw: Raw) -> WorkloadRequest:
    """Return a workload: it is bound to the graph of its name on each of its clusters."""
    bounds = {
        ClusterName(cluster): Bounds(each.get("min", 0), each.get("max"))
        for cluster, each in raw.get("bounds", {}).items()
    }
    policy = Policy(Division(raw.get("division", "divided")), bounds=bounds)
    bindings = tuple(Binding(cluster, raw["namespace"], raw["name"]) for cluster in raw["clusters"])
    return WorkloadRequest(raw["project"], policy=policy, bindings=bindings)


def _graph(raw: Raw) -> GraphSpec:
    components = tuple(_component(each) for each in raw["components"])
    rivals = [_rival(each["rival"], each["name"]) for each in raw["components"] if "rival" in each]
    rivals += [_rival(raw["rival"], None)] if "rival" in raw else []
    return GraphSpec(raw["name"], components, raw["namespace"], tuple(rivals))


def _rival(text: str, component: str | None) -> RivalSpec:
    """Return who else writes a graph's numbers, as `hpa:NAME` says it of a component, or `gitops:NAME` of a graph."""
    kind, _, name = text.partition(":")
    return RivalSpec(RIVALS[kind], name, component)


def _component(raw: Raw) -> ComponentSpec:
    template = _template(raw, {})
    replicas, node_count = raw.get("replicas", 1), raw.get("node_count", 1)
    return ComponentSpec(raw["name"], Role(raw["role"]), replicas, template, node_count, raw.get("adapter", False))


def _workload(raw: Raw) -> WorkloadSpec:
    return WorkloadSpec(
        raw.get("kind", "Deployment"),
        raw["name"],
        raw.get("replicas", 0),
        _template(raw, {"app": raw["name"]}),
        raw.get("namespace", "serving"),
        tuple(raw.get("on", [])),
    )


def _template(raw: Raw, labels: Mapping[str, str]) -> PodTemplate:
    requests = {GPU: raw.get("gpus", 0), "cpu": raw.get("cpu", 4000), "memory": raw.get("memory_gib", 32) * GIB}
    return PodTemplate(
        requests={name: amount for name, amount in requests.items() if amount},
        labels=labels,
        tolerations=tuple(
            Toleration(each["key"], each.get("operator", "Exists"), each.get("value", ""), each.get("effect", ""))
            for each in raw.get("toleration", [])
        ),
        node_selector=raw.get("node_selector", {}),
        grace_s=raw.get("grace_s", 30),
        ready_after_s=raw.get("ready_after_s", 2.0),
        terminate_after_s=raw.get("terminate_after_s", 1.0),
    )


def _budget(raw: Raw) -> BudgetSpec:
    return BudgetSpec(
        raw["name"],
        {"app": raw["app"]},
        raw.get("min_available"),
        raw.get("max_unavailable"),
        raw.get("namespace", "serving"),
    )

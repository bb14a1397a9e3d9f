"""Clusters with graphs for tests of workloads: each has an operator that tells of them, and writes when told to."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
import pytest
from sqlalchemy import Connection

from hangar.hub.principals import Principal
from hangar.hub.usecases.check_workloads import Binding
from hangar.hub.usecases.inventory import inventory
from hangar.hub.usecases.projects import apply_project
from hangar.hub.usecases.show_workloads import show_workload
from hangar.hub.usecases.sync import jobs_of
from hangar.hub.usecases.workloads import WorkloadRequest, apply_workload
from hangar.wire import shown
from hangar.wire.operator import ComponentDoc, DesiredDoc, GraphDoc, GraphKey, InventoryRequest, NodeDoc, SyncAnswer
from hangar.wire.problems import Problem
from tests.hub.world import ADMIN, Operator, World

T = TypeVar("T")

GPU = "nvidia.com/gpu"
ALL = ("cordon", "drain", "scale", "deploy")
NAMES = ("fra-1", "iad-1", "sin-1")


TEMPLATE: dict[str, Any] = {
    "apiVersion": "nvidia.com/v1beta1",
    "kind": "DynamoGraphDeployment",
    "spec": {
        "components": [
            {"name": "Frontend", "type": "frontend", "replicas": 1},
            {
                "name": "decode",
                "type": "worker",
                "replicas": 3,
                "podTemplate": {
                    "spec": {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "4"}}}]}
                },
            },
        ]
    },
}
"""The graphs llama as they would be created: workers of four GPUs each."""


def a_graph(name: str = "llama", **changes: Any) -> GraphDoc:
    """A frontend, and workers of four GPUs each of which none is asked for."""
    components = [
        ComponentDoc(name="Frontend", role="frontend", replicas=1),
        ComponentDoc(name="decode", role="worker", replicas=0, gpus_per_pod=4),
    ]
    given: dict[str, Any] = {"uid": f"uid-{name}", "api_version": "nvidia.com/v1beta1", "components": components}
    return GraphDoc(namespace="serving", name=name, **given | changes)


class Site:
    """A cluster with graphs, and an operator that writes what is desired of them."""

    def __init__(self, world: World, name: str, *graphs: GraphDoc, allowed: tuple[str, ...] = ALL) -> None:
        self.world = world
        self.secret = world.add_cluster(name)
        self.name = name
        self.operator = Operator(world, name, allowed=list(allowed))
        self.operator.open()
        self.operator.sync()
        self.graphs = {each.name: each for each in graphs or (a_graph(),)}
        self.nodes: list[NodeDoc] = []
        self.tell()

    def tell(self, *graphs: GraphDoc, complete: bool = True) -> None:
        """Tell of all graphs as they are now, these among them."""
        self.graphs |= {each.name: each for each in graphs}
        self.send(graphs=list(self.graphs.values()), complete=complete)

    def lose(self, graph: str = "llama", *, complete: bool = True) -> None:
        """Tell that a graph is gone: in a whole inventory, or by its name."""
        del self.graphs[graph]
        gone = [] if complete else [GraphKey(namespace="serving", name=graph)]
        rest = list(self.graphs.values()) if complete else []
        self.send(graphs=rest, gone_graphs=gone, complete=complete)

    def send(self, **given: Any) -> None:
        """Send an inventory under the next number."""
        self.operator.inventory_n += 1
        grant, world = self.operator.grant, self.world
        values: dict[str, Any] = {"n": self.operator.inventory_n, "complete": True, "nodes": self.nodes}
        request = InventoryRequest(session=grant.session, epoch=grant.epoch, **values | given)
        world.store.write(lambda tx: inventory(tx, self.name, request, world.rules, world.now_us))

    def hears(self) -> SyncAnswer:
        """Return what a sync says."""
        return self.world.store.read(lambda connection: jobs_of(connection, self.name, self.world.now_us))

    def desired(self, graph: str = "llama") -> DesiredDoc | None:
        """Return what the hub wants of a graph, None where it wants nothing."""
        return next((each for each in self.hears().desired if each.graph == graph), None)

    def wanted(self, graph: str = "llama") -> DesiredDoc:
        """Return what the hub wants of a graph; it must want something."""
        found = self.desired(graph)
        assert found is not None
        return found

    def decode(self, graph: str = "llama", **changes: Any) -> None:
        """Let the worker component be otherwise, and tell so."""
        front, decode = self.graphs[graph].components
        changed = msgspec.structs.replace(decode, **changes)
        self.tell(msgspec.structs.replace(self.graphs[graph], components=[front, changed]))

    def write(self, graph: str = "llama") -> None:
        """Write what is desired, as an operator does; nothing is ready by that."""
        wanted = self.wanted(graph)
        self.graphs[graph] = msgspec.structs.replace(self.graphs[graph], applied_rev=wanted.rev)
        self.decode(graph, replicas=wanted.counts["decode"], written_by="hangar-operator")

    def settle(self, graph: str = "llama") -> None:
        """Let all replicas that are asked for be there and ready, and no other pod."""
        count = self.graphs[graph].components[1].replicas
        self.decode(graph, counted=count, updated=count, ready=count, pods=count)


class Fleet:
    """Some clusters with a graph llama each, and a project `chat` that may use 64 GPUs."""

    def __init__(self, *names: str, world: World | None = None) -> None:
        self.world = world or World()
        self.add_project("chat", {GPU: 64})
        self.sites = {name: Site(self.world, name) for name in names or NAMES}

    def __getitem__(self, name: str) -> Site:
        return self.sites[name]

    def read(self, run: Callable[[Connection], T]) -> T:
        """Read from the store."""
        return self.world.store.read(run)

    def add_project(self, name: str, quotas: dict[str, int]) -> None:
        """Add a project, or change its quotas."""
        self.world.store.write(lambda tx: apply_project(tx, ADMIN, name, quotas, self.world.now_us))

    def apply(self, name: str = "llama", *, who: Principal = ADMIN, **given: Any) -> shown.Workload:
        """Add or change a workload; of the project chat unless another is given."""
        request = WorkloadRequest(**{"project": "chat"} | given)
        return self.world.store.write(lambda tx: apply_workload(tx, who, name, request, self.world.now_us)).workload

    def bind(self, name: str = "llama", **given: Any) -> shown.Workload:
        """Add a workload on all clusters, or on those given as `on`, by the graph of its name."""
        bindings = tuple(Binding(each, "serving", name) for each in given.pop("on", self.sites))
        return self.apply(name, **{"bindings": bindings} | given)

    def see(self, name: str = "llama") -> shown.Workload:
        """Return a workload as users see it."""
        return self.read(lambda connection: show_workload(connection, name))

    def deployment(self, cluster: str, name: str = "llama") -> shown.Deployment:
        """Return a deployment as users see it."""
        return next(each for each in self.see(name).deployments if each.cluster == cluster)

    def numbers(self, name: str = "llama") -> dict[str, int]:
        """Return how many replicas each cluster is to have."""
        return {each.cluster: each.desired or 0 for each in self.see(name).deployments}

    def write(self, *clusters: str) -> None:
        """Let the operators of these clusters, or of all, write what is desired."""
        for name in clusters or self.sites:
            self.sites[name].write()

    def settle(self, *clusters: str) -> None:
        """Let these clusters, or all, write what is desired and have it ready."""
        self.write(*clusters)
        for name in clusters or self.sites:
            self.sites[name].settle()

    def scale(self, replicas: int, **params: Any) -> str:
        """Ask for another number of llama and return the operation's id."""
        return self.world.create("workload.scale", "llama", params={"replicas": replicas, **params})

    def drain(self, cluster: str, **params: Any) -> str:
        """Ask for a cluster to be drained of llama and return the operation's id."""
        return self.world.create("workload.drain", "llama", cluster=cluster, params=params)

    def ended(self, id_: str) -> tuple[str, str]:
        """Return the phase and the message of an operation that is over."""
        found = self.world.get(id_)
        assert found.result is not None, found.progress
        return found.phase, found.result.message

    def waits(self, id_: str) -> list[str]:
        """Return the codes of what an operation that runs waits for."""
        found = self.world.get(id_)
        assert found.phase == "running"
        assert found.progress is not None
        return [each.code for each in found.progress.blockers]

    def refusal(self, type_: str, target: str = "llama", **given: Any) -> Problem:
        """Return why an operation is refused."""
        with pytest.raises(Problem) as caught:
            self.world.submit(type_, target, **given)
        return caught.value

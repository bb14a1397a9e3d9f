"""A small Dynamo operator: it makes a Deployment of each component, counts what became of it, and obeys its adapter."""

import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from hangar.domain.workloads.members import COMPONENT_LABEL, GRAPH_LABEL
from testbed import manifests
from testbed.dynamo_adapters import OPERATOR, Adapters, name_of
from testbed.dynamo_crds import COMPONENTS, GROUP, KIND, Version
from testbed.dynamo_graphs import Graphs, gpus_of, is_adapted
from testbed.kube import Kube, KubeError
from testbed.manifests import GPU, Template

Document = dict[str, Any]

TICK_S = 0.1
"""Between two looks; each count moves by one a look."""

COUNTS = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")

PODS = Template(terminate_after="0.5s")
"""What its pods are like, their GPUs and labels apart."""


class DynamoOperator:
    """One operator, in a thread of its own; a `with` statement starts and ends it.

    Args:
        kube: As whom it acts.
        version: The version of graphs that is served.
        observes_after_s: How long after a change of a graph it sees it.
        pods: What its pods are like.

    Attributes:
        fault: The reason for which it says of no graph that it is ready, such as `insufficient_capacity`; None: as it
            is. It may be set at any time.
    """

    def __init__(self, kube: Kube, version: Version, *, observes_after_s: float = 0.3, pods: Template = PODS) -> None:
        self.fault: str | None = None
        self._kube = kube.acting_as(OPERATOR)
        self._graphs = Graphs(self._kube, version)
        self._adapters = Adapters(self._kube, version)
        self._version = version
        self._observes_after_s = observes_after_s
        self._pods = pods
        self._changed_at_s: dict[tuple[str, int], float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._kube.close()

    def _run(self) -> None:
        while not self._ended.wait(TICK_S):
            with suppress(KubeError):  # somebody was faster, or took it away: the next look will see
                for graph in self._graphs.find():
                    self._reconcile(graph)

    def _reconcile(self, graph: Document) -> None:
        parts = self._graphs.parts(graph)
        unset = [name for name, part in parts.items() if "replicas" not in part]
        if unset:  # the real one's webhook does it before anybody sees them
            self._graphs.scale(graph, unset[0], 1, OPERATOR)
            return
        for name, part in parts.items():
            self._obey(graph, name, part)
        metadata, status = graph["metadata"], graph.get("status", {})
        key = metadata["uid"], metadata["generation"]
        if time.monotonic() - self._changed_at_s.setdefault(key, time.monotonic()) < self._observes_after_s:
            return
        told = status.get(COMPONENTS[self._version], {})
        counted = {name: self._counted(graph, name, part, told.get(name, {})) for name, part in parts.items()}
        late = [name for name, part in parts.items() if any(counted[name][each] != part["replicas"] for each in COUNTS)]
        fresh = {
            "observedGeneration": metadata["generation"],
            "state": "pending" if late else "successful",
            COMPONENTS[self._version]: counted,
            "conditions": [_ready(late, self.fault, status.get("conditions", []))],
        }
        if fresh != status:
            self._graphs.report(graph, fresh)

    def _obey(self, graph: Document, component: str, part: Document) -> None:
        """Make the adapter of a component once, with the number that it has; later copy the adapter's to the graph."""
        namespace, name = graph["metadata"]["namespace"], name_of(graph["metadata"]["name"], component)
        adapter = self._adapters.get(name, namespace)
        if not is_adapted(part):
            if adapter is not None:
                self._adapters.delete(name, namespace)
            return
        if adapter is None:
            adapter = self._adapters.create(graph, component, part["replicas"])
        replicas = adapter["spec"]["replicas"]
        if part["replicas"] != replicas:
            self._graphs.scale(graph, component, replicas, OPERATOR)
        told = {
            "replicas": replicas,
            "selector": f"{GRAPH_LABEL}={graph['metadata']['name']},{COMPONENT_LABEL}={component}",
        }
        if adapter.get("status") != told:
            self._adapters.report(adapter, told)

    def _counted(self, graph: Document, name: str, part: Document, told: Document) -> Document:
        """Return what is told of a component: one step further from what was told to what its Deployment says."""
        made = self._made(graph, name, part)
        nodes = part.get("multinode", {}).get("nodeCount", 1)
        status = made.get("status", {})
        is_current = status.get("observedGeneration", 0) >= made["metadata"]["generation"]
        counts = {}
        for each in COUNTS:
            before = told.get(each, 0)
            now = status.get(each, 0) // nodes if is_current else before
            counts[each] = before + max(-1, min(1, now - before))
        own = made["metadata"]["name"]
        kind: Document = {"componentKind": "Deployment", "componentNames": [own]}
        if self._version == "v1alpha1":
            kind["componentName"] = own
        return kind | counts

    def _made(self, graph: Document, name: str, part: Document) -> Document:
        """Return the Deployment of a component, with the number of pods that is wanted of it."""
        metadata = graph["metadata"]
        own, namespace = f"{metadata['name']}-{name.lower()}", metadata["namespace"]
        pods = part["replicas"] * part.get("multinode", {}).get("nodeCount", 1)
        found = self._kube.get("Deployment", own, namespace)
        if found is not None:
            if found["spec"]["replicas"] == pods:
                return found
            return self._kube.patch("Deployment", own, {"spec": {"replicas": pods}}, namespace)
        document = manifests.deployment(own, pods, self._template(graph, name, part), namespace=namespace)
        document["metadata"]["ownerReferences"] = [
            {
                "apiVersion": f"{GROUP}/{self._version}",
                "kind": KIND,
                "name": metadata["name"],
                "uid": metadata["uid"],
                "controller": True,
            }
        ]
        (created,) = self._kube.create(document)
        return created

    def _template(self, graph: Document, name: str, part: Document) -> Template:
        labels = {
            GRAPH_LABEL: graph["metadata"]["name"],
            COMPONENT_LABEL: name,
            "nvidia.com/dynamo-component-type": part.get("type", part.get("componentType", "")),
            **self._pods.labels,
        }
        gpus = gpus_of(part, self._version)
        requests = {**self._pods.requests, **({GPU: str(gpus)} if gpus else {})}
        return Template(
            requests=requests,
            ready_after=self._pods.ready_after,
            terminate_after=self._pods.terminate_after,
            grace_s=self._pods.grace_s,
            labels=labels,
            node_selector=self._pods.node_selector,
        )


def _ready(late: list[str], fault: str | None, before: list[Document]) -> Document:
    """Return the condition Ready; its time is that of its last change."""
    condition = {
        "type": "Ready",
        "status": "False" if late or fault else "True",
        "reason": fault or ("pods_not_ready" if late else "all_resources_are_ready"),
        "message": f"not as many as wanted: {', '.join(late)}" if late else "as many as wanted of all",
    }
    for each in before:
        if each.items() >= condition.items():
            return each
    return condition | {"lastTransitionTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}

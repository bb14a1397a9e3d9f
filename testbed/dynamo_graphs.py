"""Graphs as objects of a bed: one description for both versions, and how to read and change them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from testbed.dynamo_crds import COMPONENTS, GROUP, KIND, PLURAL, Version
from testbed.kube import Kube, KubeError
from testbed.manifests import GPU, IMAGE

Document = dict[str, Any]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"


@dataclass(frozen=True, slots=True)
class Part:
    """One component. `role` is its type, `replicas` None leaves the number out; `has_adapter` asks for an adapter."""

    role: str = "worker"
    replicas: int | None = 1
    gpus: int = 0
    node_count: int = 1
    has_adapter: bool = False


class Graphs:
    """The graphs of a bed, in the version that it serves."""

    def __init__(self, kube: Kube, version: Version) -> None:
        self._kube = kube
        self.version = version

    def create(
        self, name: str, parts: Mapping[str, Part], namespace: str = "default", *, is_dry: bool = False, **metadata: Any
    ) -> Document:
        """Create a graph and return it as the server stored it; or ask only whether that would be let in."""
        document = graph_document(self.version, name, parts, namespace, **metadata)
        return self._kube.call("POST", self.path(namespace) + ("?dryRun=All" if is_dry else ""), document)

    def find(self) -> list[Document]:
        """Return all graphs."""
        items: list[Document] = self._kube.call("GET", f"/apis/{GROUP}/{self.version}/{PLURAL}")["items"]
        return items

    def get(self, name: str, namespace: str = "default") -> Document | None:
        """Return one graph, None where there is none."""
        return self._kube.read(self.path(namespace, name))

    def scale(
        self, graph: Document, component: str, replicas: int, manager: str = "kim", *, is_dry: bool = False
    ) -> Document:
        """Change the number of one component, as somebody else does; or ask only whether that would be let in."""
        path = self.path(graph["metadata"]["namespace"], graph["metadata"]["name"]) + f"?fieldManager={manager}"
        path += "&dryRun=All" if is_dry else ""
        if self.version == "v1alpha1":
            patch = {"spec": {"services": {component: {"replicas": replicas}}}}
            return self._kube.call("PATCH", path, patch, MERGE_PATCH)
        place = [each["name"] for each in graph["spec"]["components"]].index(component)
        patches: Any = [
            {"op": "test", "path": f"/spec/components/{place}/name", "value": component},
            {"op": "add", "path": f"/spec/components/{place}/replicas", "value": replicas},
        ]
        return self._kube.call("PATCH", path, patches, JSON_PATCH)

    def dry_run(self, graph: Document) -> KubeError | None:
        """Ask for a change of a graph that never takes effect, and return how it was refused."""
        path = self.path(graph["metadata"]["namespace"], graph["metadata"]["name"])
        try:
            self._kube.call("PATCH", f"{path}?dryRun=All", {"metadata": {"labels": {"probe": "dry"}}}, MERGE_PATCH)
        except KubeError as error:
            return error
        return None

    def annotate(self, name: str, annotations: Mapping[str, str | None], namespace: str = "default") -> None:
        """Set annotations of a graph; None removes one."""
        self._kube.call("PATCH", self.path(namespace, name), {"metadata": {"annotations": annotations}}, MERGE_PATCH)

    def report(self, graph: Document, status: Document) -> None:
        """Write a graph's status, as its operator does."""
        path = self.path(graph["metadata"]["namespace"], graph["metadata"]["name"])
        self._kube.call("PATCH", f"{path}/status?fieldManager=dynamo-operator", {"status": status}, MERGE_PATCH)

    def delete(self, name: str, namespace: str = "default") -> None:
        """Delete a graph; what it owns goes after it."""
        self._kube.call("DELETE", self.path(namespace, name))

    def parts(self, graph: Document) -> dict[str, Document]:
        """Return the components of a graph by their names, as they are written."""
        found = graph["spec"].get(COMPONENTS[self.version], {})
        return {each["name"]: each for each in found} if self.version == "v1beta1" else dict(found)

    def path(self, namespace: str, name: str | None = None) -> str:
        """Return where graphs of a namespace are, or one of them."""
        whole = f"/apis/{GROUP}/{self.version}/namespaces/{namespace}/{PLURAL}"
        return whole if name is None else f"{whole}/{name}"


def graph_document(
    version: Version, name: str, parts: Mapping[str, Part], namespace: str = "default", **metadata: Any
) -> Document:
    """Return a graph as it is sent to be created."""
    components = {each: _component(version, part) for each, part in parts.items()}
    spec: Document = {"backendFramework": "vllm"}
    if version == "v1beta1":
        spec["components"] = [{"name": each, **component} for each, component in components.items()]
    else:
        spec["services"] = components
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": KIND,
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": spec,
    }


def _component(version: Version, part: Part) -> Document:
    component: Document = {} if part.replicas is None else {"replicas": part.replicas}
    if part.node_count > 1:
        component["multinode"] = {"nodeCount": part.node_count}
    if part.has_adapter:
        component["scalingAdapter"] = {} if version == "v1beta1" else {"enabled": True}
    if version == "v1beta1":
        container: Document = {"name": "main", "image": f"{IMAGE}:1.5.0"}
        if part.gpus:
            container["resources"] = {"limits": {GPU: str(part.gpus)}}
        return {"type": part.role, **component, "podTemplate": {"spec": {"containers": [container]}}}
    if part.gpus:
        component["resources"] = {"limits": {"gpu": str(part.gpus)}}
    is_finer = part.role in ("prefill", "decode")
    types = {"componentType": "worker", "subComponentType": part.role} if is_finer else {"componentType": part.role}
    return {**types, **component, "extraPodSpec": {"mainContainer": {"image": f"{IMAGE}:1.0.1"}}}


def is_adapted(component: Document) -> bool:
    """Tell whether a component asks for a scaling adapter: in the older version it says so, or not."""
    adapter = component.get("scalingAdapter")
    return adapter is not None and adapter.get("enabled", True)


def gpus_of(component: Document, version: Version) -> int:
    """Return how many GPUs a pod of a component asks for, as it was created here."""
    if version == "v1alpha1":
        return int(component.get("resources", {}).get("limits", {}).get("gpu", 0))
    (container,) = component["podTemplate"]["spec"]["containers"]
    return int(container.get("resources", {}).get("limits", {}).get(GPU, 0))

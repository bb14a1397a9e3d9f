"""Scaling adapters as objects of a bed, in either version: made as Dynamo's operator makes them."""

from collections.abc import Mapping
from typing import Any

from testbed.dynamo_crds import ADAPTER_KIND, ADAPTERS_PLURAL, GROUP, KIND, Version
from testbed.kube import Kube, KubeError

Document = dict[str, Any]

MERGE_PATCH = "application/merge-patch+json"
OPERATOR = "dynamo-operator"

NAMING: Mapping[Version, str] = {"v1beta1": "componentName", "v1alpha1": "serviceName"}
"""What the component is called that an adapter is of."""


def name_of(graph: str, component: str) -> str:
    """Return the name of the adapter that a component has."""
    return f"{graph}-{component.lower()}"


class Adapters:
    """The adapters of a bed, in the version that it serves."""

    def __init__(self, kube: Kube, version: Version) -> None:
        self._kube = kube
        self.version = version

    def create(self, graph: Document, component: str, replicas: int) -> Document:
        """Create the adapter of a component, owned by its graph."""
        metadata = graph["metadata"]
        owner = {
            "apiVersion": f"{GROUP}/{self.version}",
            "kind": KIND,
            "name": metadata["name"],
            "uid": metadata["uid"],
            "controller": True,
        }
        document = {
            "apiVersion": f"{GROUP}/{self.version}",
            "kind": ADAPTER_KIND,
            "metadata": {
                "name": name_of(metadata["name"], component),
                "namespace": metadata["namespace"],
                "ownerReferences": [owner],
            },
            "spec": {"dgdRef": {"name": metadata["name"], NAMING[self.version]: component}, "replicas": replicas},
        }
        return self._kube.call("POST", f"{self.path(metadata['namespace'])}?fieldManager={OPERATOR}", document)

    def get(self, name: str, namespace: str = "default") -> Document | None:
        """Return one adapter, None where there is none."""
        return self._kube.read(self.path(namespace, name))

    def scale(self, name: str, replicas: int, manager: str, namespace: str = "default") -> None:
        """Ask for another number, as people and autoscalers do."""
        path = f"{self.path(namespace, name)}/scale?fieldManager={manager}"
        self._kube.call("PATCH", path, {"spec": {"replicas": replicas}}, MERGE_PATCH)

    def report(self, adapter: Document, status: Document) -> None:
        """Write an adapter's status, as its operator does."""
        path = self.path(adapter["metadata"]["namespace"], adapter["metadata"]["name"])
        self._kube.call("PATCH", f"{path}/status?fieldManager={OPERATOR}", {"status": status}, MERGE_PATCH)

    def delete(self, name: str, namespace: str = "default") -> None:
        """Delete an adapter; one that is not there is deleted already."""
        try:
            self._kube.call("DELETE", self.path(namespace, name))
        except KubeError as error:
            if error.code != 404:
                raise

    def path(self, namespace: str, name: str | None = None) -> str:
        """Return where adapters of a namespace are, or one of them."""
        whole = f"/apis/{GROUP}/{self.version}/namespaces/{namespace}/{ADAPTERS_PLURAL}"
        return whole if name is None else f"{whole}/{name}"


def autoscaler(name: str, adapter: str, version: Version, namespace: str = "default") -> Document:
    """Return a HorizontalPodAutoscaler of an adapter. The bed runs no controller of them: see `rivals`."""
    target = {"apiVersion": f"{GROUP}/{version}", "kind": ADAPTER_KIND, "name": adapter}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"scaleTargetRef": target, "maxReplicas": 8},
    }

"""A corner of a bed for one scene: a namespace and nodes of its own, so that scenes beside each other never meet."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from testbed import manifests
from testbed.audit import Entry
from testbed.bed import Bed
from testbed.hub import HubClient
from testbed.kube import Kube, until
from testbed.manifests import GPU, Template

Document = dict[str, Any]

GROUND = "wingsmith.test/ground"
"""Label of the nodes of a ground, and the selector of its pods."""

MERGE_PATCH = "application/merge-patch+json"

QUICK = Template(ready_after="1s", terminate_after="1s")
"""Pods that take a moment to start and to end."""

GPU_EACH = Template(requests={"cpu": "1", "memory": "1Gi", GPU: "1"})
"""Pods of which a node carries as many as it has GPUs."""


class Ground:
    """One corner. `name` is the namespace, and the beginning of its nodes' names."""

    def __init__(self, bed: Bed, hub: HubClient, name: str) -> None:
        self.bed = bed
        self.kube = bed.kube
        self.hub = hub
        self.name = name
        self._nodes: list[str] = []
        self.kube.create(manifests.namespace(name))

    # --- arranging ----------------------------------------------------------------------------------------------------

    def add_node(self, *, gpus: int = 8) -> str:
        """Add a node, wait until the hub shows it ready, and return its name."""
        name = f"{self.name}-n{len(self._nodes) + 1}"
        self._nodes.append(name)
        self.kube.create(manifests.node(name, gpus=gpus, labels={GROUND: self.name}))

        def is_open() -> bool:
            node, shown = self.kube.get("Node", name), self.hub.node(name)
            return node is not None and not node["spec"].get("taints") and shown is not None and bool(shown["ready"])

        until(f"node {name} takes pods, and the hub knows it", is_open)
        return name

    def deploy(self, name: str, replicas: int, template: Template = QUICK) -> list[Document]:
        """Add a Deployment, wait until its pods are ready, and return them by name."""
        return self._serve(manifests.deployment, name, replicas, template)

    def deploy_stateful(self, name: str, replicas: int, template: Template = QUICK) -> list[Document]:
        """Add a StatefulSet, wait until its pods are ready, and return them by name."""
        return self._serve(manifests.statefulset, name, replicas, template)

    def deploy_daemon(self, name: str, nodes: int, template: Template = QUICK) -> list[Document]:
        """Add a DaemonSet, wait until it is ready on all of the ground's nodes, and return its pods."""
        self.kube.create(manifests.daemonset(name, self.here(template), namespace=self.name))
        return self.wait_ready(name, nodes)

    def add_bare_pod(self, name: str, node: str, template: Template = QUICK) -> Document:
        """Add a pod without a controller on a node, wait until it is ready, and return it."""
        self.kube.create(manifests.pod(name, self.here(template), namespace=self.name, on=node))
        (pod,) = self.wait_ready(name, 1)
        return pod

    def guard(self, app: str, **bounds: int | str) -> None:
        """Add a budget over the pods of an app, and wait until its controller has counted them."""
        self.kube.create(manifests.budget(app, namespace=self.name, **bounds))  # type: ignore[arg-type]
        until(f"the budget of {app} has counted its pods", lambda: self._budget_status(app) != {})
        self.wait_counted(app)

    def wait_counted(self, app: str) -> None:
        """Wait until the budget over an app, if there is one, shows all of its pods healthy and none disrupted."""

        def has_settled() -> bool:
            status = self._budget_status(app)
            return status.get("currentHealthy") == status.get("expectedPods") and not status.get("disruptedPods")

        until(f"the budget of {app} has settled", has_settled)

    def _budget_status(self, app: str) -> Document:
        found = self.kube.get("PodDisruptionBudget", app, self.name) or {}
        status: Document = found.get("status", {})
        return status if status.get("expectedPods") else {}

    def set_unschedulable(self, node: str, *, on: bool, manager: str) -> None:
        """Cordon or uncordon a node as somebody else does."""
        patch = {"spec": {"unschedulable": True if on else None}}
        self.kube.call("PATCH", f"/api/v1/nodes/{node}?fieldManager={manager}", patch, MERGE_PATCH)

    def here(self, template: Template) -> Template:
        """Return a template whose pods stay on this ground."""
        return replace(template, node_selector={GROUND: self.name})

    def _serve(self, manifest: Callable[..., Document], name: str, replicas: int, template: Template) -> list[Document]:
        self.kube.create(manifest(name, replicas, self.here(template), namespace=self.name))
        return self.wait_ready(name, replicas)

    # --- seeing -------------------------------------------------------------------------------------------------------

    def wait_ready(self, app: str, count: int) -> list[Document]:
        """Wait until exactly `count` pods of an app are ready, and return them by name."""
        return self.kube.wait_ready(app, count, self.name)

    def ready_pods(self, app: str) -> list[Document]:
        """Return the pods of an app that are ready now."""
        pods = self.kube.find("Pod", selector=f"app={app}", namespace=self.name)
        return [pod for pod in pods if self.kube.is_ready(pod)]

    def node(self, name: str) -> Document:
        """Return a node that is there."""
        found = self.kube.get("Node", name)
        assert found is not None, f"there is no node {name}"
        return found

    def evictions(self) -> list[Entry]:
        """Return all evictions of this ground's pods that anybody asked for so far, dry runs apart."""
        found = self.bed.audit.evictions()
        return [each for each in found if each.namespace == self.name and "dryRun=" not in each.uri]

    def remove(self) -> None:
        """Take everything away; the empty namespace goes by itself."""
        empty(self.kube, self.name)
        for name in self._nodes:
            self.kube.delete("Node", name)
        self.kube.delete("Namespace", self.name)


WORKLOADS = (
    "/apis/apps/v1/namespaces/{}/deployments",
    "/apis/apps/v1/namespaces/{}/statefulsets",
    "/apis/apps/v1/namespaces/{}/daemonsets",
    "/apis/apps/v1/namespaces/{}/replicasets",
    "/apis/batch/v1/namespaces/{}/jobs",
    "/apis/policy/v1/namespaces/{}/poddisruptionbudgets",
    "/api/v1/namespaces/{}/resourcequotas",
    "/api/v1/namespaces/{}/persistentvolumeclaims",
)


def empty(kube: Kube, namespace: str) -> None:
    """Remove all workloads, pods, budgets, quotas and claims of a namespace, and wait until they are gone."""
    for path in WORKLOADS:
        kube.call("DELETE", path.format(namespace), {"propagationPolicy": "Background"})

    def is_empty() -> bool:
        # Controllers may have made pods until they saw that they are gone themselves.
        kube.call("DELETE", f"/api/v1/namespaces/{namespace}/pods", {"gracePeriodSeconds": 0})
        kinds = ("Pod", "ReplicaSet", "PodDisruptionBudget", "ResourceQuota", "PersistentVolumeClaim")
        return not any(kube.find(kind, namespace=namespace) for kind in kinds)

    until(f"namespace {namespace} is empty", is_empty)

"""Ready-made objects for tests: nodes with GPUs, workloads whose pods take their time, budgets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from testbed.kwok import KUBELET, READY_AFTER, RUN_FOR, TERMINATE_AFTER

Document = dict[str, Any]

IMAGE = "registry.invalid/inference"
GPU = "nvidia.com/gpu"
NO_TEXT: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Template:
    """What the pods of a workload are like; times such as `2s`, None means at once (start) or their grace (end)."""

    requests: Mapping[str, str] = field(default_factory=lambda: {"cpu": "1", "memory": "1Gi"})
    ready_after: str | None = None
    terminate_after: str | None = None
    run_for: str | None = None
    grace_s: int = 30
    labels: Mapping[str, str] = field(default_factory=lambda: NO_TEXT)
    node_selector: Mapping[str, str] = field(default_factory=lambda: NO_TEXT)
    tolerations: tuple[Mapping[str, str], ...] = ()
    ports: tuple[Mapping[str, Any], ...] = ()
    spec: Mapping[str, Any] = field(default_factory=dict)  # merged over what is made of the rest

    def annotations(self) -> dict[str, str]:
        """Return the annotations that kwok's stages read."""
        times = {READY_AFTER: self.ready_after, TERMINATE_AFTER: self.terminate_after, RUN_FOR: self.run_for}
        return {name: value for name, value in times.items() if value is not None}

    def pod_spec(self) -> Document:
        """Return the spec of a pod."""
        container: Document = {"name": "main", "image": IMAGE, "resources": resources(self.requests)}
        if self.ports:
            container["ports"] = [dict(each) for each in self.ports]
        return {
            "containers": [container],
            "terminationGracePeriodSeconds": self.grace_s,
            "nodeSelector": dict(self.node_selector),
            "tolerations": [dict(each) for each in self.tolerations],
            **self.spec,
        }


PLAIN = Template()


def resources(requests: Mapping[str, str]) -> Document:
    """Return a container's resources; extended ones such as GPUs must be limits too."""
    extended = {name: amount for name, amount in requests.items() if "/" in name}
    return {"requests": dict(requests), "limits": extended}


def node(
    name: str,
    *,
    cpu: str = "192",
    memory: str = "2Ti",
    pods: str = "110",
    gpus: int = 8,
    labels: Mapping[str, str] = NO_TEXT,
    taints: tuple[Mapping[str, str], ...] = (),
) -> Document:
    """Return a node with a live kubelet."""
    amounts = {"cpu": cpu, "memory": memory, "pods": pods, GPU: str(gpus)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {KUBELET: "up", "kubernetes.io/hostname": name, **labels}},
        "spec": {"taints": [dict(each) for each in taints]},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def namespace(name: str) -> Document:
    """Return a namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def pod(name: str, template: Template = PLAIN, *, namespace: str = "default", on: str | None = None) -> Document:
    """Return a pod without a controller; `on` places it on a node past the scheduler."""
    spec = template.pod_spec() | ({"nodeName": on} if on is not None else {})
    metadata = _metadata(name, namespace) | {"labels": {"app": name, **template.labels}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata | {"annotations": template.annotations()},
        "spec": spec,
    }


def deployment(
    name: str,
    replicas: int,
    template: Template = PLAIN,
    *,
    namespace: str = "default",
    strategy: Document | None = None,
) -> Document:
    """Return a Deployment whose pods carry the label app=`name`."""
    spec = {"replicas": replicas, **_selected(name, template)}
    if strategy is not None:
        spec["strategy"] = strategy
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _metadata(name, namespace), "spec": spec}


def replicaset(name: str, replicas: int, template: Template = PLAIN, *, namespace: str = "default") -> Document:
    """Return a ReplicaSet without a Deployment."""
    spec = {"replicas": replicas, **_selected(name, template)}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": _metadata(name, namespace), "spec": spec}


def statefulset(name: str, replicas: int, template: Template = PLAIN, *, namespace: str = "default") -> Document:
    """Return a StatefulSet that starts its pods all at once."""
    spec = {"replicas": replicas, "serviceName": name, "podManagementPolicy": "Parallel", **_selected(name, template)}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": _metadata(name, namespace), "spec": spec}


def daemonset(name: str, template: Template = PLAIN, *, namespace: str = "default") -> Document:
    """Return a DaemonSet."""
    spec = _selected(name, template)
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": _metadata(name, namespace), "spec": spec}


def job(
    name: str, completions: int, parallelism: int, template: Template = PLAIN, *, namespace: str = "default"
) -> Document:
    """Return a Job; its pods run for ever unless the template says how long."""
    pods = _pods(name, template)
    pods["spec"]["restartPolicy"] = "Never"
    spec = {"completions": completions, "parallelism": parallelism, "template": pods}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": _metadata(name, namespace), "spec": spec}


def budget(
    name: str,
    *,
    app: str | None = None,
    selector: Document | None = None,
    min_available: int | str | None = None,
    max_unavailable: int | str | None = None,
    always_allow_unready: bool = False,
    namespace: str = "default",
) -> Document:
    """Return a PodDisruptionBudget over the pods of `app`, or over a selector (an empty one guards the namespace)."""
    spec: Document = {"selector": selector if selector is not None else {"matchLabels": {"app": app or name}}}
    if min_available is not None:
        spec["minAvailable"] = min_available
    if max_unavailable is not None:
        spec["maxUnavailable"] = max_unavailable
    if always_allow_unready:
        spec["unhealthyPodEvictionPolicy"] = "AlwaysAllow"
    kind = "PodDisruptionBudget"
    return {"apiVersion": "policy/v1", "kind": kind, "metadata": _metadata(name, namespace), "spec": spec}


def quota(name: str, hard: Mapping[str, str], *, namespace: str = "default") -> Document:
    """Return a ResourceQuota."""
    metadata = _metadata(name, namespace)
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": dict(hard)}}


def volume(name: str, node_affinity: Document | None = None) -> Document:
    """Return a PersistentVolume that nothing is behind; `node_affinity` is the required one."""
    spec: Document = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "hostPath": {"path": f"/nowhere/{name}"},
    }
    if node_affinity is not None:
        spec["nodeAffinity"] = {"required": node_affinity}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def claim(name: str, volume: str, *, namespace: str = "default", mode: str = "ReadWriteOnce") -> Document:
    """Return a PersistentVolumeClaim for one volume."""
    spec = {
        "accessModes": [mode],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "",
        "volumeName": volume,
    }
    metadata = _metadata(name, namespace)
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def _metadata(name: str, namespace: str) -> Document:
    return {"name": name, "namespace": namespace}


def _selected(name: str, template: Template) -> Document:
    return {"selector": {"matchLabels": {"app": name}}, "template": _pods(name, template)}


def _pods(name: str, template: Template) -> Document:
    metadata = {"labels": {"app": name, **template.labels}, "annotations": template.annotations()}
    return {"metadata": metadata, "spec": template.pod_spec()}

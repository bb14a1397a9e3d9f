"""The kinds of objects that we mirror: where they are, what of them is read, and what they become."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from hangar.domain.devices import DeviceClaim, DeviceSlice
from hangar.domain.placing import Quota, Volume, VolumeClaim
from hangar.domain.snapshot import Budget, Node, Owner, Pod
from hangar.domain.workloads.joining import Autoscaler, PartAdapter
from hangar.operator.cluster.kubernetes import (
    dynamo_v1alpha1,
    dynamo_v1beta1,
    resources,
    resources_dra,
    resources_pod,
    translate,
    translate_adapter,
    translate_dra,
    translate_fit,
    translate_pod,
    translate_rivals,
)
from hangar.operator.cluster.kubernetes.mirror import Entry
from hangar.operator.cluster.kubernetes.resources import Object
from hangar.operator.cluster.kubernetes.translate_adapter import ADAPTERS_PLURAL
from hangar.operator.cluster.kubernetes.translate_graph import GROUP, PLURAL, SeenGraph

T = TypeVar("T", bound=Object)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Watched(Generic[V]):
    """One kind. `plural` is its name in paths and to people, `read` decodes and translates one object.

    `read` raises ValueError or msgspec.DecodeError for what it cannot understand.
    """

    group: str
    version: str
    plural: str
    read: Callable[[bytes | msgspec.Raw], Entry[V]]

    @property
    def api_version(self) -> str:
        """The group and the version, as objects name them; only of kinds that are in a group."""
        return f"{self.group}/{self.version}"

    @property
    def path(self) -> str:
        """Where all objects of the kind are, in all namespaces."""
        prefix = f"/apis/{self.group}" if self.group else "/api"
        return f"{prefix}/{self.version}/{self.plural}"


def _watched(group: str, plural: str, struct: type[T], translated: Callable[[T], V], version: str = "v1") -> Watched[V]:
    decoder = msgspec.json.Decoder(struct)

    def read(raw: bytes | msgspec.Raw) -> Entry[V]:
        seen = decoder.decode(raw)
        return Entry(seen.metadata.uid, int(seen.metadata.resource_version), translated(seen))

    return Watched(group, version, plural, read)


NODES: Watched[Node] = _watched("", "nodes", resources.Node, translate.node)
PODS: Watched[Pod] = _watched("", "pods", resources_pod.Pod, translate_pod.pod)
BUDGETS: Watched[Budget] = _watched("policy", "poddisruptionbudgets", resources.PodDisruptionBudget, translate.budget)
OWNERS: tuple[Watched[Owner], ...] = (
    _watched("apps", "deployments", resources.Replicas, translate.deployment),
    _watched("apps", "replicasets", resources.Replicas, translate.replica_set),
    _watched("apps", "statefulsets", resources.Replicas, translate.stateful_set),
    _watched("apps", "daemonsets", resources.DaemonSet, translate.daemon_set),
    _watched("batch", "jobs", resources.Job, translate.job),
)

# What only the fit reads: without it a drain is judged less exactly, and nothing waits for it.
CLAIMS: Watched[VolumeClaim] = _watched(
    "", "persistentvolumeclaims", resources.PersistentVolumeClaim, translate_fit.claim
)
VOLUMES: Watched[Volume] = _watched("", "persistentvolumes", resources.PersistentVolume, translate_fit.volume)
QUOTAS: Watched[Quota | None] = _watched("", "resourcequotas", resources.ResourceQuota, translate_fit.quota)

# Devices that drivers publish themselves: for listings of devices alone.
DEVICE_SLICES: Watched[DeviceSlice] = _watched(
    "resource.k8s.io", "resourceslices", resources_dra.ResourceSlice, translate_dra.device_slice
)
DEVICE_CLAIMS: Watched[DeviceClaim] = _watched(
    "resource.k8s.io", "resourceclaims", resources_dra.ResourceClaim, translate_dra.device_claim
)

# The newest first: where a cluster serves both, it is the one that Dynamo's own programs use.
GRAPHS: tuple[Watched[SeenGraph], ...] = (
    _watched(GROUP, PLURAL, dynamo_v1beta1.GraphObject, dynamo_v1beta1.graph, dynamo_v1beta1.VERSION),
    _watched(GROUP, PLURAL, dynamo_v1alpha1.GraphObject, dynamo_v1alpha1.graph, dynamo_v1alpha1.VERSION),
)
ADAPTERS: tuple[Watched[PartAdapter], ...] = tuple(
    _watched(GROUP, ADAPTERS_PLURAL, translate_adapter.AdapterObject, translate_adapter.adapter, each.version)
    for each in GRAPHS
)

# What scales adapters by itself: without it a graph is shown without those rivals, and nothing waits for it.
AUTOSCALERS: Watched[Autoscaler] = _watched(
    "autoscaling",
    "horizontalpodautoscalers",
    translate_rivals.HorizontalPodAutoscaler,
    translate_rivals.horizontal_pod_autoscaler,
    "v2",
)
SCALED_OBJECTS: Watched[Autoscaler] = _watched(
    "keda.sh", "scaledobjects", translate_rivals.ScaledObject, translate_rivals.scaled_object, "v1alpha1"
)

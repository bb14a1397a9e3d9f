"""What both API versions of a DynamoGraphDeployment have in common, and the graph that either becomes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from hangar.domain.decision import Apply
from hangar.domain.devices import GPU, PARTS_OF_GPUS
from hangar.domain.workloads.graph import Component, Counts, Document, Graph, GraphRef
from hangar.operator.cluster.kubernetes import translate_gitops
from hangar.operator.cluster.kubernetes.quantities import amount
from hangar.operator.cluster.kubernetes.resources import Condition, Owned
from hangar.operator.cluster.kubernetes.translate import FIELD_MANAGER
from hangar.operator.cluster.kubernetes.translate_gitops import Labels

T = TypeVar("T")

GROUP = "nvidia.com"
KIND = "DynamoGraphDeployment"
PLURAL = "dynamographdeployments"

APPLIED_REV_ANNOTATION = "wingsmith.dev/applied-rev"
WORKLOAD_ANNOTATION = "wingsmith.dev/workload"
"""On graphs that we have created, with the name of the workload that they were created for."""

PAUSED_ANNOTATION = "nvidia.com/paused"

Json = dict[str, object] | list[dict[str, object]]
"""The body of a patch: a merge patch, or a JSON patch."""

Quantities = dict[str, str | int | float]


class Annotations(msgspec.Struct, frozen=True, rename="camel"):
    """The annotations of a graph that we read: our own, and others' by which they say what they do with it."""

    applied_rev: str | None = msgspec.field(default=None, name=APPLIED_REV_ANNOTATION)
    workload: str | None = msgspec.field(default=None, name=WORKLOAD_ANNOTATION)
    paused: str | None = msgspec.field(default=None, name=PAUSED_ANNOTATION)
    argo_tracking: str = msgspec.field(default="", name=translate_gitops.ARGO_TRACKING)
    flux_reconcile: str = msgspec.field(default="", name=translate_gitops.FLUX_RECONCILE)


class OwnedComponent(msgspec.Struct, frozen=True, rename="camel"):
    """Of the fields of a component that a manager owns, its number."""

    replicas: Owned | None = msgspec.field(default=None, name="f:replicas")


class OwnedSpec(msgspec.Struct, frozen=True, rename="camel"):
    """The components of which a manager owns something: a list by keys, or a map, by the version it wrote in."""

    components: dict[str, OwnedComponent] = msgspec.field(default_factory=dict, name="f:components")
    services: dict[str, OwnedComponent] = msgspec.field(default_factory=dict, name="f:services")


class OwnedFields(msgspec.Struct, frozen=True, rename="camel"):
    """Of the fields that a manager owns, those of the spec."""

    spec: OwnedSpec | None = msgspec.field(default=None, name="f:spec")


class ManagedFields(msgspec.Struct, frozen=True, rename="camel"):
    """What one field manager owns."""

    manager: str = ""
    fields: OwnedFields | None = msgspec.field(default=None, name="fieldsV1")


class GraphMeta(msgspec.Struct, frozen=True, rename="camel"):
    """A graph's metadata."""

    name: str
    uid: str
    resource_version: str
    namespace: str = ""
    generation: int = 0
    annotations: Annotations | None = None
    labels: Labels = Labels()
    deletion_timestamp: str | None = None
    managed_fields: tuple[ManagedFields, ...] = ()


class Multinode(msgspec.Struct, frozen=True, rename="camel"):
    """How many nodes, that is pods, one replica has."""

    node_count: int = 2


class Claim(msgspec.Struct, frozen=True):
    """That something is asked for by a claim; what it asks for is the claim's to say."""


class ContainerResources(msgspec.Struct, frozen=True, rename="camel"):
    """What a container may use."""

    limits: Quantities | None = None
    claims: tuple[Claim, ...] | None = None


class Counted(msgspec.Struct, frozen=True, rename="camel"):
    """What the graph's operator counts of one component; which of the last two it tells depends on what it made."""

    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int | None = None
    available_replicas: int | None = None


class RollingUpdate(msgspec.Struct, frozen=True, rename="camel"):
    """How far a rolling update is."""

    phase: str = ""


class GraphStatus(msgspec.Struct, frozen=True, rename="camel"):
    """A graph's status; the components' counts have another name in each version."""

    observed_generation: int = 0
    state: str = ""
    conditions: tuple[Condition, ...] | None = None
    components: dict[str, Counted] | None = None
    services: dict[str, Counted] | None = None
    rolling_update: RollingUpdate | None = None


@dataclass(frozen=True, slots=True)
class SeenGraph:
    """A graph, and what only writes of it have to know: whether it has annotations at all, and is being deleted."""

    graph: Graph
    has_annotations: bool
    is_terminating: bool = False


def seen_graph(
    meta: GraphMeta, api_version: str, components: Iterable[Component], status: GraphStatus | None
) -> SeenGraph:
    """Return the graph that an object of either version is; `components` in the order of the object's own."""
    annotations = meta.annotations or Annotations()
    status = status or GraphStatus()
    ref = GraphRef(meta.namespace, meta.name)
    identity = f"{GROUP}/{KIND}:{ref}"
    graph = Graph(
        ref=ref,
        uid=meta.uid,
        version=meta.resource_version,
        api_version=f"{GROUP}/{api_version}",
        components=tuple(components),
        applied_rev=_rev(annotations.applied_rev),
        is_observed=status.observed_generation >= meta.generation,
        rollout=status.rolling_update.phase if status.rolling_update is not None else "",
        unready=_unready(status),
        is_paused=annotations.paused not in (None, "false"),
        is_ours=annotations.workload is not None,
        rivals=translate_gitops.rivals(identity, meta.labels, annotations.argo_tracking, annotations.flux_reconcile),
    )
    return SeenGraph(graph, meta.annotations is not None, meta.deletion_timestamp is not None)


def counts(counted: Counted | None) -> Counts | None:
    """Return how far a component is, None where its operator has not counted it yet."""
    if counted is None:
        return None
    ready = counted.available_replicas if counted.available_replicas is not None else counted.ready_replicas
    return Counts(counted.replicas, counted.updated_replicas, ready or 0)


def gpus(limits: Quantities | None, *, has_claims: bool) -> int | None:
    """Return how many GPUs a container may use, None where that cannot be counted."""
    if has_claims:
        return None
    for name, quantity in (limits or {}).items():
        if name == GPU:
            try:
                return amount(name, str(quantity))
            except ValueError:
                return None
    return None if any(name.startswith(PARTS_OF_GPUS) for name in limits or {}) else 0


def writers(managed: Iterable[ManagedFields]) -> dict[str, str]:
    """Return who owns the number of each component; where it is ours and another's, the other, who wants it too."""
    found: dict[str, str] = {}
    for each in managed:
        spec = each.fields.spec if each.fields is not None else None
        if spec is None:
            continue
        named = [
            *((_key(key), part) for key, part in spec.components.items()),
            *((key.removeprefix("f:"), part) for key, part in spec.services.items()),
        ]
        for name, part in named:
            if name and part.replicas is not None and found.get(name, FIELD_MANAGER) == FIELD_MANAGER:
                found[name] = each.manager
    return found


def path(version: str, ref: GraphRef) -> str:
    """Return where one graph is, in one version."""
    return f"/apis/{GROUP}/{version}/namespaces/{ref.namespace}/{PLURAL}/{ref.name}"


def why_not(graph: Graph, step: Apply) -> str | None:
    """Return why counts cannot be written to a graph whatever its version, None where they can."""
    for name, count in step.counts.items():
        component = graph.component(name)
        if component is None:
            return f"graph {graph.ref} has no component {name}"
        if component.has_adapter and component.replicas != count:
            return f"the number of {name} of graph {graph.ref} is its scaling adapter's, which would put it back"
    return None


def given(name: str, value: object, expected: type[T]) -> T:
    """Return a field of a template. Raises ValueError where it is something else than it should be."""
    try:
        return msgspec.convert(value, expected)
    except msgspec.ValidationError as error:
        raise ValueError(f"{name}: {error}") from error


def counted(component: Document, count: int | None) -> Document:
    """Return a template's component with a count; None leaves it as it is."""
    return component if count is None else {**component, "replicas": count}


class _Key(msgspec.Struct):
    """The key of a list's item among managed fields."""

    name: str = ""


def _key(key: str) -> str:
    """Return the name in `k:{"name":"decode"}`; empty for what is no key."""
    try:
        return msgspec.json.decode(key.removeprefix("k:"), type=_Key).name
    except msgspec.DecodeError:
        return ""


def _rev(annotation: str | None) -> int | None:
    return int(annotation) if annotation is not None and annotation.isdecimal() else None


def _unready(status: GraphStatus) -> str | None:
    for each in status.conditions or ():
        if each.type == "Ready":
            if each.status == "True":
                return None
            return ": ".join(part for part in (each.reason, each.message) if part) or "not ready"
    return status.state or "not reported yet"

"""A DynamoGraphDeployment as Dynamo 1.0 and 1.1 serve it: `spec.services`, a map."""

from collections.abc import Iterator, Mapping

import msgspec

from hangar.domain.decision import Apply
from hangar.domain.devices import GPU
from hangar.domain.workloads.graph import Component, Document, role_of
from hangar.operator.cluster.kubernetes import translate_graph
from hangar.operator.cluster.kubernetes.translate_graph import (
    APPLIED_REV_ANNOTATION,
    Claim,
    ContainerResources,
    GraphMeta,
    GraphStatus,
    Json,
    Multinode,
    Quantities,
    SeenGraph,
)

VERSION = "v1alpha1"


class ScalingAdapter(msgspec.Struct, frozen=True, rename="camel"):
    """Whether a service has one."""

    enabled: bool = False


class Amounts(msgspec.Struct, frozen=True, rename="camel"):
    """What a service may use; `gpu` counts what `gpu_type` names, GPUs where it names nothing."""

    gpu: str = ""
    gpu_type: str = ""
    custom: dict[str, str] | None = None


class ServiceResources(msgspec.Struct, frozen=True, rename="camel"):
    """What the pods of a service ask for."""

    limits: Amounts | None = None
    requests: Amounts | None = None
    claims: tuple[Claim, ...] | None = None


class MainContainer(msgspec.Struct, frozen=True, rename="camel"):
    """The container of a service that does its work."""

    resources: ContainerResources | None = None


class PodSpec(msgspec.Struct, frozen=True, rename="camel"):
    """The spec of a service's pods."""

    main_container: MainContainer | None = None
    resource_claims: tuple[Claim, ...] | None = None


class Service(msgspec.Struct, frozen=True, rename="camel"):
    """A service, which is what a component was called."""

    component_type: str = ""
    sub_component_type: str = ""
    replicas: int | None = None
    multinode: Multinode | None = None
    scaling_adapter: ScalingAdapter | None = None
    resources: ServiceResources | None = None
    extra_pod_spec: PodSpec | None = None


class GraphSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A graph's spec."""

    services: dict[str, Service] | None = None


class GraphObject(msgspec.Struct, frozen=True, rename="camel"):
    """A graph."""

    metadata: GraphMeta
    spec: GraphSpec = GraphSpec()
    status: GraphStatus | None = None


def graph(seen: GraphObject) -> SeenGraph:
    """Translate a graph."""
    return translate_graph.seen_graph(seen.metadata, VERSION, _components(seen), seen.status)


def patch(_: SeenGraph, step: Apply) -> Json:
    """Return the merge patch that writes a step's counts, refused where the graph is not the one that was seen.

    Every component of the step must be in the graph: this would make one that is not.
    """
    metadata: dict[str, object] = {"resourceVersion": step.version}
    if step.rev is not None:
        metadata["annotations"] = {APPLIED_REV_ANNOTATION: str(step.rev)}
    changes: dict[str, object] = {"metadata": metadata}
    if step.counts:
        changes["spec"] = {"services": {name: {"replicas": count} for name, count in step.counts.items()}}
    return changes


def filled(spec: Document, counts: Mapping[str, int]) -> dict[str, object]:
    """Return a template's spec with these counts.

    Raises:
        ValueError: It is no spec of this version, or lacks a component that is to be counted.
    """
    services = translate_graph.given("spec.services", spec.get("services"), dict[str, dict[str, object]])
    if missing := sorted(set(counts) - set(services)):
        raise ValueError(f"spec.services lacks {', '.join(missing)}")
    return {
        **spec,
        "services": {name: translate_graph.counted(each, counts.get(name)) for name, each in services.items()},
    }


def _components(seen: GraphObject) -> Iterator[Component]:
    writers = translate_graph.writers(seen.metadata.managed_fields)
    counted = (seen.status.services if seen.status is not None else None) or {}
    for name, each in (seen.spec.services or {}).items():
        yield Component(
            name=name,
            role=role_of(each.component_type, each.sub_component_type),
            replicas=1 if each.replicas is None else each.replicas,
            node_count=each.multinode.node_count if each.multinode is not None else 1,
            gpus_per_pod=_gpus(each),
            has_adapter=each.scaling_adapter is not None and each.scaling_adapter.enabled,
            counts=translate_graph.counts(counted.get(name)),
            written_by=writers.get(name),
        )


def _gpus(service: Service) -> int | None:
    """Return the GPUs of one pod: as the service says it, or else its container."""
    asked = service.resources or ServiceResources()
    pod = service.extra_pod_spec or PodSpec()
    container = (pod.main_container or MainContainer()).resources or ContainerResources()
    limits: Quantities = {**(container.limits or {})}
    for amounts in (asked.requests, asked.limits):
        if amounts is not None:
            limits |= amounts.custom or {}
            if amounts.gpu:
                limits[amounts.gpu_type or GPU] = amounts.gpu
    if any(each is not None and each.gpu and each.gpu_type not in ("", GPU) for each in (asked.limits, asked.requests)):
        return None
    return translate_graph.gpus(limits, has_claims=bool(asked.claims or pod.resource_claims or container.claims))

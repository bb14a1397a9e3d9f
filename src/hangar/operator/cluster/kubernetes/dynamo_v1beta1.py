"""A DynamoGraphDeployment as Dynamo 1.2 and later serve it: `spec.components`, a list."""

from collections.abc import Iterator, Mapping

import msgspec

from hangar.domain.decision import Apply
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
    SeenGraph,
)

VERSION = "v1beta1"

MAIN = "main"
"""The container of a component that does its work."""


class Container(msgspec.Struct, frozen=True, rename="camel"):
    """A container."""

    name: str = ""
    resources: ContainerResources | None = None


class PodSpec(msgspec.Struct, frozen=True, rename="camel"):
    """The spec of a component's pods."""

    containers: tuple[Container, ...] | None = None
    resource_claims: tuple[Claim, ...] | None = None


class PodTemplate(msgspec.Struct, frozen=True, rename="camel"):
    """What a component's pods are like."""

    spec: PodSpec | None = None


class ScalingAdapter(msgspec.Struct, frozen=True):
    """That a component has one: there is nothing to set."""


class GraphComponent(msgspec.Struct, frozen=True, rename="camel"):
    """A component."""

    name: str
    type: str = ""
    replicas: int | None = None
    multinode: Multinode | None = None
    scaling_adapter: ScalingAdapter | None = None
    pod_template: PodTemplate | None = None


class GraphSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A graph's spec."""

    components: tuple[GraphComponent, ...] | None = None


class GraphObject(msgspec.Struct, frozen=True, rename="camel"):
    """A graph."""

    metadata: GraphMeta
    spec: GraphSpec = GraphSpec()
    status: GraphStatus | None = None


def graph(seen: GraphObject) -> SeenGraph:
    """Translate a graph; its components keep their places, which a patch needs."""
    return translate_graph.seen_graph(seen.metadata, VERSION, _components(seen), seen.status)


def patch(seen: SeenGraph, step: Apply) -> Json:
    """Return the JSON patch that writes a step's counts, refused where the graph is not the one that was seen.

    Every component of the step must be in the graph.
    """
    places = {each.name: place for place, each in enumerate(seen.graph.components)}
    parts: list[dict[str, object]] = [_test("/metadata/resourceVersion", step.version)]
    parts += (_test(f"/spec/components/{places[name]}/name", name) for name in step.counts)
    parts += (_add(f"/spec/components/{places[name]}/replicas", count) for name, count in step.counts.items())
    if step.rev is None:
        return parts
    if not seen.has_annotations:
        parts.append(_add("/metadata/annotations", {}))
    parts.append(_add(f"/metadata/annotations/{APPLIED_REV_ANNOTATION.replace('/', '~1')}", str(step.rev)))
    return parts


def filled(spec: Document, counts: Mapping[str, int]) -> dict[str, object]:
    """Return a template's spec with these counts.

    Raises:
        ValueError: It is no spec of this version, or lacks a component that is to be counted.
    """
    components = translate_graph.given("spec.components", spec.get("components"), list[dict[str, object]])
    if missing := sorted(set(counts).difference(str(each.get("name")) for each in components)):
        raise ValueError(f"spec.components lacks {', '.join(missing)}")
    return {
        **spec,
        "components": [translate_graph.counted(each, counts.get(str(each.get("name")))) for each in components],
    }


def _components(seen: GraphObject) -> Iterator[Component]:
    writers = translate_graph.writers(seen.metadata.managed_fields)
    counted = (seen.status.components if seen.status is not None else None) or {}
    for each in seen.spec.components or ():
        yield Component(
            name=each.name,
            role=role_of(each.type),
            replicas=1 if each.replicas is None else each.replicas,
            node_count=each.multinode.node_count if each.multinode is not None else 1,
            gpus_per_pod=_gpus(each.pod_template),
            has_adapter=each.scaling_adapter is not None,
            counts=translate_graph.counts(counted.get(each.name)),
            written_by=writers.get(each.name),
        )


def _gpus(template: PodTemplate | None) -> int | None:
    spec = template.spec if template is not None else None
    if spec is None:
        return 0
    main = next((each for each in spec.containers or () if each.name == MAIN), Container())
    resources = main.resources or ContainerResources()
    return translate_graph.gpus(resources.limits, has_claims=bool(spec.resource_claims or resources.claims))


def _test(path: str, value: object) -> dict[str, object]:
    return {"op": "test", "path": path, "value": value}


def _add(path: str, value: object) -> dict[str, object]:
    return {"op": "add", "path": path, "value": value}

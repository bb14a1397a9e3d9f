"""Template: a DynamoGraphDeployment that is to be created, read for what its replicas will be."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from hangar.domain.devices import GPU, PARTS_OF_GPUS
from hangar.domain.workloads.graph import Component, Document, Graph, GraphRef, Role, role_of

KIND = "DynamoGraphDeployment"

BETA, ALPHA = "nvidia.com/v1beta1", "nvidia.com/v1alpha1"
PLACES: Mapping[str, str] = MappingProxyType({BETA: "components", ALPHA: "services"})
"""Where either version has its components: a list by name, or a map."""

FIELDS = ("apiVersion", "kind", "metadata", "spec")

NOT_OURS = ("uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "managedFields")
"""What Kubernetes says of an object; nobody can ask for it."""

OURS = "wingsmith.dev/"
"""How the annotations begin that the operator sets."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a template, and where: `spec.components[1].name`."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class _Part:
    """A component as it is written, and where."""

    path: str
    name: object
    body: Mapping[str, object]
    is_whole: bool  # it is an object


def template_faults(template: Document) -> list[Fault]:
    """Return all that keeps a document from being a graph that could be created; the rest Kubernetes judges.

    Its name and namespace are passed over: they are those of each deployment.
    """
    faults = [Fault(name, _stray(name)) for name in template if name not in FIELDS]
    if template.get("kind") != KIND:
        faults.append(Fault("kind", f"is {template.get('kind')!r}: {KIND} is wanted"))
    metadata = template.get("metadata", {})
    if not isinstance(metadata, Mapping):
        faults.append(Fault("metadata", "is no object"))
    faults += [Fault(f"metadata.{name}", _stray(name)) for name in NOT_OURS if name in _map(metadata)]
    faults += [
        Fault(f"metadata.annotations.{name}", "is set by Wingsmith: leave it out")
        for name in _map(_map(metadata).get("annotations"))
        if name.startswith(OURS)
    ]
    version = template.get("apiVersion")
    if version not in PLACES:
        return [*faults, Fault("apiVersion", f"is {version!r}: {BETA} or {ALPHA} is wanted")]
    return faults + list(_component_faults(template))


def template_graph(template: Document, ref: GraphRef) -> Graph:
    """Return the graph that a template without faults will make; nothing of it is there yet."""
    read = _beta if template["apiVersion"] == BETA else _alpha
    components = tuple(read(str(part.name), part.body) for part in _parts(template))
    return Graph(ref, uid="", version="", api_version=str(template["apiVersion"]), components=components)


def _stray(name: str) -> str:
    if name == "status" or name in NOT_OURS:
        return "is what Kubernetes says of an object that is there: leave it out"
    return f"is no field of such an object: there are {', '.join(FIELDS)}"


def _component_faults(template: Document) -> Iterator[Fault]:
    place = PLACES[str(template["apiVersion"])]
    parts = list(_parts(template))
    if not parts:
        yield Fault(f"spec.{place}", "has no component: at least one is wanted")
    seen: set[str] = set()
    for part in parts:
        if not part.is_whole:
            yield Fault(part.path, "is no object")
            continue
        if not isinstance(part.name, str) or not part.name:
            yield Fault(f"{part.path}.name", "is missing")
        elif part.name.lower() in seen:
            yield Fault(f"{part.path}.name", f"{part.name} is given twice")
        else:
            seen.add(part.name.lower())
        yield from _number_faults(part, "replicas", part.body.get("replicas", 0), least=0)
        multinode = _map(part.body.get("multinode"))
        yield from _number_faults(part, "multinode.nodeCount", multinode.get("nodeCount", 2), least=2)


def _number_faults(part: _Part, name: str, value: object, *, least: int) -> Iterator[Fault]:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        yield Fault(f"{part.path}.{name}", f"is {value!r}: a whole number from {least} on is wanted")


def _parts(template: Document) -> Iterator[_Part]:
    place = PLACES[str(template["apiVersion"])]
    found = _map(template.get("spec")).get(place)
    if place == "services":
        for name, body in _map(found).items():
            yield _Part(f"spec.services.{name}", name, _map(body), isinstance(body, Mapping))
        return
    for index, body in enumerate(found if isinstance(found, list) else []):
        yield _Part(f"spec.components[{index}]", _map(body).get("name"), _map(body), isinstance(body, Mapping))


def _beta(name: str, body: Mapping[str, object]) -> Component:
    pod = _map(_map(body.get("podTemplate")).get("spec"))
    containers = pod.get("containers")
    main = next((each for each in _maps(containers) if each.get("name") == "main"), {})
    resources = _map(main.get("resources"))
    has_claims = bool(pod.get("resourceClaims") or resources.get("claims"))
    return _component(
        name, role_of(str(body.get("type"))), body, _gpus(_map(resources.get("limits")), has_claims=has_claims)
    )


def _alpha(name: str, body: Mapping[str, object]) -> Component:
    asked, pod = _map(body.get("resources")), _map(body.get("extraPodSpec"))
    resources = _map(_map(pod.get("mainContainer")).get("resources"))
    limits = dict(_map(resources.get("limits")))
    is_other = False
    for amounts in (_map(asked.get("requests")), _map(asked.get("limits"))):
        limits |= _map(amounts.get("custom"))
        if amounts.get("gpu"):
            limits[GPU] = amounts["gpu"]
            is_other |= amounts.get("gpuType") not in (None, "", GPU)
    has_claims = bool(asked.get("claims") or pod.get("resourceClaims") or resources.get("claims"))
    role = role_of(str(body.get("componentType")), str(body.get("subComponentType")))
    return _component(name, role, body, None if is_other else _gpus(limits, has_claims=has_claims))


def _component(name: str, role: Role, body: Mapping[str, object], gpus: int | None) -> Component:
    adapter = body.get("scalingAdapter")
    return Component(
        name=name,
        role=role,
        replicas=_number(body.get("replicas"), 1),
        node_count=_number(_map(body["multinode"]).get("nodeCount"), 2) if body.get("multinode") is not None else 1,
        gpus_per_pod=gpus,
        has_adapter=isinstance(adapter, Mapping) and adapter.get("enabled", True) is True,
    )


def _gpus(limits: Mapping[str, object], *, has_claims: bool) -> int | None:
    """Return how many GPUs a container may use, None where that cannot be counted."""
    if has_claims:
        return None
    if GPU in limits:
        text = str(limits[GPU])
        return int(text) if text.isdecimal() else None
    return None if any(name.startswith(PARTS_OF_GPUS) for name in limits) else 0


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) else default


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _maps(value: object) -> list[Mapping[str, object]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []

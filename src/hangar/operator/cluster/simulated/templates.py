"""What a graph is that is created from a template, of either API version: its components, and what they ask for."""

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from hangar.domain.devices import GPU
from hangar.domain.workloads.graph import Document, GraphRef, Role, role_of
from hangar.operator.cluster.simulated.spec import ComponentSpec, GraphSpec, PodTemplate

MAIN = "main"


class TemplateError(Exception):
    """A template that the API server refuses; the message says why."""


class _Resources(msgspec.Struct, frozen=True, rename="camel"):
    limits: dict[str, str | int] = {}


class _Container(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    resources: _Resources = _Resources()


class _PodSpec(msgspec.Struct, frozen=True, rename="camel"):
    containers: list[_Container] = []
    main_container: _Container = _Container()


class _PodTemplate(msgspec.Struct, frozen=True, rename="camel"):
    spec: _PodSpec = _PodSpec()


class _Multinode(msgspec.Struct, frozen=True, rename="camel"):
    node_count: int = 1


class _Amounts(msgspec.Struct, frozen=True):
    gpu: str | int = 0


class _ServiceResources(msgspec.Struct, frozen=True):
    limits: _Amounts = _Amounts()


class _ScalingAdapter(msgspec.Struct, frozen=True):
    enabled: bool = True  # v1beta1: that it is there is enough


class _Component(msgspec.Struct, frozen=True, rename="camel"):
    """A component of v1beta1."""

    name: str
    type: str = ""
    replicas: int = 1
    multinode: _Multinode = _Multinode()
    scaling_adapter: _ScalingAdapter | None = None
    pod_template: _PodTemplate = _PodTemplate()

    def spec(self) -> ComponentSpec:
        limits = next((each.resources.limits for each in self.pod_template.spec.containers if each.name == MAIN), {})
        return _spec(
            self.name, role_of(self.type), self.replicas, self.multinode, limits.get(GPU, 0), self.scaling_adapter
        )


class _Service(msgspec.Struct, frozen=True, rename="camel"):
    """A service of v1alpha1."""

    component_type: str = ""
    sub_component_type: str = ""
    replicas: int = 1
    multinode: _Multinode = _Multinode()
    scaling_adapter: _ScalingAdapter | None = None
    resources: _ServiceResources = _ServiceResources()

    def spec(self, name: str) -> ComponentSpec:
        role = role_of(self.component_type, self.sub_component_type)
        return _spec(name, role, self.replicas, self.multinode, self.resources.limits.gpu, self.scaling_adapter)


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    components: list[_Component] = []
    services: dict[str, _Service] = {}


class _Template(msgspec.Struct, frozen=True, rename="camel"):
    spec: _Spec


def graph_spec(ref: GraphRef, template: Document, counts: Mapping[str, int]) -> GraphSpec:
    """Return the graph that a template is, with these counts. Raises TemplateError."""
    try:
        spec = msgspec.convert(template, _Template).spec
        components = [each.spec() for each in spec.components] + [
            each.spec(name) for name, each in spec.services.items()
        ]
    except (msgspec.ValidationError, ValueError) as error:
        raise TemplateError(f"graph {ref} is invalid: {error}") from error
    if missing := counts.keys() - {each.name for each in components}:
        raise TemplateError(f"graph {ref} is invalid: it has no component {', '.join(sorted(missing))}")
    counted = (replace(each, replicas=counts.get(each.name, each.replicas)) for each in components)
    return GraphSpec(ref.name, tuple(counted), ref.namespace)


def _spec(
    name: str, role: Role, replicas: int, multinode: _Multinode, gpus: str | int, adapter: _ScalingAdapter | None
) -> ComponentSpec:
    requests = {GPU: int(gpus)} if int(gpus) else {}
    has_adapter = adapter is not None and adapter.enabled
    return ComponentSpec(name, role, replicas, PodTemplate(requests), multinode.node_count, has_adapter)

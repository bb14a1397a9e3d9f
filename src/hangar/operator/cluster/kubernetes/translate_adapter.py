"""A scaling adapter, in either API version: the object that owns the number of one component of a graph."""

import msgspec

from hangar.domain.workloads.graph import Adapter, GraphRef
from hangar.domain.workloads.joining import PartAdapter
from hangar.domain.workloads.members import Part
from hangar.operator.cluster.kubernetes.resources import Owned
from hangar.operator.cluster.kubernetes.translate import FIELD_MANAGER
from hangar.operator.cluster.kubernetes.translate_graph import GROUP

ADAPTER_KIND = "DynamoGraphDeploymentScalingAdapter"
ADAPTERS_PLURAL = "dynamographdeploymentscalingadapters"


class OwnedSpec(msgspec.Struct, frozen=True):
    """Of the fields of an adapter's spec that a manager owns, its number."""

    replicas: Owned | None = msgspec.field(default=None, name="f:replicas")


class OwnedFields(msgspec.Struct, frozen=True):
    """Of the fields that a manager owns, those of the spec."""

    spec: OwnedSpec | None = msgspec.field(default=None, name="f:spec")


class ManagedFields(msgspec.Struct, frozen=True, rename="camel"):
    """What one field manager owns, be it written to the object or to its `scale`."""

    manager: str = ""
    fields: OwnedFields | None = msgspec.field(default=None, name="fieldsV1")


class AdapterMeta(msgspec.Struct, frozen=True, rename="camel"):
    """An adapter's metadata."""

    name: str
    uid: str
    resource_version: str
    namespace: str = ""
    managed_fields: tuple[ManagedFields, ...] = ()


class GraphReference(msgspec.Struct, frozen=True, rename="camel"):
    """The graph and the component that an adapter is of, which is a service in the older version."""

    name: str = ""
    component_name: str = ""
    service_name: str = ""


class AdapterSpec(msgspec.Struct, frozen=True, rename="camel"):
    """An adapter's spec."""

    graph: GraphReference = msgspec.field(default=GraphReference(), name="dgdRef")
    replicas: int = 0


class AdapterObject(msgspec.Struct, frozen=True, rename="camel"):
    """An adapter."""

    metadata: AdapterMeta
    spec: AdapterSpec = AdapterSpec()


class ScaleSpec(msgspec.Struct, frozen=True):
    """What is asked of a `scale`."""

    replicas: int = 0


class ScaleObject(msgspec.Struct, frozen=True, rename="camel"):
    """The `scale` of an adapter: its number, with the adapter's own UID and version."""

    metadata: AdapterMeta
    spec: ScaleSpec = ScaleSpec()


def adapter(seen: AdapterObject) -> PartAdapter:
    """Translate an adapter."""
    meta, of = seen.metadata, seen.spec.graph
    return PartAdapter(
        Part(GraphRef(meta.namespace, of.name), of.component_name or of.service_name),
        Adapter(meta.name, meta.uid, meta.resource_version, seen.spec.replicas, _writer(meta)),
    )


def path(version: str, namespace: str, name: str) -> str:
    """Return where the `scale` of one adapter is, in one version."""
    return f"/apis/{GROUP}/{version}/namespaces/{namespace}/{ADAPTERS_PLURAL}/{name}/scale"


def _writer(meta: AdapterMeta) -> str | None:
    """Return who owns the number; where it is ours and another's, the other, who wants it too."""
    owners = [
        each.manager
        for each in meta.managed_fields
        if each.fields is not None and each.fields.spec is not None and each.fields.spec.replicas is not None
    ]
    return next((each for each in owners if each != FIELD_MANAGER), owners[0] if owners else None)

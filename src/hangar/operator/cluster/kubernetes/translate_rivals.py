"""What scales the adapters of graphs by itself: Kubernetes' own autoscaler, and KEDA's."""

import msgspec

from hangar.domain.workloads.graph import RivalKind
from hangar.domain.workloads.joining import Autoscaler
from hangar.operator.cluster.kubernetes.resources import ObjectMeta
from hangar.operator.cluster.kubernetes.translate_adapter import ADAPTER_KIND
from hangar.operator.cluster.kubernetes.translate_graph import GROUP

MAKER = "ScaledObject"


class Target(msgspec.Struct, frozen=True, rename="camel"):
    """What an autoscaler scales."""

    api_version: str = ""
    kind: str = ""
    name: str = ""


class AutoscalerSpec(msgspec.Struct, frozen=True):
    """The spec of an autoscaler, of which only the target is read."""

    target: Target = msgspec.field(default=Target(), name="scaleTargetRef")


class HorizontalPodAutoscaler(msgspec.Struct, frozen=True):
    """Kubernetes' own."""

    metadata: ObjectMeta
    spec: AutoscalerSpec = AutoscalerSpec()


class PauseAnnotations(msgspec.Struct, frozen=True):
    """The annotations by which KEDA is told to leave a target alone, or at a number."""

    paused: str = msgspec.field(default="", name="autoscaling.keda.sh/paused")
    paused_replicas: str | None = msgspec.field(default=None, name="autoscaling.keda.sh/paused-replicas")


class ScaledObjectMeta(msgspec.Struct, frozen=True, rename="camel"):
    """The metadata of KEDA's."""

    name: str
    uid: str
    resource_version: str
    namespace: str = ""
    annotations: PauseAnnotations | None = None


class ScaledObject(msgspec.Struct, frozen=True):
    """KEDA's, which makes itself one of Kubernetes' own."""

    metadata: ScaledObjectMeta
    spec: AutoscalerSpec = AutoscalerSpec()


def horizontal_pod_autoscaler(seen: HorizontalPodAutoscaler) -> Autoscaler:
    """Translate one of Kubernetes' own; one that KEDA made goes by the name of KEDA's."""
    meta = seen.metadata
    made_by = next((each.name for each in meta.owner_references if each.controller and each.kind == MAKER), None)
    kind, name = (RivalKind.HPA, meta.name) if made_by is None else (RivalKind.KEDA, made_by)
    return Autoscaler(meta.uid, meta.namespace, _adapter(seen.spec.target), kind, name)


def scaled_object(seen: ScaledObject) -> Autoscaler:
    """Translate one of KEDA's. One that is paused scales nothing, unless it is paused at a number, which it writes."""
    meta, pause = seen.metadata, seen.metadata.annotations or PauseAnnotations()
    is_paused = pause.paused == "true" and pause.paused_replicas is None
    adapter = "" if is_paused else _adapter(seen.spec.target)
    return Autoscaler(meta.uid, meta.namespace, adapter, RivalKind.KEDA, meta.name)


def _adapter(target: Target) -> str:
    is_adapter = target.kind == ADAPTER_KIND and target.api_version.startswith(f"{GROUP}/")
    return target.name if is_adapter else ""

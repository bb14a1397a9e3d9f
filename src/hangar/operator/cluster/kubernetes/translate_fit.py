"""What only the fit reads, as the values that it reads: quotas, volume claims and volumes."""

from hangar.domain.placing import Quota, Volume, VolumeClaim
from hangar.operator.cluster.kubernetes import resources
from hangar.operator.cluster.kubernetes.quantities import amounts
from hangar.operator.cluster.kubernetes.translate_demands import node_terms

ON_ONE_NODE = frozenset({"ReadWriteOnce", "ReadWriteOncePod"})
"""The access modes that hold a volume to one node at a time."""


def quota(seen: resources.ResourceQuota) -> Quota | None:
    """Translate a quota; None for one with scopes, which counts only some pods and not others.

    Raises:
        ValueError: An amount is not a quantity.
    """
    if seen.spec.scopes or seen.spec.scope_selector is not None:
        return None
    metadata = seen.metadata
    return Quota(metadata.namespace, metadata.name, amounts(seen.spec.hard), amounts(seen.status.used))


def claim(seen: resources.PersistentVolumeClaim) -> VolumeClaim:
    """Translate a volume claim."""
    modes = frozenset(seen.spec.access_modes)
    return VolumeClaim(
        namespace=seen.metadata.namespace,
        name=seen.metadata.name,
        volume=seen.spec.volume_name or None,
        once=bool(modes) and modes <= ON_ONE_NODE,
    )


def volume(seen: resources.PersistentVolume) -> Volume:
    """Translate a volume.

    Raises:
        ValueError: Its node affinity has a condition that Kubernetes does not know.
    """
    affinity = seen.spec.node_affinity
    return Volume(seen.metadata.name, node_terms(affinity.required) if affinity is not None else ())

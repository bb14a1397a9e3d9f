"""Groups: pods that serve only together, and restart together when one of them is evicted.

A LeaderWorkerSet's group and a replica of a PodCliqueScalingGroup are known by the labels of their pods.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from hangar.domain.ids import OwnerUid

_LABELS = (
    ("LeaderWorkerSet", "leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index"),
    ("PodCliqueScalingGroup", "grove.io/podcliquescalinggroup", "grove.io/podcliquescalinggroup-replica-index"),
)


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """One replica of several pods: the controller that keeps such groups, and the group's number below it."""

    kind: str
    namespace: str
    name: str
    index: str

    @property
    def owner_uid(self) -> OwnerUid:
        """Return what stands for the UID of the controller, which its pods' labels do not tell."""
        return OwnerUid(f"{self.kind}/{self.namespace}/{self.name}")

    def __str__(self) -> str:
        return f"{self.kind.lower()} {self.namespace}/{self.name} group {self.index}"


def group_of(namespace: str, labels: Mapping[str, str]) -> Group | None:
    """Return the group that a pod with these labels belongs to, None where it serves by itself."""
    for kind, name, index in _LABELS:
        if name in labels and index in labels:
            return Group(kind, namespace, labels[name], labels[index])
    return None

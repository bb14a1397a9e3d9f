"""Scene: a cluster as the pods of a drain would meet it elsewhere: which pods stay, which may go, and what is free."""

from collections.abc import Iterable, Iterator, Mapping

from hangar.domain.fit.crowd import Crowd
from hangar.domain.fit.room import free_beside
from hangar.domain.ids import NodeName, PodUid
from hangar.domain.snapshot import EMPTY, Node, Pod, Snapshot
from hangar.domain.view import View


class Scene:
    """A cluster and the pods that are about to move off one of its nodes.

    Two questions are asked of it. What stays for certain is all that may stand in a pod's way where it is said to fit
    nowhere; what is there at all must stand in no pod's way where it is said to fit.
    """

    def __init__(self, moving: Iterable[Pod], view: View) -> None:
        self.snapshot = view.snapshot
        self.draining = view.draining_nodes()
        self.nodes = view.snapshot.once(_emptiest_first)
        self.moving = tuple(moving)
        self._moving = frozenset(pod.ref.uid for pod in self.moving)
        self._leaving = view.leaving | self._restarting(view)
        self._priority = max((pod.priority for pod in self.moving), default=0)
        self._most_free: dict[NodeName, Mapping[str, int]] = {}

    def _restarting(self, view: View) -> frozenset[PodUid]:
        """Return the pods whose group restarts as a whole, since one of it moves or ends, wherever they are."""
        pods = self.snapshot.pods
        ending = [*self.snapshot.once(_terminating), *self.moving, *(pods[uid] for uid in view.leaving if uid in pods)]
        ending += (pod for node in self.draining for pod in self.snapshot.pods_on(node))
        groups = {group for pod in ending if (group := pod.group) is not None}
        mates = (pod for group in groups for pod in self.snapshot.pods_of(group.owner_uid) if pod.group == group)
        return frozenset(pod.ref.uid for pod in mates)

    @property
    def crowd(self) -> Crowd:
        """All pods that have not finished, the moving ones too, and those that have no node yet."""
        return self.snapshot.once(_crowd)

    def is_moving(self, pod: Pod) -> bool:
        """Tell whether a pod is one of those that are about to move."""
        return pod.ref.uid in self._moving

    def stays(self, pod: Pod) -> bool:
        """Tell whether a pod certainly stays where it is: nothing ends it, and none of the moving may push it aside."""
        return (
            pod.priority >= self._priority
            and pod.node is not None
            and pod.deletion_at is None
            and pod.node not in self.draining
            and pod.ref.uid not in self._moving
            and pod.ref.uid not in self._leaving
            and not pod.is_finished
        )

    def is_there(self, pod: Pod) -> bool:
        """Tell whether a pod is on a node now, be it on the point of leaving; those that move are as good as gone."""
        return pod.node is not None and pod.ref.uid not in self._moving and not pod.is_finished

    def there_on(self, node: NodeName) -> Iterator[Pod]:
        """Yield the pods that are on a node now, without those that move."""
        return (pod for pod in self.snapshot.pods_on(node) if self.is_there(pod))

    def staying_on(self, node: NodeName) -> Iterator[Pod]:
        """Yield the pods that certainly stay on a node."""
        return (pod for pod in self.snapshot.pods_on(node) if self.stays(pod))

    def most_free(self, node: Node) -> Mapping[str, int]:
        """Return the most that a node could have free: what is about to leave, and what may have to, counts as free."""
        if node.name not in self._most_free:
            self._most_free[node.name] = free_beside(node, self.staying_on(node.name))
        return self._most_free[node.name]

    def labels_around(self, pod: Pod) -> Mapping[str, str]:
        """Return the labels of the node that a pod is on."""
        node = self.snapshot.nodes.get(pod.node) if pod.node is not None else None
        return node.labels if node is not None else EMPTY


def _emptiest_first(snapshot: Snapshot) -> tuple[Node, ...]:
    """Return all nodes, those with the fewest pods first: who looks for room finds it sooner."""
    pods_on = snapshot.pods_by_node
    return tuple(sorted(snapshot.nodes.values(), key=lambda node: len(pods_on.get(node.name, ()))))


def _terminating(snapshot: Snapshot) -> tuple[Pod, ...]:
    return tuple(pod for pod in snapshot.pods.values() if pod.deletion_at is not None)


def _crowd(snapshot: Snapshot) -> Crowd:
    return Crowd(pod for pod in snapshot.pods.values() if not pod.is_finished)

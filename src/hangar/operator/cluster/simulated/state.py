"""State: the objects of a simulated cluster, the instant it is at, and what falls due when."""

import heapq
from collections.abc import Callable
from datetime import datetime, timedelta

from hangar.domain.ids import PodUid
from hangar.domain.index import ClusterIndex
from hangar.domain.snapshot import Node, Pod, Snapshot
from hangar.operator.cluster.simulated.spec import PodTemplate

CONTROLLER_LAG_S = 0.05
"""From a change to what a controller makes of it."""


class State:
    """What the parts of a world share. All of its methods take effect at `now`.

    Attributes:
        on_change: Called after every change that a reader could see.
        on_pod: Called with each pod that was added, changed or taken away, as it was last.
        on_room: Called when what waits for room may find some.
        templates: How the pods that are there behave.
    """

    def __init__(self, now: datetime, uid: str) -> None:
        self.now = now
        self.uid = uid
        self.index = ClusterIndex()
        self.templates: dict[PodUid, PodTemplate] = {}
        self.on_change: Callable[[], None] = lambda: None
        self.on_pod: list[Callable[[Pod], None]] = []
        self.on_room: list[Callable[[], None]] = []
        self._due: list[tuple[datetime, int, Callable[[], None]]] = []
        self._serial = 0

    # --- time ---------------------------------------------------------------------------------------------------------

    def at(self, delay_s: float, act: Callable[[], None]) -> None:
        """Let something happen `delay_s` seconds from now."""
        self._serial += 1
        heapq.heappush(self._due, (self.now + timedelta(seconds=delay_s), self._serial, act))

    def next_at(self) -> datetime | None:
        """Return when the next thing happens by itself, or None."""
        return self._due[0][0] if self._due else None

    def advance(self, to: datetime) -> None:
        """Go to an instant, doing on the way all that falls due, in order."""
        while self._due and self._due[0][0] <= to:
            self.now, _, act = heapq.heappop(self._due)
            act()
        self.now = max(self.now, to)

    def new_uid(self, kind: str) -> str:
        """Return a UID that no other object of this cluster has."""
        self._serial += 1
        return f"{self.uid}-{kind}-{self._serial}"

    # --- objects ------------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the cluster as it is now."""
        return self.index.snapshot()

    def pod(self, uid: PodUid) -> Pod | None:
        """Return a pod that is there."""
        return self.snapshot().pods.get(uid)

    def add_pod(self, pod: Pod, template: PodTemplate) -> None:
        """Add a pod that nobody has reacted to yet: it is about to be placed."""
        self.templates[pod.ref.uid] = template
        self.index.put_pod(pod)

    def put_pod(self, pod: Pod) -> None:
        """Replace a pod's state; its controller and its budgets see it."""
        self.index.put_pod(pod)
        self._tell_of(pod)
        self.on_change()

    def drop_pod(self, uid: PodUid) -> None:
        """Take a pod's object away; its room is free and its controller sees it."""
        pod = self.pod(uid)
        if pod is None:
            return
        self.index.drop_pod(uid)
        self.templates.pop(uid, None)
        self._tell_of(pod)
        self.tell_of_room()
        self.on_change()

    def put_node(self, node: Node) -> None:
        """Replace a node's state; waiting pods are looked at again."""
        self.index.put_node(node)
        self.tell_of_room()
        self.on_change()

    def tell_of_room(self) -> None:
        """Say that what waits for room may find some."""
        for look in self.on_room:
            look()

    def _tell_of(self, pod: Pod) -> None:
        for look in self.on_pod:
            look(pod)

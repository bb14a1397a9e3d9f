"""Where a pod goes: a node that takes it and has the room, the emptiest first."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from hangar.domain.ids import NodeName
from hangar.domain.snapshot import Pod, Snapshot
from hangar.operator.cluster.simulated.filters import Company, why_not
from hangar.operator.cluster.simulated.state import CONTROLLER_LAG_S, State

Start = Callable[[Pod, NodeName, bool], None]
"""Starts a pod on a node; the flag says that it is ready at once."""


@dataclass(frozen=True, slots=True)
class NoRoom:
    """Why no node takes a pod, in the words a scheduler would use."""

    message: str


def place(pod: Pod, snapshot: Snapshot) -> NodeName | NoRoom:
    """Return the node a pod is bound to: of those with room, fewest siblings first, then pods, then name."""
    reasons: Counter[str] = Counter()
    fitting: list[tuple[int, int, NodeName]] = []
    company = Company.of(snapshot)
    for node in snapshot.nodes.values():
        reason = why_not(pod, node, company)
        if reason is not None:
            reasons[reason] += 1
            continue
        here = list(snapshot.pods_on(node.name))
        siblings = sum(1 for each in here if each.controller == pod.controller)
        fitting.append((siblings, len(here), node.name))
    if fitting:
        return min(fitting)[2]
    why = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return NoRoom(f"0/{len(snapshot.nodes)} nodes are available: {why}")


class Scheduler:
    """Places pods, and looks again for those that wait.

    Args:
        state: The cluster.
        start: What the chosen node's kubelet does.
    """

    def __init__(self, state: State, start: Start) -> None:
        self._state = state
        self._start = start
        self._is_stirred = False
        state.on_room.append(self.place_waiting)
        state.on_pod.append(self._follow)

    def place_waiting(self) -> None:
        """Look again for room for every pod that waits for it."""
        pods = self._state.snapshot().pods.values()
        waiting = [pod for pod in pods if pod.node is None and not pod.is_terminating]
        for pod in sorted(waiting, key=lambda each: (each.created_at, each.ref)):
            self.schedule(pod)

    def _follow(self, pod: Pod) -> None:
        """Look again, a moment later, where a placed pod may be the company that others wait for."""
        if pod.node is None or self._is_stirred:
            return
        pods = self._state.snapshot().pods.values()
        if any(each.node is None and (each.demands.near or each.demands.spread) for each in pods):
            self._is_stirred = True
            self._state.at(CONTROLLER_LAG_S, self._look_again)

    def _look_again(self) -> None:
        self._is_stirred = False
        self.place_waiting()

    def schedule(self, pod: Pod, *, is_ready: bool = False) -> None:
        """Place one pod, or say why it waits."""
        found = place(pod, self._state.snapshot())
        if isinstance(found, NoRoom):
            since = pod.unschedulable_since or self._state.now
            self._state.put_pod(replace(pod, unschedulable_since=since, waiting=found.message))
        else:
            self._start(pod, found, is_ready)

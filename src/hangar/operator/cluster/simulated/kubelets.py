"""What kubelets do: start pods and end them, fall silent, and come back."""

from dataclasses import replace
from datetime import timedelta
from typing import Protocol

from hangar.domain.ids import NodeName, NodeUid, PodUid
from hangar.domain.snapshot import Node, Pod, PodPhase, Taint
from hangar.operator.cluster.simulated.spec import PodTemplate
from hangar.operator.cluster.simulated.state import State

UNHEARD_AFTER_S = 50.0
"""How long a kubelet may be silent before its node counts as not heard: Kubernetes' own default."""

PATIENCE_S = 300.0
"""How long pods stay on a node that is not heard before their deletion begins: Kubernetes' own default."""

HEARD_LAG_S = 1.0
"""From a kubelet's return to its node's being heard, and to what it does first."""

UNREACHABLE_TAINTS = tuple(
    Taint("node.kubernetes.io/unreachable", "", effect) for effect in ("NoSchedule", "NoExecute")
)


class PodFate(Protocol):
    """What becomes of a pod's deletion; replaced in tests by what a dead kubelet does."""

    def __call__(self, pod: Pod, template: PodTemplate) -> float | None:
        """Return in how many seconds the pod is gone, or None for never."""


class Kubelets:
    """The kubelets of all nodes.

    Attributes:
        fate: What becomes of a deletion on a node whose kubelet lives.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._silent: set[NodeUid] = set()
        self.fate: PodFate = lambda pod, template: min(template.terminate_after_s, pod.grace_s)

    # --- pods ---------------------------------------------------------------------------------------------------------

    def start(self, pod: Pod, node: NodeName, is_ready: bool) -> None:
        """Start a pod; `is_ready`: it is at once."""
        placed = replace(pod, node=node, unschedulable_since=None, waiting="starting")
        template = self._state.templates[pod.ref.uid]
        self._state.put_pod(_ready(placed, self._state) if is_ready and template.stuck_on is None else placed)
        if not is_ready or template.stuck_on is not None:
            self._state.at(0.0 if is_ready else template.ready_after_s, lambda: self._started(pod.ref.uid))

    def delete(self, uid: PodUid, grace_s: int | None = None) -> None:
        """Begin a pod's deletion."""
        pod = self._state.pod(uid)
        if pod is None or pod.is_terminating:
            return
        grace = pod.grace_s if grace_s is None else grace_s
        pod = replace(pod, deletion_at=self._state.now + timedelta(seconds=grace), grace_s=grace)
        self._state.put_pod(pod)
        self._end(pod)

    def crash(self, uid: PodUid, waiting: str, phase: PodPhase = PodPhase.RUNNING) -> None:
        """Make a pod unready for a reason, in its kubelet's words."""
        pod = self._state.pod(uid)
        if pod is not None:
            self._state.put_pod(replace(pod, phase=phase, ready=False, ready_at=None, waiting=waiting))

    def mend(self, uid: PodUid) -> None:
        """Make a pod ready."""
        pod = self._state.pod(uid)
        if pod is not None and not pod.is_terminating:
            self._state.put_pod(_ready(pod, self._state))

    def _started(self, uid: PodUid) -> None:
        pod = self._state.pod(uid)
        if pod is None or pod.is_terminating or self._is_silent(pod.node):
            return
        stuck_on = self._state.templates[uid].stuck_on
        if stuck_on is not None:
            self.crash(uid, stuck_on, PodPhase.PENDING)
        else:
            self.mend(uid)

    def _end(self, pod: Pod) -> None:
        if self._is_silent(pod.node):
            return
        ends_in_s = self.fate(pod, self._state.templates[pod.ref.uid])
        if ends_in_s is not None:
            self._state.at(ends_in_s, lambda: self._ended(pod))

    def _ended(self, pod: Pod) -> None:
        if not self._is_silent(pod.node):  # what ended meanwhile is told when it comes back
            self._state.drop_pod(pod.ref.uid)

    # --- nodes --------------------------------------------------------------------------------------------------------

    def silence(self, name: NodeName, noticed_after_s: float = UNHEARD_AFTER_S, patience_s: float = PATIENCE_S) -> None:
        """Let a kubelet fall silent: after a while its node is not heard, later its pods' deletion begins."""
        node = self._state.snapshot().nodes[name]
        self._silent.add(node.uid)
        self._state.at(noticed_after_s, lambda: self._noticed(node.uid, patience_s))

    def hear(self, name: NodeName) -> None:
        """Let a silent kubelet come back: its node is heard, pods serve again, and what was to end ends."""
        node = self._state.snapshot().nodes[name]
        self._silent.discard(node.uid)
        self._state.at(HEARD_LAG_S, lambda: self._came_back(node.uid))

    def _noticed(self, uid: NodeUid, patience_s: float) -> None:
        node = self._node(uid)
        if node is None or uid not in self._silent:
            return
        self._state.put_node(
            replace(node, ready=False, is_heard=False, taints=(*_plain(node.taints), *UNREACHABLE_TAINTS))
        )
        for pod in list(self._state.snapshot().pods_on(node.name)):
            self._state.put_pod(replace(pod, ready=False, ready_at=None))
        self._state.at(patience_s, lambda: self._lost_patience(uid))

    def _lost_patience(self, uid: NodeUid) -> None:
        node = self._node(uid)
        if node is None or node.is_heard:
            return
        for pod in list(self._state.snapshot().pods_on(node.name)):
            if pod.controller is None or pod.controller.kind != "DaemonSet":  # these tolerate it for ever
                self.delete(pod.ref.uid)

    def _came_back(self, uid: NodeUid) -> None:
        node = self._node(uid)
        if node is None or uid in self._silent:
            return
        self._state.put_node(replace(node, ready=True, is_heard=True, taints=_plain(node.taints)))
        for pod in list(self._state.snapshot().pods_on(node.name)):
            if pod.is_terminating:
                self._end(pod)
            elif not pod.ready and not pod.is_finished:
                self._started(pod.ref.uid)

    def _node(self, uid: NodeUid) -> Node | None:
        return next((each for each in self._state.snapshot().nodes.values() if each.uid == uid), None)

    def _is_silent(self, name: NodeName | None) -> bool:
        node = self._state.snapshot().nodes.get(name) if name is not None else None
        return node is not None and node.uid in self._silent


def _ready(pod: Pod, state: State) -> Pod:
    return replace(pod, phase=PodPhase.RUNNING, ready=True, ready_at=state.now.replace(microsecond=0), waiting=None)


def _plain(taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
    return tuple(each for each in taints if each not in UNREACHABLE_TAINTS)

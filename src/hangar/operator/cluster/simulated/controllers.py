"""The controllers of workloads: they make pods and end them until there are as many as are wanted."""

from dataclasses import replace

from hangar.domain.ids import NodeName, OwnerUid, PodUid
from hangar.domain.snapshot import Node, Owner, OwnerRef, Pod, PodPhase, PodRef
from hangar.operator.cluster.simulated.admission import Admission
from hangar.operator.cluster.simulated.groups import Groups, is_member
from hangar.operator.cluster.simulated.kubelets import Kubelets
from hangar.operator.cluster.simulated.scheduler import Scheduler
from hangar.operator.cluster.simulated.spec import GROUPED, PodTemplate, WorkloadSpec
from hangar.operator.cluster.simulated.state import CONTROLLER_LAG_S, State
from hangar.operator.cluster.simulated.workload import Member, Workload

JOB_BACKOFF_S = 10.0
"""From a Job's pod that was ended to the next one."""

KNOWN = ("Deployment", "ReplicaSet", "StatefulSet", "Job", "DaemonSet")
"""The kinds whose objects can be read; those of other controllers are only named by their pods."""

TELL_FAILURE = ("Deployment", "ReplicaSet")
"""The kinds that say in their status why they cannot create pods; of the others only events do."""


class Controllers:
    """The workloads of a cluster and what keeps them.

    Attributes:
        workloads: By the UID of the controller at the top.
    """

    def __init__(self, state: State, admission: Admission, scheduler: Scheduler, kubelets: Kubelets) -> None:
        self._state = state
        self._admission = admission
        self._scheduler = scheduler
        self._kubelets = kubelets
        self._groups = Groups(state, self._create, kubelets.delete)
        self.workloads: dict[OwnerUid, Workload] = {}
        self._made_before: dict[tuple[str, str], int] = {}  # pods of one that is gone may outlive it under their names
        admission.on_less = self._retry
        state.on_pod.append(self._follow)

    # --- workloads ----------------------------------------------------------------------------------------------------

    def add(self, spec: WorkloadSpec) -> OwnerRef:
        """Add a workload whose pods are placed and ready at once; return its top controller."""
        top = OwnerRef(spec.kind, spec.name, OwnerUid(self._state.new_uid("owner")))
        controller = top
        if spec.kind in KNOWN:
            self._state.index.put_owner(Owner(top, spec.namespace, spec.replicas))
        below = {"Deployment": ("ReplicaSet", f"{spec.name}-rs"), GROUPED: ("StatefulSet", spec.name)}.get(spec.kind)
        if below is not None:
            controller = OwnerRef(*below, OwnerUid(self._state.new_uid("owner")))
            self._state.index.put_owner(Owner(controller, spec.namespace, spec.replicas, parent=top))
        made = self._made_before.get((spec.namespace, controller.name), 0)
        workload = Workload(spec, spec.replicas, top, controller, made)
        self.workloads[top.uid] = workload
        if spec.kind == "DaemonSet":
            for node in self._state.snapshot().nodes.values():
                self._daemon(workload, node, is_ready=True)
        elif spec.kind == GROUPED:
            self._groups.reconcile(workload, is_ready=True)
        else:
            for name in spec.pinned or (None,) * spec.replicas:
                self._make(workload, NodeName(name) if name is not None else None, is_ready=True)
        self.reconcile(workload)
        return top

    def scale(self, owner: OwnerUid, replicas: int) -> None:
        """Change how many pods (or groups) a workload wants."""
        workload = self.workloads[owner]
        workload.replicas = replicas
        self.put_failure(workload, None)
        self._soon(workload)

    def remove(self, owner: OwnerUid) -> None:
        """Delete a workload; its pods follow."""
        workload = self.workloads.pop(owner)
        self._made_before[workload.spec.namespace, workload.controller.name] = workload.made
        pods = [pod.ref.uid for pod in self._state.snapshot().pods.values() if self._is_of(pod, workload)]
        for ref in {workload.top, workload.controller, *workload.groups.values()}:
            self._state.index.drop_owner(ref.uid)
        for uid in pods:
            self._state.at(CONTROLLER_LAG_S, lambda each=uid: self._kubelets.delete(each))  # type: ignore[misc]
        self._state.on_change()

    def node_added(self) -> None:
        """Let daemons be made on a new node."""
        for workload in self.workloads.values():
            if workload.spec.kind == "DaemonSet":
                self._soon(workload)

    def put_failure(self, workload: Workload, failure: str | None) -> None:
        """Set or clear a controller's word on why it cannot create pods."""
        for ref, parent in {workload.controller: workload.top, workload.top: None}.items():
            if ref.uid in self._state.snapshot().owners:
                above = parent if parent != ref else None
                owner = Owner(ref, workload.spec.namespace, workload.replicas, above, failure)
                self._state.index.put_owner(owner)
        self._state.on_change()

    def wanted(self, controller: OwnerRef) -> int:
        """Return how many pods a controller wants, as its scale says."""
        owner = self._state.snapshot().owners.get(controller.uid)
        if owner is not None and owner.desired is not None:
            return owner.desired
        return next((each.replicas for each in self.workloads.values() if each.controller == controller), 0)

    # --- pods ---------------------------------------------------------------------------------------------------------

    def reconcile(self, workload: Workload) -> None:
        """Make or end pods until a workload has what it wants, as far as that is let in."""
        workload.is_starved = False
        match workload.spec.kind:
            case "DaemonSet":
                self._reconcile_daemons(workload)
            case "StatefulSet":
                self._reconcile_ordinals(workload)
            case kind if kind == GROUPED:
                self._groups.reconcile(workload)
            case _:
                self._reconcile_count(workload)

    def _reconcile_count(self, workload: Workload) -> None:
        alive = self._alive(workload)
        had_failure = self._failure(workload)
        for _ in range(workload.replicas - len(alive)):
            if self._make(workload, None) is None:
                return
        if workload.replicas > len(alive) and had_failure is not None and workload.spec.kind in TELL_FAILURE:
            self.put_failure(workload, None)
        for pod in alive[workload.replicas :]:
            self._kubelets.delete(pod.ref.uid)

    def _reconcile_ordinals(self, workload: Workload) -> None:
        taken = {pod.ref.name for pod in self._state.snapshot().pods_of(workload.controller.uid)}
        for ordinal in range(workload.replicas):
            if f"{workload.spec.name}-{ordinal}" not in taken:
                self._make(workload, None, ordinal=ordinal)
        for pod in self._alive(workload):
            if int(pod.ref.name.rsplit("-", 1)[1]) >= workload.replicas:
                self._kubelets.delete(pod.ref.uid)

    def _reconcile_daemons(self, workload: Workload) -> None:
        snapshot = self._state.snapshot()
        served = {pod.node for pod in snapshot.pods_of(workload.controller.uid)}
        for name, node in snapshot.nodes.items():
            if name not in served:
                self._daemon(workload, node)

    def _daemon(self, workload: Workload, node: Node, *, is_ready: bool = False) -> None:
        selector = workload.spec.template.node_selector
        if selector.items() <= node.labels.items():
            self._make(workload, node.name, is_ready=is_ready)

    def _alive(self, workload: Workload) -> list[Pod]:
        pods = sorted(
            self._state.snapshot().pods_of(workload.controller.uid), key=lambda pod: (pod.created_at, pod.ref)
        )
        return [pod for pod in pods if not pod.is_terminating and not pod.is_finished]

    def _make(
        self, workload: Workload, node: NodeName | None, *, is_ready: bool = False, ordinal: int | None = None
    ) -> Pod | None:
        number = workload.made if ordinal is None else ordinal
        spec = workload.spec
        name = f"{spec.name}-{number}" if spec.kind == "StatefulSet" else f"{workload.controller.name}-{number:05d}"
        return self._create(workload, Member(name, workload.controller, {}, node, is_ready))

    def _create(self, workload: Workload, member: Member) -> Pod | None:
        spec = workload.spec
        pod = new_pod(self._state, spec.namespace, member.name, spec.template, member.controller)
        if member.labels:
            pod = replace(pod, labels={**pod.labels, **member.labels})
        why = self._admission.why_not(pod)
        if why is not None:
            workload.is_starved = True
            if spec.kind in TELL_FAILURE:
                self.put_failure(workload, why)
            return None
        workload.made += 1
        self._state.add_pod(pod, spec.template)
        if member.node is not None:
            self._kubelets.start(pod, member.node, member.is_ready)
        else:
            self._scheduler.schedule(pod, is_ready=member.is_ready)
        return pod

    def _failure(self, workload: Workload) -> str | None:
        owner = self._state.snapshot().owners.get(workload.controller.uid)
        return owner.failure if owner is not None else None

    # --- reacting -----------------------------------------------------------------------------------------------------

    def _follow(self, pod: Pod) -> None:
        for workload in self.workloads.values():
            if self._is_of(pod, workload):
                self._soon(workload)

    def _is_of(self, pod: Pod, workload: Workload) -> bool:
        if workload.spec.kind == GROUPED:
            return is_member(pod, workload)
        return pod.controller == workload.controller

    def _soon(self, workload: Workload) -> None:
        lag_s = JOB_BACKOFF_S if workload.spec.kind == "Job" else CONTROLLER_LAG_S
        self._state.at(lag_s, lambda: self.reconcile(workload))

    def _retry(self) -> None:
        for workload in self.workloads.values():
            if workload.is_starved:
                self._soon(workload)


def new_pod(state: State, namespace: str, name: str, template: PodTemplate, controller: OwnerRef | None = None) -> Pod:
    """Return a pod that is not placed yet."""
    return Pod(
        PodRef(namespace, name, PodUid(state.new_uid("pod"))),
        node=None,
        phase=PodPhase.PENDING,
        ready=False,
        created_at=state.now.replace(microsecond=0),
        labels=template.labels,
        controller=controller,
        requests=template.requests,
        tolerations=template.tolerations,
        node_selector=template.node_selector,
        priority=template.priority,
        grace_s=template.grace_s,
        has_disk_empty_dir=template.has_disk_empty_dir,
        runtime_class=template.runtime_class,
        demands=template.demands,
    )

"""A controller of groups, as LeaderWorkerSet's is: one pod of a group that goes takes the whole group with it."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from hangar.domain.ids import NodeName, OwnerUid, PodUid
from hangar.domain.snapshot import Owner, OwnerRef, Pod
from hangar.operator.cluster.simulated.state import State
from hangar.operator.cluster.simulated.workload import Member, Workload

NAME_LABEL = "leaderworkerset.sigs.k8s.io/name"
GROUP_LABEL = "leaderworkerset.sigs.k8s.io/group-index"
WORKER_LABEL = "leaderworkerset.sigs.k8s.io/worker-index"

Make = Callable[[Workload, Member], Pod | None]
"""Creates a pod and sees to its being placed; None where it is not let in."""

End = Callable[[PodUid], None]
"""Begins a pod's deletion."""


def is_member(pod: Pod, workload: Workload) -> bool:
    """Tell whether a pod is of a workload's groups."""
    return (pod.ref.namespace, pod.labels.get(NAME_LABEL)) == (workload.spec.namespace, workload.spec.name)


class Groups:
    """Keeps the groups of workloads.

    The leaders belong to a StatefulSet below the LeaderWorkerSet, the workers of each group to one below its leader.
    """

    def __init__(self, state: State, make: Make, end: End) -> None:
        self._state = state
        self._make = make
        self._end = end

    def reconcile(self, workload: Workload, *, is_ready: bool = False) -> bool:
        """Make, restart or end groups; tell whether all pods that are wanted were let in.

        `is_ready`: what is made now is ready at once, and goes to the nodes that the workload is pinned to.
        """
        pods = self._by_group(workload)
        nodes = iter(map(NodeName, workload.spec.pinned if is_ready else ()))
        has_all = True
        for number in sorted({*range(workload.replicas), *pods}):
            here = pods.get(number, [])
            if number >= workload.replicas or self._is_broken(workload, number, here):
                for pod in here:
                    self._end(pod.ref.uid)
            if not here:
                self._forget(workload, number)
            if number < workload.replicas and not any(pod.is_terminating for pod in self._of(workload, number)):
                has_all &= self._fill(workload, number, here, nodes, is_ready=is_ready)
        return has_all

    def _is_broken(self, workload: Workload, number: int, here: list[Pod]) -> bool:
        has_lost = number in workload.groups and len(here) < workload.spec.group_size
        return has_lost or any(pod.is_terminating or pod.is_finished for pod in here)

    def _fill(
        self, workload: Workload, number: int, here: list[Pod], nodes: Iterator[NodeName], *, is_ready: bool
    ) -> bool:
        """Make what a group lacks, its leader first."""
        there = {pod.labels[WORKER_LABEL] for pod in here}
        workers = next((pod.controller for pod in here if pod.labels[WORKER_LABEL] != "0"), None)
        for worker in range(workload.spec.group_size):
            if str(worker) in there:
                continue
            name = f"{workload.spec.name}-{number}"
            labels = {NAME_LABEL: workload.spec.name, GROUP_LABEL: str(number), WORKER_LABEL: str(worker)}
            controller = workload.controller
            if worker > 0:
                name, controller = f"{name}-{worker}", workers or self._workers(workload, number)
                workers = controller
            member = Member(name, controller, labels, next(nodes, None), is_ready)
            if self._make(workload, member) is None:
                return False
        workload.groups[number] = workers or workload.controller
        return True

    def _workers(self, workload: Workload, number: int) -> OwnerRef:
        """Add the controller of a group's workers, owned by its leader."""
        leader = next(pod for pod in self._of(workload, number) if pod.labels[WORKER_LABEL] == "0")
        parent = OwnerRef("Pod", leader.ref.name, OwnerUid(leader.ref.uid))
        ref = OwnerRef("StatefulSet", leader.ref.name, OwnerUid(self._state.new_uid("owner")))
        wanted = workload.spec.group_size - 1
        self._state.index.put_owner(Owner(ref, workload.spec.namespace, wanted, parent=parent))
        return ref

    def _forget(self, workload: Workload, number: int) -> None:
        workers = workload.groups.pop(number, None)
        if workers is not None and workers != workload.controller:
            self._state.index.drop_owner(workers.uid)

    def _of(self, workload: Workload, number: int) -> list[Pod]:
        return self._by_group(workload).get(number, [])

    def _by_group(self, workload: Workload) -> Mapping[int, list[Pod]]:
        groups: dict[int, list[Pod]] = defaultdict(list)
        for pod in self._state.snapshot().pods.values():
            if is_member(pod, workload):
                groups[int(pod.labels[GROUP_LABEL])].append(pod)
        return groups

"""A Kubernetes pod as the value that decisions read: what it asks for, whether it serves, and why it does not."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from hangar.domain.ids import NodeName, PodUid
from hangar.domain.snapshot import Pod, PodPhase, PodRef
from hangar.operator.cluster.kubernetes import resources, resources_pod, translate_shared
from hangar.operator.cluster.kubernetes.quantities import amounts, largest, total
from hangar.operator.cluster.kubernetes.resources_pod import ALWAYS
from hangar.operator.cluster.kubernetes.translate import controller, is_true
from hangar.operator.cluster.kubernetes.translate_demands import demands

DISK_MEDIUM = ""
"""An emptyDir without a medium is on the node's disk; the others are memory."""


def pod(seen: resources_pod.Pod) -> Pod:
    """Translate a pod.

    Raises:
        ValueError: A request is not a quantity.
    """
    metadata, spec, status = seen.metadata, seen.spec, seen.status
    owner = controller(metadata.owner_references)
    ready = is_true(status.conditions, "Ready")
    labels = translate_shared.strings(metadata.labels)
    return Pod(
        ref=PodRef(metadata.namespace, metadata.name, PodUid(metadata.uid)),
        node=NodeName(spec.node_name) if spec.node_name else None,
        phase=_phase(status.phase),
        ready=ready,
        created_at=metadata.creation_timestamp,
        deletion_at=metadata.deletion_timestamp,
        labels=labels,
        controller=owner,
        requests=translate_shared.amounts(requests(spec)),
        tolerations=translate_shared.tolerations(spec.tolerations),
        node_selector=translate_shared.strings(spec.node_selector),
        priority=spec.priority,
        grace_s=spec.termination_grace_period_seconds,
        is_mirror=metadata.annotations.mirror is not None or (owner is not None and owner.kind == "Node"),
        has_disk_empty_dir=any(
            each.empty_dir is not None and each.empty_dir.medium == DISK_MEDIUM for each in spec.volumes
        ),
        unschedulable_since=_unschedulable_since(status.conditions),
        waiting=_waiting(seen, ready),
        ready_at=_ready_at(status.conditions),
        runtime_class=spec.runtime_class_name,
        demands=demands(seen, labels),
    )


def requests(spec: resources_pod.PodSpec) -> Mapping[str, int]:
    """Return what a pod holds on its node, by the scheduler's own rule.

    Ordinary init containers run one after another before the others, so only the largest counts, together with
    the restartable ones before it, which go on running; the sum of all that run at last counts too; the larger
    of the two is held, resource by resource. What the pod asks for as a whole replaces the sum of its parts.
    """
    running = [amounts(each.resources.requests) for each in spec.containers]
    beside: list[dict[str, int]] = []
    peak: dict[str, int] = {}
    for each in spec.init_containers:
        asked = amounts(each.resources.requests)
        if each.restart_policy == ALWAYS:
            beside.append(asked)
        else:
            peak = largest(peak, total([*beside, asked]))
    held = largest(total([*running, *beside]), peak)
    held.update(amounts(spec.resources.requests))
    return total([held, amounts(spec.overhead)]) if spec.overhead else held


def _phase(phase: str) -> PodPhase:
    try:
        return PodPhase(phase)
    except ValueError:
        return PodPhase.UNKNOWN


def _unschedulable_since(conditions: Iterable[resources.Condition]) -> datetime | None:
    for each in conditions:
        if each.type == "PodScheduled" and each.status == "False" and each.reason == "Unschedulable":
            return each.last_transition_time
    return None


def _ready_at(conditions: Iterable[resources.Condition]) -> datetime | None:
    for each in conditions:
        if each.type == "Ready" and each.status == "True":
            return each.last_transition_time
    return None


def _waiting(seen: resources_pod.Pod, ready: bool) -> str | None:
    """Return why a pod does not serve, or does not go: the first of the reasons that says most."""
    status = seen.status
    if seen.metadata.deletion_timestamp is not None:
        return _held(seen)
    if ready or status.phase in (PodPhase.SUCCEEDED, PodPhase.FAILED):
        return None
    for each in status.conditions:
        if each.type == "PodScheduled" and each.status == "False":
            return _said(each.reason, each.message)
    for container in (*status.init_container_statuses, *status.container_statuses):
        if (why := _stopped(container)) is not None:
            return f"{container.name}: {why}"
    for each in status.conditions:
        if each.type == "Ready" and each.status != "True" and (each.reason or each.message):
            return _said(each.reason, each.message)
    return _said(status.reason, status.message) or None


def _held(seen: resources_pod.Pod) -> str | None:
    """Return what holds a terminating pod once nothing of it runs any more: its finalizers."""
    if not seen.metadata.finalizers or any(each.state.running for each in seen.status.container_statuses):
        return None
    return f"held by finalizers: {', '.join(seen.metadata.finalizers)}"


def _stopped(container: resources_pod.ContainerStatus) -> str | None:
    waiting, terminated = container.state.waiting, container.state.terminated
    if waiting is not None:
        return _said(waiting.reason, waiting.message)
    if terminated is not None and not container.ready and terminated.exit_code != 0:
        return _said(terminated.reason, terminated.message or f"exit code {terminated.exit_code}")
    return None


def _said(reason: str, message: str) -> str:
    return f"{reason}: {message}" if reason and message else reason or message

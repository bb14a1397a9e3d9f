"""Kubernetes' objects as the values that decisions read: nodes, budgets and owners (pods are in `translate_pod`)."""

from collections.abc import Iterable

import msgspec

from hangar.domain.ids import BudgetUid, NodeName, NodeUid, OperationId, OwnerUid
from hangar.domain.placing import Requirement, SelectorOp
from hangar.domain.snapshot import (
    Budget,
    CordonMark,
    Node,
    Owner,
    OwnerRef,
    Taint,
)
from hangar.operator.cluster.kubernetes import resources, translate_shared
from hangar.operator.cluster.kubernetes.quantities import amounts

FIELD_MANAGER = "hangar-operator"
"""The name under which our writes own fields; also what tells our cordon from anybody else's."""

UNREACHABLE_TAINT = "node.kubernetes.io/unreachable"

NOTHING = (Requirement("", SelectorOp.IN),)
"""A selector that no pod matches: what a budget without any selector guards."""


class _Mark(msgspec.Struct):
    """The annotation of a cordon, as JSON."""

    operation: str
    actor: str = ""
    reason: str | None = None
    prior_unschedulable: bool = False


# --- nodes ------------------------------------------------------------------------------------------------------------


def node(seen: resources.Node) -> Node:
    """Translate a node.

    Raises:
        ValueError: An amount is not a quantity.
    """
    manager = _cordon_manager(seen)
    return Node(
        name=NodeName(seen.metadata.name),
        uid=NodeUid(seen.metadata.uid),
        ready=is_true(seen.status.conditions, "Ready"),
        unschedulable=seen.spec.unschedulable,
        mark=read_mark(seen.metadata.annotations.cordon),
        cordon_manager=manager,
        cordon_is_ours=manager == FIELD_MANAGER,
        taints=tuple(Taint(each.key, each.value, each.effect) for each in seen.spec.taints),
        labels=seen.metadata.labels,
        capacity=amounts(seen.status.capacity),
        allocatable=amounts(seen.status.allocatable),
        is_heard=_is_heard(seen),
    )


def _is_heard(seen: resources.Node) -> bool:
    """Tell whether a node's kubelet is heard: Kubernetes says `Unknown` of what it does not hear, and taints it."""
    is_unknown = any(each.type == "Ready" and each.status == "Unknown" for each in seen.status.conditions)
    return not is_unknown and all(each.key != UNREACHABLE_TAINT for each in seen.spec.taints)


def read_mark(annotation: str | None) -> CordonMark | None:
    """Return what our annotation says; None where there is none, or none that we could have written."""
    if annotation is None:
        return None
    try:
        mark = msgspec.json.decode(annotation, type=_Mark)
    except msgspec.DecodeError:
        return None
    return CordonMark(OperationId(mark.operation), mark.actor, mark.reason, mark.prior_unschedulable)


def write_mark(mark: CordonMark) -> str:
    """Return a mark as the annotation's text."""
    return msgspec.json.encode(_Mark(mark.operation, mark.actor, mark.reason, mark.prior_unschedulable)).decode()


def _cordon_manager(seen: resources.Node) -> str | None:
    """Return who owns the field that makes the cordon; where it is ours and another's, the other, who wants it too.

    A schedulable node is owned by whoever holds it to that, as GitOps does; most who uncordon take the field away, and
    are named nowhere.
    """
    managers = [
        each.manager
        for each in seen.metadata.managed_fields
        if each.fields is not None and each.fields.spec is not None and each.fields.spec.unschedulable is not None
    ]
    strangers = [each for each in managers if each != FIELD_MANAGER]
    return next(iter(strangers or (managers if seen.spec.unschedulable else ())), None)


# --- budgets ----------------------------------------------------------------------------------------------------------


def budget(seen: resources.PodDisruptionBudget) -> Budget:
    """Translate a disruption budget.

    Raises:
        ValueError: Its selector has an operator that Kubernetes does not know.
    """
    status = seen.status
    return Budget(
        namespace=seen.metadata.namespace,
        name=seen.metadata.name,
        uid=BudgetUid(seen.metadata.uid),
        selector=selector(seen.spec.selector),
        expected=status.expected_pods,
        healthy=status.current_healthy,
        desired_healthy=status.desired_healthy,
        allowed=status.disruptions_allowed,
        version=seen.metadata.resource_version,
        is_current=status.observed_generation >= seen.metadata.generation,
        always_allow_unready=seen.spec.unhealthy_pod_eviction_policy == "AlwaysAllow",
        has_disrupted=bool(status.disrupted_pods),
        sync_failure=_sync_failure(status.conditions),
    )


def selector(seen: resources.LabelSelector | None) -> tuple[Requirement, ...]:
    """Translate a label selector: labels and expressions alike become requirements, sorted by nothing but their order.

    Raises:
        ValueError: An expression's operator is unknown.
    """
    if seen is None:
        return NOTHING
    labels = (Requirement(key, SelectorOp.IN, frozenset((value,))) for key, value in seen.match_labels.items())
    expressions = (
        Requirement(each.key, SelectorOp(each.operator), frozenset(each.values)) for each in seen.match_expressions
    )
    return (*labels, *expressions)


def _sync_failure(conditions: Iterable[resources.Condition]) -> str | None:
    for each in conditions:
        if each.type == "DisruptionAllowed" and each.reason == "SyncFailed":
            return each.message or each.reason
    return None


# --- owners -----------------------------------------------------------------------------------------------------------


def deployment(seen: resources.Replicas) -> Owner:
    """Translate a Deployment."""
    return _owner("Deployment", seen.metadata, seen.spec.replicas, _failure(seen))


def replica_set(seen: resources.Replicas) -> Owner:
    """Translate a ReplicaSet; its Deployment, if it has one, is its parent."""
    return _owner("ReplicaSet", seen.metadata, seen.spec.replicas, _failure(seen))


def stateful_set(seen: resources.Replicas) -> Owner:
    """Translate a StatefulSet."""
    return _owner("StatefulSet", seen.metadata, seen.spec.replicas, _failure(seen))


def daemon_set(seen: resources.DaemonSet) -> Owner:
    """Translate a DaemonSet: it wants a pod on each node that it has chosen."""
    return _owner("DaemonSet", seen.metadata, seen.status.desired_number_scheduled)


def job(seen: resources.Job) -> Owner:
    """Translate a Job: it wants as many pods as may run at once, but no more than are still to succeed."""
    return _owner("Job", seen.metadata, _wanted_by_job(seen))


def controller(owners: Iterable[resources.OwnerReference]) -> OwnerRef | None:
    """Return the one owner that controls an object; owners that do not control recreate nothing."""
    for each in owners:
        if each.controller:
            return translate_shared.owner(each.kind, each.name, each.uid)
    return None


def is_true(conditions: Iterable[resources.Condition], name: str) -> bool:
    """Tell whether a condition is there and true."""
    return any(each.type == name and each.status == "True" for each in conditions)


def _owner(kind: str, metadata: resources.ObjectMeta, desired: int, failure: str | None = None) -> Owner:
    return Owner(
        ref=OwnerRef(kind, metadata.name, OwnerUid(metadata.uid)),
        namespace=metadata.namespace,
        # One that is being deleted recreates nothing any more, whatever its spec still says.
        desired=0 if metadata.deletion_timestamp is not None else desired,
        parent=controller(metadata.owner_references),
        failure=failure,
    )


def _failure(seen: resources.Replicas) -> str | None:
    for each in seen.status.conditions:
        if each.type == "ReplicaFailure" and each.status == "True":
            return each.message or each.reason
    return None


def _wanted_by_job(seen: resources.Job) -> int:
    conditions = seen.status.conditions
    if seen.spec.suspend or is_true(conditions, "Complete") or is_true(conditions, "Failed"):
        return 0
    if seen.spec.completions is None:  # a queue: the first success says that it is empty
        return 0 if seen.status.succeeded else seen.spec.parallelism
    return min(seen.spec.parallelism, max(0, seen.spec.completions - seen.status.succeeded))

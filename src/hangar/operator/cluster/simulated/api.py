"""What the simulated cluster's API server answers to each step."""

from dataclasses import replace
from typing import assert_never

from hangar.domain.cordon import why_not
from hangar.domain.decision import (
    Accepted,
    Answer,
    Apply,
    BudgetFull,
    Busy,
    Cordon,
    Create,
    Delete,
    Evict,
    Gone,
    Namesake,
    Remove,
    Scale,
    SeveralBudgets,
    Step,
    Trouble,
    Uncordon,
    Unmark,
)
from hangar.domain.snapshot import Node, Pod, PodPhase, PodRef
from hangar.operator.cluster.simulated import graph_api
from hangar.operator.cluster.simulated.graph_api import MANAGER
from hangar.operator.cluster.simulated.world import World


def take(world: World, step: Step) -> Answer:
    """Let a step take effect now, and return the answer."""
    match step:
        case Evict():
            return _evict(world, step)
        case Delete():
            return _delete(world, step)
        case Cordon() | Uncordon() | Unmark():
            return _patch(world, step)
        case Apply() | Scale() | Create() | Remove():
            return graph_api.take(world.dynamo, step)
        case _ as never:
            assert_never(never)


def _patch(world: World, step: Cordon | Uncordon | Unmark) -> Answer:
    node = world.snapshot().nodes.get(step.node)
    if node is None:
        return Gone()
    if node.uid != step.uid:
        return Namesake()
    if (why := why_not(step, node)) is not None:
        return Busy(why, trouble=Trouble.CONFLICT)
    world.put_node(_patched(node, step))
    return Accepted()


def _patched(node: Node, step: Cordon | Uncordon | Unmark) -> Node:
    match step:
        case Cordon(mark=mark) if node.unschedulable:  # the field keeps its owner where its value does not change
            return replace(node, mark=mark)
        case Cordon(mark=mark):
            return replace(node, mark=mark, unschedulable=True, cordon_manager=MANAGER, cordon_is_ours=True)
        case Uncordon():
            return replace(node, mark=None, unschedulable=False, cordon_manager=None, cordon_is_ours=False)
        case Unmark():
            return replace(node, mark=None)
        case _ as never:
            assert_never(never)


def delay_s(world: World, step: Step) -> float:
    """Return how long a step is without an answer: a slow webhook holds up evictions."""
    pod = _named(world, step.pod) if isinstance(step, Evict) else None
    return world.webhooks.delay_s(pod) if isinstance(pod, Pod) else 0.0


def _evict(world: World, step: Evict) -> Answer:
    pod = _named(world, step.pod)
    if not isinstance(pod, Pod):
        return pod
    namespace = pod.ref.namespace
    if world.admission.is_terminating(namespace):
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        return Busy(f'403: pods "{pod.ref.name}" is forbidden: {why}', trouble=Trouble.NAMESPACE_TERMINATING)
    verdict = world.webhooks.ask(pod)
    if verdict is None:
        return _pass(world, step, pod)
    if verdict.lands_after_s is not None:
        world.at(verdict.lands_after_s, lambda: _land(world, step))
    return verdict.answer


def _pass(world: World, step: Evict, pod: Pod) -> Answer:
    """Let an eviction take effect that nothing but a budget stands in the way of."""
    refusal = _ask_budgets(world, pod)
    if refusal is None:
        world.delete_pod(pod.ref.uid, step.grace_s)
    return refusal or Accepted()


def _land(world: World, step: Evict) -> None:
    pod = _named(world, step.pod)
    if isinstance(pod, Pod):
        _pass(world, step, pod)


def _delete(world: World, step: Delete) -> Answer:
    pod = _named(world, step.pod)
    if not isinstance(pod, Pod):
        return pod
    if step.grace_s == 0:
        world.remove_pod(pod.ref.uid)  # the object goes at once, whatever still runs
    else:
        world.delete_pod(pod.ref.uid, step.grace_s)
    return Accepted()


def _named(world: World, ref: PodRef) -> Pod | Gone | Namesake:
    """Return the pod that a reference means, or that its name is free or taken by another."""
    pods = world.snapshot().pods.values()
    named = [pod for pod in pods if (pod.ref.namespace, pod.ref.name) == (ref.namespace, ref.name)]
    if not named:
        return Gone()
    (pod,) = named
    return pod if pod.ref.uid == ref.uid else Namesake()


def _ask_budgets(world: World, pod: Pod) -> Answer | None:
    if pod.phase is PodPhase.PENDING or pod.is_finished or pod.is_terminating:
        return None
    budgets = world.snapshot().budgets_of(pod)
    if len(budgets) > 1:
        return SeveralBudgets(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    for budget in budgets:
        if not pod.ready and (budget.always_allow_unready or budget.healthy >= budget.desired_healthy > 0):
            return None
        if budget.allowed <= 0:
            needs, has = budget.desired_healthy, budget.healthy
            text = f"The disruption budget {budget.name} needs {needs} healthy pods and has {has} currently"
            return BudgetFull(text)
        world.spend_budget(budget, pod)
    return None

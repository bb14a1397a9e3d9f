"""Whose cordon a node carries, and how an operation puts one on."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from hangar.domain.blockers import blocker
from hangar.domain.decision import (
    Accepted,
    Answer,
    Answered,
    Blocker,
    BudgetFull,
    Busy,
    Cordon,
    Denied,
    End,
    Fail,
    Go,
    Gone,
    M,
    Namesake,
    Progress,
    SeveralBudgets,
    Step,
    Uncordon,
    Unknown,
    Unmark,
    Withheld,
)
from hangar.domain.ids import NodeName, NodeUid, OperationId
from hangar.domain.limits import CONFIRMATION_MAX_S, DENIED_TRIES_MAX
from hangar.domain.operation import Phase
from hangar.domain.snapshot import CordonMark, Node, Snapshot
from hangar.domain.view import View, key_of, retry_at


@dataclass(frozen=True, slots=True)
class Take:
    """Take this step now."""

    step: Step


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait, and say for what; look again at `until`."""

    blocker: Blocker
    until: datetime | None


NextMove: TypeAlias = Take | Wait | Fail


def node_of(snapshot: Snapshot, name: NodeName, uid: NodeUid) -> Node | None:
    """Return the node that was meant, or None if it is gone, or another one has taken its name."""
    node = snapshot.nodes.get(name)
    return node if node is not None and node.uid == uid else None


def is_held_by(node: Node, operation: OperationId) -> bool:
    """Tell whether a node's cordon is this operation's.

    Our annotation alone proves nothing: people may uncordon and cordon again under it. So the field must be ours too,
    unless the node was cordoned before us, when the field is rightly another's.
    """
    mark = node.mark
    if mark is None or mark.operation != operation or not node.unschedulable:
        return False
    return node.cordon_is_ours or mark.prior_unschedulable


def whose(node: Node) -> str:
    """Return who cordoned a node, in words."""
    if node.mark is not None and (node.cordon_is_ours or not node.unschedulable):
        because = f" ({node.mark.reason})" if node.mark.reason else ""
        return f"{node.mark.actor}{because}"
    return node.cordon_manager or "somebody"


def missing(snapshot: Snapshot, name: NodeName) -> Fail:
    """Return how an operation fails whose node is not there any more."""
    if name in snapshot.nodes:
        return Fail(
            "node_replaced", f"node {name} was replaced by another node of that name; the new one is not touched"
        )
    return Fail("node_not_found", f"node {name} does not exist any more")


def why_not(step: Cordon | Uncordon | Unmark, node: Node) -> str | None:
    """Return why a step must not be taken on a node as it is by now, or None; for adapters, just before they write.

    Between a decision and its step somebody may have cordoned or uncordoned the node: then it has to be decided anew.
    """
    match step:
        case Cordon(mark=mark) if node.unschedulable != mark.prior_unschedulable:
            return (
                f"node {node.name} was {'cordoned' if node.unschedulable else 'uncordoned'} by somebody else meanwhile"
            )
        case Uncordon(held_by=operation) if operation is not None and not is_held_by(node, operation):
            return f"the cordon of node {node.name} is no longer that of {operation}"
        case Unmark() if node.unschedulable and node.cordon_is_ours:
            return f"node {node.name} was cordoned anew, and the annotation is that cordon's"
        case _:
            return None


def unreadable(snapshot: Snapshot) -> Blocker:
    """Return the blocker of a cluster that cannot be read in full now: unknown is not empty."""
    return blocker("unreadable", "; ".join(snapshot.unreadable))


def mark_of(node: Node, operation: OperationId, actor: str, reason: str | None) -> CordonMark:
    """Return the annotation of a cordon that is put on a node as it is now."""
    return CordonMark(operation, actor, reason, prior_unschedulable=node.unschedulable)


def put_on(node: Node, mark: CordonMark, view: View, now: datetime) -> NextMove:
    """Return the next move towards a node that is seen to be cordoned under this mark."""
    step = Cordon(node.name, node.uid, mark)
    return _towards(step, mark.operation, f"node {node.name}", "cordoned", view, now)


def take_off(node: Node, operation: OperationId, view: View, now: datetime, *, only_own: bool = False) -> NextMove:
    """Return the next move towards a node that is seen to be schedulable and without our mark."""
    step = Uncordon(node.name, node.uid, held_by=operation if only_own else None)
    return _towards(step, operation, f"node {node.name}", "uncordoned", view, now)


def go(memory: M, move: Take | Wait, doing: str) -> Go[M]:
    """Return the decision of an operation on one node that takes or awaits its one step; `doing` is its progress."""
    match move:
        case Take(step=step):
            return Go(memory, Progress(0, 1, "nodes", doing), steps=(step,))
        case Wait(blocker=why, until=until):
            return Go(memory, Progress(0, 1, "nodes", doing, (why,)), blockers=(why,), recheck_at=until)


def end(memory: M, phase: Phase, code: str, message: str) -> End[M]:
    """Return the end of an operation on one node."""
    return End(phase, code, message, memory, Progress(int(phase is Phase.SUCCEEDED), 1, "nodes", message))


def fail(memory: M, why: Fail) -> End[M]:
    """Return the end of an operation that cannot be done."""
    return end(memory, Phase.FAILED, why.code, why.message)


def _towards(step: Step, operation: OperationId, subject: str, state: str, view: View, now: datetime) -> NextMove:
    key = key_of(operation, step)
    confirm = blocker("awaiting_confirmation", subject, state=state)
    if key in view.in_flight:
        return Wait(confirm, None)
    answered = view.answers.get(key)
    if answered is None:
        return Take(step)
    return _after(answered, step, subject, state, confirm, now)


def _after(answered: Answered, step: Step, subject: str, state: str, confirm: Blocker, now: datetime) -> NextMove:
    match answered.answer:
        case Denied(message=message) if answered.tries >= DENIED_TRIES_MAX:
            return Fail("forbidden", f"the cluster refused to have {subject} {state}: {message}")
        case Gone() | Namesake():
            return Fail("node_not_found", f"{subject} does not exist any more")
        case (
            BudgetFull(message=message)
            | Busy(message=message)
            | Denied(message=message)
            | SeveralBudgets(message=message)
            | Unknown(message=message)
            | Withheld(message=message)
        ):
            until = retry_at(answered)
            return (
                Take(step)
                if now >= until
                else Wait(blocker("retry", subject, trouble=_trouble(answered.answer), why=message), until)
            )
        case Accepted():
            until = answered.at + timedelta(seconds=CONFIRMATION_MAX_S)
            if now < until:
                return Wait(confirm, until)
            return Fail("not_confirmed", f"{subject} was asked to be {state}, and is not: somebody changed it back")


def _trouble(answer: Answer) -> str:
    return answer.trouble.value if isinstance(answer, Busy) else type(answer).__name__.lower()

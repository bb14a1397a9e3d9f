"""Faults planted into the rules of drains: what may go, in which order, in which pace, and by what force."""

from dataclasses import replace
from typing import Any

import pytest

import hangar.domain.cordon
import hangar.domain.drain.forcing
import hangar.domain.drain.moves
import hangar.kinds.node_drain
from hangar.domain.budgets import healthy
from hangar.domain.decision import Evict
from hangar.domain.drain.moves import Tally
from hangar.domain.owners import Shortfall
from hangar.domain.view import View
from hangar.operator.pace import Pace


def budgets_spent_twice(patch: pytest.MonkeyPatch) -> None:
    """A budget's status is believed without counting what is under way."""
    patch.setattr("hangar.domain.budgets.allowance", lambda budget, view: healthy(budget, view))


def last_ready_is_taken(patch: pytest.MonkeyPatch) -> None:
    """Nothing keeps an owner's last ready pod."""
    patch.setattr("hangar.domain.drain.pacing.keeps_last_ready", lambda pod, view: None)


def groups_are_counted_by_pods(patch: pytest.MonkeyPatch) -> None:
    """The pods of a group count one by one, though they serve only together."""
    patch.setattr("hangar.domain.owners.group_size", lambda owner, view: 0)


def what_is_learnt_counts_late(patch: pytest.MonkeyPatch) -> None:
    """What a decision has just learnt of its owners counts from the next one on."""
    patch.setattr(View, "claiming", lambda view, *_: view)


def gone_is_done(patch: pytest.MonkeyPatch) -> None:
    """A drain succeeds as soon as its pods are gone."""
    nothing: list[tuple[Any, str, Shortfall]] = []
    patch.setattr(hangar.kinds.node_drain, "lacking", lambda pods, view: nothing)


def told_to_end_is_gone_on_a_silent_node(patch: pytest.MonkeyPatch) -> None:
    """Pods that a silent kubelet was told to end count as gone."""
    real = hangar.domain.drain.moves.tally

    def credulous(tracked: Any, operation: Any, view: View) -> Tally:
        count = real(tracked, operation, view)
        heard = {node.name for node in view.snapshot.nodes.values() if node.is_heard}
        ended = tuple(tracked[pod.ref.uid] for pod in count.terminating if pod.node not in heard)
        terminating = tuple(pod for pod in count.terminating if pod.node in heard)
        return replace(count, evicted=count.evicted + ended, terminating=terminating)

    for module in ("kinds.node_drain", "domain.drain.reporting", "domain.drain.memory"):
        patch.setattr(f"hangar.{module}.tally", credulous)


def critical_pods_go_with_the_others(patch: pytest.MonkeyPatch) -> None:
    """No pod waits for the others to leave."""
    patch.setattr("hangar.domain.drain.pacing.CRITICAL_PRIORITY", 3_000_000_000)


def pace_is_ignored(patch: pytest.MonkeyPatch) -> None:
    """As many pods are evicted at once as budgets let go."""
    patch.setattr(Pace, "left", lambda pace, evictions_max, now: (evictions_max, None))


def force_is_not_asked_for(patch: pytest.MonkeyPatch) -> None:
    """What is left at the deadline is deleted, whatever the caller chose."""
    real = hangar.kinds.node_drain._decide

    def forcing(job: Any, view: Any, now: Any) -> Any:
        return real(replace(job, params=replace(job.params, on_deadline="force")), view, now)

    patch.setattr(hangar.kinds.node_drain, "_decide", forcing)


def force_leaves_no_grace(patch: pytest.MonkeyPatch) -> None:
    """What is forced gets no grace at all, though its node lives."""
    real = hangar.domain.drain.forcing.delete
    patch.setattr(
        hangar.kinds.node_drain,
        "delete",
        lambda operation, pods, grace_s, view, now: real(operation, pods, 0, view, now),
    )


def a_node_is_taken_for_down(patch: pytest.MonkeyPatch) -> None:
    """Who says that a node is down is believed while its kubelet is heard."""
    real = hangar.kinds.node_drain._clear_dead_node

    def believing(job: Any, node: Any, count: Any, view: Any, now: Any) -> Any:
        return real(job, replace(node, is_heard=False) if node is not None else None, count, view, now)

    patch.setattr(hangar.kinds.node_drain, "_clear_dead_node", believing)
    patch.setattr(hangar.kinds.node_drain, "_in_the_way", lambda *_: ())


def no_grace_where_none_was_chosen(patch: pytest.MonkeyPatch) -> None:
    """A grace period that nobody chose is sent as 0: the pods are killed at once."""
    patch.setattr("hangar.domain.drain.pacing.Evict", lambda pod, grace_s: Evict(pod, grace_s or 0))


def what_nobody_recreates_is_evicted(patch: pytest.MonkeyPatch) -> None:
    """Bare pods and orphans go without force."""
    real = hangar.kinds.node_drain._decide

    def careless(job: Any, view: Any, now: Any) -> Any:
        return real(replace(job, params=replace(job.params, force=True)), view, now)

    patch.setattr(hangar.kinds.node_drain, "_decide", careless)


def a_name_is_a_node(patch: pytest.MonkeyPatch) -> None:
    """A node is known by its name: the one that took it is drained in its place."""
    patch.setattr(hangar.domain.cordon, "node_of", lambda snapshot, name, uid: snapshot.nodes.get(name))


def foreign_cordon_is_undone(patch: pytest.MonkeyPatch) -> None:
    """A failed drain takes off whatever cordon is there."""
    patch.setattr(hangar.domain.cordon, "is_held_by", lambda node, operation: node.unschedulable)


RULES = (
    budgets_spent_twice,
    last_ready_is_taken,
    groups_are_counted_by_pods,
    what_is_learnt_counts_late,
    gone_is_done,
    told_to_end_is_gone_on_a_silent_node,
    critical_pods_go_with_the_others,
    pace_is_ignored,
    force_is_not_asked_for,
    force_leaves_no_grace,
    a_node_is_taken_for_down,
    no_grace_where_none_was_chosen,
    what_nobody_recreates_is_evicted,
    a_name_is_a_node,
    foreign_cordon_is_undone,
)

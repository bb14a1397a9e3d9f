"""Faults planted into the product, each a way it could be wrong; the simulation must catch every one."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

import hangar.hub.usecases.report
import hangar.hub.usecases.sync
import hangar.kinds.node_drain
import hangar.operator.conductor
import hangar.operator.loop
import hangar.operator.turn
from hangar.domain.decision import End, Evict, Go, Step
from hangar.domain.operation import Phase
from hangar.domain.view import key_of
from hangar.hub.store.records import find_cluster
from hangar.operator.conductor import Conductor
from hangar.operator.loop import Operator
from hangar.wire.documents import progress_doc
from hangar.wire.operator import JobDoc, SyncAnswer
from tests.simulation.planted_rules import RULES
from tests.simulation.planted_workloads import WORKLOADS

Plant = Callable[[pytest.MonkeyPatch], None]


def cancel_is_not_heard(patch: pytest.MonkeyPatch) -> None:
    """The operator goes on after a cancel."""
    patch.setattr(Conductor, "why_withheld", lambda *_: None)
    real = hangar.kinds.node_drain._decide

    def deaf(job: Any, view: Any, now: Any) -> Any:
        return real(replace(job, is_cancelled=False), view, now)

    patch.setattr(hangar.kinds.node_drain, "_decide", deaf)


def ends_before_answers(patch: pytest.MonkeyPatch) -> None:
    """An operation ends while its calls are under way, and the gate lets them out."""
    patch.setattr(hangar.operator.turn, "_not_before_answers", lambda job, decision, view: decision)
    patch.setattr(Conductor, "why_withheld", lambda *_: None)


def lease_is_ignored(patch: pytest.MonkeyPatch) -> None:
    """The operator acts on although the hub has not been heard for long, and does not wait for its acknowledgement."""
    patch.setattr(Operator, "_why_powerless", lambda _: None)
    patch.setattr(Conductor, "_go", _acts_before_memory)


def memory_after_act(patch: pytest.MonkeyPatch) -> None:
    """Steps leave before the hub has stored what must not be forgotten."""
    patch.setattr(Conductor, "_go", _acts_before_memory)


def _acts_before_memory(self: Any, each: Any, decision: Go[Any], now: Any, times: list[Any]) -> tuple[Step, ...]:
    job = each.open_job.job
    if decision.recheck_at is not None:
        times.append(decision.recheck_at)
    self._in_flight |= {key_of(job.id, step): now for step in decision.steps}
    self._pace.decided(key_of(job.id, step) for step in decision.steps if isinstance(step, Evict))
    progress = progress_doc(decision.progress)
    if decision.memory != job.memory or not each.is_claimed:
        each.open_job = replace(each.open_job, job=replace(job, memory=decision.memory))
        self._report(each, now, progress, hangar.operator.conductor._document(decision.memory))
    return decision.steps


def uncordon_is_overlooked(patch: pytest.MonkeyPatch) -> None:
    """Nobody notices that the node was uncordoned in mid-drain."""
    real = hangar.kinds.node_drain._decide

    def blind(job: Any, view: Any, now: Any) -> Any:
        decision = real(job, view, now)
        if isinstance(decision, End) and decision.code == "interrupted":
            nodes = {
                name: replace(node, unschedulable=True) if name == job.target else node
                for name, node in view.snapshot.nodes.items()
            }
            return real(job, replace(view, snapshot=replace(view.snapshot, nodes=nodes)), now)
        return decision

    patch.setattr(hangar.kinds.node_drain, "_decide", blind)


def unknown_is_sent_again(patch: pytest.MonkeyPatch) -> None:
    """An eviction of unknown outcome is sent again at once."""
    patch.setattr(hangar.operator.turn, "_may_land", lambda since, now: False)


def late_reports_change_ends(patch: pytest.MonkeyPatch) -> None:
    """The hub takes reports on operations that are over."""
    patch.setattr(hangar.hub.usecases.report, "OPEN", frozenset(Phase))
    patch.setattr(hangar.hub.usecases.report, "check_transition", lambda *_: None)
    patch.setattr("hangar.hub.usecases.ending.check_transition", lambda *_: None)


def fence_is_open(patch: pytest.MonkeyPatch) -> None:
    """Older sessions go on writing, and anybody is granted the cluster at once."""
    for module in ("report", "sync"):
        patch.setattr(
            f"hangar.hub.usecases.{module}.held_cluster", lambda connection, name, *_: find_cluster(connection, name)
        )
    patch.setattr("hangar.hub.usecases.open_session._must_wait_s", lambda *_: 0.0)
    patch.setattr(Operator, "_why_powerless", lambda _: None)


def ended_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """The hub loses an operation that it has acknowledged when it is cancelled while pending."""
    from hangar.hub.store.tables import operations

    real = hangar.hub.usecases.sync.sync

    def forgets(tx: Any, *rest: Any) -> Any:
        tx.connection.execute(operations.delete().where(operations.c.phase == Phase.CANCELLED.value))
        return real(tx, *rest)

    patch.setattr("tests.simulation.net.sync", forgets)


def memory_is_lost_at_a_takeover(patch: pytest.MonkeyPatch) -> None:
    """Who carries an operation on begins without its memory."""
    real = Conductor._first_sight

    def blank(self: Any, doc: JobDoc, sent_at: Any) -> Any:
        return real(self, structs.replace(doc, memory=None), sent_at)

    patch.setattr(Conductor, "_first_sight", blank)


def a_cancel_is_lost_at_a_takeover(patch: pytest.MonkeyPatch) -> None:
    """Who carries an operation on does not hear that it was cancelled before."""
    real_heard = Conductor.heard

    def heard(self: Any, answer: SyncAnswer, sent_at: Any) -> None:
        inherited = self.__dict__.setdefault("inherited", set())
        inherited |= {doc.id for doc in answer.jobs if doc.cancel and doc.id not in self._open}
        jobs = [structs.replace(doc, cancel=doc.cancel and doc.id not in inherited) for doc in answer.jobs]
        real_heard(self, structs.replace(answer, jobs=jobs), sent_at)

    real_acked = Conductor.acked

    def acked(self: Any, acks: Any) -> Any:
        inherited = self.__dict__.setdefault("inherited", set())
        return real_acked(
            self, [structs.replace(each, cancel=each.cancel and each.id not in inherited) for each in acks]
        )

    patch.setattr(Conductor, "heard", heard)
    patch.setattr(Conductor, "acked", acked)


def a_deadline_that_passed_is_always_now(patch: pytest.MonkeyPatch) -> None:
    """The hub never says how long ago a deadline was: a forced drain is given its minute again and again."""
    real = hangar.hub.usecases.sync._job

    def clamped(record: Any, now_us: int) -> JobDoc:
        doc = real(record, now_us)
        return doc if doc.remaining_s is None else structs.replace(doc, remaining_s=max(0.0, doc.remaining_s))

    patch.setattr(hangar.hub.usecases.sync, "_job", clamped)


PLANTED: Mapping[str, Plant] = {
    each.__name__: each
    for each in (
        cancel_is_not_heard,
        ends_before_answers,
        lease_is_ignored,
        memory_after_act,
        uncordon_is_overlooked,
        unknown_is_sent_again,
        late_reports_change_ends,
        fence_is_open,
        ended_is_forgotten,
        memory_is_lost_at_a_takeover,
        a_cancel_is_lost_at_a_takeover,
        a_deadline_that_passed_is_always_now,
        *RULES,
        *WORKLOADS,
    )
}

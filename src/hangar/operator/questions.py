"""Questions: what users ask an operation would do, answered on the same view that operations are decided on."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import msgspec

from hangar.domain.decision import Fail
from hangar.domain.ids import NodeName, NodeUid, OperationId
from hangar.domain.kind import Job, Kind
from hangar.domain.plan import Plan
from hangar.domain.view import View
from hangar.operator.documents import answer_doc
from hangar.wire.operator import AnswerDoc, QuestionDoc

ANSWERED_REMEMBERED_MAX = 100
"""Answered questions kept in mind, so that a sync that was under way does not put them again; they live for seconds."""


class Questions:
    """The open questions of one cluster. Nothing here acts on it: to foresee is to decide without acting."""

    def __init__(self, kinds: Mapping[str, Kind[object, object]]) -> None:
        self._kinds = kinds
        self._open: dict[str, QuestionDoc] = {}
        self._outbox: dict[str, AnswerDoc] = {}
        self._answered: dict[str, None] = {}

    def begin_session(self) -> None:
        """Forget all: the hub's next sync brings what is still asked."""
        self._open.clear()
        self._outbox.clear()

    def heard(self, docs: Iterable[QuestionDoc]) -> None:
        """Take in the questions of a sync."""
        self._open = {each.id: each for each in docs if each.id not in self._answered and each.id not in self._outbox}

    def answer(self, view: View, now: datetime) -> None:
        """Answer all open questions on this view."""
        while self._open:
            _, doc = self._open.popitem()  # first of all: one that cannot be answered must not be asked for ever
            self._outbox[doc.id] = answer_doc(doc.id, self._foresee(doc, view, now))

    def refuse(self, why: str) -> None:
        """Answer that there is no telling now, and why."""
        for id_ in self._open:
            self._outbox[id_] = AnswerDoc(id=id_, refusal=why)
        self._open.clear()

    def outbox(self) -> list[AnswerDoc]:
        """Return the answers that are not acknowledged yet; sending one twice does no harm."""
        return list(self._outbox.values())

    def acked(self, answers: Iterable[AnswerDoc]) -> None:
        """Take in that the hub has these."""
        for each in answers:
            self._outbox.pop(each.id, None)
            self._answered[each.id] = None
        while len(self._answered) > ANSWERED_REMEMBERED_MAX:
            del self._answered[next(iter(self._answered))]

    def _foresee(self, doc: QuestionDoc, view: View, now: datetime) -> Plan | Fail:
        kind = self._kinds.get(doc.type)
        if kind is None or kind.version != doc.kind_version:
            return Fail("unsupported_kind", f"this operator does not know {doc.type} version {doc.kind_version}")
        if view.snapshot.unreadable:
            return Fail("unreadable", f"it cannot read {'; '.join(view.snapshot.unreadable)}")
        try:
            params = msgspec.convert(doc.params, kind.params)
        except msgspec.ValidationError as error:
            return Fail("unsupported_kind", f"this operator does not understand the parameters: {error}")
        deadline_at = now + timedelta(seconds=float(doc.params.get("deadline_s", 0)))
        job: Job[object, object] = Job(
            OperationId(doc.id),
            NodeName(doc.target),
            NodeUid(doc.target_uid),
            params,
            kind.memory(),
            doc.asked_by,
            None,
            deadline_at,
        )
        return kind.foresee(job, view.claiming(job.id, kind.claims(job)), now)

"""foresee: ask a cluster's operator what an operation on a node would do, without making one."""

from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection, bindparam, exists, func, insert, select, update

from hangar.hub.present import milliseconds
from hangar.hub.principals import Principal, Role, require
from hangar.hub.store.records import node_hold
from hangar.hub.store.tables import questions
from hangar.hub.store.tx import Tx
from hangar.hub.usecases.requests import OperationRequest
from hangar.hub.usecases.rules import Rules, us
from hangar.hub.usecases.submit import check_free, check_request, resolve_allowed
from hangar.wire import plans
from hangar.wire.operator import AnswerDoc, JsonObject, QuestionDoc
from hangar.wire.problems import Problem, ProblemCode

_IS_OPEN = questions.c.answer.is_(None)
_OPEN_OF_CLUSTER = select(questions).where(questions.c.cluster == bindparam("wanted"), _IS_OPEN)
_ANSWER = update(questions).where(
    questions.c.id == bindparam("wanted"), questions.c.cluster == bindparam("of_cluster"), _IS_OPEN
)
_ANSWER_OF = select(questions.c.answer).where(questions.c.id == bindparam("wanted"))

HAS_QUESTIONS = exists().where(questions.c.cluster == bindparam("wanted"), _IS_OPEN)
NEWEST_QUESTION_REV = select(func.max(questions.c.rev)).where(questions.c.cluster == bindparam("wanted"), _IS_OPEN)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was put: what it is about, as the plan will say it."""

    id: str
    type: str
    target: str
    cluster: str
    params: JsonObject


def ask(tx: Tx, who: Principal, request: OperationRequest, id_: str, rules: Rules, now_us: int) -> Asked:
    """Put a question, after all the checks that making the operation would pass.

    Raises Problem: FORBIDDEN, INVALID_VALUE, NOT_FOUND, AMBIGUOUS_TARGET, OPERATION_NOT_ALLOWED, UNSUPPORTED_KIND,
    CONFLICT, CLUSTER_OFFLINE.
    """
    require(who, Role.MAINTAINER)
    entry, params = check_request(request, rules)
    node = resolve_allowed(tx.connection, request, entry, params)
    cluster = node.cluster
    check_free(tx.connection, node_hold(cluster.name, node.uid), now_us)
    if not cluster.online:
        heard = f"it was last heard at {milliseconds(cluster.seen_us)}" if cluster.seen_us else "it was never heard"
        raise offline(cluster.name, f"is offline: {heard}")
    question = QuestionDoc(
        id=id_,
        type=entry.name,
        kind_version=entry.version,
        target=node.name,
        target_uid=node.uid,
        params=params,
        asked_by=who.name,
    )
    body = msgspec.to_builtins(question)
    values = {"id": id_, "cluster": cluster.name, "body": body, "expires_us": now_us + us(rules.question_ttl_s)}
    tx.connection.execute(insert(questions), values)
    tx.touch_question(id_, cluster.name)
    return Asked(id_, entry.name, node.name, cluster.name, params)


def offline(cluster: str, why: str) -> Problem:
    """Return the refusal of a dry run whose operator does not answer."""
    detail = f"the operator of {cluster} {why}; only it can say what would happen. Try again when it is back."
    return Problem(ProblemCode.CLUSTER_OFFLINE, detail, context={"cluster": cluster}, retry_after_s=5)


def open_questions(connection: Connection, cluster: str) -> list[QuestionDoc]:
    """Return the questions that a cluster's operator has not answered, oldest first."""
    rows = connection.execute(_OPEN_OF_CLUSTER.order_by(questions.c.id), {"wanted": cluster})
    return [msgspec.convert(row.body, QuestionDoc) for row in rows]


def take_answer(tx: Tx, cluster: str, answer: AnswerDoc) -> None:
    """Store an answer; one to a question that is over, answered or another cluster's changes nothing."""
    values = {"wanted": answer.id, "of_cluster": cluster, "answer": msgspec.to_builtins(answer)}
    if tx.connection.execute(_ANSWER, values).rowcount:
        tx.touch_question(answer.id, cluster)


def read_answer(connection: Connection, asked: Asked, now_us: int) -> plans.Plan | None:
    """Return the plan, or None while there is no answer. Raises UNSUPPORTED_KIND, NOT_FOUND or CLUSTER_OFFLINE."""
    stored = connection.execute(_ANSWER_OF, {"wanted": asked.id}).scalar_one_or_none()
    if stored is None:
        return None
    answer = msgspec.convert(stored, AnswerDoc)
    if answer.plan is None:
        raise offline(asked.cluster, f"cannot say: {answer.refusal}")
    about = {"type": asked.type, "target": asked.target, "cluster": asked.cluster, "params": asked.params}
    try:
        return msgspec.convert(answer.plan | about | {"planned_at": milliseconds(now_us)}, plans.Plan)
    except msgspec.ValidationError as error:
        text = f"the plan of {asked.cluster}'s operator cannot be understood, it is of another release: {error}"
        raise Problem(ProblemCode.UNSUPPORTED_KIND, text) from error

"""Asking what an operation would do: the checks of the real thing, and nothing that stays."""

from typing import Any

import pytest

from hangar.hub.store.tables import operations, questions
from hangar.hub.usecases.foresee import Asked, ask, read_answer
from hangar.hub.usecases.report import report
from hangar.hub.usecases.requests import OperationRequest
from hangar.hub.usecases.sync import sync
from hangar.wire.operator import AnswerDoc, QuestionDoc, ReportRequest, SyncRequest
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.world import ADMIN, VIEWER, Operator, World, an_operator

PLAN: dict[str, Any] = {
    "message": "1 pod would be evicted",
    "fits": "fits",
    "moves": [],
    "skipped": [],
    "obstructions": [],
    "warnings": [],
    "budgets": [],
    "losses": [],
    "expected_duration_s": 12,
    "basis": "what its siblings took",
}


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster()
    return made


@pytest.fixture
def operator(world: World) -> Operator:
    return an_operator(world)


def put(world: World, target: str = "iad-1-n01", **given: Any) -> Asked:
    who = given.pop("who", ADMIN)
    request = OperationRequest(type="node.drain", target=target, **{"params": {}} | given)
    return world.store.write(lambda tx: ask(tx, who, request, "q_1", world.rules, world.now_us))


def asked(operator: Operator) -> list[QuestionDoc]:
    request = SyncRequest(session=operator.grant.session, epoch=operator.grant.epoch)
    world = operator.world
    return world.store.write(lambda tx: sync(tx, operator.cluster, request, world.now_us)).questions


def tell(operator: Operator, answer: AnswerDoc) -> None:
    grant, world = operator.grant, operator.world
    request = ReportRequest(session=grant.session, epoch=grant.epoch, reports=[], answers=[answer])
    world.store.write(lambda tx: report(tx, operator.cluster, request, world.now_us))


def count(world: World, table: Any) -> int:
    return len(world.store.read(lambda connection: connection.execute(table.select()).all()))


def test_a_question_reaches_the_operator_until_it_is_answered(world: World, operator: Operator) -> None:
    question = put(world, params={"grace_period_s": 5})
    (doc,) = asked(operator)
    assert (doc.id, doc.type, doc.target, doc.target_uid) == ("q_1", "node.drain", "iad-1-n01", "uid-iad-1-n01")
    assert doc.params["grace_period_s"] == 5
    assert doc.params["deadline_s"] == 3600
    tell(operator, AnswerDoc(id="q_1", plan=PLAN))
    assert asked(operator) == []
    plan = world.store.read(lambda connection: read_answer(connection, question, world.now_us))
    assert plan is not None
    assert (plan.message, plan.cluster, plan.expected_duration_s) == ("1 pod would be evicted", "iad-1", 12)


def test_it_leaves_no_operation_and_no_event_and_goes_by_itself(world: World, operator: Operator) -> None:
    before = world.events()
    put(world)
    tell(operator, AnswerDoc(id="q_1", plan=PLAN))
    assert (count(world, operations), world.events()) == (0, before)
    world.pass_s(31)
    assert count(world, questions) == 0


def test_before_an_answer_there_is_none_and_a_refusal_says_why(world: World, operator: Operator) -> None:
    question = put(world)
    assert world.store.read(lambda connection: read_answer(connection, question, world.now_us)) is None
    tell(operator, AnswerDoc(id="q_1", refusal="it cannot read pods"))
    with pytest.raises(Problem, match="cannot say: it cannot read pods") as refused:
        world.store.read(lambda connection: read_answer(connection, question, world.now_us))
    assert refused.value.code is ProblemCode.CLUSTER_OFFLINE


def test_only_its_own_clusters_operator_may_answer_and_only_once(world: World, operator: Operator) -> None:
    world.add_cluster("fra-1")
    stranger = an_operator(world, "fra-1")
    question = put(world)
    tell(stranger, AnswerDoc(id="q_1", plan=PLAN | {"message": "a stranger's"}))
    assert len(asked(operator)) == 1
    tell(operator, AnswerDoc(id="q_1", plan=PLAN))
    tell(operator, AnswerDoc(id="q_1", plan=PLAN | {"message": "another"}))
    plan = world.store.read(lambda connection: read_answer(connection, question, world.now_us))
    assert plan is not None
    assert plan.message == PLAN["message"]


def test_a_plan_of_another_release_is_refused_in_words(world: World, operator: Operator) -> None:
    question = put(world)
    tell(operator, AnswerDoc(id="q_1", plan={"message": "too little"}))
    with pytest.raises(Problem, match="another release"):
        world.store.read(lambda connection: read_answer(connection, question, world.now_us))


def test_an_operator_that_is_away_is_not_asked(world: World, operator: Operator) -> None:
    operator.release()
    with pytest.raises(Problem, match="is offline") as refused:
        put(world)
    assert refused.value.code is ProblemCode.CLUSTER_OFFLINE
    assert refused.value.retry_after_s is not None


def test_what_could_not_be_made_cannot_be_foreseen(world: World, operator: Operator) -> None:
    with pytest.raises(Problem) as forbidden:
        put(world, who=VIEWER)
    with pytest.raises(Problem) as missing:
        put(world, "iad-1-n99")
    world.create()
    with pytest.raises(Problem) as held:
        put(world)
    codes = [each.value.code for each in (forbidden, missing, held)]
    assert codes == [ProblemCode.FORBIDDEN, ProblemCode.NOT_FOUND, ProblemCode.CONFLICT]

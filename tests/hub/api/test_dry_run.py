"""POST /v1/operations?dry_run=true: the operator's plan, and nothing else."""

import asyncio
from dataclasses import fields
from typing import Any

import httpx2
import pytest

from hangar.hub.api import operations
from hangar.wire import plans
from tests.hub.api.client import Api, problem_of
from tests.hub.sites import Fleet
from tests.hub.usecases.test_foresee import PLAN

PATH = "/v1/operations?dry_run=true"
BODY = {"type": "node.drain", "target": "iad-1-n01"}


@pytest.fixture
def api() -> Api:
    return Api()


def test_the_plan_comes_as_soon_as_the_operator_answers(api: Api) -> None:
    grant = api.operator.grant
    session = {"session": grant.session, "epoch": grant.epoch}
    bearer = {"Authorization": f"Bearer {api.secrets['operator']}"}  # type: ignore[index]  # a role is its name

    async def talk(client: httpx2.AsyncClient) -> tuple[httpx2.Response, Any]:
        waiting = asyncio.create_task(client.post(PATH, json=BODY))
        await api.parked()
        while True:
            heard = (await client.post("/v1/operator/sync", json=session, headers=bearer)).json()
            if heard["questions"]:
                break
        answers = [{"id": heard["questions"][0]["id"], "plan": PLAN}]
        await client.post("/v1/operator/report", json=session | {"reports": [], "answers": answers}, headers=bearer)
        return await waiting, (await client.get("/v1/operations")).json()["items"]

    answer, listed = api.run(talk)
    document = answer.json()
    assert answer.status_code == 200
    assert (document["type"], document["target"], document["cluster"]) == ("node.drain", "iad-1-n01", "iad-1")
    assert (document["message"], document["params"]["deadline_s"]) == (PLAN["message"], 3600)
    assert listed == []


def test_an_operator_that_does_not_answer_is_told_of_with_when_to_try_again(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "QUESTION_TIMEOUT_S", 0.0)
    answer = api.post(PATH, BODY)
    assert "has not answered within 0 s" in problem_of(answer, "cluster_offline", 503)["detail"]
    assert answer.headers["retry-after"] == "5"


def test_a_bad_request_is_told_like_that_of_the_real_thing(api: Api) -> None:
    problem = problem_of(api.post(PATH, BODY | {"params": {"deadline_s": 0}}), "invalid_value", 422)
    assert [each["path"] for each in problem["errors"]] == ["params.deadline_s"]


def test_an_operation_on_a_workload_is_foreseen_by_the_hub(api: Api) -> None:
    fleet = Fleet("fra-1", world=api.world)
    fleet.bind(replicas=2)
    asked = {"type": "workload.scale", "target": "llama", "params": {"replicas": 4}}
    answer = api.post(PATH, asked)
    assert answer.status_code == 200
    plan = answer.json()
    assert list(plan) == [each.name for each in fields(plans.WorkloadPlan)]
    assert (plan["type"], plan["message"]) == ("workload.scale", "2 = 2, divided becomes 4 = 4, divided")
    assert [(each["before"], each["after"]) for each in plan["deployments"]] == [(2, 4)]
    assert api.get("/v1/operations").json()["items"] == []
    assert api.get("/v1/workloads/llama").json()["replicas"] == 2
    missing = problem_of(api.post(PATH, asked | {"params": {}}), "invalid_value", 422)
    assert [each["path"] for each in missing["errors"]] == ["params.replicas"]

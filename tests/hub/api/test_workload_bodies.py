"""Bodies about workloads and projects: strict, and all that is wrong with one at once."""

import pytest

from hangar.domain.ids import ClusterName
from hangar.domain.limits import REPLICAS_MAX
from hangar.domain.workloads.placement import Bounds, Division, Policy, Weighing
from hangar.hub.api.workload_bodies import PutWorkload, checked_name, request_of
from hangar.hub.usecases.check_workloads import Binding
from hangar.hub.usecases.workloads import WorkloadRequest
from hangar.wire.problems import Problem
from tests.hub.api.client import Api, problem_of

PUT, PATCH = ("PUT", "/v1/workloads/llama"), ("PATCH", "/v1/workloads/llama")
PROJECT = ("PUT", "/v1/projects/chat")


@pytest.fixture(scope="module")
def api() -> Api:
    return Api()


@pytest.mark.parametrize(
    ("route", "body", "paths"),
    [
        (PUT, {}, ["project"]),
        (PUT, {"project": "chat", "speed": 9, "replicas": -1}, ["replicas", "speed"]),
        (PUT, {"project": "A b", "replicas": "3"}, ["project", "replicas"]),
        (PUT, {"project": "chat", "replicas": REPLICAS_MAX + 1, "shape": {"decode": 0}}, ["replicas", "shape.decode"]),
        (PUT, {"project": "chat", "shape": {}}, ["shape"]),
        (PUT, {"project": "chat", "replicas": True}, ["replicas"]),
        (
            PUT,
            {"project": "chat", "policy": {"division": "half", "weighing": "luck", "weights": {"fra-1": -1}}},
            ["policy.division", "policy.weighing", "policy.weights.fra-1"],
        ),
        (PUT, {"project": "chat", "policy": {"min": 3, "max": 2}}, ["policy"]),
        (PUT, {"project": "chat", "policy": {"bounds": {"fra-1": {"min": 3, "max": 2}}}}, ["policy.bounds.fra-1"]),
        (
            PUT,
            {
                "project": "chat",
                "deployments": [{"cluster": "fra-1"}, {"cluster": "a/b", "namespace": "", "graph": "g"}],
            },
            [
                "deployments[0].graph",
                "deployments[0].namespace",
                "deployments[1].cluster",
                "deployments[1].namespace",
            ],
        ),
        (PATCH, {}, ["replicas"]),
        (PATCH, {"replicas": None}, ["replicas"]),
        (PATCH, {"replicas": 1.5, "paused": True, "project": "chat"}, ["paused", "project", "replicas"]),
        (PROJECT, {"quotas": {"nvidia.com/gpu": -1, "cpu": "8"}}, ["quotas.cpu", "quotas.nvidia.com/gpu"]),
        (PROJECT, {"limits": {}}, ["limits"]),
        (PROJECT, {"quotas": {"a\u0000b": 1}}, ["quotas.a\u0000b.[key]"]),
    ],
)
def test_all_that_is_wrong_is_named_at_once(
    api: Api, route: tuple[str, str], body: dict[str, object], paths: list[str]
) -> None:
    problem = problem_of(api.request(*route, json=body), "invalid_value", 422)
    assert sorted(each["path"] for each in problem["errors"]) == paths


def test_an_unknown_field_is_told_with_those_there_are(api: Api) -> None:
    problem = problem_of(api.request(*PATCH, json={"replicas": 3, "paused": True}), "invalid_value", 422)
    assert problem["detail"] == "paused: is no field here: there are replicas"


def test_bounds_that_cross_are_told_with_their_numbers(api: Api) -> None:
    body = {"project": "chat", "policy": {"min": 3, "max": 2}}
    problem = problem_of(api.request(*PUT, json=body), "invalid_value", 422)
    assert problem["detail"] == "policy: max 2 is below min 3"


@pytest.mark.parametrize(("method", "path"), [PUT, PATCH, PROJECT])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null"])
def test_what_is_no_object_is_refused(api: Api, method: str, path: str, content: bytes) -> None:
    answer = api.request(method, path, content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["code"] in ("invalid_request", "invalid_value")


@pytest.mark.parametrize("path", ["/v1/workloads/LLAMA", "/v1/workloads/a_b", "/v1/projects/A"])
def test_a_name_that_could_be_none_is_refused(api: Api, path: str) -> None:
    body = {"project": "chat"} if "workloads" in path else {}
    problem = problem_of(api.request("PUT", path, json=body), "invalid_value", 422)
    assert [each["path"] for each in problem["errors"]] == ["path.name"]


def test_a_good_name_is_let_through() -> None:
    checked_name("llama-3.1-70b")
    with pytest.raises(Problem):
        checked_name("llama 70b")


def test_a_body_without_more_than_a_project_leaves_all_else() -> None:
    assert request_of(PutWorkload(project="chat")) == WorkloadRequest("chat")


def test_a_whole_body_is_read_as_it_is_written() -> None:
    body = PutWorkload.model_validate_json(
        b'{"project": "chat", "replicas": 4, "shape": {"decode": 2}, "policy": {"division": "duplicated",'
        b' "weighing": "free", "weights": {"fra-1": 2}, "min": 1, "max": 5, "bounds": {"sin-1": {"max": 3}}},'
        b' "deployments": [{"cluster": "fra-1", "namespace": "serving", "graph": "llama"}]}'
    )
    fra, sin = ClusterName("fra-1"), ClusterName("sin-1")
    policy = Policy(Division.DUPLICATED, Weighing.FREE, {fra: 2}, {sin: Bounds(0, 3)}, Bounds(1, 5))
    expected = WorkloadRequest("chat", 4, policy, {"decode": 2}, (Binding("fra-1", "serving", "llama"),))
    assert request_of(body) == expected

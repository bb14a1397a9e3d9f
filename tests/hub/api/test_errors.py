"""Every error is a problem, and every answer has its request's id."""

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from hangar.hub.principals import Role
from tests.hub.api.client import Api, problem_of


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.mark.parametrize("path", ["/", "/v1", "/v2/operations", "/v1/operations/op_1/nothing", "/v1/secrets"])
def test_an_unknown_route_is_a_problem(api: Api, path: str) -> None:
    problem = problem_of(api.get(path), "not_found", 404)
    assert path in problem["detail"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("DELETE", "/v1/operations", "GET, POST"), ("POST", "/v1/nodes", "GET"), ("PUT", "/v1/operations/op_1", "GET")],
)
def test_another_method_is_told_which_is_taken(api: Api, method: str, path: str, allowed: str) -> None:
    answer = api.request(method, path, json={})
    problem_of(answer, "method_not_allowed", 405)
    assert set(answer.headers["allow"].split(", ")) <= set(allowed.split(", "))


def test_a_fault_is_a_problem_that_tells_nothing_of_the_inside(api: Api) -> None:
    api.world.store.write(lambda tx: tx.connection.execute(text("ALTER TABLE nodes RENAME TO lost")))
    with capture_logs() as lines:
        answer = api.get("/v1/nodes")
    problem = problem_of(answer, "internal", 500)
    assert [(each["event"], each["log_level"]) for each in lines] == [("a fault", "error"), ("request", "info")]
    assert "lost" not in answer.text
    assert "X-Request-Id" in problem["detail"]
    assert answer.headers["x-request-id"]


@pytest.mark.parametrize("path", ["/v1/nodes", "/v1/nodes/gone", "/nothing", "/healthz", "/docs"])
@pytest.mark.parametrize("role", [Role.ADMIN, None])
def test_every_answer_has_an_id(api: Api, path: str, role: Role | None) -> None:
    assert len(api.get(path, role=role).headers["x-request-id"]) == 26


@pytest.mark.parametrize(("given", "is_taken"), [("abc-123", True), ("a b", False), ("x" * 129, False)])
def test_a_callers_own_id_is_taken_where_it_is_sane(api: Api, given: str, is_taken: bool) -> None:
    answer = api.get("/healthz", headers={"X-Request-Id": given})
    assert (answer.headers["x-request-id"] == given) is is_taken


def test_a_node_is_found_by_bare_name_and_by_cluster_and_name(api: Api) -> None:
    for path in ("/v1/nodes/iad-1-n01", "/v1/nodes/iad-1/iad-1-n01", "/v1/nodes/iad-1%2Fiad-1-n01"):
        assert api.get(path).json()["cluster"] == "iad-1"
    problem_of(api.get("/v1/nodes/iad-1-n01?cluster=ord-1"), "not_found", 404)
    problem_of(api.get("/v1/nodes/a%00b"), "invalid_filter", 400)


def test_devices_and_events_take_their_filters(api: Api) -> None:
    devices = api.get("/v1/devices?cluster=iad-1&allocatable=true&resource=nvidia.com/gpu").json()["items"]
    assert [(each["node"], each["free"]) for each in devices] == [("iad-1-n01", 6), ("iad-1-n02", 6)]
    events = api.get("/v1/events?type=node.added&object=iad-1-n01&cluster=iad-1&after=0").json()["items"]
    assert [each["message"] for each in events] == ["node iad-1-n01 was added"]
    problem_of(api.get("/v1/events?after=-1"), "invalid_filter", 400)
    problem_of(api.get(f"/v1/events?after={1 << 63}"), "invalid_filter", 400)

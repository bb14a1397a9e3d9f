"""The routes of workloads, deployments, projects and quotas, as bytes."""

from typing import Any

import msgspec
import pytest

from hangar.hub.principals import Role
from hangar.wire.operator import RivalDoc
from tests.hub.api.client import Api, problem_of
from tests.hub.sites import GPU, TEMPLATE, Fleet, a_graph

WRITES = [
    ("PUT", "/v1/workloads/llama", {"project": "chat"}, Role.ADMIN),
    ("PATCH", "/v1/workloads/llama", {"replicas": 4}, Role.MAINTAINER),
    ("DELETE", "/v1/workloads/llama", None, Role.ADMIN),
    ("DELETE", "/v1/workloads/llama/deployments/fra-1", None, Role.ADMIN),
    ("PUT", "/v1/projects/chat", {}, Role.ADMIN),
    ("DELETE", "/v1/projects/chat", None, Role.ADMIN),
]


class WorkloadApi(Api):
    """An API with two clusters more, each of which has a graph llama."""

    def __init__(self) -> None:
        super().__init__()
        self.fleet = Fleet("fra-1", "sin-1", world=self.world)

    def put(self, path: str, json: Any, **given: Any) -> Any:
        return self.request("PUT", path, json=json, **given)

    def patch(self, path: str, json: Any, **given: Any) -> Any:
        return self.request("PATCH", path, json=json, **given)

    def delete(self, path: str, **given: Any) -> Any:
        return self.request("DELETE", path, **given)


@pytest.fixture
def api() -> WorkloadApi:
    return WorkloadApi()


def bindings(*clusters: str) -> list[dict[str, str]]:
    return [{"cluster": each, "namespace": "serving", "graph": "llama"} for each in clusters]


def test_a_workload_goes_from_put_to_delete(api: WorkloadApi) -> None:
    body = {"project": "chat", "replicas": 5, "deployments": bindings("fra-1", "sin-1")}
    made = api.put("/v1/workloads/llama", body)
    assert made.status_code == 201
    document = made.json()
    assert list(document)[:4] == ["name", "project", "state", "replicas"]
    assert (document["placement"], document["desired"], document["ready"]) == ("3 + 2 = 5, divided", 5, 0)
    assert [each["cluster"] for each in document["deployments"]] == ["fra-1", "sin-1"]
    again = api.put("/v1/workloads/llama", body)
    assert (again.status_code, again.json()["replicas"]) == (200, 5)
    assert api.get("/v1/workloads/llama").json() == again.json()
    assert api.patch("/v1/workloads/llama", {"replicas": 4}).json()["placement"] == "2 + 2 = 4, divided"
    gone = api.delete("/v1/workloads/llama/deployments/sin-1")
    assert gone.status_code == 200
    assert gone.json() == {
        "workload": "llama",
        "cluster": "sin-1",
        "graphs": [
            {
                "cluster": "sin-1",
                "namespace": "serving",
                "graph": "llama",
                "fate": "adopted",
                "message": "graph serving/llama on sin-1 was adopted and stays as it is",
            }
        ],
    }
    assert api.get("/v1/workloads/llama").json()["placement"] == "4 = 4, divided"
    assert api.delete("/v1/workloads/llama").json()["cluster"] is None
    problem_of(api.get("/v1/workloads/llama"), "not_found", 404)
    problem_of(api.delete("/v1/workloads/llama"), "not_found", 404)


def test_a_policy_is_shown_as_it_was_put(api: WorkloadApi) -> None:
    policy = {
        "division": "divided",
        "weighing": "static",
        "weights": {"fra-1": 3},
        "min": 1,
        "max": 9,
        "bounds": {"sin-1": {"min": 0, "max": 2}},
    }
    body = {"project": "chat", "replicas": 8, "policy": policy, "deployments": bindings("fra-1", "sin-1")}
    document = api.put("/v1/workloads/llama", body).json()
    assert document["policy"] == policy
    assert document["placement"] == "6 + 2 = 8, divided"


def test_a_project_goes_from_put_to_delete(api: WorkloadApi) -> None:
    made = api.put("/v1/projects/audio", {"quotas": {GPU: 8}})
    assert (made.status_code, made.json()["quotas"], made.json()["workloads"]) == (200, {GPU: 8}, 0)
    assert api.get("/v1/projects/audio").json() == made.json()
    assert [each["name"] for each in api.get("/v1/projects").json()["items"]] == ["audio", "chat"]
    assert api.delete("/v1/projects/audio").status_code == 204
    problem_of(api.delete("/v1/projects/audio"), "not_found", 404)


def test_lists_take_filters_and_pages(api: WorkloadApi) -> None:
    api.fleet.bind(replicas=2)
    page = api.get("/v1/workloads?project=chat&state=reconciling").json()
    assert [each["name"] for each in page["items"]] == ["llama"]
    first = api.get("/v1/deployments?workload=llama&page_size=1").json()
    token = first["next_page_token"]
    last = api.get(f"/v1/deployments?workload=llama&page_size=1&page_token={token}").json()
    assert [each["cluster"] for each in (*first["items"], *last["items"])] == ["fra-1", "sin-1"]
    problem_of(api.get(f"/v1/deployments?page_token={token}"), "invalid_page_token", 400)
    (quota,) = api.get(f"/v1/quotas?project=chat&resource={GPU}").json()["items"]
    assert (quota["limit"], quota["used"]) == (64, 8)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/workloads?state=sad",
        "/v1/workloads?cluster=fra-1",
        "/v1/deployments?state=sad",
        "/v1/quotas?colour=red",
        "/v1/projects?name=chat",
        "/v1/workloads/a%00b",
        "/v1/workloads?page_size=0",
    ],
)
def test_a_wrong_filter_is_named(api: WorkloadApi, path: str) -> None:
    problem_of(api.get(path), "invalid_filter", 400)


@pytest.mark.parametrize(("method", "path", "body", "least"), WRITES)
@pytest.mark.parametrize("role", [Role.VIEWER, Role.MAINTAINER, Role.ADMIN, Role.OPERATOR])
def test_who_may_write(api: WorkloadApi, method: str, path: str, body: Any, least: Role, role: Role) -> None:
    api.fleet.bind(replicas=2)
    allowed = {Role.ADMIN} if least is Role.ADMIN else {Role.ADMIN, Role.MAINTAINER}
    answer = api.request(method, path, json=body, role=role)
    if role not in allowed:
        problem_of(answer, "forbidden", 403)
        assert api.get("/v1/workloads/llama").json()["replicas"] == 2
    elif path == "/v1/projects/chat" and method == "DELETE":
        assert problem_of(answer, "in_use", 409)["workloads"] == 1
    else:
        assert answer.status_code in (200, 204)


@pytest.mark.parametrize(
    "path",
    ["/v1/workloads", "/v1/workloads/llama", "/v1/deployments", "/v1/quotas", "/v1/projects", "/v1/projects/chat"],
)
@pytest.mark.parametrize("role", [Role.VIEWER, Role.MAINTAINER, Role.ADMIN])
def test_every_user_reads(api: WorkloadApi, path: str, role: Role) -> None:
    api.fleet.bind()
    assert api.get(path, role=role).status_code == 200
    problem_of(api.get(path, role=None), "unauthenticated", 401)


def test_what_is_refused_says_why_with_its_own_code(api: WorkloadApi) -> None:
    api.fleet.bind(replicas=2)
    path = "/v1/workloads/llama"
    problem = problem_of(api.patch(path, {"replicas": 17}), "quota_exceeded", 403)
    assert (problem["limit"], problem["used"], problem["asked"]) == (64, 0, 68)
    refused = api.put("/v1/workloads/other", {"project": "chat", "deployments": bindings("iad-1")})
    assert problem_of(refused, "operation_not_allowed", 403)["clusters"] == ["iad-1"]
    problem_of(api.put(path, {"project": "nobody"}), "not_found", 404)
    problem_of(api.delete(f"{path}/deployments/iad-1"), "not_found", 404)
    created = api.create("llama", "workload.pause")
    conflict = problem_of(api.patch(path, {"replicas": 3}), "conflict", 409)
    assert conflict["conflicting_operation"]["id"] == created["id"]
    problem_of(api.delete(path), "conflict", 409)
    api.fleet.write()
    problem_of(api.patch(path, {"replicas": 3}), "workload_paused", 409)
    body = {"type": "workload.scale", "target": "llama", "params": {"replicas": 3}}
    problem_of(api.post("/v1/operations", body), "workload_paused", 409)


def test_an_operation_on_a_workload_is_made_waited_for_and_cancelled_like_any_other(api: WorkloadApi) -> None:
    api.fleet.bind(replicas=2)
    created = api.create("llama", "workload.scale", params={"replicas": 4}, reason="launch")
    assert (created["phase"], created["cluster"], created["target"]) == ("running", None, "llama")
    assert api.get("/v1/workloads/llama").json()["operation"] == created["id"]
    assert [each["id"] for each in api.get("/v1/operations?target=llama").json()["items"]] == [created["id"]]
    answer = api.post(f"/v1/operations/{created['id']}:cancel")
    assert (answer.status_code, answer.json()["phase"]) == (200, "cancelled")


def test_a_rival_owner_is_shown_and_keeps_a_patch_from_changing_its_number(api: WorkloadApi) -> None:
    api.put("/v1/workloads/llama", {"project": "chat", "replicas": 2, "deployments": bindings("fra-1", "sin-1")})
    site = api.fleet["fra-1"]
    rival = RivalDoc(kind="HorizontalPodAutoscaler", name="llama", component="decode")
    site.tell(msgspec.structs.replace(site.graphs["llama"], rivals=[rival]))
    shown = api.get("/v1/workloads/llama").json()["deployments"][0]
    assert shown["rivals"] == [{"kind": "HorizontalPodAutoscaler", "name": "llama", "component": "decode"}]
    problem = problem_of(api.patch("/v1/workloads/llama", {"replicas": 4}), "rival_owner", 409)
    assert "an operation that has `override` and a reason" in problem["detail"]
    put = api.put("/v1/workloads/llama", {"project": "chat", "replicas": 4})
    problem_of(put, "rival_owner", 409)
    assert api.put("/v1/workloads/llama", {"project": "chat"}).status_code == 200
    problem_of(api.delete("/v1/workloads/llama/deployments/sin-1"), "rival_owner", 409)
    asked = {"type": "workload.scale", "target": "llama", "params": {"replicas": 4, "override": True}}
    problem_of(api.post("/v1/operations", asked), "invalid_value", 422)
    assert api.post("/v1/operations", asked | {"reason": "launch"}).status_code == 202


def test_a_graph_is_created_from_a_template_and_removed_unless_it_is_kept(api: WorkloadApi) -> None:
    body = {"project": "chat", "replicas": 2, "template": TEMPLATE}
    bound = [{"cluster": each, "namespace": "serving", "graph": "new"} for each in ("fra-1", "sin-1")]
    made = api.put("/v1/workloads/new", body | {"deployments": bound})
    assert made.status_code == 201
    assert made.json()["template"] == TEMPLATE
    assert [each["state"] for each in made.json()["deployments"]] == ["reconciling", "reconciling"]
    for name in ("fra-1", "sin-1"):
        api.fleet[name].tell(a_graph("new", is_ours=True))
    kept = api.delete("/v1/workloads/new/deployments/sin-1?keep=true").json()["graphs"][0]
    assert (kept["fate"], kept["message"]) == ("kept", "graph serving/new on sin-1 is kept as it is")
    last = api.delete("/v1/workloads/new/deployments/fra-1")
    problem = problem_of(last, "invalid_value", 422)
    assert [each["path"] for each in problem["errors"]] == ["query.allow_outage"]
    removed = api.delete("/v1/workloads/new").json()["graphs"][0]
    assert (removed["fate"], removed["message"]) == ("removed", "graph serving/new on fra-1 is removed")
    again = api.put("/v1/workloads/new", body | {"deployments": bound[:1]})
    problem_of(again, "invalid_value", 422)


def test_all_that_keeps_a_template_from_being_one_is_said_at_once(api: WorkloadApi) -> None:
    template = {"apiVersion": "nvidia.com/v1", "kind": "Pod", "status": {}}
    problem = problem_of(api.put("/v1/workloads/new", {"project": "chat", "template": template}), "invalid_value", 422)
    assert [each["path"] for each in problem["errors"]] == ["template.status", "template.kind", "template.apiVersion"]

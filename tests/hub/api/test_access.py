"""Who may come in, and what each role may do."""

from typing import Any

import pytest

from hangar.hub.principals import Role
from hangar.hub.usecases.tokens import revoke_token
from tests.hub.api.client import Api, problem_of
from tests.hub.world import ADMIN

READS = ["/v1/operations", "/v1/clusters", "/v1/clusters/iad-1", "/v1/nodes", "/v1/nodes/iad-1-n01", "/v1/devices"]
NOBODY = "op_nothing"


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Basic hgr_admin", "Bearer hgr_nobody", "hgr_admin", "Bearer \x00"]
)
@pytest.mark.parametrize("path", ["/v1/operations?phase=nonsense", "/v1/tokens", "/v1/nodes/gone", "/v1/whoami"])
def test_without_a_valid_token_nothing_is_answered(api: Api, header: str | None, path: str) -> None:
    answer = api.get(path, role=None, headers={} if header is None else {"Authorization": header})
    problem_of(answer, "unauthenticated", 401)
    assert answer.headers["www-authenticate"] == "Bearer"


def test_a_bad_token_is_told_before_a_bad_body(api: Api) -> None:
    headers = {"Content-Type": "application/json", "Authorization": "Bearer hgr_nobody"}
    answer = api.post("/v1/operations", role=None, content=b"{", headers=headers)
    problem_of(answer, "unauthenticated", 401)


@pytest.mark.parametrize("path", READS)
@pytest.mark.parametrize("role", [Role.VIEWER, Role.MAINTAINER, Role.ADMIN])
def test_every_user_reads(api: Api, path: str, role: Role) -> None:
    assert api.get(path, role=role).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "roles"),
    [
        ("POST", "/v1/operations", {"type": "node.drain", "target": "gone"}, {Role.MAINTAINER, Role.ADMIN}),
        ("POST", f"/v1/operations/{NOBODY}:cancel", None, {Role.MAINTAINER, Role.ADMIN}),
        ("GET", f"/v1/operations/{NOBODY}", None, {Role.VIEWER, Role.MAINTAINER, Role.ADMIN}),
        ("GET", "/v1/nodes/gone", None, {Role.VIEWER, Role.MAINTAINER, Role.ADMIN}),
        ("DELETE", "/v1/tokens/gone", None, {Role.ADMIN}),
    ],
)
@pytest.mark.parametrize("role", list(Role))
def test_the_role_is_looked_at_before_the_name(
    api: Api, method: str, path: str, body: Any, roles: set[Role], role: Role
) -> None:
    answer = api.request(method, path, role=role, json=body)
    if role in roles:
        problem_of(answer, "not_found", 404)
    else:
        problem_of(answer, "forbidden", 403)


@pytest.mark.parametrize(
    ("role", "name", "cluster"),
    [
        (Role.VIEWER, "vera", None),
        (Role.MAINTAINER, "max", None),
        (Role.ADMIN, "admin", None),
        (Role.OPERATOR, "iad-1-operator", "iad-1"),
    ],
)
def test_everybody_is_told_who_they_are(api: Api, role: Role, name: str, cluster: str | None) -> None:
    answer = api.get("/v1/whoami", role=role)
    assert (answer.status_code, answer.json()) == (200, {"name": name, "role": role.value, "cluster": cluster})
    problem_of(api.get("/v1/whoami?x=1", role=role), "invalid_filter", 400)


@pytest.mark.parametrize("call", ["session", "session:release", "sync", "report", "inventory"])
@pytest.mark.parametrize("role", [Role.VIEWER, Role.MAINTAINER, Role.ADMIN])
def test_users_do_not_reach_the_operators_routes(api: Api, call: str, role: Role) -> None:
    problem_of(api.post(f"/v1/operator/{call}", {}, role=role), "forbidden", 403)


def test_a_token_stops_working_within_a_second_after_it_was_revoked_elsewhere(api: Api) -> None:
    made = api.post("/v1/tokens", {"name": "zoe", "role": "viewer"}).json()
    headers = {"Authorization": f"Bearer {made['secret']}"}
    assert api.get("/v1/nodes", role=None, headers=headers).status_code == 200
    api.world.store.write(lambda tx: revoke_token(tx, ADMIN, made["token"]["id"], api.world.now_us))
    api.world.now_us += 1_000_000
    problem_of(api.get("/v1/nodes", role=None, headers=headers), "unauthenticated", 401)


def test_an_operators_token_stops_working_within_its_lease_after_it_was_revoked_elsewhere(api: Api) -> None:
    made = api.post("/v1/tokens", {"name": "op", "role": "operator", "cluster": "iad-1"}).json()
    headers = {"Authorization": f"Bearer {made['secret']}"}
    problem_of(api.post("/v1/operator/sync", {}, role=None, headers=headers), "invalid_value", 422)
    api.world.store.write(lambda tx: revoke_token(tx, ADMIN, made["token"]["id"], api.world.now_us))
    api.world.now_us += 10_000_000
    problem_of(api.post("/v1/operator/sync", {}, role=None, headers=headers), "unauthenticated", 401)


def test_a_token_revoked_here_stops_working_at_once(api: Api) -> None:
    made = api.post("/v1/tokens", {"name": "zoe", "role": "viewer"}).json()
    headers = {"Authorization": f"Bearer {made['secret']}"}
    assert api.get("/v1/nodes", role=None, headers=headers).status_code == 200
    revoked = api.request("DELETE", f"/v1/tokens/{made['token']['id']}").json()
    assert revoked["revoked_at"] is not None
    problem_of(api.get("/v1/nodes", role=None, headers=headers), "unauthenticated", 401)


def test_a_token_ends_when_it_expires_even_if_it_was_just_used(api: Api) -> None:
    made = api.post("/v1/tokens", {"name": "zoe", "role": "viewer", "expires_in_s": 10}).json()
    headers = {"Authorization": f"Bearer {made['secret']}"}
    api.world.now_us += 9_900_000
    assert api.get("/v1/nodes", role=None, headers=headers).status_code == 200
    api.world.now_us += 100_000
    problem_of(api.get("/v1/nodes", role=None, headers=headers), "unauthenticated", 401)


def test_tokens_are_listed_without_their_secrets(api: Api) -> None:
    api.world.now_us += 1_000_000
    answer = api.post("/v1/tokens", {"name": "iad-2-operator", "role": "operator", "cluster": "iad-2"})
    assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
    made = answer.json()
    assert made["secret"].startswith("hgr_")
    page = api.get("/v1/tokens?page_size=1").json()
    assert page["items"] == [made["token"]]
    assert made["secret"] not in api.get("/v1/tokens").text
    assert api.get("/v1/clusters/iad-2").json()["online"] is False


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ({"name": "a b", "role": "viewer"}, ["name"]),
        ({"name": "zoe", "role": "king"}, ["role"]),
        ({"name": "zoe", "role": "operator"}, ["cluster"]),
        ({"name": "zoe", "role": "viewer", "cluster": "iad-1"}, ["cluster"]),
        ({"name": "zoe", "role": "operator", "cluster": "IAD/1"}, ["cluster"]),
        ({"name": "zoe", "role": "viewer", "expires_in_s": 0, "x": 1}, ["expires_in_s", "x"]),
        ({"name": "zoe", "role": "viewer", "expires_in_s": 10**30}, ["expires_in_s"]),
        ({}, ["name", "role"]),
    ],
)
def test_a_token_that_cannot_be_made_is_refused(api: Api, body: dict[str, object], paths: list[str]) -> None:
    problem = problem_of(api.post("/v1/tokens", body), "invalid_value", 422)
    assert [each["path"] for each in problem["errors"]] == paths

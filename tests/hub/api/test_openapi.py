"""The OpenAPI document says what is sent: samples of every route are checked against its schemas."""

import re
from typing import Any, TypeAlias

import pytest

from hangar.hub.principals import Role
from tests.hub.api.client import Api
from tests.hub.sites import Fleet
from tests.hub.world import Operator, a_node, a_progress

NO_CONTENT, BAD_REQUEST = 204, 400
Sample: TypeAlias = tuple[str, str, int, dict[str, Any]]
"""A method, a path, the status it is answered with, and what is sent."""

TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def violations(value: Any, schema: Any, document: Any, path: str = "$") -> list[str]:
    """Return where a value is not what a schema says: the part of JSON Schema that our document uses."""
    known = {"$ref", "anyOf", "oneOf", "type", "const", "enum", "properties", "required", "items", "title"}
    known |= {"description", "additionalProperties", "default", "minimum", "maximum", "minLength", "maxLength"}
    assert schema.keys() <= known, f"teach this test {schema.keys() - known}"
    if "$ref" in schema:
        return violations(value, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], document, path)
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            found = [violations(value, each, document, path) for each in schema[choice]]
            matching = sum(not each for each in found)
            return [] if matching == 1 or (matching and choice == "anyOf") else [f"{path}: {matching} match: {found}"]
    if "const" in schema and value != schema["const"]:
        return [f"{path}: {value!r} is not {schema['const']!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path}: {value!r} is none of {schema['enum']}"]
    is_bool_as_number = isinstance(value, bool) and schema.get("type") in ("integer", "number")
    if "type" in schema and (not isinstance(value, TYPES[schema["type"]]) or is_bool_as_number):
        return [f"{path}: {value!r} is no {schema['type']}"]
    if isinstance(value, dict):
        return _object_violations(value, schema, document, path)
    if isinstance(value, list):
        items = schema.get("items", {})
        return [each for i, item in enumerate(value) for each in violations(item, items, document, f"{path}[{i}]")]
    return []


def _object_violations(value: dict[str, Any], schema: Any, document: Any, path: str) -> list[str]:
    properties = schema.get("properties", {})
    found = [f"{path}.{name} is missing" for name in schema.get("required", []) if name not in value]
    more = schema.get("additionalProperties", not properties)
    for name, item in value.items():
        if name in properties:
            found += violations(item, properties[name], document, f"{path}.{name}")
        elif more is False:
            found.append(f"{path}.{name} is not documented")
        elif isinstance(more, dict):
            found += violations(item, more, document, f"{path}.{name}")
    return found


@pytest.fixture(scope="module")
def api() -> Api:
    made = Api()
    made.world.add_cluster("ord-1")
    other = Operator(made.world, "ord-1", allowed=[])
    other.open()
    other.tell(a_node("iad-1-n01"), a_node("ord-1-n01"))
    return made


@pytest.fixture(scope="module")
def document(api: Api) -> Any:
    return api.get("/openapi.json", role=None).json()


def test_the_document_names_every_route_of_users_and_none_of_operators(document: Any) -> None:
    assert document["openapi"].startswith("3.1")
    assert sorted(document["paths"]) == [
        "/v1/clusters",
        "/v1/clusters/{name}",
        "/v1/deployments",
        "/v1/devices",
        "/v1/events",
        "/v1/nodes",
        "/v1/nodes/{name}",
        "/v1/operations",
        "/v1/operations/{id}",
        "/v1/operations/{id}/events",
        "/v1/operations/{id}/wait",
        "/v1/operations/{id}:cancel",
        "/v1/projects",
        "/v1/projects/{name}",
        "/v1/quotas",
        "/v1/stream",
        "/v1/tokens",
        "/v1/tokens/{id}",
        "/v1/watch",
        "/v1/whoami",
        "/v1/workloads",
        "/v1/workloads/{name}",
        "/v1/workloads/{name}/deployments/{cluster}",
    ]


def workload_samples(api: Api) -> list[Sample]:
    """Every route of workloads in an order in which each has something to say."""
    fleet = Fleet("fra-1", "sin-1", world=api.world)
    binding = {"cluster": "fra-1", "namespace": "serving", "graph": "llama"}
    policy = {"weights": {"fra-1": 2}, "max": 9, "bounds": {"fra-1": {"min": 1}}}
    body = {"project": "chat", "replicas": 2, "policy": policy, "deployments": [binding]}
    fleet.bind("mistral", on=[], shape={"decode": 2})
    scale = {"type": "workload.scale", "target": "llama", "params": {"replicas": 3}}
    return [
        ("PUT", "/v1/workloads/llama", 201, {"json": body}),
        ("PUT", "/v1/workloads/llama", 200, {"json": body | {"deployments": [binding | {"cluster": "sin-1"}]}}),
        ("PUT", "/v1/workloads/llama", 422, {"json": {"speed": 9}}),
        ("PUT", "/v1/workloads/llama", 403, {"json": body | {"replicas": 17, "policy": {}}}),
        ("PATCH", "/v1/workloads/llama", 200, {"json": {"replicas": 1}}),
        ("PATCH", "/v1/workloads/llama", 422, {"json": {"replicas": 1, "speed": 9}}),
        ("POST", "/v1/operations", 202, {"json": scale}),
        ("PATCH", "/v1/workloads/llama", 409, {"json": {"replicas": 2}}),
        ("GET", "/v1/operations?type=workload.scale", 200, {}),
        ("GET", "/v1/workloads", 200, {}),
        ("GET", "/v1/workloads/llama", 200, {}),
        ("GET", "/v1/workloads/gone", 404, {}),
        ("GET", "/v1/deployments", 200, {}),
        ("GET", "/v1/quotas", 200, {}),
        ("GET", "/v1/projects", 200, {}),
        ("GET", "/v1/projects/chat", 200, {}),
        ("PUT", "/v1/projects/audio", 200, {"json": {"quotas": {"nvidia.com/gpu": 8}}}),
        ("DELETE", "/v1/projects/audio", 204, {}),
        ("DELETE", "/v1/projects/chat", 409, {}),
        ("DELETE", "/v1/workloads/mistral/deployments/fra-1", 404, {}),
        ("DELETE", "/v1/workloads/mistral", 200, {}),
    ]


def check_sample(api: Api, document: Any, sample: Sample) -> None:
    """Send a sample, and hold what comes, and what was sent, against the document."""
    method, path, status, given = sample
    answer = api.request(method, path, **given)
    assert answer.status_code == status, (method, path, answer.text)
    documented = document["paths"][_template(document, path)][method.lower()]
    if status == NO_CONTENT:
        assert answer.content == b""
        assert "content" not in documented["responses"]["204"]
    else:
        assert violations(answer.json(), _schema(document, method, path, answer), document) == [], (method, path)
    if status < BAD_REQUEST and "json" in given:
        body = documented["requestBody"]["content"]["application/json"]["schema"]
        assert violations(given["json"], body, document) == [], (method, path)


def test_every_answer_is_as_documented(api: Api, document: Any) -> None:
    create = {"type": "node.drain", "target": "iad-1/iad-1-n01", "reason": "fan"}
    first = api.post("/v1/operations", create, headers={"Idempotency-Key": "k"}).json()
    api.operator.say(first["id"], progress=a_progress())
    second = api.create("iad-1-n02", "node.cordon")
    api.operator.tell(a_node("iad-1-n01", cordoned=True), complete=False)
    token = api.post("/v1/tokens", {"name": "zoe", "role": "viewer", "expires_in_s": 60}).json()["token"]["id"]
    samples: list[Sample] = [
        ("POST", "/v1/operations", 200, {"json": create, "headers": {"Idempotency-Key": "k"}}),
        ("POST", "/v1/operations", 409, {"json": create}),
        ("POST", "/v1/operations", 409, {"json": create | {"type": "node.uncordon"}}),
        ("POST", "/v1/operations", 422, {"json": create | {"target": "iad-1-n01"}}),
        ("POST", "/v1/operations", 422, {"json": {"kind": "node.drain"}}),
        ("POST", "/v1/operations", 422, {"json": {}, "headers": {"Idempotency-Key": "k"}}),
        ("POST", "/v1/operations", 403, {"json": create | {"target": "ord-1-n01"}}),
        ("POST", "/v1/operations", 404, {"json": create | {"target": "gone"}}),
        ("POST", "/v1/operations", 403, {"json": create, "role": Role.VIEWER}),
        ("POST", "/v1/operations", 401, {"json": create, "role": None}),
        ("POST", f"/v1/operations/{second['id']}:cancel", 200, {}),
        ("POST", f"/v1/operations/{first['id']}:cancel", 202, {}),
        ("GET", f"/v1/operations/{first['id']}", 200, {}),
        ("GET", f"/v1/operations/{second['id']}", 200, {}),
        ("GET", f"/v1/operations/{second['id']}/wait", 200, {}),
        ("GET", f"/v1/operations/{first['id']}/events", 200, {}),
        ("GET", "/v1/operations", 200, {}),
        ("GET", "/v1/operations?phase=done", 400, {}),
        ("GET", "/v1/clusters", 200, {}),
        ("GET", "/v1/clusters/iad-1", 200, {}),
        ("GET", "/v1/nodes", 200, {}),
        ("GET", "/v1/nodes/iad-1-n02", 200, {}),
        ("GET", "/v1/nodes/iad-1-n01", 422, {}),
        ("GET", "/v1/devices", 200, {}),
        ("GET", "/v1/events?page_size=1000", 200, {}),
        ("GET", "/v1/tokens", 200, {}),
        ("POST", "/v1/tokens", 201, {"json": {"name": "yan", "role": "maintainer"}}),
        ("DELETE", f"/v1/tokens/{token}", 200, {}),
        ("GET", "/v1/whoami", 200, {}),
        ("GET", "/v1/stream?after=x", 400, {}),
        ("GET", "/v1/watch", 400, {}),
        *workload_samples(api),
    ]
    for each in samples:
        check_sample(api, document, each)
    covered = {(method, _template(document, path)) for method, path, _, _ in samples}
    documented = {(m.upper(), path) for path, methods in document["paths"].items() for m in methods}
    assert covered == documented


@pytest.mark.parametrize(
    ("body", "is_valid"),
    [
        ({"type": "node.drain", "target": "n01"}, True),
        ({"type": "node.drain", "target": "n01", "cluster": "iad-1", "reason": None, "params": {}}, True),
        ({"type": "node.drain", "target": "n01", "params": {"grace_period_s": 5, "on_failure": "uncordon"}}, True),
        ({"type": "node.cordon", "target": "n01", "params": {"grace_period_s": 5}}, False),
        ({"type": "node.reboot", "target": "n01"}, False),
        ({"type": "node.drain"}, False),
    ],
)
def test_the_body_of_create_is_documented_by_type(api: Api, document: Any, body: Any, is_valid: bool) -> None:
    schema = document["paths"]["/v1/operations"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert (not violations(body, schema, document)) is is_valid
    answer = api.post("/v1/operations", body)
    assert (answer.status_code in (202, 404, 409)) is is_valid


def test_a_body_that_is_refused_is_not_documented_as_good(document: Any) -> None:
    for path, body in (
        ("/v1/workloads/{name}", {"project": "chat", "policy": {"bounds": {"fra-1": {"least": 1}}}}),
        ("/v1/workloads/{name}", {"project": "chat", "deployments": [{"cluster": "fra-1"}]}),
        ("/v1/projects/{name}", {"quotas": {"nvidia.com/gpu": "8"}}),
    ):
        schema = document["paths"][path]["put"]["requestBody"]["content"]["application/json"]["schema"]
        assert violations(body, schema, document)


def test_every_reference_leads_somewhere(api: Api, document: Any) -> None:
    references = set(re.findall(r'"\$ref":"([^"]+)"', api.get("/openapi.json", role=None).text))
    assert len(references) > 10
    for each in references:
        kind, slash, name = each.removeprefix("#/components/").partition("/")
        assert slash, each
        assert name in document["components"][kind], each


def test_every_route_needs_the_token_and_may_answer_with_a_problem(document: Any) -> None:
    assert document["security"] == [{"token": []}]
    for path, methods in document["paths"].items():
        for operation in methods.values():
            assert "application/problem+json" in operation["responses"]["default"]["content"], path
            assert "422" not in operation["responses"]


def test_the_page_of_the_api_loads_nothing_from_elsewhere(api: Api) -> None:
    page = api.get("/docs", role=None)
    assert page.headers["content-type"].startswith("text/html")
    links = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(links) == 4
    for link in links:
        assert "//" not in link
        answer = api.get(f"/{link}", role=None)
        assert answer.status_code == 200, link
        assert answer.content


def _schema(document: Any, method: str, path: str, answer: Any) -> Any:
    responses = document["paths"][_template(document, path)][method.lower()]["responses"]
    media_type = answer.headers["content-type"].partition(";")[0]
    documented = responses.get(str(answer.status_code), responses["default"])
    return documented["content"][media_type]["schema"]


def _template(document: Any, path: str) -> str:
    bare = path.partition("?")[0]
    fitting = [each for each in document["paths"] if re.fullmatch(re.sub(r"\{\w+\}", "[^/:]+", each), bare)]
    assert len(fitting) == 1, (path, fitting)
    return str(fitting[0])

"""The transport: connections kept and lost, pages followed, trouble told with what was tried."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from hangar.cli.exits import Exit
from hangar.cli.failures import Failure, Refused, UsageError
from hangar.cli.http import PAGE_ITEMS_MAX, Hub, segment
from hangar.cli.settings import Endpoint
from hangar.domain import limits
from tests.cli.scripted import Answer, ScriptedHub, problem


class Client(Protocol):
    """Makes clients of a scripted hub."""

    def __call__(self, path: str = "", token: str | None = None, ca_file: str | None = None) -> Hub:
        """Return one."""


@pytest.fixture
def pauses() -> list[float]:
    """Return the pauses that clients made."""
    return []


@pytest.fixture
def client(hub: ScriptedHub, pauses: list[float]) -> Iterator[Client]:
    """Return what makes clients, and closes them after the test."""
    with ExitStack() as stack:

        def make(path: str = "", token: str | None = None, ca_file: str | None = None) -> Hub:
            endpoint = Endpoint(hub.url + path, source="test", token=token, ca_file=ca_file)
            return stack.enter_context(Hub(endpoint, sleep=pauses.append))

        yield make


def test_a_request_carries_the_token_and_says_who_asks(hub: ScriptedHub, client: Client) -> None:
    hub.on("GET", "/v1/nodes/a%2Fb", Answer(document={"name": "a/b"}))
    assert client(token="secret").get(f"/v1/nodes/{segment('a/b')}") == {"name": "a/b"}
    [request] = hub.requests
    assert request.headers["authorization"] == "Bearer secret"
    assert request.headers["user-agent"].startswith("hgr/")


def test_without_a_token_none_is_sent(hub: ScriptedHub, client: Client) -> None:
    hub.on("GET", "/x", Answer(document={}))
    client().get("/x")
    assert "authorization" not in hub.requests[0].headers


def test_an_address_may_have_a_path_of_its_own(hub: ScriptedHub, client: Client) -> None:
    hub.on("GET", "/behind/proxy/v1/nodes", Answer(document={"items": []}))
    assert client("/behind/proxy/").get("/v1/nodes", {"cluster": None}) == {"items": []}
    assert hub.requests[0].query == {}


def test_a_list_is_followed_to_its_end_even_over_empty_pages(hub: ScriptedHub, client: Client) -> None:
    hub.on(
        "GET",
        "/v1/nodes",
        Answer(document={"items": [1, 2], "next_page_token": "a", "as_of": 1}),
        Answer(document={"items": [], "next_page_token": "b", "as_of": 1}),
        Answer(document={"items": [3], "next_page_token": None, "as_of": 1}),
    )
    pages = client().pages("/v1/nodes", {"cluster": "c"})
    assert [item for page in pages for item in page["items"]] == [1, 2, 3]
    assert [request.query.get("page_token") for request in hub.requests] == [None, "a", "b"]
    assert all(request.query["cluster"] == "c" and request.query["page_size"] == "1000" for request in hub.requests)


def test_a_page_is_as_large_as_the_hub_gives() -> None:
    assert PAGE_ITEMS_MAX == limits.PAGE_SIZE_MAX


def test_a_limit_asks_for_no_more_than_it_prints(hub: ScriptedHub, client: Client) -> None:
    hub.on(
        "GET",
        "/v1/nodes",
        Answer(document={"items": [1, 2], "next_page_token": "a"}),
        Answer(document={"items": [3, 4], "next_page_token": "b"}),
    )
    pages = list(client().pages("/v1/nodes", {}, limit=3))
    assert [page["items"] for page in pages] == [[1, 2], [3]]
    assert [request.query["page_size"] for request in hub.requests] == ["3", "1"]


def test_a_list_that_turns_in_a_circle_is_left(hub: ScriptedHub, client: Client) -> None:
    hub.on("GET", "/v1/nodes", Answer(document={"items": [1], "next_page_token": "a"}))
    with pytest.raises(Failure, match="circle"):
        list(client().pages("/v1/nodes", {}))


def test_a_kept_connection_that_the_hub_closed_is_made_anew(hub: ScriptedHub, client: Client) -> None:
    hub.on("GET", "/x", Answer(document=1), Answer(hang_up=True), Answer(document=3))
    http = client()
    assert [http.get("/x"), http.get("/x")] == [1, 3]


def test_a_new_connection_that_is_closed_without_an_answer_is_told(hub: ScriptedHub, client: Client) -> None:
    hub.on("GET", "/x", Answer(hang_up=True))
    with pytest.raises(Failure, match="closed the connection without an answer") as raised:
        client().get("/x")
    assert raised.value.code is Exit.UNREACHABLE
    assert len(hub.requests) == 1


def test_a_post_is_repeated_over_passing_trouble_with_the_same_headers(
    hub: ScriptedHub, client: Client, pauses: list[float]
) -> None:
    busy = problem(503, "busy", "later", {"Retry-After": "2"})
    hub.on("POST", "/x", Answer(hang_up=True), busy, Answer(status=202, document={"id": "op_1"}))
    http = client()
    assert http.post("/x", {"a": 1}, {"Idempotency-Key": "k"}).document == {"id": "op_1"}
    assert pauses == [0.0, 2.0]
    assert [(each.body, each.headers["idempotency-key"]) for each in hub.requests] == [({"a": 1}, "k")] * 3


def test_a_post_is_not_repeated_for_ever(hub: ScriptedHub, client: Client) -> None:
    hub.on("POST", "/x", problem(503, "busy", "later"))
    with pytest.raises(Refused, match="later") as raised:
        client().post("/x", {}, {})
    assert raised.value.code is Exit.UNREACHABLE
    assert len(hub.requests) == 4


def test_what_is_to_be_is_said_again_over_passing_trouble(
    hub: ScriptedHub, pauses: list[float], client: Client
) -> None:
    hub.on("PUT", "/x", Answer(hang_up=True), problem(503, "busy", "later"), Answer(201, {"name": "x"}))
    assert client().put("/x", {"replicas": 4}).status == 201
    assert [(request.method, request.body) for request in hub.requests] == [("PUT", {"replicas": 4})] * 3
    assert len(pauses) == 2


def test_a_removal_has_no_content_and_the_connection_is_kept(hub: ScriptedHub, client: Client) -> None:
    hub.on("DELETE", "/x", Answer(204, content=b""))
    hub.on("GET", "/x", problem(404, "not_found", "there is no x"))
    one = client()
    one.delete("/x", {"keep": "true"})
    assert hub.requests[0].query == {"keep": "true"}
    with pytest.raises(Refused, match="there is no x"):
        one.get("/x")


@pytest.mark.parametrize(("status", "is_told"), [(503, True), (409, False)])
def test_a_removal_is_sent_once_and_what_came_of_it_is_not_claimed(
    hub: ScriptedHub, status: int, is_told: bool, client: Client
) -> None:
    hub.on("DELETE", "/x", problem(status, "busy", "later"))
    with pytest.raises(Refused) as failure:
        client().delete("/x")
    assert len(hub.requests) == 1
    assert any("whether it was removed is not known" in hint for hint in failure.value.hints) is is_told


def test_an_empty_answer_that_should_hold_something_is_told_apart(hub: ScriptedHub, client: Client) -> None:
    hub.on("GET", "/x", Answer(200, content=b""))
    with pytest.raises(Failure, match="instead of JSON"):
        client().get("/x")


@pytest.mark.parametrize("answer", [problem(409, "conflict", "held"), problem(503, "busy", "l", {"Retry-After": "60"})])
def test_what_does_not_pass_soon_is_not_repeated(hub: ScriptedHub, answer: Answer, client: Client) -> None:
    hub.on("POST", "/x", answer)
    with pytest.raises(Refused):
        client().post("/x", {}, {})
    assert len(hub.requests) == 1


def test_nobody_listening_is_told_with_the_address_and_who_named_it() -> None:
    with pytest.raises(Failure, match=r"http://127.0.0.1:1 \(from test\): connection refused") as raised:
        Hub(Endpoint("http://127.0.0.1:1", source="test", token=None)).get("/x")
    assert raised.value.code is Exit.UNREACHABLE


@pytest.mark.parametrize(
    ("answer", "said", "code"),
    [
        (
            Answer(content=b"<html>", headers={"Content-Type": "text/html"}),
            "text/html instead of JSON",
            Exit.UNEXPECTED,
        ),
        (Answer(301, {}, {"Location": "https://new.example"}), "redirect to https://new.example", Exit.UNEXPECTED),
        (Answer(502, content=b"bad gateway"), "it answered 502 Bad Gateway", Exit.UNREACHABLE),
        (Answer(500, content=b""), "it answered 500", Exit.UNEXPECTED),
        (Answer(404, {"detail": "who?"}), "does not answer like a hub: it answered 404", Exit.UNEXPECTED),
    ],
)
def test_what_is_no_hub_is_told_apart(hub: ScriptedHub, answer: Answer, said: str, code: Exit, client: Client) -> None:
    hub.on("GET", "/x", answer)
    with pytest.raises(Failure, match=said) as raised:
        client().get("/x")
    assert raised.value.code is code


def test_a_list_that_is_none_is_told_apart(hub: ScriptedHub, client: Client) -> None:
    hub.on("GET", "/v1/nodes", Answer(document=[]))
    with pytest.raises(Failure, match="no list of items"):
        list(client().pages("/v1/nodes", {}))


@pytest.mark.parametrize(
    "server",
    [
        "hub.example",
        "ftp://hub.example",
        "http://",
        "http://a:b@hub.example",
        "http://h:99999",
        "http://h/?x",
        "http://h\n",
    ],
)
def test_what_is_no_address_is_a_usage_error(server: str) -> None:
    with pytest.raises(UsageError, match="https://HOST:PORT"):
        Hub(Endpoint(server, source="test", token=None))


def test_the_caller_can_draw_while_it_waits_for_the_answer(hub: ScriptedHub, client: Client) -> None:
    go_on, ticks = threading.Event(), []

    def when_drawn(_request: object) -> Answer:
        assert go_on.wait(10)
        return Answer(document={})

    def tick() -> None:
        ticks.append(1)
        go_on.set()

    hub.on("GET", "/x", when_drawn)
    client().request("GET", "/x", on_tick=tick)
    assert ticks


@pytest.fixture
def secure_hub(hub: ScriptedHub, tmp_path: Path) -> tuple[ScriptedHub, Path]:
    """Return the hub behind TLS, and its CA file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hub")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    certificate = (
        builder.not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    ca_file, key_file = tmp_path / "ca.pem", tmp_path / "key.pem"
    ca_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ca_file, key_file)
    hub.server.socket = context.wrap_socket(hub.server.socket, server_side=True)
    hub.url = hub.url.replace("http:", "https:")
    hub.server.handle_error = lambda *_: None  # type: ignore[method-assign] # a client that left the handshake
    return hub, ca_file


def test_https_is_spoken_when_the_ca_is_known(secure_hub: tuple[ScriptedHub, Path], client: Client) -> None:
    hub, ca_file = secure_hub
    hub.on("GET", "/x", Answer(document=1), Answer(document=2))
    http = client(ca_file=str(ca_file))
    assert [http.get("/x"), http.get("/x")] == [1, 2]


def test_a_certificate_nobody_vouches_for_is_refused_with_the_way_to_name_the_ca(
    secure_hub: tuple[ScriptedHub, Path], client: Client
) -> None:
    with pytest.raises(Failure, match="self-signed certificate") as raised:
        client().get("/x")
    assert "HGR_CA_FILE" in raised.value.hints[0]
    assert not raised.value.is_passing


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_ca_file_that_cannot_be_used_is_named(
    secure_hub: tuple[ScriptedHub, Path], tmp_path: Path, content: str | None, client: Client
) -> None:
    bad = tmp_path / "bad.pem"
    if content:
        bad.write_text(content)
    with pytest.raises(UsageError, match=r"cannot use the CA file .*bad\.pem"):
        client(ca_file=str(bad)).get("/x")

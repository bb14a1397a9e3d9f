"""The hub on real sockets: plain, with TLS, and how it stops."""

import asyncio
import http.client
import json
import ssl
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TypeVar

import httpx2
import pytest
import websockets
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from hangar.domain.limits import SHUTDOWN_GRACE_S
from hangar.hub.principals import Role
from hangar.hub.serving import Tls, serve
from hangar.hub.store.store import Store
from tests.hub.api.client import SECRETS, Api

T = TypeVar("T")


@pytest.fixture
def api(tmp_path: Path) -> Api:
    """A hub over a database on disk, with its threads."""
    return Api(Store.open(tmp_path / "hub.db"))


def served(api: Api, talk: Callable[[int], Awaitable[T]], tls: Tls | None = None) -> T:
    async def whole() -> T:
        async with serve(api.app, "127.0.0.1", 0, tls) as port:
            return await talk(port)

    try:
        return asyncio.run(whole())
    finally:
        api.world.store.close()


def bearer(api: Api) -> dict[str, str]:
    return {"Authorization": f"Bearer {api.secrets[Role.ADMIN]}"}


def test_over_a_real_socket_an_operation_is_created_waited_for_and_ended(api: Api) -> None:
    async def talk(port: int) -> tuple[int, str]:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=bearer(api)) as client:
            created = await client.post("/v1/operations", json={"type": "node.drain", "target": "iad-1-n01"})
            id_ = created.json()["id"]
            waiting = asyncio.create_task(client.get(f"/v1/operations/{id_}/wait"))
            await api.parked()
            await asyncio.to_thread(api.operator.say, id_)
            await asyncio.to_thread(api.operator.say, id_, "succeeded")
            ready = await client.get("/readyz")
            return ready.status_code, (await waiting).json()["phase"]

    assert served(api, talk) == (200, "succeeded")


def test_a_client_that_hangs_up_is_no_longer_waited_for(api: Api) -> None:
    async def talk(port: int) -> int:
        id_ = await asyncio.to_thread(api.world.create)
        _reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET /v1/operations/{id_}/wait HTTP/1.1\r\nHost: hub\r\n".encode())
        writer.write(f"Authorization: {bearer(api)['Authorization']}\r\n\r\n".encode())
        await api.parked()
        writer.close()
        await asyncio.wait_for(api.left(), 5)
        return api.hub.tail.waiting_count

    assert served(api, talk) == 0


@pytest.mark.parametrize("with_token", [True, False])
def test_a_caller_who_is_still_sending_too_much_hears_the_refusal(api: Api, with_token: bool) -> None:
    def send(port: int) -> tuple[int, str]:
        # A plain client, which reads the answer once all is sent.
        headers = (bearer(api) if with_token else {}) | {"Content-Type": "application/json"}
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
            connection.request("POST", "/v1/operations", b" " * 4_000_000, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())["code"]

    async def talk(port: int) -> tuple[int, str]:
        return await asyncio.to_thread(send, port)

    assert served(api, talk) == ((413, "too_large") if with_token else (401, "unauthenticated"))


def test_a_hub_that_stops_answers_those_who_wait(api: Api) -> None:
    async def whole() -> str:
        id_ = await asyncio.to_thread(api.world.create)
        async with httpx2.AsyncClient(headers=bearer(api)) as client:
            async with serve(api.app, "127.0.0.1", 0) as port:
                url = f"http://127.0.0.1:{port}/v1/operations/{id_}/wait"
                waiting = asyncio.create_task(client.get(url))
                await api.parked()
            return str((await waiting).json()["phase"])

    assert asyncio.run(asyncio.wait_for(whole(), 5)) == "pending"
    api.world.store.close()


def test_streams_over_real_sockets_end_at_once_when_the_hub_stops(api: Api) -> None:
    secret = SECRETS[Role.VIEWER]

    async def whole() -> None:
        async with serve(api.app, "127.0.0.1", 0) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = f"GET /v1/stream HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer {secret}\r\n\r\n"
            writer.write(head.encode())
            await reader.readuntil(b": heartbeat")
            socket = await websockets.connect(
                f"ws://127.0.0.1:{port}/v1/watch", subprotocols=[websockets.Subprotocol(f"bearer.{secret}")]
            )
            assert json.loads(await socket.recv())["type"] == "heartbeat"
            id_ = await asyncio.to_thread(api.world.create)
            told = json.loads(await socket.recv())
            assert (told["type"], told["event"]["operation"]) == ("operation.created", id_)
            await reader.readuntil(b"event: operation.created")
            began_s = asyncio.get_running_loop().time()
        assert asyncio.get_running_loop().time() - began_s < SHUTDOWN_GRACE_S
        assert (await reader.read()).endswith(b"0\r\n\r\n")
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012
        writer.close()
        await socket.close()

    asyncio.run(asyncio.wait_for(whole(), 20))
    api.world.store.close()


def test_a_websocket_that_is_refused_is_told_why_and_is_no_fault(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    async def talk(port: int) -> tuple[int, str]:
        with pytest.raises(websockets.InvalidStatus) as refused:
            await websockets.connect(f"ws://127.0.0.1:{port}/v1/watch")
        answer = refused.value.response
        return answer.status_code, json.loads(answer.body)["code"]

    assert served(api, talk) == (401, "unauthenticated")
    assert [each for each in caplog.records if each.levelname in ("WARNING", "ERROR")] == []


def test_tls_is_served_with_the_certificate_that_was_given(api: Api, tmp_path: Path) -> None:
    tls = _certificate(tmp_path)
    trust = ssl.create_default_context(cafile=str(tls.cert))

    async def talk(port: int) -> int:
        async with httpx2.AsyncClient(verify=trust, headers=bearer(api)) as client:
            return (await client.get(f"https://127.0.0.1:{port}/v1/nodes")).status_code

    assert served(api, talk, tls) == 200


def test_an_address_that_is_taken_is_an_error(api: Api) -> None:
    async def talk(port: int) -> None:
        with pytest.raises(OSError, match="in use"):
            async with serve(api.app, "127.0.0.1", port):
                pass

    served(api, talk)


def _certificate(folder: Path) -> Tls:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hub")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    tls = Tls(folder / "hub.crt", folder / "hub.key")
    tls.cert.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    tls.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return tls

"""Requests: the gate before them, whether they left, and credentials that change."""

import os
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from lightkube.config.models import Cluster, User
from lightkube.core.generic_client import GenericAsyncClient

from hangar.operator.cluster.kubernetes import api as api_module
from hangar.operator.cluster.kubernetes.api import Api, NoReplyError, NotSentError, WithheldError
from hangar.operator.cluster.kubernetes.server_clock import ServerClock
from hangar.operator.cluster.port import ClusterError
from testbed.certificates import Authority
from tests.operator.cluster.kubernetes.fake_server import (
    Breaks,
    FakeServer,
    Says,
    Scripted,
    Stalls,
    a_config,
)
from tests.virtual_loop import LoopClock, run_virtual


def an_api(*script: Scripted) -> tuple[Api, FakeServer]:
    server = FakeServer(*script)
    return Api(a_config(), ServerClock(LoopClock()), server), server


def virtually(main: Coroutine[Any, Any, None]) -> None:
    run_virtual(main)


def test_a_reply_is_returned_whatever_its_code() -> None:
    async def main() -> None:
        api, server = an_api(Says(503, "nobody there", {"Retry-After": "3"}))
        reply = await api.call("PATCH", "/x", params={"a": "b"}, body={"k": 1}, content_type="application/z")
        assert (reply.code, reply.body, reply.retry_after_s) == (503, b"nobody there", 3.0)
        (asked,) = server.asked
        assert (asked.method, asked.path, asked.params, asked.body) == ("PATCH", "/x", {"a": "b"}, {"k": 1})
        assert asked.headers["content-type"] == "application/z"

    virtually(main())


def test_a_closed_gate_lets_nothing_leave() -> None:
    async def main() -> None:
        api, server = an_api(Says(200, {}))
        with pytest.raises(WithheldError, match="cancelled"):
            await api.call("POST", "/x", gate=lambda: "cancelled")
        assert server.asked == []

    virtually(main())


def test_a_gate_that_closes_while_a_connection_is_awaited_is_in_time() -> None:
    async def main() -> None:
        api, server = an_api(Says(200, {}))
        answers = iter([None, "cancelled"])
        with pytest.raises(WithheldError, match="cancelled"):
            await api.call("POST", "/x", gate=lambda: next(answers))
        assert server.asked == []

    virtually(main())


def test_what_failed_before_it_left_was_not_sent() -> None:
    async def main() -> None:
        api, _ = an_api(Breaks(httpx2.ConnectError("refused")))
        with pytest.raises(NotSentError, match="ConnectError: refused"):
            await api.call("POST", "/x")

    virtually(main())


def test_what_failed_after_it_left_has_no_reply() -> None:
    async def main() -> None:
        api, _ = an_api(Breaks(httpx2.ReadError("reset"), has_left=True), Stalls())
        with pytest.raises(NoReplyError, match="ReadError: reset"):
            await api.call("POST", "/x")
        with pytest.raises(NoReplyError, match=r"no reply within 2\.5 s"):
            await api.call("POST", "/x", timeout_s=2.5)

    virtually(main())


def test_every_reply_tells_the_servers_time() -> None:
    async def main() -> None:
        clock = ServerClock(LoopClock())
        api = Api(a_config(), clock, FakeServer(Says(200, {}, {"Date": "Mon, 30 Nov 2026 18:00:00 GMT"})))
        await api.call("GET", "/version")
        assert clock.now() == datetime(2026, 11, 30, 18, 0, 0, 500_000, tzinfo=UTC)

    virtually(main())


@pytest.mark.parametrize("date", ["yesterday", ""])
def test_a_date_that_is_none_teaches_nothing(date: str) -> None:
    async def main() -> None:
        api, _ = an_api(Says(200, {}, {"Date": date}))
        assert (await api.call("GET", "/version")).code == 200

    virtually(main())


def test_a_rotated_authority_is_trusted_from_the_next_request_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    class Counted(GenericAsyncClient):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            made.append("client")

    monkeypatch.setattr(api_module, "GenericAsyncClient", Counted)

    async def main() -> None:
        path = Authority(tmp_path).path
        cluster = Cluster(server="https://cluster.test", certificate_auth=str(path))
        server = FakeServer(*[Says(200, {})] * 5)
        api = Api(a_config()._replace(cluster=cluster), ServerClock(LoopClock()), server)
        for _ in range(2):
            await api.call("GET", "/version")
        assert len(made) == 1
        path.write_text("half of a certificate")
        os.utime(path, ns=(1, 1))
        await api.call("GET", "/version")
        assert len(made) == 1
        Authority(tmp_path)
        os.utime(path, ns=(2, 2))
        await api.call("GET", "/version")
        assert len(made) == 2
        path.unlink()
        await api.call("GET", "/version")
        assert len(made) == 2
        await api.close()

    virtually(main())


def test_a_rotated_certificate_of_ours_is_shown_from_the_next_request_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    class Counted(GenericAsyncClient):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            made.append("client")

    monkeypatch.setattr(api_module, "GenericAsyncClient", Counted)

    async def main() -> None:
        pair = Authority(tmp_path).issue("operator", ())
        user = User(client_cert=str(pair.certificate), client_key=str(pair.key))
        config = a_config()._replace(user=user)
        api = Api(config, ServerClock(LoopClock()), FakeServer(*[Says(200, {})] * 2))
        await api.call("GET", "/version")
        Authority(tmp_path).issue("operator", ())
        os.utime(pair.certificate, ns=(1, 1))
        await api.call("GET", "/version")
        assert len(made) == 2
        await api.close()

    virtually(main())


def test_a_token_that_has_expired_is_read_anew_and_the_request_made_once_more_through_the_gate(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "token"
        path.write_text("old")
        server = FakeServer(Says(200, {}), *[Says(401, {}), Says(200, {})], *[Says(401, {})] * 2, Says(401, {}))
        api = Api(a_config()._replace(user=User(token_file=str(path))), ServerClock(LoopClock()), server)
        assert (await api.call("GET", "/version")).code == 200
        path.write_text("new")
        asked: list[None] = []
        assert (await api.call("POST", "/x", gate=lambda: asked.append(None))).code == 200
        assert [each.headers["authorization"] for each in server.asked] == ["Bearer old", "Bearer old", "Bearer new"]
        assert len(asked) == 3  # before a connection is held, and before each of the two has left
        assert (await api.call("POST", "/x")).code == 401
        assert len(server.asked) == 5
        closing = iter((None, None, "cancelled"))
        with pytest.raises(WithheldError, match="cancelled"):
            await api.call("POST", "/x", gate=lambda: next(closing))

    virtually(main())


def test_what_has_no_credentials_was_not_sent_and_says_so(tmp_path: Path) -> None:
    async def main() -> None:
        server = FakeServer(Says(200, {}))
        user = User(token_file=str(tmp_path / "nowhere"))
        api = Api(a_config()._replace(user=user), ServerClock(LoopClock()), server)
        with pytest.raises(NotSentError, match=r"Token file .* not found") as raised:
            await api.call("POST", "/x")
        assert raised.value.lacks_credentials
        assert server.asked == []

    virtually(main())


@pytest.mark.parametrize(
    ("cluster", "user"),
    [
        (Cluster(server="https://x", certificate_auth="/no/such/file"), User()),
        (Cluster(server="https://x", insecure=True), User(client_cert="/no/such/file", client_key="/no/such/file")),
        (Cluster(server="https://x", insecure=True), User(auth_provider={"name": "old"})),
    ],
)
def test_credentials_that_cannot_be_used_are_refused_at_once(cluster: Cluster, user: User) -> None:
    with pytest.raises(ClusterError, match="the credentials for https://x cannot be used"):
        Api(a_config()._replace(cluster=cluster, user=user), ServerClock(LoopClock()))

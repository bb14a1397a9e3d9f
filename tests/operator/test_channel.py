"""The channel: what is sent for each call, and what is made of every way it can fail."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import httpx2
import msgspec
import pytest

from hangar.operator.channel import CALL_TIMEOUT_S, HttpChannel, HubError, OnCall
from hangar.wire.operator import (
    Ack,
    InventoryAnswer,
    InventoryRequest,
    ReleaseRequest,
    ReportAnswer,
    ReportDoc,
    ReportRequest,
    SessionGrant,
    SessionRequest,
    SyncAnswer,
    SyncRequest,
)

SESSION = SessionRequest(protocol=1, cluster_uid="uid-1", incarnation="inc-1", kinds={}, allowed=[])
SYNC = SyncRequest(session="ses_1", epoch=1, seen=3, wait_s=3.0)
REPORT = ReportRequest(session="ses_1", epoch=1, reports=[ReportDoc(id="op_01", n=1, phase="running")])
INVENTORY = InventoryRequest(session="ses_1", epoch=1, n=1, complete=True, nodes=[])
RELEASE = ReleaseRequest(session="ses_1", epoch=1)
GRANT = SessionGrant(session="ses_1", epoch=1, lease_s=15, stop_after_s=10, sync_wait_s=3)
Handle = Callable[[httpx2.Request], httpx2.Response]
Call = Callable[[HttpChannel], Awaitable[object]]


def call(handle: Handle, act: Call, server: str = "https://hub.example/", on_call: OnCall = lambda *_: None) -> object:
    """Make a call to a hub that handles it like this."""

    async def made() -> object:
        channel = HttpChannel(server, "secret", transport=httpx2.MockTransport(handle), on_call=on_call)
        try:
            return await act(channel)
        finally:
            await channel.close()

    return asyncio.run(made())


def answering(body: object, status: int = 200) -> Handle:
    content = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return lambda request: httpx2.Response(status, content=content)


def refused(handle: Handle) -> HubError:
    with pytest.raises(HubError) as caught:
        call(handle, lambda channel: channel.sync(SYNC))
    return caught.value


@pytest.mark.parametrize(
    ("act", "name", "sent", "answer"),
    [
        (lambda channel: channel.open_session(SESSION), "session", SESSION, GRANT),
        (lambda channel: channel.sync(SYNC), "sync", SYNC, SyncAnswer(seen=4, jobs=[])),
        (
            lambda channel: channel.report(REPORT),
            "report",
            REPORT,
            ReportAnswer(acks=[Ack(id="op_01", n=1, outcome="stored")]),
        ),
        (lambda channel: channel.inventory(INVENTORY), "inventory", INVENTORY, InventoryAnswer(resync=False)),
    ],
    ids=["session", "sync", "report", "inventory"],
)
def test_each_call_is_a_post_of_its_document_that_brings_its_answer(
    act: Call, name: str, sent: msgspec.Struct, answer: msgspec.Struct
) -> None:
    seen: list[httpx2.Request] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return answering(answer)(request)

    assert call(handle, act) == answer
    (request,) = seen
    assert (request.method, str(request.url)) == ("POST", f"https://hub.example/v1/operator/{name}")
    assert request.headers["Authorization"] == "Bearer secret"
    assert json.loads(request.content) == msgspec.to_builtins(sent)


def test_a_release_wants_no_answer() -> None:
    assert call(answering(b"", 204), lambda channel: channel.release(RELEASE)) is None


def test_a_sync_waits_for_as_long_as_it_asked_the_hub_to_and_others_do_not() -> None:
    timeouts: list[Any] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        timeouts.append(request.extensions["timeout"]["read"])
        return answering(SyncAnswer(seen=1, jobs=[]))(request)

    call(handle, lambda channel: channel.sync(SYNC))
    call(handle, lambda channel: channel.release(RELEASE))
    assert timeouts == [CALL_TIMEOUT_S + 3.0, CALL_TIMEOUT_S]


def test_fields_of_a_later_hub_are_tolerated() -> None:
    told = call(answering({"seen": 1, "jobs": [], "mood": "good"}), lambda channel: channel.sync(SYNC))
    assert told == SyncAnswer(seen=1, jobs=[])


def test_a_refusal_carries_its_code_its_words_and_when_to_try_again() -> None:
    problem = {"code": "standby", "detail": "iad-1 is held by inc-2", "status": 409, "retry_after_s": 2}
    error = refused(answering(problem, 409))
    assert (str(error), error.code, error.retry_after_s) == ("sync: iad-1 is held by inc-2 (409)", "standby", 2)


def test_what_some_proxy_answers_is_told_by_its_status() -> None:
    error = refused(answering(b"<html>bad gateway</html>", 502))
    assert (str(error), error.code, error.retry_after_s) == ("sync: the hub answered 502", "", None)


def test_an_answer_that_cannot_be_read_is_no_answer() -> None:
    assert str(refused(answering({"seen": "much"}))).startswith("sync: the hub's answer cannot be read: ")
    assert str(refused(answering(b"<html>"))).startswith("sync: the hub's answer cannot be read: ")


@pytest.mark.parametrize(
    ("trouble", "why"),
    [(httpx2.ConnectError("refused"), "refused"), (httpx2.ReadTimeout(""), "ReadTimeout")],
    ids=["refused", "silent"],
)
def test_a_hub_that_cannot_be_reached_is_named_with_the_reason(trouble: httpx2.HTTPError, why: str) -> None:
    def handle(request: httpx2.Request) -> httpx2.Response:
        raise trouble

    assert str(refused(handle)) == f"sync: cannot reach the hub at https://hub.example: {why}"


def unreachable(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("refused")


@pytest.mark.parametrize("handle", [answering({"code": "busy", "detail": "later"}, 503), unreachable])
def test_a_failure_carries_the_id_under_which_the_hub_has_the_call(handle: Handle) -> None:
    sent: list[str] = []

    def noting(request: httpx2.Request) -> httpx2.Response:
        sent.append(request.headers["X-Request-Id"])
        return handle(request)

    first, second = refused(noting), refused(noting)
    assert [first.request, second.request] == sent
    assert len(set(sent)) == 2


@pytest.mark.parametrize(
    ("handle", "outcome"),
    [
        (answering(SyncAnswer(seen=1, jobs=[])), "ok"),
        (answering({"code": "fenced", "detail": "another"}, 409), "fenced"),
        (answering(b"<html>", 502), "status_502"),
        (unreachable, "unreachable"),
    ],
)
def test_each_call_is_told_of_with_its_outcome(handle: Handle, outcome: str) -> None:
    told: list[tuple[str, str, float]] = []
    with suppress(HubError):
        call(handle, lambda channel: channel.sync(SYNC), on_call=lambda *each: told.append(each))
    ((name, ended, took_s),) = told
    assert (name, ended) == ("sync", outcome)
    assert took_s >= 0

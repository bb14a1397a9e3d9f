"""Speaks HTTP with the hub: one kept connection, JSON both ways, every trouble told as a Failure."""

from __future__ import annotations

import json
import select
import sys
import time
from contextlib import suppress

import hangar
from hangar.cli.exits import PASSING_STATUSES, Exit
from hangar.cli.failures import Failure, UsageError
from hangar.cli.problems import refusal

# http.client imports ssl when it can, which is a third of its cost. TLS is put around the socket here, so ssl
# is imported for https alone.
if "http.client" not in sys.modules and "ssl" not in sys.modules:
    sys.modules["ssl"] = None  # type: ignore[assignment]
    try:
        import http.client
    finally:
        del sys.modules["ssl"]
else:
    import http.client
from socket import SHUT_RDWR
from urllib.parse import quote, urlencode, urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from socket import socket
    from ssl import SSLContext
    from typing import Any
    from urllib.parse import SplitResult

    from hangar.cli.documents import Document
    from hangar.cli.settings import Endpoint

    Query = Mapping[str, str | float | None]

CONNECT_TIMEOUT_S = 10.0
"""A hub that does not answer the telephone within this is not there."""

ANSWER_TIMEOUT_S = 30.0
"""An ordinary answer takes milliseconds; a hub that swaps or fails over may need this long."""

RETRY_PAUSES_S = (0.2, 0.5, 1.0)
"""Pauses between tries of a request that is safe to repeat: a hub's restart behind a proxy fits in between."""

RETRY_AFTER_MAX_S = 10.0
"""Longer than this nobody waits for a busy hub without being told."""

NO_CONTENT = 204
"""The status of an answer that holds nothing, since there is nothing left to show."""

PAGE_ITEMS_MAX = 1000
"""As many as the hub gives at once: the fewest calls for a whole list."""

TICK_S = 1.0
"""How often a caller who waits for an answer may redraw its line."""


class Response:
    """An answer that is no problem. `document` is the decoded JSON, None where there is no content."""

    __slots__ = ("document", "headers", "status")

    def __init__(self, status: int, headers: Mapping[str, str], document: Any) -> None:
        self.status = status
        self.headers = headers
        self.document = document


class LongAnswer:
    """An answer that goes on until the hub ends it."""

    __slots__ = ("_answer", "_socket")

    def __init__(self, answer: http.client.HTTPResponse, sock: socket) -> None:
        self._answer = answer
        self._socket = sock

    def lines(self) -> Iterator[bytes]:
        """Yield its lines as they come. Raises OSError, HTTPException when the connection breaks."""
        return iter(self._answer)

    def end(self) -> None:
        """Let no more come; this may be called while another thread reads."""
        with suppress(OSError):
            self._socket.shutdown(SHUT_RDWR)


class Hub:
    """The hub's API. Every method raises Failure when the hub cannot be reached or refuses."""

    def __init__(self, endpoint: Endpoint, sleep: Callable[[float], None] = time.sleep) -> None:
        self.endpoint = endpoint
        self._sleep = sleep
        address = _split(endpoint)
        self._is_secure = address.scheme == "https"
        self._host = address.hostname or ""
        self._port = address.port or (443 if self._is_secure else 80)
        self._base = address.path.rstrip("/")
        self._connection: http.client.HTTPConnection | None = None
        self._is_sending = False

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, path: str, query: Query | None = None) -> Any:
        """Return the JSON document at a path."""
        return self.request("GET", path, query=query).document

    def pages(self, path: str, query: Query, limit: int | None = None) -> Iterator[Document]:
        """Yield the pages of a list, until there is no next one or `limit` items were seen; the last may be cut."""
        token: str | None = None
        left = limit
        while True:
            size = PAGE_ITEMS_MAX if left is None else min(left, PAGE_ITEMS_MAX)
            page = self.get(path, {**query, "page_size": size, "page_token": token})
            if not isinstance(page, dict) or not isinstance(page.get("items"), list):
                raise self._unintelligible("it is no list of items")
            if left is not None:
                page["items"] = page["items"][:left]
                left -= len(page["items"])
            yield page
            before, token = token, page.get("next_page_token")
            if token is None or left == 0:
                return
            if token == before:
                raise self._unintelligible("its list turns in a circle")

    def post(
        self, path: str, body: Mapping[str, object], headers: Mapping[str, str], query: Query | None = None
    ) -> Response:
        """Send a request that is safe to repeat, and repeat it over passing trouble a few times."""
        return self._repeated("POST", path, body, headers, query)

    def put(self, path: str, body: Mapping[str, object]) -> Response:
        """Say how something is to be: safe to repeat by its nature, and repeated like `post`."""
        return self._repeated("PUT", path, body)

    def delete(self, path: str, query: Query | None = None) -> Document:
        """Remove something and return what is said of it. It is sent once: a repeat would find nothing to remove."""
        try:
            removed: Document = self.request("DELETE", path, query=query).document
        except Failure as failure:
            if failure.is_passing and not failure.is_unsent:
                failure.hints = (*failure.hints, "whether it was removed is not known: look before you repeat it")
            raise
        return removed

    def _repeated(
        self,
        method: str,
        path: str,
        body: Mapping[str, object],
        headers: Mapping[str, str] | None = None,
        query: Query | None = None,
    ) -> Response:
        was_sent, tries = False, 0
        while True:
            try:
                return self.request(method, path, query=query, body=body, headers=headers)
            except Failure as failure:
                was_sent, tries = was_sent or not failure.is_unsent, tries + 1
                failure.is_unsent = not was_sent
                asked_s = failure.retry_after_s or 0.0
                if not failure.is_passing or asked_s > RETRY_AFTER_MAX_S:
                    raise
                if tries > len(RETRY_PAUSES_S):
                    failure.message += f" (tried {tries} times)"
                    raise
                self._sleep(max(RETRY_PAUSES_S[tries - 1], asked_s))

    def open(self, path: str, query: Query, headers: Mapping[str, str], silence_max_s: float) -> LongAnswer:
        """Ask for an answer that goes on, and return it; nothing else can be asked before `close`."""
        self._is_sending = False
        is_open = False
        try:
            connection = self._connect()
            connection.sock.settimeout(silence_max_s)
            self._is_sending = True
            connection.request("GET", self._url(path, query), None, self._headers(headers))
            sock = connection.sock  # where the answer ends with the connection, it is taken from there
            answer = connection.getresponse()
            content = b"" if (is_open := answer.status == 200) else answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise self.unreachable(error) from None
        finally:
            if not is_open:
                self.close()
        if not is_open:
            self._understood(answer, content)
            raise self._unintelligible(f"it answered {answer.status} where an endless answer was asked for")
        return LongAnswer(answer, sock)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = ANSWER_TIMEOUT_S,
        on_tick: Callable[[], None] | None = None,
    ) -> Response:
        """Send one request and return its answer; `on_tick` is called about once a second while it is awaited."""
        url, all_headers = self._url(path, query), self._headers(headers)
        payload = None
        if body is not None:
            payload = json.dumps(body).encode()
            all_headers["Content-Type"] = "application/json"
        is_read = False
        self._is_sending = False
        try:
            answer, content = self._exchange(method, url, payload, all_headers, timeout_s, on_tick)
            is_read = True
        except (OSError, http.client.HTTPException) as error:
            raise self.unreachable(error) from None
        finally:
            if not is_read:
                self.close()  # an answer that nobody read would be taken for the next one's
        return self._understood(answer, content)

    def close(self) -> None:
        """Drop the connection; the next request makes a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _url(self, path: str, query: Query | None) -> str:
        filled = {name: value for name, value in (query or {}).items() if value is not None}
        return f"{self._base}{path}?{urlencode(filled)}" if filled else f"{self._base}{path}"

    def _headers(self, headers: Mapping[str, str] | None) -> dict[str, str]:
        filled = {"Accept": "application/json", "User-Agent": f"hgr/{hangar.__version__}", **(headers or {})}
        if self.endpoint.token is not None:
            filled["Authorization"] = f"Bearer {self.endpoint.token}"
        return filled

    def _exchange(
        self,
        method: str,
        url: str,
        payload: bytes | None,
        headers: dict[str, str],
        timeout_s: float,
        on_tick: Callable[[], None] | None,
    ) -> tuple[http.client.HTTPResponse, bytes]:
        was_kept = self._connection is not None
        connection = self._connection or self._connect()
        connection.sock.settimeout(timeout_s)
        self._is_sending = True
        try:
            connection.request(method, url, payload, headers)
            if on_tick is not None:
                _tick_until_readable(connection, timeout_s, on_tick)
            answer = connection.getresponse()
            content = answer.read()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            self.close()
            if not was_kept:
                raise
            # A hub may close a connection that it kept for us; all our requests are safe to send again.
            return self._exchange(method, url, payload, headers, timeout_s, on_tick)
        if answer.will_close:
            self.close()
        return answer, content

    def _connect(self) -> http.client.HTTPConnection:
        context = self._trust() if self._is_secure else None
        connection = http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_TIMEOUT_S)
        self._connection = connection  # from here on it is closed whatever happens
        connection.connect()
        if context is not None:
            connection.default_port = 443
            connection.sock = context.wrap_socket(connection.sock, server_hostname=self._host)
        return connection

    def _trust(self) -> SSLContext:
        import ssl

        try:
            return ssl.create_default_context(cafile=self.endpoint.ca_file)
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot use the CA file {self.endpoint.ca_file}: {error}") from None

    def _understood(self, answer: http.client.HTTPResponse, content: bytes) -> Response:
        status = answer.status
        try:
            document = json.loads(content)
        except ValueError:
            document = None
        if 200 <= status < 300 and (document is not None or status == NO_CONTENT):
            return Response(status, {name.lower(): value for name, value in answer.getheaders()}, document)
        if isinstance(document, dict) and "code" in document and status >= 400:
            raise refusal(status, document, answer.getheader("Retry-After"), self.endpoint)
        said = f"it answered {status} {answer.reason or ''}".rstrip()
        if 300 <= status < 400:
            said += f", a redirect to {answer.getheader('Location')}; give that address"
        elif document is None:
            said += f" with {answer.getheader('Content-Type') or 'a body'} instead of JSON"
        raise self._unintelligible(said, is_passing=status in PASSING_STATUSES)

    def _unintelligible(self, said: str, *, is_passing: bool = False) -> Failure:
        where = f"{self.endpoint.server} (from {self.endpoint.source})"
        if is_passing:
            return Failure(Exit.UNREACHABLE, f"the hub behind {where} is not there: {said}", is_passing=True)
        return Failure(Exit.UNEXPECTED, f"{where} does not answer like a hub: {said}")

    def unreachable(self, error: Exception) -> Failure:
        """Return what it means for the caller that a connection could not be made, or broke."""
        message = f"cannot reach the hub at {self.endpoint.server} (from {self.endpoint.source}): {_cause(error)}"
        if type(error).__name__ == "SSLCertVerificationError":
            hint = (
                "name the CA that signed the hub's certificate: HGR_CA_FILE, or `hgr context set NAME --ca-file FILE`"
            )
            return Failure(Exit.UNREACHABLE, message, hints=(hint,))
        hint = f"see whether it is up: curl {self.endpoint.server.rstrip('/')}/healthz"
        failure = Failure(Exit.UNREACHABLE, message, hints=(hint,), is_passing=True)
        failure.is_unsent = not self._is_sending
        return failure


def segment(name: str) -> str:
    """Return a name as one segment of a path."""
    return quote(name, safe="")


def _split(endpoint: Endpoint) -> SplitResult:
    try:
        address = urlsplit(endpoint.server)
        is_good = address.scheme in ("http", "https") and address.hostname and address.port != 0
    except ValueError:
        is_good = False
    if not is_good or address.username or address.query or address.fragment or not endpoint.server.isprintable():
        raise UsageError(
            f"{endpoint.server!r} (from {endpoint.source}) is not the address of a hub; it looks like https://HOST:PORT"
        )
    return address


def _tick_until_readable(connection: http.client.HTTPConnection, timeout_s: float, on_tick: Callable[[], None]) -> None:
    for _ in range(int(timeout_s / TICK_S)):
        on_tick()
        if select.select([connection.sock], [], [], TICK_S)[0]:
            return
    raise TimeoutError


def _cause(error: Exception) -> str:
    match error:
        case TimeoutError():
            return "no answer in time"
        case ConnectionRefusedError():
            return "connection refused"
        case http.client.RemoteDisconnected():
            return "it closed the connection without an answer"
        case OSError() if type(error).__name__ == "gaierror":
            return f"no such host ({error.strerror})"
        case OSError():
            return getattr(error, "verify_message", None) or error.strerror or str(error)
        case _:
            return f"it does not speak HTTP ({type(error).__name__})"

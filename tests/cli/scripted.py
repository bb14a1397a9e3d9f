"""A hub by script: an HTTP server on loopback that answers as a test told it to, and remembers what it was asked."""

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    """One answer: a document, raw content, or a stream of pieces; or, with `hang_up`, nothing at all.

    A stream ends in order when its pieces do, and with `close_after` in the middle of a piece.
    """

    status: int = 200
    document: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    stream: Iterable[bytes] | None = None
    hang_up: bool = False
    close_after: bool = False


Script = Answer | Callable[[Request], Answer]


def problem(status: int, code: str, detail: str, headers: Mapping[str, str] | None = None, **context: Any) -> Answer:
    """Return a problem+json answer."""
    document = {"type": f"urn:wingsmith:problem:{code}", "title": "t", "status": status, "code": code, "detail": detail}
    return Answer(status, document | context, {"Content-Type": "application/problem+json", **(headers or {})})


class ScriptedHub:
    """The hub. Answers to a path are given in order; the last one is given for ever."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._scripts: dict[tuple[str, str], list[Script]] = {}
        self._lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self._thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def on(self, method: str, path: str, *scripts: Script) -> None:
        """Set the answers for a method and path."""
        self._scripts[method, path] = list(scripts)

    def on_list(self, path: str, *items: Any) -> None:
        """Set a list of one page."""
        self.on("GET", path, Answer(document={"items": list(items), "next_page_token": None, "as_of": 7}))

    def asked(self, method: str, path: str) -> list[Request]:
        """Return the requests for a method and path."""
        return [each for each in self.requests if (each.method, each.path) == (method, path)]

    def close(self) -> None:
        """Stop listening."""
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()

    def _next(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
            scripts = self._scripts.get((request.method, request.path), [])
            script = (scripts.pop(0) if len(scripts) > 1 else scripts[0]) if scripts else None
        if script is None:
            return problem(404, "not_found", f"nothing is scripted for {request.method} {request.path}")
        return script(request) if callable(script) else script

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                content = self.rfile.read(length)
                parts = urlsplit(self.path)
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = json.loads(content) if content else None
                answer = hub._next(Request(self.command, parts.path, dict(parse_qsl(parts.query)), headers, body))
                self.close_connection = self.close_connection or answer.hang_up or answer.close_after
                with suppress(ConnectionError):  # those who ask may go away
                    if answer.stream is not None:
                        self._send_stream(answer, answer.stream)
                    elif not answer.hang_up:
                        self._send(answer)

            def _send_stream(self, answer: Answer, pieces: Iterable[bytes]) -> None:
                self.send_response(answer.status)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for piece in pieces:
                    self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                self.wfile.write(b"a\r\nid:" if answer.close_after else b"0\r\n\r\n")

            def _send(self, answer: Answer) -> None:
                content = json.dumps(answer.document).encode() if answer.content is None else answer.content
                self.send_response(answer.status)
                for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_DELETE = handle_one  # noqa: N815 - the names that http.server calls

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's signature
                pass

        return Handler

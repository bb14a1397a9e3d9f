"""An admission webhook, for evictions or else: a server on loopback that answers what a test tells it to."""

import base64
import json
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from testbed.bed import Bed
from testbed.kube import KubeError, until

Document = dict[str, Any]

KIND = "ValidatingWebhookConfiguration"

EVICTIONS: Document = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["pods/eviction"],
}
CHANGES_OF_GRAPHS: Document = {
    "apiGroups": ["nvidia.com"],
    "apiVersions": ["*"],
    "operations": ["UPDATE"],
    "resources": ["dynamographdeployments"],
}
CREATIONS_OF_GRAPHS: Document = CHANGES_OF_GRAPHS | {"operations": ["CREATE"]}

Answer = Callable[[Document], Document | None]
"""Takes an admission request and returns the response without its UID; None answers nothing until the end."""


def allow(_: Document) -> Document:
    """Let it pass."""
    return {"allowed": True}


def deny(message: str, code: int | None = None) -> Answer:
    """Return an answer that denies, with a code of its own or with what Kubernetes makes of none."""
    status = {"message": message} | ({"code": code} if code is not None else {})
    return lambda _: {"allowed": False, "status": status}


def at_first(times: int, answer: Answer) -> Answer:
    """Return what answers so the first `times` that it is asked, a dry run apart, and lets pass what comes later."""
    left = iter(range(times))

    def answered(request: Document) -> Document | None:
        return answer(request) if not request.get("dryRun") and next(left, None) is not None else allow(request)

    return answered


class Webhook:
    """One webhook. A `with` statement makes it known to the API server's configuration, and takes it away.

    Args:
        bed: A running bed.
        name: Its name, with two dots at least.
        answer: What it says; for evictions that are a dry run, too.
        timeout_s: How long the API server waits for it, in whole seconds.
        lets_pass: Whether what it is asked about passes where it does not answer.
        namespace: In which namespace it is asked; in all where none is named.
        rule: What it is asked about.
    """

    def __init__(
        self,
        bed: Bed,
        name: str,
        answer: Answer,
        *,
        timeout_s: int = 5,
        lets_pass: bool = False,
        namespace: str | None = None,
        rule: Document = EVICTIONS,
    ) -> None:
        self.asked: list[Document] = []
        self._bed = bed
        self._name = name
        self._timeout_s = timeout_s
        self._lets_pass = lets_pass
        self._namespace = namespace
        self._rule = rule
        self._ended = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(answer, self.asked, self._ended))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(bed.server_pair.certificate, bed.server_pair.key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self) -> None:
        """Serve, and tell the API server."""
        self._thread.start()
        self._bed.kube.create(self._configuration())

    def hang_up(self) -> None:
        """Tell the API server of it, and let nobody be there."""
        self._server.server_close()
        self._bed.kube.create(self._configuration())

    def close(self) -> None:
        """Take it away, and end what still waits for an answer."""
        self._bed.kube.delete(KIND, self._name)
        self._ended.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def wait_known(self, pod: str, namespace: str = "default") -> None:
        """Wait until evictions of a pod are asked about: the API server takes a moment to know its webhooks."""

        def is_asked() -> bool:
            before = len(self.asked)
            dry_run(self._bed, pod, namespace)
            return len(self.asked) > before

        until(f"the webhook {self._name} is asked", is_asked)

    def _configuration(self) -> Document:
        client = {
            "url": f"https://127.0.0.1:{self._server.server_port}/",
            "caBundle": base64.b64encode(self._bed.ca_file.read_bytes()).decode(),
        }
        webhook: Document = {
            "name": self._name,
            "clientConfig": client,
            "rules": [self._rule],
            "sideEffects": "NoneOnDryRun",
            "admissionReviewVersions": ["v1"],
            "failurePolicy": "Ignore" if self._lets_pass else "Fail",
            "timeoutSeconds": self._timeout_s,
        }
        if self._namespace is not None:
            webhook["namespaceSelector"] = {"matchLabels": {"kubernetes.io/metadata.name": self._namespace}}
        api = "admissionregistration.k8s.io/v1"
        return {"apiVersion": api, "kind": KIND, "metadata": {"name": self._name}, "webhooks": [webhook]}


def dry_run(bed: Bed, pod: str, namespace: str = "default") -> KubeError | None:
    """Ask for an eviction that never takes effect, and return how it was refused."""
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": namespace}}
    try:
        bed.kube.call("POST", f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction?dryRun=All", body)
    except KubeError as error:
        return error
    return None


def _handler(answer: Answer, asked: list[Document], ended: threading.Event) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
            asked.append(request)
            response = answer(request)
            if response is None:
                ended.wait()
                return
            review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
            body = json.dumps(review | {"response": response | {"uid": request["uid"]}}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            """Say nothing: what was asked is kept."""

    return Handler

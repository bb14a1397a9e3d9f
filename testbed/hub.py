"""A blocking client of the hub's API: operations as plain dictionaries, waited for by long poll."""

import ssl
import time
from collections.abc import Callable
from typing import Any

import httpx2

Document = dict[str, Any]

CALL_TIMEOUT_S = 70.0
"""Longer than the longest long poll."""

POLL_S = 20.0
"""One long poll; the next one follows at once."""

FINISH_TIMEOUT_S = 90.0
"""No operation of a test takes longer: an eviction of unknown outcome is waited for 35 s."""

OVER = frozenset({"succeeded", "failed", "cancelled"})


class HubRefusedError(Exception):
    """The hub refused a request; `problem` is what it said, by the problem document's names."""

    def __init__(self, problem: Document) -> None:
        super().__init__(f"{problem.get('status')} {problem.get('code')}: {problem.get('detail')}")
        self.problem = problem


class HubClient:
    """The API of one hub, with one token. May be used by several threads."""

    def __init__(self, server: str, token: str, trust: ssl.SSLContext | None = None) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        verify = True if trust is None else trust
        self._http = httpx2.Client(
            base_url=server, headers=headers, timeout=CALL_TIMEOUT_S, trust_env=False, verify=verify
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def submit(self, kind: str, target: str, *, reason: str | None = None, **params: object) -> str:
        """Create an operation and return its id. Raises HubRefusedError."""
        body = {"type": kind, "target": target, "params": params}
        if reason is not None:
            body["reason"] = reason
        created: Document = self._call("POST", "/v1/operations", json=body)
        return str(created["id"])

    def foresee(self, kind: str, target: str, **params: object) -> Document:
        """Return the plan of an operation, which is not made. Raises HubRefusedError."""
        body = {"type": kind, "target": target, "params": params}
        return self._call("POST", "/v1/operations", json=body, params={"dry_run": "true"})

    def operation(self, operation: str) -> Document:
        """Return an operation as it is now."""
        return self._call("GET", f"/v1/operations/{operation}")

    def cancel(self, operation: str) -> Document:
        """Ask for an operation to stop; return it as it is then."""
        return self._call("POST", f"/v1/operations/{operation}:cancel")

    def events(self, operation: str) -> list[Document]:
        """Return the first page of what happened to an operation, oldest first."""
        found: list[Document] = self._call("GET", f"/v1/operations/{operation}/events")["items"]
        return found

    def wait(
        self, operation: str, what: str, is_so: Callable[[Document], bool], timeout_s: float = FINISH_TIMEOUT_S
    ) -> Document:
        """Follow an operation, version by version, until something is so, and return it as it is then.

        Raises:
            TimeoutError: It was not so within `timeout_s`, or the operation ended before; the message shows it.
        """
        deadline_s = time.monotonic() + timeout_s
        seen = self.operation(operation)
        while not is_so(seen):
            left_s = deadline_s - time.monotonic()
            if seen["phase"] in OVER or left_s <= 0:
                raise TimeoutError(f"not seen within {timeout_s:.0f} s: {what}; {operation} is {seen}")
            seen = self.pause(operation, min(POLL_S, left_s), seen["version"])
        return seen

    def pause(self, operation: str, timeout_s: float, after_version: int | None = None) -> Document:
        """Return an operation once it is over or newer than a version, or as it is after `timeout_s`."""
        query = {"timeout": f"{timeout_s:.3f}"} | (
            {} if after_version is None else {"after_version": str(after_version)}
        )
        return self._call("GET", f"/v1/operations/{operation}/wait", params=query)

    def finish(self, operation: str, timeout_s: float = FINISH_TIMEOUT_S) -> Document:
        """Wait for an operation's end and return it."""
        return self.wait(operation, "its end", lambda seen: seen["phase"] in OVER, timeout_s)

    def cluster(self, name: str) -> Document:
        """Return a cluster."""
        return self._call("GET", f"/v1/clusters/{name}")

    def node(self, name: str) -> Document | None:
        """Return a node by its bare name, None where the hub knows none."""
        try:
            return self._call("GET", f"/v1/nodes/{name}")
        except HubRefusedError as refused:
            if refused.problem["status"] == 404:
                return None
            raise

    def workload(self, name: str) -> Document:
        """Return a workload with its deployments."""
        return self._call("GET", f"/v1/workloads/{name}")

    def set_replicas(self, name: str, replicas: int) -> Document:
        """Change a workload's number without an operation. Raises HubRefusedError."""
        return self._call("PATCH", f"/v1/workloads/{name}", json={"replicas": replicas})

    def _call(self, method: str, path: str, *, json: object = None, params: dict[str, str] | None = None) -> Document:
        answer = self._http.request(method, path, json=json, params=params)
        document: Document = answer.json()
        if answer.is_error:
            raise HubRefusedError(document)
        return document

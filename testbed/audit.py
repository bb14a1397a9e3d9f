"""The API server's own record of who sent what: the proof of what was sent and of what was not."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec
import yaml

COMPONENTS = ("kube-controller-manager", "kube-scheduler", "kwok", "system:apiserver")
WRITES = ("create", "update", "patch", "delete", "deletecollection")

POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "omitManagedFields": True,
    "rules": [
        # The UID that an eviction names is in its body alone, and so is what a patch of a node says.
        {"level": "Request", "verbs": ["create"], "resources": [{"group": "", "resources": ["pods/eviction"]}]},
        {"level": "Request", "verbs": ["patch", "update"], "resources": [{"group": "", "resources": ["nodes"]}]},
        {"level": "Metadata", "verbs": list(WRITES), "resources": [{"group": "", "resources": ["pods", "nodes"]}]},
        {"level": "None", "users": list(COMPONENTS)},
        {"level": "Metadata"},
    ],
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One request: when it arrived, who sent it, what it did to which object, and the answer's code.

    `uid` is the one that an eviction or a deletion was limited to, None where it named none. `body` is
    the request's, for evictions and patches of nodes. `stage` is ResponseComplete but for open watches.
    """

    at: datetime
    user: str
    agent: str
    verb: str
    resource: str
    namespace: str
    name: str
    uid: str | None
    code: int
    uri: str
    body: object
    stage: str

    @property
    def is_write(self) -> bool:
        """Tell whether the request was one that changes things."""
        return self.verb in WRITES and self.resource != "selfsubjectaccessreviews"

    @property
    def is_accepted(self) -> bool:
        """Tell whether the server did what was asked."""
        return 200 <= self.code < 300


class AuditLog:
    """Reads the audit log of one bed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def entries(self, user: str | None = None) -> list[Entry]:
        """Return all requests so far, in the order of their ends, of one user or of everybody."""
        return [entry for entry in self._read() if user is None or entry.user == user]

    def evictions(self, user: str | None = None) -> list[Entry]:
        """Return all requests to the eviction API so far, refused ones too."""
        return [entry for entry in self.entries(user) if entry.resource == "pods/eviction"]

    def writes(self, user: str | None = None) -> list[Entry]:
        """Return all requests so far that were to change something; access reviews change nothing."""
        return [entry for entry in self.entries(user) if entry.is_write]

    def _read(self) -> Iterator[Entry]:
        if not self._path.exists():
            return
        # The last line may be half-written while the server runs.
        for line in self._path.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                yield _entry(msgspec.json.decode(line, type=_Event))


def write_policy(path: Path) -> None:
    """Write what the API server records."""
    path.write_text(yaml.safe_dump(POLICY))


class _User(msgspec.Struct):
    username: str = ""


class _Object(msgspec.Struct):
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


class _Status(msgspec.Struct):
    code: int = 0


class _Event(msgspec.Struct):
    verb: str
    requestURI: str  # noqa: N815  (the audit log's own name)
    requestReceivedTimestamp: datetime  # noqa: N815
    stage: str = ""
    user: _User = msgspec.field(default_factory=_User)
    userAgent: str = ""  # noqa: N815
    objectRef: _Object = msgspec.field(default_factory=_Object)  # noqa: N815
    responseStatus: _Status = msgspec.field(default_factory=_Status)  # noqa: N815
    requestObject: dict[str, object] | None = None  # noqa: N815


class _Preconditions(msgspec.Struct):
    uid: str | None = None


class _DeleteOptions(msgspec.Struct):
    preconditions: _Preconditions | None = None


class _Eviction(msgspec.Struct):
    deleteOptions: _DeleteOptions | None = None  # noqa: N815


def _entry(event: _Event) -> Entry:
    target = event.objectRef
    resource = f"{target.resource}/{target.subresource}" if target.subresource else target.resource
    return Entry(
        at=event.requestReceivedTimestamp,
        user=event.user.username,
        agent=event.userAgent,
        verb=event.verb,
        resource=resource,
        namespace=target.namespace,
        name=target.name,
        uid=_uid(event.requestObject) if resource == "pods/eviction" else None,
        code=event.responseStatus.code,
        uri=event.requestURI,
        body=event.requestObject,
        stage=event.stage,
    )


def _uid(body: dict[str, object] | None) -> str | None:
    options = msgspec.convert(body or {}, _Eviction).deleteOptions
    if options is None or options.preconditions is None:
        return None
    return options.preconditions.uid

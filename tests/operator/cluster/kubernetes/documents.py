"""Kubernetes' objects as the API server writes them, as small as a test allows."""

import json
from typing import Any

Document = dict[str, Any]

EPOCH = "2026-11-30T12:00:00Z"


def a_node(name: str = "n1", *, uid: str | None = None, version: int = 1, **spec: Any) -> Document:
    metadata = {"name": name, "uid": uid or f"uid-{name}", "resourceVersion": str(version), "creationTimestamp": EPOCH}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": {}}


def a_pod(name: str = "p1", *, uid: str | None = None, version: int = 1, **spec: Any) -> Document:
    metadata = {
        "namespace": "default",
        "name": name,
        "uid": uid or f"uid-{name}",
        "resourceVersion": str(version),
        "creationTimestamp": EPOCH,
    }
    whole = {"containers": [{"name": "main", "image": "x", "resources": {}}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": whole, "status": {"phase": "Running"}}


def an_owner(kind: str, name: str = "web", *, version: int = 1, **spec: Any) -> Document:
    metadata = {"namespace": "default", "name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec, "status": {}}


def a_budget(name: str = "web", *, version: int = 1, generation: int = 1, **spec: Any) -> Document:
    metadata = {
        "namespace": "default",
        "name": name,
        "uid": f"uid-{name}",
        "resourceVersion": str(version),
        "generation": generation,
    }
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec, "status": {}}


def a_graph(version: str, name: str = "chat", *, at: int = 1, **parts: Any) -> Document:
    """Return a graph in one version of the API; `at` is its resourceVersion, `components` those of its spec."""
    metadata = {
        "namespace": "serving",
        "name": name,
        "uid": f"uid-{name}",
        "resourceVersion": str(at),
        "generation": 3,
        **parts.pop("metadata", {}),
    }
    field = "components" if version == "v1beta1" else "services"
    spec = {field: parts.pop("components", [] if version == "v1beta1" else {})}
    kind = "DynamoGraphDeployment"
    return {"apiVersion": f"nvidia.com/{version}", "kind": kind, "metadata": metadata, "spec": spec, **parts}


def a_refusal(code: int, message: str = "no", *, reason: str = "", **details: Any) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Status",
        "metadata": {},
        "status": "Failure",
        "code": code,
        "reason": reason or "SomeReason",
        "message": message,
        "details": details,
    }


def an_event(kind: str, document: Document) -> bytes:
    return json.dumps({"type": kind, "object": document}).encode() + b"\n"


def a_bookmark(version: int, *, is_end: bool = False) -> bytes:
    annotations = {"k8s.io/initial-events-end": "true"} if is_end else None
    metadata = {"resourceVersion": str(version), "creationTimestamp": None}
    if annotations is not None:
        metadata["annotations"] = annotations  # type: ignore[assignment]
    # As the server writes it: a whole object whose required lists are null.
    return an_event("BOOKMARK", {"kind": "Pod", "metadata": metadata, "spec": {"containers": None}, "status": {}})


def a_page(version: int, *items: Document, then: str = "") -> Document:
    return {"kind": "List", "metadata": {"resourceVersion": str(version), "continue": then}, "items": list(items)}


def an_adapter(version: str, name: str = "chat-decode", *, at: int = 1, replicas: int = 2) -> Document:
    """Return the scaling adapter of the component `decode` of the graph `chat`."""
    metadata = {"namespace": "serving", "name": name, "uid": f"uid-{name}", "resourceVersion": str(at)}
    of = {"name": "chat", "componentName" if version == "v1beta1" else "serviceName": "decode"}
    kind = "DynamoGraphDeploymentScalingAdapter"
    spec = {"dgdRef": of, "replicas": replicas}
    return {"apiVersion": f"nvidia.com/{version}", "kind": kind, "metadata": metadata, "spec": spec}

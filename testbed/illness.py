"""How nodes and pods of a bed fall ill: kubelets that fall silent and come back, containers that stop."""

from datetime import UTC, datetime
from typing import Any

from testbed.bed import Bed
from testbed.kube import until
from testbed.kwok import KUBELET

Document = dict[str, Any]

STRATEGIC_PATCH = "application/strategic-merge-patch+json"


def silence(bed: Bed, node: str) -> None:
    """Let a node's kubelet die, and its silence be noticed: what Kubernetes would say of it after 50 s, it says now."""
    bed.kube.patch("Node", node, {"metadata": {"labels": {KUBELET: None}}})
    _say(bed, node, "Unknown", "NodeStatusUnknown")
    until(f"node {node} is tainted", lambda: _is_tainted(bed, node))


def hear(bed: Bed, node: str) -> None:
    """Let a silent kubelet live again, and say that it is ready."""
    bed.kube.patch("Node", node, {"metadata": {"labels": {KUBELET: "up"}}})
    _say(bed, node, "True", "KubeletReady")
    until(f"node {node} is not tainted", lambda: not _is_tainted(bed, node))
    for pod in bed.kube.pods_on(node):  # the made-up kubelet looks at pods only when they change
        metadata = pod["metadata"]
        patch = {"metadata": {"annotations": {"wingsmith.test/heard": "again"}}}
        bed.kube.patch("Pod", metadata["name"], patch, metadata["namespace"])


def crash(bed: Bed, pod: str, reason: str, message: str, namespace: str = "default") -> None:
    """Let a pod's one container stop for a reason, as its kubelet would say it."""
    waiting = {"reason": reason, "message": message}
    container = {
        "name": "main",
        "image": "",
        "imageID": "",
        "ready": False,
        "restartCount": 5,
        "state": {"waiting": waiting},
    }
    conditions = [
        {
            "type": name,
            "status": "False",
            "reason": "ContainersNotReady",
            "message": "containers with unready status: [main]",
            "lastTransitionTime": _now(),
        }
        for name in ("Ready", "ContainersReady")
    ]
    path = f"/api/v1/namespaces/{namespace}/pods/{pod}/status"
    patch = {"status": {"conditions": conditions, "containerStatuses": [container]}}
    bed.kube.call("PATCH", path, patch, STRATEGIC_PATCH)


def _say(bed: Bed, node: str, status: str, reason: str) -> None:
    condition = {
        "type": "Ready",
        "status": status,
        "reason": reason,
        "message": "said by the test bed",
        "lastTransitionTime": _now(),
        "lastHeartbeatTime": _now(),
    }
    bed.kube.call("PATCH", f"/api/v1/nodes/{node}/status", {"status": {"conditions": [condition]}}, STRATEGIC_PATCH)


def _is_tainted(bed: Bed, node: str) -> bool:
    found = bed.kube.get("Node", node)
    taints = found["spec"].get("taints", []) if found is not None else []
    return any(each["key"] == "node.kubernetes.io/unreachable" for each in taints)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

"""A blocking client for arranging and reading a bed's objects, as plain dictionaries."""

import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import httpx2

T = TypeVar("T")
Document = dict[str, Any]

SUPERUSERS = "system:masters"
TIMEOUT_S = 30.0
UNTIL_TIMEOUT_S = 30.0
POLL_S = 0.05

PATHS: Mapping[str, tuple[str, str]] = {
    "Namespace": ("/api/v1", "namespaces"),
    "Node": ("/api/v1", "nodes"),
    "Pod": ("/api/v1", "pods"),
    "ServiceAccount": ("/api/v1", "serviceaccounts"),
    "ResourceQuota": ("/api/v1", "resourcequotas"),
    "PersistentVolumeClaim": ("/api/v1", "persistentvolumeclaims"),
    "PersistentVolume": ("/api/v1", "persistentvolumes"),
    "Deployment": ("/apis/apps/v1", "deployments"),
    "ReplicaSet": ("/apis/apps/v1", "replicasets"),
    "StatefulSet": ("/apis/apps/v1", "statefulsets"),
    "DaemonSet": ("/apis/apps/v1", "daemonsets"),
    "Job": ("/apis/batch/v1", "jobs"),
    "HorizontalPodAutoscaler": ("/apis/autoscaling/v2", "horizontalpodautoscalers"),
    "PodDisruptionBudget": ("/apis/policy/v1", "poddisruptionbudgets"),
    "ClusterRole": ("/apis/rbac.authorization.k8s.io/v1", "clusterroles"),
    "ClusterRoleBinding": ("/apis/rbac.authorization.k8s.io/v1", "clusterrolebindings"),
    "CustomResourceDefinition": ("/apis/apiextensions.k8s.io/v1", "customresourcedefinitions"),
    "ResourceSlice": ("/apis/resource.k8s.io/v1", "resourceslices"),
    "ResourceClaim": ("/apis/resource.k8s.io/v1", "resourceclaims"),
    "ValidatingWebhookConfiguration": (
        "/apis/admissionregistration.k8s.io/v1",
        "validatingwebhookconfigurations",
    ),
    "ValidatingAdmissionPolicy": ("/apis/admissionregistration.k8s.io/v1", "validatingadmissionpolicies"),
    "ValidatingAdmissionPolicyBinding": (
        "/apis/admissionregistration.k8s.io/v1",
        "validatingadmissionpolicybindings",
    ),
}
CLUSTER_WIDE = frozenset(
    {
        "Namespace",
        "Node",
        "PersistentVolume",
        "ClusterRole",
        "ClusterRoleBinding",
        "CustomResourceDefinition",
        "ResourceSlice",
        "ValidatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    }
)


class KubeError(Exception):
    """The API server refused; `code` is the HTTP status, the message the server's own."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class Kube:
    """Objects of one bed, with the superuser's rights; `user` is the name that he goes by, None for his own."""

    def __init__(self, server: str, trust: ssl.SSLContext, user: str | None = None) -> None:
        self._server = server
        self._trust = trust
        headers = {} if user is None else {"Impersonate-User": user, "Impersonate-Group": SUPERUSERS}
        self._http = httpx2.Client(base_url=server, verify=trust, timeout=TIMEOUT_S, trust_env=False, headers=headers)

    def acting_as(self, user: str) -> "Kube":
        """Return a client of the same bed with the same rights, by another name."""
        return Kube(self._server, self._trust, user)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def create(self, *documents: Document) -> list[Document]:
        """Create objects in their order and return them as the server stored them."""
        created = []
        for document in documents:
            path = _path(document["kind"], None, document["metadata"].get("namespace", "default"))
            created.append(self.call("POST", path, document))
        return created

    def get(self, kind: str, name: str, namespace: str = "default") -> Document | None:
        """Return one object, None when there is none."""
        return self.read(_path(kind, name, namespace))

    def read(self, path: str) -> Document | None:
        """Return what is at a path, None when there is nothing."""
        try:
            return self.call("GET", path)
        except KubeError as error:
            if error.code == 404:
                return None
            raise

    def find(self, kind: str, *, selector: str = "", namespace: str | None = None) -> list[Document]:
        """Return the objects of a kind, of one namespace or of all, that a label selector matches."""
        found = self.call("GET", f"{_path(kind, None, namespace)}?labelSelector={selector}")
        items: list[Document] = found["items"]
        return items

    def patch(
        self, kind: str, name: str, patch: Document, namespace: str = "default", subresource: str = ""
    ) -> Document:
        """Merge a patch into an object, or into its `status` or `scale`, and return the whole."""
        path = _path(kind, name, namespace) + (f"/{subresource}" if subresource else "")
        return self.call("PATCH", path, patch, content_type="application/merge-patch+json")

    def delete(self, kind: str, name: str, namespace: str = "default", grace_s: int | None = None) -> None:
        """Delete an object; one that is not there is deleted already."""
        options: Document = {"propagationPolicy": "Background"}
        if grace_s is not None:
            options["gracePeriodSeconds"] = grace_s
        try:
            self.call("DELETE", _path(kind, name, namespace), options)
        except KubeError as error:
            if error.code != 404:
                raise

    def call(
        self, method: str, path: str, body: Document | None = None, content_type: str = "application/json"
    ) -> Document:
        """Send any request and return the answer's object.

        Raises:
            KubeError: The server did not answer with success.
        """
        answer = self._http.request(method, path, json=body, headers={"Content-Type": content_type})
        if answer.is_error:
            raise KubeError(answer.status_code, _message(answer))
        document: Document = answer.json()
        return document

    def pods_on(self, node: str) -> list[Document]:
        """Return the pods that are placed on a node."""
        return [pod for pod in self.find("Pod") if pod["spec"].get("nodeName") == node]

    def is_ready(self, pod: Document) -> bool:
        """Tell whether a pod says that it is ready and is not on its way out."""
        conditions = pod.get("status", {}).get("conditions", [])
        ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
        return ready and "deletionTimestamp" not in pod["metadata"]

    def wait_ready(self, app: str, count: int, namespace: str = "default") -> list[Document]:
        """Wait until exactly `count` pods with the label app=`app` are ready, and return them by name."""

        def ready() -> list[Document] | None:
            pods = [pod for pod in self.find("Pod", selector=f"app={app}", namespace=namespace) if self.is_ready(pod)]
            return sorted(pods, key=lambda pod: str(pod["metadata"]["name"])) if len(pods) == count else None

        return until(f"{count} ready pods of {app}", ready)


def until(what: str, look: Callable[[], T | None], timeout_s: float = UNTIL_TIMEOUT_S) -> T:
    """Look until there is something other than None or False, and return it.

    Raises:
        TimeoutError: Nothing was there within `timeout_s`; the message says what was waited for.
    """
    deadline_s = time.monotonic() + timeout_s
    while True:
        seen = look()
        if seen is not None and seen is not False:
            return seen
        if time.monotonic() > deadline_s:
            raise TimeoutError(f"not within {timeout_s:.0f} s: {what}")
        time.sleep(POLL_S)


def _path(kind: str, name: str | None, namespace: str | None) -> str:
    prefix, plural = PATHS[kind]
    middle = "" if kind in CLUSTER_WIDE or namespace is None else f"/namespaces/{namespace}"
    return f"{prefix}{middle}/{plural}" + (f"/{name}" if name is not None else "")


def _message(answer: httpx2.Response) -> str:
    if "json" in answer.headers.get("Content-Type", ""):
        return str(answer.json().get("message", answer.text))
    return answer.text

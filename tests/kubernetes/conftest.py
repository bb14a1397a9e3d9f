"""One real cluster for all tests of this folder, built on first use and up in seconds."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from hangar.operator.cluster.kubernetes.access import NEEDED, Access
from testbed.bed import Bed
from testbed.build import build
from testbed.kube import until

REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
RBAC = "rbac.authorization.k8s.io/v1"


@pytest.fixture(scope="session")
def bed(pytestconfig: pytest.Config) -> Iterator[Bed]:
    """A running bed; tests clean up after themselves, or use `empty_bed`."""
    with _shown(pytestconfig):  # a first build takes minutes, and says so
        programs = build()
    with Bed(programs) as running:
        yield running


def _shown(config: pytest.Config) -> AbstractContextManager[None]:
    """Return a context whose output reaches the terminal at once."""
    capture = config.pluginmanager.getplugin("capturemanager")
    return nullcontext() if capture is None else capture.global_and_fixture_disabled()


@pytest.fixture
def empty_bed(bed: Bed) -> Iterator[Bed]:
    """A running bed without nodes, workloads and budgets; what the test adds is removed at its end."""
    yield bed
    clear(bed)


def clear(bed: Bed) -> None:
    """Remove all nodes, workloads, pods and budgets, and wait until they are gone."""
    for path in (
        "/apis/apps/v1/namespaces/default/deployments",
        "/apis/apps/v1/namespaces/default/statefulsets",
        "/apis/apps/v1/namespaces/default/daemonsets",
        "/apis/apps/v1/namespaces/default/replicasets",
        "/apis/batch/v1/namespaces/default/jobs",
        "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
        "/api/v1/nodes",
    ):
        bed.kube.call("DELETE", path, {"propagationPolicy": "Background"})

    def is_empty() -> bool:
        # Controllers may have made pods until they saw that they are gone themselves.
        bed.kube.call("DELETE", "/api/v1/namespaces/default/pods", {"gracePeriodSeconds": 0})
        return not any(bed.kube.find(kind) for kind in ("Pod", "Node", "ReplicaSet", "PodDisruptionBudget"))

    until("an empty cluster", is_empty)


@pytest.fixture(scope="session")
def operator_kubeconfig(bed: Bed) -> Path:
    """The kubeconfig of a user with exactly the rights that the operator needs, and no more."""
    return user_with(bed, "hangar-operator", NEEDED["drain"])


def user_with(bed: Bed, name: str, rights: Iterable[Access]) -> Path:
    """Make a user who may do what is listed and read the namespace that pins the cluster; return his kubeconfig."""
    rights = tuple(dict.fromkeys(rights))
    rules = [{"apiGroups": [each.group], "resources": [_resource(each)], "verbs": [each.verb]} for each in rights]
    rules.append({"apiGroups": [""], "resources": ["namespaces"], "resourceNames": ["kube-system"], "verbs": ["get"]})
    role = {"apiVersion": RBAC, "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules}
    binding = {
        "apiVersion": RBAC,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}],
    }
    bed.kube.create(role, binding)
    until(f"the rights of {name} count", lambda: all(_is_granted(bed, name, each) for each in rights))
    return bed.kubeconfig_for(name)


def _is_granted(bed: Bed, user: str, access: Access) -> bool:
    review = {**access.review(), "kind": "SubjectAccessReview"}
    review["spec"] = {**access.review()["spec"], "user": user}
    return bool(bed.kube.call("POST", REVIEWS, review)["status"]["allowed"])


def _resource(access: Access) -> str:
    return f"{access.resource}/{access.subresource}" if access.subresource else access.resource

"""Users of a bed who may do exactly what is listed, and no more."""

from collections.abc import Iterable
from pathlib import Path

from hangar.operator.cluster.kubernetes.access import Access
from testbed.bed import Bed
from testbed.kube import until

REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
RBAC = "rbac.authorization.k8s.io/v1"


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

"""Refuses what Dynamo's webhook refuses: a number that is a scaling adapter's, written past the adapter."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from testbed.dynamo_adapters import OPERATOR
from testbed.dynamo_crds import GROUP, PLURAL, Version
from testbed.dynamo_graphs import Graphs, Part
from testbed.kube import Kube, KubeError, until

Document = dict[str, Any]

NAME = "scaling-adapters.dynamo.test"
MESSAGE = "spec.replicas cannot be modified directly when scaling adapter is enabled"

_SAME = "(has({new}.replicas) ? {new}.replicas : 1) == (has({old}.replicas) ? {old}.replicas : 1)"
_ENABLED = "(has({0}.scalingAdapter) && has({0}.scalingAdapter.enabled) && {0}.scalingAdapter.enabled)"
_OLD, _NEW = "oldObject.spec.services[name]", "object.spec.services[name]"

RULES: Mapping[Version, str] = {
    "v1beta1": (
        "object.spec.components.all(new, oldObject.spec.components.all(old, old.name != new.name || "
        f"!(has(new.scalingAdapter) || has(old.scalingAdapter)) || {_SAME.format(old='old', new='new')}))"
    ),
    "v1alpha1": (
        "object.spec.services.all(name, !(name in oldObject.spec.services) || "
        f"!({_ENABLED.format(_OLD)} || {_ENABLED.format(_NEW)}) || {_SAME.format(old=_OLD, new=_NEW)})"
    ),
}


@contextmanager
def enforced(kube: Kube, version: Version) -> Iterator[None]:
    """Let the API server refuse it, of everybody but Dynamo's operator, while the context lasts."""
    graphs = Graphs(kube, version)
    probe = graphs.create("policy-probe", {"decode": Part(replicas=0, has_adapter=True)})
    try:
        kube.create(*_documents(version))
        until("the policy counts", lambda: _is_refused(graphs, probe))
        yield
    finally:
        for kind in ("ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy"):
            kube.delete(kind, NAME)
        until("the policy counts no longer", lambda: not _is_refused(graphs, probe))
        graphs.delete("policy-probe")


def _is_refused(graphs: Graphs, probe: Document) -> bool:
    try:
        graphs.scale(probe, "decode", 1, is_dry=True)
    except KubeError as error:
        return MESSAGE in str(error)
    return False


def _documents(version: Version) -> tuple[Document, Document]:
    api = "admissionregistration.k8s.io/v1"
    rule = {"apiGroups": [GROUP], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": [PLURAL]}
    expression = f"request.userInfo.username == '{OPERATOR}' || {RULES[version]}"
    policy = {
        "apiVersion": api,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": NAME},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": expression, "message": MESSAGE, "reason": "Forbidden"}],
        },
    }
    binding = {
        "apiVersion": api,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": NAME},
        "spec": {"policyName": NAME, "validationActions": ["Deny"]},
    }
    return policy, binding

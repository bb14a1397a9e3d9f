"""KEDA's ScaledObjects on a bed: the kind alone, of which nobody makes an autoscaler unless a test does."""

from typing import Any

from testbed.dynamo_crds import ADAPTER_KIND, GROUP, Version
from testbed.kube import Kube, KubeError, until

Document = dict[str, Any]

KIND = "ScaledObject"
CRD = "CustomResourceDefinition"
NAME = "scaledobjects.keda.sh"
PATH = "/apis/keda.sh/v1alpha1/namespaces/{}/scaledobjects"
MERGE_PATCH = "application/merge-patch+json"


def install(kube: Kube) -> None:
    """Let the bed serve ScaledObjects, and wait until it does."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": anything, "status": anything}}
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {
        "kind": KIND,
        "listKind": f"{KIND}List",
        "plural": "scaledobjects",
        "singular": "scaledobject",
    }
    kube.create(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": CRD,
            "metadata": {"name": NAME},
            "spec": {"group": "keda.sh", "names": names, "scope": "Namespaced", "versions": [version]},
        }
    )
    until("ScaledObjects are served", lambda: _is_served(kube))


def remove(kube: Kube) -> None:
    """Take ScaledObjects away, and wait until they are gone."""
    kube.delete(CRD, NAME)
    until("the definition of ScaledObjects is gone", lambda: kube.get(CRD, NAME) is None)


def scale(kube: Kube, name: str, adapter: str, version: Version, namespace: str = "default") -> Document:
    """Add a ScaledObject of an adapter."""
    target = {"apiVersion": f"{GROUP}/{version}", "kind": ADAPTER_KIND, "name": adapter}
    document = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": KIND,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"scaleTargetRef": target, "triggers": []},
    }
    return kube.call("POST", PATH.format(namespace), document)


def pause(kube: Kube, name: str, namespace: str = "default") -> None:
    """Tell KEDA to leave the target alone."""
    patch = {"metadata": {"annotations": {"autoscaling.keda.sh/paused": "true"}}}
    kube.call("PATCH", f"{PATH.format(namespace)}/{name}", patch, MERGE_PATCH)


def _is_served(kube: Kube) -> bool:
    try:
        kube.call("GET", PATH.format("default"))
    except KubeError as error:
        if error.code not in (404, 429, 503):
            raise
        return False
    return True

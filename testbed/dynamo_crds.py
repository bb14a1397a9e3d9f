"""The kind DynamoGraphDeployment on a bed, in either of its versions: as little of it as its readers and writers need.

A real cluster may serve both at once, by a webhook of Dynamo's own that converts them; a bed has one or the other, as
Dynamo 1.0 and 1.1 have the older one alone.
"""

import os
from pathlib import Path
from typing import Any, Literal, TypeAlias

import yaml

from testbed.kube import Kube, KubeError, until

Document = dict[str, Any]
Version: TypeAlias = Literal["v1beta1", "v1alpha1"]

GROUP = "nvidia.com"
PLURAL = "dynamographdeployments"
NAME = f"{PLURAL}.{GROUP}"
KIND = "DynamoGraphDeployment"
CRD = "CustomResourceDefinition"

CRDS_DIR = "DYNAMO_CRDS_DIR"
"""Environment variable: a folder with the definitions that Dynamo ships, which are then installed instead of ours."""

SHIPPED: dict[Version, str] = {"v1beta1": "main", "v1alpha1": "v1.0.1"}
"""In which folder of it each version is, by the release that it is from."""

COMPONENTS: dict[Version, str] = {"v1beta1": "components", "v1alpha1": "services"}
"""What components are called in each version, in the spec and in the status."""

NOT_YET = (404, 429, 503)
"""What the API server answers while it makes a kind known, and while it forgets one."""

TYPES = ("frontend", "worker", "prefill", "decode", "planner", "epp")
ANYTHING: Document = {"x-kubernetes-preserve-unknown-fields": True}
TEXT: Document = {"type": "string"}


def install(kube: Kube, version: Version) -> None:
    """Let the bed serve graphs in one version, and wait until it does; another version goes, with its graphs."""
    if _is_served(kube, version):
        return
    remove(kube)
    kube.create(definition(version))
    until(f"graphs are served as {version}", lambda: _is_served(kube, version))


def remove(kube: Kube) -> None:
    """Take graphs and all that they are away, and wait until nothing is served of them."""
    if kube.get(CRD, NAME) is None:
        return
    kube.delete(CRD, NAME)
    until("the definition of graphs is gone", lambda: kube.get(CRD, NAME) is None)
    for version in SHIPPED:
        until(f"{version} is served no longer", lambda version=version: not _is_named(kube, version))  # type: ignore[misc]


def definition(version: Version) -> Document:
    """Return the definition of graphs in one version: Dynamo's own where a folder of them is named, or else ours."""
    folder = os.environ.get(CRDS_DIR)
    return _shipped(Path(folder), version) if folder else _ours(version)


def _shipped(folder: Path, version: Version) -> Document:
    path = folder / SHIPPED[version] / f"{GROUP}_{PLURAL}.yaml"
    document: Document = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    spec = document["spec"]
    (only,) = (each for each in spec["versions"] if each["name"] == version)
    spec["versions"] = [only | {"served": True, "storage": True}]
    spec["conversion"] = {"strategy": "None"}  # nobody is there to convert
    return document


def _ours(version: Version) -> Document:
    schema = _object(spec=_spec(version), status=_status(version))
    served: Document = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    names = {"kind": KIND, "listKind": f"{KIND}List", "plural": PLURAL, "singular": KIND.lower(), "shortNames": ["dgd"]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": CRD,
        "metadata": {"name": NAME},
        "spec": {"group": GROUP, "names": names, "scope": "Namespaced", "versions": [served]},
    }


def _spec(version: Version) -> Document:
    common = {
        "replicas": _number(0),
        "multinode": _object(nodeCount=_number(2)) | ANYTHING,
    }
    if version == "v1alpha1":
        service = _object(componentType=TEXT, subComponentType=TEXT, scalingAdapter=_object(enabled=_truth()), **common)
        return _object(services=_map(service | ANYTHING)) | ANYTHING
    component = _object(
        name=TEXT | {"minLength": 1, "maxLength": 63},
        type=TEXT | {"enum": list(TYPES)},
        scalingAdapter=_object(),
        podTemplate={"type": "object"} | ANYTHING,
        **common,
    )
    components = {
        "type": "array",
        "maxItems": 25,
        "items": component | ANYTHING | {"required": ["name"]},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
    }
    return _object(components=components) | ANYTHING


def _status(version: Version) -> Document:
    counted = _object(
        replicas=_number(0), updatedReplicas=_number(0), readyReplicas=_number(0), availableReplicas=_number(0)
    )
    parts = {COMPONENTS[version]: _map(counted | ANYTHING)}
    return _object(observedGeneration=_number(0), state=TEXT, **parts) | ANYTHING


def _object(**properties: Document) -> Document:
    return {"type": "object", "properties": properties} if properties else {"type": "object"}


def _map(values: Document) -> Document:
    return {"type": "object", "additionalProperties": values}


def _number(least: int) -> Document:
    return {"type": "integer", "minimum": least}


def _truth() -> Document:
    return {"type": "boolean"}


def _is_served(kube: Kube, version: Version) -> bool:
    if not _is_named(kube, version):
        return False
    try:
        kube.call("GET", f"/apis/{GROUP}/{version}/{PLURAL}")
    except KubeError as error:
        if error.code not in NOT_YET:
            raise
        return False
    return True


def _is_named(kube: Kube, version: Version) -> bool:
    try:
        kinds = kube.call("GET", f"/apis/{GROUP}/{version}")["resources"]
    except KubeError as error:
        if error.code not in NOT_YET:
            raise
        return False
    return any(each["name"] == PLURAL for each in kinds)

"""Graphs and their scaling adapters on a bed, in either version: as little as their readers and writers need.

A real cluster may serve both at once, by a webhook of Dynamo's own that converts them; a bed has one or the other, as
Dynamo 1.0 and 1.1 have the older one alone.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import yaml

from testbed.kube import Kube, KubeError, until

Document = dict[str, Any]
Version: TypeAlias = Literal["v1beta1", "v1alpha1"]

GROUP = "nvidia.com"
PLURAL = "dynamographdeployments"
KIND = "DynamoGraphDeployment"
ADAPTERS_PLURAL = "dynamographdeploymentscalingadapters"
ADAPTER_KIND = "DynamoGraphDeploymentScalingAdapter"
CRD = "CustomResourceDefinition"

KINDS: Mapping[str, str] = {PLURAL: KIND, ADAPTERS_PLURAL: ADAPTER_KIND}
"""What is installed, by its plural."""

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
    """Let the bed serve both kinds in one version, and wait until it does; another version goes, with its objects."""
    if all(_is_served(kube, version, plural) for plural in KINDS):
        return
    remove(kube)
    for plural in KINDS:
        kube.create(definition(version, plural))
    for plural in KINDS:
        until(f"{plural} are served as {version}", partial(_is_served, kube, version, plural))


def remove(kube: Kube) -> None:
    """Take graphs, adapters and all that they are away, and wait until nothing is served of them."""
    installed = [plural for plural in KINDS if kube.get(CRD, f"{plural}.{GROUP}") is not None]
    for plural in installed:
        kube.delete(CRD, f"{plural}.{GROUP}")
    for plural in installed:
        until(f"the definition of {plural} is gone", partial(_is_gone, kube, plural))
        for version in SHIPPED:
            until(f"{version} is served no longer", partial(_is_unnamed, kube, version, plural))


def clear(kube: Kube, version: Version) -> None:
    """Delete all graphs and adapters of all namespaces, and wait until there are none."""

    def objects() -> list[Document]:
        return [each for plural in KINDS for each in kube.call("GET", f"/apis/{GROUP}/{version}/{plural}")["items"]]

    for each in objects():
        metadata, plural = each["metadata"], PLURAL if each["kind"] == KIND else ADAPTERS_PLURAL
        path = f"/apis/{GROUP}/{version}/namespaces/{metadata['namespace']}/{plural}/{metadata['name']}"
        with suppress(KubeError):  # an adapter that went with its graph
            kube.call("DELETE", path)
    until("no graphs and adapters", lambda: not objects())


def definition(version: Version, plural: str = PLURAL) -> Document:
    """Return the definition of a kind in one version: Dynamo's own where a folder of them is named, or else ours."""
    folder = os.environ.get(CRDS_DIR)
    if folder:
        return _shipped(Path(folder), version, plural)
    return _graphs(version) if plural == PLURAL else _adapters(version)


def _shipped(folder: Path, version: Version, plural: str) -> Document:
    path = folder / SHIPPED[version] / f"{GROUP}_{plural}.yaml"
    document: Document = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    spec = document["spec"]
    (only,) = (each for each in spec["versions"] if each["name"] == version)
    spec["versions"] = [only | {"served": True, "storage": True}]
    spec["conversion"] = {"strategy": "None"}  # nobody is there to convert
    return document


def _graphs(version: Version) -> Document:
    return _ours(version, PLURAL, _object(spec=_spec(version), status=_status(version)), {"status": {}})


def _adapters(version: Version) -> Document:
    names = {"name": TEXT, "componentName" if version == "v1beta1" else "serviceName": TEXT}
    spec = _object(dgdRef=_object(**names) | {"required": list(names)}, replicas=_number(0))
    status = _object(replicas=_number(0), selector=TEXT)
    scale = {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector",
    }
    schema = _object(spec=spec | {"required": ["dgdRef", "replicas"]}, status=status)
    return _ours(version, ADAPTERS_PLURAL, schema, {"status": {}, "scale": scale})


def _ours(version: Version, plural: str, schema: Document, subresources: Document) -> Document:
    served: Document = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": subresources,
    }
    kind = KINDS[plural]
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": CRD,
        "metadata": {"name": f"{plural}.{GROUP}"},
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


def _is_gone(kube: Kube, plural: str) -> bool:
    return kube.get(CRD, f"{plural}.{GROUP}") is None


def _is_served(kube: Kube, version: Version, plural: str) -> bool:
    if _is_unnamed(kube, version, plural):
        return False
    try:
        kube.call("GET", f"/apis/{GROUP}/{version}/{plural}")
    except KubeError as error:
        if error.code not in NOT_YET:
            raise
        return False
    return True


def _is_unnamed(kube: Kube, version: Version, plural: str) -> bool:
    try:
        kinds = kube.call("GET", f"/apis/{GROUP}/{version}")["resources"]
    except KubeError as error:
        if error.code not in NOT_YET:
            raise
        return True
    return not any(each["name"] == plural for each in kinds)

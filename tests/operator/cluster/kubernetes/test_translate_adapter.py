"""A scaling adapter in either version: of which component it is, its number, and whose that is."""

import json
from typing import Any

import pytest

from hangar.domain.workloads.graph import Adapter, GraphRef
from hangar.domain.workloads.joining import PartAdapter
from hangar.domain.workloads.members import Part
from hangar.operator.cluster.kubernetes.mirror import Entry
from hangar.operator.cluster.kubernetes.watched import ADAPTERS
from tests.operator.cluster.kubernetes.documents import Document, an_adapter

OF: Document = {"f:dgdRef": {"f:name": {}}}
NUMBER: Document = {"f:replicas": {}}


def read(document: Document, version: str = "v1beta1") -> Entry[PartAdapter]:
    (watched,) = (each for each in ADAPTERS if each.version == version)
    return watched.read(json.dumps(document).encode())


def owned(manager: str, fields: Document, **more: Any) -> Document:
    return {"manager": manager, "fieldsV1": {"f:spec": fields}, **more}


@pytest.mark.parametrize("version", ["v1beta1", "v1alpha1"])
def test_an_adapter_says_of_which_component_it_is_and_its_number(version: str) -> None:
    entry = read(an_adapter(version, at=9, replicas=4), version)
    part = Part(GraphRef("serving", "chat"), "decode")
    adapter = Adapter("chat-decode", "uid-chat-decode", "9", 4)
    assert entry == Entry("uid-chat-decode", 9, PartAdapter(part, adapter))


@pytest.mark.parametrize(
    ("managed", "writer"),
    [
        ([owned("dynamo", OF | NUMBER)], "dynamo"),
        (
            [owned("dynamo", OF), owned("kube-controller-manager", NUMBER, subresource="scale")],
            "kube-controller-manager",
        ),
        ([owned("hangar-operator", NUMBER, subresource="scale"), owned("dynamo", OF)], "hangar-operator"),
        ([owned("hangar-operator", NUMBER, subresource="scale"), owned("argocd", OF | NUMBER)], "argocd"),
        ([{"manager": "dynamo", "fieldsV1": {"f:status": {}}}, {"manager": "odd"}], None),
    ],
)
def test_the_number_is_whose_it_is_and_of_two_who_own_it_not_ours(managed: list[Document], writer: str | None) -> None:
    document = an_adapter("v1beta1")
    document["metadata"]["managedFields"] = managed
    assert read(document).value.adapter.written_by == writer


def test_one_that_names_no_graph_is_of_none() -> None:
    document = an_adapter("v1beta1")
    document["spec"] = {}
    assert read(document).value.part == Part(GraphRef("serving", ""), "")

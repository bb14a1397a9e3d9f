"""What the two versions of graphs have in common: readiness, ownership, GPUs, and what may not be written."""

from typing import Any

import msgspec
import pytest

from hangar.domain.decision import Apply
from hangar.domain.workloads.graph import Component, Counts, Graph, GraphRef, Role
from hangar.operator.cluster.kubernetes import translate_graph
from hangar.operator.cluster.kubernetes.translate_graph import (
    Counted,
    GraphMeta,
    GraphStatus,
    ManagedFields,
    SeenGraph,
    seen_graph,
    why_not,
)

CHAT = GraphRef("serving", "chat")


def shown(metadata: dict[str, Any] | None = None, status: dict[str, Any] | None = None) -> SeenGraph:
    whole = {"namespace": "serving", "name": "chat", "uid": "u", "resourceVersion": "7", "generation": 3}
    meta = msgspec.convert({**whole, **(metadata or {})}, GraphMeta)
    return seen_graph(meta, "v1beta1", (), msgspec.convert(status, GraphStatus) if status is not None else None)


def test_a_graph_is_known_by_its_place_its_uid_and_its_version() -> None:
    graph = shown().graph
    assert (graph.ref, graph.uid, graph.version, graph.api_version) == (CHAT, "u", "7", "nvidia.com/v1beta1")


@pytest.mark.parametrize(("text", "rev"), [("1764500000000000", 1764500000000000), ("soon", None), ("-1", None)])
def test_the_revision_is_read_from_our_annotation_and_nonsense_is_none(text: str, rev: int | None) -> None:
    seen = shown({"annotations": {"wingsmith.dev/applied-rev": text, "nvidia.com/other": "kept"}})
    assert seen.graph.applied_rev == rev
    assert seen.has_annotations


def test_a_graph_without_annotations_was_never_written() -> None:
    seen = shown()
    assert (seen.graph.applied_rev, seen.has_annotations) == (None, False)


@pytest.mark.parametrize(("mark", "is_paused"), [("true", True), ("", True), ("false", False)])
def test_a_graph_is_paused_by_a_mark(mark: str, is_paused: bool) -> None:
    assert shown({"annotations": {"nvidia.com/paused": mark}}).graph.is_paused is is_paused
    assert not shown().graph.is_paused


@pytest.mark.parametrize(("generation", "is_observed"), [(2, False), (3, True), (4, True)])
def test_a_graph_is_observed_once_its_generation_is(generation: int, is_observed: bool) -> None:
    assert shown(status={"observedGeneration": generation}).graph.is_observed is is_observed
    assert not shown().graph.is_observed


def test_a_rollout_is_the_phase_of_a_rolling_update() -> None:
    assert shown(status={"rollingUpdate": {"phase": "InProgress", "startTime": "x"}}).graph.rollout == "InProgress"
    assert shown(status={}).graph.rollout == ""


@pytest.mark.parametrize(
    ("status", "unready"),
    [
        (None, "not reported yet"),
        ({"state": "initializing"}, "initializing"),
        ({"conditions": [{"type": "Ready", "status": "True", "reason": "all_resources_are_ready"}]}, None),
        (
            {"conditions": [{"type": "Ready", "status": "False", "reason": "pods_not_ready", "message": "decode"}]},
            "pods_not_ready: decode",
        ),
        ({"conditions": [{"type": "Ready", "status": "Unknown"}]}, "not ready"),
        ({"conditions": [{"type": "Other", "status": "True"}], "state": "failed"}, "failed"),
    ],
)
def test_why_a_graph_is_not_ready_is_told_in_its_operators_words(
    status: dict[str, Any] | None, unready: str | None
) -> None:
    assert shown(status=status).graph.unready == unready


def test_ready_is_what_is_available_and_else_what_is_ready() -> None:
    assert translate_graph.counts(Counted(4, 3, ready_replicas=2, available_replicas=1)) == Counts(4, 3, 1)
    assert translate_graph.counts(Counted(4, 3, ready_replicas=2, available_replicas=0)) == Counts(4, 3, 0)
    assert translate_graph.counts(Counted(4, 3, ready_replicas=2)) == Counts(4, 3, 2)
    assert translate_graph.counts(Counted(4, 3)) == Counts(4, 3, 0)
    assert translate_graph.counts(None) is None


@pytest.mark.parametrize(
    ("limits", "has_claims", "count"),
    [
        ({"nvidia.com/gpu": "2", "cpu": "500m"}, False, 2),
        ({"nvidia.com/gpu": 4}, False, 4),
        ({"cpu": "500m"}, False, 0),
        (None, False, 0),
        ({"nvidia.com/gpu": "2"}, True, None),
        ({"nvidia.com/gpu": "many"}, False, None),
        ({"nvidia.com/mig-1g.10gb": "1"}, False, None),
        ({"nvidia.com/gpu.shared": "1"}, False, None),
    ],
)
def test_gpus_are_counted_where_they_can_be(limits: Any, has_claims: bool, count: int | None) -> None:
    assert translate_graph.gpus(limits, has_claims=has_claims) == count


def owned(manager: str, **spec: Any) -> ManagedFields:
    return msgspec.convert({"manager": manager, "fieldsV1": {"f:spec": spec}}, ManagedFields)


def test_who_owns_a_number_is_read_of_either_versions_fields() -> None:
    replicas: dict[str, Any] = {"f:replicas": {}}
    managed = [
        owned("kubectl", **{"f:components": {".": {}, 'k:{"name":"decode"}': {".": {}, **replicas}}}),
        owned("argocd", **{"f:services": {".": {}, "f:prefill": replicas, "f:frontend": {"f:type": {}}}}),
        msgspec.convert({"manager": "dynamo", "fieldsV1": {"f:status": {"f:state": {}}}}, ManagedFields),
    ]
    assert translate_graph.writers(managed) == {"decode": "kubectl", "prefill": "argocd"}


def test_a_number_that_is_ours_and_anothers_is_the_others() -> None:
    fields: dict[str, Any] = {"f:components": {'k:{"name":"decode"}': {"f:replicas": {}}}}
    ours, theirs = owned("hangar-operator", **fields), owned("flux", **fields)
    assert translate_graph.writers([ours]) == {"decode": "hangar-operator"}
    assert translate_graph.writers([ours, theirs]) == {"decode": "flux"}
    assert translate_graph.writers([theirs, ours]) == {"decode": "flux"}


def test_what_is_not_there_or_an_adapters_is_never_written() -> None:
    components = (Component("decode", Role.DECODE, 2), Component("prefill", Role.PREFILL, 1, has_adapter=True))
    graph = Graph(CHAT, "u", "7", "nvidia.com/v1beta1", components)

    def verdict(**counts: int) -> str | None:
        return why_not(graph, Apply(CHAT, "u", "7", 1, counts))

    assert verdict(decode=5) is None
    assert verdict(decode=5, prefill=1) is None
    assert verdict(encode=1) == "graph serving/chat has no component encode"
    assert verdict(prefill=2) == (
        "the number of prefill of graph serving/chat is its scaling adapter's, which would put it back"
    )

"""What pods demand of nodes, as the API server writes it."""

import json
from typing import Any

import pytest

from hangar.domain.placing import (
    NO_DEMANDS,
    Demands,
    HostPort,
    NodeOp,
    NodeRequirement,
    PodTerm,
    Requirement,
    SelectorOp,
    Spread,
)
from hangar.operator.cluster.kubernetes.translate import NOTHING
from hangar.operator.cluster.kubernetes.watched import PODS
from tests.operator.cluster.kubernetes.documents import a_pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
WEB = {"matchLabels": {"app": "web"}}
IS_WEB = (Requirement("app", SelectorOp.IN, frozenset({"web"})),)


def demands(**spec: Any) -> Demands:
    return demands_of({"app": "web"}, spec)


def demands_of(labels: dict[str, str], spec: dict[str, Any]) -> Demands:
    document = a_pod(**spec)
    document["metadata"]["labels"] = labels
    return PODS.read(json.dumps(document).encode()).value.demands


def test_a_pod_that_demands_nothing_shares_the_one_value_for_it() -> None:
    assert demands() is NO_DEMANDS
    wishes: dict[str, Any] = {"nodeAffinity": {PREFERRED: []}, "podAntiAffinity": {PREFERRED: []}}
    assert demands(affinity=wishes, volumes=[{"name": "v", "emptyDir": {}}]) is NO_DEMANDS


def test_pods_of_one_template_share_one_value() -> None:
    spec = {"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": "host", "labelSelector": WEB}]}}}
    assert demands(**spec) is demands(**spec)


def test_node_affinity_is_terms_of_conditions_on_labels_and_on_the_name() -> None:
    terms = [
        {
            "matchExpressions": [
                {"key": "zone", "operator": "In", "values": ["a", "b"]},
                {"key": "gpus", "operator": "Gt", "values": ["4"]},
                {"key": "spot", "operator": "DoesNotExist"},
            ]
        },
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]},
        {},
    ]
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}
    assert demands(affinity=affinity).node_terms == (
        (
            NodeRequirement("zone", NodeOp.IN, ("a", "b")),
            NodeRequirement("gpus", NodeOp.GREATER, ("4",)),
            NodeRequirement("spot", NodeOp.DOES_NOT_EXIST),
        ),
        (NodeRequirement("metadata.name", NodeOp.IN, ("n1",)),),
        (),
    )


@pytest.mark.parametrize(
    ("term", "apart_from", "near"),
    [
        ({}, {"default"}, {"default"}),
        ({"namespaces": ["a", "b"]}, {"a", "b"}, {"a", "b"}),
        ({"namespaceSelector": {}}, None, None),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "a"}}}, {"a"}, {"a"}),
        # Which namespaces have a label we do not know: too few to keep away from, too many to go to.
        ({"namespaceSelector": {"matchLabels": {"team": "x"}}, "namespaces": ["a"]}, {"a"}, None),
        ({"namespaceSelector": {"matchLabels": {"team": "x"}}}, set(), None),
    ],
)
def test_the_namespaces_of_a_term_are_its_own_all_or_the_cautious_side_of_what_is_not_known(
    term: dict[str, Any], apart_from: set[str] | None, near: set[str] | None
) -> None:
    whole = {"topologyKey": "zone", "labelSelector": WEB, **term}
    seen = demands(affinity={"podAntiAffinity": {REQUIRED: [whole]}, "podAffinity": {REQUIRED: [whole]}})
    assert seen.apart_from == (PodTerm("zone", IS_WEB, None if apart_from is None else frozenset(apart_from)),)
    assert seen.near == (PodTerm("zone", IS_WEB, None if near is None else frozenset(near)),)


def test_a_term_without_a_selector_is_about_no_pods_and_one_with_an_empty_selector_about_all() -> None:
    terms = [{"topologyKey": "host"}, {"topologyKey": "host", "labelSelector": {}}]
    none, every = demands(affinity={"podAntiAffinity": {REQUIRED: terms}}).apart_from
    assert (none.selector, every.selector) == (NOTHING, ())


def a_spread(**parts: Any) -> dict[str, Any]:
    return {
        "topologyKey": "zone",
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": WEB,
        **parts,
    }


def test_spread_is_a_demand_only_where_it_forbids() -> None:
    wish = a_spread(whenUnsatisfiable="ScheduleAnyway")
    policies = {"nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor"}
    assert demands(topologySpreadConstraints=[wish]) is NO_DEMANDS
    assert demands(topologySpreadConstraints=[wish, a_spread(), a_spread(minDomains=3, **policies)]).spread == (
        Spread("zone", 1, IS_WEB),
        Spread("zone", 1, IS_WEB, min_domains=3, honors_affinity=False, honors_taints=True),
    )


def test_spread_among_pods_of_one_revision_counts_those_with_the_pods_own_label() -> None:
    own = Requirement("pod-template-hash", SelectorOp.IN, frozenset({"77"}))
    labels = {"app": "web", "pod-template-hash": "77"}
    keys = {"matchLabelKeys": ["pod-template-hash", "not-there"]}
    (seen,) = demands_of(labels, {"topologySpreadConstraints": [a_spread(**keys)]}).spread
    assert seen.selector == (*IS_WEB, own)
    merged = {"matchLabels": {"app": "web"}, "matchExpressions": [_in("pod-template-hash", "77")]}
    (seen,) = demands_of(labels, {"topologySpreadConstraints": [a_spread(labelSelector=merged, **keys)]}).spread
    assert seen.selector == (*IS_WEB, own)


def _in(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": [value]}


def test_ports_of_the_node_are_those_of_containers_that_run_on() -> None:
    def container(port: dict[str, Any], **parts: Any) -> dict[str, Any]:
        return {"name": "c", "image": "x", "ports": [port], **parts}

    first = {"containerPort": 80, "hostPort": 8080, "hostIP": "10.0.0.1", "protocol": "UDP"}
    spec = {
        "containers": [container(first), container({"containerPort": 81})],
        "initContainers": [
            container({"containerPort": 82, "hostPort": 82}),
            container({"containerPort": 83, "hostPort": 83}, restartPolicy="Always"),
        ],
    }
    assert demands(**spec).host_ports == (HostPort(8080, "UDP", "10.0.0.1"), HostPort(83))
    on_host = {"hostNetwork": True, "containers": [container({"containerPort": 9100})]}
    assert demands(**on_host).host_ports == (HostPort(9100),)


def test_claims_are_named_in_volumes_or_after_the_pod_and_the_volume() -> None:
    volumes = [
        {"name": "a", "persistentVolumeClaim": {"claimName": "models"}},
        {"name": "b", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
        {"name": "c", "configMap": {"name": "x"}},
    ]
    assert demands(volumes=volumes).claims == {"models", "p1-b"}


def test_claims_for_devices_are_seen() -> None:
    assert demands(resourceClaims=[{"name": "gpu", "resourceClaimName": "x"}]).has_device_claims

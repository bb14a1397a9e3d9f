"""What a pod demands of the node that it goes to: affinities, spread, ports, volumes and devices."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

import msgspec

from hangar.domain.placing import (
    NAME_FIELD,
    NO_DEMANDS,
    Demands,
    HostPort,
    NodeOp,
    NodeRequirement,
    NodeTerm,
    PodTerm,
    Requirement,
    SelectorOp,
    Spread,
)
from hangar.operator.cluster.kubernetes import resources, resources_pod, translate_shared
from hangar.operator.cluster.kubernetes.resources_pod import ALWAYS
from hangar.operator.cluster.kubernetes.translate import selector
from hangar.operator.cluster.kubernetes.translate_shared import SHARED_MAX

NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label that every namespace has, with its name."""

DO_NOT_SCHEDULE = "DoNotSchedule"
"""The spread constraints that are demands; the others are wishes."""

HONOR = "Honor"
"""The policy of a spread constraint that leaves out nodes which the pod could not go to anyway."""

_AFFINITY = msgspec.json.Decoder(resources_pod.Affinity)
_SPREAD = msgspec.json.Decoder(tuple[resources_pod.SpreadConstraint, ...])


def demands(seen: resources_pod.Pod, labels: Mapping[str, str]) -> Demands:
    """Return what a pod demands beyond its requests, tolerations and node selector.

    Raises:
        ValueError: A selector has an operator that Kubernetes does not know.
    """
    spec, namespace = seen.spec, seen.metadata.namespace
    node_terms, apart_from, near = _affinity(bytes(spec.affinity), namespace) if spec.affinity else ((), (), ())
    found = Demands(
        node_terms=node_terms,
        apart_from=apart_from,
        near=near,
        spread=_spread(spec.topology_spread_constraints, labels),
        host_ports=_host_ports(spec),
        claims=_claims(seen),
        has_device_claims=bool(spec.resource_claims),
    )
    return NO_DEMANDS if found == NO_DEMANDS else translate_shared.demands(found)


def node_terms(required: resources.NodeSelector | None) -> tuple[NodeTerm, ...]:
    """Translate the terms of a required node affinity, a pod's or a volume's.

    Raises:
        ValueError: A condition is one that Kubernetes does not know.
    """
    return () if required is None else tuple(_node_term(each) for each in required.node_selector_terms)


def _node_term(seen: resources.NodeSelectorTerm) -> NodeTerm:
    for each in seen.match_fields:
        if each.key != NAME_FIELD:
            raise ValueError(f"a node affinity is on the unknown field {each.key}")
    conditions = (*seen.match_expressions, *seen.match_fields)
    return tuple(NodeRequirement(each.key, NodeOp(each.operator), each.values) for each in conditions)


_Affinities = tuple[tuple[NodeTerm, ...], tuple[PodTerm, ...], tuple[PodTerm, ...]]


@lru_cache(maxsize=SHARED_MAX)
def _affinity(raw: bytes, namespace: str) -> _Affinities:
    seen = _AFFINITY.decode(raw)
    # Which namespaces a selector chooses we do not know. A verdict has to be certain: so what a pod keeps away from is
    # taken for as little as it may be, and what it goes to for as much.
    apart = (_pod_term(each, namespace, unknown=frozenset()) for each in seen.pod_anti_affinity.required)
    near = (_pod_term(each, namespace, unknown=None) for each in seen.pod_affinity.required)
    return node_terms(seen.node_affinity.required), tuple(apart), tuple(near)


def _pod_term(seen: resources_pod.PodAffinityTerm, namespace: str, unknown: frozenset[str] | None) -> PodTerm:
    # Its matchLabelKeys need no care: the API server has made them part of the selector.
    return PodTerm(seen.topology_key, selector(seen.label_selector), _namespaces(seen, namespace, unknown))


def _namespaces(
    seen: resources_pod.PodAffinityTerm, namespace: str, unknown: frozenset[str] | None
) -> frozenset[str] | None:
    """Return the namespaces of a term; None is all of them, `unknown` what stands for those we cannot know."""
    if seen.namespace_selector is None:
        return frozenset(seen.namespaces or (namespace,))
    match selector(seen.namespace_selector):
        case ():
            return None
        case (Requirement(key=key, op=SelectorOp.IN, values=names),) if key == NAMESPACE_NAME:
            return names.union(seen.namespaces)
        case _:
            return None if unknown is None else unknown.union(seen.namespaces)


def _spread(raw: msgspec.Raw, labels: Mapping[str, str]) -> tuple[Spread, ...]:
    return tuple(_among_its_like(each, keys, labels) for each, keys in _constraints(bytes(raw))) if raw else ()


@lru_cache(maxsize=SHARED_MAX)
def _constraints(raw: bytes) -> tuple[tuple[Spread, tuple[str, ...]], ...]:
    """Return constraints, each with the labels whose values are the pod's own to add (matchLabelKeys)."""
    return tuple(
        (_constraint(each), each.match_label_keys)
        for each in _SPREAD.decode(raw)
        if each.when_unsatisfiable == DO_NOT_SCHEDULE
    )


def _constraint(seen: resources_pod.SpreadConstraint) -> Spread:
    return Spread(
        topology_key=seen.topology_key,
        max_skew=seen.max_skew,
        selector=selector(seen.label_selector),
        min_domains=seen.min_domains,
        honors_affinity=seen.node_affinity_policy == HONOR,
        honors_taints=seen.node_taints_policy == HONOR,
    )


def _among_its_like(spread: Spread, keys: tuple[str, ...], labels: Mapping[str, str]) -> Spread:
    """Return a constraint that counts only pods with the pod's own values of these labels."""
    own = (Requirement(key, SelectorOp.IN, frozenset((labels[key],))) for key in keys if key in labels)
    missing = tuple(each for each in own if each not in spread.selector)  # a newer API server has added them
    return replace(spread, selector=spread.selector + missing) if missing else spread


def _host_ports(spec: resources_pod.PodSpec) -> tuple[HostPort, ...]:
    """Return the ports of the node that a pod takes: those of all that run as long as it does."""
    running = [*spec.containers, *(each for each in spec.init_containers if each.restart_policy == ALWAYS)]
    return tuple(
        HostPort(number, port.protocol, port.host_ip)
        for each in running
        for port in each.ports
        if (number := port.host_port or (port.container_port if spec.host_network else 0))
    )


def _claims(seen: resources_pod.Pod) -> frozenset[str]:
    return frozenset(_claim_names(seen.metadata.name, seen.spec.volumes))


def _claim_names(pod: str, volumes: tuple[resources_pod.Volume, ...]) -> Iterator[str]:
    for each in volumes:
        if each.persistent_volume_claim is not None:
            yield each.persistent_volume_claim.claim_name
        elif each.ephemeral is not None:
            yield f"{pod}-{each.name}"

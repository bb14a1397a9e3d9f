"""What a template demands, as a pod's spec says it: the way back from what the adapter reads."""

from collections.abc import Iterable
from typing import Any

from hangar.domain.placing import (
    NAME_FIELD,
    Demands,
    HostPort,
    NodeRequirement,
    NodeTerm,
    PodTerm,
    Requirement,
    Spread,
)

Document = dict[str, Any]

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def spec_of(demands: Demands) -> Document:
    """Return the parts of a pod's spec that demand all this; the container's ports apart."""
    affinity: Document = {}
    if demands.node_terms:
        affinity["nodeAffinity"] = {REQUIRED: node_selector(demands.node_terms)}
    for name, terms in (("podAntiAffinity", demands.apart_from), ("podAffinity", demands.near)):
        if terms:
            affinity[name] = {REQUIRED: [_pod_term(each) for each in terms]}
    volumes = [{"name": f"v-{name}", "persistentVolumeClaim": {"claimName": name}} for name in sorted(demands.claims)]
    parts = {
        "affinity": affinity,
        "topologySpreadConstraints": [_spread(each) for each in demands.spread],
        "volumes": volumes,
    }
    return {name: part for name, part in parts.items() if part}


def ports_of(demands: Demands) -> list[Document]:
    """Return the ports of a container that take all these of the node."""
    return [_port(each) for each in demands.host_ports]


def node_selector(terms: Iterable[NodeTerm]) -> Document:
    """Return terms as a node selector."""
    return {"nodeSelectorTerms": [_node_term(each) for each in terms]}


def _node_term(term: NodeTerm) -> Document:
    sides = {"matchFields": [each for each in term if each.key == NAME_FIELD]}
    sides["matchExpressions"] = [each for each in term if each.key != NAME_FIELD]
    return {side: [_condition(each) for each in found] for side, found in sides.items() if found}


def _condition(each: NodeRequirement | Requirement) -> Document:
    values = {"values": sorted(each.values)} if each.values else {}
    return {"key": each.key, "operator": each.op.value, **values}


def _selector(requirements: Iterable[Requirement]) -> Document:
    return {"matchExpressions": [_condition(each) for each in requirements]}


def _pod_term(term: PodTerm) -> Document:
    where: Document = {"namespaceSelector": {}}
    if term.namespaces is not None:
        where = {"namespaces": sorted(term.namespaces)}
    return {"topologyKey": term.topology_key, "labelSelector": _selector(term.selector), **where}


def _spread(spread: Spread) -> Document:
    return {
        "topologyKey": spread.topology_key,
        "maxSkew": spread.max_skew,
        "minDomains": spread.min_domains,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": _selector(spread.selector),
        "nodeAffinityPolicy": "Honor" if spread.honors_affinity else "Ignore",
        "nodeTaintsPolicy": "Honor" if spread.honors_taints else "Ignore",
    }


def _port(port: HostPort) -> Document:
    address = {"hostIP": port.address} if port.address else {}
    return {"containerPort": port.port, "hostPort": port.port, "protocol": port.protocol, **address}

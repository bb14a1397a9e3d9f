"""The scheduler's filters, by table; the contract holds the same rules against Kubernetes' own scheduler."""

import pytest

from hangar.domain.placing import (
    Demands,
    HostPort,
    NodeOp,
    NodeRequirement,
    PodTerm,
    Requirement,
    SelectorOp,
    Spread,
)
from hangar.domain.snapshot import Taint
from hangar.operator.cluster.simulated.scheduler import NoRoom, place
from hangar.operator.cluster.simulated.spec import ClaimSpec, NodeSpec, PodTemplate, VolumeSpec, WorkloadSpec
from tests.operator.cluster.simulated.worlds import a_world, an_app, cordon, pods

IS_WEB = (Requirement("app", SelectorOp.IN, frozenset({"web"})),)


def wants(*terms: tuple[NodeRequirement, ...]) -> Demands:
    return Demands(node_terms=terms)


@pytest.mark.parametrize(
    ("demands", "fits"),
    [
        (wants((NodeRequirement("gpus", NodeOp.IN, ("4", "8")),)), True),
        (wants((NodeRequirement("gpus", NodeOp.NOT_IN, ("8",)),)), False),
        (wants((NodeRequirement("gpus", NodeOp.EXISTS),)), True),
        (wants((NodeRequirement("gpus", NodeOp.DOES_NOT_EXIST),)), False),
        (wants((NodeRequirement("gpus", NodeOp.GREATER, ("7",)),)), True),
        (wants((NodeRequirement("gpus", NodeOp.LESS, ("8",)),)), False),
        (wants((NodeRequirement("name", NodeOp.GREATER, ("7",)),)), False),
        (wants((NodeRequirement("metadata.name", NodeOp.IN, ("n1",)),)), True),
        (wants((NodeRequirement("metadata.name", NodeOp.IN, ("n9",)),)), False),
        (wants((NodeRequirement("gpus", NodeOp.EXISTS), NodeRequirement("x", NodeOp.EXISTS))), False),
        (wants((NodeRequirement("x", NodeOp.EXISTS),), (NodeRequirement("gpus", NodeOp.EXISTS),)), True),
        (wants(()), False),
    ],
)
def test_node_affinity(demands: Demands, fits: bool) -> None:
    world = a_world("n1", gpus="8", name="n1")
    world.add_workload(an_app(1, demands=demands))
    (pod,) = pods(world)
    assert (pod.node == "n1") is fits
    if not fits:
        assert pod.waiting == "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector"


@pytest.mark.parametrize(
    ("first", "second", "clash"),
    [
        (HostPort(80), HostPort(80), True),
        (HostPort(80), HostPort(81), False),
        (HostPort(80, "TCP"), HostPort(80, "UDP"), False),
        (HostPort(80, address="10.0.0.1"), HostPort(80, address="10.0.0.2"), False),
        (HostPort(80, address="10.0.0.1"), HostPort(80), True),
        (HostPort(80, address="0.0.0.0"), HostPort(80, address="10.0.0.2"), True),
    ],
)
def test_ports_of_the_node(first: HostPort, second: HostPort, clash: bool) -> None:
    world = a_world("n1")
    world.add_workload(an_app(1, name="first", demands=Demands(host_ports=(first,))))
    world.add_workload(an_app(1, demands=Demands(host_ports=(second,))))
    assert (pods(world)[0].node is None) is clash


def test_company_counts_in_its_namespaces_alone() -> None:
    apart = Demands(apart_from=(PodTerm("kubernetes.io/hostname", IS_WEB, frozenset({"other"})),))
    world = a_world("n1")
    world.add_workload(an_app(1))
    world.add_workload(an_app(1, name="shy", demands=apart))
    assert pods(world, "shy")[0].node == "n1"
    world.add_workload(WorkloadSpec("Deployment", "there", 1, an_app().template, "other"))
    (there,) = (pod for pod in world.snapshot().pods.values() if pod.ref.namespace == "other")
    assert "existing pods anti-affinity" in (there.waiting or "")


def test_nodes_without_the_label_of_a_domain_are_in_none() -> None:
    world = a_world("n1")
    near = Demands(near=(PodTerm("zone", IS_WEB, None),))
    world.add_workload(an_app(1))
    world.add_workload(an_app(1, name="cache", demands=near))
    world.add_workload(an_app(1, name="even", demands=Demands(spread=(Spread("zone", 1, ()),))))
    assert "pod affinity rules" in (pods(world, "cache")[0].waiting or "")
    assert "topology spread" in (pods(world, "even")[0].waiting or "")


def test_spread_counts_as_domains_what_its_policies_say() -> None:
    taint = Taint("dedicated", "x", "NoSchedule")
    for honors_taints, fits in ((False, False), (True, True)):
        world = a_world("n1", zone="a")
        world.add_node(NodeSpec("n2", labels={"zone": "b"}, taints=(taint,)))
        spread = Spread("zone", 1, IS_WEB, honors_taints=honors_taints)
        world.add_workload(an_app(2, demands=Demands(spread=(spread,))))
        assert all(pod.node == "n1" for pod in pods(world)) is fits


def test_fewer_domains_than_asked_for_count_as_if_one_were_empty() -> None:
    for min_domains, placed in ((1, 2), (2, 1)):
        world = a_world("n1", zone="a")
        spread = Spread("zone", 1, IS_WEB, min_domains=min_domains)
        world.add_workload(an_app(2, demands=Demands(spread=(spread,))))
        assert sum(pod.node is not None for pod in pods(world)) == placed


def test_a_claim_that_is_not_there_or_out_of_reach_keeps_a_pod_waiting() -> None:
    world = a_world("n1", zone="b")
    world.add_workload(an_app(1, demands=Demands(claims=frozenset({"data"}))))
    assert 'persistentvolumeclaim "data" not found' in (pods(world)[0].waiting or "")
    world.add_volume(VolumeSpec("pv", ((NodeRequirement("zone", NodeOp.IN, ("a",)),),)))
    world.add_claim(ClaimSpec("data", "pv"))
    assert "didn't match PersistentVolume's node affinity" in (pods(world)[0].waiting or "")
    world.add_claim(ClaimSpec("data"))  # not bound yet: it will be, wherever the pod goes
    assert pods(world)[0].node == "n1"


def test_each_node_is_counted_with_its_own_reason() -> None:
    world = a_world("n1", "n2", "n3", "n4")
    cordon(world, "n1")
    world.silence("n2", noticed_after_s=0.0)
    world.advance(world.now)
    world.add_node(NodeSpec("n3", taints=(Taint("dedicated", "x", "NoSchedule"),)))
    world.add_node(NodeSpec("n4", {"cpu": 0, "pods": 110}))
    world.add_bare_pod("pod", "n1", PodTemplate(requests={"cpu": 1}))
    (pod,) = world.snapshot().pods.values()
    assert place(pod, world.snapshot()) == NoRoom(
        "0/4 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), "
        "1 node(s) were not ready, 1 node(s) were unschedulable"
    )

"""What a plan says for certain holds on a real scheduler: begun all the same, a drain leaves pods without a place."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from hangar.domain.placing import (
    HOST_NAME,
    NAME_FIELD,
    Demands,
    NodeOp,
    NodeRequirement,
    PodTerm,
    Requirement,
    SelectorOp,
    Spread,
)
from testbed.bed import Bed
from testbed.ground import QUICK, Ground
from testbed.manifests import Template
from testbed.stack import Stack
from tests.kubernetes.demand_manifests import spec_of
from tests.kubernetes.scenes import Played, Scene, Scenes, played
from tests.kubernetes.told import outcome

WEB = (Requirement("app", SelectorOp.IN, frozenset({"web"})),)
ONE_EACH = Spread(HOST_NAME, 1, WEB)
UNTIL_IT_IS_SEEN_S = 8
"""Long enough for evictions, and for the scheduler to try; it does not try better later."""

SCENES = Scenes()


@pytest.fixture(scope="module")
def all_played(bed: Bed, stack: Stack) -> Iterator[Played]:
    with played(SCENES, bed, stack, "verdicts") as futures:
        yield futures


def web(demands: Demands) -> Template:
    return replace(QUICK, spec=spec_of(demands))


def fullest(ground: Ground, pods: list[dict[str, Any]]) -> str:
    """Return the node that has most of some pods."""
    nodes = [str(pod["spec"]["nodeName"]) for pod in pods]
    return max(nodes, key=nodes.count)


def is_told_and_true(ground: Ground, node: str, said: str) -> None:
    """Assert that a plan says that pods of web do not fit, and that they do not where the drain begins all the same."""
    plan = ground.hub.foresee("node.drain", node)
    assert (plan["fits"], {each["code"] for each in plan["obstructions"]}) == ("does_not_fit", {"no_capacity"})
    assert said in plan["obstructions"][0]["message"]
    assert outcome(ground.hub.finish(ground.hub.submit("node.drain", node)))[:2] == ("failed", "no_capacity")
    assert ground.evictions() == []

    begun = ground.hub.submit("node.drain", node, skip_fit_check=True, deadline_s=UNTIL_IT_IS_SEEN_S)
    assert outcome(ground.hub.finish(begun))[:2] == ("failed", "deadline_exceeded")
    pods = ground.kube.find("Pod", selector="app=web", namespace=ground.name)
    assert [pod for pod in pods if "nodeName" not in pod["spec"]] != []


@SCENES.add
def one_replica_a_node_cannot_move_while_the_drained_node_counts_as_empty(ground: Ground) -> None:
    node, *_ = [ground.add_node() for _ in range(3)]
    ground.deploy("web", 3, web(Demands(spread=(ONE_EACH,))))
    is_told_and_true(ground, node, "2 would have too many of its kind")


@SCENES.add
def of_two_that_are_spread_the_last_cannot_move(ground: Ground) -> None:
    """The first still can, while the second is there."""
    for _ in range(2):
        ground.add_node()
    pods = ground.deploy("web", 3, web(Demands(spread=(ONE_EACH,))))
    is_told_and_true(ground, fullest(ground, pods), "1 would have too many of its kind")


@SCENES.add
def pods_that_keep_apart_need_a_node_each(ground: Ground) -> None:
    node = ground.add_node()
    ground.add_node()
    apart = Demands(apart_from=(PodTerm(HOST_NAME, WEB, frozenset({ground.name})),))
    ground.deploy("web", 2, web(apart))
    is_told_and_true(ground, node, "1 holds pods it has to be apart from")


@SCENES.add
def a_pod_that_is_pinned_to_its_node_is_told_so(ground: Ground) -> None:
    """C10."""
    node = ground.add_node()
    ground.add_node()
    pinned = Demands(node_terms=((NodeRequirement(NAME_FIELD, NodeOp.IN, (node,)),),))
    ground.deploy("web", 1, web(pinned))
    is_told_and_true(ground, node, f"can only run on {node}")


@SCENES.add
def where_taints_are_honoured_a_drained_node_does_not_count(ground: Ground) -> None:
    node, *_ = [ground.add_node() for _ in range(3)]
    ground.deploy("web", 3, web(Demands(spread=(replace(ONE_EACH, honors_taints=True),))))
    plan = ground.hub.foresee("node.drain", node)
    assert (plan["fits"], plan["obstructions"]) == ("fits", [])
    assert outcome(ground.hub.finish(ground.hub.submit("node.drain", node)))[:2] == ("succeeded", "drained")


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_on_a_real_cluster(scene: Scene, all_played: Played) -> None:
    all_played[scene].result()

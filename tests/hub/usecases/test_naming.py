"""Names of nodes: bare where that is enough, else with their cluster."""

import pytest

from hangar.wire.problems import Problem, ProblemCode
from tests.hub.world import Operator, World, a_node, an_operator


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster()
    an_operator(made)
    return made


def refusal(world: World, target: str, cluster: str | None = None) -> Problem:
    with pytest.raises(Problem) as caught:
        world.submit("node.cordon", target, cluster=cluster)
    assert caught.value.errors[0].path in ("target", "cluster")
    return caught.value


@pytest.mark.parametrize("target", ["iad-1-n01", "iad-1/iad-1-n01"])
def test_the_record_keeps_the_bare_name(world: World, target: str) -> None:
    operation = world.submit("node.cordon", target).operation
    assert (operation.target, operation.cluster) == ("iad-1-n01", "iad-1")


@pytest.mark.parametrize(
    ("target", "cluster", "code"),
    [
        ("gone", None, ProblemCode.NOT_FOUND),
        ("iad-1-n01", "ord-1", ProblemCode.NOT_FOUND),
        ("ord-1/iad-1-n01", None, ProblemCode.NOT_FOUND),
        ("iad-1/iad-1-n01", "ord-1", ProblemCode.INVALID_VALUE),
        ("iad-1/", None, ProblemCode.NOT_FOUND),
    ],
)
def test_a_name_that_means_nothing_is_refused(
    world: World, target: str, cluster: str | None, code: ProblemCode
) -> None:
    assert refusal(world, target, cluster).code is code


def test_a_name_of_two_clusters_is_ambiguous_until_the_cluster_is_named(world: World) -> None:
    world.add_cluster("ord-1")
    other = Operator(world, "ord-1")
    other.open()
    other.tell(a_node("iad-1-n01"))
    problem = refusal(world, "iad-1-n01")
    assert problem.code is ProblemCode.AMBIGUOUS_TARGET
    assert problem.context["candidates"] == ["iad-1/iad-1-n01", "ord-1/iad-1-n01"]
    assert world.submit("node.cordon", "ord-1/iad-1-n01").operation.cluster == "ord-1"
    assert world.submit("node.cordon", "iad-1-n01", cluster="iad-1").operation.cluster == "iad-1"

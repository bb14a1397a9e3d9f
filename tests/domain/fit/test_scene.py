"""Scene: what stays for certain, what is there at all, and what each leaves free."""

import pytest

from hangar.domain.fit.scene import Scene
from hangar.domain.snapshot import Pod, PodPhase
from tests.domain.building import GPU, a_member, a_node, a_pod, a_view, draining, pending, terminating, uids

M = a_pod("m")
CASES = [
    ("elsewhere", a_pod("b", on="n2"), True, True),
    ("moving", M, False, False),
    ("on another drained node", a_pod("b", on="n3"), False, True),
    ("terminating", terminating("b", on="n2"), False, True),
    ("told to leave", a_pod("leaving", on="n2"), False, True),
    ("of lower priority", a_pod("b", on="n2", priority=-1), False, True),
    ("of higher priority", a_pod("b", on="n2", priority=1), True, True),
    ("without a place", pending("b"), False, False),
    ("finished", a_pod("b", on="n2", phase=PodPhase.FAILED), False, False),
]


@pytest.mark.parametrize(("pod", "stays", "is_there"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_stays_for_certain_and_what_is_there(pod: Pod, stays: bool, is_there: bool) -> None:
    nodes = a_node("n1"), a_node("n2"), a_node("n3")
    scene = Scene((M,), a_view(*nodes, M, pod, claims=draining("n1", "n3"), leaving=uids("leaving")))
    assert (scene.stays(pod), scene.is_there(pod)) == (stays, is_there)


def test_what_a_node_could_have_free_is_what_stays_leaves() -> None:
    node = a_node("n2", gpus=8)
    pods = a_pod("b", on="n2", requests={GPU: 1}), terminating("c", on="n2", requests={GPU: 2})
    scene = Scene((), a_view(node, *pods))
    assert scene.most_free(node)[GPU] == 7
    assert scene.most_free(node) is scene.most_free(node)
    assert [each.ref.name for each in scene.there_on(node.name)] == ["b", "c"]


def test_a_pod_is_in_the_domains_of_its_node_and_in_none_without_one() -> None:
    scene = Scene((), a_view(a_node("n2", labels={"zone": "a"})))
    assert scene.labels_around(a_pod(on="n2")) == {"zone": "a"}
    assert scene.labels_around(a_pod(on="gone")) == {}
    assert scene.labels_around(pending("b")) == {}


def test_the_crowd_is_all_that_has_not_finished() -> None:
    scene = Scene((M,), a_view(M, pending("b"), a_pod("c", phase=PodPhase.SUCCEEDED)))
    assert sorted(each.ref.name for each in scene.crowd.matching((), None)) == ["b", "m"]


def test_the_emptiest_nodes_are_looked_at_first() -> None:
    nodes = a_node("n1"), a_node("n2"), a_node("n3")
    pods = a_pod("a", on="n1"), a_pod("b", on="n1"), a_pod("c", on="n2")
    assert [node.name for node in Scene((), a_view(*nodes, *pods)).nodes] == ["n3", "n2", "n1"]


def test_a_group_of_which_one_moves_or_ends_stays_nowhere() -> None:
    """It restarts as a whole, wherever its other pods are."""
    moving, mate, stranger = a_member("a0"), a_member("a1", on="n2"), a_member("b0", 1, on="n2")
    scene = Scene((moving,), a_view(a_node("n2"), moving, mate, stranger))
    assert [scene.stays(each) for each in (mate, stranger)] == [False, True]
    assert scene.is_there(mate), "its place is taken until it has one again"
    for other in (
        a_member("b1", 1, on="n3", deletion_at=a_pod().created_at),
        a_member("leaving", 1, on="n3"),
        a_member("b1", 1, on="n1"),
    ):
        view = a_view(a_node("n1"), a_node("n2"), mate, stranger, other, claims=draining("n1"), leaving=uids("leaving"))
        assert not Scene((), view).stays(stranger)

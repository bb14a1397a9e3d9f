"""Packing: each pod gets the first node that takes it beside all that is there, and no room is given twice."""

from hangar.domain.fit.packing import Packing
from hangar.domain.fit.scene import Scene
from hangar.domain.placing import HOST_NAME, Demands, HostPort, PodTerm, Requirement, SelectorOp, VolumeClaim
from hangar.domain.snapshot import Pod
from tests.domain.building import GPU, Object, a_node, a_pod, a_view, draining, terminating

API = (Requirement("app", SelectorOp.IN, frozenset({"api"})),)
N1 = a_node("n1")


def gpus(count: int, name: str = "a", **fields: object) -> Pod:
    return a_pod(name, requests={GPU: count}, **fields)  # type: ignore[arg-type]


def packing(*objects: Object, moving: tuple[Pod, ...] = ()) -> Packing:
    return Packing(Scene(moving, a_view(N1, *objects, *moving, claims=draining("n1"))))


def test_pods_go_to_the_first_node_by_name_that_has_the_room_left() -> None:
    pack = packing(a_node("n3"), a_node("n2", gpus=4))
    assert [pack.place(gpus(3, each)) for each in "abcd"] == ["n2", "n3", "n3", None]


def test_a_smaller_pod_is_not_turned_away_by_what_a_larger_one_found() -> None:
    pack = packing(a_node("n2", gpus=4))
    assert [pack.place(gpus(3)), pack.place(gpus(3, "b")), pack.place(gpus(1, "c"))] == ["n2", None, "n2"]


def test_what_terminates_or_would_have_to_give_way_still_has_its_room() -> None:
    pack = packing(a_node("n2"), terminating("b", on="n2", requests={GPU: 4}), gpus(4, "c", on="n2", priority=-9))
    assert pack.place(gpus(1)) is None


def test_a_promise_takes_room_like_a_place() -> None:
    pack = packing(a_node("n2", gpus=4))
    pack.promise(gpus(3, "other"))
    pack.promise(gpus(3, "too much"))
    assert [pack.place(gpus(2)), pack.place(gpus(1))] == [None, "n2"]


def test_asking_takes_no_room() -> None:
    pack = packing(a_node("n2", gpus=4))
    assert pack.could_place(gpus(4))
    assert pack.could_place(gpus(4))
    assert not pack.could_place(gpus(5))
    assert pack.place(gpus(4)) == "n2"


def test_ports_of_those_that_are_there_placed_or_promised_are_taken() -> None:
    ported = Demands(host_ports=(HostPort(80),))
    pack = packing(a_node("n2"), a_node("n3"), a_node("n4"), a_pod("there", on="n2", demands=ported))
    pack.promise(a_pod("other", demands=ported))
    assert [pack.place(a_pod(each, demands=ported)) for each in "ab"] == ["n4", None]


def test_those_that_must_be_apart_are_placed_apart() -> None:
    apart = Demands(apart_from=(PodTerm(HOST_NAME, API, None),))
    nodes = [a_node(each, labels={HOST_NAME: each}) for each in ("n2", "n3")]
    pack = packing(*nodes)
    assert [pack.place(a_pod(each, demands=apart)) for each in "abc"] == ["n2", "n3", None]


def test_pods_that_must_be_together_follow_the_first() -> None:
    """The first finds the second too small a node, and so may a later one again find an earlier node good enough."""
    near = Demands(near=(PodTerm(HOST_NAME, API, None),))
    nodes = [a_node(each, gpus=count, labels={HOST_NAME: each}) for each, count in (("n2", 1), ("n3", 8))]
    pack = packing(*nodes)
    assert [pack.place(gpus(4, each, demands=near)) for each in "abc"] == ["n3", "n3", None]


def test_a_volume_for_one_node_keeps_all_that_use_it_on_that_node() -> None:
    data = Demands(claims=frozenset({"data"}))
    once = VolumeClaim("default", "data", None, once=True)
    moving = a_pod("m", demands=data)
    free = packing(a_node("n2", gpus=1), a_node("n3"), once, moving=(moving,))
    assert [free.place(gpus(2, "m", demands=data)), free.place(gpus(1, "b", demands=data))] == ["n3", "n3"]
    used = packing(a_node("n2"), a_node("n3"), once, a_pod("x", on="n3", demands=data), moving=(moving,))
    assert used.place(moving) == "n3"
    promised = packing(a_node("n2", gpus=1), a_node("n3"), once)
    promised.promise(gpus(2, "other", demands=data))
    assert promised.place(gpus(1, demands=data)) == "n3"

"""Seeker: what each node objects to, and that nothing is objected to that is not certain."""

from typing import Any

import pytest

from hangar.domain.fit.node_rules import Objection
from hangar.domain.fit.scene import Scene
from hangar.domain.fit.seeker import certain_seeker, once_claims
from hangar.domain.placing import HOST_NAME, Demands, HostPort, PodTerm, VolumeClaim
from hangar.domain.snapshot import Pod, PodPhase
from tests.domain.building import GPU, Object, a_node, a_pod, a_view, draining, pending

N1, N2, N3 = (a_node(name, labels={HOST_NAME: name}) for name in ("n1", "n2", "n3"))
DATA = Demands(claims=frozenset({"data"}))
ONCE = VolumeClaim("default", "data", None, once=True)


def objections(pod: Pod, *objects: Object) -> list[Objection | None]:
    """Return what n1, which is drained, n2 and n3 object to a pod."""
    seeker = certain_seeker(pod, Scene((pod,), a_view(N1, N2, N3, pod, *objects, claims=draining("n1"))))
    return [seeker.objection(node) for node in (N1, N2, N3)]


def test_a_plain_pod_may_go_anywhere_else() -> None:
    assert objections(a_pod()) == [Objection.DRAINED, None, None]


def test_room_is_looked_for_last() -> None:
    full = a_pod("b", on="n2", requests={GPU: 8})
    assert objections(a_pod(requests={GPU: 1}), full)[1:] == [Objection.ROOM, None]
    apart = Demands(apart_from=(PodTerm(HOST_NAME, (), None),))
    assert objections(a_pod(requests={GPU: 1}, demands=apart), full)[1:] == [Objection.APART, None]


def ported(name: str, on: str, *ports: HostPort, **fields: Any) -> Pod:
    return a_pod(name, on=on, demands=Demands(host_ports=ports), **fields)


@pytest.mark.parametrize(
    ("one", "other", "collide"),
    [
        (HostPort(80), HostPort(80), True),
        (HostPort(80), HostPort(81), False),
        (HostPort(80), HostPort(80, "UDP"), False),
        (HostPort(80, address="10.0.0.1"), HostPort(80), True),
        (HostPort(80, address="10.0.0.1"), HostPort(80, address="0.0.0.0"), True),
        (HostPort(80, address="10.0.0.1"), HostPort(80, address="10.0.0.2"), False),
        (HostPort(80, address="10.0.0.1"), HostPort(80, address="10.0.0.1"), True),
    ],
)
def test_a_port_of_the_node_is_one_pods_only(one: HostPort, other: HostPort, collide: bool) -> None:
    expected = Objection.PORT if collide else None
    assert objections(ported("a", "n1", one), ported("b", "n2", other))[1:] == [expected, None]


def test_a_port_of_a_pod_that_may_have_to_go_is_no_objection() -> None:
    mine = ported("a", "n1", HostPort(80), priority=1)
    assert objections(mine, ported("b", "n2", HostPort(80)))[1:] == [None, None]


def test_a_pod_that_waits_for_a_volume_in_use_can_only_go_to_where_it_is() -> None:
    waits = pending("a", on="n1", demands=DATA)
    assert objections(waits, ONCE, a_pod("b", on="n2", demands=DATA))[1:] == [None, Objection.HELD]


@pytest.mark.parametrize(
    ("pod", "others"),
    [
        (a_pod(demands=DATA), (a_pod("b", on="n2", demands=DATA),)),
        (pending("a", on="n1", demands=DATA), (pending("b", on="n2", demands=DATA),)),
        (pending("a", on="n1", demands=DATA), (a_pod("b", on="n2", demands=DATA), a_pod("c", on="n3", demands=DATA))),
    ],
    ids=["it runs beside the other", "the other waits too", "two have it"],
)
def test_where_a_volume_is_in_use_twice_or_not_at_all_nothing_is_certain(pod: Pod, others: tuple[Pod, ...]) -> None:
    assert objections(pod, ONCE, *others)[1:] == [None, None]


def test_a_volume_that_many_may_mount_holds_nobody() -> None:
    many = VolumeClaim("default", "data", None, once=False)
    waits = pending("a", on="n1", demands=DATA)
    assert objections(waits, many, a_pod("b", on="n2", demands=DATA))[1:] == [None, None]
    assert once_claims(waits, Scene((), a_view(many))) == []
    assert once_claims(waits, Scene((), a_view(ONCE))) == ["data"]


def test_what_its_own_node_does_not_list_is_not_asked_for() -> None:
    pod = a_pod(requests={"example.com/odd": 1, GPU: 1}, phase=PodPhase.RUNNING)
    seeker = certain_seeker(pod, Scene((pod,), a_view(N1, pod)))
    assert seeker.asked == {GPU: 1, "pods": 1}

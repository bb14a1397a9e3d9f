"""What an operator asks for a session with."""

from hangar.kinds import KINDS
from hangar.operator.cluster.port import Identity
from hangar.operator.session import session_request
from hangar.wire.operator import PROTOCOL_VERSION


def test_it_says_who_it_is_and_what_it_can_do() -> None:
    request = session_request(Identity("uid-1", "v1.37.2"), frozenset({"drain", "cordon"}))
    assert (request.protocol, request.cluster_uid, request.kubernetes_version) == (PROTOCOL_VERSION, "uid-1", "v1.37.2")
    assert request.allowed == ["cordon", "drain"]
    assert request.kinds == {name: kind.version for name, kind in KINDS.items()}


def test_each_start_is_an_incarnation_of_its_own() -> None:
    identity = Identity("uid-1", "v1.37.2")
    first, second = session_request(identity, frozenset()), session_request(identity, frozenset())
    assert first.incarnation != second.incarnation


def test_it_says_whether_nodes_are_added_on_demand() -> None:
    identity = Identity("uid-1", "v1.37.2")
    assert not session_request(identity, frozenset()).has_autoscaler
    assert session_request(identity, frozenset(), has_autoscaler=True).has_autoscaler

"""The fence: writes of a session that is over change nothing."""

import pytest

from hangar.wire.operator import ReportDoc
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.world import Operator, World, an_operator


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster()
    return made


@pytest.mark.parametrize("call", ["sync", "report", "tell", "release"])
def test_nothing_of_a_fenced_session_counts(world: World, call: str) -> None:
    first = an_operator(world)
    id_ = world.create()
    world.pass_s(20)
    Operator(world, "iad-1", incarnation="second").open()
    before = (world.get(id_), world.events())
    with pytest.raises(Problem) as caught:
        {
            "sync": first.sync,
            "report": lambda: first.report(ReportDoc(id=id_, n=1, phase="running")),
            "tell": first.tell,
            "release": first.release,
        }[call]()
    assert caught.value.code is ProblemCode.FENCED
    assert (world.get(id_), world.events()) == before

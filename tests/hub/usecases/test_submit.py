"""Asking for operations: who may, what is checked in which order, and what one key stands for."""

import pytest

from hangar.domain.limits import PENDING_TIMEOUT_S
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.world import ADMIN, MAINTAINER, NOON_US, VIEWER, Operator, World, a_node, a_progress, an_operator


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster("iad-1")
    an_operator(made, "iad-1")
    return made


def refusal(world: World, type_: str, target: str, **given: object) -> Problem:
    before = world.events("operation")
    with pytest.raises(Problem) as caught:
        world.submit(type_, target, **given)
    assert world.events("operation") == before
    return caught.value


def test_a_request_becomes_a_pending_operation_with_all_its_parameters(world: World) -> None:
    """C59: there is always a deadline, and it is shown."""
    operation = world.submit("node.drain", "iad-1-n02", reason="firmware upgrade", who=MAINTAINER).operation
    assert operation.id.startswith("op_")
    assert (operation.type, operation.target, operation.cluster) == ("node.drain", "iad-1-n02", "iad-1")
    assert (operation.phase, operation.result, operation.reason) == ("pending", None, "firmware upgrade")
    assert (operation.created_by, operation.created_at) == ("max", "2026-11-18T11:06:40Z")
    assert operation.params == {
        "deadline_s": 3600,
        "grace_period_s": None,
        "skip_fit_check": False,
        "on_failure": "keep",
        "on_deadline": "fail",
        "force": False,
        "node_is_down": False,
    }
    assert operation.status_reason is not None
    assert operation.status_reason.code == "waiting_for_operator"
    assert operation.version == max(world.revs())


def test_later_operations_have_greater_ids_even_when_the_clock_goes_back(world: World) -> None:
    first = world.create("node.cordon", "iad-1-n01")
    world.now_us -= 60_000_000
    second = world.submit("node.cordon", "iad-1-n02").operation
    assert second.id > first
    assert second.created_at == "2026-11-18T11:06:40Z"


def test_a_viewer_is_refused_before_names_are_looked_at(world: World) -> None:
    assert refusal(world, "node.drain", "no-such-node", who=VIEWER).code is ProblemCode.FORBIDDEN


def test_an_unknown_type_is_told_the_types_there_are(world: World) -> None:
    problem = refusal(world, "node.reboot", "iad-1-n01")
    assert problem.code is ProblemCode.INVALID_VALUE
    assert "node.cordon, node.drain, node.uncordon" in problem.detail


def test_all_wrong_parameters_are_told_at_once(world: World) -> None:
    params = {"deadline_s": 0, "grace_period_s": "5", "on_failure": "explode", "colour": "red", "skip_fit_check": 1}
    problem = refusal(world, "node.drain", "iad-1-n01", params=params)
    assert problem.code is ProblemCode.INVALID_VALUE
    assert {each.path: each.message for each in problem.errors} == {
        "params.deadline_s": "must be at least 1, not 0",
        "params.grace_period_s": "must be a whole number",
        "params.on_failure": "must be 'keep' or 'uncordon'",
        "params.skip_fit_check": "must be true or false",
        "params.colour": "is no field here: there are deadline_s, grace_period_s, skip_fit_check, on_failure, "
        "on_deadline, force, node_is_down",
    }


@pytest.mark.parametrize(
    ("allowed", "words"),
    [(["cordon"], "add `drain` to `cluster.allowedOperations`"), ([], "`cluster.readOnly: true`")],
)
def test_what_a_cluster_does_not_allow_is_refused_with_the_chart_value(allowed: list[str], words: str) -> None:
    """C41, C92: before anything is done, with what is missing."""
    world = World()
    world.add_cluster()
    an_operator(world, allowed=allowed)
    problem = refusal(world, "node.drain", "iad-1-n01")
    assert problem.code is ProblemCode.OPERATION_NOT_ALLOWED
    assert words in problem.detail
    assert problem.context["allowed"] == allowed


@pytest.mark.parametrize("kinds", [{}, {"node.drain": 0}])
def test_what_the_operator_is_too_old_for_is_refused(kinds: dict[str, int]) -> None:
    world = World()
    world.add_cluster()
    an_operator(world, kinds=kinds)
    assert refusal(world, "node.drain", "iad-1-n01").code is ProblemCode.UNSUPPORTED_KIND


def test_a_second_operation_on_a_node_is_told_all_about_the_first(world: World) -> None:
    """C80: who, what, since when and how far."""
    operator = Operator(world, "iad-1")
    operator.open()
    first = world.create("node.drain", "iad-1-n01", reason="firmware")
    operator.say(first, progress=a_progress())
    world.pass_s(42, sweeping=False)
    problem = refusal(world, "node.uncordon", "iad-1-n01", who=MAINTAINER)
    assert problem.code is ProblemCode.CONFLICT
    holder = problem.context["conflicting_operation"]
    assert (holder["id"], holder["phase"], holder["created_by"], holder["age_s"]) == (first, "running", "admin", 42)
    assert holder["progress"].done == 1
    for word in (first, "admin", "firmware", "42 s", "evicted 1 of 3", "hgr operation cancel"):
        assert word in problem.detail


def test_a_grace_period_of_nothing_is_refused(world: World) -> None:
    """C63: nobody kills at once by a 0 that was meant as "unset"."""
    problem = refusal(world, "node.drain", "iad-1-n01", params={"grace_period_s": 0})
    assert [each.message for each in problem.errors] == ["must be at least 1, not 0"]


def test_a_node_is_free_again_when_its_operation_is_over_however_it_ended(world: World) -> None:
    """C95: no way out of an operation leaves its node held."""
    operator = Operator(world, "iad-1")
    operator.open()
    ended = [world.create()]
    operator.say(ended[-1], "succeeded")
    ended.append(world.create())
    operator.say(ended[-1], "failed")
    ended.append(world.create())
    world.cancel(ended[-1])
    ended.append(world.create())
    world.pass_s(PENDING_TIMEOUT_S + 60)  # nobody took it
    assert [world.get(each).phase for each in ended] == ["succeeded", "failed", "cancelled", "failed"]
    assert world.create() not in ended


def test_a_replaced_node_is_not_held_by_the_operation_on_the_old_one(world: World) -> None:
    world.create("node.drain", "iad-1-n01")
    operator = Operator(world, "iad-1")
    operator.open()
    operator.tell(a_node("iad-1-n01", uid="another"))
    assert world.submit("node.cordon", "iad-1-n01").operation.phase == "pending"


def test_one_key_is_one_operation_in_its_present_state(world: World) -> None:
    """C87: sent again later, it is answered with what became of it."""
    first = world.submit("node.drain", "iad-1-n01", key="k", reason="a")
    world.cancel(first.operation.id)
    again = world.submit("node.drain", "iad-1-n01", key="k", reason="b")
    assert (again.is_replay, again.operation.id, again.operation.phase) == (True, first.operation.id, "cancelled")
    assert (first.is_replay, again.operation.reason) == (False, "a")


@pytest.mark.parametrize(
    "other", [{"target": "iad-1-n02"}, {"params": {"deadline_s": 60}}, {"type_": "node.cordon"}, {"cluster": "iad-1"}]
)
def test_a_key_does_not_stand_for_two_requests(world: World, other: dict[str, object]) -> None:
    """C87: the same key with another node is refused."""
    first = world.create("node.drain", "iad-1-n01", key="k")
    asked: dict[str, object] = {"type_": "node.drain", "target": "iad-1-n01"} | other
    problem = refusal(world, str(asked.pop("type_")), str(asked.pop("target")), key="k", **asked)
    assert problem.code is ProblemCode.KEY_REUSED
    assert problem.context["operation"].id == first


def test_a_key_is_looked_at_before_names_and_conflicts(world: World) -> None:
    first = world.create("node.drain", "iad-1-n01", key="k")
    operator = Operator(world, "iad-1", allowed=[])
    operator.open()
    operator.tell()
    assert world.submit("node.drain", "iad-1-n01", key="k").operation.id == first


def test_keys_belong_to_principals(world: World) -> None:
    first = world.create("node.drain", "iad-1-n01", key="k", who=ADMIN)
    assert world.create("node.drain", "iad-1-n02", key="k", who=MAINTAINER) != first


def test_a_refused_request_does_not_use_its_key_up(world: World) -> None:
    """C95: a refusal holds nothing."""
    refusal(world, "node.drain", "gone", key="k")
    assert not world.submit("node.drain", "iad-1-n01", key="k").is_replay


@pytest.mark.parametrize(("hours", "is_replay"), [(23.9, True), (24, False)])
@pytest.mark.parametrize("sweeping", [True, False])
def test_a_key_is_forgotten_after_a_day(world: World, hours: float, is_replay: bool, sweeping: bool) -> None:
    first = world.create("node.drain", "iad-1-n01", key="k")
    world.cancel(first)
    world.pass_s(hours * 3600, sweeping=sweeping)
    assert world.submit("node.drain", "iad-1-n01", key="k").is_replay is is_replay


def test_revisions_count_up_without_gaps(world: World) -> None:
    world.create()
    refusal(world, "node.cordon", "iad-1-n01")
    world.create("node.cordon", "iad-1-n02")
    revs = world.revs()
    assert revs == sorted(set(revs))
    assert world.now_us == NOON_US


def test_a_key_is_known_after_a_restart_of_the_hub(world: World) -> None:
    """C87: what it stands for is in the store, and in nobody's head."""
    first = world.submit("node.drain", "iad-1-n01", key="k")
    restarted = World(world.store)
    again = restarted.submit("node.drain", "iad-1-n01", key="k")
    assert (again.operation.id, again.is_replay) == (first.operation.id, True)

"""Which operations on workloads must not begin, and what their refusal says."""

from typing import Any

import msgspec
import pytest

from hangar.domain.workloads.placement import Bounds, Division, Policy
from hangar.hub.usecases.workloads import set_replicas
from hangar.wire.operator import RivalDoc
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.sites import Fleet
from tests.hub.world import ADMIN, VIEWER, Operator


def test_a_scale_out_of_bounds_is_refused_with_the_numbers(fleet: Fleet) -> None:
    fleet.bind(replicas=3, policy=Policy(default_bounds=Bounds(1, 4)))
    problem = fleet.refusal("workload.scale", params={"replicas": 13})
    assert problem.code is ProblemCode.INVALID_VALUE
    assert [each.path for each in problem.errors] == ["params.replicas"]
    assert "its clusters need at least 3 and at most 12, or 0" in problem.detail


def test_a_scale_beyond_the_quota_is_refused_with_the_numbers(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    problem = fleet.refusal("workload.scale", params={"replicas": 17})
    assert problem.code is ProblemCode.QUOTA_EXCEEDED
    assert "may use 64 nvidia.com/gpu" in problem.detail
    assert "would use 68 with 17 replicas: 4 too many" in problem.detail
    fleet.scale(16)


def test_a_cluster_that_does_not_allow_it_is_named_and_nothing_is_changed(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    before = fleet.numbers()
    fleet["sin-1"].operator.release()
    Operator(fleet.world, "sin-1", allowed=["cordon", "drain"]).open()
    problem = fleet.refusal("workload.scale", params={"replicas": 6})
    assert problem.code is ProblemCode.OPERATION_NOT_ALLOWED
    assert problem.context["clusters"] == ["sin-1"]
    assert "cluster.workloads" in problem.detail
    assert fleet.numbers() == before


def test_two_scales_at_once_conflict_and_a_patch_too(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    first = fleet.scale(6)
    problem = fleet.refusal("workload.scale", params={"replicas": 7})
    assert problem.code is ProblemCode.CONFLICT
    assert problem.detail.startswith(f"llama is held by workload.scale {first}, running")
    with pytest.raises(Problem) as caught:
        fleet.world.store.write(lambda tx: set_replicas(tx, ADMIN, "llama", 7, fleet.world.now_us))
    assert caught.value.code is ProblemCode.CONFLICT


@pytest.mark.parametrize(
    ("type_", "given", "path"),
    [
        ("workload.scale", {"cluster": "iad-1", "params": {"replicas": 1}}, "cluster"),
        ("workload.drain", {}, "cluster"),
        ("workload.drain", {"cluster": "mars"}, "cluster"),
        ("workload.undrain", {"cluster": "mars"}, "cluster"),
        ("workload.scale", {"params": {}}, "params.replicas"),
        ("workload.scale", {"params": {"replicas": -1}}, "params.replicas"),
        ("workload.scale", {"params": {"replicas": 10**6}}, "params.replicas"),
        ("workload.pause", {"params": {"replicas": 1}}, "params.replicas"),
    ],
)
def test_what_is_wrong_with_a_request_is_named_by_its_field(
    fleet: Fleet, type_: str, given: dict[str, Any], path: str
) -> None:
    fleet.bind(replicas=3)
    problem = fleet.refusal(type_, **given)
    assert problem.code is ProblemCode.INVALID_VALUE
    assert [each.path for each in problem.errors] == [path]
    assert fleet.world.events("operation") == []


def test_a_cluster_before_the_name_is_no_workload(fleet: Fleet) -> None:
    fleet.bind()
    problem = fleet.refusal("workload.pause", "iad-1/llama")
    assert [each.path for each in problem.errors] == ["target"]


def test_an_unknown_workload_is_not_found_and_those_there_are_are_named(fleet: Fleet) -> None:
    assert "there is none yet" in fleet.refusal("workload.pause", "mistral").detail
    fleet.bind()
    problem = fleet.refusal("workload.pause", "mistral")
    assert problem.code is ProblemCode.NOT_FOUND
    assert [each.path for each in problem.errors] == ["target"]
    assert "there are llama" in problem.detail


def test_a_paused_workload_is_not_scaled_and_says_how_to_resume_it(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.world.create("workload.pause", "llama")
    fleet.write()
    problem = fleet.refusal("workload.scale", params={"replicas": 7})
    assert problem.code is ProblemCode.WORKLOAD_PAUSED
    assert "hgr workload resume llama" in problem.detail


def test_a_resume_whose_number_has_no_place_any_more_is_refused(fleet: Fleet) -> None:
    fleet.bind(replicas=6)
    fleet.world.create("workload.pause", "llama")
    fleet.write()
    fleet.apply(policy=Policy(default_bounds=Bounds(0, 1)))
    problem = fleet.refusal("workload.resume")
    assert problem.code is ProblemCode.INVALID_VALUE
    assert "6 replicas are out of its bounds" in problem.detail


def test_the_only_cluster_is_drained_only_where_an_outage_is_allowed(fleet: Fleet) -> None:
    fleet.bind(on=["fra-1"], replicas=2)
    problem = fleet.refusal("workload.drain", cluster="fra-1")
    assert problem.code is ProblemCode.INVALID_VALUE
    assert "allow_outage" in problem.detail


def test_a_viewer_asks_for_nothing(fleet: Fleet) -> None:
    fleet.bind()
    assert fleet.refusal("workload.pause", who=VIEWER).code is ProblemCode.FORBIDDEN


def test_one_key_is_one_operation(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    first = fleet.world.submit("workload.scale", "llama", params={"replicas": 6}, key="k")
    again = fleet.world.submit("workload.scale", "llama", params={"replicas": 6}, key="k")
    assert (again.is_replay, again.operation.id) == (True, first.operation.id)


HPA = RivalDoc(kind="HorizontalPodAutoscaler", name="llama", component="decode")


def test_a_rival_owner_is_named_and_only_an_override_with_a_reason_goes_on(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.settle()
    fleet["fra-1"].tell(msgspec.structs.replace(fleet["fra-1"].graphs["llama"], rivals=[HPA]))
    before = fleet.numbers()
    problem = fleet.refusal("workload.scale", params={"replicas": 6})
    assert problem.code is ProblemCode.RIVAL_OWNER
    assert "HorizontalPodAutoscaler llama writes the number of decode of serving/llama on fra-1" in problem.detail
    silent = fleet.refusal("workload.scale", params={"replicas": 6, "override": True}, reason="  ")
    assert (silent.code, [each.path for each in silent.errors]) == (ProblemCode.INVALID_VALUE, ["reason"])
    assert fleet.numbers() == before
    fleet.world.submit("workload.scale", "llama", params={"replicas": 6, "override": True}, reason="launch")
    assert set(fleet.numbers().values()) == {2}


def test_a_rival_of_a_sort_that_only_newer_operators_know_is_passed_over(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    rival = msgspec.structs.replace(HPA, kind="Oracle")
    fleet["fra-1"].tell(msgspec.structs.replace(fleet["fra-1"].graphs["llama"], rivals=[rival]))
    fleet.scale(6)
    assert fleet.deployment("fra-1").rivals == []


def test_an_undrain_that_needs_more_of_the_quota_is_held_against_it(fleet: Fleet) -> None:
    fleet.bind(replicas=5, policy=Policy(Division.DUPLICATED))
    fleet.settle()
    id_ = fleet.drain("sin-1")
    fleet.settle("sin-1")
    assert fleet.ended(id_)[0] == "succeeded"
    fleet.add_project("chat", {"nvidia.com/gpu": 40})
    problem = fleet.refusal("workload.undrain", cluster="sin-1")
    assert problem.code is ProblemCode.QUOTA_EXCEEDED
    assert "would use 60" in problem.detail
    fleet.add_project("chat", {"nvidia.com/gpu": 60})
    fleet.world.create("workload.undrain", "llama", cluster="sin-1")

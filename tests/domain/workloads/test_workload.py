"""A workload over its clusters: what is derived of each, and how each is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hangar.domain.ids import OperationId
from hangar.domain.workloads.graph import Desired
from hangar.domain.workloads.kind import Change, Hold, SetPaused, SetReplicas, TakeIn, TakeOut, changed
from hangar.domain.workloads.placement import Bounds, Division, Misfit, Policy, Weighing
from hangar.domain.workloads.workload import Deployment, DeploymentState, Workload, derived, gpus_of, placement
from tests.domain.building import OP
from tests.domain.workloads.building import (
    CLUSTERS,
    FRA,
    IAD,
    REF,
    SIN,
    a_deployment,
    a_graph,
    a_workload,
    after,
    numbers,
)

# --- one deployment ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "state"),
    [
        (a_deployment(), "ready"),
        (a_deployment(ready=1), "reconciling"),
        (a_deployment(is_written=False), "reconciling"),
        (a_deployment(graph=None), "missing"),
        (a_deployment(shape=None), "missing"),
        (a_deployment(graph=a_graph(5, rev=7)), "drifted"),
        (a_deployment(desired=0, drained_by=OP), "drained"),
        (a_deployment(drained_by=OP, is_written=False), "reconciling"),
    ],
)
def test_the_state_of_a_deployment(of: Deployment, state: str) -> None:
    assert of.state == state


def test_what_is_written_need_not_be_ready() -> None:
    assert a_deployment(ready=0).is_written
    assert not a_deployment(is_written=False).is_written
    assert not a_deployment(graph=a_graph(5, rev=7)).is_written
    assert not a_deployment(graph=None).is_written
    assert not a_deployment(graph=None).is_converged


def test_what_is_wanted_is_a_count_a_component_once_the_shape_is_known() -> None:
    assert a_deployment(shape={"prefill": 1, "decode": 2}).wanted == Desired(REF, 7, {"prefill": 2, "decode": 4})
    assert a_deployment(shape=None).wanted is None


def test_a_deployment_is_empty_when_no_pod_of_what_is_scaled_is_left() -> None:
    assert a_deployment(desired=0).is_empty
    assert not a_deployment(graph=a_graph(0, rev=7, pods=1)).is_empty
    assert not a_deployment(graph=None).is_empty
    assert not a_deployment(shape=None).is_empty
    assert a_deployment(shape={"gone": 1}).is_empty


def test_gpus_are_told_by_the_first_deployment_that_can() -> None:
    unseen = a_deployment(graph=None)
    assert gpus_of([unseen, a_deployment(shape={"decode": 2})]) == 8
    assert gpus_of([unseen]) is None
    assert gpus_of([]) is None


# --- what is derived --------------------------------------------------------------------------------------------------


def test_a_number_that_changes_gets_the_new_revision_and_the_others_keep_theirs() -> None:
    workload = after(a_workload(), SetReplicas(7), rev=99)
    assert [(each.desired, each.desired_rev) for each in workload.deployments] == [(3, 99), (2, 7), (2, 7)]


def test_a_revision_never_goes_back() -> None:
    workload = after(a_workload(), SetReplicas(9), rev=1)
    assert [each.desired_rev for each in workload.deployments] == [8, 8, 8]


def test_a_first_number_gets_a_revision_even_where_it_is_what_runs() -> None:
    new = a_workload(a_deployment(FRA, 2, desired_rev=0), replicas=2)
    assert [each.desired_rev for each in after(new, rev=99).deployments] == [99]


def test_what_others_changed_is_written_over_only_where_that_is_asked_for() -> None:
    workload = a_workload(a_deployment(FRA, graph=a_graph(5, rev=7)), a_deployment(IAD), a_deployment(SIN))
    assert derived(workload, 99) == workload
    renewed = derived(workload, 99, is_renewed=True)
    assert isinstance(renewed, Workload)
    assert [each.desired_rev for each in renewed.deployments] == [99, 7, 7]


def test_a_pause_places_nothing_and_a_hold_beats_the_placement() -> None:
    assert numbers(after(a_workload(), SetPaused(on=True))) == [0, 0, 0]
    assert numbers(after(a_workload(), Hold(IAD, 5))) == [2, 5, 2]
    assert numbers(after(a_workload(), TakeOut(SIN, OP))) == [3, 3, 2]
    assert numbers(after(after(a_workload(), TakeOut(SIN, OP)), Hold(SIN, None))) == [3, 3, 0]


def test_a_number_without_a_place_is_told_and_nothing_is_derived() -> None:
    workload = a_workload(policy=Policy(default_bounds=Bounds(0, 1)))
    assert placement(workload) == Misfit(6, 0, 3)
    assert derived(workload, 99) == Misfit(6, 0, 3)


bounds = st.builds(Bounds, st.integers(0, 2), st.none() | st.integers(2, 9))
policies = st.builds(
    Policy,
    division=st.sampled_from(Division),
    weighing=st.sampled_from(Weighing),
    weights=st.dictionaries(st.sampled_from(CLUSTERS), st.integers(0, 5)),
    bounds=st.dictionaries(st.sampled_from(CLUSTERS), bounds),
)
places = st.sampled_from(CLUSTERS)
changes: st.SearchStrategy[Change] = st.one_of(
    st.builds(SetReplicas, st.integers(0, 12)),
    st.builds(SetPaused, st.booleans()),
    st.builds(TakeOut, places, st.just(OperationId("op_9"))),
    st.builds(TakeIn, places),
    st.builds(Hold, places, st.none() | st.integers(0, 9)),
)


@given(policies, st.integers(0, 12), st.lists(st.tuples(changes, st.integers(0, 30)), max_size=8))
def test_revisions_only_rise_and_exactly_where_a_number_changes(
    policy: Policy, replicas: int, made: list[tuple[Change, int]]
) -> None:
    rows = [a_deployment(each, 0) for each in CLUSTERS]
    workload = a_workload(*rows, replicas=replicas, policy=policy)
    for change, rev in made:
        then = changed(workload, change)
        placed = derived(then, rev)
        if isinstance(placed, Misfit):
            continue
        for before, now in zip(workload.deployments, placed.deployments, strict=True):
            if now.desired == before.desired:
                assert now.desired_rev == before.desired_rev
            else:
                assert now.desired_rev >= max(rev, before.desired_rev + 1)
        workload = placed


@given(policies, st.integers(0, 12), st.lists(changes, max_size=8))
def test_what_is_derived_stays_when_it_is_derived_again(policy: Policy, replicas: int, made: list[Change]) -> None:
    workload = a_workload(*(a_deployment(each, 0) for each in CLUSTERS), replicas=replicas, policy=policy)
    for change in made:
        # What is held counts for nothing where numbers weigh themselves: then the rest shifts with every look.
        if not (isinstance(change, Hold | TakeOut) and policy.weighing is Weighing.FREE):
            workload = changed(workload, change)
        placed = derived(workload, 50)
        if isinstance(placed, Misfit):
            return
        assert derived(placed, 60) == placed
        workload = placed


def test_the_deployments_of_a_workload_are_found_by_their_clusters() -> None:
    workload = a_workload(a_deployment(FRA), a_deployment(IAD, drained_by=OP))
    assert workload.deployment(IAD) is workload.deployments[1]
    assert workload.deployment(SIN) is None
    assert workload.open_deployments == workload.deployments[:1]
    assert replace(workload, deployments=()).open_deployments == ()


# --- graphs that are to be created ------------------------------------------------------------------------------------


def test_a_graph_that_is_to_be_created_is_counted_and_waited_for_and_one_that_would_run_nothing_is_not() -> None:
    planned = a_graph(1, rev=None)
    wanted = a_deployment(graph=None, planned=planned)
    assert (wanted.state, wanted.described) == (DeploymentState.RECONCILING, planned)
    assert (wanted.is_written, wanted.is_converged, wanted.is_empty, wanted.ready) == (False, False, False, 0)
    assert gpus_of([wanted]) == 4
    spared = a_deployment(desired=0, graph=None, planned=planned)
    assert (spared.state, spared.is_written, spared.is_converged, spared.is_empty) == (
        DeploymentState.READY,
        True,
        True,
        True,
    )
    assert a_deployment(desired=0, graph=None).state is DeploymentState.MISSING

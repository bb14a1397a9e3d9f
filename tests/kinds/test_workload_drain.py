"""workload.drain: a cluster gives its share away, and lowers its own only as the others serve it."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hangar.domain.blockers import sentence
from hangar.domain.decision import End, Fail, Go
from hangar.domain.ids import ClusterName
from hangar.domain.limits import RIVAL_WATCH_S
from hangar.domain.operation import Phase
from hangar.domain.workloads.kind import Decided, Hold, TakeIn, TakeOut, WorkloadJob
from hangar.domain.workloads.placement import Bounds, Division, Policy
from hangar.domain.workloads.workload import Deployment, Workload
from hangar.kinds.workload_drain import KIND, DrainMemory, DrainParams, decide, refuse, touches
from tests.domain.building import NOON, OP, OTHER_OP, at
from tests.domain.workloads.building import (
    CLUSTERS,
    FRA,
    HPA,
    IAD,
    SIN,
    a_deployment,
    a_graph,
    a_job,
    a_workload,
    after,
    numbers,
    with_rivals,
)

MADE = DrainMemory(is_made=True, before={"fra-1": 2, "iad-1": 2, "sin-1": 2}, revs={"fra-1": 7, "iad-1": 7, "sin-1": 7})
ALLOWED = DrainParams(allow_outage=True)


def job(
    memory: DrainMemory = MADE, params: DrainParams | None = None, *, cluster: str = SIN, is_cancelled: bool = False
) -> WorkloadJob[DrainParams, DrainMemory]:
    return a_job(params or DrainParams(), memory, cluster=cluster, is_cancelled=is_cancelled)


def handing_over(fra: int, iad: int, held: int = 2, **fields: Any) -> Workload:
    """Three replicas each on two clusters, of which some are ready; the third holds some that it is to give away."""
    sin = a_deployment(SIN, held, drained_by=OP, held=held)
    return a_workload(a_deployment(FRA, 3, ready=fra), a_deployment(IAD, 3, ready=iad), sin, **fields)


def over(decided: Decided[DrainMemory]) -> tuple[Phase, str, str]:
    assert isinstance(decided.outcome, End)
    return decided.outcome.phase, decided.outcome.code, decided.outcome.message


# --- beginning --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workload", "params", "code"),
    [
        (a_workload(), DrainParams(), None),
        (a_workload(a_deployment(FRA)), DrainParams(), "not_deployed"),
        (a_workload(a_deployment(SIN)), DrainParams(), "only_cluster"),
        (a_workload(a_deployment(SIN)), ALLOWED, None),
        (a_workload(a_deployment(SIN), a_deployment(FRA, drained_by=OP)), DrainParams(), "only_cluster"),
        (a_workload(a_deployment(SIN, drained_by=OP)), DrainParams(), None),
    ],
)
def test_what_it_refuses(workload: Workload, params: DrainParams, code: str | None) -> None:
    fail = refuse(params, workload, SIN)
    assert (None if fail is None else fail.code) == code


def test_it_begins_by_leaving_the_cluster_out_at_the_number_it_has() -> None:
    decided = decide(job(DrainMemory()), a_workload(), NOON)
    assert isinstance(decided.outcome, Go)
    assert decided.outcome.memory == MADE
    assert decided.changes == (TakeOut(SIN, OP),)
    assert numbers(after(a_workload(), *decided.changes)) == [3, 3, 2]


@pytest.mark.parametrize(
    ("workload", "why"),
    [
        (a_workload(policy=Policy(default_bounds=Bounds(0, 2))), "6 replicas are out of its bounds"),
        (
            a_workload(a_deployment(FRA, room=0), a_deployment(IAD, room=9), a_deployment(SIN)),
            "fra-1 would have to run 1 more and has room for 0",
        ),
    ],
)
def test_without_room_elsewhere_it_fails_before_it_touches_anything(workload: Workload, why: str) -> None:
    decided = decide(job(DrainMemory()), workload, NOON)
    phase, code, message = over(decided)
    assert (phase, code, decided.changes) == (Phase.FAILED, "no_room", ())
    assert why in message
    assert message.endswith("nothing was changed")


def test_a_cluster_that_is_drained_already_says_by_what() -> None:
    drained = a_workload(a_deployment(FRA, 6), a_deployment(SIN, 0, drained_by=OTHER_OP))
    decided = decide(job(DrainMemory()), drained, NOON)
    assert over(decided) == (Phase.SUCCEEDED, "already_drained", "already drained by op_02")
    assert decided.changes == ()


def test_what_an_earlier_drain_left_behind_is_taken_up() -> None:
    left = a_workload(a_deployment(FRA, 6), a_deployment(SIN, 1, drained_by=OTHER_OP, held=1))
    decided = decide(job(DrainMemory()), left, NOON)
    assert decided.changes == (TakeOut(SIN, OP),)
    taken = after(left, *decided.changes).deployment(SIN)
    assert taken is not None
    assert (taken.drained_by, taken.held, taken.desired) == (OP, 1, 1)


# --- handing over -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fra", "iad", "changes"),
    [(2, 2, ()), (3, 2, (Hold(SIN, 1),)), (3, 3, (Hold(SIN, 0),)), (1, 2, ()), (0, 0, ())],
)
def test_it_lowers_by_what_the_others_serve_and_never_rises(fra: int, iad: int, changes: tuple[Hold, ...]) -> None:
    decided = decide(job(), handing_over(fra, iad), NOON)
    assert isinstance(decided.outcome, Go)
    assert decided.changes == changes


def test_while_it_waits_it_names_what_is_not_ready_and_what_stays() -> None:
    decided = decide(job(), handing_over(3, 2), NOON)
    assert isinstance(decided.outcome, Go)
    assert [(each.code, each.subject) for each in decided.outcome.blockers] == [
        ("not_ready", "iad-1/serving/llama"),
        ("taking_over", "sin-1/serving/llama"),
    ]
    assert decided.outcome.progress.message == "handed over 1 of 2 replicas"


@pytest.mark.parametrize(
    ("workload", "params"),
    [
        (handing_over(0, 0, is_paused=True), None),
        (replace(handing_over(1, 0), policy=Policy(Division.DUPLICATED)), None),
        (replace(handing_over(0, 0), policy=Policy(Division.DUPLICATED)), ALLOWED),
        (a_workload(a_deployment(SIN, drained_by=OP, held=2)), ALLOWED),
    ],
    ids=["paused", "duplicated", "duplicated, and an outage is allowed", "an outage is allowed"],
)
def test_where_nobody_takes_over_nothing_is_waited_for(workload: Workload, params: DrainParams | None) -> None:
    assert decide(job(params=params), workload, NOON).changes == (Hold(SIN, 0),)


def test_the_last_cluster_that_serves_a_duplicated_workload_stays_until_another_one_does() -> None:
    decided = decide(job(), replace(handing_over(0, 0), policy=Policy(Division.DUPLICATED)), NOON)
    assert isinstance(decided.outcome, Go)
    assert decided.changes == ()
    assert [each.code for each in decided.outcome.blockers] == ["not_ready", "not_ready", "taking_over"]


@pytest.mark.parametrize(
    ("sin", "code"),
    [
        (a_deployment(SIN, 0, is_written=False, drained_by=OP, held=0), "not_written"),
        (a_deployment(SIN, 0, graph=a_graph(0, rev=7, pods=1), drained_by=OP, held=0), "leaving"),
    ],
)
def test_it_waits_for_the_last_pod(sin: Deployment, code: str) -> None:
    workload = a_workload(a_deployment(FRA, 3), a_deployment(IAD, 3), sin)
    decided = decide(job(), workload, NOON)
    assert isinstance(decided.outcome, Go)
    assert [each.code for each in decided.outcome.blockers] == [code]


def test_it_is_over_when_the_cluster_is_empty_and_no_longer_held() -> None:
    workload = handing_over(3, 3, held=0)
    decided = decide(job(), workload, NOON)
    assert over(decided) == (Phase.SUCCEEDED, "drained", "drained: 2 replicas left sin-1")
    assert decided.changes == (Hold(SIN, None),)
    assert numbers(after(workload, *decided.changes)) == [3, 3, 0]


# --- stopping ---------------------------------------------------------------------------------------------------------


def test_a_cancel_takes_the_cluster_in_and_leaves_all_where_they_are() -> None:
    iad = a_deployment(IAD, 3, is_written=False)
    workload = replace(handing_over(3, 0), deployments=(a_deployment(FRA, 3), iad, handing_over(3, 0).deployments[2]))
    decided = decide(job(is_cancelled=True), workload, NOON)
    assert over(decided)[:2] == (Phase.CANCELLED, "cancelled")
    assert decided.changes == (TakeIn(SIN), Hold(FRA, 3), Hold(IAD, 2), Hold(SIN, 2))
    assert over(decided)[2].endswith("held until the next scale: fra-1 at 3, iad-1 at 2, sin-1 at 2")


def test_at_its_deadline_it_fails_and_the_cluster_stays_out() -> None:
    decided = decide(job(), handing_over(2, 2), at(60))
    assert over(decided)[:2] == (Phase.FAILED, "deadline_exceeded")
    assert decided.changes == ()


def test_a_deployment_that_went_away_fails_it() -> None:
    decided = decide(job(), a_workload(a_deployment(FRA)), NOON)
    assert over(decided) == (Phase.FAILED, "deployment_gone", "llama is not deployed on sin-1 any more")


def test_the_kind_is_what_the_contract_says() -> None:
    assert (KIND.name, KIND.needs, KIND.is_per_cluster) == ("workload.drain", "scale", True)
    assert touches(a_workload(), SIN) == CLUSTERS
    assert isinstance(refuse(DrainParams(), a_workload(a_deployment(FRA)), None), Fail)


# --- played to its end ------------------------------------------------------------------------------------------------


@dataclass
class Play:
    """A drain of sin-1 that is decided again after whatever its clusters do."""

    workload: Workload
    memory: DrainMemory
    rev: int = 10
    phase: Phase | None = None

    def decide(self) -> None:
        """Decide until nothing changes, and hold each change against what the others serve."""
        while self.phase is None:
            before = self.here.desired
            decided = decide(job(self.memory), self.workload, NOON)
            self.rev += 1
            self.workload = after(self.workload, *decided.changes, rev=self.rev)
            if self.here.desired < before:
                assert self.here.desired + self.served >= self.workload.replicas
            assert self.here.desired <= before
            if isinstance(decided.outcome, End):
                self.phase = decided.outcome.phase
                return
            self.memory = decided.outcome.memory
            if not decided.changes:
                return

    @property
    def here(self) -> Deployment:
        """Return the deployment that is drained."""
        found = self.workload.deployment(SIN)
        assert found is not None
        return found

    @property
    def served(self) -> int:
        """Return how many replicas the other clusters have ready, of those that they are to have."""
        rows = [each for each in self.workload.deployments if each.cluster != SIN]
        counts = [(each, each.graph.components[1].counts) for each in rows if each.graph is not None]
        return sum(min(each.desired, found.ready) for each, found in counts if found is not None)

    def act(self, cluster: str, *, writes: bool, ready: int, pods: int) -> None:
        """Let a cluster write what is desired, or not, and have so many of what it is asked for."""
        rows = []
        for each in self.workload.deployments:
            graph = each.graph
            if each.cluster == cluster and graph is not None:
                asked = each.desired if writes else graph.components[1].replicas
                rev = each.desired_rev if writes else graph.applied_rev
                rows.append(replace(each, graph=a_graph(asked, rev=rev, ready=min(ready, asked), pods=pods)))
            else:
                rows.append(each)
        self.workload = replace(self.workload, deployments=tuple(rows))
        self.decide()


weights = st.dictionaries(st.sampled_from(CLUSTERS), st.integers(0, 4))
acts = st.tuples(st.sampled_from(CLUSTERS), st.booleans(), st.integers(0, 9), st.integers(0, 9))


@given(st.integers(0, 9), weights, st.lists(acts, max_size=20))
def test_a_drain_never_lowers_a_cluster_below_what_the_others_do_not_serve_yet(
    replicas: int, weight: dict[ClusterName, int], made: list[tuple[ClusterName, bool, int, int]]
) -> None:
    policy = Policy(weights=weight)
    placed = after(a_workload(*(a_deployment(each, 0) for each in CLUSTERS), replicas=replicas, policy=policy))
    settled = tuple(replace(each, graph=a_graph(each.desired, rev=each.desired_rev)) for each in placed.deployments)
    play = Play(replace(placed, deployments=settled), DrainMemory())
    play.decide()
    for cluster, writes, ready, pods in made:
        play.act(cluster, writes=writes, ready=ready, pods=pods)
    for _ in range(2):
        for each in CLUSTERS:
            found = play.workload.deployment(each)
            assert found is not None
            play.act(each, writes=True, ready=found.desired, pods=found.desired)
    assert play.phase is Phase.SUCCEEDED
    assert play.here.desired == 0
    assert sum(numbers(play.workload)) == replicas


# --- rivals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", [SIN, FRA])
def test_a_drain_that_an_autoscaler_writes_against_is_refused_unless_that_is_overridden(where: ClusterName) -> None:
    rows = [a_deployment(each) for each in CLUSTERS]
    workload = a_workload(*(with_rivals(each, HPA) if each.cluster == where else each for each in rows))
    fail = refuse(DrainParams(), workload, SIN)
    assert fail is not None
    assert (fail.code, f"serving/llama on {where}" in fail.message) == ("rival_owner", True)
    assert ("minReplicas" in fail.message) == (where == SIN)
    assert refuse(DrainParams(override=True), workload, SIN) is None


# --- what somebody changes back ---------------------------------------------------------------------------------------


def written_at(
    rev: int, cluster: ClusterName, desired: int, has: int, by: str = "kubectl-edit", **fields: Any
) -> Deployment:
    """Return a deployment that was written at a revision, and has another number by now where that is given."""
    graph = a_graph(has, rev=rev, by=by)
    return replace(a_deployment(cluster, desired, graph=graph, **fields), desired_rev=rev)


def test_a_number_of_those_that_take_over_that_was_changed_back_ends_it() -> None:
    sin = a_deployment(SIN, 2, drained_by=OP, held=2)
    workload = a_workload(written_at(8, FRA, 3, 2), a_deployment(IAD, 3), sin)
    decided = decide(job(), workload, NOON)
    assert over(decided)[:2] == (Phase.FAILED, "reverted")
    assert over(decided)[2] == (
        "handed over 1 of 2 replicas; changed back: fra-1/serving/llama: kubectl-edit has set decode to 2 instead of "
        "3. What is wanted stays, and is not written again by itself; sin-1 stays out of the placement"
    )
    assert decided.changes == ()


def test_while_others_may_still_take_over_a_change_back_is_only_a_blocker() -> None:
    sin = a_deployment(SIN, 2, drained_by=OP, held=2)
    workload = a_workload(written_at(8, FRA, 3, 2), a_deployment(IAD, 3, ready=2), sin)
    decided = decide(job(), workload, NOON)
    assert isinstance(decided.outcome, Go)
    assert [each.code for each in decided.outcome.blockers] == ["drifted", "not_ready", "taking_over"]


def test_a_drained_cluster_that_is_scaled_up_again_ends_it_by_the_name_of_its_rival() -> None:
    sin = with_rivals(written_at(9, SIN, 0, 2, "kube-controller-manager", drained_by=OP, held=0), HPA)
    workload = a_workload(a_deployment(FRA, 3), a_deployment(IAD, 3), sin)
    phase, code, message = over(decide(job(), workload, NOON))
    assert (phase, code) == (Phase.FAILED, "reverted")
    assert "sin-1/serving/llama: HorizontalPodAutoscaler llama has set decode to 2 instead of 0" in message


def test_an_empty_cluster_that_a_rival_may_fill_again_has_to_stay_empty_for_a_while() -> None:
    empty = a_deployment(SIN, 0, drained_by=OP, held=0)
    workload = a_workload(a_deployment(FRA, 3), a_deployment(IAD, 3), with_rivals(empty, HPA))
    memory = replace(MADE, revs={"fra-1": 6, "iad-1": 6, "sin-1": 6})
    first = decide(job(memory), workload, NOON).outcome
    assert isinstance(first, Go)
    assert (first.memory.stands_since, first.recheck_at) == (NOON, at(RIVAL_WATCH_S))
    assert [each.code for each in first.blockers] == ["rival_watched"]
    standing = job(first.memory)
    assert over(decide(standing, workload, at(RIVAL_WATCH_S)))[:2] == (Phase.SUCCEEDED, "drained")
    filled = with_rivals(a_deployment(SIN, 0, drained_by=OP, held=0, graph=a_graph(2, rev=7)), HPA)
    back = replace(workload, deployments=(*workload.deployments[:2], filled))
    assert over(decide(standing, back, at(5)))[:2] == (Phase.FAILED, "reverted")


# --- absent clusters --------------------------------------------------------------------------------------------------


def test_what_an_offline_cluster_had_ready_does_not_count_as_taken_over_and_that_is_said() -> None:
    iad = a_deployment(IAD, 3, is_online=False)
    workload = a_workload(a_deployment(FRA, 3), iad, a_deployment(SIN, 2, drained_by=OP, held=2))
    decided = decide(job(), workload, NOON)
    assert isinstance(decided.outcome, Go)
    assert decided.changes == ()
    [waits] = decided.outcome.blockers
    assert sentence(waits) == (
        "sin-1/serving/llama stays at 2 replicas until others are ready: 3 of 6 are; not counted, as offline: iad-1"
    )
    back = replace(workload, deployments=(*workload.deployments[:1], a_deployment(IAD, 3), *workload.deployments[2:]))
    assert decide(job(), back, NOON).changes == (Hold(SIN, 0),)


def test_a_cluster_that_is_offline_and_serves_nothing_is_not_missed() -> None:
    workload = a_workload(
        a_deployment(FRA, 6), a_deployment(IAD, 0, is_online=False), a_deployment(SIN, 2, drained_by=OP, held=2)
    )
    assert decide(job(), workload, NOON).changes == (Hold(SIN, 0),)

"""What a drain waits for: pods that end, and those that a budget or an owner is held for."""

from hangar.domain.blockers import blocker, sentence
from hangar.domain.decision import Answered, Unknown
from hangar.domain.ids import NodeName, NodeUid, PodUid
from hangar.domain.limits import LANDING_MAX_S, RETRY_MAX_S
from hangar.domain.moves import Tally, TrackedPod
from hangar.domain.snapshot import PodPhase
from hangar.domain.view import Claims
from hangar.domain.waits import landed_at, not_gone, unavailable
from tests.domain.building import (
    API,
    NOON,
    OTHER_OP,
    a_budget,
    a_pod,
    a_ref,
    a_view,
    an_owner,
    at,
    pending,
    terminating,
    uids,
)

A = a_pod("a")
SPENT = (A, blocker("budget_spent", "default/a", budget="pdb default/api", needs=2, has=2))
LAST = (A, blocker("last_ready", "default/a", owner="deployment default/api", needs=2, has=1))


def test_what_ends_or_may_end_is_named_with_what_holds_it() -> None:
    held = terminating("b", waiting="held by finalizers: example.com/disk")
    count = Tally((), (), (terminating("a"), held), (a_pod("c"),), (a_pod("d"),))
    assert [sentence(each) for each in not_gone(count)] == [
        "default/a is terminating",
        "default/b is terminating (held by finalizers: example.com/disk)",
        "default/c was sent an eviction whose outcome is unknown; it may still land",
    ]


# --- evictions of unknown outcome -------------------------------------------------------------------------------------


def test_an_eviction_may_land_from_when_it_was_sent_or_its_outcome_became_unknown() -> None:
    tracked = TrackedPod(a_ref("a"), API, sent_at=NOON)
    assert landed_at(tracked, None, at(1)) == at(LANDING_MAX_S)
    assert landed_at(tracked, Answered(Unknown("timed out"), at(8)), at(36)) == at(8 + LANDING_MAX_S)
    assert landed_at(tracked, Answered(Unknown("of an earlier try"), at(-60)), at(1)) == at(LANDING_MAX_S)


def test_it_is_never_looked_at_again_in_the_past() -> None:
    assert landed_at(TrackedPod(a_ref("a"), API, sent_at=NOON), None, at(60)) == at(60 + RETRY_MAX_S)
    assert landed_at(TrackedPod(a_ref("a"), API), None, at(60)) == at(60 + LANDING_MAX_S)


# --- for whom ---------------------------------------------------------------------------------------------------------


def test_a_budget_is_held_by_its_pods_that_do_not_serve_each_for_its_own_reason() -> None:
    claims = {OTHER_OP: Claims((NodeName("n2"), NodeUid("n2-uid")), {}, {PodUid("c"): NOON, PodUid("d"): NOON})}
    view = a_view(
        A,
        a_pod("b", ready=False, waiting="CrashLoopBackOff"),
        terminating("c"),
        a_pod("d"),
        terminating("e"),
        pending("f"),
        a_pod("g", phase=PodPhase.FAILED, ready=False),
        a_pod("h"),
        a_budget(),
        claims=claims,
        leaving=uids("d"),
    )
    (told,) = unavailable([SPENT], view)
    assert sentence(told) == (
        "pdb default/api has pods that do not serve: default/b: CrashLoopBackOff; default/c is moved by op_02; "
        "default/d is moved by op_02; default/e is terminating; default/f: not ready"
    )


def test_an_owner_is_held_by_its_pods_of_whatever_label() -> None:
    view = a_view(A, pending("b", labels={}, waiting="ImagePullBackOff"), an_owner())
    (told,) = unavailable([LAST], view)
    assert sentence(told) == "deployment default/api has pods that do not serve: default/b: ImagePullBackOff"


def test_each_budget_is_told_once_and_one_without_such_pods_not_at_all() -> None:
    other = (a_pod("z"), SPENT[1])
    view = a_view(A, a_pod("z"), a_budget())
    assert unavailable([SPENT, other], view) == ()
    assert len(unavailable([SPENT, other], a_view(A, a_pod("z"), pending("b"), a_budget()))) == 1


def test_other_blockers_name_all_there_is_to_say_themselves() -> None:
    assert unavailable([(A, blocker("retry", "default/a", why="conflict"))], a_view(A, pending("b"), a_budget())) == ()

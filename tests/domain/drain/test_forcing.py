"""Force: who is deleted, with how much grace, and never twice."""

import pytest

from hangar.domain.blockers import sentence
from hangar.domain.decision import Accepted, Answer, Busy, Delete, Denied, Fail, Gone, Unknown
from hangar.domain.drain.forcing import Forcing, delete
from hangar.domain.drain.moves import TrackedPod
from hangar.domain.limits import DENIED_TRIES_MAX
from hangar.domain.snapshot import Pod
from hangar.domain.view import key_of
from tests.domain.building import API, NOON, OP, a_pod, a_ref, a_view, an_answer, at, terminating

A = a_pod("a")
STEP = Delete(A.ref, 1)


def forced(*pods: Pod, answer: Answer | None = None, tries: int = 1, seconds: float = 0, grace_s: int = 1) -> Forcing:
    answers = {} if answer is None else an_answer(STEP, answer, tries=tries)
    return delete(OP, pods, grace_s, a_view(*pods, answers=answers), at(seconds))


def test_what_is_there_is_deleted_with_what_is_left_of_its_grace() -> None:
    """C61: at the deadline no pod gets its full kill time-out any more."""
    ending = terminating("b", seconds=480)
    assert forced(A, ending).steps == (Delete(A.ref, 1), Delete(ending.ref, 1))


def test_what_ends_as_soon_by_itself_is_left_alone_unless_its_node_is_down() -> None:
    ending = terminating("b", seconds=1)
    assert forced(ending).steps == ()
    assert forced(ending, grace_s=0).steps == (Delete(ending.ref, 0),)


@pytest.mark.parametrize("answer", [Accepted(), Gone()])
def test_what_was_told_is_not_told_again(answer: Answer) -> None:
    assert forced(A, answer=answer, seconds=60).steps == ()


def test_what_is_under_way_is_not_sent_again() -> None:
    view = a_view(A, in_flight=frozenset({key_of(OP, STEP)}))
    assert delete(OP, (A,), 1, view, NOON) == Forcing()


@pytest.mark.parametrize("answer", [Busy("x"), Unknown("x"), Denied("x")])
def test_trouble_is_waited_out_and_tried_again(answer: Answer) -> None:
    waits = forced(A, answer=answer, seconds=0.1)
    assert (waits.steps, waits.recheck_at) == ((), at(0.2))
    assert [sentence(each) for each in waits.blockers] == ["default/a is tried again (its deletion): x"]
    assert forced(A, answer=answer, seconds=0.2).steps == (STEP,)


def test_a_refusal_that_stays_is_the_end() -> None:
    why = forced(A, answer=Denied("no delete on pods"), tries=DENIED_TRIES_MAX, seconds=60).denied
    assert why == Fail("deletion_denied", "the cluster refuses to delete default/a: no delete on pods")


def test_it_is_remembered_before_it_is_done_and_only_once() -> None:
    pods = {A.ref.uid: TrackedPod(a_ref("a"), API, sent_at=at(-60))}
    first = forced(A).remembered(pods, NOON)
    assert (first[A.ref.uid].forced_at, first[A.ref.uid].sent_at) == (NOON, at(-60))
    assert forced(A).remembered(first, at(5)) == first

"""What a drain's pods are called by those who know the workloads they serve."""

from dataclasses import replace

import pytest

from hangar.domain.blockers import blocker, sentence
from hangar.domain.decision import Blocker
from hangar.domain.drain.moves import TrackedPod
from hangar.domain.drain.naming import as_facts, named, words_for, workload_of
from hangar.domain.view import View
from hangar.domain.workloads.members import Part
from tests.domain.building import API, CHAT, LLAMA, NOON, a_ref, a_view

DECODE, PREFILL = Part(LLAMA, "decode"), Part(LLAMA, "prefill")
SERVING = a_view(workloads={LLAMA: CHAT})
GROUP = "leaderworkerset default/llama group 0"
PODS = [
    TrackedPod(a_ref("a"), API, part=DECODE, group=GROUP),
    TrackedPod(a_ref("b"), None, part=PREFILL),
    TrackedPod(a_ref("c"), None),
]


def told(of: Blocker, view: View = SERVING) -> Blocker:
    (found,) = named([of], PODS, view)
    return found


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (blocker("ordered", "default/a"), "default/a (decode of chat) is critical"),
        (blocker("ordered", "default/b"), "default/b (prefill of chat) is critical"),
        (blocker("ordered", GROUP), f"{GROUP} (decode of chat) is critical"),
        (
            blocker("loading", "deployment default/api", has=1, needs=2, unit="pod", loading=""),
            "deployment default/api (decode of chat) has 1 of 2",
        ),
        (blocker("ordered", "default/c"), "default/c is critical"),
    ],
    ids=["a pod", "a pod without an owner", "a group", "an owner", "of no graph"],
)
def test_a_subject_that_is_of_a_graph_is_named_with_its_workload_and_component(of: Blocker, words: str) -> None:
    assert sentence(told(of)).startswith(words)


def test_the_names_are_among_the_facts() -> None:
    found = told(blocker("stuck", "default/a", due_at="noon", held=""))
    assert dict(found.facts) == {"component": "decode", "due_at": "noon", "held": "", "workload": "chat"}
    assert told(blocker("ordered", "default/c")).facts == {}


@pytest.mark.parametrize(
    ("pods", "component"),
    [(["default/a"], "decode"), (["default/a", "default/b"], None), (["default/a", "default/c"], None), ([], None)],
)
def test_a_budget_keeps_its_name_and_says_of_which_component_all_its_pods_are(
    pods: list[str], component: str | None
) -> None:
    of = blocker("budget_behind", "pdb default/api", pods=pods)
    found = told(of)
    assert found.subject == of.subject
    assert found.facts.get("component") == component
    assert found.facts["pods"] == pods


def test_a_graph_that_serves_no_workload_is_named_itself() -> None:
    nobody = a_view()
    assert words_for(DECODE, nobody) == "decode of graph serving/llama"
    assert as_facts(DECODE, nobody) == {"workload": None, "component": "decode"}
    assert as_facts(DECODE, SERVING) == {"workload": "chat", "component": "decode"}
    assert as_facts(None, SERVING) == {}
    assert (workload_of(None, SERVING), workload_of(DECODE, SERVING)) == (None, "chat")


def test_a_pod_keeps_its_names_after_it_is_gone() -> None:
    """All that is left of it then is the drain's memory."""
    tracked = [replace(each, sent_at=NOON) for each in PODS]
    (found,) = named([blocker("landing", "default/a")], tracked, SERVING)
    assert found.facts["component"] == "decode"

"""Why an operation waits: the codes of blockers, what each carries, and the sentence made of it.

Sentences are made here, once, for the API, the CLI, the console and the events; nothing reads them back.
"""

from collections.abc import Mapping, Sequence
from string import Formatter
from types import MappingProxyType

from hangar.domain.decision import Blocker, Fact
from hangar.domain.limits import NAMED_MAX

SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        "awaiting_confirmation": "waiting to see {subject} {state}",
        "budget_behind": "{subject} holds back {pods}: its count is behind its pods",
        "budget_crossed": "waiting for {operation}, the older drain: it holds {subject}, "
        "and waits for a budget that this one holds",
        "budget_never": "{subject} holds back {pods}: needs {needs} has {has}, and can never allow one; "
        "scale up, relax the budget, or drain with skip_fit_check",
        "budget_ours": "{subject} holds back {pods}: needs {needs} has {has}; on their way: {missing}",
        "budget_spent": "{subject} holds back {pods}: needs {needs} has {has}; "
        "it may count an earlier eviction, for two minutes",
        "budget_unhealthy": "{subject} holds back {pods}: needs {needs} has {has}; not ready: {missing}",
        "budget_unsynced": "{subject} holds back {pods}: its controller cannot compute it: {why}",
        "collected": "{subject} is left to the garbage collector, since {node} is gone",
        "drifted": "{subject} was changed by {by} after it was written: it is to have {wants} replicas",
        "graph_missing": "{subject} is not there, or does not tell what a replica of it is",
        "graph_paused": "{subject} carries nvidia.com/paused: somebody asked its operator to leave it alone",
        "in_flight": "waiting for the answer to {steps} call(s) already sent",
        "landing": "{subject} was sent an eviction whose outcome is unknown; it may still land",
        "last_ready": "{subject} is the last ready {unit} of {owner}, which has {has} of {needs} ready; "
        "the others: {missing}",
        "leaving": "{subject} still has {pods} pod(s) that have not ended",
        "loading": "{subject} has {has} of {needs} {unit}s ready off the draining nodes{loading}",
        "namespace_terminating": "{subject} goes with its namespace, which is being deleted",
        "not_created": "{subject} is to be created with {wants} replicas, and its operator has not done that yet{why}",
        "not_ready": "{subject} has {has} of {needs} replicas ready{why}",
        "not_written": "{subject} is to have {wants} replicas, and its operator has not written that yet{why}",
        "ordered": "{subject} is critical and waits until the other pods have left",
        "orphaned": "{subject} belongs to {owner}, which is not seen; it counts as gone after {settle_s} s",
        "paced": "{subject} waits its turn: the operator evicts at most {evictions_max} pods a minute",
        "retry": "{subject} is tried again ({trouble}): {why}",
        "rival_watched": "{subject} is written, and is watched for {watch_s} s: {rival} may put it back",
        "settling": "waiting {settle_s} s for {subject} to react to the cordon: {why}",
        "several_budgets": "{subject} is guarded by {budgets}, and the eviction API takes one at most",
        "stuck": "{subject} ought to have ended by {due_at}{held}",
        "taking_over": "{subject} stays at {has} replicas until others are ready: {ready} of {needs} are{away}",
        "terminating": "{subject} is terminating until {due_at} at the latest{held}",
        "unconfirmed": "{subject} was told to end, and {node}, whose kubelet is silent, does not confirm that it has",
        "unreadable": "cannot read {subject}",
    }
)


def blocker(code: str, subject: str, **facts: Fact) -> Blocker:
    """Return a blocker, checked against its sentence: every fact that the sentence names must be there."""
    named = {name for _, name, _, _ in Formatter().parse(SENTENCES[code]) if name} - {"subject"}
    if missing := named - facts.keys():
        raise ValueError(f"a blocker {code} needs the facts {sorted(missing)}")
    return Blocker(code, subject, MappingProxyType(dict(sorted(facts.items()))))


def sentence(of: Blocker) -> str:
    """Return the one line that people read for a blocker."""
    facts = {name: _text(fact) for name, fact in of.facts.items()}
    return SENTENCES[of.code].format_map({"subject": of.subject, **facts})


def listed(sentences: Sequence[str], joint: str = "; ") -> str:
    """Return sentences on one line: the first NAMED_MAX of them, and how many more there are."""
    more = len(sentences) - NAMED_MAX
    return joint.join(sentences[:NAMED_MAX]) + (f"{joint}and {more} more" if more > 0 else "")


def in_order(blockers: tuple[Blocker, ...]) -> tuple[Blocker, ...]:
    """Return blockers sorted, so that an unchanged world gives an unchanged text."""
    return tuple(sorted(blockers, key=lambda each: (each.code, each.subject)))


def _text(fact: Fact) -> str:
    """Return a fact as a sentence shows it: rows of pods as `pod: why`."""
    if not isinstance(fact, list):
        return str(fact)
    if not fact:
        return "none seen yet"
    return listed([each if isinstance(each, str) else f"{each['pod']}: {each['why']}" for each in fact], ", ")

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
        "budget_behind": "{subject} waits for {budget}, whose count is behind its pods",
        "budget_spent": "{subject} waits for {budget}: needs {needs} has {has}",
        "budget_unsynced": "{subject} waits for {budget}, which its controller cannot compute: {why}",
        "in_flight": "waiting for the answer to {steps} call(s) already sent",
        "landing": "{subject} was sent an eviction whose outcome is unknown; it may still land",
        "last_ready": "{subject} is the last ready pod of {owner}, which has {has} of {needs} ready",
        "loading": "{subject} has {has} of {needs} pods ready off the draining nodes{loading}",
        "orphaned": "{subject} belongs to {owner}, which is not seen; it counts as gone after {settle_s} s",
        "retry": "{subject} is tried again: {why}",
        "settling": "waiting {settle_s} s for {subject} to react to the cordon: {why}",
        "several_budgets": "{subject} is guarded by {budgets}, and the eviction API takes one at most",
        "terminating": "{subject} is terminating{held}",
        "unavailable": "{subject} has pods that do not serve: {pods}",
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
    return SENTENCES[of.code].format_map({"subject": of.subject, **of.facts})


def listed(sentences: Sequence[str]) -> str:
    """Return sentences on one line: the first NAMED_MAX of them, and how many more there are."""
    more = len(sentences) - NAMED_MAX
    return "; ".join(sentences[:NAMED_MAX]) + (f"; and {more} more" if more > 0 else "")


def in_order(blockers: tuple[Blocker, ...]) -> tuple[Blocker, ...]:
    """Return blockers sorted, so that an unchanged world gives an unchanged text."""
    return tuple(sorted(blockers, key=lambda each: (each.code, each.subject)))

"""Names the workload and component beside each pod of a graph: people know `decode of llama-3-8b`, not its pods."""

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

from hangar.domain.decision import Blocker, Fact
from hangar.domain.drain.moves import TrackedPod
from hangar.domain.ids import WorkloadName
from hangar.domain.owners import name_of
from hangar.domain.view import View
from hangar.domain.workloads.members import Part


def workload_of(part: Part | None, view: View) -> WorkloadName | None:
    """Return the workload that a graph's component serves, None where nobody has bound the graph to one."""
    return view.workloads.get(part.graph) if part is not None else None


def words_for(part: Part, view: View) -> str:
    """Return what a component is in words: `decode of llama-3-8b`, or of its graph where that serves no workload."""
    return f"{part.component} of {workload_of(part, view) or f'graph {part.graph}'}"


def as_facts(part: Part | None, view: View) -> dict[str, str | int | None]:
    """Return what a row on a pod says of its workload, nothing where it is of no graph."""
    return {} if part is None else {"workload": workload_of(part, view), "component": part.component}


def named(blockers: Iterable[Blocker], pods: Iterable[TrackedPod], view: View) -> tuple[Blocker, ...]:
    """Return the blockers of a drain, those that name a pod of a graph with its workload and component.

    A subject that is such a pod, its group or its owner says so itself; a budget only in its facts, where all the pods
    that it holds back are of one component.
    """
    parts: dict[str, Part] = {}
    for each in pods:
        if each.part is not None:
            parts[str(each.ref)] = each.part
            parts |= {each.group: each.part} if each.group is not None else {}
            parts |= {name_of(each.owner, each.ref.namespace): each.part} if each.owner is not None else {}
    return tuple(_named(each, parts, view) for each in blockers)


def _named(blocker: Blocker, parts: dict[str, Part], view: View) -> Blocker:
    part = parts.get(blocker.subject)
    if part is not None:
        subject = f"{blocker.subject} ({words_for(part, view)})"
        return replace(_with_facts(blocker, part, view), subject=subject)
    held = blocker.facts.get("pods")
    of = {parts.get(each) for each in held if isinstance(each, str)} if isinstance(held, list) else set()
    (common,) = of if len(of) == 1 else (None,)
    return blocker if common is None else _with_facts(blocker, common, view)


def _with_facts(blocker: Blocker, part: Part, view: View) -> Blocker:
    facts: dict[str, Fact] = {**blocker.facts, **as_facts(part, view)}
    return replace(blocker, facts=MappingProxyType(dict(sorted(facts.items()))))

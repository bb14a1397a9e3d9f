"""Pages about operations: kinds, how they end, what they wait for, events."""

import dataclasses
from collections.abc import Mapping
from string import Formatter
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hangar.cli.durations import exact
from hangar.cli.flags import flag_of
from hangar.domain.blockers import SENTENCES
from hangar.domain.decision import Step
from hangar.domain.kind import Kind
from hangar.domain.workloads.kind import Change, WorkloadKind
from hangar.hub.sentences import event_sentence
from hangar.hub.store.tx import EventType
from hangar.kinds import KINDS, WORKLOAD_KINDS
from tools.reference import sources
from tools.reference.markdown import code, codes, page, sentence, table

HOW_TO = "../how-to/when-a-drain-waits-or-fails.md"

EXAMPLE: Mapping[str, object] = {
    "type": "node.drain",
    "target": "iad-1-n02",
    "reason": "firmware upgrade",
    "progress": {"message": "evicted 1/3, rescheduled 1/3"},
    "attempts": 2,
    "released": False,
    "last_seen_at": "2026-10-27T12:34:56.789Z",
    "holder": "5f0c2a",
    "standby": "91be07",
    "was_cordoned": True,
    "is_cordoned": False,
    "role": "maintainer",
    "id": "tok_01JC…",
    "kept_rev": 48213,
    "replicas": 4,
    "before": 6,
    "graph": "dynamo/llama-3-8b",
    "fate": "left as it is",
    "desired": 2,
    "by": "kubectl-edit",
}
MESSAGES = {
    EventType.OPERATION_SUCCEEDED: "evicted_replicas=3",
    EventType.OPERATION_FAILED: "serving/llama-0 needs 8 nvidia.com/gpu on one node, at most 4 are free on one",
    EventType.OPERATION_CANCELLED: "cancelled: 1 moved, 1 terminating, 1 not touched",
}
NAMES = {
    "operation": "op_01JC…",
    "cluster": "iad-1",
    "node": "iad-1-n02",
    "project": "serving",
    "workload": "llama-3-8b",
    "deployment": "llama-3-8b",
    "token": "alice",
    "hub": "hub",
}


def kinds() -> str:
    """Return the page of kinds: what each takes, and all that it may do to a cluster."""
    steps = [(code(step.__name__), sentence(step.__doc__ or "")) for step in get_args(Step)]
    changes = [(code(change.__name__), sentence(change.__doc__ or "")) for change in get_args(Change)]
    return page(
        "Kinds of operations",
        "Ask for one with `hgr operation create KIND TARGET`, or `POST /v1/operations`.",
        *(_kind(kind, _node_facts(kind)) for kind in KINDS.values()),
        *(_kind(kind, _workload_facts(kind)) for kind in WORKLOAD_KINDS.values()),
        "## Steps\n\nAll that Wingsmith ever does to a cluster:",
        table(("step", "what it does"), steps),
        "## Changes\n\nAll that an operation ever does to a workload; its numbers on each cluster follow:",
        table(("change", "what it does"), changes),
    )


def _node_facts(kind: Kind[Any, Any]) -> str:
    steps = codes(step.__name__ for step in kind.steps)
    return f"{kind.title}. Version {kind.version}. The cluster must allow {code(kind.needs)}. Its steps: {steps}."


def _workload_facts(kind: WorkloadKind[Any, Any]) -> str:
    about = "It is about one cluster, given beside the target." if kind.is_per_cluster else "It is about all clusters."
    return (
        f"{kind.title}. Version {kind.version}. Each cluster that it touches must allow {code(kind.needs)}. {about} "
        "The hub decides it; operators write what is desired of their graphs."
    )


def _kind(kind: Kind[Any, Any] | WorkloadKind[Any, Any], facts: str) -> str:
    hints = get_type_hints(kind.params)
    rows = [
        (
            code(field.name),
            code(flag_of(field.name)),
            _type_of(hints[field.name]),
            _default(field),
            _bounds(field),
            _meaning(field),
        )
        for field in dataclasses.fields(kind.params)
    ]
    header = ("parameter", "flag", "type", "default", "bounds", "meaning")
    return f"## {kind.name}\n\n{facts}\n\n{table(header, rows)}"


def _meaning(field: dataclasses.Field[object]) -> str:
    needs = field.metadata.get("needs")
    also = f" The cluster must allow {code(str(needs))}." if needs else ""
    return sentence(str(field.metadata["help"])) + also


def _type_of(hint: object) -> str:
    (wanted, *_) = [each for each in get_args(hint) if each is not NoneType] if NoneType in get_args(hint) else [hint]
    if get_origin(wanted) is Literal:
        return " or ".join(map(code, get_args(wanted)))
    assert isinstance(wanted, type)
    return {int: "whole number", bool: "yes or no", str: "text"}[wanted]


def _default(field: "dataclasses.Field[object]") -> str:
    match field.default:
        case dataclasses.MISSING:
            return "must be given"
        case None:
            return "unset"
        case bool() as is_on:
            return "yes" if is_on else "no"
        case int() as seconds if field.name.endswith("_s"):
            return f"{seconds} ({exact(seconds)})"
        case other:
            return code(other)


def _bounds(field: "dataclasses.Field[object]") -> str:
    least, most = field.metadata.get("min"), field.metadata.get("max")
    if least is None or most is None:
        return ""
    if field.name.endswith("_s"):
        least, most = exact(least), exact(most)
    return f"{least} to {most}"


def results() -> str:
    """Return the page of result codes."""
    ends = sources.literal_codes(sources.RESULTS)
    reasons = sources.literal_codes(sources.REASONS)
    return page(
        "Codes of results",
        f"What an operation came to, as `status_reason.code`. {_link('What each means, and what to do')}.",
        table(("code", "made in"), [(_linked(name), codes(paths)) for name, paths in ends.items()]),
        "## Of open operations\n\nWhy an operation that is not over is as it is, in the same field.",
        table(("code", "made in"), [(_linked(name), codes(paths)) for name, paths in reasons.items()]),
    )


def blockers() -> str:
    """Return the page of blockers."""
    rows = [(_linked(name), text, codes(_facts(text))) for name, text in sorted(SENTENCES.items())]
    return page(
        "Blockers",
        "What an open operation waits for: `progress.blockers[].code`, the `subject` that holds it up, the `facts` in "
        f"figures, and the sentence made of them as `message`. {_link('What each means, and what to do')}.",
        table(("code", "sentence", "facts"), rows),
    )


def _facts(text: str) -> list[str]:
    return sorted({name for _, name, _, _ in Formatter().parse(text) if name and name != "subject"})


def _linked(name: str) -> str:
    return f"[{code(name)}]({HOW_TO}#{name})"


def _link(text: str) -> str:
    return f"[{text}]({HOW_TO})"


def events() -> str:
    """Return the page of events."""
    rows = []
    for each in EventType:
        kind = each.value.partition(".")[0]
        example = {**EXAMPLE, "message": MESSAGES.get(each, "")}
        rows.append((code(each.value), kind, event_sentence(each, NAMES[kind], "alice", example)))
    return page(
        "Events",
        "The feed is append-only: every change is one event with a revision of its own, without gaps. Read it with "
        "`hgr event ls`, `hgr operation events ID`, or `GET /v1/events`.",
        table(("type", "about", "for example"), rows),
    )

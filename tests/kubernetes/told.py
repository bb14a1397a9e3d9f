"""What a finished operation tells, and what the API server wrote down of it."""

import json
from collections.abc import Iterable
from typing import Any

from testbed.audit import Entry
from testbed.ground import Ground

Document = dict[str, Any]

OPERATOR = "hangar-operator"
"""The operator's user, and its field manager."""

MARK = "wingsmith.dev/cordon"


def outcome(done: Document) -> tuple[str, str, str]:
    """Return how an operation ended: its phase, its code, its one line."""
    return done["phase"], done["status_reason"]["code"], done["result"]["message"]


def listed(done: Document, name: str) -> list[Document]:
    """Return one of a drain's lists of pods: moved, left, terminating, unknown, untouched, skipped."""
    rows: list[Document] = done["result"]["details"][name]
    return rows


def uids(pods: Iterable[Document]) -> set[str]:
    """Return the UIDs of pods, of the cluster's documents or of a drain's rows."""
    return {str(each["metadata"]["uid"] if "metadata" in each else each["uid"]) for each in pods}


def evicted(entries: Iterable[Entry]) -> list[str]:
    """Return the UIDs of the evictions that the server accepted, in their order; each must name its UID."""
    accepted = sorted((each for each in entries if each.is_accepted), key=lambda each: each.at)
    found = [each.uid for each in accepted if each.uid is not None]
    assert len(found) == len(accepted), "an eviction without a UID"
    return found


def cordon_patches(ground: Ground, node: str) -> list[Entry]:
    """Return what the operator wrote to a node so far."""
    return [each for each in ground.bed.audit.writes(OPERATOR) if (each.resource, each.name) == ("nodes", node)]


def is_cordoned(ground: Ground, node: str) -> bool:
    """Tell whether a node is unschedulable."""
    return bool(ground.node(node)["spec"].get("unschedulable"))


def mark(ground: Ground, node: str) -> Document | None:
    """Return what our annotation on a node says, None without one."""
    text = ground.node(node)["metadata"].get("annotations", {}).get(MARK)
    found: Document | None = None if text is None else json.loads(text)
    return found

"""All nouns of hgr, and where each one's verbs are; a noun's module is imported only when it is asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hangar.cli.commands import Verb

NOUNS = {
    "operation": "drain, cordon and uncordon nodes; follow, wait for and cancel operations",
    "node": "nodes, cordoned or not, and what runs on them",
    "device": "GPUs and other devices, node by node: how many, how many free",
    "cluster": "clusters, whether their operators are online, and what they allow",
    "event": "what happened, when, to what, and who did it",
    "context": "the hubs that hgr knows, and which one it speaks to",
}

WORDS = {
    "version": "print the version of hgr",
    "help": "explain a noun or a verb; `hgr help exit-codes` explains the exit codes",
}


def verbs_of(noun: str) -> Mapping[str, Verb]:
    """Return the verbs of a noun that is in NOUNS, in the order of the help."""
    match noun:
        case "operation":
            from hangar.cli.operation import VERBS
        case "node":
            from hangar.cli.node import VERBS
        case "device":
            from hangar.cli.device import VERBS
        case "cluster":
            from hangar.cli.cluster import VERBS
        case "event":
            from hangar.cli.event import VERBS
        case "context":
            from hangar.cli.context import VERBS
        case _:
            raise KeyError(noun)
    return VERBS

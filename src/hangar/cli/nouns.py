"""All nouns and commands of hgr, and where each one's verbs are; a module is imported only when it is asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hangar.cli.commands import Verb

NOUNS = {
    "operation": "drain nodes and workloads, scale, cordon; follow, wait for and cancel operations",
    "workload": "what is served, how many replicas of it and where; scale, pause and resume it",
    "deployment": "workloads cluster by cluster: desired, observed and ready replicas",
    "node": "nodes, cordoned or not, and what runs on them",
    "device": "GPUs and other devices, node by node: how many, how many free",
    "cluster": "clusters, whether their operators are online, and what they allow",
    "project": "who owns workloads, and how much of each resource these may use",
    "quota": "how much of each resource a project may use, and what is left of it",
    "event": "what happened, when, to what, and who did it",
    "token": "who may come in, and as what: made, listed and revoked by admins",
    "context": "the hubs that hgr knows, and which one it speaks to",
}

COMMANDS = {
    "login": "come in with a token: it is checked, and kept in a context",
    "completion": "print what a shell needs to complete hgr's words, live names among them",
}
"""What needs no noun."""

WORDS = {
    "version": "print the version of hgr",
    "help": "explain a noun or a verb; `hgr help exit-codes` explains the exit codes",
}


def verbs_of(noun: str) -> Mapping[str, Verb]:
    """Return the verbs of a noun that is in NOUNS, in the order of the help."""
    match noun:
        case "operation":
            from hangar.cli.operation import VERBS
        case "workload":
            from hangar.cli.workload import VERBS
        case "deployment":
            from hangar.cli.deployment import VERBS
        case "node":
            from hangar.cli.node import VERBS
        case "device":
            from hangar.cli.device import VERBS
        case "cluster":
            from hangar.cli.cluster import VERBS
        case "project":
            from hangar.cli.project import VERBS
        case "quota":
            from hangar.cli.quota import VERBS
        case "event":
            from hangar.cli.event import VERBS
        case "token":
            from hangar.cli.token import VERBS
        case "context":
            from hangar.cli.context import VERBS
        case _:
            raise KeyError(noun)
    return VERBS


def command_of(name: str) -> Verb:
    """Return a command that is in COMMANDS."""
    match name:
        case "login":
            from hangar.cli.login import COMMAND
        case "completion":
            from hangar.cli.completion import COMMAND
        case _:
            raise KeyError(name)
    return COMMAND

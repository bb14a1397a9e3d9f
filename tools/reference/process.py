"""Pages about the processes: settings, limits, access rules in Kubernetes."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from types import NoneType
from typing import Literal, get_args, get_origin

import yaml
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from hangar.domain import limits as bounds
from hangar.hub.__main__ import _parser as hub_parser
from hangar.hub.settings import HubSettings
from hangar.operator.cluster.kubernetes.access import FOR_DEVICES, FOR_RIVALS, FOR_THE_FIT, NEEDED, OPTIONAL, Access
from hangar.operator.settings import OperatorSettings
from tools.reference import sources
from tools.reference.command_line import parsers_of
from tools.reference.markdown import code, page, sentence, table

HGR_ENVIRONMENT = {
    "HGR_SERVER": "the hub's address",
    "HGR_TOKEN": "the token itself",
    "HGR_TOKEN_FILE": "a file with the token",
    "HGR_CONTEXT": "the context to use, instead of the current one",
    "HGR_CA_FILE": "the CA that signed the hub's certificate, if not one of the system's",
    "XDG_CONFIG_HOME": "where `hgr/config.toml`, the file of contexts, is; else `~/.config`",
    "XDG_RUNTIME_DIR": "where a running demo leaves its address; else a folder of your own in `/tmp`",
    "NO_COLOR": "set to anything: no colours",
    "TERM": "`dumb`: no live line",
    "COLUMNS": "how wide help texts are",
}


def settings() -> str:
    """Return the page of settings."""
    flags = {action for _, parser in parsers_of(hub_parser()) for action in parser._option_string_actions}
    header = ("variable", "flag", "value", "default", "meaning")
    return page(
        "Settings",
        "## The hub\n\n`hangar-server` takes flags first, then the environment.",
        table(header, _settings(HubSettings, flags)),
        "The times belong together. Each must be shorter than the next, or the hub does not start: "
        "`HANGAR_SYNC_WAIT_S`, `HANGAR_STOP_AFTER_S`, `HANGAR_LEASE_S`, `HANGAR_HAND_OVER_AFTER_S`. The last should be "
        f"no less than the second and {bounds.EVICTION_TIMEOUT_S:g} s, which a call to a cluster may take: else a call "
        "that a silent operator sent last may land while another acts.",
        "## The operator\n\n`hangar-operator` takes the environment alone.",
        table(("variable", "value", "default", "meaning"), [_without_flag(row) for row in _settings(OperatorSettings)]),
        "## hgr\n\nFlags go before the environment, the environment before contexts, contexts before a running demo.",
        table(("variable", "meaning"), [(code(name), text) for name, text in HGR_ENVIRONMENT.items()]),
    )


def _settings(of: type[BaseSettings], flags: Iterable[str] = ()) -> Iterator[tuple[str, ...]]:
    known = set(flags)
    for name, field in of.model_fields.items():
        flag = f"--{name.replace('_', '-')}"
        yield (
            code(f"{of.model_config['env_prefix']}{name.upper()}"),
            code(flag) if flag in known else "",
            _value(field.annotation),
            _default(field),
            sentence(field.description or ""),
        )


def _without_flag(row: tuple[str, ...]) -> tuple[str, ...]:
    return row[:1] + row[2:]


def _value(hint: object) -> str:
    parts = [each for each in get_args(hint) if each is not NoneType] if NoneType in get_args(hint) else [hint]
    wanted = parts[0]
    if get_origin(wanted) is Literal:
        return " or ".join(map(code, get_args(wanted)))
    if get_origin(wanted) is frozenset:
        return f"any of {_value(get_args(wanted)[0])}"
    assert isinstance(wanted, type)
    return {str: "text", Path: "file", bool: "yes or no", float: "seconds", int: "number"}[wanted]


def _default(field: FieldInfo) -> str:
    match field.default:
        case _ if field.is_required():
            return "required"
        case None:
            return ""
        case bool() as is_on:
            return "yes" if is_on else "no"
        case frozenset() as members:
            return code(",".join(sorted(map(str, members))))
        case float() as seconds:
            return f"{seconds:g}"
        case other:
            return code(other)


def limits() -> str:
    """Return the page of limits."""
    parts = []
    for section, group in groupby(sources.limits(), key=lambda each: each.section):
        rows = [(code(each.name), _figure(getattr(bounds, each.name)), sentence(each.reason)) for each in group]
        parts += [f"## {sentence(section).removesuffix('.')}", table(("limit", "value", "reason"), rows)]
    return page(
        "Limits",
        "Every bound of the product. Names end in their unit: `_S` seconds, `_BYTES`, `_CHARS`; what is counted stands "
        "in the plural. [Settings](settings.md) say which of them can be set.",
        *parts,
    )


def _figure(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def access() -> str:
    """Return the page of access rules, with a manifest of them."""
    header = ("group", "resource", "verb", *NEEDED)
    rows = [
        (each.group or "core", _resource(each), each.verb, *(_how_needed(each, name) for name in NEEDED))
        for each in _every_access()
    ]
    return page(
        "Access rules in Kubernetes",
        "What the operator needs for each member of a cluster's allowed set. What is not granted is not allowed: the "
        "operator asks Kubernetes at its start. What is `optional` makes it see sooner that a pod would fit nowhere, "
        "which autoscalers write the numbers of graphs, and which devices drivers publish; nothing is refused without "
        "it. Beside these: `get` on the namespace `kube-system`, whose UID pins the cluster. Every account may ask "
        "about its own access as Kubernetes comes.",
        table(header, rows),
        "## As a manifest\n\nFor all that this version can do; the namespace and the account are made here, too.",
        f"```yaml\n{manifest()}```",
    )


def _every_access() -> list[Access]:
    return list(dict.fromkeys((*(each for needed in NEEDED.values() for each in needed), *OPTIONAL)))


def _how_needed(each: Access, name: str) -> str:
    optional = {"drain": FOR_THE_FIT, "force": FOR_THE_FIT, "scale": FOR_RIVALS, "deploy": FOR_RIVALS}
    if each in (*optional.get(name, ()), *FOR_DEVICES):
        return "optional"
    return "yes" if each in NEEDED[name] else ""


def _resource(each: Access) -> str:
    return f"{each.resource}/{each.subresource}" if each.subresource else each.resource


def manifest() -> str:
    """Return the manifest of an account with exactly the access that the operator needs."""
    name, namespace = "hangar-operator", "hangar-system"
    rules: dict[tuple[str, str], list[str]] = {}
    for each in _every_access():
        rules.setdefault((each.group, _resource(each)), []).append(each.verb)
    cluster_rules = [
        {"apiGroups": [group], "resources": [resource], "verbs": verbs} for (group, resource), verbs in rules.items()
    ]
    pin = {"apiGroups": [""], "resources": ["namespaces"], "resourceNames": ["kube-system"], "verbs": ["get"]}
    rbac, api = "rbac.authorization.k8s.io", "rbac.authorization.k8s.io/v1"
    documents = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}},
        {"apiVersion": api, "kind": "ClusterRole", "metadata": {"name": name}, "rules": [*cluster_rules, pin]},
        {
            "apiVersion": api,
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
        },
    ]
    return yaml.safe_dump_all(documents, sort_keys=False, default_flow_style=None)

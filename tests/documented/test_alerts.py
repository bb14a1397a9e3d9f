"""The rules to alert by are read by Prometheus, and ask for figures that there are."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from hangar.domain.blockers import SENTENCES
from hangar.domain.operation import Phase
from hangar.telemetry.metrics import HUB, OPERATOR, Sort
from tests.documented.pages import blocks, pages, read

PAGE = "docs/how-to/alert.md"
SELECTOR = re.compile(r"\b(hangar_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(?:=~|!~|!=|=)"([^"]*)"')
GROUPED = re.compile(r"\bby \(([^)]*)\)")
PARTS = {Sort.HISTOGRAM: ("_bucket", "_sum", "_count"), Sort.COUNTER: ("",), Sort.GAUGE: ("",)}

LABELS = {
    f"{each.name}{part}": {*each.labels, *(["le"] if part == "_bucket" else [])}
    for each in (*HUB, *OPERATOR)
    for part in PARTS[each.sort]
}
"""The labels of every series, by its name."""


def rules() -> list[dict[str, Any]]:
    documents = [yaml.safe_load(block.body) for block in blocks(PAGE, read(PAGE)) if block.language == "yaml"]
    return [rule for each in documents for group in each.get("groups", []) for rule in group["rules"]]


def wrong_in(expression: str) -> Iterator[str]:
    """Yield what an expression asks for that there is not."""
    grouped = {label.strip() for found in GROUPED.findall(expression) for label in found.split(",")}
    for name, matchers in SELECTOR.findall(expression):
        labels = LABELS.get(name)
        if labels is None:
            yield f"there is no {name}"
            continue
        named = dict(MATCHER.findall(matchers))
        yield from (f"{name} has no label {label}" for label in sorted((named.keys() | grouped) - labels))
        for label, known in (("code", set(SENTENCES)), ("phase", {each.value for each in Phase})):
            if label in named and "type" in labels:
                yield from (f"no {label} {each}" for each in named[label].split("|") if each not in known)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_a_rule_asks_for_what_there_is_and_says_what_it_means(rule: dict[str, Any]) -> None:
    assert list(wrong_in(rule["expr"])) == []
    assert rule["annotations"]["summary"]
    assert set(rule) <= {"alert", "expr", "for", "annotations"}


def test_a_stuck_operation_is_among_them() -> None:
    """C22: there is a rule for it."""
    asked = {name for rule in rules() for name, _ in SELECTOR.findall(rule["expr"])}
    assert {"hangar_operation_blocked_seconds", "hangar_cluster_lease_age_seconds", "hangar_store_up"} <= asked


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("hangar_operation_stuck_seconds > 1", "there is no hangar_operation_stuck_seconds"),
        ("hangar_store_write_seconds > 1", "there is no hangar_store_write_seconds"),
        ('hangar_watch_up{kind="pods"} == 0', "hangar_watch_up has no label kind"),
        ("max by (node) (hangar_watch_up)", "hangar_watch_up has no label node"),
        ('hangar_operation_blocked_seconds{code!~"loading|napping"}', "no code napping"),
        ('hangar_operations_open{phase="waiting"}', "no phase waiting"),
    ],
)
def test_a_rule_that_asks_for_what_is_not_there_is_noticed(expression: str, problem: str) -> None:
    assert list(wrong_in(expression)) == [problem]


def test_every_metric_that_a_page_names_is_there() -> None:
    named = {(path, name) for path, text in pages().items() for name in re.findall(r"\bhangar_[a-z_]+\b", text)}
    known = {each.name for each in (*HUB, *OPERATOR)} | set(LABELS)
    assert {(path, name) for path, name in named if name not in known} == set()

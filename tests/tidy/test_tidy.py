"""The rules of style, applied to the whole tree, each with today's exceptions."""

import pytest

from tests.tidy import code, limits, ratchet, structure, words
from tests.tidy.finding import Rule
from tests.tidy.tree import modules

RULES = (*code.RULES, *limits.RULES, *words.RULES, *structure.RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_tree_keeps_the_rule(rule: Rule) -> None:
    verdict = ratchet.judge(rule.find(modules()), ratchet.load().get(rule.name, {}))
    if verdict.breaches:
        pytest.fail("\n".join([f"{rule.name}: {rule.reason}.", *verdict.breaches]), pytrace=False)
    if verdict.outlived:
        pytest.fail(
            "\n".join([f"{ratchet.PATH}, [{rule.name}]: it may only shrink.", *verdict.outlived]), pytrace=False
        )


def test_the_ratchet_knows_no_other_rules() -> None:
    assert set(ratchet.load()) <= {rule.name for rule in RULES}

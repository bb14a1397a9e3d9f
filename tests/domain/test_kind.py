"""Kinds: what a parameter tells of itself, and what a kind holds unless it says otherwise."""

from dataclasses import fields

import pytest

from hangar.domain.kind import param
from hangar.domain.view import NO_CLAIMS
from hangar.kinds import KINDS
from tests.domain.building import a_job


def test_a_parameter_tells_its_meaning_and_only_the_bounds_it_has() -> None:
    assert param("how long") == {"help": "how long"}
    assert param("how long", least=0, most=9) == {"help": "how long", "min": 0, "max": 9}


@pytest.mark.parametrize("name", KINDS)
def test_a_fresh_kind_needs_no_parameter_and_remembers_nothing(name: str) -> None:
    kind = KINDS[name]
    assert kind.name == name
    assert kind.memory() == kind.memory()
    assert all(field.metadata["help"] for field in fields(kind.params))
    assert kind.params().deadline_s > 0


def test_a_kind_holds_nothing_unless_it_says_so() -> None:
    kind = KINDS["node.cordon"]
    assert kind.claims(a_job(kind.params(), kind.memory())) is NO_CLAIMS

"""The catalogue: what the hub makes of the kinds."""

import pytest

from hangar.hub.catalogue import Catalogue
from hangar.kinds import KINDS


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue(KINDS)


def test_every_kind_is_in_it(catalogue: Catalogue) -> None:
    assert catalogue.names == tuple(sorted(KINDS))
    for name, entry in catalogue.entries.items():
        assert (entry.name, entry.version, entry.needs({})) == (name, KINDS[name].version, (KINDS[name].needs,))
        assert entry.title


def test_every_parameter_has_a_default_and_says_what_it_is_for(catalogue: Catalogue) -> None:
    for entry in catalogue.entries.values():
        params, errors = entry.check({})
        assert errors == ()
        assert params["deadline_s"] > 0
        schema = entry.model.model_json_schema()
        assert all(each["description"] for each in schema["properties"].values())
        assert schema["additionalProperties"] is False


def test_what_is_given_replaces_defaults_and_what_is_wrong_is_named(catalogue: Catalogue) -> None:
    drain = catalogue.entries["node.drain"]
    params, errors = drain.check({"deadline_s": 60, "on_failure": "uncordon"})
    assert (params["deadline_s"], params["on_failure"], errors) == (60, "uncordon", ())
    params, errors = drain.check({"deadline_s": 0, "speed": 1})
    assert (params, [each.path for each in errors]) == ({}, ["params.deadline_s", "params.speed"])

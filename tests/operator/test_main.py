"""hangar-operator's start: it waits for its API server, and asks what it may do."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from pydantic import ValidationError

from hangar.operator.__main__ import introduce
from hangar.operator.cluster.port import ClusterError, Identity
from hangar.operator.cluster.simulated.adapter import SimulatedCluster
from hangar.operator.cluster.simulated.world import World
from hangar.operator.settings import OperatorSettings
from tests.virtual_loop import NOON, LoopClock, run_virtual


class Late(SimulatedCluster):
    """A cluster whose API server comes up bit by bit: each answer is first given one of these troubles."""

    def __init__(self, granted: frozenset[str], troubles: list[str]) -> None:
        super().__init__(World(NOON), LoopClock(), granted)
        self._troubles: Iterator[str] = iter(troubles)

    async def identity(self) -> Identity:
        self._fail()
        return await super().identity()

    async def grants(self) -> Mapping[str, bool]:
        self._fail()
        return await super().grants()

    def _fail(self) -> None:
        why = next(self._troubles, "")
        if why:
            raise ClusterError(why)


def settings(**given: object) -> OperatorSettings:
    return OperatorSettings(server="https://hub.example", token_file=Path("token"), **given)  # type: ignore[arg-type]


BOTH = frozenset({"cordon", "drain"})
ALL = BOTH | {"scale", "deploy"}


@pytest.mark.parametrize(
    ("given", "granted", "allowed"),
    [
        ({}, BOTH, BOTH),
        ({}, frozenset({"cordon"}), frozenset({"cordon"})),
        ({"allowed_operations": "cordon"}, BOTH, frozenset({"cordon"})),
        ({"allowed_operations": ""}, BOTH, frozenset()),
        ({}, ALL, ALL),
        ({}, BOTH | {"scale"}, BOTH | {"scale"}),
        ({"workloads": "scale"}, ALL, BOTH | {"scale"}),
        ({"workloads": "observe"}, ALL, BOTH),
        ({"allowed_operations": ""}, ALL, frozenset({"scale", "deploy"})),
        ({"read_only": True}, ALL, frozenset()),
    ],
)
def test_what_is_allowed_is_what_is_set_as_far_as_it_is_granted(
    given: dict[str, object], granted: frozenset[str], allowed: frozenset[str]
) -> None:
    """C92: the right to evict is asked for at the start."""
    assert run_virtual(introduce(settings(**given), Late(granted, [])))[1] == allowed


def test_an_operation_that_is_unknown_is_refused_as_a_setting() -> None:
    with pytest.raises(ValidationError):
        settings(allowed_operations="cordon,reboot")


def test_an_api_server_that_comes_up_late_is_waited_for() -> None:
    # Nothing answers; then it does not know its access rules yet, and forbids to ask what is granted.
    cluster = Late(BOTH, ["cannot be reached", "cannot be reached", "", "403: forbidden"])
    identity, allowed = run_virtual(introduce(settings(), cluster))
    assert (identity.uid, allowed) == ("simulated", BOTH)

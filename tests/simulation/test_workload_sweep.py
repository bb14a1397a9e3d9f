"""Killed at any step: an operation on a workload comes to the same end as if nothing had been killed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import pytest

from hangar.domain.operation import TERMINAL, Phase
from hangar.domain.workloads.placement import Division, Policy
from tests.simulation.serving import ServingFleet, a_model, play
from tests.virtual_loop import pass_time

READY_AFTER_S = {"fra-1": 2.0, "iad-1": 2.8, "sin-1": 3.5}
"""Each cluster is ready at another time, so that what waits for all of them takes as many steps as it can."""

AT_FIRST = 2
"""Replicas of each graph when it is adopted."""

QUIET_S = 4.0
"""After all is calm nothing more may be written."""

Arm = Callable[[ServingFleet], None]
"""Sets the trap that kills something, just before the operation is asked for."""


@dataclass(frozen=True)
class Scene:
    """An operation on a workload that runs and is ready."""

    type: str
    cluster: str | None = None
    policy: Policy = field(default_factory=Policy)
    clusters: tuple[str, ...] = ("fra-1", "sin-1")
    has_adapter: bool = False
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def replicas(self) -> int:
        """The number that leaves all graphs as they are adopted."""
        return AT_FIRST * (len(self.clusters) if self.policy.division is Division.DIVIDED else 1)


SCENES = {
    "scale": Scene("workload.scale", params={"replicas": 6}),
    "scale, duplicated": Scene("workload.scale", policy=Policy(Division.DUPLICATED), params={"replicas": 3}),
    "scale, behind adapters": Scene("workload.scale", params={"replicas": 6}, has_adapter=True),
    "pause": Scene("workload.pause"),
    "drain": Scene("workload.drain", cluster="sin-1", clusters=("fra-1", "iad-1", "sin-1")),
}


@dataclass(frozen=True)
class Outcome:
    """What there is in the end. `counts`, of workers by cluster, is told by the graphs themselves."""

    phase: str
    code: str
    message: str
    attempts: int
    is_paused: bool
    drained: tuple[str, ...]
    desired: Mapping[str, int]
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Played:
    """One play: its outcome, the patches of each graph, and at which steps something could be killed."""

    outcome: Outcome
    patches: Mapping[str, int]
    hub_steps: int
    telling: Mapping[str, tuple[int, ...]]
    writes: Mapping[str, int]


async def _play(scene: Scene, arm: Arm) -> Played:
    fleet = ServingFleet(
        {
            name: [a_model(replicas=AT_FIRST, ready_after_s=READY_AFTER_S[name], has_adapter=scene.has_adapter)]
            for name in scene.clusters
        }
    )
    try:
        await fleet.begin()
        fleet.apply(replicas=scene.replicas, policy=scene.policy)
        await fleet.until(fleet.is_calm, "the workload runs")
        await pass_time(QUIET_S)
        fleet.hub.steps = 0
        for site in fleet.sites.values():
            site.begin()
        arm(fleet)
        id_ = await fleet.ask(scene.type, cluster=scene.cluster, **scene.params)
        await fleet.until(lambda: Phase(fleet.operation(id_).phase) in TERMINAL, "the operation is over")
        await fleet.until(fleet.is_calm, "all that is wanted runs")
        steps = fleet.hub.steps
        telling = {name: tuple(site.messages.telling) for name, site in fleet.sites.items()}
        await pass_time(QUIET_S)
        return Played(
            _outcome(fleet, id_),
            {name: len(site.writes) for name, site in fleet.sites.items()},
            steps,
            telling,
            {name: site.sent for name, site in fleet.sites.items()},
        )
    finally:
        fleet.end()


def _outcome(fleet: ServingFleet, id_: str) -> Outcome:
    done, workload = fleet.operation(id_), fleet.workload()
    assert done.result is not None
    assert done.status_reason is not None
    for each in workload.deployments:
        graph = fleet[each.cluster].graph()
        assert graph.applied_rev == each.desired_rev, f"{each.cluster} is not at its revision"
    return Outcome(
        done.phase,
        done.status_reason.code,
        done.result.message,
        done.result.attempts,
        workload.is_paused,
        tuple(each.cluster for each in workload.deployments if each.drained_by is not None),
        {each.cluster: each.desired for each in workload.deployments},
        {name: site.replicas() for name, site in fleet.sites.items()},
    )


def _kill_nothing(_: ServingFleet) -> None:
    """Let all live."""


@cache
def undisturbed(name: str) -> Played:
    return play(partial(_play, SCENES[name], _kill_nothing))


# --- what is killed ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kill:
    """What is killed when. `cluster` is the one whose operator then is away for a while, None where none is."""

    what: str
    arm: Arm
    cluster: str | None = None


def _of_hub(base: Played) -> Iterator[Kill]:
    for step in range(1, base.hub_steps + 1):

        def arm(fleet: ServingFleet, step: int = step) -> None:
            fleet.after_step = {step: fleet.kill_hub}

        yield Kill(f"the hub after its step {step}", arm)


def _at_writes(base: Played) -> Iterator[Kill]:
    for cluster, count in base.writes.items():
        for write in range(1, count + 1):

            def before(fleet: ServingFleet, cluster: str = cluster, write: int = write) -> None:
                fleet[cluster].before_write = {write: fleet[cluster].kill}

            def after(fleet: ServingFleet, cluster: str = cluster, write: int = write) -> None:
                fleet[cluster].after_write = {write: fleet[cluster].kill}

            def answer(fleet: ServingFleet, cluster: str = cluster, write: int = write) -> None:
                fleet[cluster].before_write = {write: fleet[cluster].lose_an_answer}

            yield Kill(f"the operator of {cluster} before its write {write}", before, cluster)
            yield Kill(f"the operator of {cluster} after its write {write}", after, cluster)
            yield Kill(f"the answer to write {write} of {cluster}", answer)


def _at_messages(base: Played) -> Iterator[Kill]:
    for cluster, numbers in base.telling.items():
        for number in numbers:

            def before(fleet: ServingFleet, cluster: str = cluster, number: int = number) -> None:
                fleet[cluster].messages.before = {number: fleet[cluster].kill}

            def after(fleet: ServingFleet, cluster: str = cluster, number: int = number) -> None:
                fleet[cluster].messages.after = {number: fleet[cluster].kill}

            yield Kill(f"the operator of {cluster} before its message {number}", before, cluster)
            yield Kill(f"the operator of {cluster} after its message {number}", after, cluster)


SWEEPS = (
    # The scene, what is killed, how often, and how many of the ends came while the killed operator was offline.
    ("scale", _of_hub, 11, 0),
    ("scale", _at_writes, 6, 4),
    ("scale", _at_messages, 20, 2),
    ("scale, duplicated", _of_hub, 11, 0),
    ("scale, behind adapters", _of_hub, 15, 0),
    ("scale, behind adapters", _at_writes, 12, 8),
    ("pause", _of_hub, 7, 0),
    ("pause", _at_writes, 6, 4),
    ("pause", _at_messages, 12, 2),
    ("drain", _of_hub, 19, 0),
    ("drain", _at_writes, 12, 0),
    ("drain", _at_messages, 36, 0),
)


@pytest.mark.parametrize(("name", "kills", "count", "offline"), SWEEPS)
def test_whatever_is_killed_the_end_is_the_same(
    name: str, kills: Callable[[Played], Iterator[Kill]], count: int, offline: int
) -> None:
    base = undisturbed(name)
    assert base.outcome.phase == Phase.SUCCEEDED
    swept = list(kills(base))
    assert len(swept) == count
    were_offline = 0
    for kill in swept:
        played = play(partial(_play, SCENES[name], kill.arm))
        outcome = played.outcome
        follows = f"; {kill.cluster} is offline and will follow"
        if kill.cluster is not None and outcome.message.endswith(follows):
            were_offline += 1
            outcome = replace(outcome, message=outcome.message.removesuffix(follows))
        assert outcome == base.outcome, f"killed: {kill.what}"
        # A drain goes down in steps as the others are ready; who was away may find several of them made by then.
        more = {each: count for each, count in played.patches.items() if count > base.patches[each]}
        assert not more, f"killed: {kill.what}"
        assert all(played.patches.values()), f"killed: {kill.what}"
    assert were_offline == offline

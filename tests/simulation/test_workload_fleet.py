"""Two hundred workloads on twenty clusters, rescaled at once: one patch for each graph that changes, and none else."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from hangar.domain.operation import Phase
from hangar.domain.workloads.placement import Policy
from tests.simulation.serving import ServingFleet, a_model, play
from tests.virtual_loop import pass_time

CLUSTERS = tuple(f"c{number:02d}" for number in range(20))
WORKLOADS = tuple(f"w{number:03d}" for number in range(200))
ON_EACH = 3
"""Clusters a workload is on: thirty graphs a cluster, which begin with one replica each."""

TWO_EACH, THREE_EACH, ONE_MORE = 2 * ON_EACH, 3 * ON_EACH, ON_EACH + 1

LOOK_S = 0.01
"""How exactly it is measured how long something takes."""


@dataclass(frozen=True)
class Rescaled:
    """How long it took, the patches by cluster and graph, and what the operations say."""

    took_s: float
    patches: Counter[tuple[str, str]]
    messages: Mapping[str, str]


def _clusters_of(number: int) -> list[str]:
    return sorted(CLUSTERS[(number + offset) % len(CLUSTERS)] for offset in range(ON_EACH))


async def _a_fleet() -> ServingFleet:
    models: dict[str, list[str]] = {name: [] for name in CLUSTERS}
    for number, name in enumerate(WORKLOADS):
        for cluster in _clusters_of(number):
            models[cluster].append(name)
    fleet = ServingFleet({each: [a_model(name, replicas=1) for name in names] for each, names in models.items()})
    await fleet.begin()
    for number, name in enumerate(WORKLOADS):
        fleet.apply(name, on=_clusters_of(number), replicas=ON_EACH, policy=Policy())
    await fleet.until(lambda: fleet.is_calm(WORKLOADS), "all is adopted")
    return fleet


async def _rescale(fleet: ServingFleet, numbers: Mapping[str, int]) -> Rescaled:
    for site in fleet.sites.values():
        site.begin()
    began_s = asyncio.get_running_loop().time()
    asked = {name: await fleet.ask("workload.scale", name, replicas=number) for name, number in numbers.items()}
    running = set(asked.values())

    def is_over() -> bool:
        running.difference_update([each for each in running if fleet.operation(each).phase != Phase.RUNNING])
        return not running

    await fleet.until(is_over, "all are scaled", LOOK_S)
    took_s = asyncio.get_running_loop().time() - began_s
    await pass_time(2.0)  # whatever would be written a second time
    patches = Counter((name, write.graph.name) for name, site in fleet.sites.items() for write in site.writes)
    return Rescaled(took_s, patches, {name: fleet.message(id_) for name, id_ in asked.items()})


def test_a_fleet_is_rescaled_at_once_with_one_patch_for_each_graph_that_changes() -> None:
    async def scene() -> tuple[Rescaled, Rescaled]:
        fleet = await _a_fleet()
        try:
            first = await _rescale(fleet, {WORKLOADS[0]: TWO_EACH})
            # Every other one changes on one of its clusters only.
            numbers = {name: ONE_MORE if number % 2 else TWO_EACH for number, name in enumerate(WORKLOADS)}
            numbers[WORKLOADS[0]] = THREE_EACH
            return first, await _rescale(fleet, numbers)
        finally:
            fleet.end()

    one, all_ = play(scene)
    assert one.patches == Counter((cluster, WORKLOADS[0]) for cluster in _clusters_of(0))
    assert one.messages == {WORKLOADS[0]: "scaled to 6: 2 + 2 + 2 = 6, divided"}
    changed = [
        (cluster, name)
        for number, name in enumerate(WORKLOADS)
        for cluster in _clusters_of(number)[: 1 if number % 2 else ON_EACH]
    ]
    assert len(changed) == 400
    assert all_.patches == Counter(changed)
    assert all_.messages == {
        name: "scaled to 4: 2 + 1 + 1 = 4, divided" if number % 2 else "scaled to 6: 2 + 2 + 2 = 6, divided"
        for number, name in enumerate(WORKLOADS)
    } | {WORKLOADS[0]: "scaled to 9: 3 + 3 + 3 = 9, divided"}
    assert all_.took_s <= 2 * one.took_s

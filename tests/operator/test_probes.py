"""What an operator shows of itself, from before its first word with the hub on."""

from http import HTTPStatus

import pytest

from hangar.domain.limits import STANDSTILL_MAX_S
from hangar.domain.snapshot import Snapshot
from hangar.operator.cluster.port import Watch
from hangar.operator.metrics import OperatorMetrics, Vitals
from hangar.operator.probes import Probes
from tests.domain.building import a_pod, a_snapshot
from tests.operator.scene import Scene, played
from tests.telemetry.figures import figures_in
from tests.virtual_loop import pass_time


class Cluster:
    """A cluster as it is shown."""

    def __init__(self, snapshot: Snapshot | None) -> None:
        self._snapshot = snapshot

    def snapshot(self) -> Snapshot | None:
        return self._snapshot

    def watches(self) -> tuple[Watch, ...]:
        return (Watch("pods", is_up=self._snapshot is not None, age_s=1.5),)


class Standing:
    """An operator whose loop has stood still for so long."""

    def __init__(self, standing_s: float) -> None:
        self._standing_s = standing_s

    def vitals(self) -> Vitals:
        return Vitals(silent_s=1.0, standing_s=self._standing_s)


def test_before_there_is_an_operator_it_is_well_and_shows_what_it_reads() -> None:
    pages = Probes(Cluster(None), OperatorMetrics()).pages()
    assert pages["/healthz"]().status is HTTPStatus.OK
    told = figures_in(pages["/metrics"]().body.decode())
    assert told["hangar_session_held"] == 0
    assert told['hangar_watch_up{resource="pods"}'] == 0
    assert [name for name in told if name.startswith("hangar_snapshot")] == []


def test_a_snapshot_is_counted_by_its_resources() -> None:
    probes = Probes(Cluster(a_snapshot(a_pod("a"), a_pod("b"))), OperatorMetrics())
    told = figures_in(probes.pages()["/metrics"]().body.decode())
    assert told['hangar_snapshot_objects{resource="pods"}'] == 2
    assert told['hangar_snapshot_objects{resource="poddisruptionbudgets"}'] == 0
    assert told['hangar_watch_age_seconds{resource="pods"}'] == 1.5


@pytest.mark.parametrize(("standing_s", "status"), [(0.0, 200), (STANDSTILL_MAX_S - 1, 200), (STANDSTILL_MAX_S, 503)])
def test_only_a_loop_that_stands_still_is_ill(standing_s: float, status: int) -> None:
    probes = Probes(Cluster(None), OperatorMetrics())
    probes.operator = Standing(standing_s)
    page = probes.pages()["/healthz"]()
    assert page.status == status
    assert status == 200 or page.body == b"a turn has been wanted for 60 s, and none was taken\n"


def test_a_hub_that_is_away_for_an_hour_makes_nobody_ill() -> None:
    async def play(scene: Scene) -> None:
        probes = Probes(Cluster(None), OperatorMetrics())
        probes.operator = scene.operator
        await pass_time(1)
        scene.hub.is_away = True
        await pass_time(3600)
        assert probes.pages()["/healthz"]().status is HTTPStatus.OK
        told = figures_in(probes.pages()["/metrics"]().body.decode())
        assert told["hangar_hub_silence_seconds"] == pytest.approx(3600, abs=5)

    played(play)

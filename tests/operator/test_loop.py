"""The operator's loop in virtual time: what leaves it and when, whatever the hub, the cluster or a signal does."""

import asyncio

import pytest
from structlog.testing import capture_logs

from hangar.domain.decision import Answer, Busy, Evict, Step
from hangar.domain.ids import NodeName
from hangar.domain.limits import LANDING_MAX_S
from hangar.operator.channel import HubError
from hangar.operator.conductor import Conductor
from hangar.operator.metrics import Vitals
from tests.operator.fake_hub import STOP_AFTER_S, WAY_S, FakeHub, Stumbling, seconds
from tests.operator.scene import Scene, a_cluster, an_operator, played
from tests.telemetry.figures import figures_in
from tests.virtual_loop import pass_time, run_virtual

SHORTLY = 0.5

# --- the way of an operation ------------------------------------------------------------------------------------------


def test_a_drain_goes_from_the_hub_to_its_end() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(30)
        assert scene.hub.ended() == "succeeded"
        assert len(scene.evictions()) == 2
        assert scene.hub.jobs == {}

    played(play)


def test_no_step_leaves_before_the_memory_of_it_is_acknowledged() -> None:
    def slow(hub: FakeHub, cluster: Stumbling) -> None:
        hub.submit("node.drain")
        hub.report_takes_s = 2.0

    async def play(scene: Scene) -> None:
        await pass_time(30)
        first = next(at for at, report in scene.hub.reports if report.memory and report.memory["pods"])
        assert scene.evictions()[0] >= first + 2.0

    played(play, slow)


def test_a_report_whose_answer_was_lost_is_sent_again_and_its_steps_leave_once() -> None:
    def lossy(hub: FakeHub, cluster: Stumbling) -> None:
        hub.submit("node.drain")
        hub.lost_answers = 3

    async def play(scene: Scene) -> None:
        await pass_time(60)
        assert scene.hub.ended() == "succeeded"
        assert [report.n for _, report in scene.hub.reports[:4]] == [1, 1, 1, 1]
        assert len(scene.evictions()) == 2

    with capture_logs() as logs:
        played(play, lossy)
    assert [each["operations"] for each in logs if each["event"] == "report failed"] == [["op_01"]] * 3


def test_an_operation_that_ended_is_not_revived_by_a_sync_that_was_under_way() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(SHORTLY)
        stale = dict(scene.hub.jobs)
        await pass_time(30)
        assert scene.hub.ended() == "succeeded"
        reports = len(scene.hub.reports)
        scene.hub.jobs = stale
        await pass_time(30)
        assert len(scene.hub.reports) == reports

    played(play)


def test_nothing_leaves_after_a_cancel_and_what_had_left_is_waited_for() -> None:
    """C79, C90: a call that hangs does not keep a cancel from being heard."""

    def slow(hub: FakeHub, cluster: Stumbling) -> None:
        hub.submit("node.drain")
        cluster.answers_after_s = 3.0

    async def play(scene: Scene) -> None:
        await pass_time(1.0)
        assert len(scene.evictions()) == 1, "the last ready one is kept until another is ready"
        scene.hub.cancel()
        await pass_time(SHORTLY)
        assert scene.hub.ended() is None, "its eviction is not answered yet"
        await pass_time(30)
        assert scene.hub.ended() == "cancelled"
        assert len(scene.evictions()) == 1

    played(play, slow)


# --- the session ------------------------------------------------------------------------------------------------------


def test_a_lost_session_is_asked_for_anew_and_the_work_goes_on() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(SHORTLY)
        scene.hub.fence()
        await pass_time(60)
        assert len(scene.hub.sessions) == 2
        assert [len(each) for each in scene.hub.held] == [0, 1]  # it says what it was at work on
        assert scene.hub.ended() == "succeeded"
        assert len(scene.evictions()) == 2
        told = [request for _, request in scene.hub.inventories if request.epoch == scene.hub.epoch]
        assert (told[0].n, told[0].complete) == (1, True)

    with capture_logs() as logs:
        played(play)
    assert [each["why"] for each in logs if each["event"] == "session lost"] == ["another session holds the cluster"]


def test_a_standby_asks_again_when_it_was_told_to_and_does_nothing_until_then() -> None:
    def held(hub: FakeHub, cluster: Stumbling) -> None:
        hub.submit("node.drain")
        hub.refusals = [HubError(f"held by another, heard at {n}", "standby", 2.0, f"r{n}") for n in range(3)]

    async def play(scene: Scene) -> None:
        await pass_time(5)
        assert scene.hub.syncs == []
        assert scene.cluster.sent == []
        await pass_time(30)
        gaps = [later - earlier for earlier, later in zip(scene.hub.sessions, scene.hub.sessions[1:], strict=False)]
        assert gaps == pytest.approx([2.0 + WAY_S] * 3)
        assert scene.hub.ended() == "succeeded"

    with capture_logs() as logs:
        played(play, held)
    (said,) = [each for each in logs if each["event"] in ("standby", "no session")]
    assert (said["event"], said["why"], said["request"]) == ("standby", "held by another, heard at 0", "r0")


def test_a_hub_that_is_away_is_asked_in_growing_pauses() -> None:
    """C81: an outage ends, and nobody has to restart anything."""

    def away(hub: FakeHub, cluster: Stumbling) -> None:
        hub.is_away = True

    async def play(scene: Scene) -> None:
        await pass_time(60)
        gaps = [later - earlier for earlier, later in zip(scene.hub.sessions, scene.hub.sessions[1:], strict=False)]
        pauses = (0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0, 10.0, 10.0)
        assert gaps == pytest.approx([pause + WAY_S for pause in pauses])

    played(play, away)


def test_nothing_leaves_while_the_hub_was_not_heard_for_too_long() -> None:
    def busy(hub: FakeHub, cluster: Stumbling) -> None:
        hub.submit("node.cordon")
        cluster.stumble = lambda step: Busy("conflict") if seconds() < 40 else None

    async def play(scene: Scene) -> None:
        await pass_time(2)
        scene.hub.is_away = True
        last_s = scene.hub.syncs[-1] if scene.hub.syncs[-1] + 2 * WAY_S < seconds() else scene.hub.syncs[-2]
        await pass_time(28)
        silent = [at for at, _ in scene.cluster.sent if at >= last_s + STOP_AFTER_S]
        assert silent == []
        assert any(at > 2 for at, _ in scene.cluster.sent), "until then it goes on"
        scene.hub.is_away = False
        await pass_time(60)
        assert scene.hub.ended() == "succeeded"

    played(play, busy)


def test_what_was_decided_long_before_its_memory_was_stored_is_not_done_any_more() -> None:
    async def play(scene: Scene) -> None:
        while not scene.hub.acks:
            await pass_time(WAY_S)
        scene.hub.is_deaf = True  # to the report that carries the first evictions
        await pass_time(20)
        scene.world.cordon_by_hand("n1", on=False)
        scene.hub.is_deaf = False
        await pass_time(60)
        assert any(report.memory and report.memory["pods"] for _, report in scene.hub.reports)
        assert scene.hub.ended() == "failed"
        assert scene.evictions() == []

    played(play)


# --- signals ----------------------------------------------------------------------------------------------------------


def test_a_clean_stop_waits_for_what_is_in_flight_and_gives_the_session_back() -> None:
    def slow(hub: FakeHub, cluster: Stumbling) -> None:
        hub.submit("node.cordon")
        cluster.answers_after_s = 3.0

    async def play(scene: Scene) -> None:
        await pass_time(SHORTLY)
        ((sent_s, _),) = scene.cluster.sent
        scene.stop()
        with pytest.raises(asyncio.CancelledError):
            await scene.task
        ((released_s, epoch),) = scene.hub.released
        assert released_s == pytest.approx(sent_s + 3.0)
        assert epoch == 1
        assert scene.world.snapshot().nodes[NodeName("n1")].unschedulable

    played(play, slow)


def test_a_stop_does_not_wait_for_ever() -> None:
    def hung(hub: FakeHub, cluster: Stumbling) -> None:
        hub.submit("node.cordon")
        cluster.answers_after_s = 3600.0

    async def play(scene: Scene) -> None:
        await pass_time(SHORTLY)
        stopped_s = seconds()
        scene.stop()
        with pytest.raises(asyncio.CancelledError):
            await scene.task
        assert seconds() < stopped_s + 10

    played(play, hung)


def test_a_stop_lets_nothing_more_leave() -> None:
    def slow(hub: FakeHub, cluster: Stumbling) -> None:
        hub.submit("node.cordon")
        cluster.connects_after_s = 2.0

    async def play(scene: Scene) -> None:
        await pass_time(SHORTLY)
        scene.stop()
        with pytest.raises(asyncio.CancelledError):
            await scene.task
        assert scene.cluster.sent == []
        assert len(scene.hub.released) == 1

    played(play, slow)


def test_a_stop_without_a_session_gives_nothing_back() -> None:
    def away(hub: FakeHub, cluster: Stumbling) -> None:
        hub.is_away = True

    async def play(scene: Scene) -> None:
        await pass_time(5)
        scene.stop()
        with pytest.raises(asyncio.CancelledError):
            await scene.task
        assert scene.hub.released == []

    played(play, away)


def test_a_stop_that_meets_the_loss_of_the_session_is_not_lost_itself() -> None:
    class Lingering(FakeHub):
        async def sync(self, request):  # type: ignore[no-untyped-def]
            try:
                return await super().sync(request)
            except asyncio.CancelledError:
                await pass_time(1.0)  # closing a connection takes its time
                raise

    async def main() -> None:
        hub, cluster = Lingering(), a_cluster()
        task = asyncio.create_task(an_operator(hub, cluster).run())
        await pass_time(5)
        hub.epoch += 1
        cluster.world.cordon_by_hand("n1")  # the inventory is told, and hears that the session is lost
        await pass_time(0.1)
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=60)
        assert done
        assert len(hub.sessions) == 1

    run_virtual(main())


# --- faults of our own ------------------------------------------------------------------------------------------------


def test_a_turn_that_fails_is_told_and_does_not_end_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    real, faults = Conductor.turn, [ValueError("a fault"), ValueError("a fault")]

    def faulty(self, snapshot, now):  # type: ignore[no-untyped-def]
        if faults and self.operations:
            raise faults.pop()
        return real(self, snapshot, now)

    async def play(scene: Scene) -> None:
        await pass_time(15)
        assert scene.hub.ended() is None
        await pass_time(45)
        assert scene.hub.ended() == "succeeded"

    monkeypatch.setattr(Conductor, "turn", faulty)
    with capture_logs() as logs:
        played(play)
    failed = [each for each in logs if each["log_level"] == "error"]
    assert [(each["event"], each["operations"]) for each in failed] == [("a turn failed", ["op_01"])] * 2


def test_a_step_that_fails_inside_is_of_unknown_outcome_and_told() -> None:
    faults = [RuntimeError("a fault")]

    def fault(step: Step) -> Answer | None:
        if isinstance(step, Evict) and faults:
            raise faults.pop()
        return None

    def faulty(hub: FakeHub, cluster: Stumbling) -> None:
        hub.submit("node.drain")
        cluster.stumble = fault

    async def play(scene: Scene) -> None:
        await pass_time(120)
        assert scene.hub.ended() == "succeeded"
        first, second, _ = scene.evictions()
        assert second == pytest.approx(first + LANDING_MAX_S, abs=0.5)

    with capture_logs() as logs:
        played(play, faulty)
    failed = [(each["event"], each["operation"]) for each in logs if each["log_level"] == "error"]
    assert failed == [("a step failed", "op_01")]


# --- how it is --------------------------------------------------------------------------------------------------------


def test_what_it_does_is_counted_as_it_goes() -> None:
    async def play(scene: Scene) -> None:
        scene.cluster.answers_after_s = 0.5
        await pass_time(0.3)
        assert (scene.operator.vitals().operations, scene.operator.vitals().steps) == (1, 2)  # a cordon and an eviction
        await pass_time(30)
        vitals = scene.operator.vitals()
        assert (vitals.operations, vitals.steps, vitals.standing_s) == (0, 0, 0.0)
        assert vitals.silent_s is not None
        assert vitals.silent_s < 4
        told = figures_in(scene.operator._metrics.text(vitals).decode())
        assert told['hangar_steps_total{answer="accepted",step="cordon"}'] == 1
        assert told['hangar_steps_total{answer="accepted",step="evict"}'] == 2
        assert told['hangar_step_duration_seconds_sum{step="evict"}'] == 1.0
        assert told["hangar_turn_seconds_count"] > 4
        assert told["hangar_turn_failures_total"] == 0

    played(play)


def test_without_a_session_nothing_stands_still() -> None:
    def away(hub: FakeHub, cluster: Stumbling) -> None:
        hub.is_away = True

    async def play(scene: Scene) -> None:
        await pass_time(300)
        assert scene.operator.vitals() == Vitals()

    played(play, away)


def test_a_turn_that_is_wanted_and_not_taken_shows() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(30)
        scene.operator._turn_wanted.set()  # and no task has the time to look
        assert scene.operator.vitals().standing_s > 1

    played(play)

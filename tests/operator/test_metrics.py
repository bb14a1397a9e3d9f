"""The operator's figures: each thing that happens is counted, and what is not there now is not shown."""

import pytest

from hangar.domain.decision import Accepted, Answer, BudgetFull, Evict, SeveralBudgets
from hangar.operator.cluster.port import Watch
from hangar.operator.metrics import OperatorMetrics, Vitals
from hangar.telemetry.metrics import OPERATOR
from tests.domain.building import a_ref
from tests.telemetry.figures import figures_in


def told(metrics: OperatorMetrics, now: Vitals | None = None) -> dict[str, float]:
    return figures_in(metrics.text(now or Vitals()).decode())


def test_every_metric_that_is_defined_is_served() -> None:
    text = OperatorMetrics().text(Vitals()).decode()
    assert [each.name for each in OPERATOR if f"# TYPE {each.name} {each.sort}\n" not in text] == []


def test_turns_are_timed_and_failed_ones_counted() -> None:
    metrics = OperatorMetrics()
    metrics.turned(0.02)
    metrics.turn_failed()
    seen = told(metrics)
    assert (seen["hangar_turn_seconds_count"], seen["hangar_turn_seconds_sum"]) == (1, 0.02)
    assert seen["hangar_turn_failures_total"] == 1


@pytest.mark.parametrize(
    ("answer", "word"),
    [(Accepted(), "accepted"), (BudgetFull("full"), "budget_full"), (SeveralBudgets("two"), "several_budgets")],
)
def test_a_step_is_counted_by_its_answer(answer: Answer, word: str) -> None:
    metrics = OperatorMetrics()
    metrics.answered(Evict(a_ref("a")), answer, 0.1)
    seen = told(metrics)
    assert seen[f'hangar_steps_total{{answer="{word}",step="evict"}}'] == 1
    assert seen['hangar_step_duration_seconds_sum{step="evict"}'] == 0.1


def test_calls_are_counted_by_how_they_ended() -> None:
    metrics = OperatorMetrics()
    metrics.called("sync", "ok", 3.0)
    metrics.called("sync", "fenced", 0.1)
    seen = told(metrics)
    assert seen['hangar_hub_calls_total{call="sync",outcome="fenced"}'] == 1
    assert seen['hangar_hub_call_duration_seconds_sum{call="sync"}'] == 3.1


def test_how_it_is_now_is_shown_and_forgotten() -> None:
    metrics = OperatorMetrics()
    watches = (Watch("pods", is_up=False, age_s=70.0), Watch("nodes", is_up=True, age_s=None))
    seen = told(metrics, Vitals(3.0, 0.0, operations=2, steps=5, watches=watches, objects={"pods": 7}))
    assert seen["hangar_session_held"] == 1
    assert seen["hangar_hub_silence_seconds"] == 3.0
    assert (seen["hangar_operations_held"], seen["hangar_steps_in_flight"]) == (2, 5)
    assert (seen['hangar_watch_up{resource="pods"}'], seen['hangar_watch_up{resource="nodes"}']) == (0, 1)
    assert [name for name in seen if name.startswith("hangar_watch_age")] == [
        'hangar_watch_age_seconds{resource="pods"}'
    ]
    assert seen['hangar_snapshot_objects{resource="pods"}'] == 7
    later = told(metrics)
    assert (later["hangar_session_held"], later["hangar_hub_silence_seconds"]) == (0, 0)
    assert [name for name in later if name.startswith(("hangar_watch", "hangar_snapshot"))] == []

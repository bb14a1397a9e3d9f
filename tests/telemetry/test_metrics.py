"""Definitions keep the rules that scrapers and people go by, and each instance counts for itself."""

import re

import pytest

from hangar.telemetry.metrics import HUB, OPERATIONS, OPERATOR, TURN_SECONDS, WAITERS, Definition, Metrics, Sort
from tests.telemetry.figures import figures_in

EVERY = tuple(dict.fromkeys([*HUB, *OPERATOR]))


@pytest.mark.parametrize("each", EVERY, ids=lambda each: each.name)
def test_a_name_says_unit_and_sort(each: Definition) -> None:
    assert re.fullmatch(r"hangar_[a-z]+(_[a-z]+)*", each.name)
    assert (each.sort is Sort.COUNTER) == each.name.endswith("_total")
    assert each.sort is not Sort.HISTOGRAM or each.name.endswith("_seconds")
    assert not each.name.endswith(("_count", "_sum", "_bucket"))


@pytest.mark.parametrize("each", EVERY, ids=lambda each: each.name)
def test_a_meaning_is_one_line_without_a_full_stop_and_only_histograms_have_buckets(each: Definition) -> None:
    assert each.meaning
    assert not each.meaning.endswith(".")
    assert "\n" not in each.meaning
    assert bool(each.buckets) == (each.sort is Sort.HISTOGRAM)
    assert list(each.buckets) == sorted(set(each.buckets))


def test_one_name_is_one_metric() -> None:
    assert len({each.name for each in EVERY}) == len(EVERY)


def test_what_is_taken_is_what_is_told() -> None:
    of = Metrics()
    of.counter(OPERATIONS).labels("node.drain", "pending").inc(2)
    of.gauge(WAITERS).set(3)
    of.histogram(TURN_SECONDS).observe(0.02)
    told = figures_in(of.text().decode())
    assert told['hangar_operations_total{phase="pending",type="node.drain"}'] == 2
    assert told["hangar_waiters"] == 3
    assert (told['hangar_turn_seconds_bucket{le="0.01"}'], told['hangar_turn_seconds_bucket{le="0.03"}']) == (0, 1)
    assert told["hangar_turn_seconds_sum"] == 0.02
    assert [name for name in told if "_created" in name] == []


def test_two_in_one_process_do_not_share_their_figures() -> None:
    one, other = Metrics(), Metrics()
    one.gauge(WAITERS).set(3)
    other.gauge(WAITERS)
    assert figures_in(other.text().decode())["hangar_waiters"] == 0


def test_the_release_and_the_process_are_told() -> None:
    text = Metrics().text().decode()
    assert 'hangar_build_info{version="0.1.0"} 1.0' in text
    assert "process_resident_memory_bytes " in text

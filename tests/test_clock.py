"""The clock: microseconds and instants are the same time, to the microsecond."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from hangar.clock import EPOCH, SystemClock, from_us, to_us

INSTANTS = st.datetimes(timezones=st.sampled_from((UTC, timezone(timedelta(hours=5, minutes=45)))))


@given(INSTANTS)
def test_an_instant_survives_the_way_there_and_back(at: datetime) -> None:
    assert from_us(to_us(at)) == at
    assert from_us(to_us(at)).tzinfo is UTC


def test_microseconds_count_from_1970_and_are_never_rounded() -> None:
    assert from_us(0) == EPOCH
    assert to_us(datetime(1970, 1, 1, 0, 0, 1, 1, tzinfo=UTC)) == 1_000_001
    assert to_us(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)) == -1


def test_the_machines_clocks_are_read_in_their_units() -> None:
    clock = SystemClock()
    assert from_us(clock.now_us()).year >= 2026
    assert 0 <= clock.monotonic_s() <= clock.monotonic_s()

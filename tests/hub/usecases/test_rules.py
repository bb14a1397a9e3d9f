"""The rules: microseconds, and since when silence proves something."""

from hangar.hub.usecases.rules import Rules, us
from tests.hub.world import CATALOGUE


def test_seconds_become_microseconds() -> None:
    assert (us(15.0), us(0.1), us(1e-7)) == (15_000_000, 100_000, 0)


def test_silence_proves_something_two_leases_after_the_start() -> None:
    assert Rules(catalogue=CATALOGUE, hub_started_us=1_000, lease_s=15.0).listening_since_us() == 30_001_000

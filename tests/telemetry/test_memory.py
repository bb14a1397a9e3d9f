"""The collector is set to look rarely."""

import gc

from hangar.telemetry.memory import collect_rarely


def test_the_collector_looks_through_everything_rarely() -> None:
    before = gc.get_threshold()
    try:
        collect_rarely()
        after = gc.get_threshold()
    finally:
        gc.set_threshold(*before)
    assert gc.isenabled()
    assert after[0] * after[1] * after[2] > 1_000_000 > before[0] * before[1] * before[2]

"""The collector is set to look rarely."""

import gc

from hangar.collector import collect_rarely

USUAL = (700, 10, 10)
"""What Python begins with."""


def test_the_collector_looks_through_everything_rarely() -> None:
    before = gc.get_threshold()  # another test's program may have set it in this process
    try:
        gc.set_threshold(*USUAL)
        collect_rarely()
        assert gc.isenabled()
        assert all(after > usual for after, usual in zip(gc.get_threshold(), USUAL, strict=True))
    finally:
        gc.set_threshold(*before)

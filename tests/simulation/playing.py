"""Playing a seed: the one way in for the tests and for people."""

import structlog

from tests.simulation.scenario import Run
from tests.virtual_loop import run_virtual


def play(seed: int) -> tuple[Exception | None, str]:
    """Play a seed; return what broke, if anything, and the story of the run."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    run = Run(seed)
    try:
        run_virtual(run.play())
    except Exception as error:
        return error, "\n".join(run.story)
    finally:
        structlog.configure(**before)
    return None, "\n".join(run.story)

"""Playing a seed: the one way in for the tests and for people."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from tests.simulation.scenario import Run
from tests.virtual_loop import run_virtual


@contextmanager
def silenced() -> Iterator[None]:
    """Let nothing be logged: of so many processes nobody would read it, and it costs most of the time."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        yield
    finally:
        structlog.configure(**before)


def play(seed: int) -> tuple[BaseException | None, str]:
    """Play a seed; return what broke, if anything, and the story of the run."""
    with silenced():
        return run_virtual(_play(Run(seed)))


async def _play(run: Run) -> tuple[BaseException | None, str]:
    playing = asyncio.create_task(run.play())
    await asyncio.wait({playing})
    return playing.exception(), "\n".join(run.story)

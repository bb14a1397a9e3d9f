"""Scenes that are played beside each other, each on ground of its own, and judged one by one."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeAlias

from testbed.bed import Bed
from testbed.ground import Ground
from testbed.stack import Stack

AT_ONCE = 8
"""So many scenes at a time keep two cores busy and not drowned."""

Scene: TypeAlias = Callable[[Ground], None]
Played: TypeAlias = Mapping[Scene, "Future[None]"]


class Scenes(list[Scene]):
    """The scenes of a module, in their order."""

    def add(self, scene: Scene) -> Scene:
        """Add one: a decorator."""
        self.append(scene)
        return scene


@contextmanager
def played(scenes: Iterable[Scene], bed: Bed, stack: Stack, name: str) -> Iterator[Played]:
    """Begin to play all scenes; `result()` of a scene's future waits for it, and raises what it raised.

    `name` tells their grounds from those of other modules.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {scene: pool.submit(_play, scene, bed, stack, f"{name}-{number}") for number, scene in enumerate(scenes)}


def _play(scene: Scene, bed: Bed, stack: Stack, name: str) -> None:
    ground = Ground(bed, stack.client, name)
    try:
        scene(ground)
    finally:
        ground.remove()

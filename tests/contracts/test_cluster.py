"""The simulated cluster keeps the contract of the port; `tests/kubernetes` holds a real one to the same scenes."""

import pytest

from tests.contracts.cluster_scenes import SCENES, Scene
from tests.contracts.simulated_stage import play


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_the_simulated_cluster(scene: Scene) -> None:
    play(scene)

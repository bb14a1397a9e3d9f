"""The simulated cluster keeps the contract of the port; `tests/kubernetes` holds a real one to the same scenes."""

import pytest

from tests.contracts.cluster_scenes import ALL_SCENES
from tests.contracts.cluster_stage import Scene
from tests.contracts.graph_scenes import GRAPH_SCENES
from tests.contracts.owning_scenes import OWNING_SCENES, OwningScene
from tests.contracts.simulated_stage import play


@pytest.mark.parametrize("scene", ALL_SCENES, ids=lambda scene: scene.__name__)
def test_the_simulated_cluster(scene: Scene) -> None:
    play(scene)


@pytest.mark.parametrize("scene", [*GRAPH_SCENES, *OWNING_SCENES], ids=lambda scene: scene.__name__)
def test_the_simulated_cluster_with_graphs(scene: OwningScene) -> None:
    play(scene)

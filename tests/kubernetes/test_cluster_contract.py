"""The Kubernetes adapter keeps the contract of the port on a real API server, with the operator's rights alone."""

from pathlib import Path

import pytest

from testbed.bed import Bed
from tests.contracts.cluster_scenes import ALL_SCENES
from tests.contracts.cluster_stage import Scene
from tests.kubernetes.kubernetes_stage import play


@pytest.mark.parametrize("scene", ALL_SCENES, ids=lambda scene: scene.__name__)
def test_the_kubernetes_adapter(scene: Scene, empty_bed: Bed, operator_kubeconfig: Path) -> None:
    play(scene, empty_bed, operator_kubeconfig)

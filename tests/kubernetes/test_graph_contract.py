"""The Kubernetes adapter keeps the contract of graphs, in each version that Dynamo serves them in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.bed import Bed
from testbed.dynamo_graphs import Graphs
from testbed.ground import empty
from tests.contracts.graph_scenes import GRAPH_SCENES, NAMESPACE
from tests.contracts.owning_scenes import OWNING_SCENES, OwningScene
from tests.kubernetes.kubernetes_stage import play


@pytest.fixture
def empty_namespace(empty_bed: Bed) -> Iterator[None]:
    """Leave nothing in the namespace of these scenes."""
    yield
    empty(empty_bed.kube, NAMESPACE)


@pytest.mark.parametrize("scene", [*GRAPH_SCENES, *OWNING_SCENES], ids=lambda scene: scene.__name__)
@pytest.mark.usefixtures("empty_namespace")
def test_the_kubernetes_adapter_with_graphs(
    scene: OwningScene, empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    play(scene, empty_bed, operator_kubeconfig, graphs.version)

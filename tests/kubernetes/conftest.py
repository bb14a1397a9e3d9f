"""One real cluster for all tests of this folder, built on first use and up in seconds."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from hangar.operator.cluster.kubernetes.access import NEEDED, OPTIONAL
from testbed import dynamo_crds
from testbed.access import user_with
from testbed.bed import Bed
from testbed.build import build
from testbed.dynamo_crds import Version
from testbed.dynamo_graphs import Graphs
from testbed.ground import empty
from testbed.kube import until
from testbed.stack import Stack

UNCLOSED = "ignore:Exception ignored in.*(_SelectorTransport|socket):pytest.PytestUnraisableExceptionWarning"
"""A cancel that meets the end of a connect leaves asyncio's transport unclosed, and nobody has it to close it; the
collector finds it in whatever test runs next. An operator is cancelled only as its process ends."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let go of what the library leaves behind."""
    for item in (each for each in items if each.path.is_relative_to(Path(__file__).parent)):
        item.add_marker(pytest.mark.filterwarnings(UNCLOSED))


@pytest.fixture(scope="session")
def bed(pytestconfig: pytest.Config) -> Iterator[Bed]:
    """A running bed; tests clean up after themselves, or use `empty_bed`."""
    with _shown(pytestconfig):  # a first build takes minutes, and says so
        programs = build()
    with Bed(programs) as running:
        yield running


def _shown(config: pytest.Config) -> AbstractContextManager[None]:
    """Return a context whose output reaches the terminal at once."""
    capture = config.pluginmanager.getplugin("capturemanager")
    return nullcontext() if capture is None else capture.global_and_fixture_disabled()


@pytest.fixture
def empty_bed(bed: Bed) -> Iterator[Bed]:
    """A running bed without nodes, workloads and budgets; what the test adds is removed at its end."""
    yield bed
    clear(bed)


def clear(bed: Bed) -> None:
    """Remove all nodes, volumes, and what tests make in the default namespace, and wait until they are gone."""
    bed.kube.call("DELETE", "/api/v1/nodes")
    empty(bed.kube, "default")
    bed.kube.call("DELETE", "/api/v1/persistentvolumes")
    until("no nodes and volumes", lambda: not bed.kube.find("Node") and not bed.kube.find("PersistentVolume"))


@pytest.fixture(scope="module", params=["v1beta1", "v1alpha1"])
def version(request: pytest.FixtureRequest) -> Version:
    """Either version of graphs; of the module, so that the bed changes from the one to the other once."""
    either: Version = request.param
    return either


@pytest.fixture(scope="module")
def dynamo(bed: Bed, version: Version) -> Iterator[Version]:
    """The version of graphs that the bed serves; afterwards it serves none, as before."""
    dynamo_crds.install(bed.kube, version)
    yield version
    dynamo_crds.remove(bed.kube)


@pytest.fixture
def graphs(empty_bed: Bed, dynamo: Version) -> Iterator[Graphs]:
    """The graphs of a bed; what the test adds of them, of adapters and autoscalers is removed at its end."""
    graphs = Graphs(empty_bed.kube, dynamo)
    yield graphs
    dynamo_crds.clear(empty_bed.kube, dynamo)
    for autoscaler in empty_bed.kube.find("HorizontalPodAutoscaler"):
        metadata = autoscaler["metadata"]
        empty_bed.kube.delete("HorizontalPodAutoscaler", metadata["name"], metadata["namespace"])


@pytest.fixture(scope="session")
def operator_kubeconfig(bed: Bed) -> Path:
    """The kubeconfig of a user with exactly the rights that the operator needs, and no more."""
    return user_with(bed, "hangar-operator", (*NEEDED["force"], *NEEDED["scale"], *NEEDED["deploy"], *OPTIONAL))


@pytest.fixture(scope="module")
def stack(bed: Bed, operator_kubeconfig: Path) -> Iterator[Stack]:
    """A hub and the bed's operator, with short leases, for the tests of one module."""
    with Stack(bed, operator_kubeconfig) as running:
        yield running

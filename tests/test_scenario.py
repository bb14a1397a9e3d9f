"""A fleet as a TOML file declares it: scaling adapters, and who else writes the numbers of graphs."""

from pathlib import Path

import pytest

from hangar.demo.scenario import ScenarioError, load
from hangar.domain.workloads.graph import Rival, RivalKind
from tests.virtual_loop import NOON

FLEET = """
[[cluster]]
name = "iad-1"
allowed = ["scale"]
nodes = [{{ prefix = "n", count = 2 }}]
graph = [
    {{ name = "llama", namespace = "dynamo", rival = "gitops:argocd", components = [
        {{ name = "Frontend", role = "frontend" }},
        {{ name = "decode", role = "decode", adapter = true, rival = "{rival}", gpus = 1 }},
    ] }},
]
"""


def test_a_graph_is_declared_with_adapters_and_rivals(tmp_path: Path) -> None:
    path = tmp_path / "fleet.toml"
    path.write_text(FLEET.format(rival="hpa:busy"))
    (cluster,) = load(path).clusters
    (graph,) = cluster.build(NOON).snapshot().graphs.values()
    assert graph.rivals == (Rival(RivalKind.HPA, "busy", "decode"), Rival(RivalKind.GITOPS, "argocd"))
    assert [(each.name, each.has_adapter) for each in graph.components] == [("Frontend", False), ("decode", True)]
    decode = graph.component("decode")
    assert decode is not None
    assert decode.adapter is not None


def test_a_rival_of_a_kind_that_there_is_not_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fleet.toml"
    path.write_text(FLEET.format(rival="magic:wand"))
    with pytest.raises(ScenarioError, match="'magic'"):
        load(path)

"""hgr cluster: online or not, and what each allows."""

from tests.cli.conftest import Hgr
from tests.cli.samples import a_cluster
from tests.cli.scripted import Answer, ScriptedHub


def test_clusters_are_listed_with_their_operators_state(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list("/v1/clusters", a_cluster(last_seen_at=None), a_cluster(name="fra-1", online=False, last_seen_at=None))
    assert hgr("cluster", "ls").out.splitlines() == [
        "NAME    OPERATOR   SEEN   NODES   ALLOWED",
        "iad-1   online     -      4       cordon, drain",
        "fra-1   offline    -      4       cordon, drain",
    ]


def test_a_cluster_is_shown_by_key_and_value(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/clusters/iad-1", Answer(document=a_cluster()))
    lines = hgr("cluster", "get", "iad-1").out.splitlines()
    assert {"name: iad-1", "online: true", "allowed: cordon, drain"} <= set(lines)
    assert hgr("cluster", "get", "iad-1", "-q").out == "iad-1\n"

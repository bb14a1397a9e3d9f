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


def test_a_cluster_that_allows_nothing_is_told_from_one_that_was_never_heard_of(hub: ScriptedHub, hgr: Hgr) -> None:
    never = a_cluster(name="new-1", uid=None, online=False, last_seen_at=None, allowed=[])
    hub.on_list("/v1/clusters", a_cluster(name="lab-1", last_seen_at=None, allowed=[]), never)
    assert [line.split()[-1] for line in hgr("cluster", "ls").out.splitlines()] == ["ALLOWED", "nothing", "-"]


def test_a_cluster_is_shown_by_key_and_value(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/clusters/iad-1", Answer(document=a_cluster()))
    lines = hgr("cluster", "get", "iad-1").out.splitlines()
    assert {"name: iad-1", "online: true", "allowed: cordon, drain"} <= set(lines)
    assert hgr("cluster", "get", "iad-1", "-q").out == "iad-1\n"

"""hgr quota: one line a project and resource."""

import json

from tests.cli.conftest import Hgr
from tests.cli.samples import a_quota
from tests.cli.scripted import ScriptedHub

QUOTAS = "/v1/quotas"


def test_quotas_are_listed_with_what_is_left(hub: ScriptedHub, hgr: Hgr) -> None:
    unknown = a_quota(project="search", used=None)
    hub.on_list(QUOTAS, a_quota(), a_quota(resource="nvidia.com/mig-1g.10gb", limit=4, used=6), unknown)
    assert hgr("quota", "ls").out.splitlines() == [
        "PROJECT   RESOURCE                 LIMIT   USED   FREE",
        "chat      nvidia.com/gpu           64      48     16",
        "chat      nvidia.com/mig-1g.10gb   4       6      -2",
        "search    nvidia.com/gpu           64      -      -",
    ]
    assert hgr("quota", "ls", "-q").out.splitlines()[0] == "chat/nvidia.com/gpu"
    assert json.loads(hgr("quota", "ls", "-o", "json").out)["items"][2] == unknown


def test_the_manuals_line_asks_for_one_project(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list(QUOTAS)
    ran = hgr("quota", "ls", "--project", "chat")
    assert hub.requests[0].query == {"project": "chat", "page_size": "1000"}
    assert (ran.code, ran.err) == (0, "no quotas with project=chat\n")
    hgr("quota", "ls", "--resource", "nvidia.com/gpu", "--limit", "1")
    assert hub.requests[1].query == {"resource": "nvidia.com/gpu", "page_size": "1"}

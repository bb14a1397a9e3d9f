"""Projects: added, changed, listed with what they use, and removed when they own nothing."""

import pytest

from hangar.hub.principals import Principal
from hangar.hub.store.tx import Tx
from hangar.hub.usecases.paging import PageRequest
from hangar.hub.usecases.projects import (
    QuotaFilters,
    apply_project,
    delete_project,
    get_project,
    list_projects,
    list_quotas,
)
from hangar.hub.usecases.remove_workloads import delete_workload
from hangar.wire import shown
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.sites import GPU, Fleet
from tests.hub.world import ADMIN, MAINTAINER, VIEWER


def delete(fleet: Fleet, name: str, who: Principal = ADMIN) -> None:
    fleet.world.store.write(lambda tx: delete_project(tx, who, name, fleet.world.now_us))


def quotas(fleet: Fleet, token: str | None = None, size: int = 10, **filters: str) -> shown.Page[shown.Quota]:
    asked = QuotaFilters(**filters)
    return fleet.read(lambda connection: list_quotas(connection, asked, PageRequest(size, token)))


def test_a_project_is_added_changed_and_said_so_only_when_it_is_another(fleet: Fleet) -> None:
    fleet.add_project("chat", {GPU: 64})
    assert fleet.world.events("project") == ["project.added"]
    fleet.add_project("chat", {GPU: 32, "cpu": 100})
    found = fleet.read(lambda connection: get_project(connection, "chat"))
    assert (found.quotas, found.workloads) == ({GPU: 32, "cpu": 100}, 0)
    assert fleet.world.events("project") == ["project.added", "project.changed"]


def test_a_project_in_use_is_not_removed(fleet: Fleet) -> None:
    fleet.bind()
    with pytest.raises(Problem) as caught:
        delete(fleet, "chat")
    assert caught.value.code is ProblemCode.IN_USE
    assert caught.value.context == {"workloads": 1}
    fleet.world.store.write(lambda tx: delete_workload(tx, ADMIN, "llama", fleet.world.now_us))
    delete(fleet, "chat")
    assert fleet.world.events("project.removed") == ["project.removed"]
    with pytest.raises(Problem) as caught:
        delete(fleet, "chat")
    assert caught.value.code is ProblemCode.NOT_FOUND
    assert "hgr project ls" in caught.value.detail


@pytest.mark.parametrize("who", [VIEWER, MAINTAINER], ids=str)
def test_only_admins_change_projects(fleet: Fleet, who: Principal) -> None:
    def apply(tx: Tx) -> None:
        apply_project(tx, who, "other", {}, fleet.world.now_us)

    for run in (apply, lambda tx: delete_project(tx, who, "chat", fleet.world.now_us)):
        with pytest.raises(Problem) as caught:
            fleet.world.store.write(run)
        assert caught.value.code is ProblemCode.FORBIDDEN


def test_projects_are_listed_by_name_page_by_page(fleet: Fleet) -> None:
    for name in ("vision", "audio"):
        fleet.add_project(name, {})
    first = fleet.read(lambda connection: list_projects(connection, PageRequest(2)))
    assert [each.name for each in first.items] == ["audio", "chat"]
    last = fleet.read(lambda connection: list_projects(connection, PageRequest(2, first.next_page_token)))
    assert ([each.name for each in last.items], last.next_page_token) == (["vision"], None)
    with pytest.raises(Problem) as caught:
        quotas(fleet, first.next_page_token)
    assert caught.value.code is ProblemCode.INVALID_PAGE_TOKEN


def test_quotas_are_listed_by_project_and_resource_page_by_page(fleet: Fleet) -> None:
    fleet.add_project("audio", {"cpu": 5, GPU: 8})
    fleet.bind(replicas=2)
    first = quotas(fleet, size=2)
    assert [(each.project, each.resource, each.limit, each.used) for each in first.items] == [
        ("audio", "cpu", 5, None),  # nobody counts it
        ("audio", GPU, 8, 0),
    ]
    last = quotas(fleet, first.next_page_token, size=2)
    assert [(each.project, each.used) for each in last.items] == [("chat", 8)]
    assert last.next_page_token is None


def test_quotas_are_filtered_and_a_token_is_good_for_its_filters_alone(fleet: Fleet) -> None:
    fleet.add_project("audio", {"cpu": 5, GPU: 8})
    assert [each.resource for each in quotas(fleet, project="audio").items] == ["cpu", GPU]
    page = quotas(fleet, size=1, resource=GPU)
    assert [each.project for each in page.items] == ["audio"]
    assert [each.project for each in quotas(fleet, page.next_page_token, resource=GPU).items] == ["chat"]
    with pytest.raises(Problem) as caught:
        quotas(fleet, page.next_page_token)
    assert caught.value.code is ProblemCode.INVALID_PAGE_TOKEN
    assert quotas(fleet, project="nobody").items == []

"""Tokens in the store: made, found by their digest, revoked."""

import pytest

from hangar.hub.principals import Principal, Role
from hangar.hub.usecases.paging import PageRequest
from hangar.hub.usecases.tokens import TokenRequest, create_token, digest, find_token, list_tokens, revoke_token
from hangar.wire import shown
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.world import ADMIN, MAINTAINER, World


@pytest.fixture
def world() -> World:
    return World()


def make(world: World, who: Principal | None = ADMIN, **asked: object) -> shown.NewToken:
    request = TokenRequest(**{"name": "zoe", "role": Role.VIEWER} | asked)  # type: ignore[arg-type]
    return world.store.write(lambda tx: create_token(tx, who, request, world.now_us))


def found(world: World, secret: str) -> Principal | None:
    token = world.store.read(lambda connection: find_token(connection, digest(secret)))
    return None if token is None else token.principal


def test_a_token_is_found_by_its_secret_alone(world: World) -> None:
    made = make(world)
    assert found(world, made.secret) == Principal("zoe", Role.VIEWER)
    assert found(world, made.secret[:-1]) is None
    assert found(world, digest(made.secret)) is None


def test_secrets_differ_and_can_be_recognised(world: World) -> None:
    secrets = {make(world).secret for _ in range(5)}
    assert len(secrets) == 5
    assert all(each.startswith("hgr_") and len(each) == 47 for each in secrets)


def test_an_operators_token_adds_its_cluster_once(world: World) -> None:
    for _ in range(2):
        make(world, name="iad-1-operator", role=Role.OPERATOR, cluster="iad-1")
    assert world.events() == ["token.created", "cluster.added", "token.created"]


def test_a_revoked_token_is_no_longer_found_and_stays_listed(world: World) -> None:
    made = make(world)
    for _ in range(2):
        revoked = world.store.write(lambda tx: revoke_token(tx, ADMIN, made.token.id, world.now_us))
        assert revoked.revoked_at == "2026-11-18T11:06:40.000Z"
    assert found(world, made.secret) is None
    page = world.store.read(lambda connection: list_tokens(connection, ADMIN, PageRequest()))
    assert [each.id for each in page.items] == [made.token.id]
    assert world.events() == ["token.created", "token.revoked"]


def test_tokens_come_in_pages_the_newest_first(world: World) -> None:
    made = []
    for name in ("a", "b", "c"):
        made.append(make(world, name=name).token.name)
        world.pass_s(1)
    first = world.store.read(lambda connection: list_tokens(connection, ADMIN, PageRequest(2)))
    rest = world.store.read(lambda connection: list_tokens(connection, ADMIN, PageRequest(2, first.next_page_token)))
    assert [each.name for each in (*first.items, *rest.items)] == ["c", "b", "a"]
    assert rest.next_page_token is None


def test_only_admins_deal_with_tokens(world: World) -> None:
    made = make(world, None)
    for act in (
        lambda: make(world, MAINTAINER),
        lambda: world.store.write(lambda tx: revoke_token(tx, MAINTAINER, made.token.id, 1)),
        lambda: world.store.read(lambda connection: list_tokens(connection, MAINTAINER, PageRequest())),
    ):
        with pytest.raises(Problem) as caught:
            act()
        assert caught.value.code is ProblemCode.FORBIDDEN


def test_a_token_made_on_the_store_itself_has_no_maker(world: World) -> None:
    assert make(world, None).token.created_by is None
    assert make(world, ADMIN).token.created_by == "admin"

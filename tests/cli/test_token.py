"""hgr token: made once, listed without secrets, revoked by id."""

import json

import pytest

from hangar.cli.token import ROLES, state
from hangar.hub.principals import Role
from tests.cli.conftest import Hgr
from tests.cli.samples import a_token
from tests.cli.scripted import Answer, ScriptedHub, problem

TOKENS = "/v1/tokens"
ID = a_token()["id"]
NEW = {"token": a_token(), "secret": "hgr_new"}
CREATE = ("token", "create", "ann", "--role", "maintainer")


def test_the_roles_are_the_hubs() -> None:
    assert set(ROLES) == set(Role)


def test_the_secret_is_all_that_stdout_gets(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("POST", TOKENS, Answer(201, NEW))
    ran = hgr(*CREATE)
    assert (ran.code, ran.out) == (0, "hgr_new\n")
    assert ran.err == (
        f"{ID} for ann (maintainer) is good until it is revoked. The secret is shown this once; "
        f"revoke it: hgr token revoke {ID}\n"
    )
    assert hub.requests[0].body == {"name": "ann", "role": "maintainer"}
    quiet = hgr(*CREATE, "-q")
    assert (quiet.out, quiet.err) == ("hgr_new\n", "")


def test_an_end_and_a_cluster_are_told_to_the_hub_and_to_the_user(hub: ScriptedHub, hgr: Hgr) -> None:
    token = a_token(name="op", role="operator", cluster="iad-1", expires_at="2026-11-26T12:34:56.000Z")
    hub.on("POST", TOKENS, Answer(201, {"token": token, "secret": "hgr_new"}))
    ran = hgr("token", "create", "op", "--role", "operator", "--cluster", "iad-1", "--expires", "30d")
    assert hub.requests[0].body == {"name": "op", "role": "operator", "cluster": "iad-1", "expires_in_s": 2_592_000}
    assert f"{ID} for op (operator of iad-1) is good until 2026-11-26T12:34:56.000Z." in ran.err


def test_machines_get_the_token_with_its_secret(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("POST", TOKENS, Answer(201, NEW))
    ran = hgr(*CREATE, "-o", "json")
    assert (json.loads(ran.out), ran.err) == (NEW, "")


def test_a_secret_is_not_lost_for_a_name(hub: ScriptedHub, hgr: Hgr) -> None:
    ran = hgr(*CREATE, "-o", "name")
    assert (ran.code, hub.requests) == (2, [])
    assert "would lose the secret" in ran.err


def test_a_request_for_a_token_is_sent_once(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("POST", TOKENS, Answer(hang_up=True))
    ran = hgr(*CREATE)
    assert (ran.code, ran.out, len(hub.requests)) == (7, "", 1)
    assert "whether it was made is not known; see, and revoke what nobody holds: hgr token ls" in ran.err


def test_what_is_wrong_is_told_by_flag(hub: ScriptedHub, hgr: Hgr) -> None:
    errors = [{"path": "name", "message": "may not"}, {"path": "expires_in_s", "message": "must be at most 5"}]
    hub.on("POST", TOKENS, problem(422, "invalid_value", "two are wrong", errors=errors))
    ran = hgr(*CREATE, "--expires", "9d")
    assert (ran.code, ran.err.splitlines()[1:]) == (2, ["  NAME: may not", "  --expires: must be at most 5"])


@pytest.mark.parametrize("words", [(), ("--role", "king"), ("--role", "viewer", "--expires", "soon")])
def test_a_wrong_command_line_sends_nothing(hub: ScriptedHub, hgr: Hgr, words: tuple[str, ...]) -> None:
    ran = hgr("token", "create", "ann", *words)
    assert (ran.code, ran.out, hub.requests) == (2, "", [])


def test_tokens_are_listed_with_their_ends(hub: ScriptedHub, hgr: Hgr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_793_104_496.0 + 86_400)  # a day after they were made
    hub.on_list(
        TOKENS,
        a_token(),
        a_token(expires_at="2026-11-27T12:34:56.000Z"),
        a_token(name="bob", role="viewer", expires_at="2026-10-28T10:34:56.000Z"),
        a_token(name="op", role="operator", cluster="iad-1", created_by=None, revoked_at="2026-10-27T12:35:56.000Z"),
    )
    assert hgr("token", "ls").out.splitlines() == [
        "ID                               NAME   ROLE         CLUSTER   AGE   BY      EXPIRES   STATE",
        f"{ID}   ann    maintainer   -         24h   admin   never     valid",
        f"{ID}   ann    maintainer   -         24h   admin   in 30d    valid",
        f"{ID}   bob    viewer       -         24h   admin   2h ago    expired",
        f"{ID}   op     operator     iad-1     24h   -       never     revoked",
    ]
    assert hgr("token", "ls", "-q").out == f"{ID}\n" * 4


def test_a_token_expires_at_its_instant() -> None:
    token = a_token(expires_at="1970-01-01T00:01:40.000Z")
    assert [state(token, now_s) for now_s in (99.9, 100.0)] == ["valid", "expired"]


def test_a_token_is_revoked_by_its_id(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("DELETE", f"{TOKENS}/{ID}", Answer(document=a_token(revoked_at="2026-10-27T12:35:56.000Z")))
    ran = hgr("token", "revoke", ID)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"{ID} for ann (maintainer) is revoked: it opens nothing any more, within a second everywhere\n"
    assert hgr("token", "revoke", ID, "-q").out == f"{ID}\n"


def test_a_secret_given_for_an_id_is_sent_nowhere_and_not_repeated(hub: ScriptedHub, hgr: Hgr) -> None:
    ran = hgr("token", "revoke", "hgr_secret")
    assert (ran.code, hub.requests) == (2, [])
    assert "hgr_secret" not in ran.err


def test_who_is_no_admin_is_told_so(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", TOKENS, problem(403, "forbidden", "ann has the role viewer, and this takes the role admin"))
    assert hgr("token", "ls").code == 4

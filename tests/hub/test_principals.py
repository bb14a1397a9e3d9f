"""Roles: what each includes."""

import pytest

from hangar.hub.principals import Principal, Role, require
from hangar.wire.problems import Problem, ProblemCode

LADDER = (Role.VIEWER, Role.MAINTAINER, Role.ADMIN)


@pytest.mark.parametrize("needed", list(Role))
@pytest.mark.parametrize("has", list(Role))
def test_users_roles_are_a_ladder_and_an_operators_stands_apart(has: Role, needed: Role) -> None:
    who = Principal("zoe", has, "iad-1" if has is Role.OPERATOR else None)
    is_included = has is needed or (has in LADDER and needed in LADDER[: LADDER.index(has)])
    if is_included:
        require(who, needed)
        return
    with pytest.raises(Problem) as caught:
        require(who, needed)
    assert caught.value.code is ProblemCode.FORBIDDEN
    assert f"zoe has the role {has}, and this takes the role {needed}" in caught.value.detail

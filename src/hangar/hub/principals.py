"""Who asks: the principal behind a token, and what its role lets it do."""

from dataclasses import dataclass
from enum import StrEnum

from hangar.wire.problems import Problem, ProblemCode


class Role(StrEnum):
    """What a token is for. A maintainer may do what a viewer may, an admin what a maintainer may."""

    VIEWER = "viewer"
    MAINTAINER = "maintainer"
    ADMIN = "admin"
    OPERATOR = "operator"


INCLUDED: dict[Role, frozenset[Role]] = {
    Role.VIEWER: frozenset({Role.VIEWER}),
    Role.MAINTAINER: frozenset({Role.VIEWER, Role.MAINTAINER}),
    Role.ADMIN: frozenset({Role.VIEWER, Role.MAINTAINER, Role.ADMIN}),
    Role.OPERATOR: frozenset({Role.OPERATOR}),
}


@dataclass(frozen=True, slots=True)
class Principal:
    """The holder of a token; `cluster` is set for an operator's alone."""

    name: str
    role: Role
    cluster: str | None = None


def require(who: Principal, role: Role) -> None:
    """Raise FORBIDDEN unless the principal's role includes `role`."""
    if role not in INCLUDED[who.role]:
        raise Problem(
            ProblemCode.FORBIDDEN,
            f"{who.name} has the role {who.role}, and this takes the role {role}: ask an admin for such a token",
        )

"""Pages about the API: routes and who may call them, roles, problems."""

from collections.abc import Iterator

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from hangar.cli.exits import of_status
from hangar.hub.api import authentication, fleet, operations, operator, system, tokens
from hangar.hub.principals import INCLUDED, Role
from hangar.wire.operator import PROTOCOL_VERSION
from hangar.wire.problems import PROBLEM_MEDIA_TYPE, ProblemCode
from tools.reference.markdown import code, codes, page, sentence, table

ROLE_OF = {
    authentication.viewer: Role.VIEWER,
    authentication.maintainer: Role.MAINTAINER,
    authentication.admin: Role.ADMIN,
    authentication.operated_cluster: Role.OPERATOR,
}


def api() -> str:
    """Return the page of routes."""
    modules = (operations, fleet, tokens, operator, system)
    routes = [route for module in modules for route in module.router.routes if isinstance(route, APIRoute)]
    rows = [
        (
            code(f"{'/'.join(sorted(route.methods or ()))} {route.path}"),
            sentence(route.summary or route.endpoint.__doc__ or ""),
            _role(route),
            codes(sorted(_parameters(route.dependant))),
        )
        for route in routes
    ]
    return page(
        "API",
        "A running hub shows it at `/docs`, and describes it in `/openapi.json`. Send the token as "
        "`Authorization: Bearer hgr_…`. Lists are in pages: only a missing `next_page_token` ends one. `/docs` and "
        "`/openapi.json`, too, need no token.",
        table(("route", "what it does", "role", "query"), rows),
        f"`/v1/operator` is the operators' own protocol, version {PROTOCOL_VERSION}; it may change with a release.",
    )


def _role(route: APIRoute) -> str:
    calls = list(_calls(route.dependant))
    roles = [ROLE_OF[call] for call in calls if call in ROLE_OF]
    if roles:
        return roles[0].value
    return "any" if authentication.caller in calls else "no token"


def _calls(dependant: Dependant) -> Iterator[object]:
    for each in dependant.dependencies:
        yield each.call
        yield from _calls(each)


def _parameters(dependant: Dependant) -> Iterator[str]:
    yield from (each.alias for each in dependant.query_params)
    for each in dependant.dependencies:
        yield from _parameters(each)


ABOUT_ROLES = {
    Role.VIEWER: "reads everything but tokens",
    Role.MAINTAINER: "asks for operations, and cancels them",
    Role.ADMIN: "makes and revokes tokens",
    Role.OPERATOR: "the process in one cluster; reaches `/v1/operator`, and beside it `/v1/whoami` alone",
}


def roles() -> str:
    """Return the page of roles."""
    rows = [(code(role.value), ABOUT_ROLES[role], codes(sorted(INCLUDED[role]))) for role in Role]
    return page(
        "Roles",
        "A token has one role. [The API](api.md) says which route takes which.",
        table(("role", "what it is for", "may do what is for"), rows),
    )


def problems() -> str:
    """Return the page of problem codes."""
    rows = [
        (
            code(each.code),
            str(each.status),
            each.title,
            str(int(of_status(each.status))),
        )
        for each in ProblemCode
    ]
    return page(
        "Problem codes",
        f"Every error of the API is `{PROBLEM_MEDIA_TYPE}` (RFC 9457) with a stable `code`, a `detail` that says what "
        "is wrong with this request and what to do next, and `errors`, each with the path of the field. Some carry "
        "more: `candidates`, `conflicting_operation`, `operation`, `retry_after_s`.",
        table(("code", "status", "title", "hgr exits"), rows),
    )

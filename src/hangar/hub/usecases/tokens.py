"""Tokens: who may come in; they are shown once, and the store keeps a digest."""

import hashlib
import re
import secrets
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, insert, select, update

from hangar.domain.limits import NAME_CHARS_MAX, TOKEN_LIFE_MAX_S
from hangar.hub.ids import token_id
from hangar.hub.present import milliseconds
from hangar.hub.principals import Principal, Role, require
from hangar.hub.store.dialects import insert_unless_there
from hangar.hub.store.records import StoredRow, feed_rev
from hangar.hub.store.tables import clusters, tokens
from hangar.hub.store.tx import EventType, Subject, Tx
from hangar.hub.usecases.paging import PageRequest, next_token, position
from hangar.hub.usecases.rules import SECOND_US
from hangar.wire import shown
from hangar.wire.problems import FieldError, Problem, ProblemCode

SECRET_PREFIX = "hgr_"  # noqa: S105 - what tokens begin with, so that people and scanners recognise them
SECRET_BYTES = 32
"""A token's random part: far beyond guessing, so that a fast digest keeps it."""

NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._@-]*[A-Za-z0-9])?")
CLUSTER_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")

_VALID = select(tokens).where(tokens.c.sha256 == bindparam("wanted"), tokens.c.revoked_us.is_(None))


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """A token to make: the principal's name, its role, the cluster of an operator's, and how long it is good for."""

    name: str
    role: Role
    cluster: str | None = None
    expires_in_s: int | None = None


@dataclass(frozen=True, slots=True)
class FoundToken:
    """A valid token: whose it is, and until when."""

    principal: Principal
    expires_us: int | None


def create_token(
    tx: Tx, who: Principal | None, request: TokenRequest, now_us: int, secret: str | None = None
) -> shown.NewToken:
    """Make a token and return it with its secret, which is never shown again.

    `who` is None when it is made on the store itself. An operator's token adds its cluster to the fleet. Raises
    Problem: FORBIDDEN, INVALID_VALUE.
    """
    if who is not None:
        require(who, Role.ADMIN)
    _check(request)
    secret = secret or SECRET_PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    id_ = token_id(now_us, secrets.randbits)
    expires_us = None if request.expires_in_s is None else now_us + request.expires_in_s * SECOND_US
    actor = None if who is None else who.name
    tx.connection.execute(
        insert(tokens).values(
            id=id_,
            sha256=digest(secret),
            principal=request.name,
            role=request.role.value,
            cluster=request.cluster,
            created_by=actor,
            created_us=now_us,
            expires_us=expires_us,
        )
    )
    data = {"id": id_, "role": request.role.value, "cluster": request.cluster}
    tx.event(EventType.TOKEN_CREATED, Subject("token", request.name, request.cluster), now_us, actor=actor, data=data)
    if request.cluster is not None:
        _add_cluster(tx, request.cluster, actor, now_us)
    return shown.NewToken(token=_find(tx.connection, id_), secret=secret)


def revoke_token(tx: Tx, who: Principal, id_: str, now_us: int) -> shown.Token:
    """Revoke a token; doing so twice changes nothing. Raises Problem: FORBIDDEN, NOT_FOUND."""
    require(who, Role.ADMIN)
    found = _find(tx.connection, id_)
    if found.revoked_at is None:
        tx.connection.execute(update(tokens).where(tokens.c.id == id_).values(revoked_us=now_us))
        subject = Subject("token", found.name, found.cluster)
        tx.event(EventType.TOKEN_REVOKED, subject, now_us, actor=who.name, data={"id": id_})
    return _find(tx.connection, id_)


def list_tokens(connection: Connection, who: Principal, page: PageRequest) -> shown.Page[shown.Token]:
    """Return a page of tokens, newest first, without their secrets. Raises FORBIDDEN, INVALID_PAGE_TOKEN."""
    require(who, Role.ADMIN)
    after = position("tokens", {}, page.token, key_parts=1)
    as_of = feed_rev(connection)
    statement = select(tokens).order_by(tokens.c.id.desc()).limit(page.size + 1)
    if after is not None:
        statement = statement.where(tokens.c.id < after[0])
    found = [_token(row) for row in connection.execute(statement)]
    items = found[: page.size]
    token = next_token("tokens", {}, [items[-1].id]) if len(found) > page.size else None
    return shown.Page(items=items, next_page_token=token, as_of=as_of)


def find_token(connection: Connection, sha256: str) -> FoundToken | None:
    """Return the token of a digest, or None where there is none or it is revoked. Expiry is the caller's to look at."""
    row = connection.execute(_VALID, {"wanted": sha256}).first()
    if row is None:
        return None
    return FoundToken(Principal(row.principal, Role(row.role), row.cluster), row.expires_us)


def digest(secret: str) -> str:
    """Return what the store keeps of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _check(request: TokenRequest) -> None:
    errors = []
    if not NAME.fullmatch(request.name) or len(request.name) > NAME_CHARS_MAX:
        errors.append(FieldError("name", "must be letters, digits, and . _ @ - between them"))
    if request.role is Role.OPERATOR and request.cluster is None:
        errors.append(FieldError("cluster", "is missing: an operator's token belongs to a cluster"))
    if request.role is not Role.OPERATOR and request.cluster is not None:
        errors.append(FieldError("cluster", f"belongs to operators' tokens; a {request.role} sees the whole fleet"))
    if request.cluster is not None and (
        not CLUSTER_NAME.fullmatch(request.cluster) or len(request.cluster) > NAME_CHARS_MAX
    ):
        errors.append(FieldError("cluster", "must be lower-case letters, digits, and . - between them"))
    if request.expires_in_s is not None and not 1 <= request.expires_in_s <= TOKEN_LIFE_MAX_S:
        errors.append(FieldError("expires_in_s", f"must be 1 to {TOKEN_LIFE_MAX_S}"))
    if errors:
        detail = "; ".join(f"{each.path}: {each.message}" for each in errors)
        raise Problem(ProblemCode.INVALID_VALUE, detail, tuple(errors))


def _add_cluster(tx: Tx, name: str, actor: str | None, now_us: int) -> None:
    values = {"name": name, "created_us": now_us}
    if tx.connection.execute(insert_unless_there(tx.dialect, clusters), values).first() is not None:
        tx.event(EventType.CLUSTER_ADDED, Subject("cluster", name, name), now_us, actor=actor)
        tx.touch_cluster(name)


def _find(connection: Connection, id_: str) -> shown.Token:
    row = connection.execute(select(tokens).where(tokens.c.id == id_)).first()
    if row is None:
        error = FieldError("id", f"there is no token {id_}")
        raise Problem(ProblemCode.NOT_FOUND, f"{error.message}: GET /v1/tokens lists those there are", (error,))
    return _token(row)


def _token(row: StoredRow) -> shown.Token:
    return shown.Token(
        id=row.id,
        name=row.principal,
        role=row.role,
        cluster=row.cluster,
        created_by=row.created_by,
        created_at=milliseconds(row.created_us),
        expires_at=None if row.expires_us is None else milliseconds(row.expires_us),
        revoked_at=None if row.revoked_us is None else milliseconds(row.revoked_us),
    )

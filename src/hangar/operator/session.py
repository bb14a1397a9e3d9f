"""A session: what an operator asks for one with, what it holds while it has one, and how it learns that it is lost."""

import secrets
from dataclasses import dataclass

import hangar
from hangar.kinds import KINDS
from hangar.operator.channel import HubError
from hangar.operator.cluster.port import Identity
from hangar.wire.operator import PROTOCOL_VERSION, SessionGrant, SessionRequest


class SessionLostError(Exception):
    """The hub no longer takes this session for the cluster's; another one must be asked for."""


@dataclass(slots=True)
class Session:
    """The right to act, and when the sync that last confirmed it was sent."""

    grant: SessionGrant
    confirmed_at_s: float
    inventory_n: int = 0


def session_request(identity: Identity, allowed: frozenset[str], *, has_autoscaler: bool = False) -> SessionRequest:
    """Return what an operator asks for a session with; the incarnation is this start's own."""
    return SessionRequest(
        protocol=PROTOCOL_VERSION,
        cluster_uid=identity.uid,
        incarnation=secrets.token_hex(8),
        kinds={name: kind.version for name, kind in KINDS.items() if kind.runs_in == "operator"},
        allowed=sorted(allowed),
        operator_version=hangar.__version__,
        kubernetes_version=identity.version,
        has_autoscaler=has_autoscaler,
    )


def raise_if_lost(error: HubError) -> None:
    """Raise SessionLostError where that is what the hub says."""
    if error.code == "fenced":
        raise SessionLostError(str(error)) from error

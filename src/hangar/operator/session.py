"""What an operator asks for a session with."""

import secrets

import hangar
from hangar.kinds import KINDS
from hangar.operator.cluster.port import Identity
from hangar.wire.operator import PROTOCOL_VERSION, SessionRequest


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

"""What the use cases go by: the kinds there are, the times, and since when this hub has been up."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from hangar.domain.limits import (
    HAND_OVER_AFTER_S,
    HUB_START_LEASES,
    IDEMPOTENCY_TTL_S,
    LEASE_S,
    PENDING_TIMEOUT_S,
    QUESTION_TTL_S,
    STOP_SENDING_AFTER_S,
    SYNC_WAIT_S,
)
from hangar.domain.workloads.kind import AnyWorkloadKind
from hangar.hub.catalogue import Catalogue
from hangar.hub.ids import RandomBits

SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The hub's rules. `hub_started_us` is the instant from which it has been able to hear its operators."""

    catalogue: Catalogue
    hub_started_us: int
    workload_kinds: Mapping[str, AnyWorkloadKind] = field(default_factory=dict)
    lease_s: float = LEASE_S
    stop_after_s: float = STOP_SENDING_AFTER_S
    hand_over_after_s: float = HAND_OVER_AFTER_S
    sync_wait_s: float = SYNC_WAIT_S
    pending_timeout_s: float = PENDING_TIMEOUT_S
    question_ttl_s: float = QUESTION_TTL_S
    idempotency_ttl_s: float = IDEMPOTENCY_TTL_S
    randbits: RandomBits = secrets.randbits

    def listening_since_us(self) -> int:
        """Return the instant before which silence proves nothing: whoever is alive has been heard by then."""
        return self.hub_started_us + us(HUB_START_LEASES * self.lease_s)


def us(seconds: float) -> int:
    """Return seconds as microseconds."""
    return round(seconds * SECOND_US)

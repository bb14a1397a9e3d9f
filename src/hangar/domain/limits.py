"""The bounds of the whole product: each a named constant with its unit and its reason."""

# --- the hub and its operators ----------------------------------------------------------------------------------------

LEASE_S = 15.0
"""How long an operator may go unheard before the hub calls it offline: three missed syncs."""

STOP_SENDING_AFTER_S = 10.0
"""An operator sends nothing more this long after it sent its last acknowledged sync: well inside its lease."""

EVICTION_TIMEOUT_S = 8.0
"""One call to the cluster may take this long; the API server itself retries conflicts for up to 10 s."""

HAND_OVER_AFTER_S = 20.0
"""The hub grants a new session this long after the holder's last sync: STOP_SENDING_AFTER_S + EVICTION_TIMEOUT_S,
and 2 s for two clocks that run at different speeds."""

SYNC_WAIT_S = 3.0
"""A sync without news is answered after this long, so that three fit into a lease."""

PENDING_TIMEOUT_S = 600.0
"""A pending operation that no live operator takes ends after this long: nobody wants a drain from yesterday."""

IDEMPOTENCY_TTL_S = 24 * 3600.0
"""How long a key is remembered: as long as the manual promises."""

INVENTORY_INTERVAL_S = 1.0
"""Ordinary changes of nodes are sent at most this often; cordon and ready flips go at once."""

# --- the API ----------------------------------------------------------------------------------------------------------

WAIT_MAX_S = 55.0
"""The longest long poll: below the 60 s after which common proxies cut a silent connection."""

PAGE_SIZE_DEFAULT = 100
"""Items a page where the caller does not say."""

PAGE_SIZE_MAX = 1000
"""Items a page at most: about half a megabyte."""

PAGE_EXAMINED_MAX = 10_000
"""Rows one page may read when no index serves its filters; then it comes short, with a token."""

BODY_BYTES_MAX = 1_048_576
"""A request of a user may have this many bytes; requests are small, so more is a mistake or an attack."""

OPERATOR_BODY_BYTES_MAX = 64 * 1_048_576
"""A report or inventory may have this many bytes: thousands of nodes in one complete inventory."""

REASON_CHARS_MAX = 1000
"""A reason is a sentence or two."""

IDEMPOTENCY_KEY_CHARS_MAX = 255
"""Visible ASCII; as long as other APIs take."""

# --- operations -------------------------------------------------------------------------------------------------------

DRAIN_DEADLINE_DEFAULT_S = 3600
"""A drain that is not done within an hour wants a person."""

NODE_DEADLINE_DEFAULT_S = 600
"""A cordon takes a second; ten minutes outlast an API server's restart."""

DEADLINE_MIN_S = 1
"""A deadline may be as short as a second."""

DEADLINE_MAX_S = 7 * 24 * 3600
"""A week: longer than any maintenance window."""

GRACE_PERIOD_MAX_S = 24 * 3600
"""A day: longer than any termination grace period in use."""

LANDING_MAX_S = 35.0
"""An eviction whose outcome is unknown may still land for this long: a webhook's 30 s and the call's way."""

BUDGET_RECHECK_S = 10.0
"""A budget that refused is asked again after this long even if nothing about it was seen to change."""

RETRY_FIRST_S = 0.2
"""The first pause after trouble; each further one is twice as long."""

RETRY_MAX_S = 10.0
"""The longest pause between two tries."""

SETTLE_S = 30.0
"""How long a verdict waits for controllers that only react when they see the cordon."""

UNSCHEDULABLE_GRACE_S = 30.0
"""A replacement that the scheduler cannot place for this long counts as having no place."""

CONFIRMATION_MAX_S = 10.0
"""A write that was accepted must be seen by then; watches lag by milliseconds."""

UNDO_MAX_S = 60.0
"""How long a failed drain that was asked to uncordon tries to, before it ends with the cordon left."""

NAMED_MAX = 10
"""How many pods one line names before it says how many more there are; the details always list all."""

PROGRESS_INTERVAL_S = 0.25
"""Progress alone is reported at most this often for one operation; people read no faster."""

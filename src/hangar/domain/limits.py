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

QUESTION_TIMEOUT_S = 5.0
"""How long a dry run waits for its plan: an operator answers within a turn, so that silence means that it is away."""

QUESTION_TTL_S = 30.0
"""How long a question is kept: longer than anybody waits for its answer."""

PENDING_TIMEOUT_S = 600.0
"""A pending operation that no live operator takes ends after this long: nobody wants a drain from yesterday."""

IDEMPOTENCY_TTL_S = 24 * 3600.0
"""How long a key is remembered: as long as the manual promises."""

NODES_FIRST_MAX_S = 2.0
"""An operation's end waits this long for the hub to know its node as it is now; a telling takes milliseconds."""

STANDSTILL_MAX_S = 60.0
"""An operator that has wanted a turn for so long without taking one says that it is not well: turns take milliseconds,
and one that failed is tried again after RETRY_MAX_S."""

INVENTORY_INTERVAL_S = 1.0
"""Ordinary changes of nodes are sent at most this often; cordon and ready flips go at once."""

RESTORED_NUMBERS_SKIPPED = 1_000_000_000
"""By how much revisions and epochs go up when a restored record is taken up: more than anything lost can have used, so
that none of them ever means two things."""

HUB_START_LEASES = 2
"""After a start the hub hands over and ends nothing before this many leases: whoever is alive is heard by then."""

SWEEP_INTERVAL_S = 1.0
"""How often the hub looks for what has run out of time: an offline cluster shows within a second of its lease."""

SWEEP_ROWS_MAX = 500
"""One sweep ends or forgets this many rows of a sort, so that it never holds up the writer; the next goes on."""

CLOCK_STEP_MAX_S = 1.0
"""A wall clock that differs by more from the hub's own time was set; less is what adjusting a clock's rate makes."""

LISTENING_GAP_MAX_S = 5.0
"""A hub that stood still for longer listens anew before it judges silence: several sweeps are missing by then."""

RENEWALS_INTERVAL_S = 0.1
"""Leases that are renewed within so long of each other are written together: ten writes a second for a whole fleet.
News for one of these operators is not held up by that."""

STANDBY_RETRY_S = 2.0
"""A waiting operator asks again this soon, so that a clean release is followed within two seconds."""

STANDBYS_REMEMBERED_MAX = 8
"""So many waiting operators of a cluster are told apart, each an event once; more is a mistake that shows anyway."""

UNCORDON_ATTRIBUTED_S = 10.0
"""A node that turns schedulable this soon after our uncordon ended is put down to it: reports overtake watches."""

# --- the store --------------------------------------------------------------------------------------------------------

STORE_BUSY_TIMEOUT_S = 5.0
"""How long a transaction waits for another process's lock on the file: `token create` holds it for milliseconds."""

STORE_CONNECT_TIMEOUT_S = 5.0
"""How long a connection to the database server may take to come about."""

STORE_STATEMENT_TIMEOUT_S = 20.0
"""How long the database server may work on one statement: a page of a list takes milliseconds, a sweep not many."""

STORE_IDLE_TIMEOUT_S = 5.0
"""A transaction in which a hub asks nothing for so long is ended by the server: its hub stands still, and all others
wait for it."""

COMMIT_TRIES_MAX = 3
"""So many times a transaction is run where others got in its way."""

WRITES_QUEUED_MAX = 1000
"""Writes that may wait for the writer: at 800 a second the last of them waits little more than a second."""

WRITES_IN_A_COMMIT_MAX = 64
"""Writes that share one sync to disk: more would make the first wait for the last."""

READING_THREADS = 4
"""Threads that read lists: SQLite reads in parallel, and lists are rare beside point reads."""

READINESS_PROBE_BYTES = 16 * 1024
"""What the readiness check writes and takes back: a few pages, so that a full disk cannot hide in a half-empty one."""

# --- the API ----------------------------------------------------------------------------------------------------------

WAIT_MAX_S = 55.0
"""The longest long poll: below the 60 s after which common proxies cut a silent connection."""

PAGE_SIZE_DEFAULT = 100
"""Items a page where the caller does not say."""

PAGE_SIZE_MAX = 1000
"""Items a page at most: about half a megabyte."""

PAGE_EXAMINED_MAX = 5_000
"""Rows one page may read when no index serves its filters; then it comes short, with a token. Twice as many take a
database server more than a tenth of a second."""

BODY_BYTES_MAX = 1_048_576
"""A request of a user may have this many bytes; requests are small, so more is a mistake or an attack."""

OPERATOR_BODY_BYTES_MAX = 64 * 1_048_576
"""A report or inventory may have this many bytes: thousands of nodes in one complete inventory."""

UNREAD_BYTES_MAX = 8 * 1_048_576
"""What a refused caller is still sending is let in up to this many bytes: enough for honest mistakes."""

UNREAD_WAIT_S = 2.0
"""How long a refusal waits for the caller to finish sending."""

FEED_POLL_S = 0.25
"""How often a hub looks whether somebody else wrote to the store: what it hears of at once, it need not look for."""

NOTICES_RETRY_S = 1.0
"""How soon the connection over which other hubs give notice is opened again; meanwhile looking makes up for it."""

FEED_ROWS_MAX = 500
"""Events that are read at once on the way to those who follow the feed."""

STREAMS_MAX = 1000
"""Streams that may be open at a time: each costs a connection and, every quarter of a minute, a heartbeat."""

STREAM_QUEUE_ROWS_MAX = 1000
"""Events that may wait for one reader of a stream: minutes of a busy fleet; who is slower starts anew from a list."""

STREAM_BACK_REVS_MAX = 100_000
"""A stream goes back so far at most; who has been away for longer starts anew from a list, which is quicker."""

STREAM_HEARTBEAT_S = 15.0
"""A stream without news says so this often: well inside the minute after which proxies cut a silent connection."""

STREAM_TOKEN_CHECK_S = 1.0
"""How often the tokens of open streams are looked up: one that is revoked or over ends its streams within that."""

STREAM_SEND_MAX_S = 30.0
"""A reader that takes nothing for so long is let go, whatever still waits for it."""

STREAM_MESSAGE_BYTES_MAX = 4096
"""What a WebSocket's client may send at once; there is nothing for it to say."""

WAITERS_MAX = 10_000
"""Long polls that may be parked at a time: about 20 KiB each, so 200 MB."""

TOKEN_CACHED_S = 0.5
"""How long a token that was found valid is not looked up again: a revoked one works on for no longer than this."""

OPERATOR_TOKEN_CACHED_S = 10.0
"""The same for operators' tokens, so that not every sync of an idle fleet is a look-up: three syncs, and less than a
lease. The hub that revokes one forgets it at once."""

TOKEN_LIFE_MAX_S = 10 * 365 * 24 * 3600
"""Ten years: who wants longer leaves the end away and revokes."""

TOKENS_CACHED_MAX = 4096
"""Tokens remembered at a time: more than any fleet has operators and people."""

KEEP_ALIVE_S = 75.0
"""How long an idle connection is kept: longer than clients keep theirs, so that none closes under a request."""

READY_CACHED_S = 1.0
"""How long the answer of the readiness check holds, so that asking often does not write often."""

METRICS_CACHED_S = 1.0
"""How long the figures of the fleet hold: nobody needs a token to ask for them, so asking often must cost little."""

SHUTDOWN_GRACE_S = 5.0
"""How long requests in flight may take to end when the hub is told to stop."""

NAME_CHARS_MAX = 253
"""A name of a node, cluster or token: as long as Kubernetes lets a name be."""

TARGET_CHARS_MAX = 2 * NAME_CHARS_MAX + 1
"""A cluster's name, a slash, a node's name."""

REASON_CHARS_MAX = 1000
"""A reason is a sentence or two."""

IDEMPOTENCY_KEY_CHARS_MAX = 255
"""Visible ASCII; as long as other APIs take."""

# --- operations -------------------------------------------------------------------------------------------------------

DRAIN_DEADLINE_DEFAULT_S = 3600
"""A drain that is not done within an hour wants a person."""

NODE_DEADLINE_DEFAULT_S = 600
"""A cordon takes a second; ten minutes outlast an API server's restart."""

READY_DEADLINE_DEFAULT_S = 3600
"""Until a workload's replicas are ready: a large model loads for tens of minutes."""

CREATION_UNSEEN_S = 60.0
"""So long a graph that was to be created may turn up after its deployment was deleted; an operator tells in seconds."""

REPLICAS_MAX = 100_000
"""More replicas than any fleet has GPUs: a slip of the finger, which would be written into real objects."""

DEADLINE_MIN_S = 1
"""A deadline may be as short as a second."""

DEADLINE_MAX_S = 7 * 24 * 3600
"""A week: longer than any maintenance window."""

GRACE_PERIOD_MAX_S = 24 * 3600
"""A day: longer than any termination grace period in use."""

LANDING_MAX_S = 35.0
"""An eviction whose outcome is unknown may still land for this long: a webhook's 30 s and the call's way."""

HELD_MAX_S = 8.0
"""A step leaves this long after it was decided at the latest, as long as one report may take to be acknowledged; what
is older is decided anew, for the world has moved on."""

RETRY_FIRST_S = 0.2
"""The first pause after trouble; each further one is twice as long."""

RETRY_MAX_S = 10.0
"""The longest pause between two tries."""

CREATED_AGAIN_S = 600.0
"""A graph that is deleted after we created it is created again this long after the first time: what prunes what it
does not know would delete it each time, and each time models are loaded for nothing."""

DENIED_TRIES_MAX = 5
"""A step that was refused so often in a row, over three seconds, is refused for good: an API server that has just
started refuses everything until it knows its access rules."""

WEBHOOK_DENIED_TRIES_MAX = 9
"""The same where a webhook refused, over half a minute: some refuse an eviction and then move the pod themselves."""

STUCK_AFTER_S = 10.0
"""A pod that is still there this long after its grace period has ended is stuck: the kubelet needs a few seconds."""

FORCE_MAX_S = 60.0
"""How long after its deadline a forced drain waits for the end of what it deleted, and for what comes in its place."""

EVICTIONS_PER_MINUTE_MAX = 600
"""Evictions a minute that an operator sends at most: ten a second, so that a mistake shows before all is moved."""

EVICTIONS_WINDOW_S = 60.0
"""Over so long they are counted."""

SETTLE_S = 30.0
"""How long a verdict waits for controllers that only react when they see the cordon."""

ORPHAN_SETTLE_S = 5.0
"""A pod without its controller counts as orphaned after this long: before, the garbage collector may be on its way, or
the controller's watch behind the pods'."""

OWNER_GONE_S = 30.0
"""A controller that nobody can read is taken to be gone this long after its last pod: many make the next one only when
the last one has ended, and groups begin anew as a whole."""

RETURNS_MAX = 2
"""A drain ends when an owner has put a pod back on its cordoned node so often: once may be a race, twice is a rule."""

TAKEOVER_SETTLE_S = 5.0
"""Pods that are still there this long after their node was replaced by another of its name run on: before, the garbage
collector may have ended them already, and only their watch be behind."""

UNSCHEDULABLE_GRACE_S = 30.0
"""A replacement that the scheduler cannot place for this long counts as having no place."""

CREATION_GRACE_S = 30.0
"""A controller that cannot create a pod for this long never will: while an old one ends, it still counts against the
quota, and after that the controller tries again in pauses that have grown meanwhile."""

CONFIRMATION_MAX_S = 10.0
"""A write that was accepted must be seen by then; watches lag by milliseconds."""

RIVAL_WATCH_S = 20.0
"""How long what was written in spite of a rival has to stand before it counts as done: an autoscaler looks every 15 s,
a GitOps controller that heals puts things back within seconds."""

UNDO_MAX_S = 60.0
"""How long a failed drain that was asked to uncordon tries to, before it ends with the cordon left."""

NAMED_MAX = 10
"""How many pods one line names before it says how many more there are; the details always list all."""

PROGRESS_INTERVAL_S = 0.25
"""Progress alone is reported at most this often for one operation; people read no faster."""

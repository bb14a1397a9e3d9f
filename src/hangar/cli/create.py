"""hgr operation create: asks for an operation, once, however often the request has to be sent."""

from __future__ import annotations

import os

from hangar.cli.commands import add_output_options
from hangar.cli.exits import Exit
from hangar.cli.failures import Detached, Failure, UsageError
from hangar.cli.http import Hub
from hangar.cli.printing import hint, print_one
from hangar.cli.progress import TERMINAL_PHASES, outcome, title
from hangar.cli.settings import resolve
from hangar.cli.wait import add_wait_options, again, detaching, is_waiting, screen_for, wait_and_print

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from hangar.cli.commands import Parser
    from hangar.cli.documents import Document
    from hangar.cli.progress import Screen

_FLAGS_WITH_VALUE = frozenset(
    {
        "--cluster",
        "--reason",
        "--idempotency-key",
        "--wait-timeout",
        "-o",
        "--output",
        "--server",
        "--context",
        "--token-file",
    }
)


def add_create(parser: Parser, words: Sequence[str]) -> None:
    """Add what every kind takes, and the flags of the kind that the words name."""
    # Only this command pays for importing the kinds.
    from hangar.cli import kind_flags

    kind_name = _kind_in(words)
    kinds = kind_flags.kinds()
    listed = ", ".join(kinds)
    parser.add_argument("type", metavar="TYPE", help=f"one of {listed}; `TYPE --help` shows its parameters")
    parser.add_argument("target", metavar="TARGET", help="the name of what it is done to, or CLUSTER/NAME")
    parser.add_argument(
        "--cluster",
        metavar="NAME",
        help="the target's cluster, where the name alone is ambiguous; of a workload, the cluster that is meant",
    )
    _add_request_options(parser)
    if kind_name in kinds:
        parser.explained_by = f"{parser.prog} {kind_name} --help"
        kind_flags.add_kind_flags(parser, kind_name)
    elif kind_name is not None:
        kind_flags.check_kind(kind_name)


def add_shorthand(parser: Parser, kind_name: str) -> None:
    """Add what an operation of one kind takes whose target the parser already asks for: a shorthand of `create`."""
    from hangar.cli import kind_flags

    parser.set_defaults(type=kind_name, cluster=None)
    kind_flags.add_kind_flags(parser, kind_name)
    _add_request_options(parser)


def _add_request_options(parser: Parser) -> None:
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="change and record nothing, print what would happen; exits with 11 if it would fail before it moved "
        "anything",
    )
    parser.add_argument("--reason", metavar="TEXT", help="why, for the record")
    parser.add_argument(
        "--idempotency-key",
        metavar="KEY",
        type=_key,
        help="the same key gives the same operation, however often it is sent (default: a fresh one)",
    )
    add_wait_options(parser)
    add_output_options(parser)


def create(args: Namespace) -> Exit:
    """Create the operation, or print only its plan."""
    return _foresee(args) if args.dry_run else ask(args)


def ask(args: Namespace) -> Exit:
    """Create the operation, print its id, and wait for its end if that was asked for."""
    screen = screen_for(args)
    known: list[str] = []
    with Hub(resolve(args, os.environ)) as hub, detaching(args, lambda: known[0] if known else None, screen):
        record = _send(args, hub)
        known.append(record["id"])
        _announce(args, record, screen)
        if not is_waiting(args):
            return Exit.SUCCESS
        ended = wait_and_print(args, hub, screen, record["id"], record)
    return Exit.SUCCESS if ended["phase"] == "succeeded" else Exit.OPERATION_FAILED


def _foresee(args: Namespace) -> Exit:
    from hangar.cli.plan import print_plan

    if is_waiting(args):
        flag = "--wait" if args.wait else "--wait-timeout"
        raise UsageError(f"--dry-run begins nothing, so {flag} has no end to wait for; give one of them")
    with Hub(resolve(args, os.environ)) as hub:
        plan: Document = hub.post("/v1/operations", _request(args), {}, {"dry_run": "true"}).document
    return print_plan(args, plan)


def _request(args: Namespace) -> dict[str, object]:
    from hangar.cli.kind_flags import given_params

    wanted = {
        "type": args.type,
        "target": args.target,
        "cluster": args.cluster,
        "params": given_params(args) or None,
        "reason": args.reason,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def _send(args: Namespace, hub: Hub) -> Document:
    key = args.idempotency_key or os.urandom(16).hex()
    repeat = f"to find out, or to go on, repeat the command with --idempotency-key {key}"
    try:
        answer = hub.post("/v1/operations", _request(args), {"Idempotency-Key": key})
    except Failure as failure:
        if failure.is_unsent:
            failure.hints = (*failure.hints, "nothing was created")
        elif failure.is_passing:
            failure.hints = (*failure.hints, f"whether the operation was created is not known; {repeat}")
        raise
    except (KeyboardInterrupt, Detached):
        hint(f"interrupted while asking: whether the operation was created is not known; {repeat}")
        raise
    if answer.headers.get("idempotent-replayed") == "true" and not args.quiet:
        hint("this idempotency key was used before: here is the operation that it made")
    record: Document = answer.document
    return record


def _announce(args: Namespace, record: Document, screen: Screen) -> None:
    """Print the id at once: whoever loses the connection now can still find the operation."""
    operation_id = record["id"]
    has_record_at_the_end = is_waiting(args) and not args.quiet and args.output in ("json", "yaml")
    if has_record_at_the_end:
        screen.note(f"{title(record)} is {operation_id}")
    elif args.quiet or args.output in ("table", "wide"):
        print(operation_id, flush=True)
    else:
        print_one(args, record, operation_id)
    if is_waiting(args) or args.quiet:
        return
    if record["phase"] in TERMINAL_PHASES:  # the key is that of an operation which is over
        hint(outcome(record))
    else:
        hint(f"{title(record)} is {record['phase']}; wait for it: {again(args, operation_id)}")


def _kind_in(words: Sequence[str]) -> str | None:
    """Return the first positional word: the type of operation."""
    is_value = False
    for word in words:
        if is_value:
            is_value = False
        elif word in _FLAGS_WITH_VALUE:
            is_value = True
        elif not word.startswith("-"):
            return word
    return None


def _key(text: str) -> str:
    from hangar.domain.limits import IDEMPOTENCY_KEY_CHARS_MAX

    if not 0 < len(text) <= IDEMPOTENCY_KEY_CHARS_MAX or not text.isascii() or not text.isprintable() or " " in text:
        raise UsageError(f"an idempotency key is 1 to {IDEMPOTENCY_KEY_CHARS_MAX} visible ASCII characters")
    return text

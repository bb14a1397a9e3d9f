"""Waits for an operation to end, through time-outs and outages of the hub; going away never cancels anything."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, suppress

from hangar.cli.durations import exact, parse_s
from hangar.cli.exits import Exit
from hangar.cli.failures import Detached, Failure
from hangar.cli.http import ANSWER_TIMEOUT_S, segment
from hangar.cli.printing import hint, print_one
from hangar.cli.progress import BLOCKERS_SHOWN_MAX, TERMINAL_PHASES, Screen, doing, outcome, title, waits_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator

    from hangar.cli.commands import Parser
    from hangar.cli.documents import Document
    from hangar.cli.http import Hub

TIMEOUT_DEFAULT_S = 30 * 60
"""Half an hour: most drains end well within it, and no forgotten terminal waits for a week."""

POLL_S = 20.0
"""One long poll: short enough that a connection which died silently is noticed within a minute."""

POLL_SHORTEST_S = 0.5
"""An answer without news that came faster than this was no long poll: do not ask again at once."""

PAUSES_S = (0.5, 1.0, 2.0, 5.0)
"""Pauses between tries while the hub is away; the last one goes on."""


def add_wait_options(parser: Parser, *, is_always: bool = False) -> None:
    """Add --wait and --wait-timeout; `is_always` is for commands that wait anyway."""
    if is_always:
        parser.set_defaults(wait=True)
    else:
        parser.add_argument("--wait", action="store_true", help="wait until the operation has ended")
    parser.add_argument(
        "--wait-timeout",
        type=_duration,
        metavar="TIME",
        help=f"stop waiting after this long (90, 90s, 10m, 1h30m; 0: never; default {exact(TIMEOUT_DEFAULT_S)}); "
        "the operation goes on" + ("" if is_always else "; implies --wait"),
    )


def _duration(text: str) -> int:
    import argparse

    try:
        return parse_s(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def is_waiting(args: Namespace) -> bool:
    """Tell whether the command is to wait."""
    return bool(args.wait) or args.wait_timeout is not None


def timeout_of(args: Namespace) -> float | None:
    """Return how long to wait in seconds; None is without end."""
    if args.wait_timeout is None:
        return TIMEOUT_DEFAULT_S
    return args.wait_timeout or None


def again(args: Namespace, operation_id: str, verb: str = "wait") -> str:
    """Return the command with which the user can wait for the operation later, or look at it."""
    flags = [
        f"--{name.replace('_', '-')} {value} "
        for name in ("server", "context", "token_file")
        if (value := getattr(args, name, None))
    ]
    return f"hgr {''.join(flags)}operation {verb} {operation_id}"


@contextmanager
def detaching(args: Namespace, operation_id: Callable[[], str | None], screen: Screen) -> Iterator[None]:
    """Turn signals and closed pipes into a detachment that says how to go on, once there is an operation."""
    import signal

    def detach(_number: int, _frame: object) -> None:
        raise Detached

    before = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup asked for it: hang-ups are to be survived
            before[number] = signal.signal(number, detach)
    try:
        yield
    except (KeyboardInterrupt, Detached, BrokenPipeError):
        with suppress(OSError, Detached):
            screen.clear()
            if known := operation_id():
                hint(f"detached; the operation goes on. To wait for it: {again(args, known)}")
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Waiting:
    """One wait. `sleep` and `clock` are the machine's, but for tests."""

    def __init__(
        self,
        hub: Hub,
        screen: Screen,
        timeout_s: float | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._hub = hub
        self._screen = screen
        self._timeout_s = timeout_s
        self._clock = clock
        self._sleep = sleep
        self._ends_s = None if timeout_s is None else clock() + timeout_s
        self._away: Failure | None = None
        self._tries = 0

    def until_ended(self, operation_id: str, record: Document | None) -> Document:
        """Return the terminal record; `record` is the last one known, None if none was read yet.

        Raises:
            TimedOut: it was still open when the time was over.
            Failure: the hub refused for good, or was away when the time was over.
        """
        while record is None or record["phase"] not in TERMINAL_PHASES:
            if record is not None and self._away is None:
                self._screen.show(record)
            left_s = self._left_s()
            if left_s <= 0 and self._away is None and record is not None:
                raise TimedOut(record, self._timeout_s or 0)
            if left_s <= 0 and self._away is not None:
                raise Failure(Exit.UNREACHABLE, self._away.message, hints=self._away.hints)
            asked_s = self._clock()
            try:
                news = self._ask(operation_id, record, left_s)
            except Failure as failure:
                if not failure.is_passing and failure.code is not Exit.UNEXPECTED:
                    raise
                self._stay(failure)
                continue
            self._is_back()
            is_old = record is not None and news["version"] == record["version"]
            if is_old and self._clock() - asked_s < min(POLL_SHORTEST_S, left_s):
                self._sleep(POLL_SHORTEST_S)
            record = news
        self._screen.clear()
        return record

    def _left_s(self) -> float:
        return float("inf") if self._ends_s is None else self._ends_s - self._clock()

    def _ask(self, operation_id: str, record: Document | None, left_s: float) -> Document:
        path = f"/v1/operations/{segment(operation_id)}"
        if record is None:
            answer = self._hub.request("GET", path, on_tick=self._screen.tick)
        else:
            poll_s = round(min(POLL_S, left_s), 3)
            answer = self._hub.request(
                "GET",
                f"{path}/wait",
                query={"timeout": poll_s, "after_version": record["version"]},
                timeout_s=poll_s + ANSWER_TIMEOUT_S / 2,
                on_tick=self._screen.tick,
            )
        news: Document = answer.document
        return news

    def _stay(self, failure: Failure) -> None:
        if self._away is None or self._away.message != failure.message:
            self._screen.note(f"still waiting: {failure.message}")
        self._away = failure
        pause_s = max(PAUSES_S[min(self._tries, len(PAUSES_S) - 1)], min(failure.retry_after_s or 0.0, PAUSES_S[-1]))
        self._tries += 1
        self._sleep(max(0.0, min(pause_s, self._left_s())))

    def _is_back(self) -> None:
        if self._away is not None:
            self._screen.note("the hub answers again")
        self._away = None
        self._tries = 0


class TimedOut(Failure):
    """The time to wait is over, the operation goes on. `record` is the last one known."""

    def __init__(self, record: Document, timeout_s: float) -> None:
        said = doing(record, blockers_max=0)
        super().__init__(
            Exit.WAIT_TIMEOUT,
            f"{title(record)} is still {record['phase']} after {exact(timeout_s)}" + (f": {said}" if said else ""),
            details=waits_of(record, BLOCKERS_SHOWN_MAX),
        )
        self.record = record


def wait_and_print(args: Namespace, hub: Hub, screen: Screen, operation_id: str, record: Document | None) -> Document:
    """Wait for an operation, print how it ended in the form that was asked for, and return its record.

    Raises:
        Failure: with a hint on how to go on, as `until_ended` does.
    """
    try:
        ended = Waiting(hub, screen, timeout_of(args)).until_ended(operation_id, record)
    except Failure as failure:
        screen.clear()
        if isinstance(failure, TimedOut) and args.output in ("json", "yaml"):
            print_one(args, failure.record, operation_id)
        if failure.code in (Exit.WAIT_TIMEOUT, Exit.UNREACHABLE, Exit.REFUSED):
            extends = " --wait-timeout TIME" if failure.code is Exit.WAIT_TIMEOUT else ""
            failure.hints = (
                *failure.hints,
                f"the operation goes on; wait for it: {again(args, operation_id)}{extends}",
            )
        raise
    if args.quiet:
        return ended
    match args.output:
        case "json" | "yaml":
            print_one(args, ended, operation_id)
        case "name":
            hint(outcome(ended))
        case _:
            print(outcome(ended), flush=True)
            if ended["phase"] != "succeeded":
                hint(f"more: {again(args, operation_id, 'get')}")
    return ended


def screen_for(args: Namespace) -> Screen:
    """Return where progress is shown: stderr, or nowhere with -q."""
    return Screen(None if args.quiet else sys.stderr)

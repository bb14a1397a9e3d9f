"""Shows what an operation would do if it began now: the verdict, what stands in the way, and pod by pod what moves."""

from __future__ import annotations

from hangar.cli.durations import exact
from hangar.cli.exits import Exit
from hangar.cli.printing import hint, labelled, print_one, table_lines
from hangar.cli.render import ABSENT, GREEN, RED, YELLOW, Column, clean, inline, text_of
from hangar.cli.workload_plan import lines as workload_lines
from hangar.cli.workload_plan import name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from hangar.cli.documents import Document

WITHOUT = "without --dry-run it is done"
_FITS = {"fits": ("yes", GREEN), "does_not_fit": ("no", RED), "unknown": ("unknown", YELLOW)}
_BINARY_UNITS = (("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10))
_BYTES = ("memory", "ephemeral-storage")


def print_plan(args: Namespace, plan: Document) -> Exit:
    """Print a plan in the form that was asked for; OPERATION_FAILED where it says that the operation would fail."""
    if args.quiet or args.output == "name":
        named = (move["pod"] for move in plan["moves"]) if "moves" in plan else map(name, plan["deployments"])
        for each in named:
            print(clean(each))
    elif args.output in ("json", "yaml"):
        print_one(args, plan, "")
    else:
        told = lines if "moves" in plan else workload_lines
        for line in told(plan, is_wide=args.output == "wide"):
            print(line)
        hint(f"nothing was changed; {'as things are, it would fail' if plan['obstructions'] else WITHOUT}")
    return Exit.OPERATION_FAILED if plan["obstructions"] else Exit.SUCCESS


def lines(plan: Document, *, is_wide: bool = False) -> Iterator[str]:
    """Yield a plan for people to read: first what decides, each further line with its label."""
    yield f"{clean(plan['type'])} {clean(plan['cluster'])}/{clean(plan['target'])}: {inline(plan['message'])}"
    for each in plan["obstructions"]:
        yield labelled("would fail", f"{inline(each['message'])} ({inline(each['code'])})", RED)
    if plan["moves"]:
        yield from table_lines(_columns(plan, is_wide=is_wide), plan["moves"], is_wide=is_wide)
    for each in plan["skipped"]:
        yield f"stays: {inline(each['pod'])} ({inline(each['why'])})"
    for each in plan["warnings"]:
        yield labelled("warning", inline(each), YELLOW)
    for each in plan["budgets"]:
        yield f"budget: {_budget(each)}"
    for each in plan["losses"]:
        yield (
            f"serving: {inline(each['owner'])} has {each['ready']} ready, {each['moving']} of them here; "
            f"it may fall to {each['lowest']}"
        )
    if plan["expected_duration_s"] is not None or plan["basis"]:
        yield f"expected: {_expected(plan)}"


def needs(requests: Document) -> str:
    """Return what a pod asks for, its devices first: `1 nvidia.com/gpu, 4 cpu, 32Gi memory`."""
    devices = sorted(name for name in requests if "/" in name)
    others = [name for name in requests if "/" not in name]
    return ", ".join(f"{amount(name, requests[name])} {clean(name)}" for name in [*devices, *others]) or ABSENT


def amount(resource: str, count: int) -> str:
    """Return an amount as it is written in a pod: cpu in cores, memory in binary units, all else counted."""
    if resource == "cpu":
        return f"{count}m" if count % 1000 else str(count // 1000)
    if resource in _BYTES:
        unit, size = next((each for each in _BINARY_UNITS if count and count % each[1] == 0), ("", 1))
        return f"{count // size}{unit}"
    return str(count)


def _columns(plan: Document, *, is_wide: bool) -> Iterator[Column]:
    """Yield the columns of the moves; groups and reasons are rare, and have none where there are none."""
    moves = plan["moves"]
    yield Column("POD", text_of("pod"))
    yield Column("OWNER", text_of("owner"), gives_way=2)
    yield Column("FITS", lambda move, _: _FITS.get(move["fits"], (clean(move["fits"]), ""))[0], style=_fits_colour)
    yield Column("WHERE", text_of("node"))
    if is_wide or any(move["group"] for move in moves):
        yield Column("GROUP", text_of("group"), gives_way=3)
    yield Column("NEEDS", lambda move, _: needs(move["requests"]), gives_way=1)
    if is_wide or any(move["why"] for move in moves):
        yield Column("WHY", _why, cells_min=20)


def _why(move: Document, _now_s: float) -> str:
    return inline((move["why"] or "").removeprefix(f"{move['pod']} "))  # the pod stands in the same line


def _fits_colour(text: str) -> str | None:
    return dict(_FITS.values()).get(text)


def _budget(budget: Document) -> str:
    steps = budget["steps"]
    pace = f"at least {steps} steps, one after another" if steps > 1 else "in one step"
    counted = f"{budget['pods']} of its pods move, {budget['allowed']} may go now: {pace}"
    return f"{inline(budget['budget'])}: {counted}" + (f"; {inline(budget['message'])}" if budget["message"] else "")


def _expected(plan: Document) -> str:
    expected_s = plan["expected_duration_s"]
    basis = f" ({inline(plan['basis'])})" if plan["basis"] else ""
    return ("not known" if expected_s is None else f"about {exact(expected_s)}") + basis

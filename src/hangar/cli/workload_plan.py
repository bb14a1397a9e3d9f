"""Shows what an operation on a workload would do: its numbers cluster by cluster, what is in the way, and warnings."""

from __future__ import annotations

from hangar.cli.deployment import rivals
from hangar.cli.printing import labelled, table_lines
from hangar.cli.render import ABSENT, RED, YELLOW, Column, age, clean, inline, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hangar.cli.documents import Document


def lines(plan: Document, *, is_wide: bool = False) -> Iterator[str]:
    """Yield a plan for people to read: first what decides, then a line for each cluster, then warnings."""
    where = "" if plan["cluster"] is None else f" on {clean(plan['cluster'])}"
    yield f"{clean(plan['type'])} {clean(plan['target'])}{where}: {inline(plan['message'])}"
    for each in plan["obstructions"]:
        yield labelled("would fail", f"{inline(each['message'])} ({inline(each['code'])})", RED)
    if plan["deployments"]:
        yield from table_lines(_columns(plan, is_wide=is_wide), plan["deployments"], is_wide=is_wide)
    for each in plan["warnings"]:
        yield labelled("warning", inline(each), YELLOW)


def name(item: Document) -> str:
    """Return what `-o name` shows of a planned deployment."""
    return f"{item['cluster']}/{item['namespace']}/{item['graph']}"


def _columns(plan: Document, *, is_wide: bool) -> Iterator[Column]:
    rows = plan["deployments"]
    yield Column("CLUSTER", text_of("cluster"))
    yield Column("GRAPH", lambda item, _: inline(f"{item['namespace']}/{item['graph']}"), gives_way=1)
    yield Column("NOW", text_of("before"))
    yield Column("THEN", text_of("after"))
    yield Column("READY", text_of("ready"))
    yield Column("ROOM", text_of("room"))
    if is_wide or not all(each["online"] for each in rows):
        yield Column("LAST-SEEN", _seen)
    if is_wide or any(each["rivals"] for each in rows):
        yield Column("RIVALS", lambda item, _: rivals(item), cells_min=20)


def _seen(item: Document, now_s: float) -> str:
    if item["online"]:
        return "online"
    return ABSENT if item["last_seen_at"] is None else f"{age(item['last_seen_at'], now_s)} ago"

"""waiting: since when an operation has got no further, and for what it has been waiting."""

from collections.abc import Mapping

from hangar.wire.operator import JsonObject

MOVED, SINCE = "moved_us", "since_us"
"""What the hub notes in a stored progress: when its counts last changed, and in each blocker since when it is there."""


def dated(before: JsonObject | None, told: JsonObject, now_us: int) -> JsonObject:
    """Return a progress as it is stored, with what the hub notes of it; `before` is the one stored last."""
    counts = (told["done"], told["total"])
    has_moved = before is None or (before["done"], before["total"]) != counts
    known = {} if before is None else {_key(each): each.get(SINCE, now_us) for each in before["blockers"]}
    blockers = [{**each, SINCE: known.get(_key(each), now_us)} for each in told["blockers"]]
    moved_us = now_us if before is None or has_moved else before.get(MOVED, now_us)
    return {**told, "blockers": blockers, MOVED: moved_us}


def blocked_since_us(stored: JsonObject) -> Mapping[str, int]:
    """Return, for each code of its blockers, since when the operation has got no further and waited for it."""
    since_us: dict[str, int] = {}
    for each in stored["blockers"]:
        code, at_us = each["code"], max(each.get(SINCE, 0), stored.get(MOVED, 0))
        since_us[code] = min(at_us, since_us.get(code, at_us))
    return since_us


def _key(blocker: JsonObject) -> tuple[str, str]:
    return blocker["code"], blocker["subject"]

"""Notices: how hubs on one database wake each other's waiters, as a hint that may get lost."""

import msgspec

NOTICE_BYTES_MAX = 7_999
"""PostgreSQL carries no longer one."""


class Notice(msgspec.Struct, frozen=True, array_like=True):
    """That somebody committed: who, and the keys of those to wake; None where there are too many to list."""

    writer: str
    keys: list[str] | None


def notice_of(writer: str, keys: set[str]) -> str:
    """Return a notice as text."""
    text = msgspec.json.encode(Notice(writer, sorted(keys)))
    if len(text) > NOTICE_BYTES_MAX:
        text = msgspec.json.encode(Notice(writer, None))
    return text.decode()


def read_notice(text: str) -> Notice:
    """Return what a notice says; one that cannot be read, of a later version, names nobody."""
    try:
        return msgspec.json.decode(text, type=Notice)
    except msgspec.MsgspecError:
        return Notice("", None)

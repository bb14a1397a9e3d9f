"""Identifiers of operations, tokens and questions: ULIDs, so that later ones sort later."""

from collections.abc import Callable

from ulid import ULID

from hangar.domain.ids import OPERATION_ID_PREFIX, OperationId

RANDOM_BITS = 80
"""A ULID is its milliseconds, followed by this many random bits."""

RandomBits = Callable[[int], int]
"""Returns so many random bits: `secrets.randbits`, or a seeded generator's in simulation."""


def operation_id(created_us: int, newest: str | None, randbits: RandomBits) -> OperationId:
    """Return a fresh id for an operation created then, which sorts after `newest`, the last one there is."""
    value = _ulid(created_us, randbits(RANDOM_BITS))
    if newest is not None:
        value = max(value, int(ULID.from_str(newest.removeprefix(OPERATION_ID_PREFIX))) + 1)
    return OperationId(f"{OPERATION_ID_PREFIX}{ULID.from_int(value)}")


def first_operation_id(created_us: int) -> OperationId:
    """Return the lowest id that an operation created in that millisecond can have: a bound for listings."""
    return OperationId(f"{OPERATION_ID_PREFIX}{ULID.from_int(_ulid(created_us, 0))}")


def token_id(created_us: int, randbits: RandomBits) -> str:
    """Return a fresh id for a token."""
    return f"tok_{ULID.from_int(_ulid(created_us, randbits(RANDOM_BITS)))}"


def question_id(asked_us: int, randbits: RandomBits) -> str:
    """Return a fresh id for a question to an operator."""
    return f"q_{ULID.from_int(_ulid(asked_us, randbits(RANDOM_BITS)))}"


def _ulid(created_us: int, random: int) -> int:
    return (created_us // 1000 << RANDOM_BITS) | random

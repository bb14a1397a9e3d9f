"""Identifiers: of their time, and in order even within one millisecond."""

from collections.abc import Callable

import pytest

from hangar.hub.ids import first_operation_id, operation_id, token_id

AT_US = 1_795_000_000_123_456


def constant(value: int) -> Callable[[int], int]:
    return lambda _bits: value


def test_an_id_is_the_prefix_and_a_ulid() -> None:
    id_ = operation_id(AT_US, None, constant(0))
    assert id_ == "op_01M7Q5CQKV0000000000000000"
    assert len(id_) == 29


@pytest.mark.parametrize("randbits", [constant(0), constant((1 << 80) - 1)])
@pytest.mark.parametrize("step_us", [0, 1, 1_000, 10_000_000])
def test_later_ids_sort_later_whatever_chance_gives(randbits: Callable[[int], int], step_us: int) -> None:
    ids = [operation_id(AT_US, None, constant(5))]
    for number in range(1, 5):
        ids.append(operation_id(AT_US + number * step_us, ids[-1], randbits))
    assert ids == sorted(set(ids))


def test_an_instant_bounds_the_ids_of_its_millisecond() -> None:
    bound = first_operation_id(AT_US)
    assert operation_id(AT_US - 1_000, None, constant((1 << 80) - 1)) < bound
    assert bound <= operation_id(AT_US, None, constant(0))


def test_tokens_have_a_prefix_of_their_own() -> None:
    assert token_id(AT_US, constant(1)) == "tok_01M7Q5CQKV0000000000000001"

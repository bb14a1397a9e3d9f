"""Quantities as integers, rounded up as Kubernetes does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hangar.operator.cluster.kubernetes.quantities import amount, amounts, largest, total


@pytest.mark.parametrize(
    ("resource", "quantity", "expected"),
    [
        ("cpu", "1", 1000),
        ("cpu", "100m", 100),
        ("cpu", "1.5", 1500),
        ("cpu", "1500000000n", 1500),
        ("cpu", "1u", 1),  # a fraction of a millicore is still held: rounded up
        ("memory", "128Mi", 128 * 2**20),
        ("memory", "2Ti", 2 * 2**40),
        ("memory", "1.5Gi", 3 * 2**29),
        ("memory", "128974848", 128974848),
        ("memory", "129M", 129_000_000),
        ("memory", "1e3", 1000),
        ("memory", "1E3", 1000),
        ("memory", "1E", 10**18),
        ("memory", "1Ei", 2**60),
        ("memory", "100m", 1),
        ("memory", ".5k", 500),
        ("nvidia.com/gpu", "8", 8),
        ("pods", "110", 110),
        ("pods", "1k", 1000),
        ("cpu", "-1", -1000),
    ],
)
def test_a_quantity_is_read_in_the_smallest_unit_in_use(resource: str, quantity: str, expected: int) -> None:
    assert amount(resource, quantity) == expected


@pytest.mark.parametrize("quantity", ["", "Gi", "1 Gi", "1.2.3", "1KB", "0x10", "1e", "∞"])
def test_what_is_no_quantity_is_named(quantity: str) -> None:
    with pytest.raises(ValueError, match=r"memory: .* is not a quantity"):
        amount("memory", quantity)


@given(st.integers(0, 2**70))
def test_whole_numbers_are_exact_at_any_size(number: int) -> None:
    assert amount("memory", str(number)) == number
    assert amount("cpu", f"{number}m") == number


def test_amounts_are_added_and_compared_resource_by_resource() -> None:
    first, second = amounts({"cpu": "1", "memory": "1Ki"}), amounts({"cpu": "500m", "nvidia.com/gpu": "2"})
    assert total([first, second]) == {"cpu": 1500, "memory": 1024, "nvidia.com/gpu": 2}
    assert largest(first, second) == {"cpu": 1000, "memory": 1024, "nvidia.com/gpu": 2}

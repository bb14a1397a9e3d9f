"""Durations are read as the manual writes them, and written as people say them."""

import pytest

from hangar.cli.durations import exact, parse_s, rough


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("10m", 600), ("1h30m", 5400), ("0", 0), ("0s", 0), ("1d2h3m4s", 93_784)],
)
def test_a_duration_is_read(text: str, seconds: int) -> None:
    assert parse_s(text) == seconds


@pytest.mark.parametrize("text", ["", "m", "10x", "-5", "1.5h", "10m1h", "5m5m", "10 m", "1h30", "²"])
def test_what_is_no_duration_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="10m"):
        parse_s(text)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (42, "42s"), (90.9, "1m30s"), (3600, "1h"), (93_784, "1d2h3m4s")]
)
def test_a_duration_is_written_exactly(seconds: float, text: str) -> None:
    assert exact(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0s"), (119, "119s"), (125, "2m5s"), (605, "10m"), (5_430, "1h30m"), (4 * 3600, "4h"), (3 * 86_400, "3d")],
)
def test_an_age_is_short(seconds: float, text: str) -> None:
    assert rough(seconds) == text

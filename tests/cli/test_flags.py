"""Fields of the API by the words of the command line."""

import pytest

from hangar.cli.flags import as_typed


@pytest.mark.parametrize(
    ("path", "typed"),
    [
        ("type", "TYPE"),
        ("target", "TARGET"),
        ("cluster", "--cluster"),
        ("reason", "--reason"),
        ("params.deadline_s", "--deadline"),
        ("params.skip_fit_check", "--skip-fit-check"),
        ("query.created_by", "--created-by"),
        ("header.Idempotency-Key", "--idempotency-key"),
        ("params.a.b", "params.a.b"),
        ("params", "params"),
        ("name", "NAME"),
        ("expires_in_s", "--expires"),
        ("colour", "colour"),
        ("", ""),
    ],
)
def test_a_path_is_told_as_it_was_typed(path: str, typed: str) -> None:
    assert as_typed(path) == typed

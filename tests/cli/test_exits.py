"""The exit codes are a promise: the table is asserted number by number."""

import pytest

from hangar.cli.exits import Exit, of_status


def test_the_numbers_are_those_of_the_reference() -> None:
    assert [code.value for code in Exit] == [0, 1, 2, 4, 5, 6, 7, 8, 11, 130]
    assert all(code.meaning for code in Exit)


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ((400, 405, 413, 415, 422), 2),
        ((401, 403), 4),
        ((404,), 5),
        ((409, 412), 6),
        ((429, 502, 503, 504), 7),
        ((500, 501), 1),
    ],
)
def test_each_status_has_its_code(statuses: tuple[int, ...], code: int) -> None:
    assert {of_status(status) for status in statuses} == {code}

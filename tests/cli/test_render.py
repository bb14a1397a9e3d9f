"""Lines made of documents: aligned, one a value, and harmless whatever others wrote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hangar.cli.documents import Document
from hangar.cli.render import (
    GREEN,
    Column,
    Table,
    age,
    cells_of,
    clean,
    cut,
    fold,
    inline,
    key_values,
    phase_colour,
    text_of,
)

NOTE = Column("NOTE", text_of("note"), cells_min=12)
NAME_AND_NOTE = (Column("NAME", text_of("name")), NOTE)


def plain(columns: tuple[Column, ...] = NAME_AND_NOTE, width_max: int | None = None) -> Table:
    return Table(columns, has_header=True, is_coloured=False, width_max=width_max)


def test_columns_are_aligned_under_their_headers() -> None:
    items: list[Document] = [{"name": "a", "note": "first"}, {"name": "longer", "note": None}]
    assert list(plain().lines(items, 0)) == ["NAME     NOTE", "a        first", "longer   -"]


def test_a_second_page_keeps_the_widths_of_the_first_and_has_no_header() -> None:
    table = plain()
    list(table.lines([{"name": "abcdef", "note": "x"}], 0))
    assert list(table.lines([{"name": "b", "note": "y"}], 0)) == ["b        y"]


def test_wide_letters_take_two_cells() -> None:
    items = [{"name": "点検", "note": "x"}, {"name": "ab", "note": "y"}]
    assert list(plain().lines(items, 0))[1:] == ["点検   x", "ab     y"]


def test_the_last_column_is_cut_to_the_terminal_and_whole_elsewhere() -> None:
    items = [{"name": "a", "note": "a long note that goes on"}]
    assert list(plain(width_max=24).lines(items, 0))[1] == "a      a long note that…"
    assert list(plain().lines(items, 0))[1].endswith("goes on")


def test_a_line_never_wraps_even_where_the_last_column_has_no_room() -> None:
    items = [{"name": "a-name", "note": "a long note that goes on"}]
    assert list(plain(width_max=20).lines(items, 0)) == ["NAME    NOTE", "a-name  a long note…"]
    assert list(plain(width_max=9).lines(items, 0)) == ["NAME    …", "a-name  …"]
    assert list(plain(width_max=5).lines(items, 0)) == ["NAME", "a-na…"]


BY_AND_AGE = (
    Column("NAME", text_of("name")),
    Column("BY", text_of("by"), gives_way=2),
    Column("AGE", text_of("age"), gives_way=1),
    NOTE,
)


@pytest.mark.parametrize(
    ("width_max", "header"),
    [
        (None, ["NAME     BY    AGE   NOTE", "a-name   ann   3s    a note that is long"]),
        (80, ["NAME     BY    AGE   NOTE", "a-name   ann   3s    a note that is long"]),
        (33, ["NAME     BY    AGE   NOTE", "a-name   ann   3s    a note that…"]),
        (32, ["NAME    BY   AGE  NOTE", "a-name  ann  3s   a note that i…"]),
        (29, ["NAME     BY    NOTE", "a-name   ann   a note that i…"]),
        (25, ["NAME    BY   NOTE", "a-name  ann  a note that…"]),
        (24, ["NAME     NOTE", "a-name   a note that is…"]),
    ],
)
def test_on_a_narrow_terminal_gaps_shrink_and_columns_give_way_in_their_order(
    width_max: int | None, header: list[str]
) -> None:
    items = [{"name": "a-name", "by": "ann", "age": "3s", "note": "a note that is long"}]
    lines = list(plain(BY_AND_AGE, width_max).lines(items, 0))
    assert lines == header
    assert all(len(line) <= (width_max or 80) for line in lines)


def test_columns_give_way_for_all_of_a_last_one_that_is_of_no_use_when_cut() -> None:
    columns = (Column("NAME", text_of("name")), Column("AGE", text_of("age"), gives_way=1), Column("ID", text_of("id")))
    items: list[Document] = [{"name": "a", "age": "3s", "id": "op_0123"}]
    assert list(plain(columns, 19).lines(items, 0)) == ["NAME  AGE  ID", "a     3s   op_0123"]
    assert list(plain(columns, 17).lines(items, 0)) == ["NAME   ID", "a      op_0123"]


def test_a_table_that_grows_keeps_room_for_what_may_come() -> None:
    table = Table(BY_AND_AGE, has_header=True, is_coloured=False, width_max=24, is_growing=True)
    assert list(table.lines([{"name": "a-name", "by": "ann", "age": "3s", "note": "x"}], 0)) == [
        "NAME     NOTE",
        "a-name   x",
    ]


def test_a_table_that_grows_moves_its_columns_for_what_comes_later() -> None:
    table = Table(NAME_AND_NOTE, has_header=True, is_coloured=False, width_max=None, is_growing=True)
    list(table.lines([{"name": "abcd", "note": "x"}], 0))
    assert list(table.lines([{"name": "abcdefgh", "note": "y"}], 0)) == ["abcdefgh   y"]
    assert list(table.lines([{"name": "a", "note": "z"}], 0)) == ["a          z"]


def test_a_table_that_grows_out_of_its_terminal_begins_anew_with_fewer_columns() -> None:
    table = Table(BY_AND_AGE, has_header=True, is_coloured=False, width_max=33, is_growing=True)
    assert list(table.lines([{"name": "a", "by": "ann", "age": "3s", "note": "x"}], 0)) == [
        "NAME   BY    AGE   NOTE",
        "a      ann   3s    x",
    ]
    assert list(table.lines([{"name": "a-long-name", "by": "ann", "age": "3s", "note": "a note that is long"}], 0)) == [
        "NAME          BY    NOTE",
        "a-long-name   ann   a note that …",
    ]
    assert list(table.lines([{"name": "b", "by": "ann", "age": "3s", "note": "y"}], 0)) == ["b             ann   y"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("fits in", ["fits in"]),
        ("one two three", ["one two", "  three"]),
        ("one twos three four five six", ["one twos", "  three", "  four fi…"]),
        ("abcdefghijklmno", ["abcdefghij", "  klmno"]),
        ("点検点検点検", ["点検点検点", "  検"]),
        ("ab cdefghijklmnopq", ["ab", "  cdefghij", "  klmnopq"]),
    ],
)
def test_a_long_text_is_folded_at_spaces_and_cut_in_its_last_line(text: str, lines: list[str]) -> None:
    assert fold(text, 10, 3) == lines


def test_colours_do_not_disturb_the_alignment() -> None:
    columns = (Column("PHASE", text_of("phase"), style=phase_colour), Column("X", text_of("x")))
    table = Table(columns, has_header=False, is_coloured=True, width_max=None)
    items = [{"phase": "succeeded", "x": "1"}, {"phase": "odd", "x": "2"}]
    assert list(table.lines(items, 0)) == [f"\x1b[{GREEN}msucceeded\x1b[0m   1", "odd         2"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ümlaut", "plain ümlaut"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("two\nlines\tand", "two\\nlines\\tand"),
        ("right-to-left \u202e", "right-to-left \\u202e"),
        ("c1 \x9b", "c1 \\x9b"),
    ],
)
def test_control_characters_are_escaped(text: str, shown: str) -> None:
    assert clean(text) == shown


@given(st.text())
def test_a_clean_text_is_always_printable(text: str) -> None:
    assert clean(text).isprintable()


@given(st.text(), st.integers(min_value=1, max_value=30))
def test_a_cut_text_never_takes_more_cells_than_there_are(text: str, width: int) -> None:
    assert cells_of(cut(clean(text), width)) <= width


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "-"),
        ([], "-"),
        ({}, "-"),
        ("", "-"),
        (False, "false"),
        (0, "0"),
        (["cordon", "drain"], "cordon, drain"),
        ({"code": "x", "message": "said so"}, "said so"),
        ([{"pod": "a", "to": "n2"}, {"pod": "b", "to": None}], "pod=a to=n2; pod=b"),
    ],
)
def test_any_value_fits_on_one_line(value: object, shown: str) -> None:
    assert inline(value) == shown


def test_nested_values_have_dotted_keys_and_numbered_items() -> None:
    document = {
        "cordoned": False,
        "result": {"message": "evicted_replicas=3", "details": {}},
        "moves": [{"pod": "a", "to": "n2"}, {"pod": "b", "to": "n3"}],
        "allowed": ["cordon", "drain"],
        "reason": "line\nbreak",
    }
    assert list(key_values(document)) == [
        "cordoned: false",
        "result.message: evicted_replicas=3",
        "result.details: -",
        "moves[1]: pod=a to=n2",
        "moves[2]: pod=b to=n3",
        "allowed: cordon, drain",
        "reason: line\\nbreak",
    ]


def test_an_age_counts_from_the_instant_and_is_never_negative() -> None:
    assert age("1970-01-01T00:01:00Z", 165) == "105s"
    assert age("1970-01-01T00:01:00.500Z", 30) == "0s"
    assert age("yesterday", 30) == "yesterday"

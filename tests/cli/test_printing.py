"""The forms of output, by lists and records that a hub sent."""

import json
from collections.abc import Callable

import pytest
import yaml

from tests.cli.conftest import Hgr
from tests.cli.samples import a_node
from tests.cli.scripted import Answer, ScriptedHub


@pytest.fixture(autouse=True)
def two_pages(hub: ScriptedHub) -> None:
    hub.on(
        "GET",
        "/v1/nodes",
        Answer(document={"items": [a_node(), a_node(name="n04", labels={"bell": "\x07"})], "next_page_token": "p"}),
        Answer(document={"items": [a_node(name="n05")], "next_page_token": None, "as_of": 7}),
    )


@pytest.mark.parametrize(("form", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_a_list_in_json_and_yaml_is_one_document_as_the_api_gives_it(
    hgr: Hgr, form: str, read: Callable[[str], object]
) -> None:
    ran = hgr("node", "ls", "-o", form)
    items = [a_node(), a_node(name="n04", labels={"bell": "\x07"}), a_node(name="n05")]
    assert read(ran.out) == {"items": items, "next_page_token": None, "as_of": 7}
    assert "\x07" not in ran.out
    assert ran.err == ""


@pytest.mark.parametrize(("form", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_an_empty_list_is_a_document_too(hub: ScriptedHub, hgr: Hgr, form: str, read: Callable[[str], object]) -> None:
    hub.on_list("/v1/nodes")
    assert read(hgr("node", "ls", "-o", form).out) == {"items": [], "next_page_token": None, "as_of": 7}


@pytest.mark.parametrize("words", [("-o", "name"), ("-q",)])
def test_names_come_one_a_line_and_nothing_else(hgr: Hgr, words: tuple[str, ...]) -> None:
    ran = hgr("node", "ls", *words)
    assert (ran.out, ran.err) == ("iad-1-n03\nn04\nn05\n", "")


def test_a_table_has_one_header_for_all_pages(hgr: Hgr) -> None:
    lines = hgr("node", "ls").out.splitlines()
    assert len(lines) == 4
    assert lines[0].split() == ["NAME", "CLUSTER", "READY", "CORDON", "REPLICAS", "OPERATION"]


def test_the_header_can_be_left_out(hgr: Hgr) -> None:
    assert len(hgr("node", "ls", "--no-headers").out.splitlines()) == 3


def test_wide_shows_more_columns(hgr: Hgr) -> None:
    line = hgr("node", "ls", "-o", "wide").out.splitlines()[0]
    assert {"ALLOCATED", "CORDONED-BY", "UID", "REASON"} <= set(line.split())


def test_an_empty_table_says_so_on_stderr(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list("/v1/nodes")
    ran = hgr("node", "ls")
    assert ran.out.split() == ["NAME", "CLUSTER", "READY", "CORDON", "REPLICAS", "OPERATION"]
    assert ran.err == "no nodes\n"


def test_a_list_that_fails_before_its_first_page_prints_nothing(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/nodes", Answer(hang_up=True))
    for form in ("table", "json", "yaml", "name"):
        ran = hgr("node", "ls", "-o", form)
        assert (ran.code, ran.out) == (7, "")


def test_a_record_can_be_read_by_machines(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/nodes/iad-1-n03", Answer(document=a_node()))
    assert json.loads(hgr("node", "get", "iad-1-n03", "-o", "json").out) == a_node()
    assert yaml.safe_load(hgr("node", "get", "iad-1-n03", "-o", "yaml").out) == a_node()
    assert hgr("node", "get", "iad-1-n03", "-o", "name").out == "iad-1-n03\n"


def test_nothing_is_coloured_where_no_terminal_is(hgr: Hgr) -> None:
    assert "\x1b" not in hgr("node", "ls").out

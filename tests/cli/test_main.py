"""The command line as a whole: words in, exit code and a few clear lines out."""

import pytest

import hangar
from tests.cli.conftest import Hgr
from tests.cli.scripted import Answer, ScriptedHub


@pytest.mark.parametrize("words", [("version",), ("--version",), ("--server", "x", "--version")])
def test_the_version_is_told(hgr: Hgr, words: tuple[str, ...]) -> None:
    assert hgr(*words).out == f"hgr {hangar.__version__}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "a noun is missing"),
        (("workloads",), "there is no noun 'workloads'; known: operation, workload, deployment, node, "),
        (("node",), "hgr node needs a verb: ls, get"),
        (("node", "list"), "hgr node has no verb 'list'; it has: ls, get"),
        (("node", "ls", "extra"), "unrecognized arguments: extra"),
        (("node", "ls", "--clu", "x"), "unrecognized arguments: --clu x"),
        (("node", "ls", "--limit", "0"), "must be at least 1"),
        (("node", "ls", "-o", "xml"), "invalid choice: 'xml'"),
        (("node", "get"), "the following arguments are required: NODE"),
        (("--nonsense", "node", "ls"), "--nonsense"),
        (("help", "nonsense"), "there is no help on 'nonsense'"),
    ],
)
def test_a_wrong_command_line_exits_2(hub: ScriptedHub, hgr: Hgr, words: tuple[str, ...], said: str) -> None:
    ran = hgr(*words)
    assert (ran.code, ran.out, hub.requests) == (2, "", [])
    assert said in ran.err


def test_the_hub_may_be_named_before_the_noun_or_after_the_verb(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list("/v1/nodes")
    assert hgr("--server", hub.url, "node", "ls").code == 0
    assert hgr("node", "ls", "--server", hub.url).code == 0
    assert hgr("--server", "http://127.0.0.1:1", "node", "ls").code == 7


def test_a_message_from_outside_cannot_move_the_cursor(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/nodes", Answer(301, {}, {"Location": "http://x/\x1b[2J"}))
    assert "\x1b" not in hgr("node", "ls").err

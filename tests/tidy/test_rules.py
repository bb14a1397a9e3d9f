"""The rules themselves: each finds what is planted, and leaves alone what is right."""

from collections.abc import Callable, Iterable

import pytest

from tests.tidy import code, limits, structure, words
from tests.tidy.finding import Finding
from tests.tidy.tree import Module, a_module

Search = Callable[[Module], Iterable[Finding]]


def found(search: Search, text: str, path: str = "src/hangar/x.py") -> list[tuple[int, str]]:
    return [(each.line, each.what) for each in search(a_module(text, path))]


def a_function(lines: int, name: str = "f", indent: str = "") -> str:
    return "\n".join([f"{indent}def {name}():", *[f"{indent}    pass"] * (lines - 1)])


def test_a_function_may_have_50_lines_and_no_more() -> None:
    assert found(code.long_functions, a_function(50)) == []
    assert found(code.long_functions, a_function(51)) == [(1, "f has 51 lines")]
    assert found(code.long_functions, "class C:\n" + a_function(51, "m", "    ")) == [(2, "C.m has 51 lines")]
    assert found(code.long_functions, "@d\n" + a_function(50)) == [(1, "f has 51 lines")]


def test_a_file_may_have_400_lines_and_no_more() -> None:
    assert found(code.long_files, "x = 1\n" * 400) == []
    assert found(code.long_files, "x = 1\n" * 401) == [(1, "it has 401 lines")]


@pytest.mark.parametrize("call", ["time.sleep(1)", "sleep(0.01)", "asyncio.sleep(x)", "time.sleep()"])
def test_a_sleep_is_found_in_tests_only(call: str) -> None:
    assert found(code.sleeps, call, "tests/x.py") == [(1, "it sleeps")]
    assert found(code.sleeps, call) == []


def test_giving_way_to_others_is_no_sleep() -> None:
    assert found(code.sleeps, "async def f(): await asyncio.sleep(0)", "tests/x.py") == []


@pytest.mark.parametrize("caught", ["", " Exception", " BaseException", " (OSError, Exception)", " builtins.Exception"])
def test_what_swallows_everything_is_found(caught: str) -> None:
    text = f"try:\n    f()\nexcept{caught}:\n    pass"
    assert found(code.broad_excepts, text) == [(3, "it catches everything")]
    assert found(code.broad_excepts, text.replace("pass", "raise")) == []
    assert found(code.broad_excepts, "with suppress(Exception):\n    f()") == [(1, "it catches everything")]
    assert found(code.broad_excepts, "try:\n    f()\nexcept OSError:\n    pass") == []


def test_a_loop_may_catch_everything_once() -> None:
    text = "try:\n    f()\nexcept Exception:\n    pass\n"
    [loop, *_] = code.TWO_LOOPS
    assert len(code.TWO_LOOPS) == 2
    assert found(code.broad_excepts, text, loop) == []
    assert found(code.broad_excepts, text * 2, loop) == [(7, "it catches everything")]


@pytest.mark.parametrize(
    "text",
    ["time.time()", "datetime.now(UTC)", "datetime.datetime.utcnow()", "date.today()", "from time import monotonic"],
)
def test_time_is_read_in_one_place_only(text: str) -> None:
    assert len(found(code.clocks, text)) == 1
    assert found(code.clocks, text, "src/hangar/clock.py") == []
    assert found(code.clocks, text, "src/hangar/cli/wait.py") == []
    assert found(code.clocks, text, "tests/x.py") == []


def test_other_uses_of_time_are_left_alone() -> None:
    assert found(code.clocks, "import time\nclock.now_us()\nloop.time()\ntime.strftime('%Y')") == []


def test_each_any_is_counted() -> None:
    text = "from typing import Any\nx: dict[str, Any]\ndef f(y: Any) -> typing.Any: ..."
    assert sorted(line for line, _ in found(code.anys, text)) == [2, 3, 3]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("x = 1", "it does not open with a sentence"),
        ('"""no end"""', "it does not open with a sentence"),
        ('"""One. Two."""', "it opens with more than one sentence"),
        ('"""One.\n\nThen as many. As you like."""', None),
        ('"""Over two\nlines, v1.2 included."""', None),
    ],
)
def test_a_module_opens_with_one_sentence(text: str, what: str | None) -> None:
    assert [said for _, said in found(code.openings, text)] == ([what] if what else [])


def test_what_decides_imports_only_what_is_pure() -> None:
    text = "import asyncio\nfrom os import path\nfrom hangar.domain import fit\nimport collections.abc"
    assert found(code.impure_imports, text, "src/hangar/kinds/x.py") == [
        (1, "it imports asyncio"),
        (2, "it imports os"),
    ]
    assert found(code.impure_imports, text) == []


def test_a_limit_has_its_unit_and_its_reason() -> None:
    text = (
        'WAIT_MAX_S = 1\n"""Why."""\nROWS_MAX: int = 2\n"""Why."""\nWAIT_MAX = 1\n"""Why."""\nPAUSE_S = 1\nSIZE_MAX = 1'
    )
    findings = limits.unclear_limits([a_module(text, limits.PATH)])
    assert [(each.line, each.what) for each in findings] == [
        (5, "WAIT_MAX has no unit in its name"),
        (7, "PAUSE_S has no reason below it"),
        (8, "SIZE_MAX has no unit in its name"),
        (8, "SIZE_MAX has no reason below it"),
    ]


@pytest.mark.parametrize("word", ["TODO", "FIXME", "XXX", "HACK"])
def test_what_is_left_undone_is_found_in_any_file(word: str) -> None:
    assert [each.line for each in words.promises({"a.md": f"x\n# {word}: later"})] == [2]
    assert list(words.promises({"a.md": f"{word}S and {word.lower()}"})) == []


@pytest.mark.parametrize(
    "line",
    [
        "cd /" + "work/main",
        '"/' + 'root/.cache"',
        "HOME=/home/me/x",
        "https://" + "py" + "pi.org/simple",
        "--index-url https://x",
        "--extra-index-url=x",
        "index_url = x",
        "GOPROXY=https://x",
        'registry = "' + 'https://x"',
    ],
)
def test_what_is_true_of_one_machine_is_found(line: str) -> None:
    assert len(list(words.places({"a.txt": line}))) >= 1


@pytest.mark.parametrize(
    "line",
    [
        "docs/work/x",
        "$HOME/work/x",
        "--no-emit-index-url",
        "https://example.com/root/x",
        "~/" + "work/x",
        "the proxy's index",
    ],
)
def test_what_is_true_everywhere_is_left_alone(line: str) -> None:
    assert list(words.places({"a.txt": line})) == []


def test_a_module_that_no_root_imports_is_found() -> None:
    imports = {
        "hangar": frozenset[str](),
        "hangar.a": frozenset[str](),
        "hangar.a.__main__": frozenset({"hangar.b.used"}),
        "hangar.b": frozenset({"hangar.by_package"}),
        "hangar.b.used": frozenset({"hangar.b"}),
        "hangar.by_package": frozenset[str](),
        "hangar.dead": frozenset({"hangar.dead_too"}),
        "hangar.dead_too": frozenset({"hangar.dead"}),
    }
    assert [each.key for each in structure.unreachable(imports, ["hangar.a.__main__"])] == [
        "hangar.dead",
        "hangar.dead_too",
    ]


def test_a_module_with_code_wants_its_test() -> None:
    tree = [
        a_module("def f(): ...", "src/hangar/hub/usecases/x.py"),
        a_module("def f(): ...", "src/hangar/tested.py"),
        a_module("def test_f(): ...", "tests/test_tested.py"),
        a_module("class Error(Exception):\n    def __init__(self): ...", "src/hangar/errors.py"),
        a_module("def main(): ...", "src/hangar/hub/__main__.py"),
    ]
    assert [each.what for each in structure.untested(tree)] == ["tests/hub/usecases/test_x.py is missing"]

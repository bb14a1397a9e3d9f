"""Start-up is a feature: what a command does not need is not imported, counted in modules and not in seconds."""

import subprocess
import sys

import pytest

from tests.cli.samples import a_node, a_workload
from tests.cli.scripted import ScriptedHub

PROGRAM = """
import sys
from hangar.cli.__main__ import main
code = main(sys.argv[1:])
print(*sorted(sys.modules), file=sys.stderr)
sys.exit(code)
"""

NEVER = {"asyncio", "httpx", "httpx2", "msgspec", "pydantic", "rich", "sqlalchemy", "structlog"}
NOT_FOR_A_LIST = NEVER | {
    *(
        "argcomplete",
        "concurrent",
        "dataclasses",
        "getpass",
        "inspect",
        "logging",
        "multiprocessing",
        "pathlib",
        "secrets",
        "shutil",
    ),
    *("signal", "ssl", "_ssl", "subprocess", "tempfile", "tomllib", "typing", "unittest", "uuid", "yaml"),
    *("hangar.kinds", "hangar.wire", "hangar.domain", "hangar.clock", "hangar.hub", "hangar.operator"),
    *("hangar.cli.operation", "hangar.cli.wait", "hangar.cli.context", "hangar.cli.help", "hangar.cli.complete"),
    *("hangar.cli.stream", "hangar.cli.watch", "queue", "threading"),
}
NOT_FOR_HELP = NOT_FOR_A_LIST - {"hangar.cli.help"} | {"argparse", "enum", "http.client", "json", "re", "socket"}


def imported_by(hub: ScriptedHub, *words: str) -> set[str]:
    command = [sys.executable, "-I", "-c", PROGRAM, *words]
    # -I keeps the test runner's own settings out; so the path has to be handed over.
    command[3] = f"import sys; sys.path[:0] = {[path for path in sys.path if path]!r}\n{PROGRAM}"
    ran = subprocess.run(command, env={"HGR_SERVER": hub.url}, capture_output=True, text=True, timeout=60, check=True)
    return set(ran.stderr.split())


@pytest.mark.parametrize("words", [("node", "ls"), ("node", "ls", "-o", "json"), ("node", "ls", "-q")])
def test_a_list_over_http_needs_little(hub: ScriptedHub, words: tuple[str, ...]) -> None:
    hub.on_list("/v1/nodes", a_node())
    assert imported_by(hub, *words) & NOT_FOR_A_LIST == set()


def test_a_list_of_what_operations_change_pays_for_none_of_them(hub: ScriptedHub) -> None:
    hub.on_list("/v1/workloads", a_workload())
    assert imported_by(hub, "workload", "ls") & (NOT_FOR_A_LIST | {"hangar.cli.create"}) == set()


def test_help_needs_next_to_nothing(hub: ScriptedHub) -> None:
    assert imported_by(hub, "--help") & NOT_FOR_HELP == set()


def test_even_a_creation_needs_no_library(hub: ScriptedHub) -> None:
    assert imported_by(hub, "operation", "create", "node.drain", "--help") & (NEVER | {"argcomplete"}) == set()
    assert imported_by(hub, "workload", "scale", "--help") & (NEVER | {"argcomplete", "yaml"}) == set()

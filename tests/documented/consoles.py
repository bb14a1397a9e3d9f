"""Console blocks: the commands of a page, run one after the other on a demo fleet, and what they print.

A block of the language `console` has commands after `$ `, and below each what it prints on either stream. The lines
that tell of progress are not among it: on a terminal they are one line that is erased in the end.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from tests.documented.pages import FENCE
from tests.tidy.tree import ROOT

RUN_S_MAX = 120
"""A page takes seconds; what takes longer than this hangs."""

RECORD = "\x1e"
PROGRESS = re.compile(r"^node\.\w+ \S+ (pending|running)\b.*\n", re.MULTILINE)
NEVER_THE_SAME = (
    (re.compile(r"\b(op|tok)_[0-9A-Z]{26}"), r"\1_…"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "an instant"),
    (re.compile(r"\b\d+ ?s\b"), "some s"),
    (re.compile(r"(?<=: )\d+(?=\n|$)"), "a number"),
    (re.compile(r"(?<=-)0\d{4}\b|(?<=uid-pod-)\d+"), "a pod's number"),
    (re.compile(r"(?<=successor_node=)\S+"), "a node"),
    (re.compile(r" +"), " "),
)
"""What differs from run to run: ids, instants, durations, numbers, where a pod went, and the columns' widths."""

UNTIL_SETTLED = "sleep 5"
"""People look at a fleet that is older than a second: pods that were made in one second are told apart by nobody."""


@dataclass(frozen=True)
class Command:
    """One command and what it prints."""

    line: str
    output: str


def commands_in(body: str) -> list[Command]:
    """Return the commands of a console block with the output below each."""
    parts = re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]
    found = []
    for part in parts:
        line, _, output = part.partition("\n")
        while line.endswith("\\"):
            more, _, output = output.partition("\n")
            line = f"{line}\n{more}"
        found.append(Command(line, output))
    return found


def commands_of(text: str) -> list[Command]:
    """Return the commands of all console blocks of a page."""
    bodies = [found["body"] for found in FENCE.finditer(text) if found["language"] == "console"]
    return [command for body in bodies for command in commands_in(body)]


def run(lines: Sequence[str], options: Sequence[str] = ()) -> list[str]:
    """Run commands in one shell against a fresh demo fleet, and return what each printed."""
    script = ["exec 2>&1", "rc=0", *(f"printf '\\036'; (exit $rc)\n{line}\nrc=$?" for line in lines)]
    command = [sys.executable, "-m", "hangar.demo", *options, "--", "bash", "-c", "\n".join(script)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HGR_")}
    environment |= {"PYTHONPATH": str(Path(ROOT) / "src"), "COLUMNS": "80"}
    with tempfile.TemporaryDirectory() as folder:  # what a page writes into files goes with it
        ended = subprocess.run(
            command,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_S_MAX,
        )
    assert ended.stderr == "", ended.stderr
    return [PROGRESS.sub("", each) for each in ended.stdout.split(RECORD)[1:]]


def written_anew(text: str) -> str:
    """Return a page with what its commands print today."""
    outputs = iter(run([UNTIL_SETTLED, *(command.line for command in commands_of(text))])[1:])

    def replaced(found: re.Match[str]) -> str:
        if found["language"] != "console":
            return found[0]
        shown = "".join(f"$ {each.line}\n{next(outputs)}" for each in commands_in(found["body"]))
        return f"```console\n{shown}```"

    return FENCE.sub(replaced, text)


def comparable(output: str) -> str:
    """Return an output without what differs from run to run."""
    for pattern, instead in NEVER_THE_SAME:
        output = pattern.sub(instead, output)
    return output


def differences(text: str) -> list[str]:
    """Return, for each command of a page that prints something else than the page says, both."""
    commands = commands_of(text)
    found = []
    for command, printed in zip_longest(commands, run([each.line for each in commands]), fillvalue=None):
        assert command is not None
        if printed is None or comparable(command.output) != comparable(printed):
            found.append(f"$ {command.line}\nthe page:\n{command.output}\ntoday:\n{printed}")
    return found

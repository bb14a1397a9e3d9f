"""Runs commands as fresh processes and measures each: wall time, CPU time, most memory."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MEASURE = """
import json, os, sys, time
environment, commands = json.load(sys.stdin)
out = os.open(os.devnull, os.O_WRONLY)
for command in commands:
    began_s = time.perf_counter()
    pid = os.posix_spawn(command[0], command, environment, file_actions=[(os.POSIX_SPAWN_DUP2, out, 1)])
    _, status, used = os.wait4(pid, 0)
    took_s = time.perf_counter() - began_s
    if status:
        sys.exit(f"{command} ended with {os.waitstatus_to_exitcode(status)}")
    print(json.dumps([took_s * 1e3, (used.ru_utime + used.ru_stime) * 1e3, used.ru_maxrss / 1024]))
"""
"""A process of its own starts the others: a child's most memory counts that of whoever forked it, so he is small."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One process: from its start to its end, on a CPU, and the most memory that it had in use."""

    wall_ms: float
    cpu_ms: float
    memory_mib: float


def in_turn(commands: Sequence[Sequence[str]], environment: Mapping[str, str], rounds: int) -> list[list[Sample]]:
    """Run commands one after the other, round by round, and return the samples of each; a first round does not count.

    What a command prints is thrown away. Raises RuntimeError where one fails.
    """
    every = [list(command) for _ in range(rounds + 1) for command in commands]
    measured = subprocess.run(
        [sys.executable, "-I", "-S", "-c", MEASURE],
        input=json.dumps([{**os.environ, **environment}, every]),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if measured.returncode:
        raise RuntimeError("a command that was to be measured failed")
    samples = [Sample(*json.loads(line)) for line in measured.stdout.splitlines()]
    return [samples[len(commands) + index :: len(commands)] for index in range(len(commands))]

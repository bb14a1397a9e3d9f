"""`python -m testbed build` builds the programs; `python -m testbed up` runs a bed until Ctrl-C.

With `--dynamo VERSION` the bed serves DynamoGraphDeployments, and a small Dynamo operator runs beside it.
"""

import argparse
import signal
import sys
import threading
import time
from contextlib import AbstractContextManager, nullcontext

from testbed import dynamo_crds
from testbed.bed import Bed
from testbed.build import BuildError, build
from testbed.component import BedError
from testbed.dynamo_crds import Version
from testbed.dynamo_operator import DynamoOperator


def main() -> int:
    """Run one of the two commands; returns the process's exit code."""
    parser = argparse.ArgumentParser(prog="python -m testbed", description=__doc__)
    parser.add_argument("command", choices=("build", "up"))
    parser.add_argument("--dynamo", choices=tuple(dynamo_crds.SHIPPED), help="the version of graphs to serve")
    arguments = parser.parse_args()
    try:
        programs = build()
        if arguments.command == "build":
            print(programs.folder)
            return 0
        started_s = time.monotonic()
        with Bed(programs) as bed:
            print(f"up after {time.monotonic() - started_s:.1f} s; Ctrl-C ends it", file=sys.stderr)
            print(f"export KUBECONFIG={bed.kubeconfig}", flush=True)
            print(f"alias kubectl={programs.path('kubectl')}", flush=True)
            with _dynamo(bed, arguments.dynamo):
                _wait_for_the_end()
    except (BuildError, BedError) as error:
        print(f"testbed: {error}", file=sys.stderr)
        return 1
    return 0


def _dynamo(bed: Bed, version: Version | None) -> AbstractContextManager[object]:
    if version is None:
        return nullcontext()
    dynamo_crds.install(bed.kube, version)
    return DynamoOperator(bed.kube, version)


def _wait_for_the_end() -> None:
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: ended.set())
    ended.wait()


if __name__ == "__main__":
    sys.exit(main())

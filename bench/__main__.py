"""`python -m bench` runs all benches, `python -m bench NAME` one; each prints its table and writes docs/benchmarks."""

import argparse
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType

from bench import cli, cordon, drain, drains, hub, operator
from bench.report import Report

BENCHES: Mapping[str, Callable[[], Report]] = MappingProxyType(
    {
        "cli": cli.run,
        "cordon": cordon.run,
        "drain": drain.run,
        "drains": drains.run,
        "hub": hub.run,
        "operator": operator.run,
    }
)


def main() -> int:
    """Run the command line; returns the exit code: 0 all budgets kept, 1 one missed."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Ours beside the peers, in one run.")
    parser.add_argument("name", nargs="*", help=f"one or more of: {', '.join(BENCHES)}; all by default")
    names = parser.parse_args().name or list(BENCHES)
    if unknown := [name for name in names if name not in BENCHES]:
        parser.error(f"there is no bench {', '.join(unknown)}; there are {', '.join(BENCHES)}")
    is_kept = True
    for name in names:
        report = BENCHES[name]()
        print(report.markdown())
        print(f"written to {report.write()}", file=sys.stderr)
        is_kept = is_kept and report.is_kept
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())

"""Play one seed, or a range, and tell what happened: `python -m tests.simulation 38`, `… 0 1000`."""

import sys

from tests.simulation.playing import play


def main(argv: list[str]) -> int:
    """Play; returns 0 when nothing broke."""
    first = int(argv[0])
    last = int(argv[1]) if len(argv) > 1 else first + 1
    broken = 0
    for seed in range(first, last):
        error, story = play(seed)
        if error is not None:
            broken += 1
            sys.stdout.write(f"seed {seed}: {error}\n{story}\n")
        elif last - first == 1:
            sys.stdout.write(f"{story}\nseed {seed}: nothing broke\n")
    sys.stdout.write(f"{last - first - broken} of {last - first} seeds passed\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Take each fix out and tell which test noticed: `python -m tests.mutations`, or `… C01 C40` for some of them."""

import sys

from tests.mutations.catalogue import MUTATIONS
from tests.mutations.running import PASSED, run, survives
from tests.tidy.tree import ROOT


def main(argv: list[str]) -> int:
    """Run the mutations and print a table; returns 1 if one survives, or a test fails without any."""
    chosen = [each for each in MUTATIONS if not argv or each.case in argv]
    if run(sorted({each.test for each in chosen}), ROOT / "src") != PASSED:
        sys.stdout.write("the tests do not pass as the product is\n")
        return 1
    survivors = 0
    for each in chosen:
        is_alive = survives(each)
        survivors += is_alive
        sys.stdout.write(f"{each.case}  {'SURVIVES' if is_alive else 'noticed '}  {each.fault}\n")
        sys.stdout.write(f"               tests/{each.test}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(chosen) - survivors} of {len(chosen)} mutations were noticed\n")
    return 1 if survivors or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

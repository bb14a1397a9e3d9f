"""`python -m tests.documented PAGE...` writes what the commands of pages print today into them."""

import sys
from pathlib import Path

from tests.documented.consoles import written_anew
from tests.tidy.tree import ROOT


def main() -> None:
    """Rewrite the pages."""
    for page in sys.argv[1:]:
        path = Path(ROOT) / page
        path.write_text(written_anew(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()

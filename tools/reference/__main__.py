"""`python -m tools.reference` writes the reference, and the diagram of phases."""

from tools.reference import phases
from tools.reference.pages import FOLDER, pages
from tools.reference.sources import ROOT


def main() -> None:
    """Write what differs, and remove what is no page any more."""
    texts = pages()
    text = (ROOT / phases.PAGE).read_text(encoding="utf-8")
    texts[phases.PAGE] = phases.drawn_in(text)
    for stale in (ROOT / FOLDER).glob("*.md"):
        if f"{FOLDER}/{stale.name}" not in texts:
            stale.unlink()
    (ROOT / FOLDER).mkdir(exist_ok=True)
    for path, content in texts.items():
        (ROOT / path).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()

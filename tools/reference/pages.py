"""All pages of the reference, by their file names."""

from collections.abc import Callable, Mapping

from tools.reference import api, cases, command_line, metrics, operations, process
from tools.reference.markdown import page, table

FOLDER = "docs/reference"

PAGES: Mapping[str, tuple[str, Callable[[], str]]] = {
    "kinds.md": ("types of operations, their parameters and flags, their steps", operations.kinds),
    "results.md": ("the codes with which operations end", operations.results),
    "blockers.md": ("what an operation can wait for", operations.blockers),
    "events.md": ("the types of events", operations.events),
    "command-line.md": ("every noun, verb and flag", command_line.command_line),
    "exit-codes.md": ("what `hgr` ends with", command_line.exit_codes),
    "api.md": ("routes, their filters, and who may call them", api.api),
    "problems.md": ("the codes of the API's errors", api.problems),
    "roles.md": ("what a token may do", api.roles),
    "settings.md": ("of hub, operator and `hgr`", process.settings),
    "metrics.md": ("what hub and operator tell in figures", metrics.metrics),
    "limits.md": ("every bound, with its reason", process.limits),
    "access-rules.md": ("what the operator needs in Kubernetes", process.access),
    "cases.md": ("what went wrong with drains elsewhere, and the tests that show it here", cases.cases_page),
}


def pages() -> dict[str, str]:
    """Return the text of each page, by its path below the root."""
    found = {f"{FOLDER}/{name}": write() for name, (_, write) in PAGES.items()}
    return {f"{FOLDER}/README.md": _index(found)} | found


def _index(texts: Mapping[str, str]) -> str:
    titles = {path.rpartition("/")[2]: text.partition("\n")[0].removeprefix("# ") for path, text in texts.items()}
    rows = [(f"[{titles[name]}]({name})", about) for name, (about, _) in PAGES.items()]
    return page("Reference", table(("page", "what is there"), rows))

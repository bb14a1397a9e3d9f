"""What a bench has found: a table of ours beside the peers', with the budgets, and where and when it was measured."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

FOLDER = Path(__file__).parents[1] / "docs" / "benchmarks"


@dataclass(frozen=True, slots=True)
class Peer:
    """The same work done by somebody else in the same run; `ratio_max` is how much of its figure ours may be."""

    name: str
    runs: Sequence[float]
    ratio_max: float


@dataclass(frozen=True, slots=True)
class Floor:
    """Why a figure cannot be much lower as things are, by measurement, and up to which figure that explains it."""

    most: float
    why: str


@dataclass(frozen=True, slots=True)
class Row:
    """One piece of work, measured several times; medians count. `runs` and `budget_max` are in `unit`.

    `budget_max` None leaves the budget to the ratio. `floor` explains a figure that is over its budget.
    """

    work: str
    unit: str
    runs: Sequence[float]
    budget_max: float | None
    peer: Peer | None = None
    floor: Floor | None = None

    @property
    def ratio(self) -> float | None:
        """How much of the peer's median ours is; None without a peer."""
        return None if self.peer is None else median(self.runs) / median(self.peer.runs)

    @property
    def is_kept(self) -> bool:
        """Tell whether the budget is kept, and the ratio where there is a peer."""
        is_in_ratio = self.peer is None or self.ratio is None or self.ratio <= self.peer.ratio_max
        is_in_budget = self.budget_max is None or median(self.runs) <= self.budget_max
        return is_in_budget and is_in_ratio

    @property
    def is_explained(self) -> bool:
        """Tell whether it is known why the budget is not kept: no further than its floor."""
        return self.floor is not None and median(self.runs) <= self.floor.most

    def cells(self) -> list[str]:
        """Return the row as text, a cell a column."""
        return [
            self.work,
            self._figure(self.runs),
            f"{self.peer.name} {self._figure(self.peer.runs)}" if self.peer else "",
            f"{self.ratio:.2f}" if self.ratio is not None else "",
            ", ".join(self._budgets()),
            "ok" if self.is_kept else "over, see below" if self.is_explained else "missed",
        ]

    def single_runs(self) -> str:
        """Return all runs on one line."""
        peers = f"; {self.peer.name} {_listed(self.peer.runs)}" if self.peer else ""
        return f"{self.work}: ours {_listed(self.runs)}{peers} ({self.unit})"

    def _budgets(self) -> list[str]:
        budgets = [] if self.budget_max is None else [f"<= {self.budget_max:g} {self.unit}"]
        return [*budgets, *([f"<= {self.peer.ratio_max:g}x"] if self.peer else [])]

    def _figure(self, runs: Sequence[float]) -> str:
        return f"{median(runs):.2f} {self.unit}"


@dataclass(frozen=True, slots=True)
class Report:
    """All that one bench has found. `versions` names what took part; `notes` say how it was done, a line each."""

    name: str
    title: str
    rows: Sequence[Row]
    versions: Mapping[str, str]
    notes: Sequence[str] = ()

    @property
    def is_kept(self) -> bool:
        """Tell whether every budget is kept, or it is known what stands in the way."""
        return all(row.is_kept or row.is_explained for row in self.rows)

    def markdown(self) -> str:
        """Return the report as a page."""
        versions = {"Python": platform.python_version(), **self.versions}
        lines = [
            f"# {self.title}",
            "",
            f"Measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC on {machine()}; "
            + ", ".join(f"{name} {version}" for name, version in versions.items())
            + f". Written by `python -m bench {self.name}`.",
            "",
            *_table(["work", "ours", "peer", "ratio", "budget", ""], [row.cells() for row in self.rows]),
            "",
            *self.notes,
            "",
            *self._floors(),
            "Single runs:",
            "",
            *(f"- {row.single_runs()}" for row in self.rows),
            "",
        ]
        return "\n".join(lines)

    def _floors(self) -> list[str]:
        over = [f"- {row.work}: {row.floor.why}" for row in self.rows if row.floor and not row.is_kept]
        return ["Over budget:", "", *over, ""] if over else []

    def write(self) -> Path:
        """Write the page among the documents and return its path."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        path = FOLDER / f"{self.name}.md"
        path.write_text(self.markdown(), encoding="utf-8")
        return path


def machine() -> str:
    """Return the machine in words: how many cores, of which model."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} cores of {models[0] if models else platform.machine()}"


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]

    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"

    return [line(head), line(["-" * width for width in widths]), *map(line, rows)]


def _listed(runs: Sequence[float]) -> str:
    return ", ".join(f"{each:.2f}" for each in runs)

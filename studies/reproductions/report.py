"""Report of a reproduction: tables with the paper's figures beside ours, and pictures."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.objective import Objective
from sdc_problems.studies.store.folder import inside, write_atomically
from sdc_problems.studies.store.tables import objective_facts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REPORT = "report.md"
REPORT_SCHEMA = "sdc.report/1"


@dataclass(frozen=True)
class Cell:
    """One figure of ours and the paper's.

    Parameters
    ----------
    ours
        The value computed here; None if there is none.
    paper
        The value printed in the paper; None if there is none.
    form
        Format specification for numbers.

    Examples
    --------
    >>> str(Cell(0.98765, 0.94)), str(Cell(916, form="d")), str(Cell(None, 3.7e-4))
    ('0.988 (paper: 0.94)', '916', '– (paper: 0.00037)')
    """

    ours: float | str | None
    paper: float | str | None = None
    form: str = ".3g"

    def shown(self, value: float | str | None) -> str:
        """One of the two values as text."""
        if value is None:
            return "–"
        return value if isinstance(value, str) else format(value, self.form)

    def __str__(self) -> str:
        both = self.shown(self.ours)
        return both if self.paper is None else f"{both} (paper: {self.shown(self.paper)})"


Entry = Cell | str | int | float


@dataclass(frozen=True)
class ReportTable:
    """A table.

    Parameters
    ----------
    name
        Name of the CSV file, without ending.
    title
        Title of the table.
    columns
        Column headings.
    rows
        Entries of each row: a `Cell`, or plain text or a number if there is nothing to compare.
    note
        Explanation for the comparison.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise SDCError(f"table {self.name!r} has {len(self.columns)} columns and a row of {len(row)}")

    def markdown(self) -> str:
        """The table in Markdown, with its title and note."""
        lines = [f"## {self.title}", "", _line(self.columns), _line(["---"] * len(self.columns))]
        lines += [_line([_text(entry) for entry in row]) for row in self.rows]
        return "\n".join([*lines, *(["", self.note] if self.note else []), ""])

    def csv(self) -> str:
        """The table as CSV at full precision; a column with figures of the paper is followed by one for them."""
        compared = [
            any(isinstance(row[j], Cell) and row[j].paper is not None for row in self.rows)  # type: ignore[union-attr]
            for j in range(len(self.columns))
        ]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        heads = (
            (name, f"{name} (paper)") if both else (name,) for name, both in zip(self.columns, compared, strict=True)
        )
        writer.writerow([head for pair in heads for head in pair])
        for row in self.rows:
            line: list[Any] = []
            for entry, both in zip(row, compared, strict=True):
                cell = entry if isinstance(entry, Cell) else Cell(entry)
                line += [cell.ours, cell.paper] if both else [cell.ours]
            writer.writerow(["" if value is None else value for value in line])
        return out.getvalue()

    def plain(self) -> dict[str, Any]:
        """The table as plain values for JSON."""
        rows = [
            {
                name: {"ours": _number(entry.ours), "paper": _number(entry.paper)} if isinstance(entry, Cell) else entry
                for name, entry in zip(self.columns, row, strict=True)
            }
            for row in self.rows
        ]
        return {"name": self.name, "title": self.title, "columns": list(self.columns), "rows": rows, "note": self.note}


@dataclass(frozen=True)
class Picture:
    """A matplotlib figure, the name of its file without ending, and its caption."""

    name: str
    title: str
    figure: Figure
    note: str = ""


@dataclass(frozen=True)
class Report:
    """All tables and pictures of one paper.

    Parameters
    ----------
    title
        What is reproduced.
    source
        The paper, as a reference.
    setting
        Data, parameters and seeds of the runs, and how they differ from the paper.
    tables, pictures
        In the paper's order.
    objectives
        Objectives of the problems; their meanings are at the end of the report.
    """

    title: str
    source: str
    setting: tuple[str, ...]
    tables: tuple[ReportTable, ...]
    pictures: tuple[Picture, ...] = field(default=())
    objectives: tuple[Objective, ...] = field(default=())

    def markdown(self) -> str:
        """The whole report; pictures are linked by file name."""
        parts = [f"# {self.title}", "", self.source, "", *(f"- {line}" for line in self.setting), ""]
        parts += [table.markdown() for table in self.tables]
        for picture in self.pictures:
            parts += [f"## {picture.title}", "", f"![{picture.title}]({picture.name}.png)", ""]
            parts += [picture.note, ""] if picture.note else []
        if self.objectives:
            parts += ["## Measures", "", *(f"- {_defined(objective)}" for objective in self.objectives), ""]
        return "\n".join(parts)

    def json(self, **more: Any) -> str:
        """Everything but the pictures' pixels, with additions of the caller, as JSON."""
        content = {
            "schema": REPORT_SCHEMA,
            "title": self.title,
            "source": self.source,
            "setting": list(self.setting),
            "tables": [table.plain() for table in self.tables],
            "objectives": [objective_facts(objective) for objective in self.objectives],
            "pictures": [{"name": p.name, "title": p.title, "file": f"{p.name}.png"} for p in self.pictures],
            **more,
        }
        return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)

    def write(self, folder: Path) -> list[Path]:
        """Write ``report.md``, ``report.json``, and one CSV per table and one PNG per picture."""
        from sdc_problems.studies.report.plots import rendered

        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SDCFailure(f"cannot make the folder {str(folder)!r}: {error.strerror}") from None
        contents: dict[str, bytes | str] = {REPORT: self.markdown(), "report.json": self.json() + "\n"}
        contents |= {f"{table.name}.csv": table.csv() for table in self.tables}
        contents |= {f"{picture.name}.png": rendered(picture.figure, "png") for picture in self.pictures}
        for name, content in contents.items():
            write_atomically(inside(folder, name), content)
        return [folder / name for name in contents]


def _defined(objective: Objective) -> str:
    source = f", {objective.source}" if objective.source else ""
    return f"`{objective.name}`, {objective.label}: {objective.sentence} `{objective.formula}`{source}."


def _line(entries: list[str] | tuple[str, ...]) -> str:
    return "| " + " | ".join(entry.replace("|", "\\|") for entry in entries) + " |"


def _text(entry: Entry) -> str:
    return (
        str(entry) if isinstance(entry, (Cell, str)) else str(Cell(entry, form="" if isinstance(entry, int) else ".3g"))
    )


def _number(value: float | str | None) -> float | str | None:
    """A number as a plain value for JSON."""
    return None if isinstance(value, float) and not math.isfinite(value) else value

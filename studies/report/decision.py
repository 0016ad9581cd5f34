"""Decision record of a release: reason, rejected solutions and requirements on one printable page.

The record is ``decision.json`` in the run folder. A release checks it against the run, writes its page next to the
protected file and puts the page's SHA-256 into the certificate.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sdc_problems.errors import SDCError
from sdc_problems.objective import by_name
from sdc_problems.requirement import read_requirements
from sdc_problems.studies.report.file_page import safe, table, whole_page
from sdc_problems.studies.report.text import number

if TYPE_CHECKING:
    from sdc_problems.studies.store.reader import Run

SCHEMA = "sdc.decision/1"
FILE = "decision.json"
LARGEST = 200_000
MOST_REJECTED = 50
_LIMITS = {"why": 2_000, "notes": 5_000, "by": 200}


def decision(
    run: Run,
    ident: str,
    *,
    why: str,
    rejected: Mapping[str, str] | None = None,
    notes: str = "",
    by: str = "",
    written: str | None = None,
) -> dict[str, Any]:
    """Make the record of the decision to release a solution of a run.

    Parameters
    ----------
    run, ident
        The run and the solution's id.
    why
        Reason for this solution.
    rejected
        Reasons why other solutions were not taken, by id.
    notes, by
        Further notes; the person who decided.
    written
        Time of the decision, in ISO format; by default now.
    """
    said = {"why": why, "notes": notes, "by": by}
    for name, value in said.items():
        if len(value) > _LIMITS[name]:
            raise SDCError(f"{name} of a decision record has at most {_LIMITS[name]:,} characters")
    if not why.strip():
        raise SDCError("a decision record needs the reason for this choice: fill it in")
    others = dict(rejected or {})
    if len(others) > MOST_REJECTED or any(len(reason) > _LIMITS["why"] for reason in others.values()):
        raise SDCError(f"a decision record rejects at most {MOST_REJECTED} solutions, each with a short reason")
    if ident in others:
        raise SDCError(f"solution {ident} is both chosen and rejected")
    values = _values(run, ident)
    return {
        "schema": SCHEMA,
        "run": run.name,
        "title": run.label,
        "run_fingerprint": run.fingerprint(),
        "solution": ident,
        "measures": values,
        "requirements": _requirements(run, values),
        "why": why,
        "rejected": [{"solution": i, "measures": _values(run, i), "why": reason} for i, reason in others.items()],
        "notes": notes,
        "by": by,
        "written": written or datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _values(run: Run, ident: str) -> dict[str, float | None]:
    found = run.solution(ident).values[0]
    pairs = zip(run.axes, found, strict=True)
    return {axis.name: float(value) if math.isfinite(value) else None for axis, value in pairs}


def _requirements(run: Run, values: Mapping[str, float | None]) -> list[dict[str, Any]]:
    wanted = run.study.get("require", {})
    found = []
    for requirement in read_requirements(wanted, by_name(*run.axes), what="[require]"):
        value = values[requirement.objective.name]
        met = value is not None and bool(requirement.meets(value))
        found.append({"requirement": str(requirement), "value": value, "met": met})
    return found


def read_decision(run: Run) -> dict[str, Any] | None:
    """Read the record in a run's folder and check it against the run; None if there is none.

    Raises
    ------
    SDCError
        If it is damaged, or does not agree with the run.
    """
    path = run.path / FILE
    again = "write it again on the page, or remove the file"
    if not path.is_symlink() and not path.exists():
        return None
    try:
        if path.is_symlink() or path.stat().st_size > LARGEST:
            raise ValueError
        kept = json.loads(path.read_text(encoding="utf-8"))
        made = decision(
            run,
            kept["solution"],
            why=kept["why"],
            rejected={one["solution"]: one["why"] for one in kept["rejected"]},
            notes=kept["notes"],
            by=kept["by"],
            written=str(kept["written"])[:40],
        )
    except SDCError as error:
        raise SDCError(f"the decision record {FILE} of {run.name!r} is not valid ({error}): {again}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise SDCError(f"the decision record {FILE} of {run.name!r} cannot be read: {again}") from None
    # A folder may be renamed, but the record's data on its solutions must not change.
    if {**made, "run": ""} != {**kept, "run": ""}:
        raise SDCError(f"the decision record {FILE} contradicts the run {run.name!r}: {again}")
    return made


def to_text(record: Mapping[str, Any]) -> str:
    """Text for the record's file."""
    return json.dumps(record, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def decision_page(record: Mapping[str, Any], run: Run) -> str:
    """Printable page of a record, as self-contained HTML: no script, nothing loaded from elsewhere."""
    units = {axis.name: (axis.label, axis.unit) for axis in run.axes}

    def measured(values: Mapping[str, float | None]) -> str:
        parts = []
        for name, value in values.items():
            label, unit = units[name]
            parts.append(f"{label} {'–' if value is None else number(value)}{' ' * bool(unit)}{unit}")
        return safe("; ".join(parts), 1_000)

    def paragraphs(said: str) -> list[str]:
        return [f"<p>{safe(line, 5_000)}</p>" for line in said.splitlines() if line.strip()]

    body = [
        f"<h1>Decision record: {safe(record['title'], 120)}</h1>",
        f'<p class="muted">Solution {safe(record["solution"], 100)} of the run {safe(run.name, 100)}, '
        f"{safe(record['written'].replace('T', ' '), 40)}{', by ' * bool(record['by'])}{safe(record['by'], 200)}</p>",
        "<h2>Why this solution</h2>",
        *paragraphs(record["why"]),
        f"<p>{measured(record['measures'])}</p>",
        "<h2>Requirements of the study</h2>",
        *(
            [
                table(
                    ("requirement", "value", ""),
                    [
                        (
                            safe(one["requirement"], 100),
                            "–" if one["value"] is None else number(one["value"]),
                            "met" if one["met"] else "NOT MET",
                        )
                        for one in record["requirements"]
                    ],
                    words=(0, 2),
                )
            ]
            if record["requirements"]
            else ["<p>The study has none.</p>"]
        ),
        "<h2>What was rejected</h2>",
        *(
            [
                table(
                    ("solution", "measures", "why not"),
                    [
                        (safe(one["solution"], 100), measured(one["measures"]), safe(one["why"], 2_000) or "–")
                        for one in record["rejected"]
                    ],
                    words=(0, 1, 2),
                )
            ]
            if record["rejected"]
            else ["<p>No other solution was considered.</p>"]
        ),
        *(["<h2>Notes</h2>", *paragraphs(record["notes"])] if record["notes"].strip() else []),
        "<h2>Where it comes from</h2>",
        f'<p class="muted">Fingerprint of the run: {safe(record["run_fingerprint"], 64)}. The SHA-256 of this page '
        "is in the certificate of the file that was released with it.</p>",
    ]
    return whole_page(f"Decision record: {record['title']}", body)

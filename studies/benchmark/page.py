"""Leaderboard of benchmarks: one static HTML file, sorted as the reader chooses; nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sdc_problems.errors import SDCError
from sdc_problems.studies.benchmark.algorithms import named
from sdc_problems.studies.benchmark.check import SUBMISSION, Submission, check, read_submission
from sdc_problems.studies.benchmark.shipped import samples_of, shipped, with_shipped
from sdc_problems.studies.benchmark.tables import best_of, read_entries, summary
from sdc_problems.suite import instance
from sdc_problems.suite._statistics import mean_ranks

if TYPE_CHECKING:
    import pandas as pd

STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #1d2329; --muted: #59626c; }
:root { --rule: #d9d6cd; --mark: #0b5f6e; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #15181b; --ink: #e9e6df; --muted: #a7aeb5; --rule: #3a4046; --mark: #6cc3d0; }
}
html { font: 16px/1.5 system-ui, "Segoe UI", Roboto, Arial, sans-serif; background: var(--paper); color: var(--ink); }
body { max-width: 80rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } p { max-width: 50rem; }
.muted { color: var(--muted); font-size: 0.9rem; } .scroll { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 0.25rem 1rem 0.25rem 0; vertical-align: top; border-bottom: 1px solid var(--rule); }
td:nth-child(2):not(.n) { min-width: 9rem; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th button { font: inherit; font-weight: 600; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
th button:hover { text-decoration: underline; } th button:focus-visible { outline: 2px solid var(--mark); }
th[aria-sort] button { color: var(--mark); }
th[aria-sort="ascending"] button::after { content: " \\2191"; }
th[aria-sort="descending"] button::after { content: " \\2193"; }
.flag { border: 1px solid currentColor; border-radius: 0.6rem; padding: 0 0.5rem; font-size: 0.8rem; }
.flag { white-space: nowrap; }
.best { font-weight: 700; }
"""

SCRIPT = """
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    head.querySelector("button")?.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const order = (a, b) => {
        const [x, y] = [value(a), value(b)];
        if (x === "" || y === "") return (x === "") - (y === "");
        const sign = down ? -1 : 1;
        return sign * (head.classList.contains("n") ? x - y : x.localeCompare(y));
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort(order));
    });
  });
}
"""


def leaderboard(
    folders: Sequence[Path], *, budget: str | int = "long", verify: bool = False, beside: bool = False
) -> str:
    """Make the leaderboard of folders: each a submission, or records of one's own.

    Parameters
    ----------
    folders
        The folders; none for the results that come with the suite. A submission is verified only if ``verify`` asks for
        it and ``check`` finds nothing wrong.
    budget
        Evaluations after which to look.
    verify
        Whether each submission is checked, which measures all its solutions again.
    beside
        Whether the results that come with the suite stand beside those of the folders.
    """
    if not folders:
        return _board(shipped((), budget), {}, budget)
    entries = read_entries(folders)
    said: dict[str, tuple[Submission | None, str]] = {}
    single = {entry.label for entry in entries}
    for folder in folders:
        submission, standing = _standing(folder, verify)
        for label in {entry.label for entry in read_entries([folder])}:
            said[label if label in single else f"{folder.name}/{label}"] = (submission, standing)
    table = summary(entries, budget)
    return _board(with_shipped(table) if beside else table, said, budget)


def _board(table: pd.DataFrame, said: Mapping[str, tuple[Submission | None, str]], budget: str | int) -> str:
    values = samples_of(table)
    marks = best_of(values)
    parts = [_overall(table, mean_ranks(values), said)]
    parts += [_instance(group, marks[str(name)]) for name, group in table.groupby("instance", sort=False)]
    return _document(f"{len(parts) - 1} instances, after the budget {budget}", "".join(parts))


def _standing(folder: Path, verify: bool) -> tuple[Submission | None, str]:
    if not (folder / SUBMISSION).is_file():
        return None, "no submission"
    try:
        said = read_submission(folder)
    except SDCError:
        return None, "unreadable submission"
    if not verify:
        return said, "not verified"
    return said, "verified" if not check(folder).problems else "check failed"


def _overall(table: pd.DataFrame, ranks: Mapping[str, float], said: Mapping[str, tuple[Submission | None, str]]) -> str:
    rows = []
    titles = {one["name"]: one["title"] for one in named()}
    for label, group in table.groupby("algorithm", sort=False):
        label = str(label)
        submission, standing = said.get(label, (None, "comes with the suite"))
        flags = [_flag(standing)] if standing != "verified" else ["verified"]
        if submission is not None and submission.tuned_on_suite:
            flags.append(_flag("tuned on the suite"))
        what = titles.get(label.removeprefix("shipped/"), "")
        what = what if submission is None else f"{submission.algorithm} {submission.version}, {submission.license}"
        by = "" if submission is None else ", ".join(submission.authors)
        rank = ranks.get(label, math.nan)
        targets = 100 * float(group["targets"].mean()) / 51
        cells = [
            _text(label),
            _text(what),
            _text(by),
            f"<td>{' '.join(flags)}</td>",
            _number(len(group)),
            _number(int(group["seeds"].min())),
            _number(targets, "{:.1f}"),
            _number(100 * _mean(group["found"]), "{:.1f}"),
            _number(_mean(group["gap"]), "{:.4f}"),
            _number(_mean(group["area"]), "{:.4f}"),
            _number(rank, "{:.2f}"),
        ]
        rows.append((targets, cells))
    rows.sort(key=lambda row: -row[0])
    heads = (
        ("algorithm", ""), ("what", ""), ("by", ""), ("standing", ""), ("instances", "n"), ("seeds, least", "n"),
        ("targets, %", "n"), ("front found, %", "n"), ("gap", "n"), ("area", "n"), ("mean rank", "n"),
    )  # fmt: skip
    note = (
        "Means over instances of the medians of the seeds. Targets: share of 51 gaps to the front, and the whole front,"
        " that were reached; front found: share of its points; gap: share of the"
        " front's hypervolume that is missing; area: its mean over the run. Mean rank: of the median gaps, over the"
        " instances that all with a rank have run on; do not read it alone. What is not verified was not measured again"
        " here."
    )
    return f'<h2>All instances</h2>{_table(heads, [cells for _, cells in rows])}<p class="muted">{escape(note)}</p>'


def _mean(values: Any) -> float:
    kept = values.dropna()
    return float(kept.mean()) if len(kept) else math.nan


def _instance(table: pd.DataFrame, marks: Mapping[str, str]) -> str:
    found = instance(str(table["instance"].iloc[0]))
    name = found.id
    rows = []
    for row in table.to_dict("records"):
        best = marks[row["algorithm"]]
        gap = _number(row["gap"], "{:.2e}", best=best == "*", after={"~": " ~"}.get(best, ""))
        rows.append(
            [
                _text(row["algorithm"]),
                _number(row["seeds"]),
                gap,
                _number(row["gap_bound"], "{:.2e}"),
                _number(100 * row["found"], "{:.0f}"),
                _number(row["epsilon"], "{:.2e}"),
                _number(row["igd_plus"], "{:.2e}"),
                _number(row["area"], "{:.4f}"),
                _number(row["solved"]),
                _number(row["ert_front"], "{:,.0f}"),
            ]
        )
    heads = (
        ("algorithm", ""), ("seeds", "n"), ("gap", "n"), ("to the bound", "n"), ("found, %", "n"), ("epsilon", "n"),
        ("IGD+", "n"), ("area", "n"), ("solved", "n"), ("runtime", "n"),
    )  # fmt: skip
    about = (
        f"{found.title}. {found.what_is_hard} {len(found.front)} points, {found.known}: {found.proof}. Digest"
        f" {found.digest[:16]}. Bold: the best median gap; ~: the tests (Mann-Whitney, Holm) do not tell it from that."
    )
    return f'<h2 id="{escape(name)}">{escape(name)}</h2><p class="muted">{escape(about)}</p>{_table(heads, rows)}'


def _table(heads: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(
        f'<th{f" class={kind}" if kind else ""} scope="col"><button>{escape(name)}</button></th>'
        for name, kind in heads
    )
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _text(text: str) -> str:
    return f"<td>{escape(text)}</td>"


def _flag(text: str) -> str:
    return f'<span class="flag">{escape(text)}</span>'


def _number(value: float, form: str = "{}", *, best: bool = False, after: str = "") -> str:
    """Cell of a number, with the whole one to sort by; empty for what there is not."""
    if value is None or not np.isfinite(value):
        return '<td class="n" data-value=""></td>'
    kind = "n best" if best else "n"
    return f'<td class="{kind}" data-value="{float(value)!r}">{escape(form.format(value))}{after}</td>'


def _document(title: str, body: str) -> str:
    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    policy = f"default-src 'none'; style-src {digest(STYLE)}; script-src {digest(SCRIPT)}; base-uri 'none'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Leaderboard: {escape(title)}</title><style>{STYLE}</style></head><body>"
        f"<h1>Leaderboard</h1><p>{escape(title)}. Any heading sorts.</p>{body}"
        f"<script>{SCRIPT}</script></body></html>\n"
    )

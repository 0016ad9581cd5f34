"""Statements of Balasch-Masoliver (2010), compared with the runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdc_problems.algorithms.grouping.operator_analysis import unused_share
from sdc_problems.studies.reproductions.gomm.pictures import title_of
from sdc_problems.studies.reproductions.gomm.runs import OPERATORS, CaseRuns, Scale, best_cost, group_count
from sdc_problems.studies.reproductions.report import Cell, ReportTable

GROUP_MUTATIONS = ("group_create", "group_eliminate", "group_split")


def _verdict(holds: bool) -> str:
    return "holds" if holds else "does not hold"


def must_hold(cases: Sequence[CaseRuns]) -> ReportTable:
    """The three statements of chapter 5 that do not depend on the exact columns, and one with stronger competitors."""
    rows = [row for runs in cases for row in (_groups_grow(runs), *_beats_without_search(runs), _same_quality(runs))]
    return ReportTable(
        "statements", "The statements of chapter 5", ("Table", "Statement", "Verdict", "Figures"), tuple(rows)
    )


def _groups_grow(runs: CaseRuns) -> tuple[str, ...]:
    counts = [int(runs.best(k).figures["n_groups"]) for k in runs.fixed]
    holds = counts == sorted(counts) and counts[-1] > counts[0]
    figures = ", ".join(f"k = {k}: {count}" for k, count in zip(runs.fixed, counts, strict=True))
    return runs.case.title, "The number of groups grows with k", _verdict(holds), figures


def _beats_without_search(runs: CaseRuns) -> list[tuple[str, ...]]:
    """Comparison with the manual groupings, as in the thesis; and also with every grouping that needs no search."""
    rows: list[tuple[str, ...]] = []
    for beyond, rivals in ((False, "made by hand"), (True, "from the correlations, too (beyond the thesis)")):
        margins = {}
        for k in runs.fixed:
            problem = runs.case.problem(k)
            scores = [
                float(problem.evaluate(x)[0])
                for name, x in problem.baselines().items()
                if beyond or name in ("one group", "univariate") or "hand-made" in name
            ]
            margins[k] = [min(scores) - course.figures["score_mean"] for course in runs.fixed[k]]
        holds = all(max(margin) >= 0 for margin in margins.values())  # as in the thesis' tables: best of the runs
        figures = ", ".join(f"k = {k}: by {min(margin):.2f} to {max(margin):.2f}" for k, margin in margins.items())
        rows.append((runs.case.title, f"GOMM is at least as good as every grouping {rivals}", _verdict(holds), figures))
    return rows


def _same_quality(runs: CaseRuns) -> tuple[str, ...]:
    parts, holds = [], True
    for k in runs.fixed:
        fixed = [course.figures["score_mean"] for course in runs.fixed[k]]
        dynamic = [course.figures["score_mean"] for course in runs.dynamic[k]]
        share = sum(c.evaluations for c in runs.dynamic[k]) / sum(c.evaluations for c in runs.fixed[k])
        apart = float(np.median(dynamic) - np.median(fixed))
        holds &= share < 1 and apart <= 0.02 * float(np.median(fixed))
        parts.append(f"k = {k}: {apart:+.2f} with {100 * share:.0f} % of the evaluations")
    statement = "D-GOMM has the same quality (median score at most 2 % above) with fewer evaluations"
    return runs.case.title, statement, _verdict(holds), ", ".join(parts)


def observations(water: CaseRuns, census: CaseRuns, scale: Scale) -> ReportTable:
    """Observations of chapter 4 on its figures, and the same for ours."""
    low, high = scale.analysis_ks
    rows: list[tuple[str | Cell, ...]] = []
    for runs, k, paper in ((water, low, "25"), (census, low, "a few generations before 25")):
        log = runs.together(k)
        last = {
            name: log[(log["operator"] == name) & (log["survived"] >= 0.5)]["generation"].max()
            for name in GROUP_MUTATIONS
        }
        ours = ", ".join(f"{title_of(name)} {generation:.0f}" for name, generation in last.items())
        rows.append((f"{runs.case.title}, k = {k}", "Group mutations survive until generation", Cell(ours, paper)))
    log = water.together(low)
    crossover = log[log["operator"] == "crossover"]
    half = crossover[crossover["generation"] <= scale.generations / 2]
    where = f"{water.case.title}, k = {low}"
    rows += [
        (where, "Crossover children discarded unused (%)", Cell(float(unused_share(half).mean()), 75.0, ".0f")),
        (where, "Lifetime of crossover children", Cell(float(half["lifetime"].mean()), "2 to 3", ".1f")),
    ]
    for runs, paper in ((water, "30"), (census, "20")):
        where = f"{runs.case.title}, k = {low}"
        rows.append((where, "Number of groups settled in generation", Cell(_settled(runs, low), paper, "d")))
    for runs, k, paper in (
        (water, low, "Group create"),
        (water, high, "Group eliminate, Group create"),
        (census, low, "Group create, Group eliminate, Element move"),
    ):
        final = {name: best_cost(runs.alone[k, name])[-1] / best_cost(runs.fixed[k])[-1] for name in OPERATORS}
        near = sorted(final, key=lambda name: final[name])[:3]
        ours = ", ".join(f"{title_of(name)} {final[name]:.2f}" for name in near)
        rows.append(
            (f"{runs.case.title}, k = {k}", "Nearest to the combined search when used alone", Cell(ours, paper))
        )
    return ReportTable(
        "chapter-4",
        "Observations of chapter 4",
        ("Table", "Observation", "Result"),
        tuple(rows),
        "A group mutation survives in a generation if, on average over seeds, half a child of it does or more."
        " The number of groups has settled when it stays within half a group of its last value.",
    )


def _settled(runs: CaseRuns, k: int) -> int:
    counts = group_count(runs.fixed[k])
    away = np.flatnonzero(np.abs(counts - counts[-1]) > 0.5)
    return int(away[-1]) + 1 if len(away) else 0

"""Tables of the reproduction of Marés (2013), chapter 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems import MaskingProblem
from sdc_problems.evaluators.edits import find_edits
from sdc_problems.operators.cells import genome
from sdc_problems.operators.matrix import gray_encode
from sdc_problems.studies.reproductions.evolution import paper
from sdc_problems.studies.reproductions.evolution.cases import CASES, CATEGORICAL, NUMERIC, Case
from sdc_problems.studies.reproductions.evolution.runs import (
    Course,
    Found,
    Fronts,
    Scale,
    linked_by_exclusion,
    record_front,
    search_cells,
)
from sdc_problems.studies.reproductions.report import Cell, ReportTable

NAMES = {case.title: case.name for case in CASES.values()}
RISKS = (10.0, 20.0, 30.0)  # limits of the risk of the files in the second table


def _bits(number: Any) -> str:
    """Binary digits of a whole number."""
    return format(int(number), "b")


def genomes() -> ReportTable:
    """Compute Table 3.1."""
    rows = [
        (str(after), str(before), _bits(gray_encode(np.array(after))), _bits(gray_encode(np.array(before))),
         Cell(_bits(genome(after, before)), printed))
        for after, before, printed in paper.GENOMES
    ]  # fmt: skip
    return ReportTable(
        "table-3.1",
        "Table 3.1: genomes of single values",
        ("protected", "original", "Gray code of the protected", "Gray code of the original", "genome"),
        tuple(rows),
        "The source's last two rows are shifted by a column: what it prints as their genome is the Gray code of the"
        " original value. A genome is the same both ways round.",
    )


def encoding() -> ReportTable:
    """Compute Figure 3.1, its 25 genomes."""
    coded = genome(np.array(paper.PROTECTED), np.array(paper.ORIGINAL))
    rows = [
        tuple(Cell(format(int(mine), "04b"), theirs) for mine, theirs in zip(line, printed, strict=True))
        for line, printed in zip(coded, paper.ENCODED, strict=True)
    ]
    return ReportTable("figure-3.1", "Figure 3.1: genomes of a file", tuple("abcde"), tuple(rows))


def numeric_scores(pairs: Mapping[str, Sequence[Course]]) -> ReportTable:
    """Compute Table 3.2: scores of both runs."""
    rows: list[tuple[Any, ...]] = []
    for title, runs in pairs.items():
        *printed, start = paper.NUMERIC[NAMES[title]]
        rows.append((title, "start", Cell(runs[0].scores[0, 0], start, ".2f"),
                     *(Cell(value, None, ".2f") for value in runs[0].scores[0, 1:])))  # fmt: skip
        for number, (course, theirs) in enumerate(zip(runs, printed, strict=True), start=1):
            ends = (Cell(mine, his, ".2f") for mine, his in zip(course.scores[-1], theirs, strict=True))
            rows.append((title, f"run {number}", *ends))
    return ReportTable(
        "table-3.2",
        "Table 3.2: scores of the population by Algorithm 5, numeric files",
        ("file", "", "smallest", "mean", "largest"),
        tuple(rows),
        "The source's fall to 6 is not explained by its operators under these measures: a mutation changes one of"
        " thousands of cells, a crossover carries cells of files that are worse. Compare figures within one run only."
        " Its largest score is the same in both runs, as if the worst file had never been touched.",
    )


def times(pairs: Mapping[str, Sequence[Course]], by_max: Mapping[str, Course], *, whole: bool) -> ReportTable:
    """Compute Table 3.3: seconds of a generation, and of all; only whole files are compared with the source's."""
    rows: list[tuple[Any, ...]] = []
    for title, course in [*((title, runs[0]) for title, runs in pairs.items()), *by_max.items()]:
        name = NAMES[title]
        cross, mutate = paper.SECONDS.get(name, paper.CATEGORICAL_SECONDS)
        hours = paper.HOURS.get(name)
        generations = len(course.scores) - 1
        rows.append((
            title, Cell(course.crossover, cross, ".3g"), Cell(course.mutation, mutate, ".3g"), f"{generations:,}",
            Cell(f"{course.seconds:.3g} s", None if hours is None else f"{hours:.1f} h"),
            f"{(cross + mutate) / max(course.crossover + course.mutation, 1e-9):,.0f}" if whole else "–",
        ))  # fmt: skip
    return ReportTable(
        "table-3.3",
        "Table 3.3: CPU seconds of a generation",
        ("file", "crossover", "mutation", "generations", "all of them", "times faster"),
        tuple(rows),
        "Fitness and the rest together (the rest is 0.02 to 3 s in the source). The source's hours are of 1,000"
        " generations on a processor of 2.66 GHz. Numeric files go on with their last probabilistic linkage until a"
        " file is the best, or 1 % of its records have changed.",
    )


def categorical_scores(name: str, title: str, courses: Mapping[str, Course], printed: Mapping[str, Any]) -> ReportTable:
    """Compute the scores that the text gives with Figures 3.7 and 3.9."""
    rows: list[tuple[Any, ...]] = []
    for case in CATEGORICAL:
        course = courses[case.title]
        for moment, place in (("initial", 0), ("final", -1)):
            cells = [Cell(course.scores[place, which], printed[case.name][which][place], ".2f") for which in range(3)]
            rows.append((case.title, moment, *cells))
    return ReportTable(
        name, f"{title}, categorical files", ("file", "population", "smallest", "mean", "largest"), tuple(rows),
        "The source does not say how many generations it ran. Doing nothing has a mean score of 27.1 on German credit"
        " and 25.9 on Solar flare, less than its populations' means.",
    )  # fmt: skip


def without_best(courses: Mapping[str, Course]) -> ReportTable:
    """Compute the final scores of Figures 3.12 and 3.13."""
    rows = [
        (title, Cell(course.scores[0, 0], None, ".2f"), Cell(course.scores[-1, 0], printed, ".2f"))
        for (title, course), printed in zip(courses.items(), paper.WITHOUT.values(), strict=True)
    ]
    return ReportTable(
        "figures-3.12-3.13",
        "Figures 3.12 and 3.13: smallest score without the best files of the start",
        ("file", "initial", "final"),
        tuple(rows),
    )


def _measured(case: Case, files: Mapping[str, NDArray[Any]], scale: Scale) -> list[tuple[str, dict[str, float]]]:
    problem = case.problem((case.score,), guard=False, most=scale.records)
    return [(name, problem.figures(problem.encode(table).astype(problem.dtype))) for name, table in files.items()]


def degenerate(scale: Scale) -> ReportTable:
    """Measure files that score well and protect nobody."""
    rows: list[tuple[Any, ...]] = []
    for case in (*NUMERIC, *CATEGORICAL):
        problem = case.problem((case.score,), guard=False, most=scale.records)
        original = problem.original()
        half = len(original) // 2
        files = {"untouched": original}
        if case.numeric:
            z = (original - original.mean(axis=0)) / np.where(original.std(axis=0) > 0, original.std(axis=0), 1.0)
            order = np.argsort(z @ np.linalg.svd(z, full_matrices=False)[2][0], kind="stable")
            back = np.empty_like(order)
            back[order] = np.arange(len(order))
            files["rows shifted"] = np.roll(original, -half, axis=0)
            files["sorted, rows shifted"] = np.roll(original[order], -half, axis=0)[back]
        else:
            sizes = original.max(axis=0) + 1
            files["categories renamed"] = (original + 1) % sizes
        for name, found in _measured(case, files, scale):
            caught = f"copies {found['copies']:.0f} %" if case.numeric else f"guess {found['guess']:.0f} %"
            lost = found["pil" if case.numeric else "il_categorical"]
            risk = found["dr_numeric" if case.numeric else "dr_categorical"]
            figures = (lost, risk, (lost + risk) / 2, max(lost, risk))
            rows.append((case.title, name, *(Cell(value, None, ".3f") for value in figures), caught))
    return ReportTable(
        "degenerate",
        "Files that score well and protect nobody",
        ("file", "what is published", "loss", "risk", "mean", "larger", "who sees it"),
        tuple(rows),
        "By the source's scores, without a guard. Shifting the rows publishes every original record, and beats every"
        " figure of Table 3.2.",
    )


def searches(found: Mapping[str, Found]) -> ReportTable:
    """List the scores of `CellSearch`."""
    rows = [
        (title, "mean" if CASES[NAMES[title]].numeric else "larger", Cell(one.start, None, ".2f"),
         Cell(one.score, paper.BEST[NAMES[title]], ".2f"), f"{paper.BARS[NAMES[title]]:.1f}",
         f"{one.seconds[-1]:.1f}")
        for title, one in found.items()
    ]  # fmt: skip
    return ReportTable(
        "search",
        "Scores of CellSearch, guarded and exact",
        ("file", "score", "best start file", "found", "bar for 60 s", "seconds"),
        tuple(rows),
        "The source's figures are the best of its runs, not guarded, after 30 to 181 hours. The best start file is the"
        " best of ours by the guarded score, copies not counted. Here each file has 2,000 changes per cell, 4,000 of"
        " categories, however long they take: `benchmarks/tasks/bench_masking_bars.py` measures the bars in 60 s.",
    )


def _record_row(title: str, what: str, problem: MaskingProblem, x: NDArray[Any]) -> tuple[Any, ...]:
    found = problem.figures(x)
    figures = (
        Cell(found["pil"], None, ".2f"), Cell(found["dr_numeric"], None, ".2f"),
        Cell(found["record_change"] / 100, None, ".2f"), Cell(found["regression_change"], None, ".1f"),
        Cell(found["copies"], None, ".1f"), Cell(found["rsrl"], None, ".1f"), Cell(found["sums_broken"], None, ".0f"),
    )  # fmt: skip
    kind = problem.describe(x)[1].removeprefix("It is ").partition(":")[0].rstrip(".")
    return (title, what, *figures, kind)


RECORD_COLUMNS = (
    "file", "protected by", "PIL", "risk", "change of a value (sd)", "loss of regressions (%)", "copies (%)",
    "linked within ranks (%)", "sums broken (%)", "kind of file",
)  # fmt: skip


def records(found: Mapping[str, Found], pairs: Mapping[str, Sequence[Course]], scale: Scale) -> ReportTable:
    """Measure how much of single records is kept in the files with the best scores."""
    rows: list[tuple[Any, ...]] = []
    for case in NUMERIC:
        free = case.problem((case.score,), guard=False, most=scale.records)
        starts = free.starts()
        scores = free.evaluate(np.stack(list(starts.values())))[:, 0]
        best = list(starts)[int(np.argmin(scores))]
        rows.append(_record_row(case.title, f"best start file ({best})", free, starts[best]))
        rows.append(_record_row(case.title, "Algorithm 5", free, pairs[case.title][0].best))
        one = found[case.title]
        rows.append(_record_row(case.title, "CellSearch", one.problem, one.x))
        sums = find_edits(free.original())
        if sums:
            said = tuple(edit.text(free.attributes) for edit in sums)
            kept = search_cells(case, scale, edits=said)
            rows.append(_record_row(case.title, "CellSearch, sums kept", kept.problem, kept.x))
    return ReportTable(
        "records",
        "What the scores hide: records of the files with the best scores",
        RECORD_COLUMNS,
        tuple(rows),
        "A value that was dealt out anew is about 1.1 standard deviations from its own. Where the search by cells ends,"
        " statistics of the whole hold and a record says nothing about the person it came from.",
    )


def record_fronts(scale: Scale) -> ReportTable:
    """List files of the second search, whose objectives are risk and two losses that depend on single records."""
    rows: list[tuple[Any, ...]] = []
    for case in NUMERIC:
        problem, X = record_front(case, scale)
        F = problem.evaluate(X, return_values_of=["F"]) if len(X) else np.zeros((0, 3))
        for most in RISKS:
            within = np.flatnonzero(F[:, 0] <= most)
            if len(within) == 0:
                rows.append((case.title, f"risk at most {most:.0f}", *["–"] * 7, "no such file was found"))
                continue
            nearest = within[int(np.argmin(F[within, 1]))]
            rows.append(_record_row(case.title, f"risk at most {most:.0f}", problem, X[nearest]))
    return ReportTable(
        "record-fronts",
        "The same with losses of single records among the objectives",
        RECORD_COLUMNS,
        tuple(rows),
        "NSGA-II over risk, change of values and loss of regressions, guarded, from the start files; of each front the"
        " file that changes values least within a risk. What a low score does not say stands side by side here: a file"
        " of which single records are of use has a risk that no score of Table 3.2 shows.",
    )


def attacked(found: Mapping[str, Found]) -> ReportTable:
    """Attack the files of `CellSearch` in ways that were not objectives."""
    rows: list[tuple[Any, ...]] = []
    for title, one in found.items():
        problem, figures = one.problem, one.problem.figures(one.x)
        if problem.numeric:
            figures["exclusion"] = linked_by_exclusion(problem.original(), problem.protected(one.x))
        figures["chance"] = 100.0 / len(problem.data)
        names = ("dbrl", "prl", "dbrl_protected", "dbrl_half", "rsrl", "exclusion", "chance", "guess", "copies")
        cells = [Cell(figures[name], None, ".2f") if name in figures else "–" for name in names]
        rows.append((title, *cells))
    return ReportTable(
        "attacks",
        "The files of CellSearch under attack (percent found again)",
        ("file", "nearest original*", "agreement*", "nearest protected record", "half of the attributes", "ranks",
         "exclusion", "by chance", "guessed cells*", "copies*"),
        tuple(rows),
        "* part of the objective or of the guard (guesses for categories, copies for numbers); the others were not"
        " optimized against. Exclusion: a search that lowers interval disclosure keeps values away from their ranks, so"
        " an intruder who knows that takes the released records that are near in the fewest attributes. It finds more"
        " than chance does: what is avoided is told as well.",
    )  # fmt: skip


def dominated(trade: Mapping[str, Fronts]) -> ReportTable:
    """Compare the fronts with the start files and with NSGA-II."""
    rows = [
        (title, f"{one.dominated()[0]} of {len(one.start)}", one.dominated()[1], len(one.ours), len(one.nsga),
         Cell(one.ours_course[-1, 1], None, ".3f"), Cell(one.nsga_course[-1, 1], None, ".3f"),
         f"{one.ours_course[-1, 0]:.1f}", f"{one.nsga_course[-1, 0]:.1f}")
        for title, one in trade.items()
    ]  # fmt: skip
    return ReportTable(
        "fronts",
        "Fronts of loss and risk, guarded",
        ("file", "start files dominated", "equaled", "points of CellSearch", "of NSGA-II", "hypervolume of CellSearch",
         "of NSGA-II", "CPU seconds of CellSearch", "of NSGA-II"),
        tuple(rows),
    )  # fmt: skip

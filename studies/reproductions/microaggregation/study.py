"""Solanas et al. (2006) and Martínez-Ballesté et al. (2007): microaggregation by genetic algorithms."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sdc_problems.evaluators.information_loss.numeric import sse, z_scores
from sdc_problems.methods import chance_bound, exhaustive, mdav, representatives
from sdc_problems.studies.reproductions.microaggregation.cells import WORKERS, anytime_picture, cells_table, run_cell
from sdc_problems.studies.reproductions.microaggregation.paper import (
    BEST_VALUES,
    CHANCE,
    ELEVEN,
    EPOCHS,
    HYBRID,
    LARGER,
    REPRESENTATIVES,
)
from sdc_problems.studies.reproductions.microaggregation.runs import (
    FULL,
    K_MIN,
    QUICK,
    Scale,
    hybrid,
    long_runs,
    problem_of,
    random_records,
    records,
    sensitivity_runs,
)
from sdc_problems.studies.reproductions.microaggregation.sensitivity import anova, recommended
from sdc_problems.studies.reproductions.report import Cell, Entry, Picture, Report, ReportTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE = (
    'A. Solanas, A. Martínez-Ballesté, J. M. Mateo-Sanz and J. Domingo-Ferrer (2006), "Multivariate Microaggregation'
    ' Based Genetic Algorithms"; A. Martínez-Ballesté, A. Solanas, J. Domingo-Ferrer and J. M. Mateo-Sanz (2007), "A'
    ' Genetic Approach to Multivariate Microaggregation for Database Privacy".'
)
FACTORS = ("mutation", "crossover", "population")
DEFAULT = (0.1, 0.3, 100)  # mutation, crossover, population: result of the paper's sensitivity analysis


def reproduce(*, quick: bool, say: Callable[[str], None]) -> Report:
    """Compute the tables of both papers again, with the papers' figures beside ours."""
    scale = QUICK if quick else FULL
    for name in {*scale.files, *(name for name, _ in scale.cells)}:
        records(name)  # a missing file is noticed now, not after the searches
    say("Table I: shapes of k-partitions")
    tables = [_table_1()]
    grids: dict[tuple[int, int], pd.DataFrame] = {}
    for n, d in ((11, 2), (11, 3), *((n, 2) for n in scale.sizes)):
        say(f"{n} records, {d} attributes: grid of rates and population sizes")
        grids[n, d] = sensitivity_runs(n, d, scale)
    say("long runs of the best settings")
    tables += _tables_2_and_3(grids, scale)
    say("11 records: the optimum")
    tables += [_table_4(scale), *_table_5(grids)]
    for name in scale.files:
        say(f"{name}: hybrid, macrogroups of {', '.join(str(row[0]) for row in HYBRID[name])}")
        tables.append(_hybrid_table(name, scale))
    cells = []
    for name, k in scale.cells:
        say(f"{name}, k = {k}: memetic search, and what no partition can undercut")
        run = run_cell(
            name, k, time_limit=scale.cell_seconds, move_limit=scale.cell_moves, bound_limit=scale.bound_seconds
        )
        cells.append(run)
    pictures = [_picture(grids)]
    if cells:
        tables.append(cells_table(cells, _limit(scale)))
        pictures.append(anytime_picture(cells))
    return Report(
        "Microaggregation by genetic algorithms",
        SOURCE,
        _setting(scale, quick),
        tuple(tables),
        tuple(pictures),
        problem_of(random_records(12, 2), "sse", "il_sse").objectives,
    )


def _limit(scale: Scale) -> str:
    if scale.cell_seconds is not None:
        return f"{scale.cell_seconds:g} seconds and at most {WORKERS} workers"
    return f"{scale.cell_moves:,} moves"


def _setting(scale: Scale, quick: bool) -> tuple[str, ...]:
    lines = (
        "k = 3 throughout; SSE is on z-scores (population standard deviation).",
        "The papers' random data are not published: ours are drawn the same way (whole numbers from -10000 to 10000),"
        " so SSE compares in size and in direction to MDAV and to the optimum, not digit by digit. Clusters are 3 to 5"
        " records within 400 of each other.",
        f"Grid: mutation and crossover rates {', '.join(f'{r:g}' for r in scale.rates)}; populations"
        f" {', '.join(str(s) for s in scale.pop_sizes)}; {scale.runs} runs of each setting with {scale.epochs:,} epochs"
        f" (five times as many from 50 records on). The paper has 1,210 settings, 10 runs and 10,000 epochs (100,000"
        f" for 50 records). The best setting of each set is run {scale.long_runs} more times with {scale.long_epochs:,}"
        " epochs (ten times as many for 50 records).",
        "The paper does not say how the population is replaced: here the best of parents and children survive, clones"
        " last, so that a mutation rate of 1 loses nothing and a converged population goes on searching.",
        f"Hybrid: population 10, mutation 0.1, crossover 0.5, {scale.hybrid_epochs:,} epochs per macrogroup.",
    )
    return (*lines, "Quick: a small part of the grid, of the files and of every search.") if quick else lines


def _table_1() -> ReportTable:
    rows: list[tuple[Entry, ...]] = [
        (n, *(Cell(representatives(n, k), paper, "d") for k, paper in zip((3, 4, 5), printed, strict=True)))
        for n, printed in REPRESENTATIVES.items()
    ]
    return ReportTable(
        "table-I",
        "Table I: shapes a(n, k) of optimal k-partitions",
        ("n", "k = 3", "k = 4", "k = 5"),
        tuple(rows),
        f"Example 1: random labels hit such a partition of 30 records with probability at most"
        f" {float(chance_bound(30, 3)):.6e} (paper: {CHANCE:.6e}; it prints 3¹⁰ where (3!)¹⁰ is meant).",
    )


def _mdav_sse(n: int, d: int) -> float:
    X = random_records(n, d)
    return sse(z_scores(X), mdav(X, K_MIN))


def _tables_2_and_3(grids: dict[tuple[int, int], pd.DataFrame], scale: Scale) -> list[ReportTable]:
    smallest: list[tuple[Entry, ...]] = []
    average: list[tuple[Entry, ...]] = []
    epochs: list[tuple[Entry, ...]] = []
    for (n, d), grid in grids.items():
        if d != 2:
            continue
        best = grid.sort_values(["sse", "epoch"], kind="stable").iloc[0]
        rates = float(best.mutation), float(best.crossover)
        more = long_runs(n, d, scale, *rates, int(best.population))
        least = min(float(best.sse), float(more.sse.min()))
        reached = pd.concat([grid[["sse", "epoch"]], more])
        epochs.append((n, Cell(float(reached[reached.sse <= least + 1e-6].epoch.mean()), EPOCHS.get(n), ".0f")))
        if (n, d) not in LARGER:
            continue
        paper, (p_sse, p_m, p_c, p_size), (a_sse, a_m, a_c) = LARGER[n, d]
        heuristic = Cell(_mdav_sse(n, d), paper, ".2f")
        smallest.append(
            (
                f"{n}x{d}",
                heuristic,
                Cell(least, p_sse, ".2f"),
                Cell(rates[0], p_m, "g"),
                Cell(rates[1], p_c, "g"),
                Cell(int(best.population), p_size, "d"),
            )
        )
        means = grid.groupby(["mutation", "crossover"], as_index=False).sse.mean()
        pair = means.loc[means.sse.idxmin()]
        m, c = Cell(float(pair.mutation), a_m, "g"), Cell(float(pair.crossover), a_c, "g")
        average.append((f"{n}x{d}", heuristic, Cell(float(pair.sse), a_sse, ".2f"), m, c))
    return [
        ReportTable(
            "table-II-minimum",
            "Table II: smallest SSE with larger data sets",
            ("data set", "MDAV", "GA", "mutation", "crossover", "population"),
            tuple(smallest),
            "The best setting of the grid and its long runs.",
        ),
        ReportTable(
            "table-II-average",
            "Table II: average SSE of the best pair of rates",
            ("data set", "MDAV", "GA", "mutation", "crossover"),
            tuple(average),
            "Over all population sizes and runs of the grid.",
        ),
        ReportTable(
            "table-III",
            "Table III: epochs of the tests with the best results",
            ("n", "average epoch"),
            tuple(epochs),
            "An epoch counts as one of convergence when the best SSE of the run was found in it.",
        ),
    ]


def _table_4(scale: Scale) -> ReportTable:
    rows: list[tuple[Entry, ...]] = []
    for d, (optimum, heuristic, ga, epoch) in ELEVEN.items():
        X = random_records(11, d)
        best = sse(z_scores(X), exhaustive(X, K_MIN))
        runs = long_runs(11, d, scale, *DEFAULT)
        hit = runs[np.abs(runs.sse - best) < 1e-6]
        rows.append(
            (
                f"11x{d}",
                Cell(best, optimum, ".2f"),
                Cell(_mdav_sse(11, d), heuristic, ".2f"),
                Cell(float(runs.sse.min()), ga, ".2f"),
                Cell(float(hit.epoch.mean()) if len(hit) else None, epoch, ".0f"),
                f"{len(hit)} of {len(runs)}",
            )
        )
    return ReportTable(
        "table-IV",
        "Table IV: 11 records, 2 to 10 attributes",
        ("data set", "optimum", "MDAV", "GA", "average epoch", "runs that found it"),
        tuple(rows),
        "Mutation 0.1, crossover 0.3, population 100. The paper's figures for 2 and 3 attributes are those of its text;"
        " it reports about 90 % of the tests at the optimum.",
    )


def _table_5(grids: dict[tuple[int, int], pd.DataFrame]) -> list[ReportTable]:
    best: list[tuple[Entry, ...]] = []
    tests: list[tuple[Entry, ...]] = []
    for (n, d), grid in grids.items():
        on_sse = anova(grid, "sse", FACTORS)
        tests.append((f"{n}x{d}", *(Cell(on_sse.p[name], None, ".2g") for name in FACTORS)))
        values = recommended(grid, loss="sse", effort="epoch", factors=FACTORS)
        paper = BEST_VALUES[n, d]
        best.append(
            (f"{n}x{d}", *(Cell(_range(values[name]), printed) for name, printed in zip(FACTORS, paper, strict=True)))
        )
    return [
        ReportTable(
            "table-V-anova",
            "Sensitivity: significance of each factor for SSE",
            ("data set", *FACTORS),
            tuple(tests),
            "Analysis of variance with main effects (type II); below 0.05 a factor matters. The paper prints"
            " no values.",
        ),
        ReportTable(
            "table-V",
            "Table V: best values after analysis of variance, Tukey's and Scheffé's tests",
            ("data set", "mutation", "crossover", "population"),
            tuple(best),
            "Values that neither test tells from the best: first by SSE, then by the epoch of convergence.",
        ),
    ]


def _range(values: tuple[float, ...]) -> str:
    return f"{values[0]:g}" if len(values) == 1 else f"{min(values):g} - {max(values):g}"


def _hybrid_table(name: str, scale: Scale) -> ReportTable:
    X = records(name)
    rows: list[tuple[Entry, ...]] = []
    for K, p_mdav, p_one_n, p_one, p_two_n, p_two in HYBRID[name]:
        one_n, plain, one = hybrid(X, K, 1, scale.hybrid_epochs)
        two_n, _, two = hybrid(X, K, 2, scale.hybrid_epochs)
        rows.append(
            (
                K,
                Cell(plain, p_mdav, ".2f"),
                Cell(one_n, p_one_n, "d"),
                Cell(one, p_one, ".2f"),
                Cell(100 * (1 - one / plain), round(100 * (1 - p_one / p_mdav), 1), ".1f"),
                Cell(two_n, p_two_n, "d"),
                Cell(two, p_two, ".2f"),
                Cell(100 * (1 - two / plain), round(100 * (1 - p_two / p_mdav), 1), ".1f"),
            )
        )
    return ReportTable(
        f"hybrid-{name.lower()}",
        f"Hybrid, Table 2: {name}, k = 3",
        ("K", "MDAV", "one-step groups", "SSE", "% better", "two-step groups", "SSE (2)", "% better (2)"),
        tuple(rows),
        "Percentages of the paper are computed from its SSE. Its two-step cuts one macrogroup more than n/K, as its"
        " loop leaves one over.",
    )


def _picture(grids: dict[tuple[int, int], pd.DataFrame]) -> Picture:
    from matplotlib.figure import Figure

    figure: Figure = Figure(figsize=(3.4 * len(grids), 3.2), layout="constrained")
    panels = figure.subplots(1, len(grids), squeeze=False)[0]
    for panel, ((n, d), grid) in zip(panels, grids.items(), strict=True):
        means = grid.pivot_table(index="mutation", columns="crossover", values="sse", aggfunc="mean")
        image = panel.imshow(means.to_numpy(), origin="lower", cmap="viridis_r", aspect="auto")
        panel.set_xticks(range(means.shape[1]), [f"{c:g}" for c in means.columns], fontsize=7)
        panel.set_yticks(range(means.shape[0]), [f"{m:g}" for m in means.index], fontsize=7)
        panel.set_xlabel("crossover rate")
        panel.set_title(f"{n}x{d}", fontsize=10)
        figure.colorbar(image, ax=panel)
    panels[0].set_ylabel("mutation rate")
    return Picture(
        "figures-1-4",
        "Figures 1 and 4: average SSE for each pair of rates",
        figure,
        "Over all population sizes and runs of the grid.",
    )

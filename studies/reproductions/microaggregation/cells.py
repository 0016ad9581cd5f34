"""Gain of the memetic search over the heuristics on the three reference files: nine cells, and their times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pymoo.optimize import minimize

from sdc_problems import MicroaggregationProblem, load
from sdc_problems.algorithms import MemeticMicroaggregation
from sdc_problems.algorithms.microaggregation._partition_search import Milestone
from sdc_problems.errors import SDCFailure
from sdc_problems.evaluators.information_loss.numeric import il_sse
from sdc_problems.methods import lower_bound, mdav, mhm
from sdc_problems.parallel import processors
from sdc_problems.studies.reproductions.report import Entry, Picture, ReportTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILES = ("census", "tarragona", "eia")
SIZES = (3, 5, 10)
WORKERS = 2
BOUND_STEPS = 2_000_000  # most steps through all groups of a file: more take longer than a bound is worth here


@dataclass(frozen=True)
class CellRun:
    """One file and one k.

    Attributes
    ----------
    file, k
        Name of the file, and k.
    mdav, mhm
        Information loss of the heuristics, in percent.
    found
        Information loss of the search, in percent.
    bound
        Proven lower bound of the information loss, in percent; ``None`` if none was proven in time.
    sizes
        Smallest and largest group.
    line
        Seconds and information loss after each round.
    """

    file: str
    k: int
    mdav: float
    mhm: float
    found: float
    bound: float | None
    sizes: tuple[int, int]
    line: tuple[tuple[float, float], ...]

    def after(self, seconds: float) -> float:
        """Information loss of the best partition at that time."""
        return min(loss for at, loss in self.line if at <= seconds or at == self.line[0][0])


def run_cell(
    file: str,
    k: int,
    *,
    time_limit: float | None = None,
    move_limit: int | None = None,
    bound_limit: float = 0.0,
    seed: int = 1,
) -> CellRun:
    """Search one cell, then compute a bound; with a limit of moves, the loss is the same on every machine."""
    problem = MicroaggregationProblem(load(file).data, k)
    V, workers = problem.engine.V, min(WORKERS, processors())
    search = MemeticMicroaggregation(time_limit=time_limit, move_limit=move_limit, workers=workers)
    result = minimize(problem, search, seed=seed)
    line: list[Milestone] = result.algorithm.trajectory
    counts = np.bincount(result.X)
    return CellRun(
        file=file,
        k=k,
        mdav=il_sse(V, mdav(V, k)),
        mhm=il_sse(V, mhm(V, k)),
        found=il_sse(V, result.X),
        bound=_bound(problem, result.X, bound_limit),
        sizes=(int(counts.min()), int(counts.max())),
        line=tuple((step.seconds, 100.0 * step.sse / problem.engine.sst) for step in line),
    )


def _bound(problem: MicroaggregationProblem, labels: NDArray[Any], limit: float) -> float | None:
    try:
        found = lower_bound(
            problem.engine.V, problem.k, labels=labels, standardize=False, time_limit=limit, steps=BOUND_STEPS
        )
    except SDCFailure:
        return None
    return 100.0 * found.sse / problem.engine.sst if found.proven else None


def cells_table(runs: list[CellRun], limit: str) -> ReportTable:
    """Heuristics and search side by side."""
    rows: list[tuple[Entry, ...]] = [
        (
            run.file,
            run.k,
            f"{run.mdav:.4f}",
            f"{run.mhm:.4f}",
            f"{run.after(run.line[-1][0] / 10):.4f}",
            f"{run.found:.4f}",
            "–" if run.bound is None else f"{run.bound:.4f}",
            f"{100 * (1 - run.found / run.mdav):.1f}",
            f"{run.sizes[0]} to {run.sizes[1]}",
        )
        for run in runs
    ]
    return ReportTable(
        "cells",
        "Information loss 100·SSE/SST on the reference files",
        ("file", "k", "MDAV", "MHM", "search, a tenth", "search", "no partition below", "% below MDAV", "group sizes"),
        tuple(rows),
        f"MemeticMicroaggregation, {limit}; MHM cuts MDAV's path at its best places. No partition below:"
        " by column generation; – where none was proven in the time. The papers print no such table.",
    )


def anytime_picture(runs: list[CellRun]) -> Picture:
    """Information loss against seconds; MDAV and MHM as lines."""
    from matplotlib.figure import Figure

    files = list(dict.fromkeys(run.file for run in runs))
    across = max(sum(run.file == file for run in runs) for file in files)
    figure: Figure = Figure(figsize=(3.2 * across, 2.5 * len(files)), layout="constrained")
    panels = figure.subplots(len(files), across, squeeze=False)
    for row, file in zip(panels, files, strict=True):
        mine = [run for run in runs if run.file == file]
        for panel in row[len(mine) :]:
            panel.set_visible(False)
        for panel, run in zip(row, mine, strict=False):
            seconds = np.maximum([at for at, _ in run.line], 1e-2)
            panel.step(seconds, [loss for _, loss in run.line], where="post", label="search", linewidth=1.6)
            panel.axhline(run.mdav, linestyle="--", color="0.45", linewidth=1, label="MDAV")
            panel.axhline(run.mhm, linestyle=":", color="0.15", linewidth=1.2, label="MHM")
            if run.bound is not None:
                panel.axhline(run.bound, linestyle="-.", color="tab:red", linewidth=1, label="no partition below")
            panel.set_xscale("log")
            panel.xaxis.set_major_formatter("{x:g}")
            panel.set_title(f"{run.file}, k = {run.k}", fontsize=10)
            panel.tick_params(labelsize=8)
        row[0].set_ylabel("information loss [%]")
    for panel in panels[-1]:
        panel.set_xlabel("seconds")
    panels[0][0].legend(fontsize=8, frameon=False)
    return Picture(
        "anytime",
        "Information loss against seconds of search",
        figure,
        "One run per panel; the search begins with the better of the heuristics, so it is never above them.",
    )

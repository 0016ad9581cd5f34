"""Dewri et al. (2010): PBG-EA on the Adult file, and our search with a twentieth of the nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pymoo.optimize import minimize

from sdc_problems.algorithms import PBGEA, PBGSearch
from sdc_problems.datasets import load
from sdc_problems.evaluators.indicators import convergence_error, representation_ratio
from sdc_problems.hierarchy import Hierarchy
from sdc_problems.microdata import Microdata
from sdc_problems.parallel.process_pool import begin_worker, pool_of
from sdc_problems.problems.generalization import PBGProblem
from sdc_problems.studies.reproductions.report import Cell, Entry, Picture, Report, ReportTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sdc_problems.front import Front

SEEDS = 20
QUICK_SEEDS = 2
PROCESSES = 2  # at most, for all seeds
SHARE = 0.05  # of the nodes, which our search may measure

PAPER_NAMES = {"k": "k", "l": "ℓ", "spread_k": "S_k", "spread_l": "S_ℓ", "glm": "GLM", "cm": "CM"}
# Objectives: the paper's mean and variance of CE and of RR (Table 1b), and its nodes (Table 2b).
PAPER: dict[tuple[str, ...], tuple[float | None, float | None, float | None, float | None, int]] = {
    ("k", "glm"): (3.7e-4, 6.5e-9, 0.94, 8e-4, 916),
    ("k", "l", "glm"): (3.3e-4, 1.1e-7, 0.93, 1.1e-3, 946),
    ("spread_k", "glm"): (5.7e-4, 2.5e-7, 0.84, 1.7e-3, 1136),
    ("spread_k", "spread_l", "glm"): (6.6e-4, 2.0e-7, 0.83, 1.4e-3, 1197),
    ("k", "glm", "cm"): (None, None, None, None, 1073),
}
SETS = list(PAPER)[:4]
# Table 2(a): box sides, and the paper's mean and variance of CE and of RR.
BOXES: list[tuple[tuple[float, ...], tuple[float, float, float, float]]] = [
    ((5, 100), (4.3e-4, 2.6e-7, 0.95, 1.6e-3)),
    ((10, 1000), (1.6e-4, 8.0e-8, 0.98, 8.2e-4)),
    ((50, 10000), (1.7e-4, 1.1e-8, 1.0, 0.0)),
    ((5, 2, 100), (4.9e-3, 2.5e-7, 0.92, 1.2e-3)),
    ((10, 4, 1000), (7.4e-3, 9.3e-7, 0.92, 7.0e-4)),
    ((50, 6, 10000), (1.8e-2, 8.2e-6, 0.88, 1.7e-3)),
]
# Table 1(a): values and DGH lengths.
ATTRIBUTES = {
    "age": (74, 6), "workclass": (7, 3), "education": (16, 3), "marital-status": (7, 3), "race": (5, 1),
    "sex": (2, 1), "native-country": (41, 4), "income": (2, 1),
}  # fmt: skip


@dataclass(frozen=True)
class Runs:
    """Results of one search, seed by seed."""

    rr: NDArray[np.float64]
    ce: NDArray[np.float64]
    nodes: NDArray[np.float64]
    F: NDArray[np.float64]
    """Archive of the first seed."""


def repeat(
    problem: PBGProblem,
    front: Front,
    make: Callable[[], Any],
    seeds: int,
    epsilon: ArrayLike = 1.0,
    *,
    pool: Executor | None = None,
) -> Runs:
    """Run a search with the seeds 1, 2, … and compare its results with the whole front.

    With a pool, its processes share the seeds; ``make`` must then be picklable.
    """
    shares = [list(range(first, seeds + 1, PROCESSES)) for first in range(1, min(PROCESSES, seeds) + 1)]
    searched = partial(_searched, problem, make)
    found = dict(pair for share in (pool.map if pool else map)(searched, shares) for pair in share)
    archives = [found[seed][0] for seed in sorted(found)]
    return Runs(
        rr=np.array([representation_ratio(F, front.F, epsilon) for F in archives]),
        ce=np.array([convergence_error(F, front.F) for F in archives]),
        nodes=np.array([found[seed][1] for seed in sorted(found)], dtype=float),
        F=archives[0],
    )


def _searched(
    problem: PBGProblem, make: Callable[[], Any], seeds: Sequence[int]
) -> list[tuple[int, tuple[NDArray[np.float64], int]]]:
    """Each seed with its archive and its number of nodes."""
    found = []
    for seed in seeds:
        algorithm = minimize(problem, make(), seed=seed).algorithm
        found.append((seed, (algorithm.archive.F.copy(), int(algorithm.evaluator.n_unique))))
    return found


def random_lattice(seed: int, records: int = 4000) -> tuple[Microdata, dict[str, Hierarchy]]:
    """Draw a table of seven dependent attributes, and hierarchies that merge two to four groups per level."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    common = rng.normal(size=(records, 2))  # makes the attributes depend on each other
    frame, hierarchies = pd.DataFrame(index=range(records)), {}
    for a in range(7):
        n_values = int(rng.integers(4, 40))
        score = common @ rng.normal(size=2) + rng.normal(size=records) * rng.uniform(0.5, 2)
        rank = (score.argsort().argsort() + 0.5) / records
        frame[f"a{a}"] = np.minimum((rank ** rng.uniform(0.5, 2) * n_values).astype(int), n_values - 1)
        groups, rows = np.arange(n_values), [np.arange(n_values)]
        while groups.max() > 0:
            n_groups = max(1, int((groups.max() + 1) / rng.uniform(2, 4)))
            groups = groups * n_groups // (groups.max() + 1)
            rows.append(groups)
        labels = {v: [f"{level}:{row[v]}" for level, row in enumerate(rows[1:], 1)] for v in range(n_values)}
        hierarchies[f"a{a}"] = Hierarchy.from_levels(labels, name=f"a{a}")
    frame["s"] = np.minimum((np.abs(common[:, 0] + rng.normal(size=records)) * 3).astype(int), 9)
    names = list(hierarchies)
    return Microdata.from_frame(frame, quasi_identifiers=names, sensitive=["s"]), hierarchies


def reproduce(*, quick: bool, say: Callable[[str], None]) -> Report:
    """Compute Tables 1 and 2 and Figures 1-3, and the comparison with our search."""
    with pool_of(PROCESSES, begin_worker) as pool:
        return _reproduced(quick=quick, say=say, pool=pool)


def _reproduced(*, quick: bool, say: Callable[[str], None], pool: Executor) -> Report:
    seeds = QUICK_SEEDS if quick else SEEDS
    adult = load("adult")
    narrow = adult.data.with_roles(
        quasi_identifiers=[name for name in adult.data.quasi_identifiers if name != "income"],
        sensitive=["occupation"],
    )
    problems = {
        s: PBGProblem(adult.data, adult.hierarchies, objectives=s, sensitive="occupation", suppression="budget")
        for s in SETS
    }
    problems["k", "glm", "cm"] = PBGProblem(
        narrow, adult.hierarchies, objectives=("k", "glm", "cm"), class_label="income", suppression="budget"
    )
    fronts, published = {}, {}
    for objectives, problem in problems.items():
        fronts[objectives] = problem.enumerate_front(ties=True)
        published[objectives] = repeat(problem, fronts[objectives], PBGEA, seeds, pool=pool)
        say(f"PBG-EA on {title(objectives)}: mean RR {published[objectives].rr.mean():.3f}")
    tables = (
        _attributes(adult.hierarchies),
        _table_1b(fronts, published),
        _table_2a(problems, fronts, seeds, say, pool),
        _table_2b(problems, published),
        _comparison(_lattices(problems, quick), seeds, say, pool),
    )
    setting = (
        f"Adult, {len(adult.data):,} complete records, {problems[SETS[0]].n_nodes:,} nodes"
        f" ({problems['k', 'glm', 'cm'].n_nodes:,} for CM), suppression of at most {problems[SETS[0]].max_suppressed}.",
        f"Means and variances of {seeds} seeds" + (" (--quick; in full 20)." if quick else "."),
        'Every node suppresses as much as it may, as in the paper (suppression="budget", which is not the default).',
        "The paper does not print its hierarchies: ours have its lengths, so figures are alike and not equal.",
        "CE is the sum over the archive as the paper defines it; one stray member is enough to raise it.",
    )
    return Report(
        "Property based generalizations of the Adult file",
        "Dewri, Ray, Ray, Whitley: On the Identification of Property Based Generalizations in Microdata Anonymization."
        " DBSec 2010.",
        setting,
        tables,
        _pictures(problems, fronts, published),
        tuple({o.name: o for problem in problems.values() for o in problem.objectives}.values()),
    )


def title(objectives: Sequence[str]) -> str:
    """Objectives under the paper's names."""
    return ", ".join(PAPER_NAMES[name] for name in objectives)


def _attributes(hierarchies: Mapping[str, Hierarchy]) -> ReportTable:
    rows = []
    for name, (values, length) in ATTRIBUTES.items():
        hierarchy = hierarchies[name]
        rows.append((name, Cell(hierarchy.n_values, values, "d"), Cell(hierarchy.length, length, "d")))
    return ReportTable("table-1a", "Table 1(a): attributes", ("attribute", "values", "DGH length"), tuple(rows))


def _quality(runs: Runs, paper: Sequence[float | None]) -> tuple[Cell, ...]:
    ours = (runs.ce.mean(), runs.ce.var(), runs.rr.mean(), runs.rr.var())
    forms = (".1e", ".1e", ".3f", ".1e")
    return tuple(Cell(float(value), other, form) for value, other, form in zip(ours, paper, forms, strict=True))


_QUALITY = ("CE, mean", "CE, variance", "RR, mean", "RR, variance")


def _table_1b(fronts: dict[tuple[str, ...], Front], runs: dict[tuple[str, ...], Runs]) -> ReportTable:
    rows: list[tuple[Entry, ...]] = [(title(s), len(fronts[s].F), *_quality(runs[s], PAPER[s][:4])) for s in runs]
    columns = ("objectives", "minimal nodes", *_QUALITY)
    return ReportTable("table-1b", "Table 1(b): quality of PBG-EA", columns, tuple(rows))


def _table_2a(
    problems: dict[tuple[str, ...], PBGProblem],
    fronts: dict[tuple[str, ...], Front],
    seeds: int,
    say: Callable[[str], None],
    pool: Executor,
) -> ReportTable:
    rows: list[tuple[Entry, ...]] = []
    for sides, paper in BOXES:
        objectives = SETS[len(sides) - 2]
        runs = repeat(problems[objectives], fronts[objectives], partial(PBGEA, epsilon=sides), seeds, sides, pool=pool)
        say(f"PBG-EA with boxes {sides}: mean RR {runs.rr.mean():.3f}")
        middle = f"{sides[1]:g}" if len(sides) == 3 else "-"
        rows.append((f"{sides[0]:g}", middle, f"{sides[-1]:g}", *_quality(runs, paper)))
    return ReportTable(
        "table-2a",
        "Table 2(a): discretization vectors",
        ("ε of k", "ε of ℓ", "ε of GLM", *_QUALITY),
        tuple(rows),
        note="The vector of the fourth row cannot be read in our copy of the paper; (5, 2, 100) is assumed.",
    )


def _table_2b(problems: dict[tuple[str, ...], PBGProblem], runs: dict[tuple[str, ...], Runs]) -> ReportTable:
    rows = []
    for s, found in runs.items():
        nodes, n = float(found.nodes.mean()), problems[s].n_nodes
        rows.append((title(s), Cell(nodes, PAPER[s][4], ".0f"), Cell(100 * nodes / n, 100 * PAPER[s][4] / n, ".1f")))
    columns = ("objectives", "nodes measured", "% of the lattice")
    return ReportTable("table-2b", "Table 2(b): nodes measured by PBG-EA", columns, tuple(rows))


def _lattices(problems: dict[tuple[str, ...], PBGProblem], quick: bool) -> list[tuple[str, PBGProblem]]:
    sets = SETS[:1] if quick else SETS
    found = [("Adult", problems[s]) for s in sets]
    people = load("people")
    found += [("people", PBGProblem(people.data, people.hierarchies, objectives=s, suppression="budget")) for s in sets]
    for seed in range(1, 2 if quick else 4):
        data, hierarchies = random_lattice(seed)
        found += [(f"random {seed}", PBGProblem(data, hierarchies, objectives=s, suppression="budget")) for s in sets]
    return found


def _comparison(
    lattices: list[tuple[str, PBGProblem]], seeds: int, say: Callable[[str], None], pool: Executor
) -> ReportTable:
    rows = []
    for name, problem in lattices:
        front = problem.enumerate_front(ties=True)
        budget = int(SHARE * problem.n_nodes)
        theirs = repeat(problem, front, PBGEA, seeds, pool=pool)
        ours = repeat(problem, front, partial(PBGSearch, budget), seeds, pool=pool)
        alike = repeat(problem, front, partial(PBGSearch, int(theirs.nodes.mean())), seeds, pool=pool)
        objectives = title([o.name for o in problem.objectives])
        say(f"PBGSearch on {name}, {objectives}: mean RR {ours.rr.mean():.4f}")
        figures = (
            f"{theirs.rr.mean():.3f}", f"{theirs.nodes.mean():.0f}", f"{ours.rr.mean():.4f}", f"{ours.rr.min():.3f}",
            f"{ours.ce.mean():.1e}", f"{ours.nodes.max():.0f}", f"{alike.rr.mean():.4f}",
        )  # fmt: skip
        rows.append((name, objectives, problem.n_nodes, len(front.F), *figures))
    columns = (
        "table", "objectives", "lattice", "minimal", "PBG-EA RR", "PBG-EA nodes", "PBGSearch RR", "least RR", "CE",
        "PBGSearch nodes", "PBGSearch RR at PBG-EA's nodes",
    )  # fmt: skip
    return ReportTable(
        "search",
        "PBGSearch at 5 % of the nodes",
        columns,
        tuple(rows),
        note="PBGSearch has the same settings everywhere. On small lattices 5 % is few nodes per minimal one and less"
        " than PBG-EA measures: the last column gives both the same number.",
    )


def _pictures(
    problems: dict[tuple[str, ...], PBGProblem],
    fronts: dict[tuple[str, ...], Front],
    runs: dict[tuple[str, ...], Runs],
) -> tuple[Picture, ...]:
    shown: list[tuple[str, str, list[tuple[str, ...]]]] = [
        ("figure-1", "Figure 1: worst case privacy", [SETS[0], SETS[1]]),
        ("figure-2", "Figure 2: spread", [SETS[2], SETS[3]]),
        ("figure-3", "Figure 3: two losses", [("k", "glm", "cm")]),
    ]
    return tuple(
        Picture(name, heading, _scatter([(problems[s], fronts[s].F, runs[s].F) for s in sets]),
                note="Crosses: all minimal generalizations; circles: PBG-EA, first seed.")
        for name, heading, sets in shown
    )  # fmt: skip


def _scatter(panels: list[tuple[PBGProblem, NDArray[np.float64], NDArray[np.float64]]]) -> Figure:
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from sdc_problems.studies.report.plots import COLOURS, STYLE

    with rc_context(STYLE):
        figure = Figure(figsize=(5.6 * len(panels), 4.8), layout="constrained")
        FigureCanvasAgg(figure)
        for i, (problem, front, found) in enumerate(panels, 1):
            labels = [str(objective) for objective in problem.objectives]
            axes: Any = figure.add_subplot(1, len(panels), i, projection="3d" if len(labels) == 3 else None)
            axes.scatter(*problem.natural(front).T, marker="x", color=COLOURS[0], label="exhaustive")
            axes.scatter(
                *problem.natural(found).T, marker="o", facecolors="none", edgecolors=COLOURS[1], label="PBG-EA"
            )
            axes.set_xlabel(labels[0])
            axes.set_ylabel(labels[1])
            if len(labels) == 3:
                axes.set_zlabel(labels[2])
            axes.legend(frameon=False)
    return figure

"""Grids for the reproduction of Marés (2013), chapter 5: every method, k and number of clusters is measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sdc_problems import Microdata, PreclusterProblem, load
from sdc_problems.evaluators import dr_categorical, il_categorical
from sdc_problems.evaluators.preclustering import Setting
from sdc_problems.methods import c_median, precluster

MEASURED = ("il_categorical", "dr_categorical", "clustering_loss")
LOSS, RISK, CLUSTERING = range(3)
MDAV, GLOBAL_MEDIAN = 0, 1
SMALLEST, NEAREST = 0, 1


@dataclass(frozen=True)
class Scale:
    """Scale of the grids, full or quick.

    Attributes
    ----------
    ks, clusters
        Settings of German credit.
    step
        For the other files and for random starts, one in so many settings is measured.
    seeds
        Number of seeds of random starts.
    restarts
        Number of starts of c-median.
    large
        Number of records of the largest file.
    """

    ks: tuple[int, ...] = tuple(range(2, 51))
    clusters: tuple[int, ...] = tuple(range(1, 51))
    step: int = 4
    seeds: int = 3
    restarts: int | Literal["all"] = "all"
    large: int = 1_000_000

    def coarse(self, *, k_max: int = 50) -> Scale:
        """Scale with fewer settings and a larger maximum of k."""
        more = range(self.ks[-1] + self.step, k_max + 1, self.step)
        return replace(self, ks=(*self.ks[:: self.step], *more), clusters=self.clusters[:: self.step], step=1)


FULL = Scale()
QUICK = Scale(ks=(5, 20, 35, 50), clusters=(1, 4, 7, 13, 25, 40), step=1, seeds=1, restarts=5, large=20_000)


@dataclass(frozen=True)
class Case:
    """File and the attributes that are protected."""

    name: str
    title: str
    attributes: tuple[str, ...]

    def data(self) -> Microdata:
        """Load the file."""
        return load(self.name).data

    def problem(self, restarts: int | Literal["all"], seed: int = 0) -> PreclusterProblem:
        """Problem with the source's measures."""
        return PreclusterProblem(
            self.data(), columns=self.attributes, objectives=MEASURED, restarts=restarts, guard=False, seed=seed,
            k_max=100, clusters_max=100,
        )  # fmt: skip


class People(Case):
    """Embedded people, with ages and hours as ordered intervals, used in place of the Housing file."""

    records = 1000

    def data(self) -> Microdata:
        """Load the first thousand people."""
        table = load("people").data
        rows = np.arange(self.records)
        return ordered_people(table, rows)


def ordered_people(table: Microdata, rows: NDArray[np.int64]) -> Microdata:
    """Education, age in bands of five years and hours in bands of ten, for some of the people."""
    frame = pd.DataFrame({
        "education": [f"{code:02d}" for code in table.codes("education")[rows, 0]],
        "age": [f"{low:03d}" for low in (table.values("age")[rows, 0] // 5 * 5).astype(int)],
        "hours": [f"{low:03d}" for low in (table.values("hours")[rows, 0] // 10 * 10).astype(int)],
    })  # fmt: skip
    names = ["education", "age", "hours"]
    orders = {name: sorted(frame[name].unique()) for name in names}
    return Microdata.from_frame(frame, quasi_identifiers=names, orders=orders)


GERMAN = Case("german_credit", "German credit", ("checking_status", "savings_status", "employment"))
FLARE = Case("solar_flare", "Solar flare", ("class_zurich", "largest_spot_size", "spot_distribution"))
PEOPLE = People("people", "embedded people", ("education", "age", "hours"))


@dataclass(frozen=True)
class Grid:
    """Measures of every setting of one file.

    Attributes
    ----------
    values
        Method (MDAV, global median), joining rule, k, clusters, measure (loss, risk, loss for clustering).
    """

    case: Case
    ks: tuple[int, ...]
    clusters: tuple[int, ...]
    values: NDArray[np.float64]
    untouched: tuple[float, float]

    def found(self, method: str, *, loss: int = LOSS, rule: int | None = SMALLEST) -> tuple[Best, ...]:
        """All points of a method: loss and risk with their setting; for both joining rules if ``rule=None``."""
        number = GLOBAL_MEDIAN if method == "global_median" else MDAV
        points = []
        for r in (SMALLEST, NEAREST) if rule is None else (rule,):
            for i, k in enumerate(self.ks):
                for j, c in enumerate(self.clusters):
                    if (c == 1) == (method == "plain"):
                        row = self.values[number, r, i, j]
                        points.append(Best(float(row[loss]), float(row[RISK]), k, c, r))
        return tuple(points)

    def best(self, method: str, *, loss: int = LOSS, rule: int | None = SMALLEST) -> Best:
        """Most balanced protection of a method, for which the larger of loss and risk is smallest."""
        return min(self.found(method, loss=loss, rule=rule), key=lambda point: point.larger)


@dataclass(frozen=True)
class Best:
    """Protection of one setting."""

    loss: float
    risk: float
    k: int
    clusters: int
    rule: int

    @property
    def larger(self) -> float:
        """Larger of loss and risk."""
        return max(self.loss, self.risk)

    @property
    def mean(self) -> float:
        """Mean of loss and risk (Eq. 5.4)."""
        return (self.loss + self.risk) / 2

    @property
    def setting(self) -> str:
        """Setting in words."""
        return f"k = {self.k}" + (f", c = {self.clusters}" if self.clusters > 1 else "")


def run_grid(case: Case, scale: Scale, *, say: Callable[[str], None], seed: int = 0, restarts: object = None) -> Grid:
    """Measure every setting of a file; restarts are those of the scale unless given."""
    problem = case.problem(scale.restarts if restarts is None else restarts, seed)  # type: ignore[arg-type]
    top = problem.xu.astype(int)
    ks = tuple(k for k in scale.ks if k <= top[2])
    clusters = tuple(c for c in scale.clusters if c <= top[3])
    values = np.full((2, 2, len(ks), len(clusters), len(MEASURED)), np.nan)
    for method in range(top[0] + 1):
        for rule in (SMALLEST, NEAREST):
            words = ("microaggregation", "global median")[method], ("the two smallest", "the nearest")[rule]
            say(f"{case.title}: {words[0]}, small clusters joined: {words[1]}")
            rows = np.array([(method, rule, k, c) for k in ks for c in clusters])
            rows[rows[:, 3] == 1, 1] = 0
            values[method, rule] = problem.evaluate(rows).reshape(len(ks), len(clusters), len(MEASURED))
    if top[0] == MDAV:
        values = values[:1]
    original = problem.original().reshape(1, -1)
    il, dr = problem.engine.cells.measure(original, MEASURED[:2])[0]
    return Grid(case, ks, clusters, values, (float(il), float(dr)))


def clustering_losses(case: Case, k: int, numbers: tuple[int, ...], seeds: int) -> NDArray[np.float64]:
    """Loss for clustering of plain microaggregation: seeds × numbers of clusters."""
    losses = []
    for seed in range(1, seeds + 1):
        engine = case.problem(20, seed).engine
        values = engine.values(Setting(MDAV, SMALLEST, k, 1))
        all_losses = engine.clustering_losses(values)
        losses.append([all_losses[number - 2] for number in numbers])
    return np.array(losses)


def starts(case: Case, numbers: tuple[int, ...]) -> list[tuple[int, float, float, float]]:
    """Costs of c-median over all starts: number of clusters, best, mean, worst."""
    problem = case.problem("all")
    codes, first = problem.original(), problem.engine.rows
    found = []
    for number in numbers:
        costs = []
        for row in range(len(first)):
            start = first.start(row, number)
            options = {"kinds": problem.kinds, "n_categories": first.sizes, "start": start}
            costs.append(c_median(codes, len(start), **options).cost)
        found.append((number, min(costs), float(np.mean(costs)), max(costs)))
    return found


@dataclass(frozen=True)
class Large:
    """Protection of a large file: its cost and its loss."""

    records: int
    method: str
    k: int
    clusters: int
    seconds: float
    loss: float
    risk: float
    smallest: int


def run_large(records: int, method: str, k: int, clusters: int) -> Large:
    """Protect embedded people drawn with replacement, and measure the whole file.

    Seconds are processor time of the protection, without the measures.
    """
    table = load("people").data
    data = ordered_people(table, np.random.default_rng(1).integers(0, len(table), records))
    codes = data.codes().astype(np.int64)
    options: Any = {"kinds": ["ordinal"] * codes.shape[1]}
    few: Any = {"clusters": 2, "method": method, "rng": np.random.default_rng(1)}
    precluster(codes[:100], 2, **options, **few)  # compiles before the time is measured
    began = time.process_time()
    done = precluster(codes, k, clusters=clusters, method=method, rng=np.random.default_rng(1), **options)
    seconds = time.process_time() - began
    values = done.values.astype(np.int64)
    return Large(
        records, method, k, clusters, seconds, il_categorical(codes, values, **options),
        dr_categorical(codes, values, **options), int(np.unique(values, axis=0, return_counts=True)[1].min()),
    )  # fmt: skip

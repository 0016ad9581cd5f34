"""The lattice engine against pandas and numpy, node by node, in one run; and how its cost grows.

    python benchmarks/tasks/bench_lattice.py           ratios on the embedded table, and on Adult with SDC_DATA_HOME
    python benchmarks/tasks/bench_lattice.py --growth  also the growth figure, docs/figures/lattice-growth.png
    python benchmarks/tasks/bench_lattice.py --rules   only by how much each rule of suppression loses, asked for one k

All times are CPU seconds of this process.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sdc_problems import PBGProblem, SDCError, load
from sdc_problems.evaluators.lattice import LatticeEngine

ALL = ("k", "l", "entropy_l", "t", "spread_k", "spread_l", "glm", "cm", "discernibility", "suppressed")
SAMPLE = 40  # nodes for pandas and numpy
FIGURE = Path(__file__).resolve().parents[2] / "docs" / "figures" / "lattice-growth.png"


def cpu(function: Callable[[], Any]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def generalised(problem: PBGProblem, node: np.ndarray) -> np.ndarray:
    codes = problem.data.codes(problem.attributes)
    columns = []
    for (name, hierarchy), level, column in zip(problem.hierarchies.items(), node, codes.T, strict=True):
        columns.append(hierarchy.table(problem.data.categories(name))[level][column])
    return np.column_stack(columns)


def compare(name: str, dataset: Any) -> None:
    problem = PBGProblem(dataset.data, dataset.hierarchies, objectives=ALL, class_label="income")
    engine = problem.engine
    engine.evaluate_all()  # compiles
    everything = min(cpu(engine.evaluate_all) for _ in range(3)) / engine.n_nodes
    every = min(cpu(lambda: list(engine.every_step())) for _ in range(3)) / engine.n_nodes
    thresholds = sum(len(rows) for rows, _, _ in engine.every_step()) / engine.n_nodes
    light = PBGProblem(dataset.data, dataset.hierarchies).engine
    two = min(cpu(light.evaluate_all) for _ in range(3)) / engine.n_nodes
    nodes = engine.nodes()[np.random.default_rng(0).permutation(engine.n_nodes)[:SAMPLE]]
    tables = [generalised(problem, node) for node in nodes]
    frames = [pd.DataFrame(table) for table in tables]
    grouped = cpu(lambda: [frame.groupby(list(frame)).size().min() for frame in frames]) / SAMPLE
    unique = cpu(lambda: [np.unique(table, axis=0, return_counts=True) for table in tables]) / SAMPLE
    print(f"{name}: {problem.data.n_records:,} records, {engine.n_nodes:,} nodes, {engine.n_classes:,} distinct")
    print(f"  all ten objectives      {1 / everything:10,.0f} nodes per CPU second")
    print(f"  the same, each of its {thresholds:.1f} thresholds: {every / everything:.2f} times as long")
    print(f"  k and GLM               {1 / two:10,.0f} nodes per CPU second")
    for share in (0.01, 0.04):
        rule, free = (
            PBGProblem(dataset.data, dataset.hierarchies, max_suppression=share, suppression=how)
            for how in ("budget", "free")
        )
        seconds = [min(cpu(problem.enumerate_front) for _ in range(3)) for problem in (rule, free)]
        print(
            f"  exact front of k and GLM, budget {share:.0%}: nodes {seconds[0]:.2f} CPU s, nodes and thresholds"
            f" {seconds[1]:.2f} CPU s, {seconds[1] / seconds[0]:.2f} times as long"
        )
    for other, seconds in (("pandas groupby, k only", grouped), ("numpy unique, k only", unique)):
        print(f"  {other:23} {1 / seconds:10,.0f}   engine with all ten: {seconds / everything:6.0f} times as fast")


def rules(name: str, dataset: Any) -> None:
    """Loss at the best node for a k, suppressing as much as allowed: as a multiple of the best threshold's."""
    asked = (2, 3, 5, 10, 50, 100)
    print(f"{name}: loss under suppression='budget' over that under 'free', for k of at least {asked}")
    for share in (0.01, 0.04):
        for loss in ("discernibility", "glm"):
            best = {}
            for rule in ("free", "budget"):
                problem = PBGProblem(
                    dataset.data, dataset.hierarchies, objectives=("k", loss), max_suppression=share, suppression=rule
                )
                values = problem.natural(problem.enumerate_front().F)
                best[rule] = np.array([values[values[:, 0] >= k, 1].min() for k in asked])
            factors = ", ".join(f"{factor:.3f}" for factor in best["budget"] / best["free"])
            print(f"  budget {share:.0%}, {loss:14} {factors}")


def synthetic(records: int, attributes: int) -> LatticeEngine:
    """Skewed dependent attributes of 16 values with levels of 16, 4 and 1 groups, read in pieces."""
    tables = [np.array([np.arange(16), np.arange(16) // 4, np.zeros(16, int)])] * attributes

    def pieces() -> Any:
        rng = np.random.default_rng(1)
        for start in range(0, records, 1 << 18):
            n = min(1 << 18, records - start)
            common = rng.random((n, 1))
            codes = (16 * (0.5 * common + 0.5 * rng.random((n, attributes))) ** 3).astype(np.int32)
            yield codes, (14 * common[:, 0]).astype(np.int32), None

    measures = tuple(name for name in ALL if name != "cm")
    return LatticeEngine.from_chunks(
        pieces(), tables, has_sensitive=True, max_suppressed=records // 100, measures=measures, threads=1
    )


def per_node(engine: LatticeEngine, sample: int = 200) -> float:
    if engine.n_nodes <= 20_000:
        return cpu(engine.evaluate_all) / engine.n_nodes
    nodes = np.random.default_rng(0).integers(0, engine.n_levels, size=(sample, len(engine.n_levels)))
    return cpu(lambda: engine.evaluate(nodes)) / sample


def growth(largest: int, path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    records = [10**e for e in range(4, 8) if 10**e <= largest]
    series = []
    for n in records:
        engine = synthetic(n, 6)
        series.append(per_node(engine))
        print(f"{n:>10,} records, 6 attributes: {engine.n_classes:,} distinct, {1e6 * series[-1]:,.0f} µs per node")
    left.loglog(records, 1e6 * np.array(series), marker="o")
    left.set(xlabel="records (6 attributes)", ylabel="CPU µs per node")
    widths, series = list(range(4, 13, 2)), []
    for p in widths:
        engine = synthetic(30_000, p)
        series.append(per_node(engine))
        print(f"    30,000 records, {p} attributes: {engine.n_nodes:,} nodes, {1e6 * series[-1]:,.0f} µs per node")
    right.semilogy(widths, 1e6 * np.array(series), marker="o")
    right.set(xlabel="attributes (30,000 records)", ylabel="CPU µs per node")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, metadata={"Software": None})
    print(f"drawn: {path}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--largest", type=int, default=10**7, help="records of the largest table of the growth figure")
    parser.add_argument("--figure", type=Path, default=FIGURE, help="where the growth figure goes")
    chosen = parser.parse_args()
    show = rules if chosen.rules else compare
    show("people", load("people"))
    try:
        show("Adult", load("adult", download=False))
    except SDCError as error:
        print(f"Adult is left out: {error}")
    if chosen.growth:
        growth(chosen.largest, chosen.figure)

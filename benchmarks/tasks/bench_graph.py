"""Social graphs beside plain twins, networkx and numpy, in one run; and the losses that the searches reach.

    python benchmarks/tasks/bench_graph.py                     # speed, as ratios of CPU time of one thread
    python benchmarks/tasks/bench_graph.py --losses [--on caltech36] [--by nsil] [--k 3] [--seeds 3] [--moves 5000000]
    python benchmarks/tasks/bench_graph.py --fronts [--on lazega] [--by dr_degree] [--seeds 3]
    python benchmarks/tasks/bench_graph.py --optimum           # of a graph of 12 nodes, 100 seeds
    python benchmarks/tasks/bench_graph.py --bars              # all of it: each bar beside its figure

Needs the public files graph_caltech36_* and graph_lazega_* in $SDC_DATA_HOME. Every attribute is nominal.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from plain import cpu
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import SocialGraph, SocialGraphProblem
from sdc_problems.algorithms import BoxArchive
from sdc_problems.algorithms.social.memetic import memetic_social_graph
from sdc_problems.evaluators import hypervolume
from sdc_problems.evaluators.node_clusters import NodeClusterSearch
from sdc_problems.operators.partition import OnePointCrossover, RecordMutation
from sdc_problems.problems.social._baselines import nearest_clusters, sangreea
from sdc_problems.studies.searches.operators import BaselinesFirst

FILES = {"lazega": "graph_lazega_cowork_edges.csv", "caltech36": "graph_caltech36_edges.csv"}
MOVES = 100_000
BARS = {
    ("il_graph", "lazega"): {2: 0.102, 3: 0.125, 5: 0.170, 10: 0.232},
    ("il_graph", "caltech36"): {2: 0.098, 3: 0.123, 5: 0.154, 10: 0.190},
    ("nsil", "lazega"): {2: 0.201, 3: 0.264, 5: 0.322, 10: 0.381},
    ("nsil", "caltech36"): {2: 0.085, 3: 0.109, 5: 0.127, 10: 0.141},
}
FRONTS = {
    ("lazega", "nsil"): (4000, 0.591, 0.62),
    ("lazega", "dr_degree"): (4000, 0.391, 0.45),
    ("caltech36", "nsil"): (2400, 0.734, 0.76),
    ("caltech36", "dr_degree"): (2400, 0.415, 0.45),
}


def load(name: str, k: int, objectives: tuple[str, ...] = ("il_graph",)) -> SocialGraphProblem:
    home = Path(os.environ["SDC_DATA_HOME"])
    nodes = home / f"graph_{name}_nodes.csv"
    names = pd.read_csv(nodes, nrows=0).columns[1:].tolist()
    graph = SocialGraph.from_csv(
        nodes, home / FILES[name], quasi_identifiers=names, kinds=dict.fromkeys(names, "nominal"), na_values=()
    )
    return SocialGraphProblem(graph, k, objectives=objectives, threads=1)


# -- what is compared with ---------------------------------------------------------------------------------------------


def plain_il(codes: np.ndarray, arcs: np.ndarray, labels: np.ndarray) -> float:
    """Modes and the three losses, as the plain twins of the tests make them: dictionaries of categories."""
    n, p = codes.shape
    released = codes.copy()
    for c in np.unique(labels):
        nodes = np.flatnonzero(labels == c)
        for j in range(p):
            counts = Counter(codes[v, j] for v in nodes)
            released[nodes, j] = min(counts, key=lambda c: (-counts[c], c))
    total = 0.0
    for j in range(p):
        before = Counter((codes[u, j], codes[v, j]) for u, v in arcs)
        after = Counter((codes[u, j], released[v, j]) for u, v in arcs)
        total += sum(abs(before[c] - after[c]) for c in set(before) | set(after)) / (2 * len(arcs))
        old, new = Counter(codes[:, j]), Counter(released[:, j])
        total += sum(abs(old[c] - new[c]) for c in set(old) | set(new)) / (2 * n)
        total += float((codes[:, j] != released[:, j]).mean())
    return total / (3 * p)


def bincount_aamil(codes: np.ndarray, released: np.ndarray, source: np.ndarray, target: np.ndarray) -> float:
    """The one loss along links with numpy."""
    out = 0.0
    for j in range(codes.shape[1]):
        size = int(codes[:, j].max()) + 1
        before = np.bincount(codes[source, j] * size + codes[target, j], minlength=size * size)
        after = np.bincount(codes[source, j] * size + released[target, j], minlength=size * size)
        out += np.abs(before - after).sum() / (2 * len(source))
    return out / codes.shape[1]


def plain_sangreea(A: np.ndarray, k: int) -> list[list[int]]:
    """SaNGreeA for (0, 1), as the plain twin of the tests."""
    n = len(A)

    def far(i: int, j: int) -> int:
        return sum(A[i, h] != A[j, h] for h in range(n) if h not in (i, j))

    left, clusters = sorted(range(n), key=lambda v: -A[v].sum()), []
    while len(left) >= k:
        cluster = [left[0]]
        while len(cluster) < k:
            rest = sorted(set(left) - set(cluster))
            cluster.append(min(rest, key=lambda v: (sum(far(v, u) for u in cluster) / len(cluster), v)))
        clusters.append(cluster)
        left = [v for v in left if v not in cluster]
    return clusters


# -- speed ------------------------------------------------------------------------------------------------------------


def speed() -> None:
    """Print the ratios of one run."""
    import networkx

    problem = load("caltech36", 3)
    engine, n = problem.engine, len(problem.data)
    rng = np.random.default_rng(1)
    rows = np.stack([nearest_clusters(engine.table, 3, seeds=rng.permutation(n)) for _ in range(50)])
    engine.measure(rows[:2], ("il_graph", "nsil"))
    ours = cpu(lambda: engine.measure(rows, ("il_graph",))) / len(rows)
    codes = engine.table.codes.T
    source = np.repeat(np.arange(n), np.diff(engine.arcs.out_ptr))
    target = engine.arcs.out.astype(np.int64)
    released = engine.values(rows[0])[0][rows[0]].astype(np.int64)
    pairs = np.column_stack([source, target])
    print(f"one candidate's il_graph, Caltech36, k = 3: {1e6 * ours:.0f} µs")
    value = engine.measure(rows[:1], ("il_graph",))[0, 0]
    same = np.isclose(plain_il(codes, pairs, rows[0]), value)
    plain = cpu(lambda: plain_il(codes, pairs, rows[0]), 1)
    print(f"  plain twin, as in the tests: {plain / ours:,.0f} times as long (bar 500); same value: {same}")
    G = networkx.Graph(problem.graph.edges.tolist())
    G.add_nodes_from(range(n))
    for j in range(released.shape[1]):
        networkx.set_node_attributes(G, dict(enumerate(released[:, j].tolist())), str(j))
    theirs = cpu(lambda: [networkx.attribute_mixing_matrix(G, str(j)) for j in range(released.shape[1])], 1)
    print(f"  networkx, mixing matrices of the released file alone: {theirs / ours:,.0f} times as long (bar 100)")
    wide = codes.astype(np.int64)
    counted = cpu(lambda: bincount_aamil(wide, released, source, target))
    print(f"  numpy bincount, aamil alone: {counted / ours:.1f} times as long (bar 10)")
    for weights, name in (({"il_graph": 1.0}, "il_graph"), ({"nsil": 1.0}, "nsil"), ({"dr_degree": 1.0}, "dr_degree")):
        one = cpu(lambda name=name: engine.measure(rows, (name,))) / len(rows)
        search = NodeClusterSearch(engine, weights, least=3, largest=5)
        search.start(rows[0])
        search.anneal(100, hot=1e-5, cold=1e-5, seed=1)
        move = cpu(lambda search=search: search.anneal(MOVES, hot=1e-5, cold=1e-5, seed=1), 1) / MOVES
        print(f"  a move by {name}: {1e6 * move:.2f} µs, 1/{one / move:.0f} of an evaluation (bar 1/50)")
    small = load("lazega", 3)
    A = np.zeros((71, 71), dtype=int)
    A[tuple(small.graph.edges.T)] = 1
    A |= A.T
    cells, arcs = small.engine.originals, small.engine.arcs
    sangreea(cells, arcs, 3, alpha=0, beta=1)
    fast = cpu(lambda: [sangreea(cells, arcs, 3, alpha=0, beta=1) for _ in range(100)]) / 100
    print(f"SaNGreeA, Lazega: plain twin {cpu(lambda: plain_sangreea(A, 3), 1) / fast:,.0f} times as long (bar 500)")
    large(ours)


def large(unit: float) -> None:
    """100,000 nodes and 10^6 links, in evaluations of Caltech36."""
    n, m = 100_000, 1_000_000
    rng = np.random.default_rng(1)
    edges = np.unique(np.sort(rng.integers(0, n, size=(m + 2_000, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]][:m]
    people = pd.DataFrame({f"a{j}": rng.integers(0, size, n) for j, size in enumerate((2, 10, 100, 1000))})
    people.insert(0, "id", np.arange(n))
    links = pd.DataFrame(edges, columns=["source", "target"])
    names = list(people.columns[1:])
    graph = SocialGraph.from_frames(people, links, quasi_identifiers=names, kinds=dict.fromkeys(names, "nominal"))
    problem = SocialGraphProblem(graph, 3, objectives=("il_graph",), threads=1)
    x = problem.baselines()["attribute blocks"]
    problem.engine.measure(x[None, :], ("il_graph",))
    one = cpu(lambda: problem.engine.measure(x[None, :], ("il_graph",)))
    print(
        f"100,000 nodes, {len(edges):,} links, 4 attributes: {one:.3f} s, {one / unit:.0f} such evaluations (bar 120)"
    )


# -- losses -----------------------------------------------------------------------------------------------------------


def losses(on: list[str], by: list[str], ks: list[int], seeds: int, moves: int) -> None:
    """Print the smallest losses found beside their bars."""
    for (objective, name), bars in BARS.items():
        for k in ks if name in on and (not by or objective in by) else []:
            problem = load(name, k, (objective,))
            budget = moves if objective == "il_graph" else moves * 3 // 10
            found = []
            for seed in range(seeds):
                x = memetic_social_graph(problem, rng=np.random.default_rng(seed), moves=budget)
                found.append(float(problem.evaluate(x)[0]))
            shown = " ".join(f"{value:.4f}" for value in found)
            reached = "reached" if max(found) <= bars[k] else "missed"
            print(f"{objective}, {name}, k = {k}, {budget:,} moves: {shown} (bar {bars[k]}: {reached})", flush=True)


def fronts(on: list[str], by: list[str], seeds: int) -> None:
    """Print hypervolumes to (1, 1) of NSGA-II of 40 from the baselines and draws of Algorithm 14."""
    for (name, second), (evaluations, plain_bar, bar) in FRONTS.items():
        if name not in on or (by and second not in by):
            continue
        problem = load(name, 3, ("il_graph", second))
        rng = np.random.default_rng(0)
        n = len(problem.data)
        start: list[Any] = list(problem.baselines().values())[-5:]
        start += [nearest_clusters(problem.engine.table, 3, seeds=rng.permutation(n)) for _ in range(35)]
        rows = problem.limited(np.array(start))
        for kind in ("plain", "ours"):
            found = []
            for seed in range(seeds):
                operators = problem.operators()
                operators["sampling"] = BaselinesFirst(operators["sampling"], list(rows))
                if kind == "plain":
                    operators["crossover"], operators["mutation"] = OnePointCrossover(), RecordMutation(refine=0.0)
                archive = BoxArchive(epsilon=1e-9)
                algorithm = NSGA2(pop_size=40, archive=archive, **operators)
                result = minimize(problem, algorithm, ("n_eval", evaluations), seed=seed)
                found.append(float(hypervolume(result.algorithm.archive.F, [1.0, 1.0])))
            shown = " ".join(f"{value:.4f}" for value in found)
            wanted = plain_bar if kind == "plain" else bar
            reached = f"{wanted} in the specification" if kind == "plain" else _verdict(min(found) >= bar, bar)
            what = f"front (il_graph, {second}), {name}, {evaluations} evaluations, {kind}"
            print(f"{what}: {shown} ({reached})", flush=True)


def _verdict(reached: bool, bar: float) -> str:
    return f"bar {bar}: {'reached' if reached else 'missed'}"


def optimum(seeds: int = 100) -> None:
    """Print how many seeds find the optimum of a graph of 12 nodes within 20,000 moves."""
    n = 12
    at = range(n)
    table = {"id": list(at), "a": [i * (i + 1) // 2 % 4 for i in at], "b": [i * i % 5 // 2 for i in at]}
    table["c"] = [3 * i // 2 % 3 for i in at]
    pairs = [(i, j) for i in at for j in at if i < j and (i * i + 3 * i * j + j * j) % 7 in (1, 2)]
    links = pd.DataFrame(pairs, columns=["source", "target"])
    names = ["a", "b", "c"]
    graph = SocialGraph.from_frames(
        pd.DataFrame(table), links, quasi_identifiers=names, kinds=dict.fromkeys(names, "nominal")
    )
    problem = SocialGraphProblem(graph, 3, objectives=("il_graph",), threads=1)
    best = problem.enumerate_front().F.min()
    rngs = (np.random.default_rng(seed) for seed in range(seeds))
    found = [float(problem.evaluate(memetic_social_graph(problem, rng=rng, moves=20_000))[0]) for rng in rngs]
    hits = int(sum(value <= best + 1e-9 for value in found))
    print(f"optimum {best:.6f} of 12 nodes within 20,000 moves: {hits} of {seeds} seeds ({_verdict(hits >= 95, 95)})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--losses", action="store_true")
    parser.add_argument("--fronts", action="store_true")
    parser.add_argument("--bars", action="store_true")
    parser.add_argument("--optimum", action="store_true")
    parser.add_argument("--on", choices=sorted(FILES), action="append")
    parser.add_argument("--by", choices=["il_graph", "nsil", "dr_degree"], action="append", default=[])
    parser.add_argument("--k", type=int, action="append")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--moves", type=int, default=5_000_000)
    given = parser.parse_args()
    on = given.on or list(FILES)
    if given.bars or not (given.losses or given.fronts or given.optimum):
        speed()
    if given.bars or given.optimum:
        optimum()
    if given.losses or given.bars:
        losses(on, given.by, given.k or [2, 3, 5, 10], given.seeds, given.moves)
    if given.fronts or given.bars:
        fronts(on, given.by, given.seeds)


if __name__ == "__main__":
    main()

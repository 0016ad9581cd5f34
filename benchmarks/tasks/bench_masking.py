"""Masking methods beside plain numpy and the stars of sdcMicro, and their growth with the number of records.

    python benchmarks/tasks/bench_masking.py [plain | stars | loss | growth]

CPU seconds; times of plain twins are measured side by side in the same run. sdcMicro's stars are those that its version
5.8.1 was found to need (localSuppression, a star matches every value) on the same columns of the German credit data.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from plain import cpu

from sdc_problems import Microdata, PBGProblem, load
from sdc_problems.methods import add_noise, local_recoding, mondrian, rank_swap, suppress_cells, swap_records, top_code

COLUMNS = ("checking_status", "savings_status", "employment", "personal_status_sex", "job")
SDCMICRO = {5: {2: 165, 3: 318, 5: 548, 10: 940}, 3: {2: 16, 3: 38, 5: 76, 10: 214}}
ADULT = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
SIZES = (10_000, 100_000, 1_000_000)


def plain_rank_swap(x: np.ndarray, window: int, rng: np.random.Generator) -> np.ndarray:
    """Walk from the smallest value; each free one changes places with a free one in its window."""
    order = np.argsort(x, kind="stable")
    moved = np.zeros(len(x), dtype=bool)
    out = x.copy()
    for i in range(len(x)):
        free = [j for j in range(i + 1, min(i + window + 1, len(x))) if not moved[j]]
        if moved[i] or not free:
            continue
        j = free[rng.integers(len(free))]
        out[order[i]], out[order[j]] = x[order[j]], x[order[i]]
        moved[i] = moved[j] = True
    return out


def plain_mondrian(X: np.ndarray, k: int) -> np.ndarray:
    """Cut regions along the relatively widest attribute that allows a cut, at the value that parts them most evenly."""
    spans = np.ptp(X, axis=0)
    labels, waiting, region = np.empty(len(X), dtype=int), [np.arange(len(X))], 0
    while waiting:
        part = waiting.pop()
        for j in np.argsort(-np.ptp(X[part], axis=0) / spans, kind="stable"):
            values = np.sort(X[part, j])
            cuts = np.flatnonzero(np.diff(values)) + 1
            cuts = cuts[(cuts >= k) & (len(part) - cuts >= k)]
            if len(cuts):
                below = X[part, j] < values[cuts[np.argmin(np.abs(2 * cuts - len(part)))]]
                waiting += [part[~below], part[below]]
                break
        else:
            labels[part] = region
            region += 1
    return labels


def plain_local_recoding(codes: np.ndarray, k: int, trees: list[np.ndarray], costs: list[np.ndarray]) -> float:
    """The cheapest union of two classes, one of them too small, again and again; returns the GLM in percent."""

    def union(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        levels, lost = np.empty((len(b), codes.shape[1]), dtype=int), np.zeros(len(b))
        for j, tree in enumerate(trees):
            same = tree[:, [a[0, j]]] == tree[:, b[:, 0, j]]
            levels[:, j] = np.maximum(np.argmax(same, axis=0), np.maximum(a[1, j], b[:, 1, j]))
            lost += costs[j][levels[:, j], a[0, j]]
        return levels, lost

    rows, counts = np.unique(codes, axis=0, return_counts=True)
    classes = np.stack([rows, np.zeros_like(rows)], axis=1)
    loss = np.zeros(len(rows))
    while (counts < k).any() and len(counts) > 1:
        a = int(np.argmin(counts))
        levels, lost = union(classes[a], classes)
        more = (counts + counts[a]) * lost - counts * loss - counts[a] * loss[a]
        more[a] = np.inf
        b = int(np.argmin(more))
        classes[b, 1], loss[b] = levels[b], lost[b]
        counts[b] += counts[a]
        classes, counts, loss = (np.delete(array, a, axis=0) for array in (classes, counts, loss))
    return 100 * float(counts @ loss) / codes.size


def plain() -> None:
    """Print ratios to plain twins."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=20_000)
    fast = cpu(lambda: rank_swap(x, window=200, rng=np.random.default_rng(1)))
    slow = cpu(lambda: plain_rank_swap(x, 200, np.random.default_rng(1)), times=1)
    print(f"rank_swap, 20,000 values, window 200: {fast:.4f} s; plain {slow / fast:.0f} times as long")
    X = rng.integers(0, 100, size=(100_000, 5)).astype(float)
    fast, slow = cpu(lambda: mondrian(X, 10)), cpu(lambda: plain_mondrian(X, 10), times=1)
    same = len(np.unique(mondrian(X, 10).labels)) == len(np.unique(plain_mondrian(X, 10)))
    print(
        f"mondrian, 100,000 × 5, k = 10: {fast:.3f} s; plain {slow / fast:.1f} times as long; as many regions: {same}"
    )
    people = load("people")
    names = people.data.quasi_identifiers
    codes = people.data.codes(names)
    chosen = [people.hierarchies[name] for name in names]
    trees = [h.table(people.data.categories(name)) for name, h in zip(names, chosen, strict=True)]
    leaves = [[h.leaves(level) for level in range(h.n_levels)] for h in chosen]
    costs = [
        np.array([(under[level][row] - 1) / (under[0].sum() - 1) for level, row in enumerate(tree)])
        for tree, under in zip(trees, leaves, strict=True)
    ]
    found = local_recoding(codes, 5, hierarchies=trees, leaves=leaves)
    fast = cpu(lambda: local_recoding(codes, 5, hierarchies=trees, leaves=leaves))
    start = time.process_time()
    loss = plain_local_recoding(codes, 5, trees, costs)
    slow = time.process_time() - start
    print(
        f"local_recoding, people, 5,000 × {len(names)}, k = 5: {fast:.2f} s, {found.glm_percent:.2f} % lost; plain"
        f" agglomeration of the smallest {slow / fast:.1f} times as long, {loss:.2f} %"
    )


def stars() -> None:
    """Print the stars of local suppression beside sdcMicro's."""
    data = load("german_credit").data
    for p in (5, 3):
        codes = data.codes(COLUMNS[:p])
        for k, theirs in SDCMICRO[p].items():
            wild, own = ((suppress_cells(codes, k, reading=how) < 0).sum() for how in ("wildcard", "own"))
            print(f"{p} columns, k = {k}: wildcard {wild} (sdcMicro {theirs}), a star as a value of its own {own}")


def loss() -> None:
    """Print what Adult loses by one level for a column and by levels of each class."""
    adult = load("adult")
    data = adult.data.with_roles(quasi_identifiers=ADULT)
    trees = [adult.hierarchies[name].table(data.categories(name)) for name in ADULT]
    leaves = [[adult.hierarchies[n].leaves(level) for level in range(adult.hierarchies[n].n_levels)] for n in ADULT]
    for k in (2, 5, 10, 50):
        problem = PBGProblem(
            data, adult.hierarchies, columns=ADULT, objectives=["glm_percent"], require={"k": k}, max_suppression=0.01
        )
        lattice = problem.natural(problem.enumerate_front().F).min()
        found = local_recoding(data.codes(ADULT), k, hierarchies=trees, leaves=leaves)
        print(
            f"k = {k}: {found.glm_percent:.2f} % by class, none suppressed; {lattice:.2f} % by column, 1 % suppressed"
        )


def growth() -> None:
    """Print CPU seconds for 10^4, 10^5 and 10^6 records."""
    table = load("people")
    names = table.data.quasi_identifiers[:5]
    chosen = [table.hierarchies[name] for name in names]
    trees = [h.table(table.data.categories(name)) for name, h in zip(names, chosen, strict=True)]
    leaves = [[h.leaves(level) for level in range(h.n_levels)] for h in chosen]
    for n in SIZES:
        rng = np.random.default_rng(1)
        X = rng.normal(size=(n, 5)).round(3)
        codes = Microdata.codes(table.data, names)[rng.integers(0, len(table.data), n)]
        codes[:, 0] = rng.integers(0, trees[0].shape[1], n)
        works = {
            "rank_swap": lambda X=X: rank_swap(X, percent=5, rng=np.random.default_rng(1)),
            "mondrian": lambda X=X: mondrian(X, 10),
            "top_code": lambda X=X: top_code(X, percent=95),
            "add_noise": lambda X=X: add_noise(X, amplitude=0.2, structure="correlated", rng=np.random.default_rng(1)),
            "swap_records": lambda c=codes: swap_records(c, [0], within=[1], percent=10, rng=np.random.default_rng(1)),
            "local_recoding": lambda c=codes: local_recoding(c, 5, hierarchies=trees, leaves=leaves),
            "suppress_cells": lambda c=codes: suppress_cells(c, 5),
        }
        times = [f"{name} {cpu(work, times=1):.2f}" for name, work in works.items()]
        print(f"{n:>9,} × 5: {', '.join(times)} s")


if __name__ == "__main__":
    parts = {"plain": plain, "stars": stars, "loss": loss, "growth": growth}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=parts, default=list(parts), metavar="part")
    for part in parser.parse_args().parts:
        parts[part]()

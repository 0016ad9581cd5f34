"""How good can a 3-partition be at all? A lower bound on its error, beside what the search has found.

    SDC_DATA_HOME=… python benchmarks/bound_partition.py [census|tarragona|eia] [--seconds 1800] [--rounds 30]

Every partition into groups of 3 to 5 records picks groups so that each record is in exactly one. The linear relaxation
of that choice is solved by column generation: prices for the records, then every group that is cheaper than its
records' prices joins, until there is none. The pricing is exhaustive over all groups of the file, not over neighbours
only: adding a record never makes a group's error smaller, so nearly all groups are excluded after two or three
records. The bound rises by cuts: of the groups in a partition, those with d or more records in a set S can take at
most |S| // d times d records from it (subset-row inequalities, after Jepsen et al. 2008).

What it prints after each round is a bound for all partitions with groups of at least three records, however found: a
larger group could be cut without losing more. The price of the last digit: a group may undercut its prices by 1e-7.
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from pymoo.optimize import minimize
from scipy.optimize import linprog
from scipy.sparse import csc_matrix

from sdc_problems import MicroaggregationProblem, load
from sdc_problems.algorithms import MemeticMicroaggregation
from sdc_problems.evaluators.information_loss import sse
from sdc_problems.kernel import kernel

K, MOST = 3, 5
TOLERANCE = 1e-7
PER_RECORD = 8  # cheapest groups that a record may add in one pricing
LARGEST_POOL, KEPT = 60_000, 35_000
CUTS_PER_ROUND = 400

Group = tuple[int, ...]
Cut = tuple[Group, int]


@kernel()
def _penalty(
    G: NDArray[np.int64], m: int, cuts_of: NDArray[np.int64], d: NDArray[np.int64], price: NDArray[np.float64]
) -> float:
    """What a group of m records pays for the cuts it is part of: the cut's price for every d records in its set."""
    total = 0.0
    for t in range(m):
        for q in range(cuts_of.shape[1]):
            cut = cuts_of[G[t], q]
            if cut < 0:
                break
            inside, first = 1, True
            for u in range(m):
                if u != t:
                    for v in range(cuts_of.shape[1]):
                        if cuts_of[G[u], v] == cut:
                            inside += 1
                            first = first and u > t
                            break
            if first:
                total += price[cut] * (inside // d[cut])
    return total


@kernel()
def _extend(
    Z: NDArray[np.float64],
    candidates: NDArray[np.int64],
    prices: NDArray[np.float64],
    cuts_of: NDArray[np.int64],
    d: NDArray[np.int64],
    cut_price: NDArray[np.float64],
    found: NDArray[np.int64],
    value: NDArray[np.float64],
) -> int:
    """Cheapest groups among the candidates that hold the first one, which has the highest price; depth first.

    ``found`` and ``value`` receive the groups and their reduced costs; returns how many there were, dropped ones too.
    """
    m, keep = len(candidates), len(value)
    chosen = np.zeros(MOST, dtype=np.int64)  # positions among the candidates
    G = np.full(MOST, -1, dtype=np.int64)
    pairs = np.zeros(MOST + 1)  # sum of squared distances of the pairs, by depth
    paid = np.zeros(MOST + 1)
    G[0] = candidates[0]
    paid[1] = prices[G[0]]
    depth, count, worst, limit = 1, 0, 0, -TOLERANCE
    chosen[1] = 0
    while depth > 0:
        if chosen[depth] + 1 >= m:
            depth -= 1
            continue
        chosen[depth] += 1
        i = candidates[chosen[depth]]
        apart = pairs[depth]
        for t in range(depth):
            for j in range(Z.shape[1]):
                away = Z[G[t], j] - Z[i, j]
                apart += away * away
        size = depth + 1
        reduced = apart / size - paid[depth] - prices[i]
        # Candidates come by falling price: what is still to join costs nothing at best and pays no more than this one.
        if reduced - (MOST - size) * max(prices[i], 0.0) >= limit:
            continue
        G[depth] = i
        if size >= K and reduced < limit:
            reduced += _penalty(G, size, cuts_of, d, cut_price)
            if reduced < limit:
                count += 1
                at = count - 1 if count <= keep else worst
                value[at] = reduced
                found[at, :size] = G[:size]
                found[at, size:] = -1
                if count >= keep:
                    worst = int(np.argmax(value))
                    limit = value[worst]
        if size < MOST:
            pairs[size] = apart
            paid[size] = paid[depth] + prices[i]
            chosen[size] = chosen[depth]
            depth = size
    return count


@kernel()
def cheap_groups(
    Z: NDArray[np.float64],
    order: NDArray[np.int64],
    prices: NDArray[np.float64],
    cuts_of: NDArray[np.int64],
    d: NDArray[np.int64],
    cut_price: NDArray[np.float64],
) -> tuple[NDArray[np.int64], int]:
    """Groups that cost less than their records pay, the cheapest by dearest record; and how many there are."""
    n = len(Z)
    out = np.full((n * PER_RECORD, MOST), -1, dtype=np.int64)
    rows, total = 0, 0
    candidates = np.empty(n, dtype=np.int64)
    for r in range(n):
        first = order[r]
        candidates[0] = first
        m = 1
        for s in range(r + 1, n):
            i = order[s]
            apart = 0.0
            for j in range(Z.shape[1]):
                away = Z[first, j] - Z[i, j]
                apart += away * away
            # The error of a group is at least that of any two of its records, and no other one pays more than first.
            if 0.5 * apart - prices[i] - (MOST - 1) * max(prices[first], 0.0) < -TOLERANCE:
                candidates[m] = i
                m += 1
        found = np.full((PER_RECORD, MOST), -1, dtype=np.int64)
        value = np.zeros(PER_RECORD)
        count = _extend(Z, candidates[:m], prices, cuts_of, d, cut_price, found, value)
        for t in range(min(count, PER_RECORD)):
            out[rows] = found[t]
            rows += 1
        total += count
    return out[:rows], total


class Relaxation:
    """The choice of groups without the demand that they be whole, and what was added to it so far."""

    def __init__(self, Z: NDArray[np.float64], labels: NDArray[np.int64]) -> None:
        self.Z = Z
        self.pool: dict[Group, float] = {}
        self.cuts: list[Cut] = []
        for g in np.unique(labels):
            self.add(np.flatnonzero(labels == g))

    def add(self, members: NDArray[np.int64]) -> None:
        points = self.Z[members]
        self.pool[tuple(sorted(members.tolist()))] = float(((points - points.mean(axis=0)) ** 2).sum())

    def solve(self) -> float:
        """Solve for the groups there are; sets the shares, and the prices of records and cuts."""
        n = len(self.Z)
        self.groups = list(self.pool)
        cost = np.array([self.pool[group] for group in self.groups])
        starts = np.cumsum([0, *map(len, self.groups)])
        A = csc_matrix((np.ones(starts[-1]), np.concatenate(self.groups), starts), shape=(n, len(self.groups)))
        B, room = None, None
        if self.cuts:
            rows = np.repeat(np.arange(len(self.cuts)), [len(S) for S, _ in self.cuts])
            inside = csc_matrix(
                (np.ones(len(rows)), (rows, np.concatenate([S for S, _ in self.cuts]))), (len(self.cuts), n)
            )
            hits = (inside @ A).tocoo()
            hits.data = np.floor(hits.data / np.array([d for _, d in self.cuts])[hits.row])
            B, room = hits.tocsc(), np.array([len(S) // d for S, d in self.cuts], dtype=float)
        solved = linprog(cost, A_eq=A, b_eq=np.ones(n), A_ub=B, b_ub=room, method="highs-ipm")
        if solved.status != 0:
            raise RuntimeError(solved.message)
        self.shares = solved.x
        self.prices = np.asarray(solved.eqlin.marginals)
        self.cut_prices = -np.asarray(solved.ineqlin.marginals) if self.cuts else np.zeros(0)
        reduced = cost - A.T @ self.prices + (B.T @ self.cut_prices if B is not None else 0.0)
        if len(self.pool) > LARGEST_POOL:
            self.pool = {self.groups[j]: cost[j] for j in np.argsort(reduced, kind="stable")[:KEPT]}
        return float(solved.fun)

    def price(self) -> int:
        """Add groups that undercut their prices; returns how many there are in the whole file."""
        lists: list[list[int]] = [[] for _ in self.Z]
        for q, (S, _) in enumerate(self.cuts):
            if self.cut_prices[q] > 0.0:
                for i in S:
                    lists[i].append(q)
        cuts_of = np.full((len(self.Z), max(1, *map(len, lists))), -1)
        for i, mine in enumerate(lists):
            cuts_of[i, : len(mine)] = mine
        d = np.array([d for _, d in self.cuts] or [K])
        order = np.argsort(-self.prices, kind="stable")
        cheap, total = cheap_groups(self.Z, order, self.prices, cuts_of, d, self.cut_prices)
        for row in cheap:
            self.add(row[row >= 0])
        return int(total)

    def separate(self) -> int:
        """Add the most violated cuts, drop those without effect; returns how many were found."""
        self.cuts = [cut for cut, price in zip(self.cuts, self.cut_prices, strict=True) if price > 1e-9]
        partly = [
            (frozenset(group), share)
            for group, share in zip(self.groups, self.shares, strict=True)
            if 1e-6 < share < 1 - 1e-6
        ]
        holding: dict[int, list[int]] = {}
        for q, (group, _) in enumerate(partly):
            for i in group:
                holding.setdefault(i, []).append(q)
        known, found = set(self.cuts), {}
        for group, _ in partly:
            for d, starts in ((2, [frozenset(pair) for pair in combinations(group, 2)]), (3, [group]), (4, [group])):
                for start in starts:
                    for cut, excess in _grown(set(start), d, partly, holding):
                        if cut not in known:
                            found[cut] = excess
        used: dict[int, int] = {}
        added = 0
        for cut in sorted(found, key=lambda cut: (-found[cut], cut)):
            if added < CUTS_PER_ROUND and sum(used.get(i, 0) for i in cut[0]) <= 6 * len(cut[0]):
                for i in cut[0]:
                    used[i] = used.get(i, 0) + 1
                self.cuts.append(cut)
                added += 1
        return added


def _grown(
    S: set[int], d: int, partly: list[tuple[frozenset[int], float]], holding: dict[int, list[int]]
) -> list[tuple[Cut, float]]:
    """Let a set grow, record by record, by what is shared most; returns the violated cuts on the way."""
    violated = []
    while len(S) <= (13 if d == 3 else 9):
        touching = sorted({q for i in S for q in holding.get(i, ())})
        taken, gain = 0.0, {}
        for q in touching:
            group, share = partly[q]
            inside = len(group & S)
            taken += share * (inside // d)
            for i in group - S:
                step = share if (inside + 1) % d == 0 else 0.15 * share * (inside % d + 1) / d
                gain[i] = gain.get(i, 0.0) + step
        if taken > len(S) // d + 2e-3:
            violated.append(((tuple(sorted(S)), d), taken - len(S) // d))
        if not gain:
            break
        S.add(max(gain, key=lambda i: (gain[i], -i)))
    return violated


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", default="eia", choices=("census", "tarragona", "eia"))
    parser.add_argument("--seconds", type=float, default=1800.0)
    parser.add_argument("--rounds", type=int, default=30)
    given = parser.parse_args()
    problem = MicroaggregationProblem(load(given.file).data, K)
    Z = problem.engine.V
    percent = 100.0 / problem.engine.sst
    labels = minimize(problem, MemeticMicroaggregation(move_limit=400_000_000, workers=2), seed=1).X
    best = sse(Z, labels)
    print(f"{given.file}, k = {K}: the search found {best * percent:.5f}", flush=True)
    relaxed, began = Relaxation(Z, np.asarray(labels)), time.perf_counter()
    for round_number in range(given.rounds):
        while True:
            bound = relaxed.solve()
            cheap = relaxed.price()
            if cheap == 0 or time.perf_counter() - began > given.seconds:
                break
        if cheap:
            print("out of time before all groups were priced: no further bound")
            break
        print(
            f"{time.perf_counter() - began:7.1f} s, round {round_number}: no partition below {bound * percent:.5f}"
            f" ({100 * (best - bound) / best:.2f} % under the search); {len(relaxed.pool):,} groups,"
            f" {len(relaxed.cuts):,} cuts",
            flush=True,
        )
        if best - bound < 1e-6 * best or relaxed.separate() == 0:
            break


if __name__ == "__main__":
    main()

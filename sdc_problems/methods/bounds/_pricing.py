"""Pricing kernels of column generation: groups with negative reduced cost.

The cost of a group is its sum of squares. Its records pay their prices, and for every d records in the set of a cut, it
pays the price of the cut. The reduced cost is the cost minus what is paid.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel

PER_RECORD = 8  # cheapest groups kept for each record that is the most expensive of its group


@kernel()
def _apart(Z: NDArray[np.float64], a: int, b: int) -> float:
    total = 0.0
    for j in range(Z.shape[1]):
        away = Z[a, j] - Z[b, j]
        total += away * away
    return total


@kernel()
def _joins(
    i: int,
    change: int,
    inside: NDArray[np.int64],
    cuts_of: NDArray[np.int64],
    d: NDArray[np.int64],
    cut_price: NDArray[np.float64],
) -> float:
    """Add record i to (+1) or remove it from (−1) the counts of its cuts; returns the change in what the group pays."""
    more = 0.0
    for q in range(cuts_of.shape[1]):
        cut = cuts_of[i, q]
        if cut < 0:
            break
        before = inside[cut] // d[cut]
        inside[cut] += change
        more += cut_price[cut] * (inside[cut] // d[cut] - before)
    return more


@kernel()
def _survivors(
    ids: NDArray[np.int64],
    reach: NDArray[np.float64],
    count: int,
    size: int,
    k: int,
    pairs: float,
    paid: float,
    limit: float,
    prices: NDArray[np.float64],
    half: NDArray[np.float64],
    score: NDArray[np.float64],
    alive: NDArray[np.bool_],
) -> int:
    """Keep the records that can still complete ``size`` chosen records to a cheap group; best first.

    A group of m records costs the sum of the squared distances of its pairs, divided by m. The distances among the
    chosen records and from them to each candidate are known. Those among the records still to join are bounded below by
    their nearest distances.
    """
    most = 2 * k - 1
    for t in range(count):
        alive[t] = False
    best = np.empty(most)
    for m in range(max(k, size + 1), most + 1):
        r = m - size
        if r > count:
            break
        filled = 0
        for t in range(count):
            i = ids[t]
            score[t] = (reach[t] + half[i, r - 1]) / m - prices[i]
            if filled < r or score[t] < best[filled - 1]:
                at = min(filled, r - 1)
                while at > 0 and score[t] < best[at - 1]:
                    best[at] = best[at - 1]
                    at -= 1
                best[at] = score[t]
                filled = min(filled + 1, r)
        bound = pairs / m - paid
        for q in range(r):
            bound += best[q]
        if bound >= limit:
            continue
        for t in range(count):
            if bound + max(0.0, score[t] - best[r - 1]) < limit:
                alive[t] = True
    kept = 0
    m = max(k, size + 1)
    for t in range(count):
        if alive[t]:
            ids[kept], reach[kept] = ids[t], reach[t]
            score[kept] = reach[t] / m - prices[ids[t]]
            kept += 1
    order = np.argsort(score[:kept])
    ids[:kept] = ids[:kept][order]
    reach[:kept] = reach[:kept][order]
    return kept


@kernel()
def cheap_groups(
    Z: NDArray[np.float64],
    k: int,
    half: NDArray[np.float64],
    prices: NDArray[np.float64],
    cuts_of: NDArray[np.int64],
    d: NDArray[np.int64],
    cut_price: NDArray[np.float64],
    tolerance: float,
    steps: int,
) -> tuple[NDArray[np.int64], float, int]:
    """Search all groups of k to 2k − 1 records for reduced costs below −tolerance; keep the cheapest.

    Groups are kept by their most expensive record.

    Returns
    -------
    groups, undercut, left
        The groups, padded with −1 to 2k − 1 records; an upper bound on the total by which the groups of a partition can
        undercut, beyond the tolerance of each (a record is the most expensive of only one group); and the remaining
        ``steps``, 0 if the search was given up.
    """
    n = len(Z)
    most = 2 * k - 1
    out = np.full((n * PER_RECORD, most), -1, dtype=np.int64)
    rows, undercut = 0, 0.0
    order = np.argsort(-prices)
    ids = np.empty((most + 1, n), dtype=np.int64)
    reach = np.empty((most + 1, n))
    count = np.zeros(most + 1, dtype=np.int64)
    at = np.zeros(most + 1, dtype=np.int64)
    pairs = np.zeros(most + 1)
    paid = np.zeros(most + 1)
    score = np.empty(n)
    alive = np.empty(n, dtype=np.bool_)
    inside = np.zeros(max(1, len(d)), dtype=np.int64)
    G = np.empty(most, dtype=np.int64)
    found = np.empty((PER_RECORD, most), dtype=np.int64)
    value = np.empty(PER_RECORD)
    for rank in range(n):
        root = order[rank]
        limit, kept, worst = -tolerance, 0, 0
        G[0] = root
        paid[1] = prices[root] - _joins(root, 1, inside, cuts_of, d, cut_price)
        count[1] = n - 1 - rank
        for s in range(rank + 1, n):
            ids[1, s - rank - 1] = order[s]
            reach[1, s - rank - 1] = _apart(Z, root, order[s])
        at[1] = 0
        count[1] = _survivors(ids[1], reach[1], count[1], 1, k, 0.0, paid[1], limit, prices, half, score, alive)
        depth = 1
        while depth > 0:
            if at[depth] >= count[depth]:
                _joins(G[depth - 1], -1, inside, cuts_of, d, cut_price)
                depth -= 1
                continue
            steps -= 1
            if steps <= 0:
                return out[:rows], undercut, 0
            q = at[depth]
            at[depth] += 1
            i = ids[depth, q]
            size = depth + 1
            apart = pairs[depth] + reach[depth, q]
            pay = paid[depth] + prices[i] - _joins(i, 1, inside, cuts_of, d, cut_price)
            G[depth] = i
            if size >= k and apart / size - pay < limit:
                where = kept if kept < PER_RECORD else worst
                found[where, :size] = G[:size]
                found[where, size:] = -1
                value[where] = apart / size - pay
                kept = min(kept + 1, PER_RECORD)
                if kept == PER_RECORD:
                    worst = int(np.argmax(value))
                    limit = value[worst]
            rest = count[depth] - q - 1
            if size < most and size + rest >= k:
                for t in range(rest):
                    ids[size, t] = ids[depth, q + 1 + t]
                    reach[size, t] = reach[depth, q + 1 + t] + _apart(Z, i, ids[size, t])
                count[size] = _survivors(
                    ids[size], reach[size], rest, size, k, apart, pay, limit, prices, half, score, alive
                )
                if count[size]:
                    at[size], pairs[size], paid[size] = 0, apart, pay
                    depth = size
                    continue
            _joins(i, -1, inside, cuts_of, d, cut_price)
        if kept:
            undercut -= value[:kept].min()
        for t in range(kept):
            out[rows] = found[t]
            rows += 1
    return out[:rows], undercut, steps


@kernel()
def _search(
    Z: NDArray[np.float64],
    C: NDArray[np.int64],
    k: int,
    prices: NDArray[np.float64],
    inside: NDArray[np.int64],
    cuts_of: NDArray[np.int64],
    d: NDArray[np.int64],
    cut_price: NDArray[np.float64],
    G: NDArray[np.int64],
) -> tuple[int, float]:
    """Build a group around the first candidate, improve it record by record, write it; return its size and value."""
    m, p = len(C), Z.shape[1]
    chosen = np.zeros(m, dtype=np.bool_)
    total = np.zeros(p)
    chosen[0], size = True, 1
    total[:] = Z[C[0]]
    value = _joins(C[0], 1, inside, cuts_of, d, cut_price) - prices[C[0]]
    while True:
        gain, out, into = -1e-9, -1, -1
        if size < k:
            gain = np.inf
        # a = m stands for no record, so that a record can join without another leaving, or leave.
        for a in range(m + 1):
            if a < m and (not chosen[a] or size < k or a == 0):
                continue
            left, less = size, 0.0
            if a < m:
                left -= 1
                less = _joins(C[a], -1, inside, cuts_of, d, cut_price) + prices[C[a]]
                away = 0.0
                for j in range(p):
                    away += (Z[C[a], j] - total[j] / size) ** 2
                    total[j] -= Z[C[a], j]
                less -= away * size / left
                if left >= k and less < gain:
                    gain, out, into = less, a, m
            if left < 2 * k - 1:
                for b in range(1, m):
                    if chosen[b]:
                        continue
                    more = less - prices[C[b]]
                    away = 0.0
                    for j in range(p):
                        away += (Z[C[b], j] - total[j] / left) ** 2
                    more += away * left / (left + 1.0)
                    if more < gain and cuts_of[C[b], 0] >= 0:
                        more += _joins(C[b], 1, inside, cuts_of, d, cut_price)
                        _joins(C[b], -1, inside, cuts_of, d, cut_price)
                    if more < gain:
                        gain, out, into = more, a, b
            if a < m:
                _joins(C[a], 1, inside, cuts_of, d, cut_price)
                for j in range(p):
                    total[j] += Z[C[a], j]
        if into < 0:
            break
        value += gain
        if out < m:
            chosen[out] = False
            size -= 1
            total -= Z[C[out]]
            _joins(C[out], -1, inside, cuts_of, d, cut_price)
        if into < m:
            chosen[into] = True
            size += 1
            total += Z[C[into]]
            _joins(C[into], 1, inside, cuts_of, d, cut_price)
    at = 0
    for a in range(m):
        if chosen[a]:
            G[at] = C[a]
            at += 1
            _joins(C[a], -1, inside, cuts_of, d, cut_price)
    return size, value


@kernel()
def searched_groups(
    Z: NDArray[np.float64],
    k: int,
    near: NDArray[np.int64],
    prices: NDArray[np.float64],
    cuts_of: NDArray[np.int64],
    d: NDArray[np.int64],
    cut_price: NDArray[np.float64],
    tolerance: float,
) -> NDArray[np.int64]:
    """Groups with reduced cost below −tolerance found by a local search around each record: fast, but not all."""
    n = len(Z)
    out = np.full((n, 2 * k - 1), -1, dtype=np.int64)
    inside = np.zeros(max(1, len(d)), dtype=np.int64)
    rows = 0
    for i in range(n):
        out[rows] = -1
        size, value = _search(Z, near[i], k, prices, inside, cuts_of, d, cut_price, out[rows])
        if value < -tolerance and size >= k:
            rows += 1
        else:
            out[rows] = -1
    return out[:rows]

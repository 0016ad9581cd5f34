"""Kernels for numeric files that change cell by cell: statistics, ranks and links are updated with each move.

Cells are whole units (10^-decimals of their column) relative to the rounded mean of the original. Sums of whole units
are whole numbers, exact in doubles up to 2^53. Up to there, undoing a move restores them to the bit; beyond, the engine
restores copies. ``f`` is what never changes (`Fixed`), ``s`` is one file (`File`). Kernels take the arrays that they
need out of these tuples once, before their loops, because each access counts a reference.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sdc_problems._kernel import kernel
from sdc_problems._kernel.loops import put
from sdc_problems.evaluators.attacks import is_copy
from sdc_problems.methods._kernels.random import below, uniform

MEANS, VARIANCES, COVARIANCES, CORRELATIONS, QUANTILE, LINKS = range(6)  # entries of File.total
INTERVAL, COPIED = range(2)  # entries of File.count
_ROOT_HALF = math.sqrt(0.5)
_STEPS = 64
_SAME = 1e-12  # relative change that is only rounding, as in information_loss


class Fixed(NamedTuple):
    """Original file and what is computed from it once."""

    X: Any  # n × p values
    center: Any  # p whole units, subtracted from every cell
    scale: Any  # p: units per 1
    mean: Any
    covariance: Any
    correlation: Any
    quantile: Any  # 19 × p
    mean_sd: Any  # sampling deviations
    variance_sd: Any
    covariance_sd: Any
    correlation_sd: Any
    quantile_sd: Any
    position: Any  # 19 positions in a sorted column; `between` is the share of the way to the next one
    between: Any
    weight: Any  # p reciprocal standard deviations
    apart: Any  # n squared distances to the nearest other original
    rank: Any  # n × p doubled mid-ranks
    disclosed: Any  # by doubled gap between ranks: number of intervals that contain the cell


class File(NamedTuple):
    """Protected file: its cells in units and in values, its sorted columns, and running measures."""

    U: Any  # n × p
    V: Any  # n × p
    ordered: Any  # p × n units, sorted
    record: Any  # p × n: whose cell it is
    place: Any  # n × p: where it is in the sorted column
    own_rank: Any  # p × n: doubled rank of that record in the original
    new_rank: Any  # p × n: doubled mid-rank
    S1: Any  # p sums
    S2: Any  # p × p sums of products
    spread: Any  # p standard deviations
    loss_mean: Any
    loss_variance: Any
    loss_covariance: Any
    loss_correlation: Any
    loss_quantile: Any  # p × 19
    tie: Any  # n: originals as near as the record's own, 0 if one is nearer
    witness: Any  # n: an original that was nearer than the record's own at the last search, or -1
    copied: Any  # n
    total: Any
    count: Any


def _erf_table() -> tuple[Any, Any]:
    grid = np.arange(6 * _STEPS + 2) / _STEPS
    return np.array([math.erf(x) for x in grid]), 2.0 / math.sqrt(math.pi) * np.exp(-grid * grid)


_ERF, _SLOPE = _erf_table()


@kernel()
def erf(x: float) -> float:
    """Error function of x ≥ 0 to 2e-14: a Taylor series around the nearest of 64 points per unit."""
    if x >= 6.0:
        return 1.0
    at = int(x * _STEPS + 0.5)
    z = at / _STEPS
    d = x - z
    zz = z * z
    third = (4.0 * zz - 2.0) / 6.0
    fourth = (12.0 - 8.0 * zz) * z / 24.0
    fifth = ((16.0 * zz - 48.0) * zz + 12.0) / 120.0
    return float(_ERF[at] + _SLOPE[at] * d * (1.0 + d * (d * (third + d * (fourth + d * fifth)) - z)))


@kernel()
def _loss(before: float, after: float, deviation: float, smooth: bool) -> float:
    """Loss of one statistic, in [0, 1]; with ``smooth``, a variant that does not flatten out for large changes."""
    change = abs(after - before)
    if change <= _SAME * max(abs(before), abs(after)):
        return 0.0
    if deviation == 0.0:
        return 1.0
    r = change / deviation
    if smooth:
        return 0.5 * erf(r * _ROOT_HALF) + 0.1 * math.log1p(r)
    return erf(r * _ROOT_HALF)


@kernel()
def _constant(s: Any, j: int) -> bool:
    return bool(s.ordered[j, 0] == s.ordered[j, -1])


@kernel()
def _restate_column(f: Any, s: Any, j: int, smooth: bool) -> None:
    """Update mean, variance and standard deviation of column j."""
    n = len(s.U)
    scale = f.scale[j]
    mean = (f.center[j] + s.S1[j] / n) / scale
    largest = max(abs(f.center[j] + s.ordered[j, 0]), abs(f.center[j] + s.ordered[j, -1])) / scale
    if abs(mean) <= _SAME * largest:
        mean = 0.0
    variance = 0.0
    if not _constant(s, j):
        variance = max((s.S2[j, j] - s.S1[j] * s.S1[j] / n) / n, 0.0) / (scale * scale)
    s.spread[j] = math.sqrt(variance)
    lost = _loss(f.mean[j], mean, f.mean_sd[j], smooth)
    s.total[MEANS] += lost - s.loss_mean[j]
    s.loss_mean[j] = lost
    lost = _loss(f.covariance[j, j], variance, f.variance_sd[j], smooth)
    s.total[VARIANCES] += lost - s.loss_variance[j]
    s.loss_variance[j] = lost


@kernel()
def _covariance(products: float, sums: float, units: float, sizes: float) -> float:
    """Covariance in the units of the data; 0 where it is only rounding."""
    covariance = (products - sums) / units
    if sizes == 0.0 or abs(covariance) <= _SAME * sizes:
        return 0.0
    return covariance


@kernel()
def _correlation(covariance: float, sizes: float) -> float:
    if sizes == 0.0:
        return 0.0
    return min(max(covariance / sizes, -1.0), 1.0)


@kernel()
def restate_pairs(f: Any, s: Any, j: int, smooth: bool) -> None:
    """Update covariances and correlations of column j with every other."""
    n, p = s.U.shape
    S1, S2, spread, scale = s.S1, s.S2, s.spread, f.scale
    covariances, correlations, of_covariance, of_correlation = (
        f.covariance, f.correlation, f.covariance_sd, f.correlation_sd,
    )  # fmt: skip
    loss_covariance, loss_correlation, total = s.loss_covariance, s.loss_correlation, s.total
    for l in range(p):
        if l == j:
            continue
        a, b = min(j, l), max(j, l)
        sizes = spread[j] * spread[l]
        covariance = _covariance(S2[a, b], S1[j] * S1[l] / n, n * scale[j] * scale[l], sizes)
        lost = _loss(covariances[a, b], covariance, of_covariance[a, b], smooth)
        total[COVARIANCES] += lost - loss_covariance[a, b]
        loss_covariance[a, b] = lost
        lost = _loss(correlations[a, b], _correlation(covariance, sizes), of_correlation[a, b], smooth)
        total[CORRELATIONS] += lost - loss_correlation[a, b]
        loss_correlation[a, b] = lost


@kernel()
def _restate_quantiles(f: Any, s: Any, j: int, first: int, last: int, smooth: bool) -> None:
    """Update the quantiles of column j at sorted positions first … last."""
    n = len(s.U)
    position, between, before, deviation = f.position, f.between, f.quantile, f.quantile_sd
    ordered, lost_before, total = s.ordered[j], s.loss_quantile[j], s.total
    center, scale = f.center[j], f.scale[j]
    for m in range(len(position)):
        at = position[m]
        after = min(at + 1, n - 1)
        if after < first or at > last:
            continue
        low, high = ordered[at], ordered[after]
        value = (center + low + (high - low) * between[m]) / scale
        lost = _loss(before[m, j], value, deviation[m, j], smooth)
        total[QUANTILE] += lost - lost_before[m]
        lost_before[m] = lost


@kernel()
def restate(f: Any, s: Any, smooth: bool) -> None:
    """Recompute sums, losses and their totals from the cells."""
    n, p = s.U.shape
    U, S1, S2 = s.U, s.S1, s.S2
    s.total[: QUANTILE + 1] = 0.0
    s.loss_mean[:] = 0.0
    s.loss_variance[:] = 0.0
    s.loss_covariance[:] = 0.0
    s.loss_correlation[:] = 0.0
    s.loss_quantile[:] = 0.0
    S1[:] = 0.0
    S2[:] = 0.0
    for i in range(n):
        for j in range(p):
            x = np.float64(U[i, j])
            S1[j] += x
            for l in range(j + 1):
                S2[j, l] += x * U[i, l]
    for j in range(p):
        for l in range(j):
            S2[l, j] = S2[j, l]
    for j in range(p):
        _restate_column(f, s, j, smooth)
        _restate_quantiles(f, s, j, 0, n, smooth)
    for j in range(p):
        restate_pairs(f, s, j, smooth)


@kernel()
def _rank_positions(ordered: Any, own_rank: Any, new_rank: Any, disclosed: Any, first: int, last: int) -> int:
    """Update the mid-ranks of a column's sorted positions first … last, which must contain whole groups of ties.

    Returns the change in the number of disclosing intervals.
    """
    more = 0
    start = first
    while start <= last:
        end = start + 1
        while end <= last and ordered[end] == ordered[start]:
            end += 1
        doubled = start + end + 1
        for q in range(start, end):
            own = own_rank[q]
            more += disclosed[abs(own - doubled)] - disclosed[abs(own - new_rank[q])]
            new_rank[q] = doubled
        start = end
    return more


@kernel()
def rank_all(f: Any, s: Any) -> None:
    """Recompute the mid-ranks of every column, and the count of disclosing intervals."""
    n, p = s.U.shape
    s.count[INTERVAL] = 0
    for j in range(p):
        for q in range(n):
            s.place[s.record[j, q], j] = q
            s.own_rank[j, q] = f.rank[s.record[j, q], j]
            s.new_rank[j, q] = s.own_rank[j, q]
            s.count[INTERVAL] += f.disclosed[0]
        s.count[INTERVAL] += _rank_positions(s.ordered[j], s.own_rank[j], s.new_rank[j], f.disclosed, 0, n - 1)


@kernel()
def link_row(f: Any, s: Any, i: int) -> None:
    """Update the link of protected record i: number of originals as near as its own, 0 if one is nearer."""
    X, weight, y, witness = f.X, f.weight, s.V[i], s.witness
    n, p = X.shape
    own = 0.0
    for j in range(p):
        t = (y[j] - X[i, j]) * weight[j]
        own += t * t
    tie = 0
    k = witness[i]
    nearer = False
    if k >= 0:
        d = 0.0
        for j in range(p):
            t = (y[j] - X[k, j]) * weight[j]
            d += t * t
        nearer = d < own
    if not nearer:
        witness[i] = -1
        # Nearer than half the distance to the nearest other original: no other can be nearer, rounding included.
        if own < 0.25 * f.apart[i] * (1.0 - 1e-9):
            tie = 1
        else:
            for k in range(n):
                d = 0.0
                for j in range(p):
                    t = (y[j] - X[k, j]) * weight[j]
                    d += t * t
                    if d > own:
                        break
                if d < own:
                    witness[i] = k
                    tie = 0
                    break
                if d == own:
                    tie += 1
    _set_tie(s.tie, s.total, i, tie)


@kernel()
def _set_tie(ties: Any, total: Any, i: int, tie: int) -> None:
    before = ties[i]
    if tie != before:
        if before > 0:
            total[LINKS] -= 1.0 / before
        if tie > 0:
            total[LINKS] += 1.0 / tie
        ties[i] = tie


@kernel()
def link_all(f: Any, s: Any, changed: Any) -> None:
    """Update the links of the changed records, and the total of all links."""
    for i in range(len(s.V)):
        if changed[i]:
            link_row(f, s, i)
    retotal_links(s)


@kernel()
def retotal_links(s: Any) -> None:
    """Recompute the sum of the links."""
    s.total[LINKS] = 0.0
    for i in range(len(s.tie)):
        if s.tie[i] > 0:
            s.total[LINKS] += 1.0 / s.tie[i]


@kernel()
def copy_row(f: Any, s: Any, i: int) -> None:
    """Update whether protected record i nearly repeats an original."""
    now = 1 if is_copy(s.V, i, f.X, f.weight, f.apart, 0.25) else 0
    s.count[COPIED] += now - s.copied[i]
    s.copied[i] = now


@kernel()
def _bound(ordered: Any, value: int, above: bool) -> int:
    """First position whose value is at least the given one (``above``: greater than it)."""
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < value or (above and ordered[middle] == value):
            low = middle + 1
        else:
            high = middle
    return low


@kernel()
def _place_cell(f: Any, s: Any, i: int, j: int, unit: int) -> Any:
    """Change cell (i, j) to ``unit``, update sums, sorted column and ranks; return the changed sorted positions."""
    U, S2, place = s.U, s.S2, s.place
    column, record, own_rank, new_rank = s.ordered[j], s.record[j], s.own_rank[j], s.new_rank[j]
    p = U.shape[1]
    old = U[i, j]
    change = np.float64(unit - old)
    for l in range(p):
        if l != j:
            S2[j, l] += change * U[i, l]
            S2[l, j] = S2[j, l]
    S2[j, j] += change * (2.0 * old + change)
    s.S1[j] += change
    U[i, j] = unit
    s.V[i, j] = (f.center[j] + unit) / f.scale[j]

    at = place[i, j]
    counted = new_rank[at]  # the rank with which the cell counts until ranks are updated
    if unit > old:
        first = _bound(column, old, False)
        last = _bound(column, unit, True) - 1
        for q in range(at, last):
            column[q] = column[q + 1]
            own_rank[q] = own_rank[q + 1]
            new_rank[q] = new_rank[q + 1]
            k = record[q + 1]
            record[q] = k
            place[k, j] = q
        to = last
    else:
        first = _bound(column, unit, False)
        last = _bound(column, old, True) - 1
        for q in range(at, first, -1):
            column[q] = column[q - 1]
            own_rank[q] = own_rank[q - 1]
            new_rank[q] = new_rank[q - 1]
            k = record[q - 1]
            record[q] = k
            place[k, j] = q
        to = first
    column[to] = unit
    own_rank[to] = f.rank[i, j]
    new_rank[to] = counted
    record[to] = i
    place[i, j] = to
    s.count[INTERVAL] += _rank_positions(column, own_rank, new_rank, f.disclosed, first, last)
    return first, last


@kernel()
def move(f: Any, s: Any, i: int, j: int, unit: int, smooth: bool) -> None:
    """Change cell (i, j) to ``unit`` and update statistics, quantiles and ranks, but not links and copies."""
    if unit == s.U[i, j]:
        return
    first, last = _place_cell(f, s, i, j, unit)
    _restate_column(f, s, j, smooth)
    restate_pairs(f, s, j, smooth)
    _restate_quantiles(f, s, j, first, last, smooth)


@kernel()
def measure_moves(f: Any, s: Any, cells: Any, units: Any, out: Any) -> None:
    """Loss, interval disclosure and linkage after each of many single moves, each starting from the current file."""
    n, p = s.U.shape
    kept = np.empty(2 * p + 2)
    quantiles = np.empty(len(f.position))
    totals, sums, products = np.empty_like(s.total), np.empty_like(s.S1), np.empty_like(s.S2)
    for e in range(len(cells)):
        i, j, unit, old = cells[e, 0], cells[e, 1], units[e], s.U[cells[e, 0], cells[e, 1]]
        tie, witness = s.tie[i], s.witness[i]
        if unit != old:
            put(totals, s.total)
            put(sums, s.S1)
            for l in range(p):
                put(products[l], s.S2[l])
            put(quantiles, s.loss_quantile[j])
            mean, variance, spread = s.loss_mean[j], s.loss_variance[j], s.spread[j]
            _keep_pairs(s.loss_covariance, s.loss_correlation, s.total, j, kept)
            move(f, s, i, j, unit, False)
            link_row(f, s, i)
        out[e, 0] = loss_of(s)
        out[e, 1] = interval_of(f, s)
        out[e, 2] = 100.0 * s.total[LINKS] / n
        if unit != old:
            _place_cell(f, s, i, j, old)
            _put_back_pairs(s.loss_covariance, s.loss_correlation, s.total, j, kept)
            s.loss_mean[j], s.loss_variance[j], s.spread[j] = mean, variance, spread
            put(s.loss_quantile[j], quantiles)
            put(s.S1, sums)
            for l in range(p):
                put(s.S2[l], products[l])
            put(s.total, totals)
            s.tie[i], s.witness[i] = tie, witness


@kernel()
def _swap_disclosed(own_rank: Any, new_rank: Any, disclosed: Any, at: int, to: int) -> int:
    """Change in the number of disclosing intervals if two cells of a column are exchanged."""
    mine, other, low, high = own_rank[at], own_rank[to], new_rank[at], new_rank[to]
    return int(
        disclosed[abs(mine - high)]
        + disclosed[abs(other - low)]
        - disclosed[abs(mine - low)]
        - disclosed[abs(other - high)]
    )


@kernel()
def swap_cells(f: Any, s: Any, i: int, k: int, j: int) -> None:
    """Exchange cells (i, j) and (k, j); update sums and ranks, but not losses. A second call undoes the exchange."""
    U, V, S2, place, record, own_rank = s.U, s.V, s.S2, s.place, s.record[j], s.own_rank[j]
    a, b = U[i, j], U[k, j]
    change = np.float64(b - a)
    for l in range(U.shape[1]):
        if l != j:
            S2[j, l] += change * (U[i, l] - U[k, l])
            S2[l, j] = S2[j, l]
    U[i, j], U[k, j] = b, a
    V[i, j], V[k, j] = V[k, j], V[i, j]
    at, to = place[i, j], place[k, j]
    s.count[INTERVAL] += _swap_disclosed(own_rank, s.new_rank[j], f.disclosed, at, to)
    place[i, j], place[k, j] = to, at
    record[at], record[to] = k, i
    own_rank[at], own_rank[to] = own_rank[to], own_rank[at]


@kernel()
def _keep_pairs(loss_covariance: Any, loss_correlation: Any, total: Any, j: int, kept: Any) -> None:
    p = len(loss_covariance)
    for l in range(p):
        a, b = min(j, l), max(j, l)
        kept[l] = loss_covariance[a, b]
        kept[p + l] = loss_correlation[a, b]
    kept[2 * p] = total[COVARIANCES]
    kept[2 * p + 1] = total[CORRELATIONS]


@kernel()
def _put_back_pairs(loss_covariance: Any, loss_correlation: Any, total: Any, j: int, kept: Any) -> None:
    p = len(loss_covariance)
    for l in range(p):
        a, b = min(j, l), max(j, l)
        loss_covariance[a, b] = kept[l]
        loss_correlation[a, b] = kept[p + l]
    total[COVARIANCES] = kept[2 * p]
    total[CORRELATIONS] = kept[2 * p + 1]


@kernel()
def _mean_loss(total: Any, p: int, n_quantiles: int) -> float:
    of_columns = total[MEANS] / p + total[VARIANCES] / p + total[QUANTILE] / (p * n_quantiles)
    if p == 1:
        return float(100.0 * of_columns / 3.0)
    pairs = 0.5 * p * (p - 1)
    return float(100.0 * (of_columns + (total[COVARIANCES] + total[CORRELATIONS]) / pairs) / 5.0)


@kernel()
def loss_of(s: Any) -> float:
    """Probabilistic information loss in percent (or its smooth version), from the running totals."""
    return float(_mean_loss(s.total, s.U.shape[1], s.loss_quantile.shape[1]))


@kernel()
def interval_of(f: Any, s: Any) -> float:
    """Interval disclosure in percent."""
    return float(100.0 * s.count[INTERVAL] / (f.disclosed[0] * s.U.size))


@kernel()
def _score(total: Any, count: Any, cells: int, n: int, p: int, n_quantiles: int, aim: Any) -> float:
    """Score that a walk minimizes; ``aim`` holds the weights of loss and risk, 1 for the larger of the two, and PRL."""
    risk = 50.0 * count[INTERVAL] / cells + 25.0 * total[LINKS] / n + 0.25 * aim[3]
    loss = _mean_loss(total, p, n_quantiles)
    if aim[2] > 0.0:
        return float(max(aim[0] * loss, aim[1] * risk))
    return float(aim[0] * loss + aim[1] * risk)


@kernel()
def walk(
    f: Any, s: Any, columns: Any, into: Any, sign: Any, aim: Any, most_copies: int, smooth: bool, moves: int,
    temperature: float, state: Any,
) -> int:  # fmt: skip
    """Exchange two values of a column ``moves`` times, keep what does not raise the score, return the number kept.

    Every column keeps its values, except a column that is a sum: ``into[j]`` is the column to which j contributes
    (-1: none), with the factor ``sign[j]``. Copies in excess of ``most_copies`` are reduced first; after that, the
    limit is never exceeded again.
    """
    n, p = s.U.shape
    n_quantiles, cells = s.loss_quantile.shape[1], f.disclosed[0] * s.U.size
    U, S1, S2, spread, scale, total, count = s.U, s.S1, s.S2, s.spread, f.scale, s.total, s.count
    covariances, correlations, of_covariance, of_correlation = (
        f.covariance, f.correlation, f.covariance_sd, f.correlation_sd,
    )  # fmt: skip
    loss_covariance, loss_correlation, disclosed = s.loss_covariance, s.loss_correlation, f.disclosed
    place, own_rank, new_rank = s.place, s.own_rank, s.new_rank
    tie, witness, copied = s.tie, s.witness, s.copied
    kept, fresh = np.empty(2 * p + 2), np.empty(2 * p + 2)
    score = _score(total, count, cells, n, p, n_quantiles, aim)
    taken = 0
    for _ in range(moves):
        j = columns[below(state, len(columns))]
        i = below(state, n)
        k = below(state, n)
        change = U[k, j] - U[i, j]
        if change == 0:
            continue
        slack = -temperature * math.log(uniform(state)) if temperature > 0.0 else 0.0
        crowded = count[COPIED] > most_copies
        t = into[j]
        # The most that can be gained if the two records are linked now; links are not searched if that is not enough.
        linked_now = (1.0 / tie[i] if tie[i] > 0 else 0.0) + (1.0 / tie[k] if tie[k] > 0 else 0.0)
        limit = score + slack + 25.0 * aim[1] * linked_now / n + 1e-12
        after = np.inf
        if t < 0:
            covariance_total, correlation_total, interval = total[COVARIANCES], total[CORRELATIONS], count[INTERVAL]
            count[INTERVAL] += _swap_disclosed(own_rank[j], new_rank[j], disclosed, place[i, j], place[k, j])
            # At best, the losses of the remaining pairs fall to 0; if even that is not enough, stop early.
            room, rest, gained = np.inf, 0.0, 0.0
            if not crowded and aim[0] > 0.0 and p > 1:
                if aim[2] > 0.0:
                    now = aim[0] * _mean_loss(total, p, n_quantiles)
                else:
                    now = _score(total, count, cells, n, p, n_quantiles, aim)
                room = (limit - now) * p * (p - 1) / (40.0 * aim[0]) + 1e-9
                for l in range(p):
                    a, b = min(j, l), max(j, l)
                    rest += loss_covariance[a, b] + loss_correlation[a, b]
            hopeless = False
            fresh[j], fresh[p + j] = 0.0, 0.0
            fresh[2 * p], fresh[2 * p + 1] = covariance_total, correlation_total
            for l in range(p):
                if l == j:
                    continue
                a, b = min(j, l), max(j, l)
                sizes = spread[j] * spread[l]
                products = S2[a, b] + np.float64(change) * (U[i, l] - U[k, l])
                covariance = _covariance(products, S1[j] * S1[l] / n, n * scale[j] * scale[l], sizes)
                lost = _loss(covariances[a, b], covariance, of_covariance[a, b], smooth)
                of_pair = lost
                fresh[l] = lost
                fresh[2 * p] += lost - loss_covariance[a, b]
                lost = _loss(correlations[a, b], _correlation(covariance, sizes), of_correlation[a, b], smooth)
                of_pair += lost
                fresh[p + l] = lost
                fresh[2 * p + 1] += lost - loss_correlation[a, b]
                before = loss_covariance[a, b] + loss_correlation[a, b]
                rest -= before
                gained += of_pair - before
                if gained - rest > room:
                    hopeless = True
                    break
            if hopeless:
                count[INTERVAL] = interval
                continue
            total[COVARIANCES], total[CORRELATIONS] = fresh[2 * p], fresh[2 * p + 1]
            after = _score(total, count, cells, n, p, n_quantiles, aim)
            total[COVARIANCES], total[CORRELATIONS], count[INTERVAL] = covariance_total, correlation_total, interval
            if after > limit and not crowded:
                continue
        tie_i, tie_k, witness_i, witness_k, links = tie[i], tie[k], witness[i], witness[k], total[LINKS]
        _keep_pairs(loss_covariance, loss_correlation, total, j, kept)
        swap_cells(f, s, i, k, j)
        if t < 0:
            _put_back_pairs(loss_covariance, loss_correlation, total, j, fresh)
        else:
            restate_pairs(f, s, j, smooth)
            move(f, s, i, t, U[i, t] + sign[j] * change, smooth)
            move(f, s, k, t, U[k, t] - sign[j] * change, smooth)
            after = _score(total, count, cells, n, p, n_quantiles, aim)
        linked = crowded or after <= limit
        good = False
        if linked:
            link_row(f, s, i)
            link_row(f, s, k)
            after = _score(total, count, cells, n, p, n_quantiles, aim)
            good = after <= score + slack
        if crowded or good:
            copied_i, copied_k, crowd = copied[i], copied[k], count[COPIED]
            copy_row(f, s, i)
            copy_row(f, s, k)
            if count[COPIED] > most_copies:
                good = count[COPIED] < crowd or (good and count[COPIED] == crowd)
            elif crowded:
                good = True
            if not good:
                copied[i], copied[k], count[COPIED] = copied_i, copied_k, crowd
        if good:
            score = after
            taken += 1
            continue
        if t >= 0:
            move(f, s, i, t, U[i, t] - sign[j] * change, smooth)
            move(f, s, k, t, U[k, t] + sign[j] * change, smooth)
        swap_cells(f, s, i, k, j)
        if t >= 0:
            restate_pairs(f, s, j, smooth)
        else:
            _put_back_pairs(loss_covariance, loss_correlation, total, j, kept)
        if linked:
            tie[i], tie[k], total[LINKS] = tie_i, tie_k, links
        witness[i], witness[k] = witness_i, witness_k
    return taken

"""Expected measures of transition matrices over all possible protected files, without drawing any.

Exact (up to rounding near 1e-9): DBIL, EBIL, CTBIL, the bivariate difference, DBRL, and the ID of nominal attributes.
The expectation ratio and the entropy depend on the matrices only and need no expectation. Approximations:

- ID of ordinal attributes: the rank of a protected category is random; its distribution is approximated by a normal one
  with the exact mean and variance.
- chi2: the statistic is approximated as normal, with Taylor approximations of its mean and standard deviation.
- PRL: estimated weights and an optimal pairing have no closed form, so it is the mean over the files of the sampled
  evaluation, with its noise.
- DR and the scores: the mean of DBRL replaces the mean of max(DBRL, PRL), and the maximum of two means replaces the
  mean of the maximum; both are lower bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sdc_problems._slices import slices
from sdc_problems._validation import FloatArray, IntArray
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.transition._data import Matrices, TransitionData, chi2, double_ranks, relative_change
from sdc_problems.evaluators.transition._expected_counts import expected_distances, expected_x_log_x
from sdc_problems.evaluators.transition._kernels import nearest_pairs

_MOST_CELLS = 2**26  # groups of records × cells of one contingency table
_MOST_PAIRS = 2**28  # distinct originals × combinations of categories


def _dbil(data: TransitionData, matrices: Matrices) -> float:
    total = sum(
        float((counts[:, None] * P * distance).sum())
        for P, counts, distance in zip(matrices, data.frequencies, data.distances, strict=True)
    )
    return 100.0 * total / (data.n * data.p)


def _ebil(data: TransitionData, matrices: Matrices) -> float:
    total = 0.0
    for P, counts, size in zip(matrices, data.frequencies, data.sizes, strict=True):
        if size > 1:
            spread = expected_x_log_x(counts, P)
            for i in np.flatnonzero(counts):
                spread -= expected_x_log_x(counts[i : i + 1], P[i : i + 1])
            total += max(spread, 0.0) / (data.n * math.log(size))
    return 100.0 * total / data.p


def _ctbil(data: TransitionData, matrices: Matrices) -> float:
    total = 0.0
    for P, counts in zip(matrices, data.frequencies, strict=True):
        present = counts > 0
        total += expected_distances(counts[present], P[present], counts)
    for t, (a, b) in enumerate(data.pairs):
        cells = int(data.sizes[a] * data.sizes[b])
        table = data.tables[data.offsets[t] : data.offsets[t + 1]] if data.dense_tables else None
        groups = None if table is None else np.flatnonzero(table)
        if table is None or groups is None or len(groups) * cells > _MOST_CELLS:
            raise SDCError(
                f"the expected CTBIL of two attributes with {data.sizes[a]} and {data.sizes[b]} categories is too large"
                ' a sum; use evaluation="sampled", or objectives without ctbil and il_categorical'
            )
        first, second = np.divmod(groups, data.sizes[b])
        joint = (matrices[a][first][:, :, None] * matrices[b][second][:, None, :]).reshape(len(groups), cells)
        total += expected_distances(table[groups], joint, table)
    return 100.0 * total / (2 * data.n * data.n_tables)


def _bivariate(data: TransitionData, matrices: Matrices) -> float:
    total = 0.0
    for P, table in zip(matrices, data.crossed_originals(), strict=True):
        for column in np.ascontiguousarray(table.T):
            present = column > 0
            total += expected_distances(column[present], P[present], column)
    return 100.0 * total / (2 * data.n * data.p)


def _chi2(data: TransitionData, matrices: Matrices) -> float:
    from scipy.special import ndtr  # importing it takes longer than everything else here

    total = 0.0
    for P, original in zip(matrices, data.crossed_originals(), strict=True):
        reference = float(chi2(original))
        mean, deviation = _chi2_moments(P, original[:, original.sum(axis=0) > 0], data.n)
        gap = mean - reference
        if deviation > 0 and reference > 0:  # mean distance between a normal variable and a number
            z = gap / deviation
            gap = gap * (2.0 * ndtr(z) - 1.0) + deviation * math.sqrt(2.0 / math.pi) * math.exp(-z * z / 2.0)
        total += float(relative_change(np.array(reference + gap), reference))
    return total / data.p


def _chi2_moments(P: FloatArray, original: IntArray, n: int) -> tuple[float, float]:
    """Mean (Taylor to second order) and standard deviation (to first order) of the statistic after PRAM."""
    cell = P.T @ original  # means and variances of the protected counts, and of the rest of their rows
    cell_variance = (P * (1.0 - P)).T @ original
    row, row_variance = cell.sum(axis=1, keepdims=True), cell_variance.sum(axis=1, keepdims=True)
    reached = row[:, 0] > 0
    cell, cell_variance, row, row_variance = (x[reached] for x in (cell, cell_variance, row, row_variance))
    rest, rest_variance = row - cell, row_variance - cell_variance
    column = original.sum(axis=0, keepdims=True)
    square = cell**2 / row + (rest**2 * cell_variance + cell**2 * rest_variance) / row**3
    mean = n * (float((square / column).sum()) - 1.0)
    slope = 2.0 * cell / (row * column) - (cell**2 / (row**2 * column)).sum(axis=1, keepdims=True)
    moves = P[:, reached]
    variance = float((original * (moves @ slope**2 - (moves @ slope) ** 2)).sum())
    return max(mean, 0.0), n * math.sqrt(max(variance, 0.0))


def _id(data: TransitionData, matrices: Matrices) -> float:
    from scipy.special import ndtr

    total = 0.0
    for P, counts, ordinal in zip(matrices, data.frequencies, data.ordinal, strict=True):
        if not ordinal:
            total += float((counts * np.diag(P)).sum())
            continue
        # A record of category k adds 1 to the rank of j if it becomes less than j, and 1/2 if it becomes j.
        less = np.cumsum(P, axis=1) - P
        share = less + P / 2.0
        spread = less + P / 4.0 - share**2
        mean = (counts @ share)[None, :] - share + 1.0  # the record itself becomes j
        deviation = np.sqrt(np.maximum((counts @ spread)[None, :] - spread, 1e-12))
        gap = double_ranks(counts)[:, None] / 2.0 - mean
        reach = data.percent / 100.0 * data.n + 0.25  # ranks are multiples of 1/2: continuity correction
        near = ndtr((reach - gap) / deviation) - ndtr((-reach - gap) / deviation)
        total += float((counts[:, None] * P * near).sum())
    return 100.0 * total / (data.n * data.p)


def _linked(data: TransitionData) -> tuple[IntArray, IntArray, FloatArray]:
    """All ways to be linked: original, protected categories, and chance times share of records."""
    if data.links is None:
        if not data.dense_combinations or data.combinations * len(data.row_codes) > _MOST_PAIRS:
            raise SDCError(
                f"{data.combinations:,} combinations of categories are too many for the expected linkage; use"
                ' evaluation="sampled", or fewer attributes'
            )
        data.find_nearest(np.arange(data.combinations))
        given = data.row_codes, data.sizes, data.units, data.ordinal, data.nearest
        parts = [
            nearest_pairs(*given, low, high)
            for low, high in slices(data.combinations, steps=data.row_codes.size, what="combinations linked")
        ]
        row, key = (np.concatenate(part) for part in zip(*parts, strict=True))
        chance = data.rows.records[row] / (data.ties[key] * data.n)
        data.links = (data.row_codes[row], data.categories_of(key), chance)
    return data.links


def _dbrl(data: TransitionData, matrices: Matrices) -> float:
    original, protected, chance = _linked(data)
    moves = chance.copy()
    for a, P in enumerate(matrices):
        moves *= P[original[:, a], protected[:, a]]
    return 100.0 * float(moves.sum())


EXPECTED: dict[str, Callable[[TransitionData, Matrices], float]] = {
    "ctbil": _ctbil,
    "dbil": _dbil,
    "ebil": _ebil,
    "id_rank": _id,
    "dbrl": _dbrl,
    "bivariate": _bivariate,
    "chi2": _chi2,
}

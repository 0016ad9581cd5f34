"""Compiled cuts of sorted values, and of records along a path, into runs of k to 2k − 1 with the smallest error.

The cost of the cheapest cut up to an end is the minimum, over the last run, of the cost up to its start plus its error.
For sorted values, these errors satisfy the quadrangle inequality, so the best start never moves back as the end moves
forward, and SMAWK (Aggarwal et al. 1987) finds the minima of k ends in O(k): O(n) in total instead of O(nk).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import SLICE, Progress, kernel

ROWS_FROM = 16  # smallest k for which the minima of whole blocks are found together


@kernel()
def _cut_values(x: Any, k: int, best: Any, size: Any, end: int, budget: int) -> int:
    """Cheapest runs up to the ends from ``end`` on, until the budget is spent; returns the next end."""
    share, inverse = np.empty(2 * k), np.empty(2 * k)
    for m in range(2 * k):
        inverse[m] = 1.0 / (m + 1)
        share[m] = m * inverse[m]
    while end < len(best) and budget > 0:
        # The run grows backward from its end, so its mean and error are updated, not computed from large sums.
        mean, error = x[end - 1], 0.0
        for m in range(1, min(2 * k - 1, end)):
            step = x[end - 1 - m] - mean
            error += step * step * share[m]
            mean += step * inverse[m]
            if m + 1 >= k and best[end - 1 - m] + error < best[end]:
                best[end] = best[end - 1 - m] + error
                size[end] = m + 1
        budget -= 8 * k
        end += 1
    return end


@kernel()
def _grow(x: Any, begin: int, step: int, count: int, inverse: Any, mean: Any, error: Any) -> None:
    """Mean and error of the first 1 … count values from ``begin`` on, forward or backward, value by value."""
    center, squares = 0.0, 0.0
    mean[0], error[0] = 0.0, 0.0
    for m in range(min(count, len(mean) - 1)):
        gap = x[begin + m * step] - center
        center += gap * inverse[m + 1]
        squares += gap * gap * (m * inverse[m + 1])
        mean[m + 1], error[m + 1] = center, squares


@kernel()
def _cost(row: int, column: int, k: int, lefts: Any, rights: Any, inverse: Any) -> float:
    """Cost of the cheapest cut whose last run starts at a column and ends at a row of a block.

    The run is combined from its parts left and right of a boundary between blocks, without differences of large sums.
    """
    if column < k:
        m, r = k - column, k + row
    else:
        m, r = 2 * k - column, row
    side = 0 if column < k else 2
    gap = lefts[0, column] - rights[side, row]
    return float(lefts[1, column] + rights[side + 1, row] + gap * gap * (m * r * inverse[m + r]))


@kernel()
def _minima(
    n_rows: int, first: int, k: int, lefts: Any, rights: Any, inverse: Any, columns: Any, starts: Any, where: Any
) -> None:
    """Column of the smallest cost of every row (SMAWK, without recursion); ``columns`` holds one stack per level."""
    n_columns = 0
    for column in range(first, n_rows + k):
        columns[n_columns] = column
        n_columns += 1
    starts[0], starts[1] = 0, n_columns
    level, step = 0, 1
    while step <= n_rows:
        # Reduce: keep at most as many columns as there are rows step − 1, 2·step − 1, …
        base, top, rows = starts[level + 1], 0, n_rows // step
        for c in range(starts[level], starts[level + 1]):
            column = columns[c]
            while top > 0:
                row, last = top * step - 1, columns[base + top - 1]
                if last > row:  # else the run would be longer than 2k − 1, for this end and all later ones
                    if column > row + k:  # this one would be shorter than k
                        break
                    if _cost(row, last, k, lefts, rights, inverse) < _cost(row, column, k, lefts, rights, inverse):
                        break
                top -= 1
            if top < rows:
                columns[base + top] = column
                top += 1
        starts[level + 2] = base + top
        level, step = level + 1, 2 * step
    while level > 0:
        # Interpolate: the minimum of a row lies between those of its neighbors, which are known.
        step //= 2
        at, stop = starts[level], starts[level + 1]
        for row in range(step - 1, n_rows, 2 * step):
            last = where[row + step] if row + step < n_rows else columns[stop - 1]
            best, found = np.inf, -1
            while True:
                column = columns[at]
                if row < column <= row + k:
                    cost = _cost(row, column, k, lefts, rights, inverse)
                    if cost <= best:
                        best, found = cost, column
                if column == last:
                    break
                at += 1
            where[row] = found
        level -= 1


@kernel()
def _cut_blocks(x: Any, k: int, best: Any, size: Any, far: Any, block: int, budget: int) -> int:
    """Like ``_cut_values``, k ends at a time: runs that end in a block start in one of the two blocks before it.

    ``far`` holds mean and error of the values from the previous boundary on. For both boundaries, ``lefts`` holds the
    mean of the values from a start to the boundary and the cost up to there, ``rights`` mean and error from the
    boundary to an end.
    """
    n = len(x)
    inverse = np.empty(3 * k + 1)
    inverse[0] = 0.0
    for m in range(1, len(inverse)):
        inverse[m] = 1.0 / m
    mean, error = np.zeros(2 * k), np.zeros(2 * k)
    lefts, rights = np.empty((2, 2 * k)), np.empty((4, k))
    columns, starts, where = np.empty(8 * k + 64, dtype=np.int64), np.empty(64, dtype=np.int64), np.empty(k, np.int64)
    while block * k <= n and budget > 0:
        boundary = block * k
        n_rows = min(k, n - boundary + 1)
        for side in range(2):
            corner = boundary - (1 - side) * k
            if corner > 0:
                _grow(x, corner - 1, -1, k, inverse, mean, error)
                for m in range(1, k + 1):
                    column = (side + 1) * k - m
                    lefts[0, column] = mean[m]
                    lefts[1, column] = best[boundary - 2 * k + column] + error[m]
        _grow(x, boundary, 1, min(2 * k - 1, n - boundary), inverse, mean, error)
        for row in range(n_rows):
            rights[0, row], rights[1, row] = far[0, k + row], far[1, k + row]
            rights[2, row], rights[3, row] = mean[row], error[row]
        if block == 1:
            where[:] = k
        else:
            _minima(n_rows, k if block == 2 else 1, k, lefts, rights, inverse, columns, starts, where)
        for row in range(n_rows):
            best[boundary + row] = _cost(row, where[row], k, lefts, rights, inverse)
            size[boundary + row] = 2 * k + row - where[row]
        far[0, :], far[1, :] = mean, error
        budget -= 128 * k
        block += 1
    return block


@kernel(cost=lambda P, k, *_: P.size * k * 1e-6)
def _cut_path(P: Any, k: int, best: Any, size: Any, end: int, budget: int) -> int:
    """Like ``_cut_values``, for records in the order of a path."""
    d = P.shape[1]
    mean = np.empty(d)
    while end < len(best) and budget > 0:
        for j in range(d):
            mean[j] = P[end - 1, j]
        error = 0.0
        for m in range(1, min(2 * k - 1, end)):
            squares = 0.0
            for j in range(d):
                step = P[end - 1 - m, j] - mean[j]
                squares += step * step
                mean[j] += step / (m + 1)
            error += squares * m / (m + 1)
            if m + 1 >= k and best[end - 1 - m] + error < best[end]:
                best[end] = best[end - 1 - m] + error
                size[end] = m + 1
        budget -= 4 * k * d
        end += 1
    return end


def cut(x: NDArray[np.float64], k: int, progress: Progress | None = None) -> NDArray[np.int32]:
    """Size of the cheapest last run up to each position of a sorted vector, or of records in the order of a path.

    Parameters
    ----------
    x
        Sorted values, or records × attributes in the order of the path.
    k
        Smallest run.
    progress
        Called as ``progress(positions done, positions)``.

    Returns
    -------
    ndarray of int32
        One entry more than there are records; 0 at positions where no run can end.
    """
    n = len(x)
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    size = np.zeros(n + 1, dtype=np.int32)
    blocks = x.ndim == 1 and k >= ROWS_FROM
    far = np.zeros((2, 2 * k))
    end = k
    while end <= n:
        if blocks:
            end = k * _cut_blocks(x, k, best, size, far, end // k, SLICE)
        elif x.ndim == 1:
            end = _cut_values(x, k, best, size, end, SLICE)
        else:
            end = _cut_path(x, k, best, size, end, SLICE)
        if progress is not None:
            progress(min(end, n), n)
    return size

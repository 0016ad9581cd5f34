"""Front of loss against the smallest group, for one numeric attribute: one optimal cut for each size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sdc_problems.methods.partition._univariate import microaggregate_univariate


def univariate_rows(x: NDArray[np.float64], smallest: int, largest: int) -> Iterator[NDArray[np.int64]]:
    """Optimal cuts: for each k, the one of least SSE into groups of k values at least and ``largest`` at most.

    If the values of two groups are not in the order of their means, exchanging two of them loses less. So, whatever
    sizes are allowed, an optimal group is a run of the sorted values. Where 2k − 1 is allowed, no larger group is
    needed, and Hansen and Mukherjee's algorithm gives the cut; otherwise, `limited_cut` does.

    Parameters
    ----------
    x
        The values.
    smallest, largest
        Smallest and largest group that is allowed.

    Examples
    --------
    >>> [row.tolist() for row in univariate_rows(np.array([1.0, 9.0, 2.0, 8.0, 5.0, 6.0]), 2, 3)]
    [[0, 1, 0, 1, 2, 2], [0, 1, 0, 1, 0, 1]]
    """
    order = np.argsort(x, kind="stable")
    for k in range(smallest, min(largest, len(x)) + 1):
        if 2 * k - 1 <= largest and k <= len(x) // 2:
            yield microaggregate_univariate(x, k).astype(np.int64)
            continue
        sizes = limited_cut(x[order], k, largest)
        if sizes is not None:
            row = np.empty(len(x), dtype=np.int64)
            row[order] = np.repeat(np.arange(len(sizes)), sizes)
            yield row


def limited_cut(ordered: NDArray[np.float64], smallest: int, largest: int) -> list[int] | None:
    """Sizes of the runs of sorted values with the least SSE, all within limits; None if there are none.

    Parameters
    ----------
    ordered
        Sorted values.
    smallest, largest
        Smallest and largest run that is allowed.
    """
    n = len(ordered)
    sizes = np.arange(smallest, largest + 1)
    centered = ordered - ordered.mean()
    sums, squares = np.r_[0.0, np.cumsum(centered)], np.r_[0.0, np.cumsum(centered**2)]
    best, last = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=np.int64)
    best[0] = 0.0
    for end in range(smallest, n + 1):
        tried = sizes[: max(0, end - smallest + 1)]
        tried = tried[tried <= end]
        begin = end - tried
        error = squares[end] - squares[begin] - (sums[end] - sums[begin]) ** 2 / tried
        total = best[begin] + np.maximum(error, 0.0)
        chosen = int(np.argmin(total))
        best[end], last[end] = total[chosen], tried[chosen]
    if not np.isfinite(best[n]):
        return None
    found, end = [], n
    while end:
        found.append(int(last[end]))
        end -= found[-1]
    return found[::-1]

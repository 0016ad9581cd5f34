"""Earth mover's distances between many classes and the whole table, without a classes × values array."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdc_problems._kernel import kernel


def equal_emd(first: Any, count: Any, second: Any, size: Any, overall: Any, n: Any, emd: Any) -> None:
    """Sum of the positive parts of (class share - table share), times n and the class size, in whole numbers."""
    np.add.at(emd, first, np.maximum(count * n - overall[second] * size[first], 0))


@kernel()
def ordered_emd(begin: Any, count: Any, second: Any, size: Any, below: Any, sums: Any, n: Any, emd: Any) -> None:
    """Per class, the sum over the values of |cumulative class share - cumulative table share|, times n and its size.

    Between two values that occur in a class, its cumulative share is constant while that of the table (``below``)
    rises. Bisection finds where they cross, and prefix sums (``sums``) give both parts of the sum: O(pairs · log m)
    instead of O(classes · m).
    """
    m = len(below)
    for g in range(len(size)):
        total = emd[g] * 0
        reached = total
        start = 0
        for e in range(begin[g], begin[g + 1] + 1):
            stop = second[e] if e < begin[g + 1] else m
            level = reached * n
            low, high = start, stop
            while low < high:
                middle = (low + high) // 2
                if below[middle] * size[g] > level:
                    high = middle
                else:
                    low = middle + 1
            total += level * (low - start) - (sums[low] - sums[start]) * size[g]
            total += (sums[stop] - sums[low]) * size[g] - level * (stop - low)
            if e < begin[g + 1]:
                reached += count[e]
                start = stop
        emd[g] = total

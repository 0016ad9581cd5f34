"""Compiled rank swapping: one pass over the ranks with a list of the free ranks ahead."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel


@kernel()
def partners_kernel(m: int, window: int, uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rank with which each of m ranks is swapped (itself if none was free).

    Parameters
    ----------
    m
        Number of ranks.
    window
        Largest distance of a partner in ranks.
    uniforms
        One number in [0, 1) per rank.
    """
    partner = np.arange(m)
    free = np.empty(min(window, m), dtype=np.int64)  # free ranks within the window, unordered
    where = np.full(m, -1, dtype=np.int64)
    count, ahead = 0, 1
    for i in range(m):
        while ahead < m and ahead <= i + window:
            free[count] = ahead
            where[ahead] = count
            count += 1
            ahead += 1
        if i > 0 and partner[i] != i:
            continue
        if where[i] >= 0:
            count -= 1
            free[where[i]] = free[count]
            where[free[count]] = where[i]
            where[i] = -1
        if count == 0:
            continue
        at = min(int(uniforms[i] * count), count - 1)
        other = free[at]
        count -= 1
        free[at] = free[count]
        where[free[count]] = at
        where[other] = -1
        partner[i] = other
        partner[other] = i
    return partner

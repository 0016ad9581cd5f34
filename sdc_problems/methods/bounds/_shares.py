"""Kernel of the semidefinite bound: nearest rows of shares that a group of allowed size could give each record."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems._kernel.loops import ascend

HALVINGS = 50  # of the interval in which the shift of a row lies
NEAR = 0.5  # how far below its last shift a row is looked through first, in multiples of the largest share


@kernel()
def nearest_shares(
    X: NDArray[np.float64],
    U: NDArray[np.float64],
    C: NDArray[np.float64],
    step: float,
    over: float,
    low: float,
    high: float,
    shifts: NDArray[np.float64],
    T: NDArray[np.float64],
) -> None:
    """Put over · Z + (1 − over) · X + U into T; row i of Z has the nearest shares to that of X − U − step · C.

    A row of shares has the sum 1, an own share (on the diagonal) between low and high, and other shares between 0 and
    the own one. The nearest ones are the values less a shift, cut off at 0 and at the own share; the own share is
    moved by what is cut off. The shift is found by halving an interval.

    Parameters
    ----------
    shifts
        Shift of each row, updated; the last one tells which values can matter.
    """
    n = len(X)
    values, largest = np.empty(n), np.empty(n)
    for i in range(n):
        top = -np.inf
        for j in range(n):
            values[j] = X[i, j] - U[i, j] - step * C[i, j]
            top = max(top, values[j])
        own = values[i]
        least = shifts[i] - NEAR * high
        while True:
            m = 0
            for j in range(n):
                if j != i and values[j] > least:
                    largest[m] = -values[j]
                    m += 1
            ascend(largest[:m])
            if m == n - 1 or _total(largest, m, own, least, low, high) >= 1.0:
                break
            least = -np.inf
        if m == n - 1:
            least = min(-largest[m - 1], own) - 1.0  # then every share is the own one, and the sum at least n · low
        lower, upper = least, top
        for _ in range(HALVINGS):
            middle = 0.5 * (lower + upper)
            if _total(largest, m, own, middle, low, high) > 1.0:
                lower = middle
            else:
                upper = middle
        shifts[i] = upper
        share = _own_share(largest, m, own, upper, low, high)
        for j in range(n):
            z = share if j == i else min(max(values[j] - upper, 0.0), share)
            T[i, j] = over * z + (1.0 - over) * X[i, j] + U[i, j]


@kernel(allocates=False)
def _own_share(largest: NDArray[np.float64], m: int, own: float, shift: float, low: float, high: float) -> float:
    """Own share for a shift: the mean of the own value and those that it cuts off, which are the largest."""
    total, count = own - shift, 1
    share = total
    while count <= m and -largest[count - 1] - shift > share:
        total += -largest[count - 1] - shift
        count += 1
        share = total / count
    return min(max(share, low), high)


@kernel(allocates=False)
def _total(largest: NDArray[np.float64], m: int, own: float, shift: float, low: float, high: float) -> float:
    """Sum of a row of shares for a shift, or a number above 1."""
    share = _own_share(largest, m, own, shift, low, high)
    total = share
    for j in range(m):
        above = -largest[j] - shift
        if above <= 0.0 or total > 1.0:
            break
        total += min(above, share)
    return total

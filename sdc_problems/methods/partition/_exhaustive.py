"""Optimal partition of a few records by exhaustive search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems._validation import table
from sdc_problems.errors import SDCError
from sdc_problems.methods._kernels.mdav import first_use
from sdc_problems.methods.partition._attributes import smallest_group, z_scores

MOST_RECORDS = 12


@kernel()
def _errors(P: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """SSE of every set of k to 2k − 1 records, by its bit mask; infinite for other sets."""
    n, d = P.shape
    error = np.full(1 << n, np.inf)
    mean = np.empty(d)
    for mask in range(1, 1 << n):
        size = 0
        mean[:] = 0.0
        for i in range(n):
            if mask >> i & 1:
                size += 1
                for j in range(d):
                    mean[j] += P[i, j]
        if k <= size < 2 * k:
            error[mask] = 0.0
            for i in range(n):
                if mask >> i & 1:
                    for j in range(d):
                        error[mask] += (P[i, j] - mean[j] / size) ** 2
    return error


@kernel()
def _best_parts(error: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """For every set of records, the group of its best partition that contains its first record; 0 if there is none."""
    best = np.full(1 << n, np.inf)
    best[0] = 0.0
    part = np.zeros(1 << n, dtype=np.int64)
    for mask in range(1, 1 << n):
        first = mask & -mask
        rest = mask ^ first
        other = rest
        while True:
            one = first | other
            if error[one] + best[mask ^ one] < best[mask]:
                best[mask] = error[one] + best[mask ^ one]
                part[mask] = one
            if other == 0:
                break
            other = (other - 1) & rest
    return part


def exhaustive(X: object, k: int, *, standardize: bool = True) -> NDArray[np.int32]:
    """Partition at most 12 records into groups of at least k with the smallest possible SSE.

    Parameters
    ----------
    X
        Records × numeric attributes.
    k
        Smallest group: 2 … n/2.
    standardize
        Whether attributes are standardized to z-scores first.

    Returns
    -------
    labels
        One group number per record, in order of first use.

    Notes
    -----
    An optimal group has k to 2k − 1 records (Domingo-Ferrer and Mateo-Sanz 2002). Every such group that contains the
    first remaining record is tried, and every set of remaining records is solved once: O(3ⁿ) time, O(2ⁿ) memory.

    Examples
    --------
    >>> exhaustive([[0.0], [9.0], [1.0], [10.0], [2.0], [11.0], [3.0]], 3)
    array([0, 1, 0, 1, 0, 1, 0], dtype=int32)
    """
    values = table(X, "X")
    n = len(values)
    k = smallest_group(k, n)
    if n > MOST_RECORDS:
        raise SDCError(f"{n} records are too many to try all partitions: at most {MOST_RECORDS}")
    P = np.ascontiguousarray(z_scores(values) if standardize else values)
    part = _best_parts(_errors(P, k), n)
    labels = np.empty(n, dtype=np.int32)
    left, group = (1 << n) - 1, 0
    while left:
        if not part[left]:
            raise SDCError("X holds numbers whose squares overflow: leave standardize=True")
        for i in range(n):
            if part[left] >> i & 1:
                labels[i] = group
        left ^= int(part[left])
        group += 1
    first_use(labels, group)
    return labels

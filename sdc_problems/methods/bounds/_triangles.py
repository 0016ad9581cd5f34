"""Triangle inequalities of the semidefinite bound: records that share a group with i share one with each other.

For the matrix Z of shares of a partition, Z_ij + Z_il is at most Z_ii + Z_jl. Each inequality has a multiplier, which
shifts the costs of its cells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel

NEAR = 0.1  # of the own share: smaller shares are not looked at


class Triangles:
    """Inequalities that have been violated, with their multipliers.

    Parameters
    ----------
    n
        Number of records.

    Attributes
    ----------
    records
        Records i, j and l of each inequality.
    multipliers
        At least 0.
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self.records: NDArray[np.int64] = np.zeros((0, 3), dtype=np.int64)
        self.multipliers: NDArray[np.float64] = np.zeros(0)

    def step(self, Z: NDArray[np.float64], C: NDArray[np.float64], size: float) -> None:
        """Move the multipliers by a multiple of what is violated, and shift the costs C by that."""
        moved = np.maximum(0.0, self.multipliers + size * violations(Z, self.records))
        shift_costs(C, self.records, moved - self.multipliers)
        self.multipliers = moved

    def renew(self, Z: NDArray[np.float64], least: float, per_record: int) -> None:
        """Drop inequalities without effect, and add those that are violated most."""
        kept = (self.multipliers > 0.0) | (violations(Z, self.records) > 0.0)
        self.records, self.multipliers = self.records[kept], self.multipliers[kept]
        found = most_violated(Z, least, per_record)
        new = found[~np.isin(self._numbers(found), self._numbers(self.records))]
        self.records = np.concatenate([self.records, new])
        self.multipliers = np.concatenate([self.multipliers, np.zeros(len(new))])

    def _numbers(self, records: NDArray[np.int64]) -> NDArray[np.int64]:
        """One number for each inequality."""
        i, j, l = records.T
        numbers: NDArray[np.int64] = (i * self._n + np.minimum(j, l)) * self._n + np.maximum(j, l)
        return numbers


@kernel()
def violations(Z: NDArray[np.float64], records: NDArray[np.int64]) -> NDArray[np.float64]:
    """Amounts by which inequalities are violated; negative if they hold."""
    out = np.empty(len(records))
    for t in range(len(records)):
        i, j, l = records[t, 0], records[t, 1], records[t, 2]
        out[t] = Z[i, j] + Z[i, l] - Z[i, i] - Z[j, l]
    return out


@kernel(allocates=False)
def shift_costs(C: NDArray[np.float64], records: NDArray[np.int64], by: NDArray[np.float64]) -> None:
    """Add multiples of the violations, as functions of a symmetric Z, to the costs of Z."""
    for t in range(len(records)):
        i, j, l = records[t, 0], records[t, 1], records[t, 2]
        half = 0.5 * by[t]
        C[i, i] -= by[t]
        C[i, j] += half
        C[j, i] += half
        C[i, l] += half
        C[l, i] += half
        C[j, l] -= half
        C[l, j] -= half


@kernel()
def most_violated(Z: NDArray[np.float64], least: float, per_record: int) -> NDArray[np.int64]:
    """Inequalities violated by more than ``least``: the most violated ones of each record i."""
    n = len(Z)
    found = np.empty((n * per_record, 3), dtype=np.int64)
    near, by, pair = np.empty(n, dtype=np.int64), np.empty(per_record), np.empty((per_record, 2), dtype=np.int64)
    m = 0
    for i in range(n):
        count, kept = 0, 0
        for j in range(n):
            if j != i and Z[i, j] > NEAR * Z[i, i]:
                near[count] = j
                count += 1
        for a in range(count):
            for b in range(a):
                violation = Z[i, near[a]] + Z[i, near[b]] - Z[i, i] - Z[near[a], near[b]]
                if violation <= least or (kept == per_record and violation <= by[kept - 1]):
                    continue
                if kept < per_record:
                    kept += 1
                at = kept - 1
                while at > 0 and violation > by[at - 1]:
                    by[at], pair[at, 0], pair[at, 1] = by[at - 1], pair[at - 1, 0], pair[at - 1, 1]
                    at -= 1
                by[at], pair[at, 0], pair[at, 1] = violation, near[b], near[a]
        for at in range(kept):
            found[m, 0], found[m, 1], found[m, 2] = i, pair[at, 0], pair[at, 1]
            m += 1
    return found[:m].copy()

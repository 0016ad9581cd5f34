"""Canonical label rows: restricted growth strings, so that equal partitions have equal bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.repair import Repair

from sdc_problems._kernel import kernel
from sdc_problems.errors import SDCError


@kernel(allocates=False)
def _first_use(X: NDArray[Any], new: NDArray[Any], unused: Any, out: NDArray[Any]) -> None:
    for r in range(X.shape[0]):
        for label in range(len(new)):
            new[label] = unused
        used = 0
        for i in range(X.shape[1]):
            label = X[r, i]
            if new[label] == unused:
                new[label] = used
                used += 1
            out[r, i] = new[label]


def restricted_growth(X: NDArray[Any]) -> NDArray[Any]:
    """Restricted growth string of each row: labels numbered in order of first use, from 0.

    Parameters
    ----------
    X
        Rows of labels ≥ 0, of any integer type, which is kept; a single row may be a vector.

    Notes
    -----
    Two rows describe the same partition exactly if their restricted growth strings are equal. Linear time; a
    table of the size of the largest label is used, so labels should be dense. X is not changed.

    Examples
    --------
    >>> restricted_growth(np.array([[2, 2, 0, 1], [3, 1, 3, 0]], dtype=np.int16))
    array([[0, 0, 1, 2],
           [0, 1, 0, 2]], dtype=int16)
    """
    X = np.asarray(X)
    if X.dtype.kind not in "iu":
        raise SDCError(f"labels must be integers, not {X.dtype}")
    rows = np.ascontiguousarray(np.atleast_2d(X), dtype=np.int64)  # one type, so that the kernel is compiled once
    out = np.empty_like(rows)
    if rows.size:
        if rows.min() < 0:
            raise SDCError("labels must not be negative")
        table = np.empty(int(rows.max()) + 1, dtype=np.int64)
        _first_use(rows, table, np.int64(-1), out)
    return out.astype(X.dtype, copy=False).reshape(X.shape)


class CanonicalLabels(Repair):
    """Repair that renumbers labels in order of first use; the partition stays the same."""

    def _do(self, problem: Any, X: NDArray[Any], *args: object, **kwargs: object) -> NDArray[Any]:
        return restricted_growth(X)

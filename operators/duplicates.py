"""Duplicate elimination by bytes: canonical rows are equal exactly when their bytes are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.duplicate import DuplicateElimination


def row_keys(X: NDArray[Any]) -> list[bytes]:
    """Each row's bytes, to put in sets and dictionaries.

    Examples
    --------
    >>> keys = row_keys(np.array([[0, 1], [0, 1], [1, 0]]))
    >>> keys[0] == keys[1], len(set(keys))
    (True, 2)
    """
    X = np.ascontiguousarray(X)
    width = X.shape[1] * X.itemsize
    data = X.tobytes()
    return [data[i : i + width] for i in range(0, len(X) * width, width)]


class ByteDuplicates(DuplicateElimination):
    """Drop individuals whose genome has the same bytes as an earlier one's; linear time, exact, any length."""

    def _do(self, pop: Any, other: Any, is_duplicate: NDArray[np.bool_]) -> NDArray[np.bool_]:
        X = self.func(pop)
        # A genome made elsewhere may have another dtype: compare in the one of the newcomers.
        seen = set() if other is None else set(row_keys(self.func(other).astype(X.dtype, copy=False)))
        for i, key in enumerate(row_keys(X)):
            is_duplicate[i] = key in seen
            seen.add(key)
        return is_duplicate

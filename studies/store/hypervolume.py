"""Hypervolume of a front as a share of a box, and non-dominated filtering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import moocore
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def nondominated(F: FloatArray) -> NDArray[np.bool_]:
    """Mask of the rows that no other row dominates; of equal rows, only the first.

    Examples
    --------
    >>> nondominated(np.array([[1.0, 2.0], [2.0, 1.0], [2.0, 2.0], [1.0, 2.0]])).tolist()
    [True, True, False, False]
    """
    if len(F) == 0:
        return np.zeros(0, dtype=bool)
    if F.shape[1] == 1:
        mask = np.zeros(len(F), dtype=bool)
        mask[int(np.argmin(F[:, 0]))] = True
        return mask
    mask = np.asarray(moocore.is_nondominated(F, keep_weakly=False), dtype=bool)
    return mask


@dataclass(frozen=True)
class Box:
    """Box of the hypervolume: from the best value of each objective to the reference point (minimized)."""

    ideal: FloatArray
    reference: FloatArray

    @classmethod
    def around(cls, worst_of: Sequence[FloatArray], best_of: Sequence[FloatArray]) -> Box:
        """Box from the best of all solutions found to the worst of those from which a search starts.

        The reference point does not move during a search, so that the hypervolume can only grow.
        """
        start = np.vstack(worst_of)
        return cls(np.vstack([start, *best_of]).min(axis=0), start.max(axis=0))

    def share(self, F: FloatArray) -> float:
        """Share of the box that the rows dominate, 0 to 1.

        Examples
        --------
        >>> Box(np.zeros(2), np.ones(2)).share(np.array([[0.5, 0.0], [0.0, 0.5]]))
        0.75
        """
        width = self.reference - self.ideal
        kept = width > 0  # ignore an objective that never varies
        if not kept.any():
            return 0.0 if len(F) == 0 else 1.0
        scaled = (np.asarray(F, dtype=float)[:, kept] - self.ideal[kept]) / width[kept]
        scaled = scaled[(scaled < 1.0).all(axis=1)]
        if len(scaled) == 0:
            return 0.0
        scaled = np.maximum(scaled, 0.0)
        if scaled.shape[1] == 1:
            return float(1.0 - scaled.min())
        return float(moocore.hypervolume(np.ascontiguousarray(scaled), ref=np.ones(scaled.shape[1])))


def shares(fronts: Sequence[FloatArray], box: Box) -> FloatArray:
    """``box.share`` of each front; equal successive fronts are measured once."""
    result = np.zeros(len(fronts))
    for i, front in enumerate(fronts):
        same = i > 0 and np.array_equal(front, fronts[i - 1])
        result[i] = result[i - 1] if same else box.share(front)
    return result

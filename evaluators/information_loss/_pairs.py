"""Pairs of large tables of codes, which are not copied: columns are widened to 64 bits one at a time."""

from __future__ import annotations

import numpy as np

from sdc_problems._validation import IntArray, code_pair

RECORDS = 1 << 20
"""Records that are widened to 64 bits at a time."""
CELLS = 1 << 24
"""Cells of a table above which its columns are processed one by one."""


def whole_pair(X: object, Y: object) -> tuple[IntArray, IntArray]:
    """Original and protected codes of the same shape, checked; only small tables are widened to 64 bits."""
    first, second = np.asarray(X), np.asarray(Y)
    if (
        first.size < CELLS
        or first.dtype.kind not in "iu"
        or second.dtype.kind not in "iu"
        or first.shape != second.shape
        or first.ndim != 2
    ):
        return code_pair(X, Y)
    for low in range(0, len(first), RECORDS):
        code_pair(first[low : low + RECORDS], second[low : low + RECORDS])
    return first, second

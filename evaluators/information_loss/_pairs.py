"""Two large tables of codes, as they are: each column becomes 64 bits wide when it is its turn."""

from __future__ import annotations

import numpy as np

from sdc_problems._validation import IntArray, code_pair

RECORDS = 1 << 20
"""Records that are made 64 bits wide at a time."""
CELLS = 1 << 24
"""Cells of a table above which its columns are looked at one by one."""


def whole_pair(X: object, Y: object) -> tuple[IntArray, IntArray]:
    """Original and protected codes of one shape, checked; wide if they are few, else as they are."""
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

"""Kernels that find equal rows with a hash table, in one pass instead of a sort per column."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdc_problems._kernel import kernel
from sdc_problems._validation import FloatArray, IntArray


def _plain_group(words: Any, table: Any, who: Any, first: Any, count: Any) -> int:
    rows = words.view(np.dtype((np.void, words.itemsize * words.shape[1]))).ravel()
    _, at, inverse, sizes = np.unique(rows, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(at)
    rank = np.empty(len(at), dtype=np.int64)
    rank[order] = np.arange(len(at))
    who[:], first[: len(at)], count[: len(at)] = rank[inverse.ravel()], at[order], sizes[order]
    return len(at)


@kernel(cost=lambda words, *_: 1e-5 + 5e-7 * words.size, plain=_plain_group)
def _group(words: Any, table: Any, who: Any, first: Any, count: Any) -> int:
    """Number the rows in order of first use; ``table`` holds -1, and its length is a power of two above n."""
    n, p = words.shape
    mask = np.uint64(len(table) - 1)
    factor, shift = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
    groups = 0
    for i in range(n):
        key = np.uint64(0)
        for c in range(p):
            key = (key ^ words[i, c]) * factor
            key ^= key >> shift
        place = key & mask
        while True:
            group = table[place]
            if group < 0:
                table[place] = groups
                who[i], first[groups], count[groups] = groups, i, 1
                groups += 1
                break
            same = True
            for c in range(p):
                if words[first[group], c] != words[i, c]:
                    same = False
                    break
            if same:
                who[i] = group
                count[group] += 1
                break
            place = (place + np.uint64(1)) & mask
    return groups


@kernel(cost=lambda values, *_: 1e-5 + 5e-7 * len(values))
def smallest_of(values: Any, who: Any, groups: int) -> Any:
    """Smallest value of each group, and its position."""
    least, where = np.full(groups, np.inf), np.zeros(groups, dtype=np.int64)
    for i in range(len(values)):
        if values[i] < least[who[i]]:
            least[who[i]], where[who[i]] = values[i], i
    return least, where


def same_rows(X: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Distinct rows in order of first use: first position of each, index of each row among them, and their counts.

    Examples
    --------
    >>> [found.tolist() for found in same_rows(np.array([[0.0, 1.0], [2.0, 1.0], [-0.0, 1.0]]))]
    [[0, 1], [0, 1, 0], [2, 1]]
    """
    n = len(X)
    words = np.ascontiguousarray(X + 0.0).view(np.uint64)  # -0.0 becomes 0.0
    table = np.full(2 << n.bit_length(), -1, dtype=np.int32)
    who, first, count = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    groups = _group(words, table, who, first, count)
    return first[:groups], who, count[:groups]

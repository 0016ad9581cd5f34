"""Compiled crossover of two k-partitions by whole groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel


@kernel()
def _root(parent: NDArray[np.int64], x: int) -> int:
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@kernel()
def _group_errors(Z: NDArray[np.float64], labels: NDArray[np.int32], n_groups: int) -> NDArray[np.float64]:
    """Sum of squares of each group."""
    n, p = Z.shape
    mean = np.zeros((n_groups, p))
    size = np.zeros(n_groups)
    for i in range(n):
        size[labels[i]] += 1.0
        for j in range(p):
            mean[labels[i], j] += Z[i, j]
    error = np.zeros(n_groups)
    for i in range(n):
        g = labels[i]
        for j in range(p):
            away = Z[i, j] - mean[g, j] / size[g]
            error[g] += away * away
    return error


@kernel()
def best_parts_kernel(
    Z: NDArray[np.float64], first: NDArray[np.int32], second: NDArray[np.int32]
) -> tuple[NDArray[np.int32], float]:
    """Take each part from the parent that groups it better; ties go to the first parent.

    Groups of the two parents that share a record belong to the same part. A part has the same records in both parents,
    so every choice of parts is a partition whose groups are groups of a parent. The child is the best of them.

    Returns
    -------
    child, gain
        Labels in order of first use, and decrease of the sum of squares from the first parent.
    """
    n = len(first)
    n_first, n_second = first.max() + 1, second.max() + 1
    parent = np.arange(n_first + n_second)
    for i in range(n):
        a, b = _root(parent, first[i]), _root(parent, n_first + second[i])
        if a != b:
            parent[max(a, b)] = min(a, b)
    in_first = _group_errors(Z, first, n_first)
    in_second = _group_errors(Z, second, n_second)
    better = np.zeros(n_first + n_second)  # advantage of the second parent in each part, at its root
    scale = np.zeros(n_first + n_second)
    for g in range(n_first):
        better[_root(parent, g)] += in_first[g]
        scale[_root(parent, g)] += in_first[g]
    for g in range(n_second):
        better[_root(parent, n_first + g)] -= in_second[g]
    gain = 0.0
    for r in range(n_first + n_second):
        if parent[r] == r and better[r] > 1e-12 * scale[r]:
            gain += better[r]
    child = np.empty(n, dtype=np.int32)
    new = np.full(n_first + n_second, -1, dtype=np.int32)
    used = 0
    for i in range(n):
        r = _root(parent, first[i])
        g = n_first + second[i] if better[r] > 1e-12 * scale[r] else first[i]
        if new[g] < 0:
            new[g] = used
            used += 1
        child[i] = new[g]
    return child, gain

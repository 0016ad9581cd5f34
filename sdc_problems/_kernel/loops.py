"""Loops that kernels use instead of numpy's functions, which each take numba half a second to two to compile."""

from __future__ import annotations

from typing import Any

from sdc_problems._kernel import kernel


@kernel(allocates=False)
def put(target: Any, source: Any) -> None:
    """Copy a vector into the beginning of another: ``target[:len(source)] = source``."""
    for i in range(len(source)):
        target[i] = source[i]


@kernel(allocates=False)
def ascend(values: Any) -> None:
    """Sort a few numbers, in place (Shell's sort)."""
    gap = 1
    while gap < len(values) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, len(values)):
            value, at = values[i], i
            while at >= gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value
        gap //= 3


@kernel(allocates=False)
def descend(keys: Any, values: Any, n: int) -> None:
    """Sort the first n keys in descending order, with the value of each, in place (Shell's sort)."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            key, value, at = keys[i], values[i], i
            while at >= gap and keys[at - gap] < key:
                keys[at], values[at] = keys[at - gap], values[at - gap]
                at -= gap
            keys[at], values[at] = key, value
        gap //= 3

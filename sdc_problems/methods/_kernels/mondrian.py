"""Compiled Mondrian: regions are ranges of the permuted table, cut at medians found by selection."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import SLICE, kernel
from sdc_problems._slices import tell
from sdc_problems.methods._kernels.mdav import first_use


@kernel()
def _select(values: NDArray[np.int32], m: int, rank: int) -> int:
    """Value of a given rank among the first m values, which are reordered (three-way quickselect)."""
    low, high = 0, m - 1
    seed = 12345
    while low < high:
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        pivot = values[low + seed % (high - low + 1)]
        less, i, more = low, low, high
        while i <= more:
            v = values[i]
            if v < pivot:
                values[i] = values[less]
                values[less] = v
                less += 1
                i += 1
            elif v > pivot:
                values[i] = values[more]
                values[more] = v
                more -= 1
            else:
                i += 1
        if rank < less:
            high = less - 1
        elif rank > more:
            low = more + 1
        else:
            return int(pivot)
    return int(values[low])


@kernel()
def _node(codes: NDArray[np.int32], table: NDArray[np.int32], levels: int, size: int) -> tuple[int, int]:
    """Lowest level at which all codes are in one group, and that group; level ``levels`` if there is none."""
    for level in range(levels):
        row = table[level * size : (level + 1) * size]
        group = row[codes[0]]
        for i in range(1, len(codes)):
            if row[codes[i]] != group:
                group = -1
                break
        if group >= 0:
            return level, int(group)
    return levels, 0


@kernel()
def _halves(codes: NDArray[np.int32], k: int, strict: bool, scratch: NDArray[np.int32], part: NDArray[np.int32]) -> int:
    """Cut into two parts at the median, if both are large enough; returns their number, 2 or 0."""
    m = len(codes)
    if m < 2 * k:
        return 0
    for i in range(m):
        scratch[i] = codes[i]
    if strict:
        v = _select(scratch, m, m // 2)
        below, upto = 0, 0
        for i in range(m):
            below += codes[i] < v
            upto += codes[i] <= v
        # Every other cut is less balanced than one of these two, and so leaves fewer records on one side.
        if abs(2 * below - m) > abs(2 * upto - m):
            left, v = upto, v + 1
        else:
            left = below
        if left < k or m - left < k:
            return 0
        for i in range(m):
            part[i] = codes[i] >= v
        return 2
    half = (m + 1) // 2
    v = _select(scratch, m, half - 1)
    take = half
    for i in range(m):
        take -= codes[i] < v
    for i in range(m):
        if codes[i] == v and take > 0:
            part[i] = 0
            take -= 1
        else:
            part[i] = codes[i] >= v
    return 2


@kernel()
def _children(
    codes: NDArray[np.int32],
    row: NDArray[np.int32],
    k: int,
    count: NDArray[np.int64],
    part: NDArray[np.int32],
) -> int:
    """Cut into the groups of a level, if each group that occurs has at least k records; returns their number, or 0."""
    m = len(codes)
    for i in range(m):
        count[row[codes[i]]] += 1
    parts, allowed = 0, True
    for i in range(m):
        g = row[codes[i]]
        if count[g] > 0:
            allowed = allowed and count[g] >= k
            parts += 1
            count[g] = -parts
        part[i] = -count[g] - 1
    for i in range(m):
        count[row[codes[i]]] = 0
    return parts if allowed else 0


def _plain_halves(codes: Any, k: int, strict: bool) -> Any:
    m = len(codes)
    if m < 2 * k:
        return None
    if not strict:
        part = np.ones(m, dtype=np.int64)
        part[np.argsort(codes, kind="stable")[: (m + 1) // 2]] = 0
        return part
    v = np.partition(codes, m // 2)[m // 2]
    below, upto = int((codes < v).sum()), int((codes <= v).sum())
    left = below
    if abs(2 * below - m) > abs(2 * upto - m):
        left, v = upto, v + 1
    return None if left < k or m - left < k else (codes >= v).astype(np.int64)


def _plain_children(groups: Any, k: int) -> Any:
    _, first, group, count = np.unique(groups, return_index=True, return_inverse=True, return_counts=True)
    return np.argsort(np.argsort(first))[group] if count.min() >= k else None


def _plain_regions(
    P: Any, values: Any, offsets: Any, spans: Any, tables: Any, starts: Any, levels: Any, k: int, strict: bool,
    ids: Any, labels: Any, stack: Any, state: Any, budget: int,
) -> None:  # fmt: skip
    p = len(P)
    waiting, region = state.tolist()
    sizes = np.diff(offsets)
    leveled = [tables[starts[j] : starts[j] + levels[j] * sizes[j]].reshape(levels[j], sizes[j]) for j in range(p)]
    while waiting > 0 and budget > 0:
        waiting -= 1
        low, high = stack[waiting].tolist()
        budget -= 8 * p * (high - low)
        widths: dict[int, float] = {}
        below = [0] * p
        for j in range(p):
            codes = P[j, low:high]
            if high - low < 2 * k or spans[j] <= 0:
                continue
            if len(leveled[j]):
                groups = leveled[j][:, codes]
                one = (groups == groups[:, :1]).all(axis=1)
                level = int(np.argmax(one)) if one.any() else len(one)
                leaves = sizes[j] if level == len(one) else (leveled[j][level] == groups[level, 0]).sum()
                if level > 0:
                    widths[j], below[j] = (leaves - 1) / spans[j], level - 1
            else:
                least, largest = codes.min(), codes.max()
                if largest > least:
                    widths[j] = (values[offsets[j] + largest] - values[offsets[j] + least]) / spans[j]
        part = None
        for j in sorted(widths, key=lambda j: -widths[j]):  # ties go to the first
            codes = P[j, low:high]
            grouped = leveled[j]
            part = _plain_children(grouped[below[j]][codes], k) if len(grouped) else _plain_halves(codes, k, strict)
            if part is not None:
                break
        if part is None:
            labels[ids[low:high]] = region
            region += 1
            continue
        ends = low + np.cumsum(np.bincount(part))
        for begin, end in zip([low, *ends[:-1]], ends, strict=True):
            stack[waiting] = begin, end
            waiting += 1
        order = low + np.argsort(part, kind="stable")
        P[:, low:high] = P[:, order]
        ids[low:high] = ids[order]
    state[:] = waiting, region


def _plain_seconds(P: Any, *given: Any) -> float:
    """Estimated seconds of about two passes over each region."""
    p, n = P.shape
    regions = n // given[6] + 1
    return float(2 * regions * (3e-5 + 3e-5 * p) + P.size * np.log2(regions + 1) * 5e-8)


@kernel(cost=_plain_seconds, plain=_plain_regions)
def _cut_regions(
    P: NDArray[np.int32],
    values: NDArray[np.float64],
    offsets: NDArray[np.int64],
    spans: NDArray[np.float64],
    tables: NDArray[np.int32],
    starts: NDArray[np.int64],
    levels: NDArray[np.int64],
    k: int,
    strict: bool,
    ids: NDArray[np.int32],
    labels: NDArray[np.int32],
    stack: NDArray[np.int64],
    state: NDArray[np.int64],
    budget: int,
) -> None:
    """Cut the regions on the stack until it is empty or the budget of steps is spent.

    ``state`` holds the numbers of waiting and of labeled regions.
    """
    p, n = P.shape
    scratch = np.empty(n, dtype=np.int32)
    part = np.empty(n, dtype=np.int32)
    widths = np.empty(p)
    at_level = np.zeros(p, dtype=np.int64)
    most = 1
    for j in range(p):
        most = max(most, offsets[j + 1] - offsets[j])
    count = np.zeros(most, dtype=np.int64)
    fill = np.zeros(most + 1, dtype=np.int64)
    waiting, region = state
    while waiting > 0 and budget > 0:
        waiting -= 1
        low, high = stack[waiting, 0], stack[waiting, 1]
        m = high - low
        budget -= 8 * p * m
        for j in range(p):
            codes = P[j, low:high]
            size = offsets[j + 1] - offsets[j]
            widths[j] = -1.0
            if m < 2 * k or spans[j] <= 0:
                continue
            if levels[j] > 0:
                table = tables[starts[j] : starts[j] + levels[j] * size]
                level, group = _node(codes, table, levels[j], size)
                at_level[j] = level
                if level > 0:
                    leaves = 0
                    for c in range(size):
                        leaves += level == levels[j] or table[level * size + c] == group
                    widths[j] = (leaves - 1) / spans[j]
            else:
                least, largest = codes[0], codes[0]
                for i in range(1, m):
                    c = codes[i]
                    least = min(least, c)
                    largest = max(largest, c)
                if largest > least:
                    widths[j] = (values[offsets[j] + largest] - values[offsets[j] + least]) / spans[j]
        parts = 0
        for _ in range(p):
            best = -1
            for j in range(p):
                if widths[j] >= 0 and (best < 0 or widths[j] > widths[best]):
                    best = j
            if best < 0:
                break
            widths[best] = -1.0
            codes = P[best, low:high]
            if levels[best] > 0:
                size = offsets[best + 1] - offsets[best]
                begin = starts[best] + (at_level[best] - 1) * size
                parts = _children(codes, tables[begin : begin + size], k, count, part)
            else:
                parts = _halves(codes, k, strict, scratch, part)
            if parts > 0:
                break
        if parts == 0:
            for i in range(low, high):
                labels[ids[i]] = region
            region += 1
            continue
        for a in range(parts + 1):
            fill[a] = 0
        for i in range(m):
            fill[part[i] + 1] += 1
        for a in range(parts):
            fill[a + 1] += fill[a]
        for a in range(parts):
            stack[waiting, 0] = low + fill[a]
            stack[waiting, 1] = low + fill[a + 1]
            waiting += 1
        for j in range(-1, p):
            row = ids if j < 0 else P[j]
            for i in range(m):
                scratch[fill[part[i]]] = row[low + i]
                fill[part[i]] += 1
            for i in range(m):
                row[low + i] = scratch[i]
            for a in range(parts, 0, -1):
                fill[a] = fill[a - 1]
            fill[0] = 0
    state[0], state[1] = waiting, region


def mondrian_kernel(
    P: NDArray[np.int32],
    values: NDArray[np.float64],
    offsets: NDArray[np.int64],
    spans: NDArray[np.float64],
    tables: NDArray[np.int32],
    starts: NDArray[np.int64],
    levels: NDArray[np.int64],
    k: int,
    strict: bool,
) -> NDArray[np.int32]:
    """Region of each record, numbered in order of first use.

    Parameters
    ----------
    P
        Attributes × records as dense codes; overwritten.
    values, offsets
        Number that each code of each attribute stands for, and start of each attribute.
    spans
        Range of each attribute in the file (0 if constant).
    tables, starts, levels
        Level tables of attributes with a hierarchy (0 levels: none), one after the other.
    k
        Smallest region.
    strict
        Whether equal records stay together.
    """
    n = P.shape[1]
    ids, labels = np.arange(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    stack = np.empty((n // k + 1, 2), dtype=np.int64)  # waiting regions have k records each
    stack[0] = 0, n
    state = np.array([1, 0], dtype=np.int64)
    while state[0]:
        _cut_regions(P, values, offsets, spans, tables, starts, levels, k, strict, ids, labels, stack, state, SLICE)
        if state[0]:
            tell("records in regions", int(n - (stack[: state[0], 1] - stack[: state[0], 0]).sum()), n)
    first_use(labels, int(state[1]))
    return labels

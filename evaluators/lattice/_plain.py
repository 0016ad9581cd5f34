"""Measures of nodes without compiled code, for small work that would otherwise wait for compilation.

The figures equal those of ``measure_from`` to the last bit, because all sums are of integers. Classes and values may be
in another order, on which no figure depends.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def plain_stats(table: Any, lattice: Any) -> None:
    """Stats of every class, like ``fill_stats``."""
    value, count = table.pairs >> 32, table.pairs & 0xFFFFFFFF
    of = np.repeat(np.arange(len(table.stats)), np.diff(table.start))
    sensitive = value < lattice.n_sensitive
    inside, counts = of[sensitive], count[sensitive]
    excess = counts * lattice.n_records - table.sizes[inside] * lattice.reference[value[sensitive]]
    stats = table.stats
    stats[:] = 0
    np.add.at(stats[:, 0], inside, 1)
    np.add.at(stats[:, 1], inside, counts * counts)
    np.add.at(stats[:, 2], inside, _x_log_x(counts, lattice))
    np.add.at(stats[:, 3], inside, np.maximum(excess, 0))
    np.maximum.at(stats[:, 4], of[~sensitive], count[~sensitive])


def plain_measure(source: Any, of: Ints, levels: Ints, lattice: Any) -> Any:
    """Table and figures of a node, like ``measure_from``."""
    keys = source.keys[: len(source.sizes)].copy()
    for a in np.flatnonzero(of != levels):
        word, shift = lattice.word[a], lattice.shift[a]
        code = (keys[:, word] >> shift) & lattice.mask[a]
        lifted = lattice.lift[lattice.lift_at[a, of[a], levels[a]] + code].astype(np.int64)
        keys[:, word] += (lifted - code) << shift
    rows = keys[:, 0] if keys.shape[1] == 1 else keys.view(np.dtype((np.void, keys.itemsize * keys.shape[1]))).ravel()
    _, first, group = np.unique(rows, return_index=True, return_inverse=True)
    group = group.ravel()
    sizes = np.bincount(group, weights=source.sizes, minlength=len(first)).astype(np.int64)
    if source.pairs is not None:
        classes = np.repeat(group, np.diff(source.start))
        wide = max(1, lattice.n_followed)
        pair, at = np.unique(classes * wide + (source.pairs >> 32), return_inverse=True)
        counts = np.bincount(at.ravel(), weights=source.pairs & 0xFFFFFFFF, minlength=len(pair)).astype(np.int64)
        start = np.searchsorted(pair // wide, np.arange(len(first) + 1)).astype(np.int64)
        stats = np.empty((len(first), source.stats.shape[1]), np.int64)
        table = type(source)(keys[first], sizes, start, (pair % wide << 32) | counts, stats)
        plain_stats(table, lattice)
    else:
        table = type(source)(keys[first], sizes, None, None, None)
    return table, *_figures(table, levels, lattice)


def plain_walk(
    source: Any, of: Ints, order: Ints, rooms: Ints, lattice: Any, columns: Ints, every: bool
) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """Figures of every node that differs in the attributes ``order``, like ``walk``; each grouped from the source."""
    levels = of.copy()
    numbers, limits, values = [], [], []
    d = 0
    while d >= 0:
        _, limit, figures = plain_measure(source, of, levels, lattice)
        kept = slice(None) if every else slice(-1, None)
        limits.append(limit[kept])
        values.append(figures[kept][:, columns])
        numbers.append(np.full(len(limits[-1]), (levels * lattice.stride).sum()))
        d = len(order) - 1
        while d >= 0 and levels[order[d]] == lattice.n_levels[order[d]] - 1:
            levels[order[d]] = 0
            d -= 1
        if d >= 0:
            levels[order[d]] += 1
    return np.concatenate(numbers), np.concatenate(limits), np.concatenate(values)


def _x_log_x(x: Ints, lattice: Any) -> Ints:
    known = len(lattice.log_table)
    found = lattice.log_table[np.minimum(x, known - 1)]
    large = np.flatnonzero(x >= known)
    if len(large):
        distinct, inverse = np.unique(x[large], return_inverse=True)
        values = [np.rint(size * math.log(size) * lattice.log_scale) for size in distinct.tolist()]
        found[large] = np.array(values, dtype=np.int64)[inverse]
    return found  # type: ignore[no-any-return]


def _figures(table: Any, levels: Ints, lattice: Any) -> tuple[Ints, NDArray[np.float64]]:
    """Largest suppressed size and figures of each step of suppression."""
    sizes, n = table.sizes, lattice.n_records
    small, records = np.unique(sizes[sizes <= lattice.max_suppressed], return_counts=True)
    suppressed = np.cumsum(small * records)
    fits = suppressed <= lattice.max_suppressed
    limits = np.concatenate([[0], small[fits]]).astype(np.int64)
    suppressed = np.concatenate([[0], suppressed[fits]])
    n_steps = len(limits)
    step = np.where(sizes <= limits[-1], np.searchsorted(limits, sizes), 0)

    def total(values: Any) -> Any:
        """Sums over the classes that remain at each step."""
        sums = np.zeros(n_steps, np.int64)
        np.add.at(sums, step, values)
        return sums[0] + np.concatenate([np.cumsum(sums[:0:-1])[::-1], [0]])

    def extreme(values: Any, better: Any, none: float) -> Any:
        found = np.full(n_steps, none)
        better.at(found, step, values)
        return better(found[0], np.concatenate([better.accumulate(found[:0:-1])[::-1], [none]]))

    figures = np.empty((n_steps, 10))
    left = sizes[step == 0]
    figures[:, 0] = np.concatenate([limits[1:], [min(n, left.min()) if len(left) else n]])
    figures[:, 1], figures[:, 2], figures[:, 3], figures[:, 5] = n, np.inf, 0.0, 0.0
    minorities: Any = 0
    if table.stats is not None:
        distinct, squares, logs, excess, most = table.stats.T
        figures[:, 1] = extreme(distinct, np.minimum, n)
        figures[:, 2] = extreme((_x_log_x(sizes, lattice) - logs) / sizes, np.minimum, np.inf) / lattice.log_scale
        figures[:, 3] = extreme(excess / (sizes * n), np.maximum, 0.0)
        figures[:, 5] = total(squares)
        minorities = total(sizes - most)
    loss: Any = 0.0
    gone = np.flatnonzero(step)
    for a in range(len(levels)):
        if lattice.span[a] > 0:
            code = (table.keys[gone, lattice.word[a]] >> lattice.shift[a]) & lattice.mask[a]
            extra = np.zeros(n_steps, np.int64)
            np.add.at(extra, step[gone], sizes[gone] * lattice.relief[lattice.relief_at[a, levels[a]] + code])
            loss = loss + (lattice.level_loss[a, levels[a]] + np.cumsum(extra)) / lattice.span[a]
    figures[:, 4] = total(sizes * sizes)
    figures[:, 6] = loss
    figures[:, 7] = minorities + suppressed
    figures[:, 8] = figures[:, 4] + suppressed * n
    figures[:, 9] = suppressed
    return limits, figures

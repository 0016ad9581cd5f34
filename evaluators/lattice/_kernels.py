"""Compiled loops of the lattice engine: group a table of classes by a coarser node, count its values, measure it.

All sums are of integers, so the figures of a node do not depend on the table from which it was grouped.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems._kernel.loops import put
from sdc_problems.evaluators.lattice._plain import plain_measure, plain_stats, plain_walk

Ints = NDArray[np.int64]
SmallInts = NDArray[np.int32]
Floats = NDArray[np.float64]

COUNT_BITS = 32  # a pair is value << 32 | count
N_FIGURES = 10  # k, l, least entropy, t, spread_k, spread_l, glm, cm, discernibility, suppressed
N_STATS = 5  # per class: distinct sensitive values, sum of squared counts, sum of x·log x, excess, majority


class ClassTable(NamedTuple):
    """Equivalence classes of one node: packed codes (classes × words), sizes, and counts of values.

    Sensitive values are numbered from 0, followed by the class labels. ``pairs[start[c]:start[c + 1]]`` holds the
    values of class c with their counts, and ``stats[c]`` what the measures need of them. If no measure needs counts,
    these three are empty.
    """

    keys: Ints
    sizes: Ints
    start: Ints
    pairs: Ints
    stats: Ints


class Lattice(NamedTuple):
    """Constants of a lattice and its records.

    The code of attribute ``a`` is ``(keys[word[a]] >> shift[a]) & mask[a]``. Code ``v`` at level ``of`` becomes
    ``lift[lift_at[a, of, to] + v]`` at level ``to``. ``relief[relief_at[a, l] + v]`` is the loss that suppression adds
    to the generalization of a record with code ``v`` at level ``l``, times ``span[a]``; ``level_loss[a, l]`` is the
    loss of all records, times ``span[a]``. ``reference`` counts each sensitive value in the whole table.
    """

    n_levels: Ints
    stride: Ints
    word: Ints
    shift: Ints
    mask: Ints
    span: Ints
    lift: SmallInts
    lift_at: Ints
    relief: Ints
    relief_at: Ints
    level_loss: Ints
    n_sensitive: int
    n_followed: int
    reference: Ints
    log_table: Ints
    log_scale: float
    n_records: int
    max_suppressed: int


class Steps(NamedTuple):
    """Arrays for the suppression steps of a node: suppress nothing, the smallest classes, the two smallest sizes, …

    ``limits[i]`` is the largest size that step i suppresses, and ``figures[i]`` are the figures then. The others are
    work arrays: ``by_size`` is zero everywhere between two nodes; ``sums`` adds up squares of sizes, squares of counts,
    and minorities; ``least`` and ``worst`` hold the other figures; ``extra`` holds the loss by suppression per
    attribute.
    """

    by_size: Ints
    sums: Ints
    least: Ints
    worst: Floats
    extra: Ints
    limits: Ints
    figures: Floats


@kernel()
def _x_log_x(x: int, lattice: Lattice) -> int:
    """``x·log x`` in fixed point, so that sums are exact and the same in any order."""
    if x < lattice.log_table.shape[0]:
        return lattice.log_table[x]  # type: ignore[no-any-return]
    return np.int64(np.rint(x * math.log(x) * lattice.log_scale))  # type: ignore[return-value]


@kernel()
def _group(
    source: ClassTable,
    n: int,
    lattice: Lattice,
    changed: Ints,
    lift_from: Ints,
    link: SmallInts,
    last: SmallInts,
    slots: SmallInts,
    out: ClassTable,
) -> int:
    """Merge classes whose codes become equal; returns the number of resulting classes.

    The classes merged into ``g`` are ``last[g]``, then ``link`` of each until -1. ``out.keys`` has one row more than
    there are resulting classes: the next key is written there before it is looked up.
    """
    keys, sizes, out_keys, out_sizes = source.keys, source.sizes, out.keys, out.sizes
    width = keys.shape[1]
    n_slots = slots_for(n)
    slots[:n_slots] = -1
    m = 0
    for c in range(n):
        first = keys[c, 0]
        for w in range(1, width):
            out_keys[m, w] = keys[c, w]
        for i in range(changed.shape[0]):
            a = changed[i]
            w, shift = lattice.word[a], lattice.shift[a]
            word = first if w == 0 else out_keys[m, w]
            code = (word >> shift) & lattice.mask[a]
            word += (np.int64(lattice.lift[lift_from[i] + code]) - code) << shift
            if w == 0:
                first = word
            else:
                out_keys[m, w] = word
        h = np.uint64(first) * np.uint64(0x9E3779B97F4A7C15)
        for w in range(1, width):
            h = (h ^ (h >> np.uint64(32)) ^ np.uint64(out_keys[m, w])) * np.uint64(0x9E3779B97F4A7C15)
        at = np.int64(h >> np.uint64(32)) & (n_slots - 1)
        while True:
            g = slots[at]
            if g < 0:
                slots[at] = m
                out_keys[m, 0] = first
                out_sizes[m] = sizes[c]
                link[c] = -1
                last[m] = c
                m += 1
                break
            same = out_keys[g, 0] == first
            for w in range(1, width):
                same = same and out_keys[g, w] == out_keys[m, w]
            if same:
                out_sizes[g] += sizes[c]
                link[c] = last[g]
                last[g] = c
                break
            at = (at + 1) & (n_slots - 1)
    return m


@kernel()
def _class_stats(pairs: Ints, first: Any, end: Any, size: int, lattice: Lattice, stats: Ints) -> None:
    squares, logs, excess, most, distinct = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for i in range(first, end):
        value, count = pairs[i] >> COUNT_BITS, pairs[i] & 0xFFFFFFFF
        if value >= lattice.n_sensitive:
            most = max(most, count)
            continue
        distinct += 1
        squares += count * count
        logs += _x_log_x(count, lattice)
        excess += max(0, count * lattice.n_records - size * lattice.reference[value])
    stats[0] = distinct
    stats[1] = squares
    stats[2] = logs
    stats[3] = excess
    stats[4] = most


@kernel()
def _merge_counts(
    source: ClassTable,
    link: SmallInts,
    last: SmallInts,
    m: int,
    lattice: Lattice,
    tally: Ints,
    touched: SmallInts,
    out: ClassTable,
) -> None:
    """Add up the counts of merged classes; a class that was not merged keeps its pairs and stats.

    ``tally`` must be zero for every value, and is zero again afterward.
    """
    start, pairs, stats = source.start, source.pairs, source.stats
    out_start, out_pairs, out_stats = out.start, out.pairs, out.stats
    end = np.int64(0)
    for g in range(m):
        first = end
        out_start[g] = first
        c = last[g]
        if link[c] < 0:
            for i in range(start[c], start[c + 1]):
                out_pairs[end] = pairs[i]
                end += 1
            for s in range(N_STATS):
                out_stats[g, s] = stats[c, s]
            continue
        n_touched = 0
        while c >= 0:
            for i in range(start[c], start[c + 1]):
                value = pairs[i] >> COUNT_BITS
                if tally[value] == 0:
                    touched[n_touched] = value
                    n_touched += 1
                tally[value] += pairs[i] & 0xFFFFFFFF
            c = link[c]
        for t in range(n_touched):
            value = np.int64(touched[t])
            out_pairs[end] = (value << COUNT_BITS) | tally[value]
            tally[value] = 0
            end += 1
        _class_stats(out_pairs, first, end, out.sizes[g], lattice, out_stats[g])
    out_start[m] = end


@kernel(cost=lambda table, lattice: 1e-4 + 3e-7 * len(table.pairs), plain=plain_stats)
def fill_stats(table: ClassTable, lattice: Lattice) -> None:
    """Fill in the stats of every class of a table that was not grouped from another."""
    for c in range(table.stats.shape[0]):
        _class_stats(table.pairs, table.start[c], table.start[c + 1], table.sizes[c], lattice, table.stats[c])


@kernel()
def _rooms_for_steps(lattice: Lattice) -> Steps:
    """Allocate arrays for the steps of one node: few, as the suppressed sizes are distinct and within the budget."""
    n = 1 + np.int64((math.sqrt(8.0 * lattice.max_suppressed + 1.0) - 1.0) / 2.0) + 1  # plus 1 for rounding
    n_attributes = lattice.n_levels.shape[0]
    return Steps(
        np.zeros(lattice.max_suppressed + 2, np.int64),
        np.empty((n, 3), np.int64),
        np.empty(n, np.int64),
        np.empty((n, 2), np.float64),
        np.empty((n, n_attributes), np.int64),
        np.empty(n, np.int64),
        np.empty((n, N_FIGURES), np.float64),
    )


@kernel()
def _suppressible(sizes: Ints, m: int, max_suppressed: int, steps: Steps) -> int:
    """Find the steps of a node; returns their number.

    Step 0 suppresses nothing; each further step adds the classes of the next size, as far as the budget allows.
    ``by_size`` then holds the step of each size that can be suppressed; ``_forget_sizes`` resets it to zero.
    """
    by_size, limits, figures = steps.by_size, steps.limits, steps.figures
    largest_small = 0
    for c in range(m):
        size = sizes[c]
        if size <= max_suppressed:
            by_size[size] += size
            largest_small = max(largest_small, size)
    n_steps, suppressed, size = 1, 0, 0
    limits[0], figures[0, 9] = 0, 0.0
    while size < largest_small:
        size += 1
        records = by_size[size]
        if records == 0:
            continue
        suppressed += records
        if suppressed > max_suppressed:
            break
        limits[n_steps], figures[n_steps, 9] = size, suppressed
        by_size[size] = n_steps
        n_steps += 1
    return n_steps


@kernel()
def _forget_sizes(sizes: Ints, m: int, max_suppressed: int, by_size: Ints) -> None:
    for c in range(m):
        if sizes[c] <= max_suppressed:
            by_size[sizes[c]] = 0


@kernel()
def _measure(table: ClassTable, m: int, lattice: Lattice, levels: Ints, steps: Steps, every: bool) -> int:
    """Compute all figures of a node at each step from its first ``m`` classes; returns the number of steps.

    Classes are added up by the step that suppresses them, where 0 means none, so one pass serves any number of steps.
    Unless ``every`` is set, only the figures of the last step are written. Figures that need counts the table does not
    have are meaningless.
    """
    sums, least, worst, extra = steps.sums, steps.least, steps.worst, steps.extra
    limits, out = steps.limits, steps.figures
    n_steps = _suppressible(table.sizes, m, lattice.max_suppressed, steps)
    n_attributes = levels.shape[0]
    sizes, stats = table.sizes, table.stats
    follows = stats.shape[0] > 0
    last, k = limits[n_steps - 1], np.int64(lattice.n_records)
    for i in range(n_steps):
        sums[i, 0] = sums[i, 1] = sums[i, 2] = 0
        least[i] = lattice.n_records
        worst[i, 0], worst[i, 1] = np.inf, 0.0
        for a in range(n_attributes):
            extra[i, a] = 0
    for c in range(m):
        size = sizes[c]
        i = 0
        if size <= last:
            i = steps.by_size[size]
            for a in range(n_attributes):
                code = (table.keys[c, lattice.word[a]] >> lattice.shift[a]) & lattice.mask[a]
                extra[i, a] += size * lattice.relief[lattice.relief_at[a, levels[a]] + code]
            if not every:
                continue
        else:
            k = min(k, size)
        sums[i, 0] += size * size
        if follows:
            least[i] = min(least[i], stats[c, 0])
            sums[i, 1] += stats[c, 1]
            worst[i, 0] = min(worst[i, 0], (_x_log_x(size, lattice) - stats[c, 2]) / size)
            worst[i, 1] = max(worst[i, 1], stats[c, 3] / (size * lattice.n_records))
            sums[i, 2] += size - stats[c, 4]
    _forget_sizes(sizes, m, lattice.max_suppressed, steps.by_size)
    # Accumulate what remains at each step, from the last step back to the first; the same for the extra losses.
    for i in range(1, n_steps):
        for a in range(n_attributes):
            extra[0, a] += extra[i, a]
    for i in range(n_steps - 1, -1, -1):
        loss = 0.0
        for a in range(n_attributes):
            if lattice.span[a] > 0:
                loss += (lattice.level_loss[a, levels[a]] + extra[0, a]) / lattice.span[a]
        suppressed = out[i, 9]
        out[i, 0] = k
        out[i, 1] = least[0]
        out[i, 2] = worst[0, 0] / lattice.log_scale
        out[i, 3] = worst[0, 1]
        out[i, 4] = sums[0, 0]
        out[i, 5] = sums[0, 1]
        out[i, 6] = loss
        out[i, 7] = sums[0, 2] + suppressed
        out[i, 8] = sums[0, 0] + suppressed * lattice.n_records
        if not every:
            break
        if i > 0:
            k = np.int64(limits[i])
            least[0] = min(least[0], least[i])
            worst[0, 0] = min(worst[0, 0], worst[i, 0])
            worst[0, 1] = max(worst[0, 1], worst[i, 1])
            for s in range(3):
                sums[0, s] += sums[i, s]
            for a in range(n_attributes):
                extra[0, a] -= extra[i, a]
    return n_steps


@kernel()
def slots_for(n: int) -> int:
    """Size of the hash table for ``n`` classes: a power of two, at most half full."""
    n_slots = 64
    while n_slots < 2 * n:
        n_slots *= 2
    return n_slots


@kernel()
def _room(like: ClassTable, n_classes: int, n_pairs: int) -> ClassTable:
    width = like.keys.shape[1]
    if like.start.shape[0] == 0:
        n_start, n_pairs, n_stats = 0, 0, 0
    else:
        n_start, n_stats = n_classes + 1, n_classes
    return ClassTable(
        np.empty((n_classes + 1, width), np.int64),
        np.empty(n_classes, np.int64),
        np.empty(n_start, np.int64),
        np.empty(n_pairs, np.int64),
        np.empty((n_stats, N_STATS), np.int64),
    )


def _plain_seconds(source: ClassTable, of: Ints, levels: Ints, lattice: Lattice) -> float:
    return 4e-4 + 3e-7 * source.keys.size + 3e-7 * len(source.pairs)


@kernel(cost=_plain_seconds, plain=plain_measure)
def measure_from(source: ClassTable, of: Ints, levels: Ints, lattice: Lattice) -> tuple[ClassTable, Ints, Floats]:
    """Group ``source`` (the table of node ``of``) by the coarser node ``levels``.

    Returns its table, and for each step of suppression the largest suppressed size and the figures.
    """
    n = source.sizes.shape[0]
    steps = _rooms_for_steps(lattice)
    changed = np.flatnonzero(of != levels)
    lift_from = np.empty(changed.shape[0], np.int64)
    for i in range(changed.shape[0]):
        a = changed[i]
        lift_from[i] = lattice.lift_at[a, of[a], levels[a]]
    table = _room(source, n, source.pairs.shape[0])
    link, last = np.empty(n, np.int32), np.empty(n, np.int32)
    slots = np.empty(slots_for(n), np.int32)
    tally, touched = np.zeros(lattice.n_followed, np.int64), np.empty(lattice.n_followed, np.int32)
    m = _group(source, n, lattice, changed, lift_from, link, last, slots, table)
    if source.start.shape[0] == 0:
        n_steps = _measure(table, m, lattice, levels, steps, True)
        made = ClassTable(table.keys[:m].copy(), table.sizes[:m].copy(), table.start, table.pairs, table.stats)
    else:
        _merge_counts(source, link, last, m, lattice, tally, touched, table)
        n_steps = _measure(table, m, lattice, levels, steps, True)
        made = ClassTable(
            table.keys[:m].copy(),
            table.sizes[:m].copy(),
            table.start[: m + 1].copy(),
            table.pairs[: table.start[m]].copy(),
            table.stats[:m].copy(),
        )
    return made, steps.limits[:n_steps].copy(), steps.figures[:n_steps].copy()


def _plain_walk_seconds(source: ClassTable, of: Ints, order: Ints, rooms: Ints, lattice: Lattice, *_: object) -> float:
    return float(np.prod(lattice.n_levels[order])) * _plain_seconds(source, of, of, lattice)


@kernel(cost=_plain_walk_seconds, plain=plain_walk)
def walk(
    source: ClassTable,
    of: Ints,
    order: Ints,
    rooms: Ints,
    lattice: Lattice,
    columns: Ints,
    every: bool,
) -> tuple[Ints, Ints, Floats]:
    """Measure every node that differs from ``of`` in the attributes ``order`` only, like a counter that starts at zero.

    The last attribute of ``order`` changes fastest, like the last digit of a counter. When an attribute changes, the
    table of the node one level below is grouped one level further, and the attributes after it start again from that
    table. Two tables are held per attribute, one for its current node and one for the next. Each has room for the node
    that generalizes only that attribute by one level, with at most ``rooms[:, 0]`` classes and ``rooms[:, 1]`` pairs.

    The result has one row per node, for its last step of suppression, or one row per step of each node if ``every``:
    the number ``levels · stride`` of the node, the largest suppressed size, and the requested columns.
    """
    depth = order.shape[0]
    n = source.sizes.shape[0]
    levels = of.copy()
    steps = _rooms_for_steps(lattice)
    link, last = np.empty(n, np.int32), np.empty(n, np.int32)
    slots = np.empty(slots_for(n), np.int32)
    tally, touched = np.zeros(lattice.n_followed, np.int64), np.empty(lattice.n_followed, np.int32)
    changed, lift_from = np.empty(1, np.int64), np.empty(1, np.int64)
    room = np.int64(1)
    for d in range(depth):
        room *= lattice.n_levels[order[d]]
    number, limit = np.empty(room, np.int64), np.empty(room, np.int64)
    values = np.empty((room, columns.shape[0]))
    n_rows = 0

    # Table 0 is the source; attribute d has tables 2d + 1 and 2d + 2.
    tables = [source]
    n_classes = np.zeros(2 * depth + 1, np.int64)
    n_classes[0] = n
    for d in range(depth):
        for _ in range(2):
            tables.append(_room(source, min(n, rooms[d, 0]), min(source.pairs.shape[0], rooms[d, 1])))
    current = np.zeros(depth + 1, np.int64)  # table that results from the attributes before d
    target = 0
    while True:
        n_steps = _measure(tables[target], n_classes[target], lattice, levels, steps, every)
        first = 0 if every else n_steps - 1
        if n_rows + n_steps > room and every:
            room = 2 * room + n_steps
            more_number, more_limit = np.empty(room, np.int64), np.empty(room, np.int64)
            more_values = np.empty((room, columns.shape[0]))
            put(more_number, number[:n_rows])
            put(more_limit, limit[:n_rows])
            for i in range(n_rows):
                put(more_values[i], values[i])
            number, limit, values = more_number, more_limit, more_values
        for i in range(first, n_steps):
            number[n_rows], limit[n_rows] = (levels * lattice.stride).sum(), steps.limits[i]
            for j in range(columns.shape[0]):
                values[n_rows, j] = steps.figures[i, columns[j]]
            n_rows += 1
        d = depth - 1
        while d >= 0 and levels[order[d]] == lattice.n_levels[order[d]] - 1:
            levels[order[d]] = 0
            d -= 1
        if d < 0:
            return number[:n_rows], limit[:n_rows], values[:n_rows]
        a = order[d]
        origin = current[d + 1] if levels[a] > 0 else current[d]
        target = 2 * d + 1 if origin != 2 * d + 1 else 2 * d + 2
        changed[0] = a
        lift_from[0] = lattice.lift_at[a, levels[a], levels[a] + 1]
        m = _group(tables[origin], n_classes[origin], lattice, changed, lift_from, link, last, slots, tables[target])
        if source.start.shape[0] > 0:
            _merge_counts(tables[origin], link, last, m, lattice, tally, touched, tables[target])
        n_classes[target] = m
        levels[a] += 1
        for later in range(d + 1, depth + 1):
            current[later] = target

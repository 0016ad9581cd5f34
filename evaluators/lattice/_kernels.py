"""Compiled loops of the lattice engine: group a table of classes by a coarser node, count its values, measure it.

All sums are of integers, so the figures of a node do not depend on the table from which it was grouped.
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems.evaluators.lattice._plain import plain_measure, plain_stats, plain_walk

Ints = NDArray[np.int64]
SmallInts = NDArray[np.int32]
Floats = NDArray[np.float64]
MaybeInts = Any  # Ints, or None if no measure needs counts

COUNT_BITS = 32  # a pair is value << 32 | count
N_FIGURES = 10  # k, l, least entropy, t, spread_k, spread_l, glm, cm, discernibility, suppressed
N_STATS = 5  # per class: distinct sensitive values, sum of squared counts, sum of x·log x, excess, majority


class ClassTable(NamedTuple):
    """Equivalence classes of one node: packed codes (classes × words), sizes, and counts of values.

    Sensitive values are numbered from 0, followed by the class labels. ``pairs[start[c]:start[c + 1]]`` holds the
    values of class c with their counts, and ``stats[c]`` what the measures need of them. If no measure needs counts,
    these three are None, and the kernels are compiled without them.
    """

    keys: Ints
    sizes: Ints
    start: MaybeInts
    pairs: MaybeInts
    stats: MaybeInts

    @property
    def n_pairs(self) -> int:
        """Number of pairs of all classes."""
        return 0 if self.pairs is None else len(self.pairs)


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


@kernel(allocates=False)
def _x_log_x(x: int, log_table: Ints, log_scale: float) -> int:
    """``x·log x`` in fixed point, so that sums are exact and the same in any order."""
    if x < log_table.shape[0]:
        return log_table[x]  # type: ignore[no-any-return]
    return np.int64(np.rint(x * math.log(x) * log_scale))  # type: ignore[return-value]


@kernel(allocates=False)
def _group(
    keys: Ints,
    sizes: Ints,
    begin: int,
    n: int,
    changes: Ints,
    lift: SmallInts,
    link: SmallInts,
    last: SmallInts,
    slots: SmallInts,
    out_keys: Ints,
    out_sizes: Ints,
    out: int,
) -> int:
    """Merge classes whose codes become equal; returns the number of resulting classes.

    The ``n`` classes from row ``begin`` on are grouped into classes from row ``out`` on. Each row of ``changes`` is an
    attribute that changes: its word, shift and mask, and where its codes are found in ``lift``. The classes merged into
    ``g`` are ``last[g]``, then ``link`` of each until -1, all without ``begin`` and ``out``. The next key is written
    behind the resulting classes before it is looked up.
    """
    width = keys.shape[1]
    n_slots = slots_for(n)
    for slot in range(n_slots):
        slots[slot] = -1
    m = 0
    for c in range(n):
        first = keys[begin + c, 0]
        for w in range(1, width):
            out_keys[out + m, w] = keys[begin + c, w]
        for i in range(changes.shape[0]):
            w, shift = changes[i, 0], changes[i, 1]
            word = first if w == 0 else out_keys[out + m, w]
            code = (word >> shift) & changes[i, 2]
            word += (np.int64(lift[changes[i, 3] + code]) - code) << shift
            if w == 0:
                first = word
            else:
                out_keys[out + m, w] = word
        h = np.uint64(first) * np.uint64(0x9E3779B97F4A7C15)
        for w in range(1, width):
            h = (h ^ (h >> np.uint64(32)) ^ np.uint64(out_keys[out + m, w])) * np.uint64(0x9E3779B97F4A7C15)
        at = np.int64(h >> np.uint64(32)) & (n_slots - 1)
        while True:
            g = slots[at]
            if g < 0:
                slots[at] = m
                out_keys[out + m, 0] = first
                out_sizes[out + m] = sizes[begin + c]
                link[c] = -1
                last[m] = c
                m += 1
                break
            same = out_keys[out + g, 0] == first
            for w in range(1, width):
                same = same and out_keys[out + g, w] == out_keys[out + m, w]
            if same:
                out_sizes[out + g] += sizes[begin + c]
                link[c] = last[g]
                last[g] = c
                break
            at = (at + 1) & (n_slots - 1)
    return m


@kernel(allocates=False)
def _class_stats(pairs: Ints, first: Any, end: Any, size: int, lattice: Lattice, stats: Ints, c: int) -> None:
    squares, logs, excess, most, distinct = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for i in range(first, end):
        value, count = pairs[i] >> COUNT_BITS, pairs[i] & 0xFFFFFFFF
        if value >= lattice.n_sensitive:
            most = max(most, count)
            continue
        distinct += 1
        squares += count * count
        logs += _x_log_x(count, lattice.log_table, lattice.log_scale)
        excess += max(0, count * lattice.n_records - size * lattice.reference[value])
    stats[c, 0] = distinct
    stats[c, 1] = squares
    stats[c, 2] = logs
    stats[c, 3] = excess
    stats[c, 4] = most


@kernel(allocates=False)
def _merge_counts(
    start: MaybeInts,
    pairs: MaybeInts,
    stats: MaybeInts,
    begin: int,
    begin_pairs: int,
    link: SmallInts,
    last: SmallInts,
    m: int,
    lattice: Lattice,
    tally: Ints,
    touched: SmallInts,
    out_sizes: Ints,
    out_start: MaybeInts,
    out_pairs: MaybeInts,
    out_stats: MaybeInts,
    out: int,
    out_pairs_at: int,
) -> int:
    """Add up the counts of merged classes; a class that was not merged keeps its pairs and stats.

    Returns the number of pairs. Classes begin as in ``_group``, their pairs at ``begin_pairs`` and ``out_pairs_at``.
    ``tally`` must be zero for every value, and is zero again afterward.
    """
    if pairs is None:
        return 0
    end = np.int64(0)
    for g in range(m):
        first = end
        out_start[out + g] = first
        c = np.int64(last[g])
        if link[c] < 0:
            for i in range(begin_pairs + start[begin + c], begin_pairs + start[begin + c + 1]):
                out_pairs[out_pairs_at + end] = pairs[i]
                end += 1
            for s in range(N_STATS):
                out_stats[out + g, s] = stats[begin + c, s]
            continue
        n_touched = 0
        while c >= 0:
            for i in range(begin_pairs + start[begin + c], begin_pairs + start[begin + c + 1]):
                value = pairs[i] >> COUNT_BITS
                if tally[value] == 0:
                    touched[n_touched] = value
                    n_touched += 1
                tally[value] += pairs[i] & 0xFFFFFFFF
            c = np.int64(link[c])
        for t in range(n_touched):
            value = np.int64(touched[t])
            out_pairs[out_pairs_at + end] = (value << COUNT_BITS) | tally[value]
            tally[value] = 0
            end += 1
        _class_stats(
            out_pairs, out_pairs_at + first, out_pairs_at + end, out_sizes[out + g], lattice, out_stats, out + g
        )
    out_start[out + m] = end
    return end  # type: ignore[return-value]


@kernel(cost=lambda table, lattice: 1e-4 + 3e-7 * len(table.pairs), plain=plain_stats, allocates=False)
def fill_stats(table: ClassTable, lattice: Lattice) -> None:
    """Fill in the stats of every class of a table with counts that was not grouped from another."""
    for c in range(table.stats.shape[0]):
        _class_stats(table.pairs, table.start[c], table.start[c + 1], table.sizes[c], lattice, table.stats, c)


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


@kernel(allocates=False)
def _suppressible(
    sizes: Ints, begin: int, m: int, max_suppressed: int, by_size: Ints, limits: Ints, figures: Floats
) -> int:
    """Find the steps of a node; returns their number.

    Step 0 suppresses nothing; each further step adds the classes of the next size, as far as the budget allows.
    ``by_size`` then holds the step of each size that can be suppressed.
    """
    largest_small = 0
    for c in range(begin, begin + m):
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


@kernel(allocates=False)
def _measure(
    keys: Ints,
    sizes: Ints,
    stats: MaybeInts,
    begin: int,
    m: int,
    lattice: Lattice,
    levels: Ints,
    steps: Steps,
    every: bool,
) -> int:
    """Compute all figures of a node at each step from its ``m`` classes; returns the number of steps.

    Classes are added up by the step that suppresses them, where 0 means none, so one pass serves any number of steps.
    Unless ``every`` is set, only the figures of the last step are written. Figures that need counts the table does not
    have are meaningless.
    """
    sums, least, worst, extra = steps.sums, steps.least, steps.worst, steps.extra
    by_size, limits, out = steps.by_size, steps.limits, steps.figures
    max_suppressed, n_records = lattice.max_suppressed, lattice.n_records
    word, shift, mask = lattice.word, lattice.shift, lattice.mask
    relief, relief_at, span, level_loss = lattice.relief, lattice.relief_at, lattice.span, lattice.level_loss
    log_table, log_scale = lattice.log_table, lattice.log_scale
    n_steps = _suppressible(sizes, begin, m, max_suppressed, by_size, limits, out)
    n_attributes = levels.shape[0]
    last, k = limits[n_steps - 1], np.int64(n_records)
    for i in range(n_steps):
        sums[i, 0] = sums[i, 1] = sums[i, 2] = 0
        least[i] = n_records
        worst[i, 0], worst[i, 1] = np.inf, 0.0
        for a in range(n_attributes):
            extra[i, a] = 0
    for c in range(begin, begin + m):
        size = sizes[c]
        i = 0
        if size <= last:
            i = by_size[size]
            for a in range(n_attributes):
                code = (keys[c, word[a]] >> shift[a]) & mask[a]
                extra[i, a] += size * relief[relief_at[a, levels[a]] + code]
            if not every:
                continue
        else:
            k = min(k, size)
        sums[i, 0] += size * size
        if stats is not None:
            least[i] = min(least[i], stats[c, 0])
            sums[i, 1] += stats[c, 1]
            worst[i, 0] = min(worst[i, 0], (_x_log_x(size, log_table, log_scale) - stats[c, 2]) / size)
            worst[i, 1] = max(worst[i, 1], stats[c, 3] / (size * n_records))
            sums[i, 2] += size - stats[c, 4]
    for c in range(begin, begin + m):  # zero everywhere again
        if sizes[c] <= max_suppressed:
            by_size[sizes[c]] = 0
    # Accumulate what remains at each step, from the last step back to the first; the same for the extra losses.
    for i in range(1, n_steps):
        for a in range(n_attributes):
            extra[0, a] += extra[i, a]
    for i in range(n_steps - 1, -1, -1):
        loss = 0.0
        for a in range(n_attributes):
            if span[a] > 0:
                loss += (level_loss[a, levels[a]] + extra[0, a]) / span[a]
        suppressed = out[i, 9]
        out[i, 0] = k
        out[i, 1] = least[0]
        out[i, 2] = worst[0, 0] / log_scale
        out[i, 3] = worst[0, 1]
        out[i, 4] = sums[0, 0]
        out[i, 5] = sums[0, 1]
        out[i, 6] = loss
        out[i, 7] = sums[0, 2] + suppressed
        out[i, 8] = sums[0, 0] + suppressed * n_records
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


@kernel(allocates=False)
def slots_for(n: int) -> int:
    """Size of the hash table for ``n`` classes: a power of two, at most half full."""
    n_slots = 64
    while n_slots < 2 * n:
        n_slots *= 2
    return n_slots


@kernel()
def _room_for_counts(pairs: MaybeInts, n: int) -> tuple[MaybeInts, MaybeInts, MaybeInts]:
    """Allocate start, pairs and stats of ``n`` classes, if there are any counts."""
    if pairs is None:
        return None, None, None
    return np.empty(n + 1, np.int64), np.empty(pairs.shape[0], np.int64), np.empty((n, N_STATS), np.int64)


@kernel()
def _kept(values: Any, n: int) -> Any:
    """Copy of the first ``n`` rows of an array, if there is one."""
    if values is None:
        return None
    return values[:n].copy()


def _plain_seconds(source: ClassTable, of: Ints, levels: Ints, lattice: Lattice) -> float:
    return 4e-4 + 3e-7 * source.keys.size + 3e-7 * source.n_pairs


@kernel(cost=_plain_seconds, plain=plain_measure)
def measure_from(source: ClassTable, of: Ints, levels: Ints, lattice: Lattice) -> tuple[ClassTable, Ints, Floats]:
    """Group ``source`` (the table of node ``of``) by the coarser node ``levels``.

    Returns its table, and for each step of suppression the largest suppressed size and the figures.
    """
    n, n_changes = source.sizes.shape[0], 0
    changes = np.empty((of.shape[0], 4), np.int64)
    for a in range(of.shape[0]):
        if of[a] != levels[a]:
            _change(lattice, a, of[a], levels[a], changes[n_changes])
            n_changes += 1
    steps = _rooms_for_steps(lattice)
    keys, sizes = np.empty((n + 1, source.keys.shape[1]), np.int64), np.empty(n, np.int64)
    start, pairs, stats = _room_for_counts(source.pairs, n)
    link, last = np.empty(n, np.int32), np.empty(n, np.int32)
    slots = np.empty(slots_for(n), np.int32)
    tally, touched = np.zeros(lattice.n_followed, np.int64), np.empty(lattice.n_followed, np.int32)
    m = _group(
        source.keys, source.sizes, 0, n, changes[:n_changes], lattice.lift, link, last, slots, keys, sizes, 0
    )  # fmt: skip
    n_pairs = _merge_counts(
        source.start, source.pairs, source.stats, 0, 0, link, last, m, lattice, tally, touched,
        sizes, start, pairs, stats, 0, 0,
    )  # fmt: skip
    n_steps = _measure(keys, sizes, stats, 0, m, lattice, levels, steps, True)
    made = ClassTable(_kept(keys, m), _kept(sizes, m), _kept(start, m + 1), _kept(pairs, n_pairs), _kept(stats, m))
    return made, _kept(steps.limits, n_steps), _kept(steps.figures, n_steps)


@kernel(allocates=False)
def _change(lattice: Lattice, a: int, of: int, to: int, change: Ints) -> None:
    """Write how ``_group`` lifts the codes of an attribute from one level to another."""
    change[0], change[1], change[2] = lattice.word[a], lattice.shift[a], lattice.mask[a]
    change[3] = lattice.lift_at[a, of, to]


class Tables(NamedTuple):
    """Tables of a walk, one behind the other, and work arrays of ``_group`` and ``_merge_counts``.

    Attribute d of the order has tables 2d + 1 and 2d + 2. Table t begins at row ``begin[t]`` and its pairs at
    ``begin_pairs[t]``; table 0 is the source, which has arrays of its own.
    """

    begin: Ints
    begin_pairs: Ints
    keys: Ints
    sizes: Ints
    start: MaybeInts
    pairs: MaybeInts
    stats: MaybeInts
    link: SmallInts
    last: SmallInts
    slots: SmallInts
    tally: Ints
    touched: SmallInts
    changes: Ints


def _tables(source: ClassTable, rooms: Ints, lattice: Lattice) -> Tables:
    n, width = source.keys.shape
    # A table has a row more than classes, for the end of its last pairs.
    own = [(min(n, classes) + 1, min(source.n_pairs, pairs)) for classes, pairs in rooms.tolist()]
    each = [(0, 0), (0, 0), *(room for room in own for _ in range(2))]
    begin, begin_pairs = np.cumsum(each, axis=0, dtype=np.int64).T.copy()
    rows, follows = int(begin[-1]), source.pairs is not None
    return Tables(
        begin=begin,
        begin_pairs=begin_pairs,
        keys=np.empty((rows, width), np.int64),
        sizes=np.empty(rows, np.int64),
        start=np.empty(rows, np.int64) if follows else None,
        pairs=np.empty(int(begin_pairs[-1]), np.int64) if follows else None,
        stats=np.empty((rows, N_STATS), np.int64) if follows else None,
        link=np.empty(n, np.int32),
        last=np.empty(n, np.int32),
        slots=np.empty(slots_for.py_func(n), np.int32),  # type: ignore[attr-defined]
        tally=np.zeros(lattice.n_followed, np.int64),
        touched=np.empty(lattice.n_followed, np.int32),
        changes=np.empty((1, 4), np.int64),
    )


def walk(
    source: ClassTable, of: Ints, order: Ints, rooms: Ints, lattice: Lattice, columns: Ints, every: bool
) -> tuple[Ints, Ints, Floats]:
    """Measure every node that differs from ``of`` in the attributes ``order`` only, like a counter that starts at zero.

    The last attribute of ``order`` changes fastest, like the last digit of a counter. When an attribute changes, the
    table of the node one level below is grouped one level further, and the attributes after it start again from that
    table. Two tables are held per attribute, one for its current node and one for the next. Each has room for the node
    that generalizes only that attribute by one level, with at most ``rooms[:, 0]`` classes and ``rooms[:, 1]`` pairs.

    The result has one row per node, for its last step of suppression, or one row per step of each node if ``every``:
    the number ``levels · stride`` of the node, the largest suppressed size, and the requested columns.
    """
    n_nodes = int(np.prod(lattice.n_levels[order]))
    compiled: Any = _walk
    if compiled.spares(n_nodes * _plain_seconds(source, of, of, lattice)):
        begin = time.thread_time()
        plain = plain_walk(source, of, order, rooms, lattice, columns, every)
        compiled.spend(time.thread_time() - begin)
        return plain
    steps: Steps = _rooms_for_steps.py_func(lattice)  # type: ignore[attr-defined]
    tables, levels = _tables(source, rooms, lattice), of.copy()
    n_classes, current = np.zeros(2 * len(order) + 1, np.int64), np.zeros(len(order) + 2, np.int64)
    n_classes[0] = len(source.sizes)
    room, parts = n_nodes + len(steps.limits) * every, []
    while current[-1] >= 0:
        number, limit, values = np.empty(room, np.int64), np.empty(room, np.int64), np.empty((room, len(columns)))
        n_rows = _walk(
            source, tables, order, lattice, columns, every, steps, levels, n_classes, current, number, limit, values
        )  # fmt: skip
        parts.append((number[:n_rows], limit[:n_rows], values[:n_rows]))
    if len(parts) == 1:
        return parts[0]
    numbers, limits, figures = zip(*parts, strict=True)
    return np.concatenate(numbers), np.concatenate(limits), np.concatenate(figures)


@kernel(allocates=False)
def _walk(
    source: ClassTable,
    tables: Tables,
    order: Ints,
    lattice: Lattice,
    columns: Ints,
    every: bool,
    steps: Steps,
    levels: Ints,
    n_classes: Ints,
    current: Ints,
    number: Ints,
    limit: Ints,
    values: Floats,
) -> int:
    """Walk on from the node ``levels`` until the end, or until the next node may not fit; returns the number of rows.

    ``current[d]`` is the table that results from the attributes before d, and the last entry that of ``levels``, which
    is not measured yet; it is -1 at the end.
    """
    depth, n_rows = order.shape[0], 0
    begin, begin_pairs, link, last = tables.begin, tables.begin_pairs, tables.link, tables.last
    figures, limits = steps.figures, steps.limits
    room = number.shape[0] - (limits.shape[0] if every else 1)
    while n_rows <= room:
        origin = current[depth + 1]
        keys, sizes, start, pairs, stats = tables.keys, tables.sizes, tables.start, tables.pairs, tables.stats
        if origin == 0:
            keys, sizes, stats = source.keys, source.sizes, source.stats
        n_steps = _measure(keys, sizes, stats, begin[origin], n_classes[origin], lattice, levels, steps, every)
        node = np.int64(0)
        for a in range(levels.shape[0]):
            node += levels[a] * lattice.stride[a]
        for i in range(0 if every else n_steps - 1, n_steps):
            number[n_rows], limit[n_rows] = node, limits[i]
            for j in range(columns.shape[0]):
                values[n_rows, j] = figures[i, columns[j]]
            n_rows += 1
        d = depth - 1
        while d >= 0 and levels[order[d]] == lattice.n_levels[order[d]] - 1:
            levels[order[d]] = 0
            d -= 1
        if d < 0:
            current[depth + 1] = -1
            break
        a = order[d]
        origin = current[d + 1] if levels[a] > 0 else current[d]
        target = 2 * d + 1 if origin != 2 * d + 1 else 2 * d + 2
        if origin == 0:
            keys, sizes, start, pairs, stats = source.keys, source.sizes, source.start, source.pairs, source.stats
        else:
            keys, sizes, stats = tables.keys, tables.sizes, tables.stats
        _change(lattice, a, levels[a], levels[a] + 1, tables.changes[0])
        m = _group(
            keys, sizes, begin[origin], n_classes[origin], tables.changes, lattice.lift, link, last, tables.slots,
            tables.keys, tables.sizes, begin[target],
        )  # fmt: skip
        _merge_counts(
            start, pairs, stats, begin[origin], begin_pairs[origin], link, last, m, lattice, tables.tally,
            tables.touched, tables.sizes, tables.start, tables.pairs, tables.stats, begin[target], begin_pairs[target],
        )  # fmt: skip
        n_classes[target] = m
        levels[a] += 1
        for later in range(d + 1, depth + 2):
            current[later] = target
    return n_rows

"""Kernels for categorical files that change cell by cell: every measure is a count that is updated with each move.

Kernels take their arrays as single arguments, because each array that is read from a tuple has its references counted,
which costs more than a move. Most moves are only proposed: their effect is computed without writing it, and `shift`
makes the move. `walk` and `measure_moves` call the helpers for this directly: a function in between would also count
the references of its arrays, which would take longer than the helpers themselves.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sdc_problems._kernel import kernel
from sdc_problems._kernel.loops import put
from sdc_problems.methods._kernels.random import below, uniform


class Fixed(NamedTuple):
    """Original file and what is computed from it once."""

    X: Any  # n × p
    size: Any  # p categories
    ordinal: Any  # p
    first: Any  # p: where an attribute's counts of (original, protected) pairs begin
    begin: Any  # p: where its categories begin
    rank: Any  # by category: doubled mid-rank in the original
    reach: float  # percent of the interval times records: ranks are near if 50 times their doubled gap is within it
    tables: Any  # p × t: contingency tables with the attribute, padded with -1
    stride: Any  # tables × p: step of the attribute in the table's cells
    start: Any  # tables: first cell
    unit: Any  # p: distance per step
    order: Any  # attributes in the order in which distances are summed
    combination: Any  # p: step of the attribute in the combinations, or none if there are too many
    nearest: Any  # by combination: distance to the nearest originals
    nearest_ties: Any  # by combination: number of nearest originals
    rows: Any  # distinct originals, to be scanned if there is no table
    records: Any  # how often each occurs
    logs: Any  # x log x of whole numbers
    entropy_unit: Any  # p: percent of EBIL per nat
    moved_unit: Any  # p: percent of DBIL per step


class File(NamedTuple):
    """Protected file and its counts."""

    Y: Any  # n × p
    pairs: Any  # records by attribute, protected and original category
    sizes: Any  # records by protected category
    largest: Any  # the most frequent original category of each protected one
    rank: Any  # by category: doubled mid-rank in the protected file
    difference: Any  # cells of the tables: protected minus original
    moved: Any  # p: steps
    near: Any  # p: cells
    entropy: Any  # p: nats
    tie: Any  # n: originals as near as the record's own, 0 if one is nearer
    misplaced: Any  # 1: records misplaced in all tables
    guessed: Any  # 1: cells
    links: Any  # 1: sum of chances


@kernel()
def _own_distance(
    i: int, changed: int, code: int, X: Any, Y: Any, ordinal: Any, unit: Any, order: Any
) -> float:  # fmt: skip
    own = 0.0
    for e in range(X.shape[1]):
        j = order[e]
        gap = abs((code if j == changed else Y[i, j]) - X[i, j])
        step = (gap + 1.0) * unit[j] if ordinal[j] else unit[j]
        own += step if gap > 0 else 0.0
    return own


@kernel()
def _combination_of(i: int, changed: int, code: int, Y: Any, combination: Any) -> int:
    at = 0
    for j in range(Y.shape[1]):
        at += combination[j] * (code if j == changed else Y[i, j])
    return at


@kernel()
def _scanned(
    i: int, changed: int, code: int, own: float, Y: Any, ordinal: Any, unit: Any, order: Any, rows: Any, records: Any
) -> int:  # fmt: skip
    tie = 0
    for r in range(len(rows)):
        d = 0.0
        for e in range(rows.shape[1]):
            j = order[e]
            gap = abs((code if j == changed else Y[i, j]) - rows[r, j])
            if gap > 0:
                d += (gap + 1.0) * unit[j] if ordinal[j] else unit[j]
                if d > own:
                    break
        if d < own:
            return 0
        if d == own:
            tie += records[r]
    return int(tie)


@kernel()
def link(
    i: int, changed: int, code: int, X: Any, Y: Any, ordinal: Any, unit: Any, order: Any, combination: Any,
    nearest: Any, nearest_ties: Any, rows: Any, records: Any,
) -> int:  # fmt: skip
    """Number of originals as near to protected record i as its own; 0 if one is nearer.

    Cell ``changed`` of the record is taken as ``code`` (-1: no cell is changed).
    """
    own = _own_distance(i, changed, code, X, Y, ordinal, unit, order)
    if len(combination) == 0:
        return _scanned(i, changed, code, own, Y, ordinal, unit, order, rows, records)
    at = _combination_of(i, changed, code, Y, combination)
    return int(nearest_ties[at]) if own == nearest[at] else 0


@kernel()
def _widest_gap(reach: float) -> int:
    """Largest doubled gap between ranks that counts as near."""
    gap = int(reach / 50.0)
    while 50.0 * (gap + 1) <= reach:
        gap += 1
    while 50.0 * gap > reach:
        gap -= 1
    return gap


@kernel()
def _near_pairs(
    j: int, v: int, size: int, first: int, begin: int, pairs: Any, ranks: Any, rank: Any, reach: float
) -> int:
    """Number of records with protected category v whose original category has a near rank."""
    near = 0
    for x in range(size):
        if 50.0 * abs(ranks[begin + x] - rank[begin + v]) <= reach:
            near += pairs[first + v * size + x]
    return near


@kernel()
def count_all(f: Any, s: Any) -> None:
    """Recompute every count of a file; ``difference`` must hold the original's counts, negated."""
    X, Y, size, first, begin = f.X, s.Y, f.size, f.first, f.begin
    pairs, sizes, largest, rank, difference = s.pairs, s.sizes, s.largest, s.rank, s.difference
    stride, start, logs = f.stride, f.start, f.logs
    n, p = X.shape
    for i in range(n):
        for j in range(p):
            pairs[first[j] + Y[i, j] * size[j] + X[i, j]] += 1
            sizes[begin[j] + Y[i, j]] += 1
            gap = abs(Y[i, j] - X[i, j])
            if gap > 0:
                s.moved[j] += gap + 1 if f.ordinal[j] else 1
        for t in range(len(start)):
            at = start[t]
            for j in range(p):
                at += stride[t, j] * Y[i, j]
            difference[at] += 1
    for at in range(len(difference)):
        s.misplaced[0] += abs(difference[at])
    for j in range(p):
        before = 0
        for v in range(size[j]):
            held = sizes[begin[j] + v]
            rank[begin[j] + v] = 2 * before + held + 1
            before += held
            s.entropy[j] += logs[held]
            most = 0
            for x in range(size[j]):
                found = pairs[first[j] + v * size[j] + x]
                s.entropy[j] -= logs[found]
                most = max(most, found)
            largest[begin[j] + v] = most
            s.guessed[0] += most
            if f.ordinal[j]:
                s.near[j] += _near_pairs(j, v, size[j], first[j], begin[j], pairs, f.rank, rank, f.reach)
            else:
                s.near[j] += pairs[first[j] + v * size[j] + v]


@kernel()
def link_all(f: Any, s: Any, changed: Any) -> None:
    """Update the links of the changed records, and the sum of all links."""
    for i in range(len(s.Y)):
        if changed[i]:
            s.tie[i] = link(
                i, -1, 0, f.X, s.Y, f.ordinal, f.unit, f.order, f.combination, f.nearest, f.nearest_ties, f.rows,
                f.records,
            )  # fmt: skip
    total_links(s)


@kernel()
def total_links(s: Any) -> None:
    """Recompute the sum of the links."""
    s.links[0] = 0.0
    for i in range(len(s.tie)):
        if s.tie[i] > 0:
            s.links[0] += 1.0 / s.tie[i]


@kernel()
def total_entropy(f: Any, s: Any) -> None:
    """Recompute the conditional entropies."""
    for j in range(len(f.size)):
        size, first, begin = f.size[j], f.first[j], f.begin[j]
        s.entropy[j] = 0.0
        for v in range(size):
            s.entropy[j] += f.logs[s.sizes[begin + v]]
            for x in range(size):
                s.entropy[j] -= f.logs[s.pairs[first + v * size + x]]


@kernel()
def shift(
    i: int, j: int, b: int, X: Any, Y: Any, size: Any, ordinal: Any, first: Any, begin: Any, ranks: Any, reach: float,
    tables: Any, stride: Any, start: Any, logs: Any, pairs: Any, sizes: Any, largest: Any, rank: Any, difference: Any,
    moved: Any, near: Any, entropy: Any, misplaced: Any, guessed: Any,
) -> None:  # fmt: skip
    """Change cell (i, j) to b and update all counts, but not the links.

    Changing it back restores everything but the rounding of the entropy.
    """
    p = X.shape[1]
    a, x, m = Y[i, j], X[i, j], size[j]
    column_a, column_b = first[j] + a * m, first[j] + b * m
    at_a, at_b = begin[j] + a, begin[j] + b
    low, high = min(a, b), max(a, b)

    for e in range(tables.shape[1]):
        t = tables[j, e]
        if t < 0:
            break
        at = start[t]
        for l in range(p):
            at += stride[t, l] * Y[i, l]
        to = at + stride[t, j] * (b - a)
        misplaced[0] += (1 if difference[at] <= 0 else -1) + (1 if difference[to] >= 0 else -1)
        difference[at] -= 1
        difference[to] += 1
    Y[i, j] = b

    from_own, to_own = abs(a - x), abs(b - x)
    if ordinal[j]:
        moved[j] += (to_own + 1 if to_own > 0 else 0) - (from_own + 1 if from_own > 0 else 0)
        for v in range(low, high + 1):
            near[j] -= _near_pairs(j, v, m, first[j], begin[j], pairs, ranks, rank, reach)
    else:
        moved[j] += (1 if to_own > 0 else 0) - (1 if from_own > 0 else 0)
        near[j] += (1 if to_own == 0 else 0) - (1 if from_own == 0 else 0)

    held_a, held_b, from_pair, to_pair = sizes[at_a], sizes[at_b], pairs[column_a + x], pairs[column_b + x]
    entropy[j] += (
        logs[held_a - 1] - logs[held_a] + logs[held_b + 1] - logs[held_b]
        + logs[from_pair] - logs[from_pair - 1] + logs[to_pair] - logs[to_pair + 1]
    )  # fmt: skip
    sizes[at_a] = held_a - 1
    sizes[at_b] = held_b + 1
    pairs[column_a + x] = from_pair - 1
    pairs[column_b + x] = to_pair + 1
    if to_pair + 1 > largest[at_b]:
        largest[at_b] += 1
        guessed[0] += 1
    if from_pair == largest[at_a]:
        most = 0
        for l in range(m):
            most = max(most, pairs[column_a + l])
        guessed[0] += most - largest[at_a]
        largest[at_a] = most

    if ordinal[j]:
        rank[at_a] -= 1
        rank[at_b] -= 1
        if b > a:
            for v in range(a + 1, b):
                rank[begin[j] + v] -= 2
        else:
            for v in range(b + 1, a):
                rank[begin[j] + v] += 2
            rank[at_a] += 2
            rank[at_b] += 2
        for v in range(low, high + 1):
            near[j] += _near_pairs(j, v, m, first[j], begin[j], pairs, ranks, rank, reach)


@kernel()
def _table_change(i: int, j: int, b: int, Y: Any, tables: Any, stride: Any, start: Any, difference: Any) -> int:
    misplaced, own = 0, Y[i, j]
    for e in range(tables.shape[1]):
        t = tables[j, e]
        if t >= 0:
            at = start[t]
            for l in range(Y.shape[1]):
                at += stride[t, l] * Y[i, l]
            to = at + stride[t, j] * (b - own)
            misplaced += (1 if difference[at] <= 0 else -1) + (1 if difference[to] >= 0 else -1)
    return misplaced


@kernel()
def _near_change(
    a: int, b: int, x: int, m: int, pairs_from: int, ranks_from: int, limit: int, pairs: Any, ranks: Any, rank: Any
) -> int:  # fmt: skip
    """Change in the number of records of near rank if one of original category x moves from a to b."""
    near, sign = 0, -1 if b > a else 1
    for v in range(min(a, b), max(a, b) + 1):
        # One record fewer below (or above): ranks are doubled, and categories a and b change by half as much.
        before = rank[ranks_from + v]
        after = before + (sign if v in (a, b) else 2 * sign)
        for l in range(m):
            value, held = ranks[ranks_from + l], pairs[pairs_from + v * m + l]
            near += (held if abs(value - after) <= limit else 0) - (held if abs(value - before) <= limit else 0)
        if abs(ranks[ranks_from + x] - after) <= limit:
            near += (1 if v == b else 0) - (1 if v == a else 0)
    return near


@kernel()
def _moved_change(a: int, b: int, x: int, ordinal: bool) -> int:
    before, after = abs(a - x), abs(b - x)
    if ordinal:
        return (after + 1 if after > 0 else 0) - (before + 1 if before > 0 else 0)
    return (1 if after > 0 else 0) - (1 if before > 0 else 0)


@kernel()
def _guess_change(column_a: int, column_b: int, x: int, m: int, most_a: int, most_b: int, pairs: Any) -> int:
    left = pairs[column_a + x] - 1
    change = 1 if pairs[column_b + x] == most_b else 0
    most = left
    for l in range(m):
        most = max(most, pairs[column_a + l] if l != x else 0)
    return change + (most - most_a if left + 1 == most_a else 0)


@kernel()
def _entropy_change(held_a: int, held_b: int, from_pair: int, to_pair: int, logs: Any) -> float:
    return float(
        logs[held_a - 1] - logs[held_a] + logs[held_b + 1] - logs[held_b]
        + logs[from_pair] - logs[from_pair - 1] + logs[to_pair] - logs[to_pair + 1]
    )  # fmt: skip


@kernel()
def move(f: Any, s: Any, i: int, j: int, b: int) -> None:
    """`shift` of one file, for callers that need not be fast."""
    if s.Y[i, j] != b:
        shift(
            i, j, b, f.X, s.Y, f.size, f.ordinal, f.first, f.begin, f.rank, f.reach, f.tables, f.stride, f.start,
            f.logs, s.pairs, s.sizes, s.largest, s.rank, s.difference, s.moved, s.near, s.entropy, s.misplaced,
            s.guessed,
        )  # fmt: skip


@kernel()
def link_row(f: Any, s: Any, i: int) -> None:
    """Update the link of record i, and the sum of the links."""
    tie = link(
        i, -1, 0, f.X, s.Y, f.ordinal, f.unit, f.order, f.combination, f.nearest, f.nearest_ties, f.rows, f.records
    )
    set_link(i, tie, s.tie, s.links)


@kernel()
def set_link(i: int, tie: int, ties: Any, links: Any) -> None:
    """Set the number of nearest originals that tie for record i, and update the sum of the links."""
    before = ties[i]
    if tie != before:
        if before > 0:
            links[0] -= 1.0 / before
        if tie > 0:
            links[0] += 1.0 / tie
        ties[i] = tie


@kernel()
def _loss(
    n: int, p: int, n_tables: int, misplaced: Any, moved: Any, moved_unit: Any, entropy: Any, entropy_unit: Any
) -> float:
    total = 100.0 * misplaced[0] / (2.0 * n * n_tables)
    for j in range(p):
        total += moved[j] * moved_unit[j] + entropy[j] * entropy_unit[j]
    return float(total / 3.0)


@kernel()
def _risk(n: int, p: int, near: Any, guessed: Any, links: Any, guard: bool, prl: float) -> float:
    cells = 0
    for j in range(p):
        cells += near[j]
    if guard:
        cells = max(cells, guessed[0])
    return float((100.0 * cells / (n * p) + max(100.0 * links[0] / n, prl)) / 2.0)


@kernel()
def measures(f: Any, s: Any, out: Any) -> None:
    """CTBIL, DBIL, EBIL, ID, guess and DBRL."""
    n, p = s.Y.shape
    out[:] = 0.0
    out[0] = 100.0 * s.misplaced[0] / (2.0 * n * len(f.start))
    near = 0
    for j in range(p):
        out[1] += s.moved[j] * f.moved_unit[j]
        out[2] += s.entropy[j] * f.entropy_unit[j]
        near += s.near[j]
    out[3] = 100.0 * near / (n * p)
    out[4] = 100.0 * s.guessed[0] / (n * p)
    out[5] = 100.0 * s.links[0] / n


@kernel()
def walk(f: Any, s: Any, aim: Any, guard: bool, moves: int, hot: float, cold: float, state: Any, best: Any) -> Any:
    """Annealing: each move gives one cell another category; temperatures fall geometrically from hot to cold.

    ``aim`` holds the weights of loss and risk, 1 for the larger of the two (0: sum), and PRL. The best file found is
    written to ``best``; returns its score and the number of moves kept.
    """
    X, Y, size, ordinal, first, begin, ranks, reach = (
        f.X, s.Y, f.size, f.ordinal, f.first, f.begin, f.rank, f.reach,
    )  # fmt: skip
    tables, stride, start, logs = f.tables, f.stride, f.start, f.logs
    unit, order, combination, nearest, nearest_ties, rows, records = (
        f.unit, f.order, f.combination, f.nearest, f.nearest_ties, f.rows, f.records,
    )  # fmt: skip
    pairs, sizes, largest, rank, difference = s.pairs, s.sizes, s.largest, s.rank, s.difference
    moved, near, entropy, ties, misplaced, guessed, links = (
        s.moved, s.near, s.entropy, s.tie, s.misplaced, s.guessed, s.links,
    )  # fmt: skip
    moved_unit, entropy_unit = f.moved_unit, f.entropy_unit
    n, p = X.shape
    n_tables, limit = len(start), _widest_gap(reach)
    weight_loss, weight_risk, larger, prl = aim[0], aim[1], aim[2] > 0.0, aim[3]
    score = np.inf
    lowest = np.inf
    taken = 0
    temperature = hot
    cooling = (cold / hot) ** (1.0 / max(moves, 1)) if hot > 0.0 else 1.0
    fresh = False  # whether the best file so far is the current one and not yet saved
    for step in range(-1, moves):
        i, j, b, tie, kept, sum_links = 0, 0, 0, 0, 0.0, 0.0
        d_misplaced, d_moved, d_near, d_guessed = 0, 0, 0, 0
        if step >= 0:  # the first step measures the file as it is
            temperature *= cooling
            i, j = below(state, n), below(state, p)
            if size[j] < 2:
                continue
            b = below(state, size[j] - 1)
            if b >= Y[i, j]:
                b += 1
            tie, kept, sum_links = ties[i], entropy[j], links[0]
            a, x, m = Y[i, j], X[i, j], size[j]
            at_a, at_b, column_a, column_b = begin[j] + a, begin[j] + b, first[j] + a * m, first[j] + b * m
            d_misplaced = _table_change(i, j, b, Y, tables, stride, start, difference)
            d_moved = _moved_change(a, b, x, ordinal[j])
            if ordinal[j]:
                d_near = _near_change(a, b, x, m, first[j], begin[j], limit, pairs, ranks, rank)
            else:
                d_near = -d_moved
            d_entropy = _entropy_change(sizes[at_a], sizes[at_b], pairs[column_a + x], pairs[column_b + x], logs)
            d_guessed = _guess_change(column_a, column_b, x, m, largest[at_a], largest[at_b], pairs)
            own = _own_distance(i, j, b, X, Y, ordinal, unit, order)
            if len(combination):
                at = _combination_of(i, j, b, Y, combination)
                found = nearest_ties[at] if own == nearest[at] else 0
            else:
                found = _scanned(i, j, b, own, Y, ordinal, unit, order, rows, records)
            set_link(i, found, ties, links)
            misplaced[0] += d_misplaced
            moved[j] += d_moved
            near[j] += d_near
            entropy[j] += d_entropy
            guessed[0] += d_guessed
        loss = weight_loss * _loss(n, p, n_tables, misplaced, moved, moved_unit, entropy, entropy_unit)
        risk = weight_risk * _risk(n, p, near, guessed, links, guard, prl)
        after = max(loss, risk) if larger else loss + risk
        kept_move = (
            step < 0
            or after <= score
            or (temperature > 0.0 and after <= score - temperature * math.log(uniform(state)))
        )
        if step >= 0:  # restore the sums: `shift` updates them with all the rest
            misplaced[0] -= d_misplaced
            moved[j] -= d_moved
            near[j] -= d_near
            entropy[j] = kept
            guessed[0] -= d_guessed
        if not kept_move:
            ties[i], links[0] = tie, sum_links
            continue
        if after > score and fresh:  # the best file is about to change: save it
            for r in range(n):
                put(best[r], Y[r])
            fresh = False
        score = after
        if step >= 0:
            shift(
                i, j, b, X, Y, size, ordinal, first, begin, ranks, reach, tables, stride, start, logs, pairs, sizes,
                largest, rank, difference, moved, near, entropy, misplaced, guessed,
            )  # fmt: skip
            taken += 1
        if score < lowest:
            lowest = score
            fresh = True
    if fresh:
        for r in range(n):
            put(best[r], Y[r])
    return lowest, taken


@kernel()
def measure_moves(f: Any, s: Any, cells: Any, codes: Any, out: Any) -> None:
    """`measures` after each of many single moves, each starting from the current file."""
    X, Y, size, ordinal, first, begin, ranks, reach = (
        f.X, s.Y, f.size, f.ordinal, f.first, f.begin, f.rank, f.reach,
    )  # fmt: skip
    tables, stride, start, logs = f.tables, f.stride, f.start, f.logs
    unit, order, combination, nearest, nearest_ties, rows, records = (
        f.unit, f.order, f.combination, f.nearest, f.nearest_ties, f.rows, f.records,
    )  # fmt: skip
    pairs, sizes, largest, rank, difference = s.pairs, s.sizes, s.largest, s.rank, s.difference
    moved, near, entropy, ties, misplaced, guessed, links = (
        s.moved, s.near, s.entropy, s.tie, s.misplaced, s.guessed, s.links,
    )  # fmt: skip
    moved_unit, entropy_unit = f.moved_unit, f.entropy_unit
    n, p = X.shape
    limit = _widest_gap(reach)
    for e in range(len(cells)):
        i, j, b = cells[e, 0], cells[e, 1], codes[e]
        tie, kept, sum_links = ties[i], entropy[j], links[0]
        d_misplaced, d_moved, d_near, d_entropy, d_guessed = 0, 0, 0, 0.0, 0
        if Y[i, j] != b:
            a, x, m = Y[i, j], X[i, j], size[j]
            at_a, at_b, column_a, column_b = begin[j] + a, begin[j] + b, first[j] + a * m, first[j] + b * m
            d_misplaced = _table_change(i, j, b, Y, tables, stride, start, difference)
            d_moved = _moved_change(a, b, x, ordinal[j])
            if ordinal[j]:
                d_near = _near_change(a, b, x, m, first[j], begin[j], limit, pairs, ranks, rank)
            else:
                d_near = -d_moved
            d_entropy = _entropy_change(sizes[at_a], sizes[at_b], pairs[column_a + x], pairs[column_b + x], logs)
            d_guessed = _guess_change(column_a, column_b, x, m, largest[at_a], largest[at_b], pairs)
            own = _own_distance(i, j, b, X, Y, ordinal, unit, order)
            if len(combination):
                at = _combination_of(i, j, b, Y, combination)
                found = nearest_ties[at] if own == nearest[at] else 0
            else:
                found = _scanned(i, j, b, own, Y, ordinal, unit, order, rows, records)
            set_link(i, found, ties, links)
        moved[j] += d_moved
        entropy[j] += d_entropy
        steps, nats, inside = 0.0, 0.0, d_near
        for l in range(p):
            steps += moved[l] * moved_unit[l]
            nats += entropy[l] * entropy_unit[l]
            inside += near[l]
        out[e, 0] = 100.0 * (misplaced[0] + d_misplaced) / (2.0 * n * len(start))
        out[e, 1] = steps
        out[e, 2] = nats
        out[e, 3] = 100.0 * inside / (n * p)
        out[e, 4] = 100.0 * (guessed[0] + d_guessed) / (n * p)
        out[e, 5] = 100.0 * links[0] / n
        moved[j] -= d_moved
        entropy[j] = kept
        ties[i], links[0] = tie, sum_links

"""Classes of records that share labels of hierarchies, found by agglomeration, in blocks for large tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._slices import tell, watched
from sdc_problems._validation import IntArray, code_table, labels, number, whole
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import dense, pair_counts
from sdc_problems.methods.recoding._agglomerate import agglomerate

BLOCK = 8_192
"""Largest number of distinct rows of a block; larger tables are first split along the hierarchies."""
_LEAST_BLOCK, _CELLS = 512, 1_500_000_000
"""Smallest block, and total number of cells to compare: for many rows, blocks are smaller."""
PASSES = 5


class Trees(NamedTuple):
    """Hierarchies of all attributes for the kernel, each with one group at its last level.

    Attributes
    ----------
    tables, costs
        For each attribute, levels × codes: group of each code, and loss of a record published at that level.
    """

    tables: tuple[NDArray[np.int32], ...]
    costs: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(cls, tables: Sequence[Any], leaves: Sequence[Any] | None, weights: Sequence[float] | None) -> Trees:
        """Check level tables, and weight the share of the other values that a group may stand for."""
        grouped, costs = [], []
        for j, given in enumerate(tables):
            table = np.asarray(given)
            if table.ndim != 2 or table.dtype.kind not in "iu" or not table.size:
                raise SDCError(f"hierarchies[{j}] must hold levels × codes, the group of each code at each level")
            counted = [np.bincount(row) for row in table] if leaves is None else leaves[j]
            under = [np.asarray(level, dtype=np.float64) for level in counted]
            total = float(under[0].sum())
            share = [(under[level][row] - 1) / max(total - 1, 1) for level, row in enumerate(table)]
            if len(np.unique(table[-1])) > 1:  # add a star for all values
                table, share = np.concatenate([table, np.zeros_like(table[:1])]), [*share, np.ones(table.shape[1])]
            grouped.append(table.astype(np.int32))
            costs.append(np.array(share) * (1.0 if weights is None else weights[j]))
        return cls(tuple(grouped), tuple(costs))

    def flat(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Starts and sizes of the attributes, and all their groups and losses in one vector each."""
        sizes = np.array([table.shape[1] for table in self.tables], dtype=np.int64)
        starts = np.cumsum([0, *(table.size for table in self.tables)])[:-1].astype(np.int64)
        return (
            starts,
            sizes,
            np.concatenate([table.ravel() for table in self.tables]),
            np.concatenate([cost.ravel() for cost in self.costs]),
        )


class Mix(NamedTuple):
    """Requirement on the sensitive values of each class.

    Attributes
    ----------
    values
        Codes of the sensitive attributes, one column each; no columns if there is no requirement.
    limits
        For each column, smallest number of different values, smallest entropy ℓ, and largest t.
    shares
        For each column, share of each value in the table.
    """

    values: NDArray[np.int32]
    limits: NDArray[np.float64]
    shares: NDArray[np.float64]

    @classmethod
    def of(cls, sensitive: object, n: int, l: int | None, entropy_l: float | None, t: float | None) -> Mix:
        """Check the requirement, and that the whole table meets it."""
        if l is None and entropy_l is None and t is None:
            return cls(np.zeros((n, 0), dtype=np.int32), np.zeros((0, 3)), np.zeros((0, 1)))
        if sensitive is None:
            raise SDCError("ℓ and t concern sensitive values: name the sensitive columns")
        values = code_table(sensitive, "sensitive")
        if len(values) != n:
            raise SDCError(f"sensitive has {len(values)} records and the table {n}")
        wanted = (
            1.0 if l is None else float(whole(l, "l", least=1)),
            1.0 if entropy_l is None else number(entropy_l, "entropy_l", low=1.0, high=np.inf),
            1.0 if t is None else number(t, "t", low=0.0, high=1.0),
        )
        shares = np.zeros((values.shape[1], int(values.max()) + 1))
        for j, column in enumerate(values.T):
            shares[j] = np.bincount(column, minlength=shares.shape[1]) / n
            present = shares[j][shares[j] > 0]
            most = float(np.exp(-(present * np.log(present)).sum()))
            if len(present) < wanted[0] or most < wanted[1] - 1e-9:
                raise SDCError(
                    f"the whole table has {len(present)} different values of sensitive column {j} (entropy ℓ"
                    f" {most:.3g}): no class has more"
                )
        return cls(values.astype(np.int32), np.tile(wanted, (len(shares), 1)), shares)

    def met(self, classes: IntArray) -> bool:
        """Whether every class meets the requirement."""
        for j, (fewest, entropy, farthest) in enumerate(self.limits):
            groups, values, counts = pair_counts(classes, self.values[:, j])
            own = counts / np.bincount(classes)[groups]
            of_all = self.shares[j][values]
            apart = (1 + np.bincount(groups, np.abs(own - of_all) - of_all)) / 2
            mixed = np.exp(np.bincount(groups, -own * np.log(own)))
            if np.bincount(groups).min() < fewest or mixed.min() < entropy - 1e-9 or apart.max() > farthest + 1e-9:
                return False
        return True


def smallest_k(partition: Callable[[int], NDArray[Any]], k: int, mix: Mix) -> int:
    """Smallest k, found by doubling and then bisection, whose classes meet the requirement on sensitive values.

    Parameters
    ----------
    partition
        Function that returns the class of each record for a given k.
    k
        Smallest k to try.
    mix
        Requirement on the sensitive values.
    """
    n = len(mix.values)
    failed, size = k - 1, k
    while size < n and not mix.met(dense(partition(size))[0]):
        failed, size = size, min(2 * size, n)
    while size - failed > 1:
        middle = (failed + size) // 2
        if mix.met(dense(partition(middle))[0]):
            size = middle
        else:
            failed = middle
    return size


def alike(codes: object, k: int, trees: Trees, mix: Mix) -> tuple[IntArray, IntArray]:
    """Class of each record, and level of each cell: the lowest at which all records of its class are in one group.

    Parameters
    ----------
    codes
        Records × attributes.
    k
        Smallest number of records of a class.
    trees, mix
        Hierarchies, and requirement on the sensitive values.
    """
    table = code_table(codes, "codes")
    n, p = table.shape
    size = whole(k, "k", least=1)
    if size > n:
        raise SDCError(f"k = {size} is larger than the number of records, {n}")
    if p != len(trees.tables):
        raise SDCError(f"there are {len(trees.tables)} hierarchies for {p} attributes")
    for j, tree in enumerate(trees.tables):
        if table[:, j].max() >= tree.shape[1]:
            raise SDCError(f"column {j} of codes has codes that its hierarchy lacks")
    units, of_record, weights = np.unique(
        np.column_stack([table, mix.values]), axis=0, return_inverse=True, return_counts=True
    )
    of_record = of_record.ravel()
    rows = np.ascontiguousarray(units[:, :p], dtype=np.int32)
    own = np.ascontiguousarray(units[:, p:], dtype=np.int32)
    start = np.append(True, (rows[1:] != rows[:-1]).any(axis=1))
    distinct, row = rows[start], (np.cumsum(start) - 1).astype(np.int32)
    counts = np.bincount(row, weights=weights).astype(np.int64)
    parts: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
    rows_of: list[NDArray[np.intp]] = []  # of each part
    kept: NDArray[np.intp] = np.empty(0, dtype=np.intp)
    flat = trees.flat()

    done = 0

    def classes(chosen: NDArray[np.intp]) -> tuple[tuple[NDArray[Any], ...], bool]:
        position = np.full(len(distinct), -1, dtype=np.int32)
        position[chosen] = np.arange(len(chosen))
        unit = np.flatnonzero(position[row] >= 0)
        unit = unit[np.argsort(position[row[unit]], kind="stable")]
        given = np.ascontiguousarray(distinct[chosen]), position[row[unit]], weights[unit].astype(np.int64), own[unit]
        taken, weight, label, met = watched(
            lambda flag: agglomerate(*given, size, mix.limits, mix.shares, *flat, PASSES, flag),
            "rows in classes",
            part=(done, len(chosen), len(distinct)),
        )
        first = np.append(unit, np.zeros(len(taken) - len(unit), dtype=np.intp))
        first[len(unit) :] = np.searchsorted(row, chosen[taken[len(unit) :]])
        return (first, weight, label), bool(met)

    for block in _blocks(distinct, counts, trees, size):
        kept = np.sort(np.concatenate([kept, block]))
        found, met = classes(kept)
        if met:
            parts.append(found)  # type: ignore[arg-type]
            rows_of.append(kept)
            done += len(kept)
            kept = kept[:0]
            tell("rows in classes", done, len(distinct))
    if len(kept):  # no classes of the remaining records meet the requirement: join parts until they do
        met = False
        while not met and parts:
            parts.pop()
            done -= len(rows_of[-1])
            kept = np.sort(np.concatenate([rows_of.pop(), kept]))
            found, met = classes(kept)
        parts.append(found)  # type: ignore[arg-type]
    unit = np.concatenate([part[0] for part in parts])
    weight = np.concatenate([part[1] for part in parts])
    label = np.concatenate([part[2].astype(np.int64) + i * (len(distinct) + 1) for i, part in enumerate(parts)])
    order = np.argsort(unit, kind="stable")
    result = np.empty(n, dtype=np.int64)
    result[np.argsort(of_record, kind="stable")] = np.repeat(label[order], weight[order])
    result = labels(dense(result)[0], None, "classes")
    return result, _levels(table, result, trees)


def _blocks(rows: NDArray[np.int32], counts: NDArray[np.int64], trees: Trees, k: int) -> Iterator[NDArray[np.intp]]:
    """Blocks of at most ``BLOCK`` distinct rows, split by the groups one level down, along the costliest attribute.

    Of equally costly attributes, the one with the fewest groups is split: similar rows are easiest to find there.
    """
    most = min(BLOCK, max(_LEAST_BLOCK, _CELLS // max(rows.size, 1)))
    waiting = [np.arange(len(rows))]
    while waiting:
        part = waiting.pop()
        if len(part) <= most:
            yield part
            continue
        best, groups = (-1.0, 0), None
        for j, table in enumerate(trees.tables):
            codes = rows[part, j]
            level = next(L for L in range(len(table)) if (table[L][codes] == table[L][codes[0]]).all())
            if level and (cost := float(trees.costs[j][level, codes[0]])) >= best[0]:
                below = table[level - 1][codes]
                worth = cost, -int((np.bincount(below) > 0).sum())
                if worth > best:
                    best, groups = worth, below
        assert groups is not None  # distinct rows differ somewhere
        order = np.argsort(groups, kind="stable")
        ends = np.flatnonzero(np.diff(groups[order])) + 1
        many = np.cumsum(counts[part[order]])
        least = max(4 * k, int(many[-1]) // 8)  # groups with few records stay with the next
        cuts: list[int] = []
        before = 0
        for end in ends:
            if many[end - 1] - before >= least and many[-1] - many[end - 1] >= least:
                cuts.append(int(end))
                before = int(many[end - 1])
        if not cuts:  # one group is nearly everything: split into equal halves
            cuts = [len(part) // 2]
        waiting += [np.sort(piece) for piece in np.split(part[order], cuts)][::-1]


def _levels(table: IntArray, classes: IntArray, trees: Trees) -> IntArray:
    """Lowest level, for each cell, at which all records of its class are in one group."""
    order = np.argsort(classes, kind="stable")
    starts = np.flatnonzero(np.diff(classes[order], prepend=-1))
    found = np.zeros(table.shape, dtype=np.int64)
    for j, tree in enumerate(trees.tables):
        codes = table[order, j]
        level = np.full(len(starts), len(tree) - 1)
        for L in range(len(tree) - 1, -1, -1):
            groups = tree[L][codes]
            one = np.minimum.reduceat(groups, starts) == np.maximum.reduceat(groups, starts)
            level[one] = L
        found[:, j] = level[classes]
    return found

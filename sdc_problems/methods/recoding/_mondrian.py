"""Mondrian: regions of at least k records by repeated cuts at medians."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import _whole, choice, whole
from sdc_problems._validation import kinds as check_kinds
from sdc_problems._validation import table as check_table
from sdc_problems.errors import SDCError
from sdc_problems.methods._amounts import rounded
from sdc_problems.methods._importance import column_weights
from sdc_problems.methods._kernels.mondrian import mondrian_kernel
from sdc_problems.methods.partition._centroids import _lower_medians, _means, _modes

KINDS = ("numeric", "ordinal", "nominal")
SUMMARIES = ("interval", "mean", "median", "mode", "global_median")


class Mondrian(NamedTuple):
    """Result of `mondrian`.

    Attributes
    ----------
    labels
        Region of each record, numbered in order of first use.
    release
        Released values, records × attributes; with ``summary="interval"`` records × attributes × 2: the smallest and
        the largest value of the region (for an attribute with a hierarchy, level and group).
    """

    labels: NDArray[np.int32]
    release: NDArray[np.float64]


def mondrian(
    X: object,
    k: int,
    *,
    strict: bool = True,
    kinds: str | Sequence[str] = "numeric",
    summary: str = "interval",
    hierarchies: Sequence[object] | None = None,
    decimals: int | None = None,
    weights: Sequence[float] | None = None,
) -> Mondrian:
    """Mondrian multidimensional recoding: regions of at least k records, each published with common values.

    A region is cut along the attribute with the largest range in it, as a share of its range in the file, at the value
    that divides its records most evenly. If no cut leaves k records on both sides, the attribute with the next largest
    range is tried, until no region can be cut.

    Parameters
    ----------
    X
        Records × attributes; ordinal and nominal attributes hold codes 0, 1, …
    k
        Smallest number of records of a region, 1 … n.
    strict
        Strict regions keep equal values together and have no largest size; relaxed regions (False) are halved between
        records, equal values in the order of the records, and have k to 2k − 1 records unless all of them are equal.
    kinds
        "numeric", "ordinal" or "nominal", for all attributes or one word each.
    summary
        "interval"; "mean"; "median" (the lower one); "mode"; or "global_median", the middle code ⌊(min + max) / 2⌋.
    hierarchies
        For each attribute, None, or the group of each code at each level (``Hierarchy.table``: levels × codes, values
        first). A nominal attribute is cut into the children of the lowest group that contains the region, each of which
        needs k records; without a hierarchy, it is cut along the order of its codes.
    decimals
        Decimals of means; by default those of the attribute.
    weights
        Weight of the relative range of each attribute when the attribute to cut is chosen; by default, 1.

    Returns
    -------
    Mondrian
        Regions, and released values of each record.

    Notes
    -----
    LeFevre, DeWitt and Ramakrishnan (2006), as in Marés (2013), section 2.3.3; the global median is from section 5.3.1.
    Of equal ranges, the first attribute is cut; of equally balanced cuts, that at the smaller value is used. A missing
    value that has a code is a value like any other. O(pn log n) to sort, then O(pn) for each of about log₂(n/k) rounds
    of cuts.

    Examples
    --------
    >>> found = mondrian([[1, 0], [2, 0], [8, 1], [9, 1]], 2)
    >>> found.labels
    array([0, 0, 1, 1], dtype=int32)
    >>> found.release[0].tolist()
    [[1.0, 2.0], [0.0, 0.0]]
    """
    choice(summary, "summary", SUMMARIES)
    values = check_table(X, "X")
    found = partition(values, k, strict=strict, kinds=kinds, hierarchies=hierarchies, weights=weights)
    cells = release(values, found.labels, summary, found.kinds, found.trees, decimals)
    return Mondrian(found.labels, cells)


class Partition(NamedTuple):
    """Regions of a table.

    Attributes
    ----------
    labels
        Region of each record.
    kinds, trees
        Kind of each attribute, and its checked hierarchy or None.
    """

    labels: NDArray[np.int32]
    kinds: list[str]
    trees: list[NDArray[np.int32] | None]


def partition(
    values: NDArray[np.float64],
    k: int,
    *,
    strict: bool = True,
    kinds: str | Sequence[str] = "numeric",
    hierarchies: Sequence[object] | None = None,
    weights: Sequence[float] | None = None,
) -> Partition:
    """Regions of `mondrian` without the released values; parameters as for `mondrian`."""
    n, p = values.shape
    words = list(check_kinds(kinds, p, KINDS))
    size = whole(k, "k", least=1)
    if size > n:
        raise SDCError(f"k = {size} is larger than the number of records, {n}")
    trees = _trees(hierarchies, words, values)
    for j in range(p):
        if words[j] != "numeric" and _whole(values[:, j], f"column {j} of X").min() < 0:
            raise SDCError(f"column {j} of X has a negative code; codes count from 0")
    columns = (
        np.unique(values[:, j], return_inverse=True) if tree is None else (_numbered(tree), values[:, j])
        for j, tree in enumerate(trees)
    )
    labels = regions(columns, n, size, strict=strict, trees=trees, weights=column_weights(weights, p))
    return Partition(labels, words, trees)


def coded_regions(
    columns: Sequence[tuple[NDArray[np.int32], NDArray[np.float64] | None]],
    k: int,
    *,
    strict: bool,
    trees: Sequence[NDArray[np.int32] | None],
    weights: Sequence[float] | None = None,
) -> NDArray[np.int32]:
    """Region of each record, as in `mondrian`, from columns of codes, without a table of values.

    Parameters
    ----------
    columns
        For each attribute, its codes, and the number of each code in ascending order (None if it is the code itself).
    k, strict, weights
        As for `mondrian`.
    trees
        Hierarchy of each attribute, or None.
    """
    n = len(columns[0][0])
    size = whole(k, "k", least=1)
    if size > n:
        raise SDCError(f"k = {size} is larger than the number of records, {n}")

    def dense() -> Iterator[tuple[NDArray[np.float64], NDArray[Any]]]:
        for (codes, numbers), tree in zip(columns, trees, strict=True):
            if tree is not None:
                yield _numbered(tree), codes
                continue
            occurring = np.zeros(int(codes.max()) + 1, dtype=np.bool_)
            occurring[codes] = True
            own = np.flatnonzero(occurring)
            rank = (np.cumsum(occurring) - 1).astype(np.int32)
            yield own.astype(np.float64) if numbers is None else numbers[own], rank[codes]

    return regions(dense(), n, size, strict=strict, trees=trees, weights=column_weights(weights, len(columns)))


def _numbered(tree: NDArray[np.int32]) -> NDArray[np.float64]:
    return np.arange(tree.shape[1], dtype=np.float64)


class Stretches(NamedTuple):
    """Records in the order of their regions.

    Attributes
    ----------
    order
        Positions of the records, region by region.
    starts
        Start of each region in ``order``.
    """

    order: NDArray[np.intp]
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, labels: NDArray[np.integer[Any]]) -> Stretches:
        """Build from the region of each record; regions are numbered from 0 without gaps."""
        order = np.argsort(labels, kind="stable")
        return cls(order, np.concatenate([[0], np.cumsum(np.bincount(labels))[:-1]]))

    def ends(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Smallest and largest value in each region."""
        there = values[self.order]
        return np.minimum.reduceat(there, self.starts), np.maximum.reduceat(there, self.starts)


def region_nodes(tree: NDArray[np.int32], codes: NDArray[np.integer[Any]], found: Stretches) -> NDArray[Any]:
    """Level and group of the lowest node of a hierarchy that contains each region."""
    return _lowest(tree, codes[found.order], found.starts)


def regions(
    columns: Iterable[tuple[NDArray[np.float64], NDArray[Any]]],
    n: int,
    k: int,
    *,
    strict: bool,
    trees: Sequence[NDArray[np.int32] | None],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.int32]:
    """Region of each of n records, as in `mondrian`, from columns given as numbers of codes and codes."""
    p = len(trees)
    dense = np.empty((p, n), dtype=np.int32)
    numbers, spans, flat = [], np.zeros(p), [np.empty(0, dtype=np.int32)]
    for j, (tree, (distinct, codes)) in enumerate(zip(trees, columns, strict=True)):
        dense[j] = codes
        if tree is None:
            spans[j] = distinct[-1] - distinct[0]
        else:
            occurring = np.bincount(dense[j], minlength=len(distinct)) > 0
            top = next((row for row in tree if len(np.unique(row[occurring])) == 1), np.zeros(len(distinct)))
            spans[j] = (top == top[occurring][0]).sum() - 1
            flat.append(np.ascontiguousarray(tree, dtype=np.int32).ravel())
        numbers.append(distinct)
    if weights is not None:
        spans /= weights  # ranges are divided by spans, so an attribute with a larger weight seems wider
    levels = np.array([0 if tree is None else len(tree) for tree in trees])
    begins = np.cumsum([0] + [0 if tree is None else tree.size for tree in trees])[:-1]
    offsets = np.cumsum([0] + [len(distinct) for distinct in numbers])
    return mondrian_kernel(
        dense, np.concatenate(numbers), offsets, spans, np.concatenate(flat), begins, levels, k, bool(strict)
    )


def _trees(hierarchies: Any, words: Sequence[str], values: NDArray[np.float64]) -> list[NDArray[np.int32] | None]:
    p = len(words)
    if hierarchies is None:
        return [None] * p
    if len(hierarchies) != p:
        raise SDCError(f"hierarchies has {len(hierarchies)} entries for {p} attributes")
    trees: list[NDArray[np.int32] | None] = []
    for j, given in enumerate(hierarchies):
        if given is None:
            trees.append(None)
            continue
        if words[j] != "nominal":
            raise SDCError(f"column {j} of X is {words[j]}: only nominal attributes are cut along a hierarchy")
        tree = np.asarray(given)
        if tree.ndim != 2 or tree.dtype.kind not in "iu" or tree.shape[1] <= values[:, j].max():
            raise SDCError(f"hierarchies[{j}] must hold levels × codes, and column {j} of X codes within")
        trees.append(tree.astype(np.int32))
    return trees


def release(
    values: NDArray[np.float64],
    labels: NDArray[np.int32],
    summary: str,
    words: Sequence[str],
    trees: Sequence[NDArray[np.int32] | None],
    decimals: int | None,
) -> NDArray[np.float64]:
    """Released values of each region, as in `mondrian`, from checked values."""
    n, p = values.shape
    groups = labels.astype(np.intp)
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    lows = np.minimum.reduceat(values[order], starts, axis=0)
    highs = np.maximum.reduceat(values[order], starts, axis=0)
    if summary == "interval":
        both = np.stack([lows, highs], axis=2)
        for j, tree in enumerate(trees):
            if tree is not None:
                both[:, j] = _lowest(tree, values[order, j].astype(np.int64), starts)
        return both[groups]
    out = np.empty((n, p))
    for j in range(p):
        column = values[:, j]
        if summary == "mode":
            middle = _modes(column, groups)
        elif words[j] == "nominal":
            raise SDCError(f"column {j} of X is nominal and has no {summary}: use the mode or the interval")
        elif summary == "median":
            middle = _lower_medians(column, groups)
        elif summary == "global_median":
            middle = np.floor((lows[:, j] + highs[:, j]) / 2)
        elif words[j] == "ordinal":
            raise SDCError(f"column {j} of X is ordinal and has no mean: use the median, the mode or the interval")
        else:
            middle = rounded(_means(column, groups), column, decimals)
        out[:, j] = middle[groups]
    return out


def _lowest(tree: NDArray[np.int32], codes: NDArray[np.integer[Any]], starts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Level and group of the lowest common node of each range of codes; without one, the next level and group 0."""
    found = np.full((len(starts), 2), (len(tree), 0), dtype=np.float64)
    for level in range(len(tree) - 1, -1, -1):
        groups = tree[level][codes]
        low, high = np.minimum.reduceat(groups, starts), np.maximum.reduceat(groups, starts)
        found[low == high] = np.column_stack([np.full(len(low), level), low])[low == high]
    return found

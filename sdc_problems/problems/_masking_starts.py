"""Start files of a masking search: the table protected by many methods, each with several parameters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sdc_problems.methods.partition._centroids import microaggregate
from sdc_problems.methods.partition._mdav import mdav
from sdc_problems.methods.perturbation._pram import frequency_matrix, post_randomize
from sdc_problems.methods.perturbation._rank_swap import rank_swap

Files = dict[str, NDArray[np.float64]]
Codes = dict[str, NDArray[np.int64]]

RUNS = (2, 3, 4, 6, 13)  # widths of the runs of columns that are microaggregated together


def numeric_starts(X: NDArray[np.float64], names: Sequence[str], rng: np.random.Generator, *, many: bool) -> Files:
    """Files that rank swapping and MDAV make from a numeric table.

    Parameters
    ----------
    X
        Original values.
    names
        Names of the attributes.
    rng
        Random numbers for rank swapping.
    many
        50 files (rank swapping by 1 … 25 %, MDAV of runs of 2, 3, 4, 6 and 13 columns with k = 3, 5, 10, 15, 20)
        instead of 16 (by 2, 4 … 16 %; all columns with k = 3 … 10).
    """
    n, p = X.shape
    files: Files = {}
    for percent in range(1, 26) if many else range(2, 17, 2):
        files[f"rank swapping, {percent} %"] = rank_swap(X, percent=percent, rng=rng)
    widths = sorted({min(width, p) for width in RUNS}) if many else [p]
    for width in widths:
        for k in (3, 5, 10, 15, 20) if many else range(3, 11):
            if 2 * k > n:
                continue
            Y = X.copy()
            for begin in range(0, p, width):
                run = slice(begin, begin + width)
                Y[:, run] = microaggregate(X[:, run], mdav(X[:, run], k))
            files[f"MDAV, k = {k}" + (f", runs of {width} columns" if width < p else "")] = Y
    return files


def categorical_starts(
    X: NDArray[np.int64],
    sizes: Sequence[int],
    kinds: Sequence[str],
    rng: np.random.Generator,
    *,
    largest_k: int = 19,
    most_merged: int = 5,
) -> Codes:
    """Files that MDAV of attribute groups, merged categories, rank swapping and PRAM make from a categorical table.

    Parameters
    ----------
    X
        Original codes.
    sizes, kinds
        Number of categories and kind ("ordinal" or "nominal") of each attribute.
    rng
        Random numbers for rank swapping and PRAM.
    largest_k
        MDAV runs with each k from 2 to this one.
    most_merged
        The first, the last or the rarest categories are merged: each number of them from 2 to this one.
    """
    n, p = X.shape
    files: Codes = {}
    for groups in _groupings(p):
        for k in range(2, min(largest_k, n // 2) + 1):
            Y = X.copy()
            for group in groups:
                part, words = X[:, group], [kinds[j] for j in group]
                Y[:, group] = microaggregate(part, mdav(part, k, kinds=words), kinds=words).astype(np.int64)
            shown = " ".join("+".join(str(j + 1) for j in group) for group in groups)
            files[f"MDAV, k = {k}" + (f", attributes {shown}" if len(groups) > 1 else "")] = Y
    counts = [np.bincount(X[:, j], minlength=sizes[j]) for j in range(p)]
    for which in ("last", "first", "rarest"):
        for merged in range(2, most_merged + 1):
            Y = X.copy()
            for j in range(p):
                _merge(Y[:, j], counts[j], which, min(merged, sizes[j] - 1))
            files[f"{which} {merged} categories merged"] = Y
    for percent in range(2, 23, 2):
        swapped = rank_swap(X, percent=percent, rng=rng, kinds="ordinal")
        files[f"rank swapping, {percent} %"] = swapped.astype(np.int64)
    for tenth in range(1, 10):
        matrices = [_staying(count, tenth / 10) for count in counts]
        files[f"PRAM, p = 0.{tenth}"] = post_randomize(X, matrices, rng)
    return files


def _groupings(p: int) -> list[list[list[int]]]:
    """All attributes together; each pair (with up to three attributes), or each one apart from the rest."""
    whole = [list(range(p))]
    if p == 1:
        return [whole]
    if p == 2:
        return [whole, [[0], [1]]]
    apart = [[[j for j in range(p) if j not in left], list(left)] for left in combinations(range(p), 1)]
    return [whole, *reversed(apart)]


def _merge(column: NDArray[np.int64], count: NDArray[np.int64], which: str, merged: int) -> None:
    """Replace the merged categories of a column by the most frequent of them, in place."""
    if merged < 2:
        return
    order = {
        "last": np.arange(len(count))[::-1],
        "first": np.arange(len(count)),
        "rarest": np.argsort(count, kind="stable"),
    }[which]
    group = order[:merged]
    column[np.isin(column, group)] = group[np.argmax(count[group])]


def _staying(count: NDArray[np.int64], p: float) -> NDArray[np.float64]:
    """Frequency-based matrix over the categories that occur; the others keep their value."""
    occurring = np.flatnonzero(count)
    P = np.eye(len(count))
    if len(occurring) > 1:
        P[np.ix_(occurring, occurring)] = frequency_matrix(count[occurring], p)
    return P

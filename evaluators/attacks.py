"""Attacks on files whose cells were changed one by one, and the risk scores based on them.

A search that minimizes the usual scores may find files that have a low score although they disclose everything: the
rows are shifted, or the categories are renamed. These measures detect such files.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from sdc_problems._kernel import SLICE, Kernel, kernel
from sdc_problems._slices import slices, tell
from sdc_problems._validation import FloatArray, IntArray, code_pair, number, pair
from sdc_problems._validation import kinds as check_kinds
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import pair_counts, ranks
from sdc_problems.evaluators.disclosure_risk import interval_disclosure_rank
from sdc_problems.evaluators.information_loss.numeric import location_and_scale
from sdc_problems.evaluators.linkage._nearest import Tree, own_distances, tree_of, tree_second
from sdc_problems.evaluators.linkage._neighbors import settle_copies, settle_second
from sdc_problems.evaluators.linkage._repeated import tree_copies
from sdc_problems.evaluators.linkage.distance import distance_linkage
from sdc_problems.evaluators.linkage.probabilistic import probabilistic_linkage

SHIFTED = 50.0
"""Percent of copies at and above which a file is in effect the original with its rows shifted."""
RENAMED = 20.0
"""Percentage points of `guess` above interval disclosure at and above which categories are in effect renamed."""
PERCENTS = tuple(range(1, 11))
"""Half widths over which the interval disclosure of a numeric file is averaged."""

_TREE_FROM = 5000  # records; for fewer, comparing all pairs takes about as long as a tree
_LEAF = 64
_CANDIDATES = 2**18  # examined at once in the version that is not compiled
_WIDER = 1.0 + 1e-12  # factor by which a border is widened: more than rounding can move it
_ROWS = 128  # whose distances to all others are held at once in the version that is not compiled


def guess(X: object, Y: object) -> float:
    """Share of cells that an intruder gets right by guessing the likeliest original category of each protected one.

    ``100 · Σ_v max_x N_j(x, v) / n``, mean over the attributes j, where N_j counts the records with original category
    x and protected category v. If categories are only renamed, it is 100.

    Parameters
    ----------
    X, Y
        Original and protected category codes, same shape and row order.

    Returns
    -------
    float
        Percent of the cells, in (0, 100]; 100 for an unchanged table. Never below the share of the most frequent
        category, which can be guessed without the protected file.

    Notes
    -----
    O(n·p). It assumes the worst case: the intruder knows which original category each protected category stands for.

    Examples
    --------
    >>> X = [[0], [0], [1], [2]]
    >>> guess(X, X), guess(X, [[2], [2], [0], [1]]), guess(X, [[0], [0], [0], [0]])
    (100.0, 100.0, 50.0)
    """
    original, protected = code_pair(X, Y)
    right = 0
    for x, y in zip(original.T, protected.T, strict=True):
        counts = pair_counts(y, x)
        most = np.zeros(int(y.max()) + 1, dtype=np.int64)
        np.maximum.at(most, counts.first, counts.n)
        right += int(most.sum())
    return 100.0 * right / original.size


def mean_interval_disclosure(
    X: object, Y: object, *, percents: Sequence[float] = PERCENTS, kinds: object = "numeric"
) -> float:
    """Mean of :func:`~sdc_problems.evaluators.interval_disclosure_rank` over several widths (1, 2, … 10 % by default).

    Parameters
    ----------
    X, Y
        Original and protected table, same shape and row order.
    percents
        Half widths of the intervals, in percent of the records.
    kinds
        As for :func:`~sdc_problems.evaluators.interval_disclosure_rank`.

    Returns
    -------
    float
        Percent of the cells, in [0, 100].

    Examples
    --------
    >>> X = [[value] for value in range(20)]
    >>> mean_interval_disclosure(X, X), mean_interval_disclosure(X, np.roll(X, 1))
    (100.0, 57.0)
    """
    original, protected = pair(X, Y)
    words = check_kinds(kinds, original.shape[1], ("numeric", "ordinal", "nominal"))
    widths = [number(percent, "percents", low=0.0, high=100.0) for percent in percents]
    if not widths:
        raise SDCError("percents is empty: give at least one half width")
    n, disclosed = len(original), 0
    for x, y, word in zip(original.T, protected.T, words, strict=True):
        if word == "nominal":
            disclosed += len(widths) * int((x == y).sum())
            continue
        gap = 100.0 * np.abs(ranks(x) - ranks(y))
        disclosed += sum(int((gap <= width * n).sum()) for width in widths)
    return 100.0 * disclosed / (original.size * len(widths))


def dr_numeric(X: object, Y: object, *, agreement: float = 0.1, limit: int = 5000) -> float:
    """Disclosure risk of a numeric file: ``0.5 · ID + 0.25 · DBRL + 0.25 · PRL`` (Domingo-Ferrer & Torra 2001).

    ID is by ranks, the mean over 1, 2, … 10 % (:func:`mean_interval_disclosure`); DBRL links each protected record to
    the originals; PRL is the probabilistic linkage on all attributes. Marés (2013, ch. 3) uses this risk without
    giving its formula.

    Parameters
    ----------
    X, Y
        Original and protected numeric table, same shape and row order.
    agreement, limit
        See :func:`~sdc_problems.evaluators.probabilistic_linkage`.

    Returns
    -------
    float
        Percent, in [0, 100].

    Examples
    --------
    >>> X = np.random.default_rng(1).normal(size=(40, 3))
    >>> round(dr_numeric(X, X), 6)
    100.0
    """
    by_rank = mean_interval_disclosure(X, Y)
    by_distance = distance_linkage(X, Y, direction="to_original")
    by_probability = probabilistic_linkage(X, Y, kinds="numeric", agreement=agreement, limit=limit)
    return 0.5 * by_rank + 0.25 * by_distance + 0.25 * by_probability


def dr_guarded(
    X: object,
    Y: object,
    *,
    kinds: object = "nominal",
    n_categories: object = None,
    percent: float = 10.0,
    limit: int = 5000,
) -> float:
    """Disclosure risk of a categorical file that detects renamed categories: ``(max(ID, guess) + max(DBRL, PRL)) / 2``.

    This is :func:`~sdc_problems.evaluators.dr_categorical` with ID replaced by the larger of ID and :func:`guess`.

    Parameters
    ----------
    X, Y, kinds, n_categories, percent, limit
        As for :func:`~sdc_problems.evaluators.dr_categorical`.

    Returns
    -------
    float
        Percent, in [0, 100].

    Examples
    --------
    >>> X = [[0, 0], [1, 1], [2, 2], [3, 3]]
    >>> round(dr_guarded(X, X), 6)
    100.0
    """
    interval = interval_disclosure_rank(X, Y, percent=percent, kinds=kinds)
    by_distance = distance_linkage(X, Y, direction="to_original", kinds=kinds, n_categories=n_categories)
    by_probability = probabilistic_linkage(X, Y, kinds=kinds, limit=limit)
    return (max(interval, guess(X, Y)) + max(by_distance, by_probability)) / 2.0


def _plain_squares(A: Any, B: Any, w: Any) -> Any:
    """Squared distance of each row of A to each of B."""
    d = np.zeros((len(A), len(B)))
    for j, weight in enumerate(w):
        t = (A[:, j, None] - B[:, j]) * weight
        t *= t
        d += t
    return d


def _plain_others(X: Any, w: Any, nearest: Any, begin: int, end: int) -> None:
    for low in range(begin, end, _ROWS):
        high = min(low + _ROWS, end)
        d = _plain_squares(X[low:high], X[low:], w)
        d[np.tril_indices(high - low)] = np.inf
        np.minimum(nearest[low:high], d.min(axis=1), out=nearest[low:high])
        np.minimum(nearest[low:], d.min(axis=0), out=nearest[low:])


@kernel(cost=lambda X, w, nearest, begin, end: X.size * (end - begin) * 4e-9, plain=_plain_others)
def _look_for_others(X: Any, w: Any, nearest: Any, begin: int, end: int) -> None:
    """Compare the records from ``begin`` to ``end`` with all that follow them."""
    n, p = X.shape
    for i in range(begin, end):
        for k in range(i + 1, n):
            d = 0.0
            for j in range(p):
                t = (X[i, j] - X[k, j]) * w[j]
                d += t * t
            nearest[i] = min(nearest[i], d)
            nearest[k] = min(nearest[k], d)


def nearest_others(X: FloatArray, w: FloatArray) -> FloatArray:
    """Squared distance of each record to its nearest other record.

    Large files use a tree of boxes, which gives the same numbers: close to O(n·p·log n) for few attributes.
    """
    nearest = np.full(len(X), np.inf)
    if len(X) >= _TREE_FROM:
        left = settle_second(cast(Kernel, tree_second), X, w, nearest)
        if len(left):
            tree, turn, budget = _tree(X, w, left)
            at = done = 0
            while at < len(turn):
                done, at = at, tree_second(X, turn, tree, w, nearest, at, budget)
                if at < len(turn) or done > 0:
                    tell("records compared", at, len(turn))
        return nearest
    for low, high in slices(len(X), steps=X.size, what="records compared"):
        _look_for_others(X, w, nearest, low, high)
    return nearest


def _tree(X: FloatArray, w: FloatArray, some: IntArray) -> tuple[Tree, IntArray, int]:
    """Tree over all records, the records ``some`` in the order of its leaves, and the number of records per call."""
    p = X.shape[1]
    tree = tree_of(X, np.arange(len(X)), w, p, p, 1.0, _LEAF, SLICE)
    return tree, some[np.argsort(tree.leaf_of[some], kind="stable")], max(1, SLICE // (4 * p))


@kernel()
def is_copy(Y: Any, i: int, X: Any, w: Any, apart: Any, factor: float) -> bool:
    """Whether row i of Y copies one of its nearest originals.

    Its squared distance to that original is at most ``factor`` times the original's to its own nearest other original.
    """
    n, p = X.shape
    best = np.inf
    copied = False
    for k in range(n):
        d = 0.0
        for j in range(p):
            t = (Y[i, j] - X[k, j]) * w[j]
            d += t * t
            if d > best:
                break
        if d < best:
            best = d
            copied = d <= factor * apart[k]
        elif d == best:
            copied = copied or d <= factor * apart[k]
    return copied


def _plain_copies(Y: Any, X: Any, w: Any, apart: Any, factor: float) -> int:
    found = 0
    for low in range(0, len(Y), _ROWS):
        d = _plain_squares(Y[low : low + _ROWS], X, w)
        found += int(((d == d.min(axis=1, keepdims=True)) & (d <= factor * apart)).any(axis=1).sum())
    return found


@kernel(cost=lambda Y, X, *_: X.size * len(Y) * 6e-9, plain=_plain_copies)
def _count_copies(Y: Any, X: Any, w: Any, apart: Any, factor: float) -> int:
    found = 0
    for i in range(len(Y)):
        if is_copy(Y, i, X, w, apart, factor):
            found += 1
    return found


def _find_copies(Y: FloatArray, X: FloatArray, w: FloatArray, apart: FloatArray, factor: float) -> int:
    """Number of rows of Y for which ``is_copy`` holds, found with a tree."""
    found = np.zeros(len(Y), dtype=np.bool_)
    left = settle_copies(cast(Kernel, tree_copies), Y, X, w, apart, factor, found)
    if len(left):
        tree, turn, budget = _tree(X, w, left)
        at = done = 0
        while at < len(turn):
            done, at = at, tree_copies(Y, turn, tree, w, apart, factor, found, at, budget)
            if at < len(turn) or done > 0:
                tell("records looked for", at, len(turn))
    return int(found.sum())


def inverse_scale(X: FloatArray) -> FloatArray:
    """Weights of the attributes in distances: the reciprocal standard deviation, 0 for a constant attribute."""
    scale = location_and_scale(X)[1]
    return np.where(scale > 0, 1.0 / np.where(scale > 0, scale, 1.0), 0.0)


def copies(X: object, Y: object, *, reach: float = 0.5) -> float:
    """Share of protected records that nearly repeat an original record, in any row.

    A protected record counts if the distance to its nearest original is at most ``reach`` times the distance from that
    original to *its* nearest other original. If rows are only shifted, the share is 100.

    Parameters
    ----------
    X, Y
        Original and protected numeric table, same shape. The order of the rows does not matter.
    reach
        Share of the distance between the originals.

    Returns
    -------
    float
        Percent of the records, in [0, 100].

    Notes
    -----
    Euclidean distance on attributes divided by their standard deviation in X. If several originals are equally near, it
    is enough that one of them satisfies the condition. Files of 5,000 or more records use a tree of boxes: close to
    O(n·p·log n) for few attributes, O(n²·p) for many.

    Examples
    --------
    >>> X = [[0.0], [4.0], [8.0]]
    >>> copies(X, np.roll(X, 1, axis=0)), copies(X, [[2.0], [2.1], [11.0]])
    (100.0, 66.66666666666667)
    """
    original, protected = pair(X, Y)
    share = number(reach, "reach", low=0.0, high=1e6)
    if len(original) == 1:
        return 100.0 * float((original == protected).all())
    weights = inverse_scale(original)
    apart = nearest_others(original, weights)
    if len(original) >= _TREE_FROM:
        return 100.0 * _find_copies(protected, original, weights, apart, share * share) / len(original)
    found = 0
    for low, high in slices(len(protected), steps=original.size, what="records looked for"):
        found += int(_count_copies(protected[low:high], original, weights, apart, share * share))
    return 100.0 * found / len(original)


def _plain_links(
    X: Any, Y: Any, w: Any, low: Any, high: Any, own: Any, turn: Any, best: Any, begin: Any, end: Any, by_value: Any,
    ties: Any, first: int, last: int,
) -> None:  # fmt: skip
    before = np.concatenate([[0], np.cumsum(end - begin)])
    while first < last:
        stop = int(np.searchsorted(before, before[first] + _CANDIDATES))
        stop = min(max(stop, first + 1), last)
        width = end[first:stop] - begin[first:stop]
        of = np.repeat(np.arange(first, stop), width)
        place = np.arange(len(of)) - np.repeat(np.cumsum(width) - width, width)
        i, k = turn[of], by_value[begin[of] + place, best[of]]
        inside = np.ones(len(of), dtype=np.bool_)
        d = np.zeros(len(of))
        for j in range(X.shape[1]):
            x, y = X[i, j], Y[k, j]
            inside &= (y >= low[i, j]) & (y <= high[i, j])
            d += ((x - y) * w[j]) ** 2
        tied = np.bincount(i[inside & (d == own[i])], minlength=len(X))
        tied[i[inside & (d < own[i])]] = 0
        ties[turn[first:stop]] = tied[turn[first:stop]]
        first = stop


def _plain_link_seconds(X: Any, Y: Any, w: Any, low: Any, high: Any, own: Any, turn: Any, best: Any, begin: Any,
                        end: Any, by_value: Any, ties: Any, first: int, last: int) -> float:  # fmt: skip
    candidates = (end[first:last] - begin[first:last]).sum()
    return float(2e-4 + candidates * X.shape[1] * 3e-8)


@kernel(cost=_plain_link_seconds, plain=_plain_links)
def _rank_links(
    X: Any, Y: Any, w: Any, low: Any, high: Any, own: Any, turn: Any, best: Any, begin: Any, end: Any, by_value: Any,
    ties: Any, first: int, last: int,
) -> None:  # fmt: skip
    """Per original record, the number of candidates as near as its own protected record; 0 if one is nearer."""
    p = X.shape[1]
    for at in range(first, last):
        i, narrow, found = turn[at], best[at], 0
        e = begin[at] + (end[at] - begin[at]) // 2  # the nearest are near the middle
        for _ in range(begin[at], end[at]):
            k = by_value[e, narrow]
            e += 1
            if e == end[at]:
                e = begin[at]
            inside = True
            for j in range(p):
                if Y[k, j] < low[i, j] or Y[k, j] > high[i, j]:
                    inside = False
                    break
            if not inside:
                continue
            d = 0.0
            for j in range(p):
                t = (X[i, j] - Y[k, j]) * w[j]
                d += t * t
            if d < own[i]:
                found = 0
                break
            if d == own[i]:
                found += 1
        ties[i] = found


def rsrl(X: object, Y: object, *, percent: float) -> float:
    """Rank swapping record linkage: attack by an intruder who knows how far ranks were swapped.

    The candidates for an original record are the protected records that lie, in every attribute, within
    w = ⌊percent · n / 100⌋ ranks of it: between the values w ranks below and above its own in the original attribute.
    It is linked to the nearest candidate (Nin, Herranz & Torra 2008; announced in Marés 2013, §2.4.2).

    Parameters
    ----------
    X, Y
        Original and protected table, same shape and row order: numbers, or codes of ordinal attributes.
    percent
        Largest difference of ranks, in percent of the records.

    Returns
    -------
    float
        Percent of the records that are linked correctly, in [0, 100]. If several candidates are equally near, a link
        counts with the chance of picking the right one.

    Notes
    -----
    A record with ties in the original attribute has the ranks of all tied records. Distances are those of
    :func:`~sdc_problems.evaluators.distance_linkage`. O(n·p·(log n + c)), where c is the number of records that are, in
    the most selective attribute, no farther away than the record's own counterpart.

    Examples
    --------
    >>> X = [[10.0, 1.0], [20.0, 2.0], [30.0, 3.0], [40.0, 4.0]]
    >>> Y = [[20.0, 2.0], [10.0, 1.0], [40.0, 4.0], [30.0, 3.0]]
    >>> rsrl(X, X, percent=25), rsrl(X, Y, percent=25), rsrl([[1.0], [2.0]], [[1.0], [1.0]], percent=0)
    (100.0, 0.0, 25.0)
    """
    original, protected = pair(X, Y)
    n, p = original.shape
    w = int(number(percent, "percent", low=0.0, high=100.0) * n / 100.0)
    weights = inverse_scale(original)
    own: FloatArray = own_distances(original, protected, weights, p, p, 1.0)
    low, high = np.empty((n, p)), np.empty((n, p))
    for j in range(p):
        ordered = np.sort(original[:, j])
        first = np.searchsorted(ordered, original[:, j], side="left")
        last = np.searchsorted(ordered, original[:, j], side="right") - 1
        low[:, j] = ordered[np.maximum(first - w, 0)]
        high[:, j] = ordered[np.minimum(last + w, n - 1)]
    turn = np.flatnonzero(((protected >= low) & (protected <= high)).all(axis=1))  # the others are never found
    by_value = np.argsort(protected, axis=0, kind="stable")
    begin, end = np.empty((len(turn), p), dtype=np.int64), np.empty((len(turn), p), dtype=np.int64)
    for j in range(p):
        # To be as near as the own record, a record may not be farther away in any one attribute, rounding included.
        x, after = original[turn, j], protected[by_value[:, j], j]
        reach = np.sqrt(own[turn]) / weights[j] * _WIDER if weights[j] > 0 else np.full(len(turn), np.inf)
        reach += np.abs(x) * (_WIDER - 1.0)
        begin[:, j] = np.searchsorted(after, np.maximum(low[turn, j], x - reach), side="left")
        end[:, j] = np.searchsorted(after, np.minimum(high[turn, j], x + reach), side="right")
    best = np.argmin(end - begin, axis=1)
    some = np.arange(len(turn)), best
    found: IntArray = np.zeros(n, dtype=np.int64)
    longest = int((end[some] - begin[some]).max(initial=1))
    for least, most in slices(len(turn), steps=longest * p, what="records linked by rank"):
        _rank_links(original, protected, weights, low, high, own, turn, best, begin[some], end[some], by_value, found,
                    least, most)  # fmt: skip
    tied, records = np.unique(found[found > 0], return_counts=True)
    return float(100.0 * math.fsum(records / tied) / n)

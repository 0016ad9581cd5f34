"""Distance-based record linkage with exact ties, for numeric, categorical and mixed tables.

:func:`distance_linkage` looks for the nearest counterpart; :func:`probabilistic_linkage` weighs agreements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, cast

import numpy as np

from sdc_problems._kernel import SLICE, Kernel
from sdc_problems._slices import tell
from sdc_problems._validation import FloatArray, IntArray, cell_mask, choice, domain_sizes, kinds, pair
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.information_loss.numeric import location_and_scale
from sdc_problems.evaluators.linkage._nearest import brute_ties, in_blocks, own_distances, tree_of, tree_ties
from sdc_problems.evaluators.linkage._neighbors import settle_ties
from sdc_problems.evaluators.linkage._same_rows import same_rows, smallest_of
from sdc_problems.evaluators.linkage._views import Recoding, View, all_views, check_recodings
from sdc_problems.evaluators.linkage.probabilistic import (
    ConvergenceWarning,
    ProbabilisticLinkage,
    match_probabilistically,
    probabilistic_linkage,
)

__all__ = [
    "ConvergenceWarning",
    "ProbabilisticLinkage",
    "distance_linkage",
    "link_ties",
    "match_probabilistically",
    "probabilistic_linkage",
]

KINDS = ("numeric", "ordinal", "nominal")
TIES = ("fraction", "strict", "any")
DIRECTIONS = ("to_protected", "to_original")
ENGINES = ("auto", "brute", "table", "tree")

_LARGEST = 1e150  # squares of larger numbers overflow, and all distances would tie at infinity
_WHOLE = 2**53  # largest sum of whole-number category distances that a double holds exactly
_LEAF = 64
_BLOCK = 128
_FEW_PAIRS = 2**14
_BRUTE = 1.2e-9  # seconds per attribute and pair of records
_FEW_CELLS = 2**24  # up to so many, a tree (and importing SciPy) is not worth it if nothing is compiled


Scales = tuple[int, int, float]


class _Metric(NamedTuple):
    """Both tables, with columns ordered numeric, ordinal, nominal, and what ``_nearest`` needs to compare them."""

    A: FloatArray
    B: FloatArray
    weights: FloatArray
    numeric: int
    numeric_or_ordinal: int
    unit: float
    words: tuple[str, ...]
    """Kind of each attribute, in the order of the tables given."""
    order: list[int]

    @property
    def scales(self) -> Scales:
        """First ordinal and first nominal column, and the unit of category distances."""
        return self.numeric, self.numeric_or_ordinal, self.unit

    def seen_by(self, view: View) -> FloatArray:
        """Weights in which starred attributes are 0, so that a star is at no distance."""
        return np.where(view.starred, 0.0, self.weights)


def _metric(X: object, Y: object, words: object, n_categories: object, standardize: bool) -> _Metric:
    original, protected = pair(X, Y)
    p = original.shape[1]
    kind = kinds(words, p, KINDS)
    order = [j for word in KINDS for j in range(p) if kind[j] == word]
    a = kind.count("numeric")
    b = a + kind.count("ordinal")
    if order == list(range(p)):
        A, B = np.ascontiguousarray(original), np.ascontiguousarray(protected)
    else:
        A, B = original[:, order].copy(), protected[:, order].copy()
    weights = np.ones(p)
    unit = 1.0
    if a:
        if any(max(table[:, :a].max(), -table[:, :a].min()) > _LARGEST for table in (A, B)):
            raise SDCError(f"X or Y holds numbers beyond {_LARGEST:g}: their squared distances overflow; rescale them")
        if standardize:
            scale = location_and_scale(A[:, :a])[1]
            weights[:a] = np.where(scale > 0, 1.0 / np.where(scale > 0, scale, 1.0), 0.0)
    if a < p:
        codes = [_as_codes(table[:, a:], name) for table, name in ((A, "X"), (B, "Y"))]
        declared = _picked(n_categories, order[a:], p)
        sizes = [int(size) for size in domain_sizes(declared, *codes)]
        # Distances in units of 1/lcm are whole numbers: 1/3 + 2/5 and 2/5 + 1/3 tie, as they should.
        common = math.lcm(*sizes[: b - a])
        if common * 2 * (p - a) < _WHOLE:
            unit = float(common)
            weights[a:b] = [common // size for size in sizes[: b - a]]
            weights[b:] = common
        else:
            weights[a:b] = [1.0 / size for size in sizes[: b - a]]
    return _Metric(A, B, weights, a, b, unit, kind, order)


def _picked(n_categories: object, columns: list[int], p: int) -> object:
    if n_categories is None or isinstance(n_categories, (int, np.integer)):
        return n_categories
    sizes = np.asarray(n_categories, dtype=object)
    if sizes.shape != (p,):
        raise SDCError(f"n_categories needs one entry per attribute ({p}); those of numeric attributes are ignored")
    return [sizes[j] for j in columns]


def _as_codes(values: FloatArray, name: str) -> IntArray:
    codes = values.astype(np.int64)
    if not np.array_equal(codes, values) or codes.min() < 0 or codes.max() >= _WHOLE:
        raise SDCError(f"{name} must hold whole codes from 0 to 2**53 in its categorical attributes")
    return codes


def link_ties(
    X: object,
    Y: object,
    *,
    direction: str = "to_protected",
    kinds: object = "numeric",
    n_categories: object = None,
    standardize: bool = True,
    engine: str = "auto",
    stars: object = None,
    recodings: Mapping[int, Recoding] | None = None,
    records: IntArray | None = None,
) -> IntArray:
    """Number of counterparts as near to each record as its own; 0 if another is nearer.

    An intruder who takes the nearest counterpart re-identifies a record with 1 for certain, with 4 in one case of four,
    and with 0 never. See :func:`distance_linkage` for the arguments.

    Parameters
    ----------
    X, Y, direction, kinds, n_categories, standardize, engine, stars, recodings, records
        As for :func:`distance_linkage`.

    Returns
    -------
    ndarray of int64
        One number for each record that looks for its counterpart.

    Examples
    --------
    >>> link_ties([[0.0], [1.0], [5.0]], [[0.5], [0.5], [0.6]])
    array([2, 0, 1])
    >>> link_ties([[0.0], [1.0], [5.0]], [[0.0], [0.0], [5.0]], stars=[[False], [True], [False]])
    array([2, 1, 2])
    """
    towards = choice(direction, "direction", DIRECTIONS)
    how = choice(engine, "engine", ENGINES)
    metric = _metric(X, Y, kinds, n_categories, standardize)
    n, p = metric.A.shape
    open_cells = cell_mask(stars, (n, p), "stars")
    known = check_recodings(recodings, np.asarray(X), metric.words)
    if open_cells.any() or known:
        if records is not None:
            raise SDCError("records cannot be chosen where there are stars or recodings: link all of them")
        return _ties_of_views(metric, list(all_views(open_cells, known, metric.order)), towards, how)
    A, B = (metric.A, metric.B) if towards == "to_protected" else (metric.B, metric.A)
    if records is not None:
        return _ties_of_some(metric, A, B, _some(records, n), how)
    own: FloatArray = own_distances(A, B, metric.weights, *metric.scales)
    return _ties(A, own, B, metric.weights, metric.scales, how)


def _some(records: IntArray, n: int) -> IntArray:
    """Positions of the records that look for counterparts, checked."""
    chosen = np.asarray(records)
    if chosen.ndim != 1 or not len(chosen) or chosen.dtype.kind not in "iu" or chosen.min() < 0 or chosen.max() >= n:
        raise SDCError(f"records must be positions from 0 to {n - 1}, at least one")
    return chosen.astype(np.int64)


def _ties_of_some(metric: _Metric, A: FloatArray, B: FloatArray, records: IntArray, how: str) -> IntArray:
    """Ties of some records of A among all of B."""
    rows = np.ascontiguousarray(A[records])
    own: FloatArray = own_distances(rows, np.ascontiguousarray(B[records]), metric.weights, *metric.scales)
    searchers = _Searchers.of(rows, own, how)
    found = _found(
        searchers.rows, searchers.radius, records[searchers.closest], B, metric.weights, metric.scales, how
    )  # fmt: skip
    return searchers.ties(own, found)


class _Searchers(NamedTuple):
    """Distinct records that look for counterparts; equal records share one search."""

    rows: FloatArray
    radius: FloatArray
    """Smallest distance of equal records to their counterparts; records with a larger one are not linked."""
    closest: IntArray
    """Record with the smallest distance."""
    who: IntArray
    """Index of each record among the distinct records."""

    @classmethod
    def of(cls, records: FloatArray, own: FloatArray, how: str) -> _Searchers:
        first, who, _ = _distinct(records, how)
        if len(first) == len(records):
            return cls(records, own, first, who)
        radius, closest = smallest_of(own, who, len(first))
        return cls(records[first], radius, closest, who)

    def ties(self, own: FloatArray, found: IntArray) -> IntArray:
        """Ties of each record; 0 if another is nearer."""
        return np.where(own == self.radius[self.who], np.maximum(found, 0)[self.who], 0)


def _distinct(records: FloatArray, how: str) -> tuple[IntArray, IntArray, IntArray]:
    if how == "brute":
        each = np.arange(len(records))
        return each, each, np.ones(len(records), dtype=np.int64)
    return same_rows(records)


def _ties(
    A: FloatArray, own: FloatArray, B: FloatArray, weights: FloatArray, scales: Scales, how: str
) -> IntArray:  # fmt: skip
    """Number of records of B at each record's distance to its own counterpart; 0 if one is nearer."""
    searchers = _Searchers.of(A, own, how)
    found = _found(searchers.rows, searchers.radius, searchers.closest, B, weights, scales, how)
    return searchers.ties(own, found)


def _found(
    rows: FloatArray, radius: FloatArray, closest: IntArray | None, B: FloatArray, weights: FloatArray, scales: Scales,
    how: str,
) -> IntArray:  # fmt: skip
    """Number of records of B at the radius of each row; -1 if one is nearer.

    ``closest`` is the position of a record of B at the radius, if known.
    """
    first, which, count = _distinct(B, how)
    targets = B if len(first) == len(B) else B[first]
    leaf = None if closest is None else which[closest]
    if how != "auto" or scales[0] < len(weights) or len(rows) * targets.size < _FEW_CELLS:
        return _searched(rows, radius, leaf, targets, count, weights, scales, how)
    found = np.empty(len(rows), dtype=np.int64)
    rest = settle_ties(cast(Kernel, tree_ties), rows, radius, targets, count, weights, found)
    if len(rest):
        some = None if leaf is None else leaf[rest]
        found[rest] = _searched(rows[rest], radius[rest], some, targets, count, weights, scales, how)
    return found


def _searched(
    rows: FloatArray, radius: FloatArray, closest: IntArray | None, targets: FloatArray, count: IntArray,
    weights: FloatArray, scales: Scales, how: str,
) -> IntArray:  # fmt: skip
    """Like ``_found``, among distinct targets that occur ``count`` times."""
    found = np.empty(len(rows), dtype=np.int64)
    budget = max(1, SLICE // (4 * rows.shape[1]))
    few = len(rows) * len(targets) <= _FEW_PAIRS or len(targets) <= _LEAF
    search: Callable[[int], int]
    plain = brute_ties.is_plain_for(rows, radius, (targets,))  # type: ignore[attr-defined]
    seconds = len(rows) * targets.size * _BRUTE
    if how == "auto" and not (few or plain) and cast(Kernel, tree_ties).spares(seconds):
        cast(Kernel, tree_ties).spend(seconds)
        few = True
    if how in ("brute", "table") or (how == "auto" and (few or plain)):
        blocks = in_blocks(targets, count, _BLOCK)

        def search(at: int) -> int:
            return int(brute_ties(rows, radius, blocks, weights, *scales, found, at, budget))
    else:
        tree = tree_of(targets, count, weights, *scales, _LEAF, SLICE)
        start = np.full(len(rows), -1) if closest is None else tree.leaf_of[closest]
        # Near rows visit the same leaves; with 16 bits the sort is a radix sort.
        turn = np.argsort(start.astype(np.int16) if len(tree.sizes) < 2**15 else start, kind="stable")

        def search(at: int) -> int:
            return int(tree_ties(rows, radius, start, turn, tree, weights, *scales, found, at, budget))

    at = done = 0
    while at < len(rows):
        done, at = at, search(at)
        if at < len(rows) or done > 0:
            tell("records linked", at, len(rows))
    return found


def _ties_of_views(
    metric: _Metric, views: list[View], towards: str, how: str
) -> IntArray:  # fmt: skip
    """Ties if the protected records form groups (views), each with its own comparison."""
    n = len(metric.A)
    ties = np.zeros(n, dtype=np.int64)
    own = np.empty(n)
    for view in views:
        own[view.records] = own_distances(
            view.of(metric.A[view.records]), metric.B[view.records], metric.seen_by(view), *metric.scales
        )
    if towards == "to_original":
        for view in views:
            originals, protected = view.of(metric.A), metric.B[view.records]
            searchers = _Searchers.of(protected, own[view.records], how)
            found = _found(
                searchers.rows, searchers.radius, view.records[searchers.closest], originals, metric.seen_by(view),
                metric.scales, how,
            )  # fmt: skip
            ties[view.records] = searchers.ties(own[view.records], found)
        return ties
    searchers = _Searchers.of(metric.A, own, how)
    total = np.zeros(len(searchers.rows), dtype=np.int64)
    still = np.arange(len(searchers.rows))
    for view in sorted(views, key=lambda view: -len(view.records)):
        seen, protected = view.of(searchers.rows[still]), metric.B[view.records]
        found = _found(
            seen, searchers.radius[still], None, protected, metric.seen_by(view), metric.scales, how
        )  # fmt: skip
        total[still] = np.where(found < 0, 0, total[still] + found)
        still = still[found >= 0]
    return searchers.ties(own, total)


def distance_linkage(
    X: object,
    Y: object,
    *,
    direction: str = "to_protected",
    ties: str = "fraction",
    kinds: object = "numeric",
    n_categories: object = None,
    standardize: bool = True,
    engine: str = "auto",
    stars: object = None,
    recodings: Mapping[int, Recoding] | None = None,
    records: IntArray | None = None,
) -> float:
    """Distance-based record linkage: share of records whose nearest counterpart is their own.

    Parameters
    ----------
    X, Y
        Original and protected table, same shape; row i of Y protects row i of X. Categorical attributes hold codes.
    direction
        ``"to_protected"``: each original record looks for the nearest protected one (the DLD of Balasch-Masoliver
        2010, §3.3). ``"to_original"``: each protected record looks for the nearest original one (the DBRL of Marés
        2013, §2.4.2).
    ties
        If several counterparts are equally near and the record's own is among them, ``"fraction"`` counts the chance of
        picking it at random, ``"strict"`` counts no link (Balasch-Masoliver 2010), ``"any"`` counts a link.
    kinds
        ``"numeric"``, ``"ordinal"`` or ``"nominal"``, for all attributes or one word per attribute.
    n_categories
        Domain size per attribute (ignored for numeric ones); by default, the largest code plus one.
    standardize
        Whether to divide numeric attributes by their population standard deviation in X (z-scores); a constant
        attribute then has no effect.
    engine
        ``"auto"``, or one of ``"brute"`` (every record against every other), ``"table"`` (distinct rows against
        distinct rows) and ``"tree"`` (a tree of boxes over the distinct rows). All give the same result.
    stars
        True for each cell of Y that is starred or missing, whatever number it holds: its distance from any value is 0.
    recodings
        Recodings of nominal attributes whose labels stand for several values, by position: X holds values, Y labels,
        and the distance between a value and a label that may stand for it is 0.
    records
        Positions of the records that look for their counterparts among all records; by default, all of them. For a
        large table, a sample gives nearly the same result.

    Returns
    -------
    float
        Percent of the records, in [0, 100].

    Notes
    -----
    The distance is Euclidean on the numeric attributes, plus the category distances of
    :func:`~sdc_problems.evaluators.information_loss.category_distance`. It is exact: distances are compared without a
    tolerance, whole-number multiples of the smallest category step stay whole numbers, and all engines compute
    a distance by the same operations. The search starts from the record's own counterpart and ends at the first one
    that is nearer. O(n²·p) at worst, close to O(n·p·log n) for lightly protected data with few attributes. With stars
    and recodings, the protected records are searched in groups, one per pattern of stars and levels, which multiplies
    the cost by their number.

    Examples
    --------
    >>> X = [[0.0], [1.0], [5.0], [6.0]]
    >>> distance_linkage(X, X)
    100.0
    >>> merged = [[0.5], [0.5], [5.5], [5.5]]
    >>> distance_linkage(X, merged), distance_linkage(X, merged, ties="strict"), distance_linkage(X, merged, ties="any")
    (50.0, 0.0, 100.0)
    """
    policy = choice(ties, "ties", TIES)
    near = link_ties(
        X, Y, direction=direction, kinds=kinds, n_categories=n_categories, standardize=standardize, engine=engine,
        stars=stars, recodings=recodings, records=records,
    )  # fmt: skip
    return 100.0 * _linked(near, policy) / len(near)


def _linked(near: IntArray, policy: str) -> float:
    if policy == "strict":
        return float(np.count_nonzero(near == 1))
    if policy == "any":
        return float(np.count_nonzero(near))
    # Records with t ties are counted and divided by t, so that the order of the records does not affect rounding.
    tied, records = np.unique(near[near > 0], return_counts=True)
    return math.fsum(records / tied)

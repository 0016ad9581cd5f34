"""Probabilistic record linkage: Fellegi–Sunter weights estimated by EM, then an exact one-to-one assignment."""

from __future__ import annotations

import copy
import hashlib
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sdc_problems._slices import slices
from sdc_problems._validation import FloatArray, IntArray, cell_mask, kinds, number, pair, whole
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import pair_counts, unique_rows
from sdc_problems.evaluators.information_loss.numeric import location_and_scale
from sdc_problems.evaluators.linkage._agreement import agreement_patterns, expectation_maximisation, pattern_counts
from sdc_problems.evaluators.linkage._transport import transport
from sdc_problems.evaluators.linkage._views import Recoding, View, all_views, check_recodings

_LATEST: dict[bytes, ProbabilisticLinkage] = {}  # by a digest of the tables: a verdict asks twice, also for its score
_KINDS = ("numeric", "ordinal", "nominal")
MOST_ATTRIBUTES = 62  # bits of an agreement pattern
MOST_ROWS = 5000
"""Largest number of distinct records that are compared by default."""


class ConvergenceWarning(UserWarning):
    """Warning that an estimate was returned although its iteration had not converged."""


class ProbabilisticLinkage(NamedTuple):
    """Result of probabilistic linkage: share of correct links, weights and estimated probabilities.

    ``share`` is the expected percentage of records paired with their own counterpart; ``m`` and ``u`` are the
    estimated probabilities that an attribute agrees in a matching pair and in any other pair, ``prevalence`` is the
    share of matching pairs under these estimates; ``weights_agree`` and ``weights_differ`` are the log2 likelihood
    ratios.
    """

    share: float
    m: FloatArray
    u: FloatArray
    prevalence: float
    weights_agree: FloatArray
    weights_differ: FloatArray
    iterations: int
    converged: bool


class Rows(NamedTuple):
    """Distinct rows of a table, the index of each record's row, and the number of records of each row."""

    values: FloatArray
    of_record: IntArray
    records: IntArray


def _scrambled(n: int, salt: int) -> IntArray:
    """Fixed order of 0 … n-1 for each salt, unrelated to the natural order (numbers sorted by a hash).

    Which of several equally good assignments is found depends on the order in which the solver visits the rows. Both
    tables are in lexicographic order, so visiting them in that order would pair neighbors and favor correct links.
    """
    z = (np.arange(1, n + 1, dtype=np.uint64) + np.uint64(salt << 32)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.argsort(z ^ (z >> np.uint64(31)))


def _occurring(patterns: IntArray, x: Rows, y: Rows, p: int) -> tuple[IntArray, FloatArray, IntArray]:
    """Patterns that occur, number of pairs of records with each, and index of the pattern of each pair of rows."""
    if p <= 20:
        count = pattern_counts(patterns, x.records, y.records, 1 << p)
        distinct = np.flatnonzero(count)
        rank = np.cumsum(count > 0) - 1
        return distinct, count[distinct], rank[patterns]
    distinct, index = np.unique(patterns, return_inverse=True)
    index = index.reshape(patterns.shape)
    return distinct, pattern_counts(index, x.records, y.records, len(distinct)), index


def _assign(cost: IntArray, same: IntArray | None, x: Rows, y: Rows, limit: int) -> IntArray:
    """Cheapest one-to-one assignment of the records of x to those of y: number of records from each row to each row.

    ``same`` maps rows of x to the equal row of y (-1: none); it is given if pairing equal rows is known to be optimal.
    """
    flow = np.zeros(cost.shape, dtype=np.int64)
    left_x, left_y = x.records.copy(), y.records.copy()
    if same is not None:
        here = np.flatnonzero(same >= 0)
        flow[here, same[here]] = np.minimum(left_x[here], left_y[same[here]])
        left_x -= flow.sum(axis=1)
        left_y -= flow.sum(axis=0)
    rows, columns = np.flatnonzero(left_x), np.flatnonzero(left_y)
    if max(len(rows), len(columns)) > limit:
        raise SDCError(
            f"{max(len(rows), len(columns))} distinct records are left to assign, more than limit={limit}: the time "
            "of the assignment grows with their cube; link a sample, or raise limit"
        )
    if len(rows):
        rows, columns = rows[_scrambled(len(rows), 1)], columns[_scrambled(len(columns), 2)]
        between = np.ix_(rows, columns)
        flow[between] = transport(cost[between], left_x[rows], left_y[columns])
    return flow


def _equal_rows(x: Rows, y: Rows) -> IntArray:
    _, where, _ = unique_rows(np.concatenate([x.values, y.values]))
    row_of = np.full(int(where.max()) + 1, -1, dtype=np.int64)
    row_of[where[len(x.values) :]] = np.arange(len(y.values))
    return row_of[where[: len(x.values)]]


def _patterns(X: FloatArray, Y: FloatArray, reach: FloatArray, views: Sequence[View]) -> IntArray:
    """Agreement pattern of each row of X with each of Y."""
    if not views:
        return _in_slices(X, Y, reach)
    patterns = np.empty((len(X), len(Y)), dtype=np.int64)
    for view in views:
        within = np.where(view.starred, np.inf, reach)
        patterns[:, view.records] = _in_slices(view.of(X), Y[view.records], within)
    return patterns


def _in_slices(X: FloatArray, Y: FloatArray, reach: FloatArray) -> IntArray:
    patterns = np.empty((len(X), len(Y)), dtype=np.int64)
    for low, high in slices(len(X), steps=Y.size, what="pairs of records"):
        patterns[low:high] = agreement_patterns(X[low:high], Y, reach)
    return patterns


def link_rows(
    x: Rows, y: Rows, reach: FloatArray, *, max_iterations: int, limit: int, views: Sequence[View] = ()
) -> ProbabilisticLinkage:
    """:func:`match_probabilistically` on distinct rows; the cost depends on their number, not on that of the records.

    ``reach`` is the largest difference at which values of an attribute agree; ``views`` (of the rows of y) describe
    stars and labels that agree with several values.
    """
    n, p = len(x.of_record), x.values.shape[1]
    distinct, count, index = _occurring(_patterns(x.values, y.values, reach, views), x, y, p)
    agrees = (distinct[:, None] >> np.arange(p)) & 1 == 1
    share_of_matches = 1.0 / n if n > 1 else 0.5  # a single record leaves nothing to estimate
    m, u, prevalence, iterations, converged = expectation_maximisation(
        agrees, count, share_of_matches, max_iterations, 1e-6
    )
    agree, differ = np.log2(m / u), np.log2((1.0 - m) / (1.0 - u))
    # Whole multiples of 2^-24 bit: equal sums of weights are equal, and the assignment is exact.
    weight = np.rint((agree - differ) * 2.0**24).astype(np.int64)
    cost = -np.where(agrees, weight, 0).sum(axis=1)[index]
    # If agreement means equality, it is optimal to pair equal rows first: exchanging partners so that two equal rows
    # are paired loses no agreement, and no agreement counts against a match. The remaining assignment is much smaller.
    exchangeable = not views and bool((reach == 0.0).all())
    flow = _assign(cost, _equal_rows(x, y) if exchangeable else None, x, y, limit)

    # Equal records are interchangeable: each of the count_x · count_y pairs of records is equally likely to be chosen.
    own = pair_counts(x.of_record, y.of_record)
    chance = own.n * flow[own.first, own.second] / (x.records[own.first] * y.records[own.second])
    share = 100.0 * math.fsum(chance) / n
    return ProbabilisticLinkage(share, m, u, float(prevalence), agree, differ, int(iterations), bool(converged))


def match_probabilistically(
    X: object,
    Y: object,
    *,
    kinds: object = "nominal",
    agreement: float = 0.1,
    max_iterations: int = 5000,
    limit: int = MOST_ROWS,
    stars: object = None,
    recodings: Mapping[int, Recoding] | None = None,
) -> ProbabilisticLinkage:
    """Probabilistic record linkage with all its estimates; see :func:`probabilistic_linkage`.

    Parameters
    ----------
    X, Y, kinds, agreement, max_iterations, limit, stars, recodings
        As for :func:`probabilistic_linkage`.

    Returns
    -------
    ProbabilisticLinkage
        Share of correct links, weights, and estimated probabilities.

    Examples
    --------
    >>> X = [[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]]
    >>> result = match_probabilistically(X, X)
    >>> round(result.share, 6), result.converged
    (100.0, True)
    """
    original, protected = pair(X, Y)
    p = original.shape[1]
    if p > MOST_ATTRIBUTES:
        raise SDCError(f"X has {p} attributes; agreement patterns hold at most {MOST_ATTRIBUTES}: link on fewer")
    words = _kinds(kinds, p)
    width = number(agreement, "agreement", low=0.0, high=1e6)
    scale = location_and_scale(original)[1]
    reach = np.array([width * scale[j] if word == "numeric" else 0.0 for j, word in enumerate(words)])
    open_cells = cell_mask(stars, original.shape, "stars")
    known = check_recodings(recodings, original, words)
    views: list[View] = []
    x = Rows(*unique_rows(original))
    if open_cells.any() or known:
        # Rows are distinct if their cells or their stars differ; equal labels are of the same kind.
        shown = np.where(open_cells, 0.0, protected)
        rows, of_record, records = unique_rows(np.concatenate([shown, open_cells], axis=1))
        first = np.empty(len(rows), dtype=np.int64)
        first[of_record] = np.arange(len(of_record))
        y = Rows(np.ascontiguousarray(rows[:, :p]), of_record, records)
        views = list(all_views(open_cells[first], {j: r.among(first) for j, r in known.items()}, range(p)))
    else:
        y = Rows(*unique_rows(protected))
    most = whole(limit, "limit", least=1)
    if len(x.records) * len(y.records) > most * most:
        raise SDCError(
            f"{len(x.records)} × {len(y.records)} pairs of distinct records are more than limit={most} squared: "
            "link a sample, or raise limit"
        )
    most_iterations = whole(max_iterations, "max_iterations", least=1)
    if views:
        return link_rows(x, y, reach, max_iterations=most_iterations, limit=most, views=views)
    question = hashlib.sha256(repr((original.shape, most_iterations, most)).encode())
    for array in (original, protected, reach):
        question.update(np.ascontiguousarray(array).data)
    found = _LATEST.get(question.digest())
    if found is None:
        found = link_rows(x, y, reach, max_iterations=most_iterations, limit=most)
        _LATEST.clear()
        _LATEST[question.digest()] = found
    return copy.deepcopy(found)


def _kinds(words: object, p: int) -> tuple[str, ...]:
    return kinds(words, p, _KINDS)


def probabilistic_linkage(
    X: object,
    Y: object,
    *,
    kinds: object = "nominal",
    agreement: float = 0.1,
    max_iterations: int = 5000,
    limit: int = MOST_ROWS,
    stars: object = None,
    recodings: Mapping[int, Recoding] | None = None,
) -> float:
    """Probabilistic record linkage: share of records paired with their own counterpart.

    Every original record is compared with every protected one, attribute by attribute. EM separates the patterns of
    agreement into matches and others (Fellegi & Sunter 1969; Jaro 1989), the log-likelihood ratios are the weights
    of the pairs, and a linear sum assignment finds the one-to-one pairing with the largest total weight (Marés 2013,
    §2.4.2; the PLD of Balasch-Masoliver 2010, §1.2).

    EM uses two facts that an intruder knows: each record has exactly one counterpart, so a share 1/n of the pairs are
    matches, and an agreement never counts against a match. Without these constraints, the estimates drift on tables
    with few attributes, and the risk is too low.

    Parameters
    ----------
    X, Y
        Original and protected table, same shape; row i of Y protects row i of X. At most 62 attributes.
    kinds
        ``"numeric"``, ``"ordinal"`` or ``"nominal"``, for all attributes or one word per attribute: categories agree
        if they are equal, numbers if they are near.
    agreement
        Numbers agree within this many standard deviations of the attribute in X.
    max_iterations
        Largest number of EM iterations.
    limit
        Largest number of distinct records that the assignment accepts (memory grows with its square, time with its
        cube). Records of categorical tables that occur in both are paired beforehand and do not count.
    stars, recodings
        As for :func:`~sdc_problems.evaluators.linkage.distance_linkage`: a star agrees with every value, a label with
        the values that it may stand for.

    Returns
    -------
    float
        Percent of the records, in [0, 100]: the expected value over the choice between equal records, which no intruder
        can distinguish. It does not depend on the order of the records.

    Warns
    -----
    ConvergenceWarning
        If EM has not converged within ``max_iterations``. :func:`match_probabilistically` returns ``converged``.

    Notes
    -----
    O(U_x·U_y·p) for the patterns of the distinct records, O(patterns·p) per EM iteration, O(r³) at worst for the
    assignment of the r remaining distinct records.

    Examples
    --------
    >>> X = [[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]]
    >>> round(probabilistic_linkage(X, X), 6)
    100.0
    >>> round(probabilistic_linkage(X, [[0, 0, 0]] * 4), 6)
    25.0
    """
    result = match_probabilistically(
        X, Y, kinds=kinds, agreement=agreement, max_iterations=max_iterations, limit=limit, stars=stars,
        recodings=recodings,
    )  # fmt: skip
    if not result.converged:
        warnings.warn(
            f"EM had not settled after {result.iterations} iterations; the linkage uses its last weights",
            ConvergenceWarning,
            stacklevel=2,
        )
    return result.share

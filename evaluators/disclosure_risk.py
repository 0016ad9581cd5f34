"""Disclosure risk: interval disclosure, and scores that combine loss and risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sdc_problems._validation import FloatArray, number, pair, table, vector
from sdc_problems._validation import kinds as check_kinds
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import ranks
from sdc_problems.evaluators.information_loss.numeric import ILComponents, il_components, z_scores
from sdc_problems.evaluators.linkage.distance import distance_linkage
from sdc_problems.evaluators.linkage.probabilistic import probabilistic_linkage

_RANKED_KINDS = ("numeric", "ordinal", "nominal")


def interval_disclosure_value(X: object, Y: object, *, percent: float = 10.0) -> float:
    """Interval disclosure by value: share of the cells whose protected value is within a percentage of the original.

    ``|y - x| ≤ percent/100 · |x|``, over all cells (Balasch-Masoliver 2010, §3.3).

    Parameters
    ----------
    X, Y
        Original and protected numeric table, same shape and row order.
    percent
        Half width of the interval, in percent of the original value.

    Returns
    -------
    float
        Percent of the cells, in [0, 100]; 100 for an unchanged table.

    Notes
    -----
    O(n·p). The measure depends on the origin of the scale: on z-scores it has another value (:func:`dr_linkage`).

    Examples
    --------
    >>> interval_disclosure_value([[100.0], [100.0]], [[109.0], [111.0]])
    50.0
    """
    original, protected = pair(X, Y)
    width = number(percent, "percent", low=0.0, high=1e9)
    # The factor 100 is on the side where whole numbers stay whole: 33 is within 10 % of 30.
    with np.errstate(over="ignore"):
        change, size = np.abs(protected - original), np.abs(original)
        # If the products overflow doubles, compare the shares instead.
        near = np.where(np.isinf(width * size), change <= width / 100.0 * size, 100.0 * change <= width * size)
    return 100.0 * float(near.mean())


def interval_disclosure_rank(X: object, Y: object, *, percent: float = 10.0, kinds: object = "numeric") -> float:
    """Interval disclosure by rank: share of the cells whose protected value has nearly the rank of the original.

    Each attribute is ranked within its own file, and equal values share their mean rank. A cell is disclosed if the two
    ranks differ by at most ``percent`` % of the number of records. A nominal cell is disclosed if its value is
    unchanged (Marés 2013, §2.4.2; Domingo-Ferrer & Torra 2001).

    Parameters
    ----------
    X, Y
        Original and protected table, same shape and row order; categories as codes.
    percent
        Half width of the interval, in percent of the records.
    kinds
        ``"numeric"``, ``"ordinal"`` (both ranked) or ``"nominal"``, for all attributes or one word per attribute.

    Returns
    -------
    float
        Percent of the cells, in [0, 100]; 100 for an unchanged table.

    Notes
    -----
    O(p·n log n).

    Examples
    --------
    >>> X = [[value] for value in range(10)]
    >>> interval_disclosure_rank(X, X[::-1])
    20.0
    """
    original, protected = pair(X, Y)
    words = check_kinds(kinds, original.shape[1], _RANKED_KINDS)
    reach = number(percent, "percent", low=0.0, high=100.0) * len(original)
    disclosed = 0
    for x, y, word in zip(original.T, protected.T, words, strict=True):
        near = x == y if word == "nominal" else 100.0 * np.abs(ranks(x) - ranks(y)) <= reach
        disclosed += int(near.sum())
    return 100.0 * disclosed / original.size


def dr_linkage(X: object, Y: object, *, percent: float = 10.0) -> float:
    """Disclosure risk of attribute groupings: ``0.5 · ID + 0.5 · DLD`` (Balasch-Masoliver 2010, §3.3).

    Both parts are computed on the z-scores of the original: ID is :func:`interval_disclosure_value`, DLD is
    :func:`~sdc_problems.evaluators.linkage.distance_linkage` from the original to the protected file, where a tie is
    not a link.

    Parameters
    ----------
    X, Y
        Original and protected numeric table, same shape and row order.
    percent
        Half width of the interval, in percent of the z-score.

    Returns
    -------
    float
        Percent, in [0, 100].

    Examples
    --------
    >>> X = [[0.0], [1.0], [5.0], [6.0]]
    >>> dr_linkage(X, X), dr_linkage(X, [[3.0]] * 4)
    (100.0, 0.0)
    """
    original, protected = pair(X, Y)
    before, after = z_scores(original), z_scores(protected, reference=original)
    interval = interval_disclosure_value(before, after, percent=percent)
    return 0.5 * interval + 0.5 * distance_linkage(original, protected, ties="strict")


def dr_categorical(
    X: object,
    Y: object,
    *,
    kinds: object = "nominal",
    n_categories: object = None,
    percent: float = 10.0,
    ties: str = "fraction",
    limit: int = 5000,
) -> float:
    """Disclosure risk of a categorical file: ``(ID + max(DBRL, PRL)) / 2`` (Marés 2013, Eq. 4.10).

    ID is by ranks (:func:`interval_disclosure_rank`), DBRL links each protected record to the originals, PRL is the
    probabilistic linkage.

    Parameters
    ----------
    X, Y
        Original and protected category codes, same shape and row order.
    kinds, n_categories
        ``"ordinal"`` or ``"nominal"``, and domain sizes, for all attributes or one per attribute.
    percent
        Half width of the rank interval.
    ties
        How DBRL counts ties; see :func:`~sdc_problems.evaluators.linkage.distance_linkage`.
    limit
        Largest assignment of the probabilistic linkage.

    Returns
    -------
    float
        Percent, in [0, 100].

    Examples
    --------
    >>> X = [[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]]
    >>> round(dr_categorical(X, X), 6)
    100.0
    """
    interval = interval_disclosure_rank(X, Y, percent=percent, kinds=kinds)
    by_distance = distance_linkage(X, Y, direction="to_original", ties=ties, kinds=kinds, n_categories=n_categories)
    by_probability = probabilistic_linkage(X, Y, kinds=kinds, limit=limit)
    return (interval + max(by_distance, by_probability)) / 2.0


def score_mean(loss: float, risk: float) -> float:
    """Mean of loss and risk: ``(loss + risk) / 2`` (Marés 2013, Eq. 3.2 and 4.12; Balasch-Masoliver 2010, §1.2).

    Examples
    --------
    >>> score_mean(20.0, 40.0)
    30.0
    """
    return (number(loss, "loss", low=0.0, high=np.inf) + number(risk, "risk", low=0.0, high=np.inf)) / 2.0


def score_max(loss: float, risk: float) -> float:
    """Larger of loss and risk: ``max(loss, risk)``, which penalizes imbalance (Marés 2013, Eq. 3.4 and 4.11).

    Examples
    --------
    >>> score_max(20.0, 40.0)
    40.0
    """
    return max(number(loss, "loss", low=0.0, high=np.inf), number(risk, "risk", low=0.0, high=np.inf))


class ClassicalScore(NamedTuple):
    """Score of Balasch-Masoliver (2010, §1.2) and its parts; all in percent except ``components``."""

    score_classical: float
    il_statistics: float
    dr_classical: float
    components: ILComponents
    interval: float
    distance: float
    probabilistic: float


def classical_score(
    X: object,
    Y: object,
    *,
    attribute_sets: Sequence[Sequence[int]] | None = None,
    percent: float = 10.0,
    ties: str = "strict",
    agreement: float = 0.1,
    limit: int = 5000,
) -> ClassicalScore:
    """Full score of numeric tables: ``(IL + DR) / 2`` (Balasch-Masoliver 2010, §1.2; Domingo-Ferrer & Torra 2001).

    ``IL = 100 · mean(IL1 … IL5)`` (:func:`~sdc_problems.evaluators.information_loss.il_components`) and
    ``DR = 0.5 · ID + 0.25 · DLD + 0.25 · PLD``, where ID is the interval disclosure by value, DLD the distance linkage
    from the original to the protected file, and PLD the probabilistic linkage.

    Parameters
    ----------
    X, Y
        Original and protected numeric table, same shape and row order.
    attribute_sets
        Sets of columns that an intruder may know; both linkages are averaged over the sets. By default one set with all
        columns, the worst case.
    percent
        Half width of the interval.
    ties
        How the distance linkage counts ties.
    agreement
        Number of standard deviations within which values agree, for the probabilistic linkage.
    limit
        Largest assignment of the probabilistic linkage.

    Returns
    -------
    ClassicalScore
        ``dr_classical`` lies in [0, 100]; ``il_statistics``, and so ``score_classical``, has no upper bound.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(40, 3))
    >>> untouched = classical_score(X, X)
    >>> untouched.il_statistics, round(untouched.dr_classical, 6), round(untouched.score_classical, 6)
    (0.0, 100.0, 50.0)
    """
    original, protected = pair(X, Y)
    p = original.shape[1]
    sets = [list(range(p))] if attribute_sets is None else [_columns(s, p) for s in attribute_sets]
    if not sets:
        raise SDCError("attribute_sets is empty: give at least one set of columns, or None for all columns")
    components = il_components(original, protected)
    interval = interval_disclosure_value(original, protected, percent=percent)
    distance = float(np.mean([distance_linkage(original[:, s], protected[:, s], ties=ties) for s in sets]))

    def paired(s: list[int]) -> float:
        return probabilistic_linkage(original[:, s], protected[:, s], kinds="numeric", agreement=agreement, limit=limit)

    probability = float(np.mean([paired(s) for s in sets]))
    dr = 0.5 * interval + 0.25 * distance + 0.25 * probability
    return ClassicalScore(
        score_mean(components.percent, dr), components.percent, dr, components, interval, distance, probability
    )


def _columns(columns: Sequence[int], p: int) -> list[int]:
    chosen = [int(c) for c in columns]
    if not chosen or min(chosen) < 0 or max(chosen) >= p or len(set(chosen)) < len(chosen):
        raise SDCError(f"attribute_sets holds {chosen}: each set needs distinct columns from 0 to {p - 1}")
    return chosen


def _transitions(P: object, frequencies: object) -> tuple[FloatArray, FloatArray]:
    matrix = table(P, "P")
    if matrix.shape[0] != matrix.shape[1]:
        raise SDCError(f"P must be a square transition matrix, not of shape {matrix.shape}")
    if matrix.min() < 0 or np.abs(matrix.sum(axis=1) - 1.0).max() > 1e-6:
        raise SDCError("P must hold probabilities, each row summing to 1")
    counts = vector(frequencies, "frequencies", length=len(matrix))
    if counts.min() < 0 or counts.sum() == 0:
        raise SDCError("frequencies must be ≥ 0 and not all 0")
    return matrix, counts


def expectation_ratio(P: object, frequencies: object) -> FloatArray:
    """Expectation ratio of each category: expected records that stay in it over expected records that change into it.

    ``f_k p_kk / Σ_{i ≠ k} f_i p_ik`` (Gouweleeuw et al. 1998; Marés 2013, §4.1.5). The smaller the ratio, the less a
    category in the protected file says about the original one.

    Parameters
    ----------
    P
        Transition matrix: ``P[i, k]`` is the probability that category i becomes k; rows sum to 1.
    frequencies
        Records of each category in the original file.

    Returns
    -------
    ndarray
        ≥ 0 per category; ``inf`` if records stay and none change into it, 0 if none stay.

    Notes
    -----
    O(|D|²).

    Examples
    --------
    >>> expectation_ratio([[0.8, 0.2], [0.4, 0.6]], [50, 100])
    array([1., 6.])
    """
    matrix, counts = _transitions(P, frequencies)
    stay = counts * np.diag(matrix)
    off = matrix.copy()
    np.fill_diagonal(off, 0.0)
    arrive = counts @ off
    ratio = np.divide(stay, arrive, out=np.full(len(stay), np.inf), where=arrive > 0)
    return np.where(stay == 0, 0.0, ratio)


def mean_expectation_ratio(P: object, frequencies: object) -> float:
    """Frequency-weighted mean of :func:`expectation_ratio` (Marés 2013, Tables 4.10 and 4.11).

    Categories without records have no weight. ``inf`` if a category with records has an infinite ratio.

    Parameters
    ----------
    P, frequencies
        As for :func:`expectation_ratio`.

    Examples
    --------
    >>> round(mean_expectation_ratio([[0.8, 0.2], [0.4, 0.6]], [50, 100]), 6)
    4.333333
    """
    _, counts = _transitions(P, frequencies)
    ratio = expectation_ratio(P, frequencies)
    present = counts > 0
    return float((ratio[present] * counts[present]).sum() / counts.sum())

"""Comparison of two clusterings of the same records: Rand, Jaccard and Wallace index, and the loss based on them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sdc_problems._validation import IntArray, labels
from sdc_problems.evaluators._codes import dense, pair_counts


class PairAgreement(NamedTuple):
    """Numbers of pairs of records that two clusterings put together or apart (Marés 2013, §2.5).

    ``both``: together in both (r); ``first``: together in the first only (s); ``second``: in the second only (t);
    ``neither``: apart in both (u).
    """

    both: int
    first: int
    second: int
    neither: int


def pair_agreement(first: object, second: object) -> PairAgreement:
    """Count the pairs of records that two clusterings put together or apart.

    Parameters
    ----------
    first, second
        Cluster label of each record in the two clusterings; the label values do not matter.

    Returns
    -------
    PairAgreement
        Four whole numbers that sum to ``n (n - 1) / 2``.

    Notes
    -----
    O(n): computed from the counts of the label pairs, not from the pairs of records.

    Examples
    --------
    >>> pair_agreement([0, 0, 1, 1], [0, 0, 0, 1])
    PairAgreement(both=1, first=1, second=2, neither=2)
    """
    a, _ = dense(labels(first, None, "first"))
    b, _ = dense(labels(second, len(a), "second"))

    def pairs(sizes: IntArray) -> int:
        return int((sizes * (sizes - 1) // 2).sum())

    both = pairs(pair_counts(a, b).n)
    in_first, in_second = pairs(np.bincount(a)), pairs(np.bincount(b))
    n = len(a)
    return PairAgreement(both, in_first - both, in_second - both, n * (n - 1) // 2 - in_first - in_second + both)


def rand_index(first: object, second: object) -> float:
    """Rand index: share of the pairs on which both agree, ``(r + u) / (r + s + t + u)`` (Rand 1971; Marés 2013, §2.5).

    In [0, 1]; 1 for equal partitions (and for a single record). O(n).

    Examples
    --------
    >>> rand_index([0, 0, 1, 1], [0, 0, 0, 1])
    0.5
    """
    r, s, t, u = pair_agreement(first, second)
    total = r + s + t + u
    return (r + u) / total if total else 1.0


def jaccard_index(first: object, second: object) -> float:
    """Jaccard index: agreement on the pairs that either puts together, ``r / (r + s + t)`` (Marés 2013, §2.5).

    In [0, 1]; 1 for equal partitions (also if neither puts any two records together). O(n).

    Examples
    --------
    >>> jaccard_index([0, 0, 1, 1], [0, 0, 0, 1])
    0.25
    """
    r, s, t, _ = pair_agreement(first, second)
    return r / (r + s + t) if r + s + t else 1.0


def wallace_index(first: object, second: object) -> float:
    """Wallace index: ``r / sqrt(np(first) np(second))`` (Wallace 1983; Marés 2013, §2.5).

    np is the number of pairs within clusters. In [0, 1]; 1 for equal partitions (also if neither puts any two records
    together), 0 if only one does. O(n).

    Examples
    --------
    >>> round(wallace_index([0, 0, 1, 1], [0, 0, 0, 1]), 6)
    0.408248
    """
    r, s, t, _ = pair_agreement(first, second)
    if r + s == r + t == 0:
        return 1.0
    # Two square roots: the product of the two counts may overflow a double, and equal partitions give exactly 1.
    return r / (math.sqrt(r + s) * math.sqrt(r + t)) if r else 0.0


def clustering_loss(first: object, second: object) -> float:
    """Loss for clustering: ``100 · ((1 - Rand) + (1 - Jaccard) + (1 - Wallace)) / 3`` (Marés 2013, Eq. 5.3).

    Parameters
    ----------
    first, second
        Clusterings of the original and of the protected file, one label per record.

    Returns
    -------
    float
        Percent, in [0, 100]; 0 for equal partitions.

    Examples
    --------
    >>> clustering_loss([0, 0, 1], [5, 5, 3])
    0.0
    >>> round(clustering_loss([0, 0, 1, 1], [0, 0, 0, 1]), 4)
    61.3917
    """
    alike = rand_index(first, second) + jaccard_index(first, second) + wallace_index(first, second)
    return 100.0 * (3.0 - alike) / 3.0

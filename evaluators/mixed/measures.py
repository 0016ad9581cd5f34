"""Information loss and disclosure risk of tables with numbers and categories."""

from __future__ import annotations

import numpy as np

from sdc_problems._validation import FloatArray, kinds, pair
from sdc_problems.evaluators.disclosure_risk import interval_disclosure_rank
from sdc_problems.evaluators.information_loss.categorical import il_categorical
from sdc_problems.evaluators.information_loss.probabilistic import pil
from sdc_problems.evaluators.linkage.distance import distance_linkage

KINDS = ("numeric", "ordinal", "nominal")


def il_mixed(X: object, Y: object, *, kinds: object, n_categories: object = None) -> float:
    """Information loss of a mixed table: each kind of column by its own measure, weighted by the number of columns.

    ``(p_num * pil + p_cat * il_categorical) / p``, where each measure is computed on the columns of its kind.

    Parameters
    ----------
    X, Y
        Original and protected table, same shape and row order; categories as codes.
    kinds
        ``"numeric"``, ``"ordinal"`` or ``"nominal"``, for all attributes or one word per attribute.
    n_categories
        Domain size per attribute (ignored for numeric ones); by default, the largest code plus one.

    Returns
    -------
    float
        Percent, in [0, 100].

    Examples
    --------
    >>> X = [[1.0, 0], [2.0, 1], [4.0, 0], [5.0, 1]]
    >>> Y = [[1.0, 0], [2.0, 0], [4.0, 0], [5.0, 0]]
    >>> il_mixed(X, X, kinds=["numeric", "nominal"]), round(il_mixed(X, Y, kinds=["numeric", "nominal"]), 4)
    (0.0, 33.3333)
    """
    original, protected, words = _checked(X, Y, kinds)
    p = len(words)
    numeric = np.array([word == "numeric" for word in words])
    total = 0.0
    if numeric.any():
        total += int(numeric.sum()) * pil(original[:, numeric], protected[:, numeric])
    if not numeric.all():
        others = np.flatnonzero(~numeric)
        sizes = None if n_categories is None else [np.broadcast_to(np.asarray(n_categories), p)[j] for j in others]
        total += len(others) * il_categorical(
            original[:, others].astype(np.int64), protected[:, others].astype(np.int64),
            kinds=[words[j] for j in others], n_categories=sizes,
        )  # fmt: skip
    return total / p


def dr_mixed(X: object, Y: object, *, kinds: object, n_categories: object = None, percent: float = 10.0) -> float:
    """Disclosure risk of a mixed table: mean of interval disclosure by rank and distance linkage.

    ``(id_rank + linked) / 2``, where ``id_rank`` is :func:`~sdc_problems.evaluators.interval_disclosure_rank` and
    ``linked`` the share of records whose nearest protected record is their own, with ties counted as fractions.

    Parameters
    ----------
    X, Y, kinds, n_categories
        As for `il_mixed`.
    percent
        Half width of the interval, in percent of the records.

    Returns
    -------
    float
        Percent, in [0, 100].

    Examples
    --------
    >>> X = [[1.0, 0], [2.0, 1], [4.0, 0], [5.0, 1]]
    >>> Y = [[1.0, 0], [2.0, 0], [4.0, 0], [5.0, 0]]
    >>> dr_mixed(X, X, kinds=["numeric", "nominal"]), dr_mixed(X, Y, kinds=["numeric", "nominal"])
    (100.0, 87.5)
    """
    original, protected, words = _checked(X, Y, kinds)
    near = interval_disclosure_rank(original, protected, percent=percent, kinds=words)
    return (near + distance_linkage(original, protected, kinds=words, n_categories=n_categories)) / 2


def _checked(X: object, Y: object, words: object) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    original, protected = pair(X, Y)
    return original, protected, kinds(words, original.shape[1], KINDS)

"""Rank swapping: values are exchanged with values of near rank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import _whole, choice, number, table, whole
from sdc_problems._validation import kinds as check_kinds
from sdc_problems.errors import SDCError
from sdc_problems.methods._amounts import generator, one_of, percentage, rounded, shape_like
from sdc_problems.methods._amounts import missing_codes as check_missing
from sdc_problems.methods._kernels.rank_swap import partners_kernel

TIES = ("random", "record")


def rank_swap(
    X: object,
    *,
    percent: float | None = None,
    window: int | None = None,
    rng: np.random.Generator | None = None,
    ties: str = "random",
    tails: float = 0.0,
    kinds: str | Sequence[str] = "numeric",
    missing_codes: Sequence[int | None] | int | None = None,
    missing: str = "keep",
    decimals: int | None = None,
) -> NDArray[np.float64]:
    """Rank swapping: in each attribute, values are exchanged with values that are at most some ranks away.

    The values of an attribute are sorted. From the smallest on, a value that has not been swapped is exchanged with one
    drawn uniformly from the unswapped values of the next ``window`` ranks; if there is none, it stays.

    Parameters
    ----------
    X
        Records × attributes (or one attribute as a vector); ordinal attributes hold codes.
    percent
        Largest difference of ranks in percent of the records: a window of ⌊percent · n / 100⌋ records.
    window
        The same as a number of records; give one of the two.
    rng
        Source of the random draws.
    ties
        "random" orders equal values at random; "record" by record, so that no rank moves by more than the window.
    tails
        Percent of the records at each end of an attribute whose values are replaced by their mean (for codes, the lower
        median) and not swapped.
    kinds
        "numeric" or "ordinal", for all attributes or one word each; nominal attributes have no ranks.
    missing_codes
        Code of the missing value of each ordinal attribute, None if there is none.
    missing
        "keep" leaves missing values where they are; "value" swaps them like any other value.
    decimals
        Decimals of the means of ``tails``; by default those of the attribute.

    Returns
    -------
    ndarray
        Protected values in the shape of X. Without ``tails``, each attribute keeps exactly its values.

    Notes
    -----
    Moore (1996), as in Marés (2013), section 2.3.4. O(p · n log n), with a list of the free ranks ahead instead of a
    scan of the window. The p of Table 2.1 in Marés is a number of records; the P of sdcMicro is a percentage according
    to its manual, but a multiple of n in its code.

    Examples
    --------
    >>> rank_swap([10, 20, 30, 40], window=1, rng=np.random.default_rng(1), ties="record")
    array([20., 10., 40., 30.])
    """
    values = table(X, "X")
    n, p = values.shape
    words = _ranked_kinds(kinds, p)
    if one_of(percent=percent, window=window) == "percent":
        width = int(np.floor(percentage(percent) * n / 100))
    else:
        width = whole(window, "window")
    choice(ties, "ties", TIES)
    cut = int(np.floor(number(tails, "tails", low=0.0, high=50.0) * n / 100))
    source = generator(rng)
    skip = check_missing(missing_codes, p, missing)
    out = values.copy()
    for j in range(p):
        column = values[:, j]
        if words[j] == "ordinal":
            _whole(column, f"column {j} of X")
        rows = np.arange(n) if skip[j] < 0 or words[j] == "numeric" else np.flatnonzero(column != skip[j])
        # The draws of an attribute do not depend on its values, so they do not affect those of other attributes.
        shuffle, uniforms = source.random(size=(2, n))
        if len(rows) < 2:
            continue
        keys = (shuffle[rows], column[rows]) if ties == "random" else (column[rows],)
        ordered = rows[np.lexsort(keys)]
        if cut:
            few = min(cut, len(ordered) // 2)
            for end in (ordered[:few], ordered[len(ordered) - few :]):
                out[end, j] = _middle(column[end], column, words[j], decimals) if few else column[end]
            ordered = ordered[few : len(ordered) - few]
        if len(ordered) > 1 and width:
            out[ordered, j] = column[ordered[partners_kernel(len(ordered), width, uniforms)]]
    return shape_like(out, X)


def _ranked_kinds(kinds: object, p: int) -> tuple[str, ...]:
    words = check_kinds(kinds, p, ("numeric", "ordinal", "nominal"))
    if "nominal" in words:
        raise SDCError(f"column {words.index('nominal')} of X is nominal and has no ranks: use swap_records")
    return words


def _middle(
    values: NDArray[np.float64], column: NDArray[np.float64], kind: str, decimals: int | None
) -> NDArray[np.float64]:
    if kind == "ordinal":
        return np.full(1, np.sort(values)[(len(values) - 1) // 2])
    return rounded(np.full(1, values.mean()), column, decimals)

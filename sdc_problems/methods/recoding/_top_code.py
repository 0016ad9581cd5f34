"""Top and bottom coding: the largest or smallest values become one value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import _whole, number, table, whole
from sdc_problems.errors import SDCError
from sdc_problems.methods._amounts import missing_codes as check_missing
from sdc_problems.methods._amounts import one_of, percentage, rounded, shape_like

BY = ("threshold", "mean", "median")


def top_code(
    x: object,
    *,
    threshold: float | Sequence[float] | None = None,
    percent: float | None = None,
    categories: int | None = None,
    by: str | float = "threshold",
    n_categories: int | None = None,
    missing_codes: Sequence[int | None] | int | None = None,
    missing: str = "keep",
    decimals: int | None = None,
) -> NDArray[np.float64]:
    """Top coding: values above a limit become one value.

    Parameters
    ----------
    x
        Numbers or, with ``categories``, ordinal codes: a vector or records × attributes.
    threshold
        Limit, for all attributes or one each. A value equal to the limit stays.
    percent
        Limit as a quantile of each attribute, in percent of the records (95: the largest 5 % are coded).
    categories
        Number of the highest categories that become one; its code is the lowest of them.
    by
        Replacement of the values beyond the limit: the "threshold", their "mean" or "median", or a number.
    n_categories
        Number of categories of an ordinal attribute; by default, the largest code plus one.
    missing_codes
        Code of the missing value of each ordinal attribute, None if there is none; it is never the highest category.
    missing
        "keep" leaves missing values as they are; "value" treats them like any other.
    decimals
        Decimals of the replacement; by default, a limit stays as it is, and a mean has those of the attribute.

    Returns
    -------
    ndarray
        Coded values in the shape of x.

    Notes
    -----
    Hundepool et al. (1998). Top means the highest values, while Marés (2013), section 2.3.5, calls merging the *first*
    categories top coding. O(pn log n) for quantiles and medians, else O(pn).

    Examples
    --------
    >>> top_code([1.0, 2.0, 3.0, 90.0], threshold=3)
    array([1., 2., 3., 3.])
    >>> top_code([0, 1, 2, 3], categories=2)
    array([0., 1., 2., 2.])
    """
    how = one_of(threshold=threshold, percent=percent, categories=categories)
    if how == "categories":
        return _merge(x, categories, n_categories, missing_codes, missing, top=True)
    return _cut(x, threshold, percent, by, decimals, top=True)


def bottom_code(
    x: object,
    *,
    threshold: float | Sequence[float] | None = None,
    percent: float | None = None,
    categories: int | None = None,
    by: str | float = "threshold",
    n_categories: int | None = None,
    missing_codes: Sequence[int | None] | int | None = None,
    missing: str = "keep",
    decimals: int | None = None,
) -> NDArray[np.float64]:
    """Bottom coding: values below a limit become one value; options as in `top_code`.

    Parameters
    ----------
    x
        Numbers or, with ``categories``, ordinal codes: a vector or records × attributes.
    threshold
        Limit, for all attributes or one each. A value equal to the limit stays.
    percent
        Limit as a quantile of each attribute, in percent of the records (5: the smallest 5 % are coded).
    categories
        Number of the lowest categories that become one; its code is the highest of them.
    by
        Replacement of the values beyond the limit: the "threshold", their "mean" or "median", or a number.
    n_categories
        Number of categories of an ordinal attribute; by default, the largest code plus one.
    missing_codes
        Code of the missing value of each ordinal attribute, None if there is none.
    missing
        "keep" leaves missing values as they are; "value" treats them like any other.
    decimals
        Decimals of the replacement; by default, a limit stays as it is, and a mean has those of the attribute.

    Returns
    -------
    ndarray
        Coded values in the shape of x.

    Examples
    --------
    >>> bottom_code([1.0, 2.0, 3.0, 90.0], threshold=2, by="mean")
    array([ 1.,  2.,  3., 90.])
    >>> bottom_code([0, 1, 2, 3], categories=2)
    array([1., 1., 2., 3.])
    """
    how = one_of(threshold=threshold, percent=percent, categories=categories)
    if how == "categories":
        return _merge(x, categories, n_categories, missing_codes, missing, top=False)
    return _cut(x, threshold, percent, by, decimals, top=False)


def _cut(
    x: object, threshold: object, percent: float | None, by: str | float, decimals: int | None, *, top: bool
) -> NDArray[np.float64]:
    values = table(x, "x")
    p = values.shape[1]
    if percent is not None:
        limits = np.quantile(values, percentage(percent) / 100, axis=0)
    else:
        given = np.ravel(np.asarray(threshold, dtype=np.float64))
        if len(given) not in (1, p) or not np.isfinite(given).all():
            raise SDCError(f"threshold must be one finite number, or one for each of {p} attributes")
        limits = np.broadcast_to(given, p)
    if isinstance(by, str) and by not in BY:
        raise SDCError(f"by must be {', '.join(map(repr, BY))} or a number, not {by!r}")
    out = values.copy()
    for j in range(p):
        column = values[:, j]
        beyond = column > limits[j] if top else column < limits[j]
        if not beyond.any() or column.min() == column.max():
            continue
        if by == "mean":
            stands = rounded(np.full(1, column[beyond].mean()), column, decimals)[0]
        elif by == "median":
            stands = rounded(np.full(1, np.median(column[beyond])), column, decimals)[0]
        elif by == "threshold":
            stands = limits[j] if decimals is None else rounded(limits[j : j + 1], column, decimals)[0]
        else:
            stands = number(by, "by", low=-np.inf, high=np.inf)
        out[beyond, j] = stands
    return shape_like(out, x)


def _merge(
    x: object, categories: object, n_categories: int | None, missing_codes: object, missing: str, *, top: bool
) -> NDArray[np.float64]:
    values = table(x, "x")
    p = values.shape[1]
    count = whole(categories, "categories", least=1)
    skip = check_missing(missing_codes, p, missing)
    out = values.copy()
    for j in range(p):
        codes = _whole(values[:, j], f"column {j} of x")
        if codes.min() < 0:
            raise SDCError(f"column {j} of x has a negative code; codes count from 0")
        known = codes[codes != skip[j]]
        if len(known) == 0:
            continue
        size = int(known.max()) + 1 if n_categories is None else whole(n_categories, "n_categories", least=1)
        size -= int(n_categories is not None and skip[j] == size - 1)  # the missing value is the last code
        if known.max() >= size:
            raise SDCError(f"n_categories says {n_categories}, but column {j} of x has code {known.max()}")
        if count > size:
            raise SDCError(f"categories = {count}, but column {j} of x has {size}")
        merged = codes >= size - count if top else codes < count
        out[merged & (codes != skip[j]), j] = size - count if top else count - 1
    return shape_like(out, x)

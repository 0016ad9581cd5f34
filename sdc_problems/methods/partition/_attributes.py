"""Checks of the arguments of methods on records: attributes on one scale, and k."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import _whole, table, whole
from sdc_problems.errors import SDCError, did_you_mean

KINDS = ("numeric", "ordinal", "nominal")


def smallest_group(k: object, n: int) -> int:
    """Check k: at least 2 (else nobody is protected), at most n/2 (else only one group is possible).

    Examples
    --------
    >>> smallest_group(3, 10)
    3
    >>> smallest_group(6, 10)
    Traceback (most recent call last):
        ...
    sdc_problems.errors.SDCError: k = 6 is too large for 10 records: at most 5 gives two groups
    """
    size = whole(k, "k", least=2)
    if size > n // 2:
        if n < 4:
            raise SDCError(f"{n} record(s) are too few: microaggregation needs at least 4, two groups of two")
        raise SDCError(f"k = {size} is too large for {n} records: at most {n // 2} gives two groups")
    return size


def z_scores(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """z-scores: columns with mean 0 and population standard deviation 1; a constant column becomes 0.

    Examples
    --------
    >>> z_scores(np.array([[1.0, 7.0], [3.0, 7.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    low, high = X.min(axis=0), X.max(axis=0)
    varies = high > low
    # Scaling down first keeps the largest floats finite; the unit cancels out.
    scale = np.where(varies, high / 2 - low / 2, 1.0)
    centred = X / scale - (X / scale).mean(axis=0)
    sd = np.where(varies, np.sqrt((centred * centred).mean(axis=0)), 1.0)
    return np.ascontiguousarray(np.where(varies, centred / sd, 0.0))


def attributes(
    X: object, *, kinds: Sequence[str] | None = None, standardize: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Attributes prepared for distances: values, kinds (0 numeric, 1 ordinal, 2 nominal) and numbers of categories.

    Parameters
    ----------
    X
        Records × attributes. Ordinal and nominal attributes hold codes 0, 1, …
    kinds
        One of "numeric", "ordinal", "nominal" per attribute; by default, all are numeric.
    standardize
        Whether numeric attributes are standardized to z-scores.
    """
    values = table(X, "X")
    p = values.shape[1]
    if kinds is None:
        codes = np.zeros(p, dtype=np.int64)
    else:
        if isinstance(kinds, str) or len(kinds) != p:
            raise SDCError(f"kinds must name one kind per attribute: {p} of {', '.join(KINDS)}")
        for kind in kinds:
            if kind not in KINDS:
                raise SDCError(f"unknown kind {kind!r}{did_you_mean(str(kind), KINDS)} (known: {', '.join(KINDS)})")
        codes = np.array([KINDS.index(kind) for kind in kinds], dtype=np.int64)
    sizes = np.ones(p, dtype=np.int64)
    for j in np.flatnonzero(codes):
        column = _whole(values[:, j], f"column {j} of X")
        if column.min() < 0:
            raise SDCError(f"column {j} of X has a negative code; codes of a {KINDS[codes[j]]} attribute count from 0")
        sizes[j] = column.max() + 1
    numeric = codes == 0
    if standardize and numeric.any():
        values = values.copy()
        values[:, numeric] = z_scores(values[:, numeric])
    return np.ascontiguousarray(values), codes, sizes

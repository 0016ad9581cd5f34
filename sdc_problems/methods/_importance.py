"""Importance of columns when loss is measured, and price of a suppressed record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import number
from sdc_problems.errors import SDCError, did_you_mean

LARGEST = 1e9
"""Largest weight and price, and inverse of the smallest weight, so that sums stay finite."""


def weights_of(names: Sequence[str], importance: Mapping[str, float] | None) -> NDArray[np.float64]:
    """Weight of each column: its importance, 1 by default.

    Parameters
    ----------
    names
        Columns to protect.
    importance
        Numbers above 0, by column.

    Examples
    --------
    >>> weights_of(["age", "zip", "sex"], {"zip": 3}).tolist()
    [1.0, 3.0, 1.0]
    >>> weights_of(["age", "zip"], {"zpi": 3})
    Traceback (most recent call last):
        ...
    sdc_problems.errors.SDCError: importance names 'zpi', which is not one of the columns to protect; ...
    """
    given = {} if importance is None else importance
    if not isinstance(given, Mapping):
        raise SDCError("importance gives a number by column, such as importance={'zip': 3}")
    for name, value in given.items():
        if name not in names:
            near = did_you_mean(str(name), names)
            raise SDCError(f"importance names {name!r}, which is not one of the columns to protect{near}")
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if not number or not 0 < value < np.inf:
            raise SDCError(f"importance of {name!r} must be a number above 0, not {value!r}")
        if not 1 / LARGEST <= value <= LARGEST:
            raise SDCError(f"importance of {name!r} must be from {1 / LARGEST:g} to {LARGEST:g}, not {value:g}")
    return np.array([given.get(name, 1) for name in names], dtype=np.float64)


def column_weights(weights: Any, p: int) -> NDArray[np.float64]:
    """Weights of the attributes of an array, checked; by default, 1 each."""
    if weights is None:
        return np.ones(p)
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (p,) or not ((found > 0) & np.isfinite(found)).all():
        raise SDCError(f"weights must be a number above 0 for each of {p} attributes")
    return found


def checked_price(price: object) -> float:
    """Check the price of a suppressed record: a number above 0."""
    value = number(price, "suppression_price", low=0.0, high=LARGEST)
    if value <= 0:
        raise SDCError(f"suppression_price must be a number above 0, not {value:g}")
    return value

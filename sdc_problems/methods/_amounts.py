"""Checks that the masking methods share: amounts with their unit, kinds, missing values and decimals."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import choice, labels, number, whole
from sdc_problems.errors import SDCError

MISSING = ("keep", "value")
DECIMALS = 6  # most decimals that amounts, rates and coordinates usually have


def percentage(value: object, name: str = "percent", *, of: str = "the records") -> float:
    """Check a percentage, 0 to 100; a value between 0 and 1 gives a warning, because it is often meant as a share.

    Examples
    --------
    >>> percentage(5)
    5.0
    """
    amount = number(value, name, low=0.0, high=100.0)
    if 0 < amount < 1:
        warnings.warn(
            f"{name} = {amount:g} means {amount:g} % of {of}; for the share {amount:g} give {100 * amount:g}",
            UserWarning,
            stacklevel=3,
        )
    return amount


def one_of(**options: object) -> str:
    """Name of the only option that was given.

    Examples
    --------
    >>> one_of(percent=5, window=None)
    'percent'
    """
    given = [name for name, value in options.items() if value is not None]
    if len(given) != 1:
        said = " and ".join(given) if given else "none of them"
        raise SDCError(f"give exactly one of {', '.join(options)}; {said} was given")
    return given[0]


def generator(rng: object) -> np.random.Generator:
    """Check that a numpy Generator was given."""
    if not isinstance(rng, np.random.Generator):
        raise SDCError(f"rng must be a numpy Generator, such as numpy.random.default_rng(1), not {rng!r}")
    return rng


def missing_codes(value: object, p: int, missing: str) -> NDArray[np.int64]:
    """Code that stands for a missing value in each attribute, -1 for none (all, with ``missing="value"``).

    Examples
    --------
    >>> missing_codes([4, None], 2, "keep")
    array([ 4, -1])
    """
    choice(missing, "missing", MISSING)
    none = np.full(p, -1, dtype=np.int64)
    if value is None:
        return none
    given = [value] * p if isinstance(value, int | np.integer) else value
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str) or len(given) != p:
        raise SDCError(f"missing_codes must give the code of a missing value, or None, for each of {p} attributes")
    codes = [-1 if code is None else whole(code, f"missing_codes[{j}]") for j, code in enumerate(given)]
    return none if missing == "value" else np.array(codes, dtype=np.int64)


def decimals_of(column: NDArray[np.float64]) -> int | None:
    """Number of decimals that a column of numbers needs, at most six; None if more are needed.

    Examples
    --------
    >>> decimals_of(np.array([1.0, 2.25])), decimals_of(np.array([3.0, 4.0])), decimals_of(np.array([1 / 3]))
    (2, 0, None)
    """
    if np.abs(column).max(initial=0.0) >= 2.0**52:
        return 0
    for decimals in range(DECIMALS + 1):
        if (np.round(column, decimals) == column).all():
            return decimals
    return None


def rounded(
    values: NDArray[np.float64], column: NDArray[np.float64], decimals: int | None = None
) -> NDArray[np.float64]:
    """Round values to a number of decimals, by default to that of the column that they replace.

    Examples
    --------
    >>> rounded(np.array([1.26]), np.array([0.5]))
    array([1.3])
    """
    if decimals is not None:
        whole(decimals, "decimals")
    keep = decimals_of(column) if decimals is None else decimals
    return values if keep is None else np.round(values, keep)


def shape_like(values: NDArray[np.float64], given: object) -> NDArray[np.float64]:
    """Return the table as a vector if a vector was given."""
    return values[:, 0] if np.ndim(given) == 1 else values  # type: ignore[arg-type]


def code_vector(codes: object, name: str = "codes") -> NDArray[np.int64]:
    """Category codes of one attribute, a vector of whole numbers ≥ 0."""
    return labels(codes, None, name)

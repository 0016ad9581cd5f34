"""Checks of arguments, for every function of arrays: each failure is an SDCError that names the argument.

A check returns the array in the type that the caller works with; the caller's array is never changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sdc_problems.errors import SDCError, did_you_mean

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def _numbers(value: object, name: str) -> npt.NDArray[Any]:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise SDCError(f"{name} is not an array of numbers: {error}") from None
    if array.dtype == object:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise SDCError(f"{name} must hold numbers; code its categories as integers first") from None
    if array.dtype.kind not in "biuf":
        raise SDCError(f"{name} must hold numbers, not {array.dtype}; code its categories as integers first")
    return array


def _finite(array: npt.NDArray[Any], name: str) -> None:
    if array.dtype.kind != "f":
        return
    # The sum is finite if every value is, except for overflow: one pass without a temporary array is usually enough.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return
    bad = np.argwhere(~np.isfinite(array))
    if len(bad) == 0:
        return
    where = f"row {bad[0][0]}, column {bad[0][1]}" if array.ndim == 2 else f"position {bad[0][0]}"
    raise SDCError(f"{name} has {len(bad)} non-finite value(s), the first at {where}; fill or drop missing values")


def _whole(array: npt.NDArray[Any], name: str) -> IntArray:
    if array.dtype.kind == "f":
        whole = array.astype(np.int64)
        if not np.array_equal(whole, array):
            raise SDCError(f"{name} must hold whole numbers (category codes or labels)")
        return whole
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        raise SDCError(f"{name} holds numbers beyond 64-bit integers")
    return array.astype(np.int64, copy=False)


def _filled(array: npt.NDArray[Any], name: str) -> None:
    if array.size == 0:
        raise SDCError(f"{name} is empty (shape {array.shape})")


def table(X: object, name: str) -> FloatArray:
    """Records × attributes as finite float64, at least one of each; a vector becomes one attribute.

    Examples
    --------
    >>> table([[1, 2], [3, 4]], "X").dtype
    dtype('float64')
    >>> table([[1.0, float("nan")]], "X")
    Traceback (most recent call last):
        ...
    sdc_problems.errors.SDCError: X has 1 non-finite value(s), the first at row 0, column 1; fill or drop missing values
    """
    array = _numbers(X, name)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise SDCError(f"{name} must be a table (records × attributes), not {array.ndim}-dimensional")
    _filled(array, name)
    _finite(array, name)
    return array.astype(np.float64, copy=False)


def code_table(X: object, name: str) -> IntArray:
    """Records × attributes as int64 category codes ≥ 0, at least one of each; a vector becomes one attribute.

    Examples
    --------
    >>> code_table([[0, 2], [1, 0]], "X").dtype
    dtype('int64')
    """
    array = _numbers(X, name)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise SDCError(f"{name} must be a table (records × attributes), not {array.ndim}-dimensional")
    _filled(array, name)
    _finite(array, name)
    codes = _whole(array, name)
    if codes.min() < 0:
        row, column = np.argwhere(codes < 0)[0]
        raise SDCError(f"{name} has a negative code at row {row}, column {column}; codes count from 0")
    return codes


def points(F: object, name: str) -> FloatArray:
    """Objective vectors as finite float64, solutions × objectives; a vector becomes one solution."""
    array = _numbers(F, name)
    _filled(array, name)
    return table(array[None, :] if array.ndim == 1 else array, name)


def vector(x: object, name: str, *, length: int | None = None) -> FloatArray:
    """A finite float64 vector, not empty, of the given length if one is given."""
    array = _numbers(x, name)
    if array.ndim != 1:
        raise SDCError(f"{name} must be a vector, not {array.ndim}-dimensional")
    _filled(array, name)
    _finite(array, name)
    if length is not None and len(array) != length:
        raise SDCError(f"{name} has {len(array)} entries where {length} are expected")
    return array.astype(np.float64, copy=False)


def labels(labels: object, n: int | None, name: str = "labels") -> IntArray:
    """One whole number ≥ 0 per record: a cluster label, a class or a category code.

    Examples
    --------
    >>> labels([0, 0, 1], 3)
    array([0, 0, 1])
    >>> labels([0, 1], 3)
    Traceback (most recent call last):
        ...
    sdc_problems.errors.SDCError: labels has 2 entries for 3 records
    """
    array = _numbers(labels, name)
    if array.ndim != 1:
        raise SDCError(f"{name} must be a vector with one label per record, not {array.ndim}-dimensional")
    _filled(array, name)
    _finite(array, name)
    if n is not None and len(array) != n:
        raise SDCError(f"{name} has {len(array)} entries for {n} records")
    whole = _whole(array, name)
    if whole.min() < 0:
        raise SDCError(f"{name} has a negative label at position {int(np.argmax(whole < 0))}; labels count from 0")
    return whole


def mask(value: object, n: int, name: str) -> BoolArray:
    """One boolean per record; ``None`` marks no record."""
    if value is None:
        return np.zeros(n, dtype=np.bool_)
    array = np.asarray(value)
    if array.dtype != np.bool_ or array.shape != (n,):
        raise SDCError(f"{name} must hold one boolean per record ({n}), not {array.dtype} of shape {array.shape}")
    return array


def cell_mask(value: object, shape: tuple[int, ...], name: str) -> BoolArray:
    """One boolean per cell of a table; ``None`` marks no cell."""
    if value is None:
        return np.zeros(shape, dtype=np.bool_)
    array = np.asarray(value)
    if array.dtype != np.bool_ or array.shape != shape:
        raise SDCError(f"{name} must hold one boolean per cell {shape}, not {array.dtype} of shape {array.shape}")
    return array


def same_shape(X: npt.NDArray[Any], Y: npt.NDArray[Any], name_x: str = "X", name_y: str = "Y") -> None:
    """Check that both tables have the same records and attributes."""
    if X.shape != Y.shape:
        raise SDCError(f"{name_x} and {name_y} must have the same shape: {X.shape} and {Y.shape}")


def pair(X: object, Y: object, name_x: str = "X", name_y: str = "Y") -> tuple[FloatArray, FloatArray]:
    """Original and protected numeric tables of one shape."""
    first, second = table(X, name_x), table(Y, name_y)
    same_shape(first, second, name_x, name_y)
    return first, second


def code_pair(X: object, Y: object, name_x: str = "X", name_y: str = "Y") -> tuple[IntArray, IntArray]:
    """Original and protected category codes of one shape."""
    first, second = code_table(X, name_x), code_table(Y, name_y)
    same_shape(first, second, name_x, name_y)
    return first, second


def whole(value: object, name: str, *, least: int = 0) -> int:
    """A whole number of at least ``least``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise SDCError(f"{name} must be a whole number ≥ {least}, not {value!r}")
    return int(value)


def number(value: object, name: str, *, low: float, high: float) -> float:
    """A number in [low, high]."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise SDCError(f"{name} must be a number in [{low:g}, {high:g}], not {value!r}")
    if not low <= float(value) <= high:
        raise SDCError(f"{name} must be in [{low:g}, {high:g}], not {value!r}")
    return float(value)


def kinds(value: object, p: int, known: Sequence[str], name: str = "kinds") -> tuple[str, ...]:
    """One kind per attribute; a single word is for all of them.

    Examples
    --------
    >>> kinds("nominal", 2, ("ordinal", "nominal"))
    ('nominal', 'nominal')
    """
    if isinstance(value, str):
        return (choice(value, name, known),) * p
    if not isinstance(value, Sequence):
        raise SDCError(f"{name} must be one of {', '.join(map(repr, known))}, or a sequence of them, not {value!r}")
    if len(value) != p:
        raise SDCError(f"{name} has {len(value)} entries for {p} attributes")
    return tuple(choice(word, f"{name}[{j}]", known) for j, word in enumerate(value))


def domain_sizes(value: object, *tables: IntArray, name: str = "n_categories") -> IntArray:
    """Number of categories per attribute; for ``None``, the largest code of the given tables plus 1.

    Examples
    --------
    >>> domain_sizes(None, np.array([[0, 4]]), np.array([[1, 2]]))
    array([2, 5])
    """
    least = np.max([t.max(axis=0) for t in tables], axis=0) + 1
    if value is None:
        return np.asarray(least, dtype=np.int64)
    sizes = labels(value, len(least), name) if np.ndim(value) else np.full(len(least), whole(value, name))  # type: ignore[arg-type]
    if (sizes < least).any():
        j = int(np.argmax(sizes < least))
        raise SDCError(f"{name} says attribute {j} has {sizes[j]} categories, but code {least[j] - 1} occurs")
    return sizes


def choice(value: object, name: str, known: Sequence[str]) -> str:
    """Check that a word is one of the known ones."""
    if not isinstance(value, str) or value not in known:
        near = did_you_mean(value, known) if isinstance(value, str) else ""
        raise SDCError(f"{name} must be one of {', '.join(map(repr, known))}, not {value!r}{near}")
    return value

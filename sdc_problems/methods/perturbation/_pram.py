"""PRAM: the category of every record changes with the probabilities in its row of a transition matrix.

A matrix has one row per original category and one column per protected category; each row sums to 1. This module has
the standard matrices of the literature and the draw itself; ``_pram_limits`` changes matrices so that they have certain
properties.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from sdc_problems._slices import slices
from sdc_problems._validation import FloatArray, IntArray, choice, code_table, number, table, vector, whole
from sdc_problems.errors import SDCError

MAX_CATEGORIES = 4096
"""Largest number of categories of an attribute: a matrix then has 16.8 million entries (128 MiB)."""

ROW_SUM_TOLERANCE = 1e-8


def category_count(n: object, name: str = "n") -> int:
    """Check the number of categories of a matrix: at least 2, at most ``MAX_CATEGORIES``."""
    size = whole(n, name, least=1)
    if size < 2:
        raise SDCError(f"{name} = 1: an attribute with one category has nowhere to move")
    if size > MAX_CATEGORIES:
        raise SDCError(
            f"{name} = {size} categories are more than the limit of {MAX_CATEGORIES} for a transition matrix;"
            " recode the attribute to fewer categories first"
        )
    return size


def category_frequencies(frequencies: object, n: int | None = None) -> FloatArray:
    """Check counts (or shares) of categories: not negative, at least one above 0; a category may have none."""
    counts = vector(frequencies, "frequencies", length=n)
    category_count(len(counts), "the number of frequencies")
    if counts.min() < 0:
        raise SDCError(f"frequencies must not be negative: position {int(np.argmax(counts < 0))} is")
    if counts.max() == 0:
        raise SDCError("frequencies are all 0: there is no record")
    return counts


def transition_matrix(P: object, n: int | None = None, name: str = "P") -> FloatArray:
    """Check a transition matrix: square, no negative entry, every row sums to 1.

    Examples
    --------
    >>> transition_matrix([[0.5, 0.5], [0.0, 1.0]]).shape
    (2, 2)
    >>> transition_matrix([[0.5, 0.4], [0.0, 1.0]])
    Traceback (most recent call last):
        ...
    sdc_problems.errors.SDCError: row 0 of P sums to 0.9, not 1; divide each row by its sum (normalize_rows does)
    """
    matrix = table(P, name)
    if matrix.shape[0] != matrix.shape[1]:
        raise SDCError(f"{name} must be square (categories × categories), not {matrix.shape}")
    category_count(len(matrix), f"the size of {name}")
    if n is not None and len(matrix) != n:
        raise SDCError(f"{name} is {len(matrix)} × {len(matrix)}, but there are {n} categories")
    if matrix.min() < 0:
        row, column = np.argwhere(matrix < 0)[0]
        raise SDCError(f"{name} has a negative probability at row {row}, column {column}: {matrix[row, column]:g}")
    off = np.abs(matrix.sum(axis=1) - 1)
    if off.max() > ROW_SUM_TOLERANCE:
        row = int(np.argmax(off > ROW_SUM_TOLERANCE))
        total = f"{matrix[row].sum():.9g}"
        raise SDCError(f"row {row} of {name} sums to {total}, not 1; divide each row by its sum (normalize_rows does)")
    return matrix


def normalize_rows(weights: object, name: str = "weights") -> FloatArray:
    """Divide each row by its sum; a row of zeros becomes that of the identity (the category stays).

    Parameters
    ----------
    weights
        Square, finite, not negative; or a stack of such matrices.

    Examples
    --------
    >>> normalize_rows([[300, 100], [0, 0]])
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """
    matrix = np.asarray(weights, dtype=np.float64)
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2] or matrix.size == 0:
        raise SDCError(f"{name} must be square matrices, not shape {matrix.shape}")
    if not np.isfinite(matrix).all() or matrix.min() < 0:
        raise SDCError(f"{name} must be finite and not negative")
    total = matrix.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return np.where(total > 0, matrix / np.where(total > 0, total, 1.0), np.eye(matrix.shape[-1]))


def frequency_matrix(frequencies: npt.ArrayLike, p: float = 0.5) -> FloatArray:
    """Build the frequency-based matrix: constant diagonal, and changes mostly into rare categories.

    ``p_kl = (1 − p)(T − t_k − t_l) / ((n − 2)(T − t_k))`` for ``k ≠ l``, with ``t`` the frequencies and ``T`` their
    sum; Marés (2013) Eq. 2.3, after De Wolf and Van Gelder (2004).

    Parameters
    ----------
    frequencies
        Count of each category; 0 is allowed.
    p
        Probability of staying, 0..1.

    Notes
    -----
    With two categories, or if one category has all records, the formula is 0/0; the other categories then share
    ``1 − p`` equally. O(n²).

    Examples
    --------
    >>> frequency_matrix([98, 173, 251, 195, 170, 80, 33, 0], 0.5)[1].round(3)
    array([0.073, 0.5  , 0.058, 0.064, 0.066, 0.075, 0.08 , 0.083])
    """
    t = category_frequencies(frequencies)
    stay = number(p, "p", low=0.0, high=1.0)
    n, rest = len(t), t.sum() - t
    weights = np.clip(rest[:, None] - t[None, :], 0.0, None)
    scale = (n - 2) * rest
    regular = (scale > 0)[:, None]
    matrix = np.where(regular, (1 - stay) * weights / np.where(regular, scale[:, None], 1.0), (1 - stay) / (n - 1))
    np.fill_diagonal(matrix, stay)
    return matrix


def diagonal_by_frequency_matrix(frequencies: npt.ArrayLike, theta: float = 0.5) -> FloatArray:
    """Build the matrix whose diagonal grows with the frequency: rare categories change most, equally into all others.

    ``p_kk = 1 − θ t_min / t_k`` with ``t_min`` the smallest frequency above 0, and ``p_kl = (1 − p_kk)/(n − 1)``;
    Marés (2013) Eq. 2.4 and 2.5, after Domingo-Ferrer and Torra (2001).

    Parameters
    ----------
    frequencies
        Count of each category; one without records is treated as the rarest.
    theta
        Probability that the rarest category changes, 0..1.

    Examples
    --------
    >>> diagonal_by_frequency_matrix([100, 50, 0], 0.4)
    array([[0.8, 0.1, 0.1],
           [0.2, 0.6, 0.2],
           [0.2, 0.2, 0.6]])
    """
    t = category_frequencies(frequencies)
    moves = number(theta, "theta", low=0.0, high=1.0) * t[t > 0].min() / np.where(t > 0, t, t[t > 0].min())
    n = len(t)
    matrix = np.repeat(moves[:, None] / (n - 1), n, axis=1)
    np.fill_diagonal(matrix, 1 - moves)
    return matrix


def max_entropy_matrix(n: int, diagonal: float) -> FloatArray:
    """Build the matrix of maximum entropy for a given diagonal: all changes are equally likely.

    Parameters
    ----------
    n
        Number of categories.
    diagonal
        Probability of staying; ``1/n`` gives the uniform matrix, 1 the identity.

    Examples
    --------
    >>> max_entropy_matrix(3, 0.6)
    array([[0.6, 0.2, 0.2],
           [0.2, 0.6, 0.2],
           [0.2, 0.2, 0.6]])
    """
    size = category_count(n)
    stay = number(diagonal, "diagonal", low=0.0, high=1.0)
    matrix = np.full((size, size), (1 - stay) / (size - 1))
    np.fill_diagonal(matrix, stay)
    return matrix


def identity_matrix(n: int) -> FloatArray:
    """Build the matrix that changes nothing."""
    return np.eye(category_count(n))


def draw_thresholds(P: FloatArray) -> FloatArray:
    """Cumulative rows for the draw: a uniform number u in [0, 1) selects the first column with u < threshold.

    From the last category with positive probability on, the threshold is infinite, so that rounding can neither select
    a category of probability 0 nor exceed the row. Works on a stack of matrices.
    """
    cumulated = np.cumsum(P, axis=-1)
    n = P.shape[-1]
    last = n - 1 - np.argmax((P > 0)[..., ::-1], axis=-1)
    cumulated[np.arange(n) >= last[..., None]] = np.inf
    return cumulated


def post_randomize(codes: npt.ArrayLike, matrices: Sequence[npt.ArrayLike], rng: np.random.Generator) -> IntArray:
    """Draw a protected file by multivariate PRAM: each attribute with its own matrix, each cell independently.

    Parameters
    ----------
    codes
        Records × attributes, category codes from 0.
    matrices
        One transition matrix per attribute.
    rng
        Source of the uniform numbers: one per cell, attribute by attribute.

    Returns
    -------
    ndarray of int64
        Protected codes, same shape.

    Notes
    -----
    O(n log L) per attribute with L categories.

    Examples
    --------
    >>> codes = np.array([[0], [1], [2], [0]])
    >>> post_randomize(codes, [np.eye(3)], np.random.default_rng(1)).ravel()
    array([0, 1, 2, 0])
    """
    original = code_table(codes, "codes")
    n, p = original.shape
    if len(matrices) != p:
        raise SDCError(f"{len(matrices)} matrices are given for {p} attributes")
    return randomize_with(
        original, [transition_matrix(P, name=f"matrix {a}") for a, P in enumerate(matrices)], rng.random((p, n))
    )


def pram(
    codes: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    matrix: Literal["frequency", "diagonal_by_frequency", "max_entropy"] = "frequency",
    stay: float = 0.8,
) -> IntArray:
    """Draw a protected file by PRAM, with matrices computed from the frequencies of each attribute.

    Parameters
    ----------
    codes
        Records × attributes, category codes from 0.
    rng
        Source of the uniform numbers.
    matrix
        Categories into which a category changes: rare ones more often (``frequency``), all equally (``max_entropy``),
        or all equally, while frequent categories change less (``diagonal_by_frequency``).
    stay
        Probability that a category stays; for ``diagonal_by_frequency`` that of the rarest.

    Returns
    -------
    ndarray of int64
        Protected codes, same shape; an attribute with one category does not change.

    Examples
    --------
    >>> codes = np.array([[0], [1], [2], [0], [0]])
    >>> pram(codes, stay=1.0, rng=np.random.default_rng(1)).ravel()
    array([0, 1, 2, 0, 0])
    """
    original = code_table(codes, "codes")
    how = choice(matrix, "matrix", ("frequency", "diagonal_by_frequency", "max_entropy"))
    probability = number(stay, "stay", low=0.0, high=1.0)
    matrices = []
    for column in original.T:
        counts = np.bincount(column)
        if len(counts) < 2:
            matrices.append(np.ones((1, 1)))
        elif how == "frequency":
            matrices.append(frequency_matrix(counts, probability))
        elif how == "max_entropy":
            matrices.append(max_entropy_matrix(len(counts), probability))
        else:
            matrices.append(diagonal_by_frequency_matrix(counts, 1.0 - probability))
    return randomize_with(original, matrices, rng.random(original.T.shape))


def randomize_with(codes: IntArray, matrices: Sequence[FloatArray], uniforms: FloatArray) -> IntArray:
    """Protected codes for given uniform numbers (attributes × records); arguments are not checked."""
    protected = np.empty_like(codes)
    for a, P in enumerate(matrices):
        column, thresholds = codes[:, a], draw_thresholds(P)
        if column.max() >= len(P):
            raise SDCError(f"codes of attribute {a} go up to {column.max()}, but matrix {a} has {len(P)} categories")
        for low, high in slices(len(column), steps=128, what="records drawn"):
            protected[low:high, a] = _drawn(column[low:high], thresholds, uniforms[a, low:high])
    return protected


def _drawn(column: IntArray, thresholds: FloatArray, uniforms: FloatArray) -> IntArray:
    """Categories for given uniform numbers; records are sorted by category, so that each row is searched once."""
    n = len(thresholds)
    order = np.argsort(
        column.astype(np.int16) if n < 2**15 else column, kind="stable"
    )  # with 16 bits, this is a radix sort
    ends = np.cumsum(np.bincount(column, minlength=n))
    drawn, ordered = np.empty(len(column), dtype=column.dtype), uniforms[order]
    for category in np.flatnonzero(np.diff(ends, prepend=0)):
        here = slice(ends[category - 1] if category else 0, ends[category])
        drawn[here] = np.searchsorted(thresholds[category], ordered[here], side="right")
    protected = np.empty_like(drawn)
    protected[order] = drawn
    return protected

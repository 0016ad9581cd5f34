"""Transition matrices with certain properties: invariance, a dominant diagonal, diagonal limits, bands."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdc_problems._validation import FloatArray, number, whole
from sdc_problems.errors import SDCError
from sdc_problems.methods.perturbation._pram import category_frequencies, normalize_rows, transition_matrix


def make_invariant(P: npt.ArrayLike, frequencies: npt.ArrayLike) -> FloatArray:
    """Turn P into an invariant matrix R, which keeps the expected frequency of every category (``vR = v``).

    Two-stage construction of Marés (2013) §4.1.4, after Willenborg and De Waal: ``R = PQ`` with the Bayesian reverse
    of P, ``q_kj = p_jk v_j / Σ_l p_lk v_l``.

    Parameters
    ----------
    P
        Transition matrix.
    frequencies
        Counts (or shares) v of the original categories.

    Notes
    -----
    No record changes into a category without records. If no record can reach column k (``Σ_l p_lk v_l = 0``), the
    second stage leaves k unchanged. O(n³), one product of matrices.

    Examples
    --------
    >>> v = np.array([98, 173, 251, 195, 170, 80])
    >>> R = make_invariant(np.full((6, 6), 0.08) + 0.52 * np.eye(6), v)
    >>> (v @ R).round(9)
    array([ 98., 173., 251., 195., 170.,  80.])
    """
    matrix = transition_matrix(P)
    v = category_frequencies(frequencies, len(matrix))
    v = v / v.sum()
    joint = matrix * v[:, None]
    reached = joint.sum(axis=0)
    reverse = np.where((reached > 0)[:, None], joint.T / np.where(reached > 0, reached, 1.0)[:, None], np.eye(len(v)))
    product: FloatArray = matrix @ reverse
    return product


def raise_diagonal(P: FloatArray, low: float) -> FloatArray:
    """Raise diagonal entries below ``low`` to ``low`` by mixing their rows with the identity (Marés (2013) Eq. 4.6)."""
    stay = np.diagonal(P, axis1=-2, axis2=-1)
    short = stay < low
    alpha = np.where(short, (1 - low) / np.where(short, 1 - stay, 1.0), 1.0)[..., None]
    eye = np.eye(P.shape[-1])
    return np.where(short[..., None], alpha * P * (1 - eye) + low * eye, P)


def lower_diagonal(P: FloatArray, high: float, allowed: npt.NDArray[np.bool_] | None = None) -> FloatArray:
    """Scale rows with a diagonal entry above ``high`` and spread the rest equally (Marés (2013) Eq. 4.7).

    ``allowed`` marks the cells that may be used (by default, all); every row must allow one off the diagonal.
    """
    n = P.shape[-1]
    others = ~np.eye(n, dtype=bool) if allowed is None else allowed & ~np.eye(n, dtype=bool)
    room = others.sum(axis=1)
    stay = np.diagonal(P, axis1=-2, axis2=-1)
    long = stay > high
    if (long & (room == 0)).any():
        raise SDCError(f"the diagonal limit {high:g} cannot be met: a row allows no other category to move to")
    beta = np.where(long, high / np.where(long, stay, 1.0), 1.0)[..., None]
    spread = others * ((1 - beta) / np.maximum(room, 1)[:, None])
    eye = np.eye(n)
    return np.where(long[..., None], (beta * P + spread) * (1 - eye) + high * eye, P)


def diagonal_range(low: object, high: object) -> tuple[float, float]:
    """Check a range for the diagonal: ``0 ≤ low ≤ high ≤ 1``."""
    least, most = number(low, "low", low=0.0, high=1.0), number(high, "high", low=0.0, high=1.0)
    if least > most:
        raise SDCError(f"the diagonal range [{least:g}, {most:g}] cannot be met: its low end is above its high end")
    return least, most


def make_dominant(P: npt.ArrayLike, *, least: float = 0.51) -> FloatArray:
    """Make the diagonal dominant: raise it in rows that change at least as often as they stay, so that P is invertible.

    Rows with ``p_ii < least`` become ``α p_i + (1 − α) e_i`` with the α that gives ``p_ii = least``; Marés (2013)
    Eq. 4.6, after Shlomo and Young (2008), row by row, so that other rows do not change.

    Parameters
    ----------
    P
        Transition matrix.
    least
        Smallest diagonal entry allowed, above 0.5 (so that it exceeds the sum of the rest of its row).

    Examples
    --------
    >>> make_dominant([[0.2, 0.8], [0.1, 0.9]], least=0.6)
    array([[0.6, 0.4],
           [0.1, 0.9]])
    """
    floor = number(least, "least", low=0.0, high=1.0)
    if floor <= 0.5:
        raise SDCError(f"least = {floor:g} does not make the diagonal dominant: it must be above 0.5")
    return raise_diagonal(transition_matrix(P), floor)


def limit_diagonal(P: npt.ArrayLike, *, low: float = 0.55, high: float = 0.75) -> FloatArray:
    """Bring every diagonal probability into the range [low, high].

    A diagonal entry below the range is raised as in Marés (2013) Eq. 4.6; an entry above is lowered as in Eq. 4.7: the
    row is scaled, and the rest is spread equally over the n − 1 other categories (with n, as Eq. 4.7 is printed, the
    row would not sum to 1). Each row is treated separately, because the matrix-wide factors of the equations can push
    other rows out of the range endlessly.

    Parameters
    ----------
    P
        Transition matrix.
    low, high
        Range of the diagonal probabilities.

    Examples
    --------
    >>> limit_diagonal([[0.2, 0.4, 0.4], [0.0, 1.0, 0.0], [0.3, 0.1, 0.6]]).round(3)
    array([[0.55 , 0.225, 0.225],
           [0.125, 0.75 , 0.125],
           [0.3  , 0.1  , 0.6  ]])
    """
    least, most = diagonal_range(low, high)
    return lower_diagonal(raise_diagonal(transition_matrix(P), least), most)


def band_mask(n: int, width: int) -> npt.NDArray[np.bool_]:
    """Cells within ``width`` categories of the diagonal."""
    positions = np.arange(n)
    mask: npt.NDArray[np.bool_] = np.abs(positions[:, None] - positions[None, :]) <= width
    return mask


def band(P: npt.ArrayLike, width: int) -> FloatArray:
    """Limit changes of an ordinal category to ``width`` steps (Marés (2013) §7.3); other entries become 0.

    Rows are rescaled; a row that loses all its weight becomes that of the identity.

    Parameters
    ----------
    P
        Transition matrix.
    width
        Largest number of steps.

    Examples
    --------
    >>> band([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.5, 0.5, 0.0]], 1)
    array([[0.625, 0.375, 0.   ],
           [0.2  , 0.6  , 0.2  ],
           [0.   , 1.   , 0.   ]])
    """
    matrix = transition_matrix(P)
    return normalize_rows(matrix * band_mask(len(matrix), whole(width, "width")), "P")

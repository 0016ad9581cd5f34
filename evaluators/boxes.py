"""Boxes of the hypergrid of Dewri et al. (2010, §5): box of an objective vector, and non-dominated boxes."""

from __future__ import annotations

import moocore
import numpy as np

from sdc_problems._validation import BoolArray, FloatArray, IntArray, points, table, vector
from sdc_problems.errors import SDCError

_FARTHEST = float(2**53)  # beyond it a double cannot distinguish neighboring boxes


def sides(epsilon: object, n_obj: int) -> FloatArray:
    """Box sides as one positive number per objective; a single number applies to all objectives."""
    single = np.ndim(epsilon) == 0  # type: ignore[arg-type]
    side = vector([epsilon] * n_obj if single else epsilon, "epsilon", length=n_obj)
    if not (side > 0).all():
        raise SDCError(f"epsilon must be positive, not {side.tolist()}")
    return side


def directions(maximized: object, n_obj: int) -> BoolArray:
    """Direction of each objective: True for those that are stored negated; a single flag applies to all."""
    mask = np.asarray(maximized)
    if mask.dtype != np.bool_:
        raise SDCError("maximized must be booleans: True where the objective is stored negated")
    mask = np.full(n_obj, mask) if mask.ndim == 0 else mask
    if mask.shape != (n_obj,):
        raise SDCError(f"maximized needs one flag per objective ({n_obj}), not shape {mask.shape}")
    return mask


def boxes(F: object, epsilon: object, *, maximized: object) -> IntArray:
    """Box of each minimized objective vector; a smaller box index is better.

    The grid starts at 0 in the *natural* objective. For a minimized objective ``f`` the index is ``floor(f / e)``; for
    a maximized one, stored as ``f = -v``, the box of the value is ``floor(v / e)`` and its index here is
    ``-floor(v / e)``. (Dividing ``f`` itself would put the values 4.9 and 5.0 of a maximized objective with ``e = 5``
    into one box, although they belong to boxes 0 and 1.)

    Parameters
    ----------
    F
        Objective vectors as pymoo holds them: solutions × objectives, minimized.
    epsilon
        Box side per objective, or one for all; positive.
    maximized
        One flag per objective (or one for all): True where F holds the negated value.

    Returns
    -------
    ndarray of int64
        Box indices, in the shape of F.

    Notes
    -----
    Dewri et al. (2010), §5: ``B(T) = (floor(I_1 / e_1), …)``. O(n·m).

    Examples
    --------
    >>> boxes([[-4.9, 120.0], [-5.0, 99.0]], [5, 100], maximized=[True, False])
    array([[ 0,  1],
           [-1,  0]])
    """
    values = points(F, "F")
    side = sides(epsilon, values.shape[1])
    sign = np.where(directions(maximized, values.shape[1]), -1.0, 1.0)
    index = sign * np.floor(sign * values / side)
    if np.abs(index).max() >= _FARTHEST:
        raise SDCError("epsilon is too small for these objectives: box indices beyond 2**53")
    return index.astype(np.int64)


def nondominated_boxes(B: object) -> IntArray:
    """Distinct boxes that no other box dominates, in lexicographic order.

    Examples
    --------
    >>> nondominated_boxes([[0, 3], [1, 1], [1, 1], [2, 2]])
    array([[0, 3],
           [1, 1]])
    """
    distinct = np.unique(table(B, "B").astype(np.int64), axis=0)
    kept: IntArray = distinct[moocore.is_nondominated(distinct.astype(np.float64))]
    return kept

"""Indicators of a front against the best known one, on minimized objective vectors as pymoo holds them."""

from __future__ import annotations

import moocore
import numpy as np

from sdc_problems._validation import BoolArray, FloatArray, points, vector
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.boxes import boxes, directions, nondominated_boxes

_BLOCK = 2**22  # distances held at once


def _sets(F: object, front: object) -> tuple[FloatArray, FloatArray]:
    first, second = points(F, "F"), points(front, "front")
    if first.shape[1] != second.shape[1]:
        raise SDCError(f"F and front must have the same objectives: {first.shape[1]} and {second.shape[1]} columns")
    return first, second


def stored_negated(front: object) -> BoolArray:
    """Infer from signs which objectives are maximized: no value on the front is positive, and at least one is not 0.

    Natural objectives of this package (k, ℓ, losses, risks, …) are never negative, and a maximized one is stored
    negated. Pass ``maximized=`` explicitly if an objective can take either sign.

    Examples
    --------
    >>> stored_negated([[-5.0, 10.0], [-2.0, 3.0]])
    array([ True, False])
    """
    values = points(front, "front")
    return np.asarray((values <= 0).all(axis=0) & (values < 0).any(axis=0))


def convergence_error(F: object, front: object) -> float:
    """Convergence error: sum of the distances from each solution to the nearest point of the front.

    ``Σ_{f in F} min_{m in front} ||f - m||`` after dividing each objective by its maximum on the front (Dewri et al.
    2010, §7). A maximized objective is stored negated, which changes no distance; the maximum of its natural values is
    the largest magnitude. So each column is divided by the largest absolute value on the front (1 if that is 0).

    Parameters
    ----------
    F
        Solutions × objectives, minimized.
    front
        The true (or best known) front, same objectives.

    Returns
    -------
    float
        ≥ 0; 0 if every solution lies on the front. It grows with the number of solutions, as in the paper.

    Notes
    -----
    O(|F|·|front|·m), in blocks.

    Examples
    --------
    >>> convergence_error([[-10.0, 5.0], [-5.0, 0.0]], [[-10.0, 4.0], [-5.0, 0.0]])
    0.25
    """
    from scipy.spatial.distance import cdist

    solutions, best = _sets(F, front)
    scale = np.abs(best).max(axis=0)
    scale[scale == 0] = 1.0
    total = 0.0
    step = max(1, _BLOCK // len(best))
    for begin in range(0, len(solutions), step):
        total += float(cdist(solutions[begin : begin + step] / scale, best / scale).min(axis=1).sum())
    return total


def representation_ratio(F: object, front: object, epsilon: object, *, maximized: object = None) -> float:
    """Representation ratio: share of the non-dominated boxes of the front that contain a solution.

    The points of the front are put into the boxes of :func:`~sdc_problems.evaluators.boxes.boxes`, dominated boxes are
    dropped, and boxes that also contain a point of F are counted (Dewri et al. 2010, §7).

    Parameters
    ----------
    F
        Solutions × objectives, minimized.
    front
        The true front, same objectives.
    epsilon
        Box side per objective, or one for all.
    maximized
        One flag per objective (or one for all): True where the natural objective is maximized and stored negated. By
        default, :func:`stored_negated` infers it from the signs of the front.

    Returns
    -------
    float
        In [0, 1]; 1 if every non-dominated box is represented.

    Notes
    -----
    O(|front| log |front|) for up to three objectives.

    Examples
    --------
    >>> front = [[-10.0, 50.0], [-5.0, 20.0], [-2.0, 0.0]]
    >>> representation_ratio([[-10.0, 50.0], [-2.0, 0.0]], front, 1)
    0.6666666666666666
    """
    solutions, best = _sets(F, front)
    flags = stored_negated(best) if maximized is None else directions(maximized, best.shape[1])
    marked = nondominated_boxes(boxes(best, epsilon, maximized=flags))
    held = {box.tobytes() for box in boxes(solutions, epsilon, maximized=flags)}
    return sum(box.tobytes() in held for box in marked) / len(marked)


def hypervolume(F: object, reference_point: object) -> float:
    """Hypervolume: volume of objective space that a set dominates, up to a reference point (Zitzler & Thiele 1998).

    Parameters
    ----------
    F
        Solutions × objectives, minimized.
    reference_point
        One number per objective; solutions that are not better than it in every objective contribute nothing.

    Returns
    -------
    float
        ≥ 0; higher is better. Computed by moocore.

    Examples
    --------
    >>> hypervolume([[1.0, 2.0], [2.0, 1.0]], [3.0, 3.0])
    3.0
    """
    solutions = points(F, "F")
    corner = vector(reference_point, "reference_point", length=solutions.shape[1])
    return float(moocore.hypervolume(solutions, ref=corner))


def igd_plus(F: object, front: object) -> float:
    """IGD+: modified inverted generational distance, which never rewards a dominated set (Ishibuchi et al. 2015).

    Parameters
    ----------
    F, front
        Solutions × objectives, minimized; both should be on comparable scales.

    Returns
    -------
    float
        ≥ 0; 0 if every point of the front is weakly dominated by a solution. Computed by moocore.

    Examples
    --------
    >>> igd_plus([[1.0, 2.0]], [[1.0, 1.0]])
    1.0
    """
    solutions, best = _sets(F, front)
    return float(moocore.igd_plus(solutions, ref=best))


def additive_epsilon(F: object, front: object) -> float:
    """Additive epsilon indicator: smallest number to subtract from all objectives of F so that it dominates the front.

    Dominance is weak (Zitzler et al. 2003). Smaller is better; ≤ 0 if F already dominates the front. Computed by
    moocore.

    Parameters
    ----------
    F, front
        Solutions × objectives, minimized.

    Examples
    --------
    >>> additive_epsilon([[1.0, 2.5], [3.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]])
    1.0
    """
    solutions, best = _sets(F, front)
    return float(moocore.epsilon_additive(solutions, ref=best))

"""Information loss at the level of records: change of cells, and change of regressions.

The statistics of a whole file can stay the same although every record has changed.
"""

from __future__ import annotations

import numpy as np

from sdc_problems._validation import FloatArray, IntArray, pair, table
from sdc_problems.evaluators.information_loss.numeric import location_and_scale

SYNTHETIC = 0.8
"""Share of :func:`dealt_change` at and above which the records of a file are in effect new."""


def record_change(X: object, Y: object) -> float:
    """Change of the cells: mean of ``|y - x| / sd`` in percent, where sd is the attribute's standard deviation in X.

    Parameters
    ----------
    X, Y
        Original and protected numeric table, same shape and row order.

    Returns
    -------
    float
        ≥ 0; 0 for an unchanged table, and about 113 if normally distributed values are exchanged at random. A constant
        attribute counts 0 if it is unchanged, else 100.

    Examples
    --------
    >>> record_change([[0.0], [2.0]], [[1.0], [2.0]])
    50.0
    """
    original, protected = pair(X, Y)
    scale = location_and_scale(original)[1]
    moved = np.abs(protected - original)
    relative = np.where(scale > 0, moved / np.where(scale > 0, scale, 1.0), moved > 0)
    return 100.0 * float(relative.mean())


def dealt_change(X: object) -> float:
    """Expected :func:`record_change` if every value of a record is replaced by that of a record drawn at random.

    Parameters
    ----------
    X
        Original numeric table.

    Returns
    -------
    float
        Percent; about 113 for a normal distribution.

    Examples
    --------
    >>> dealt_change([[0.0], [2.0]])
    100.0
    """
    values = table(X, "X")
    n = len(values)
    scale = location_and_scale(values)[1]
    between = 2.0 * (np.sort(values, axis=0) * (2 * np.arange(1, n + 1) - n - 1)[:, None]).sum(axis=0) / n**2
    return float(100.0 * np.divide(between, scale, out=np.zeros_like(scale), where=scale > 0).mean())


def regression_change(X: object, Y: object) -> float:
    """Loss of regressions if their coefficients are estimated on the protected file.

    Each attribute in turn is regressed on the others by least squares, once in X and once in Y. Both sets of
    coefficients then predict the attribute in X. The loss is the share of the attribute's variance by which the second
    predictions are worse than the first, at most 1; then the mean over the attributes.

    Parameters
    ----------
    X, Y
        Original and protected numeric table, same shape; the order of the rows does not matter.

    Returns
    -------
    float
        Percent, in [0, 100]; 0 for an unchanged table, and with one attribute.

    Notes
    -----
    Attributes are z-scored with the means and deviations of X. If attributes are linearly dependent, the coefficients
    of minimum norm are used.

    Examples
    --------
    >>> X = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    >>> regression_change(X, X), round(regression_change(X, [[0.0, 3.0], [1.0, 2.0], [2.0, 1.0], [3.0, 0.0]]), 6)
    (0.0, 100.0)
    """
    original, protected = pair(X, Y)
    mean, scale = location_and_scale(original)
    used = np.flatnonzero(scale > 0)
    if len(used) < 2:
        return 0.0
    before = (original[:, used] - mean[used]) / scale[used]
    after = (protected[:, used] - mean[used]) / scale[used]
    lost = 0.0
    for j in range(len(used)):
        others = np.delete(np.arange(len(used)), j)
        best = _residual(before, j, others, _fit(before, j, others))
        worse = _residual(before, j, others, _fit(after, j, others))
        lost += min(max(worse - best, 0.0), 1.0)
    return 100.0 * lost / len(used)


def _fit(z: FloatArray, j: int, others: IntArray) -> FloatArray:
    design = np.column_stack([np.ones(len(z)), z[:, others]])
    return np.asarray(np.linalg.lstsq(design, z[:, j], rcond=1e-9)[0], dtype=np.float64)


def _residual(z: FloatArray, j: int, others: IntArray, coefficients: FloatArray) -> float:
    design = np.column_stack([np.ones(len(z)), z[:, others]])
    return float(np.square(z[:, j] - design @ coefficients).mean())

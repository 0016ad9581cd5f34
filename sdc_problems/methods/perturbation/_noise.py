"""Additive noise: independent, correlated, and with the moments of the file kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import choice, number, table
from sdc_problems.methods._amounts import generator, rounded, shape_like

STRUCTURES = ("independent", "correlated", "moments")
BOUNDS = ("none", "clip", "reflect")


def add_noise(
    X: object,
    *,
    amplitude: float,
    structure: str = "independent",
    rng: np.random.Generator | None = None,
    bounds: str | None = None,
    keep_zero: bool = False,
    decimals: int | None = None,
) -> NDArray[np.float64]:
    """Additive noise on numeric attributes, in standard deviations of each attribute.

    Parameters
    ----------
    X
        Records × attributes, numeric (or one attribute as a vector).
    amplitude
        Standard deviation of the noise, as a multiple of that of the attribute.
    structure
        "independent": each attribute alone; "correlated": noise with the covariances of the file; "moments": in
        addition, values shrink toward the mean, so that expected means and covariances do not change (amplitude ≤ 1).
    rng
        Source of the noise.
    bounds
        "clip" and "reflect" keep each attribute in its original range; None does not.
    keep_zero
        Whether zeros stay zeros (for amounts that few people have).
    decimals
        Decimals of the result; by default those of each attribute.

    Returns
    -------
    ndarray
        Protected values in the shape of X. A constant attribute does not change.

    Notes
    -----
    With sample deviations s, covariances C and means m: independent y = x + a · s · ε; correlated ε ~ N(0, a² C);
    moments y = m + √(1 − a²)(x − m) + a ε with ε ~ N(0, C) (Brand 2002). In sdcMicro, noise = 100 a for "additive", but
    100 a² for "correlated". The root of C is computed from its eigenvalues, with negative ones set to 0, because the
    matrices of files with sums among their attributes are singular. O(n p² + p³).

    Examples
    --------
    >>> add_noise([1.0, 2.0, 3.0, 4.0], amplitude=0.0, rng=np.random.default_rng(1))
    array([1., 2., 3., 4.])
    """
    values = table(X, "X")
    n, p = values.shape
    a = number(amplitude, "amplitude", low=0.0, high=1.0 if structure == "moments" else np.inf)
    choice(structure, "structure", STRUCTURES)
    keep = choice("none" if bounds is None else bounds, "bounds", BOUNDS)
    normal = generator(rng).standard_normal((n, p))
    if n == 1 or a == 0:
        return shape_like(values.copy(), X)
    if structure == "independent":
        out = values + a * values.std(axis=0, ddof=1) * normal
    else:
        noise = normal @ _root(np.atleast_2d(np.cov(values, rowvar=False)))
        centre = values.mean(axis=0) if structure == "moments" else 0.0
        out = centre + (np.sqrt(1 - a * a) if structure == "moments" else 1.0) * (values - centre) + a * noise
    low, high = values.min(axis=0), values.max(axis=0)
    for j in range(p):
        if low[j] == high[j]:
            out[:, j] = values[:, j]
            continue
        if keep == "reflect":
            out[:, j] = low[j] + _triangle(out[:, j] - low[j], high[j] - low[j])
        out[:, j] = rounded(out[:, j], values[:, j], decimals)
        if keep != "none":
            out[:, j] = np.clip(out[:, j], low[j], high[j])
        if keep_zero:
            out[values[:, j] == 0, j] = 0.0
    return shape_like(out, X)


def _root(C: NDArray[np.float64]) -> NDArray[np.float64]:
    """Symmetric square root of a covariance matrix of any rank."""
    sd = np.sqrt(np.diag(C))
    scale = np.where(sd > 0, sd, 1.0)
    eigenvalues, vectors = np.linalg.eigh(C / np.outer(scale, scale))
    half: NDArray[np.float64] = (vectors * np.sqrt(np.maximum(eigenvalues, 0))) @ vectors.T * scale
    return half


def _triangle(away: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Reflect at 0 and at the width, as often as needed."""
    folded = np.mod(away, 2 * width)
    return np.asarray(np.minimum(folded, 2 * width - folded))

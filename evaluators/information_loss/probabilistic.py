"""Probabilistic information loss: changes in statistics relative to the sampling error of the original."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sdc_problems._validation import FloatArray, pair
from sdc_problems.evaluators.information_loss.numeric import (
    centred_columns,
    column_means,
    correlation_matrix,
    covariance_matrix,
    location_and_scale,
)

QUANTILES = np.arange(5, 100, 5) / 100.0
_BLOCK = 2**20  # kernel values held at once by the density estimate


class PILComponents(NamedTuple):
    """Mean loss of each family of statistics in percent; None for a family that is empty with one attribute."""

    means: float
    variances: float
    covariances: float | None
    correlations: float | None
    quantiles: float

    @property
    def percent(self) -> float:
        """Mean over the families that exist."""
        return float(np.mean([family for family in self if family is not None]))


def _erf(x: FloatArray) -> FloatArray:
    """Error function; importing SciPy for it would take longer than a million values take here."""
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x), dtype=np.float64)


def statistic_losses(before: FloatArray, after: FloatArray, deviation: FloatArray) -> FloatArray:
    """``100 · 2 · P(0 ≤ Z ≤ |after - before| / deviation)`` of each; if the deviation is 0, 100 for any change."""
    change = after - before
    # Rounding is not a change: it would be a full loss where the deviation is 0.
    change[np.abs(change) <= 1e-12 * np.maximum(np.abs(before), np.abs(after))] = 0.0
    certain = deviation == 0
    ratio = np.abs(change) / np.where(certain, 1.0, deviation)
    losses: FloatArray = 100.0 * np.where(certain, (change != 0).astype(np.float64), _erf(ratio / np.sqrt(2.0)))
    return losses


def _loss(before: FloatArray, after: FloatArray, deviation: FloatArray) -> float:
    """Mean loss of the statistics of a family."""
    return float(statistic_losses(before, after, deviation).mean())


def _density(column: FloatArray, at: FloatArray, scale: float) -> FloatArray:
    """Gaussian kernel density with Silverman's bandwidth, robust to heavy tails; computed in blocks to limit memory."""
    low, high = np.quantile(column, [0.25, 0.75])
    spread = min(scale, (high - low) / 1.349) if high > low else scale
    width = 0.9 * spread * len(column) ** -0.2
    total = np.zeros(len(at))
    step = max(1, _BLOCK // len(at))
    for begin in range(0, len(column), step):
        z = (at[:, None] - column[None, begin : begin + step]) / width
        total += np.exp(-0.5 * z * z).sum(axis=1)
    density: FloatArray = total / (len(column) * width * np.sqrt(2.0 * np.pi))
    return density


class PILReference(NamedTuple):
    """Statistics of an original table, each with its sampling deviation, as the reference of :func:`pil`.

    Vectors have one entry per attribute. Covariances and correlations are matrices, of which only pairs of different
    attributes are used. Quantiles have one row per probability in ``QUANTILES``.
    """

    means: FloatArray
    covariances: FloatArray
    correlations: FloatArray
    quantiles: FloatArray
    mean_deviations: FloatArray
    variance_deviations: FloatArray
    covariance_deviations: FloatArray
    correlation_deviations: FloatArray
    quantile_deviations: FloatArray


def pil_reference(original: FloatArray) -> PILReference:
    """Statistics of a table and their sampling deviations; see the notes of :func:`pil`."""
    n, p = original.shape
    _, scale = location_and_scale(original)
    centred = centred_columns(original)
    z = centred / np.where(scale > 0, scale, 1.0)
    square = centred * centred
    covariance, correlation = covariance_matrix(original), correlation_matrix(original)

    # Sampling deviations by the delta method: the mean square of each statistic's influence function, over n.
    variance_deviation = np.sqrt(np.maximum((square * square).mean(axis=0) - np.diag(covariance) ** 2, 0.0) / n)
    covariance_deviation, correlation_deviation = np.zeros((p, p)), np.zeros((p, p))
    for i, j in zip(*np.triu_indices(p, k=1), strict=True):
        product = centred[:, i] * centred[:, j]
        deviation = np.sqrt(np.mean((product - covariance[i, j]) ** 2) / n)
        covariance_deviation[i, j] = covariance_deviation[j, i] = deviation
        influence = z[:, i] * z[:, j] - 0.5 * correlation[i, j] * (z[:, i] ** 2 + z[:, j] ** 2)
        correlation_deviation[i, j] = correlation_deviation[j, i] = np.sqrt(np.mean(influence**2) / n)

    quantiles = np.quantile(original, QUANTILES, axis=0)
    quantile_deviation = np.zeros_like(quantiles)
    for j in np.flatnonzero(scale > 0):
        density = _density(original[:, j], quantiles[:, j], float(scale[j]))
        # A quantile in a gap of the data has a density of 0 to machine precision: its sampling error is infinite, and
        # no change in it can be distinguished from chance.
        with np.errstate(divide="ignore", over="ignore"):
            quantile_deviation[:, j] = np.sqrt(QUANTILES * (1.0 - QUANTILES) / n) / density
    return PILReference(
        column_means(original),
        covariance,
        correlation,
        quantiles,
        scale / np.sqrt(n),
        variance_deviation,
        covariance_deviation,
        correlation_deviation,
        quantile_deviation,
    )


def pil_components(X: object, Y: object) -> PILComponents:
    """Probabilistic information loss of each family of statistics; see :func:`pil`.

    Parameters
    ----------
    X, Y
        Original and protected table, same shape and row order, numeric.

    Returns
    -------
    PILComponents
        Percentages, in [0, 100].

    Examples
    --------
    >>> pil_components([[1.0], [2.0], [4.0]], [[1.0], [2.0], [4.0]]).means
    0.0
    """
    original, protected = pair(X, Y)
    p = original.shape[1]
    before = pil_reference(original)
    after, correlation_after = covariance_matrix(protected), correlation_matrix(protected)
    pairs = np.triu_indices(p, k=1)
    return PILComponents(
        means=_loss(before.means, column_means(protected), before.mean_deviations),
        variances=_loss(np.diag(before.covariances), np.diag(after), before.variance_deviations),
        covariances=_loss(before.covariances[pairs], after[pairs], before.covariance_deviations[pairs])
        if p > 1
        else None,
        correlations=_loss(before.correlations[pairs], correlation_after[pairs], before.correlation_deviations[pairs])
        if p > 1
        else None,
        quantiles=_loss(before.quantiles, np.quantile(protected, QUANTILES, axis=0), before.quantile_deviations),
    )


def pil(X: object, Y: object) -> float:
    """Probabilistic information loss (Mateo-Sanz, Domingo-Ferrer & Sebé 2005), the numeric loss of Marés (2013, ch. 3).

    The change of each statistic θ to its protected value θ' is compared with the sampling deviation of θ:
    ``100 · 2 · P(0 ≤ Z ≤ |θ' - θ| / sd(θ))`` with a standard normal Z. The result is the mean within each of five
    families (means, variances, covariances, correlations, quantiles 5 %, 10 %, … 95 %), then over the families.

    Parameters
    ----------
    X, Y
        Original and protected table, same shape and row order, numeric.

    Returns
    -------
    float
        Percent, in [0, 100]; 0 if no statistic changed.

    Notes
    -----
    Sampling deviations are asymptotic and estimated from the original: ``sqrt(μ2/n)`` for a mean,
    ``sqrt((μ4 - μ2²)/n)`` for a variance, ``sqrt((μ22 - μ11²)/n)`` for a covariance, the delta method for a
    correlation, ``sqrt(q(1-q)/n)/f(Q)`` for a quantile with a Gaussian kernel density f (infinite in a gap of
    the data, where f vanishes: such a quantile has no loss). A statistic without sampling error (of a constant
    attribute) has loss 0 if it is unchanged, else 100. With one attribute there are no covariances and correlations,
    and the mean is over three families. O(n·p² + 19·n·p).

    Examples
    --------
    >>> X = [[1.0, 2.0], [2.0, 1.0], [4.0, 3.0], [5.0, 7.0]]
    >>> pil(X, X)
    0.0
    >>> 0 < pil(X, [[1.5, 2.0], [1.5, 1.0], [4.5, 3.0], [4.5, 7.0]]) < 100
    True
    """
    return pil_components(X, Y).percent

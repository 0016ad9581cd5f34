"""Information loss of numeric tables: sums of squares, and changes in the usual statistics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sdc_problems._validation import BoolArray, FloatArray, IntArray, pair, table
from sdc_problems._validation import labels as check_labels
from sdc_problems.evaluators._codes import dense

_ROUNDING = 1e-12  # relative to the scale of the data: a mean or covariance below it counts as 0


def constant_columns(X: FloatArray) -> BoolArray:
    """Columns with a single value, found by comparing values: a rounded standard deviation need not be zero."""
    flat: BoolArray = (X == X[0]).all(axis=0)
    return flat


def location_and_scale(X: object) -> tuple[FloatArray, FloatArray]:
    """Column means and population standard deviations; the deviation of a constant column is exactly 0.

    Examples
    --------
    >>> location_and_scale([[1.0, 0.1], [3.0, 0.1]])
    (array([2. , 0.1]), array([1., 0.]))
    """
    values = np.ascontiguousarray(table(X, "X"))  # sums depend on the memory layout
    mean: FloatArray = values.mean(axis=0)
    away = values - mean  # as in numpy's std, which would compute the mean again
    away *= away
    scale = np.sqrt(away.sum(axis=0) / len(values))
    return mean, np.where(constant_columns(values), 0.0, scale)


def z_scores(X: object, *, reference: object = None) -> FloatArray:
    """z-scores: columns centered and divided by their population standard deviation; a constant column becomes 0.

    Parameters
    ----------
    X
        Records × attributes.
    reference
        Table whose means and standard deviations are used, by default X itself. ``z_scores(Y, reference=X)`` puts a
        protected table on the scale of its original.

    Examples
    --------
    >>> z_scores([[1.0, 7.0], [3.0, 7.0]])
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    values = table(X, "X")
    mean, scale = location_and_scale(values if reference is None else table(reference, "reference"))
    z = (values - mean) / np.where(scale > 0, scale, 1.0)
    z[:, scale == 0] = 0.0
    return z


def _group_sums(X: FloatArray, groups: IntArray, n_groups: int) -> FloatArray:
    return np.stack([np.bincount(groups, weights=column, minlength=n_groups) for column in X.T], axis=1)


def sse(X: object, labels: object) -> float:
    """Sum of squared distances between records and the centroid of their cluster (SSE).

    ``SSE = sum_i sum_{j in cluster i} ||x_j - mean_i||^2`` (Balasch-Masoliver 2010, §2.1), on the values as given.

    Parameters
    ----------
    X
        Records × attributes, numeric.
    labels
        Cluster label of each record, whole numbers ≥ 0 (gaps are allowed).

    Returns
    -------
    float
        In [0, SST]; 0 if all records of each cluster are equal.

    Notes
    -----
    O(n·p). Two passes (centroids, then deviations) avoid cancellation.

    Examples
    --------
    >>> sse([[1.0], [3.0], [10.0]], [0, 0, 1])
    2.0
    """
    values = table(X, "X")
    groups, n_groups = dense(check_labels(labels, len(values)))
    centroids = _group_sums(values, groups, n_groups) / np.bincount(groups)[:, None]
    return float(np.square(values - centroids[groups]).sum())


def sst(X: object) -> float:
    """Sum of squared distances between records and the mean record (SST): the SSE of a single cluster.

    Examples
    --------
    >>> sst([[1.0], [3.0]])
    2.0
    """
    values = table(X, "X")
    return float(np.square(values - values.mean(axis=0)).sum())


def il_sse(X: object, labels: object) -> float:
    """Information loss of microaggregation: share of the variation lost by replacing records with cluster centroids.

    ``IL = 100 · SSE / SST`` on z-scored columns (Balasch-Masoliver 2010, §3.3; Domingo-Ferrer & Torra 2005).

    Parameters
    ----------
    X
        Records × attributes, numeric, on any scale: columns are z-scored (with the population standard deviation), and
        a constant column contributes nothing.
    labels
        Cluster label of each record.

    Returns
    -------
    float
        Percent, in [0, 100]; 0 if all columns are constant.

    Notes
    -----
    O(n·p).

    Examples
    --------
    >>> round(il_sse([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1]), 6)
    3.846154
    >>> il_sse([[0.0], [2.0], [10.0], [12.0]], [0, 0, 0, 0])
    100.0
    """
    values = table(X, "X")
    z = z_scores(values)
    total = float(np.square(z).sum())
    return 100.0 * min(sse(z, labels) / total, 1.0) if total > 0 else 0.0 * sse(z, labels)


class ILComponents(NamedTuple):
    """Five mean relative variations of Balasch-Masoliver (2010, §1.2), each 0 for an unchanged table."""

    values: float
    means: float
    covariances: float
    variances: float
    correlations: float

    @property
    def percent(self) -> float:
        """``100 · mean(IL1 … IL5)``."""
        return 100.0 * float(np.mean(self))


def relative_variation(before: FloatArray, after: FloatArray) -> float:
    """Mean of ``|after - before| / |before|``; where the reference is 0, the term is 0 if nothing changed, else 1.

    A reference so small that the ratio overflows also counts as 0.
    """
    if before.size == 0:
        return 0.0
    change, size = np.abs(after - before), np.abs(before)
    zero = size <= change / np.finfo(np.float64).max
    ratio = np.where(zero, (change > 0).astype(np.float64), change / np.where(zero, 1.0, size))
    return float(ratio.mean())


def column_means(X: FloatArray) -> FloatArray:
    """Column means; a mean that is 0 up to rounding (as for z-scores) is set to exactly 0."""
    mean = X.mean(axis=0)
    return np.where(np.abs(mean) <= _ROUNDING * np.abs(X).max(axis=0), 0.0, mean)


def centred_columns(X: FloatArray) -> FloatArray:
    """Deviations from the column means; exactly 0 in a constant column."""
    centred: FloatArray = X - X.mean(axis=0)
    centred[:, constant_columns(X)] = 0.0
    return centred


def covariance_matrix(X: FloatArray) -> FloatArray:
    """Population covariances; exactly 0 for a constant attribute, and where the correlation is only rounding."""
    centred = centred_columns(X)
    product: FloatArray = centred.T @ centred / len(X)
    scale = np.sqrt(np.diag(product))
    product[np.abs(product) <= _ROUNDING * np.outer(scale, scale)] = 0.0
    return product


def correlation_matrix(X: FloatArray) -> FloatArray:
    """Pearson correlations; 0 for a constant attribute."""
    covariance = covariance_matrix(X)
    scale = np.sqrt(np.diag(covariance))
    scale[scale == 0] = 1.0
    clipped: FloatArray = np.clip(covariance / np.outer(scale, scale), -1.0, 1.0)
    return clipped


def il_components(X: object, Y: object) -> ILComponents:
    """Relative changes of values, means, covariances, variances and correlations in a protected table.

    Each component is a mean relative variation ``|θ' - θ| / |θ|`` (Balasch-Masoliver 2010, §1.2; Domingo-Ferrer &
    Torra 2001): IL1 over all cells, IL2 over the means, IL3 over the covariances (upper triangle with its
    diagonal), IL4 over the variances, IL5 over the correlations of distinct attributes (0 with one attribute). Where
    the reference is 0, the variation is 0 if nothing changed, else 1.

    Parameters
    ----------
    X, Y
        Original and protected table, same shape and row order, numeric.

    Returns
    -------
    ILComponents
        Five numbers ≥ 0, without upper bound; ``.percent`` is ``100 · mean(IL1 … IL5)``.

    Notes
    -----
    O(n·p²). Relative variations are unbounded, so a statistic near 0 can dominate; :func:`pil` is a bounded
    alternative.

    Examples
    --------
    >>> X = [[1.0, 4.0], [2.0, 2.0], [3.0, 3.0]]
    >>> Y = [[1.0, 4.0], [2.0, 2.0], [4.5, 3.0]]
    >>> il_components(X, Y).values
    0.08333333333333333
    >>> il_components(X, X).percent
    0.0
    """
    original, protected = pair(X, Y)
    p = original.shape[1]
    triangle = np.triu_indices(p)
    distinct = np.triu_indices(p, k=1)
    before, after = covariance_matrix(original), covariance_matrix(protected)
    return ILComponents(
        values=relative_variation(original, protected),
        means=relative_variation(column_means(original), column_means(protected)),
        covariances=relative_variation(before[triangle], after[triangle]),
        variances=relative_variation(np.diag(before), np.diag(after)),
        correlations=relative_variation(
            correlation_matrix(original)[distinct], correlation_matrix(protected)[distinct]
        ),
    )


def il_statistics(X: object, Y: object) -> float:
    """Information loss of the classical score: ``100 · mean(IL1 … IL5)`` (Balasch-Masoliver 2010, §1.2).

    Percent, ≥ 0, without upper bound; see :func:`il_components`.

    Parameters
    ----------
    X, Y
        Original and protected table, same shape and row order, numeric.

    Examples
    --------
    >>> il_statistics([[1.0], [3.0]], [[1.0], [3.0]])
    0.0
    """
    return il_components(X, Y).percent

"""Information loss of numeric tables: sums of squares, and changes of the usual statistics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sdc_problems._validation import BoolArray, FloatArray, IntArray, pair, table
from sdc_problems._validation import labels as check_labels
from sdc_problems.evaluators._codes import dense

_ROUNDING = 1e-12  # relative to the data's scale: a mean or covariance below it is 0, or its variation means nothing


def constant_columns(X: FloatArray) -> BoolArray:
    """Columns of one single value, decided on the values: a rounded standard deviation need not be zero."""
    flat: BoolArray = (X == X[0]).all(axis=0)
    return flat


def location_and_scale(X: object) -> tuple[FloatArray, FloatArray]:
    """Column means and population standard deviations; the deviation of a constant column is exactly 0.

    Examples
    --------
    >>> location_and_scale([[1.0, 0.1], [3.0, 0.1]])
    (array([2. , 0.1]), array([1., 0.]))
    """
    values = np.ascontiguousarray(table(X, "X"))  # whose sums depend on the layout in memory
    mean: FloatArray = values.mean(axis=0)
    away = values - mean  # as numpy's std does, which would take the mean again
    away *= away
    scale = np.sqrt(away.sum(axis=0) / len(values))
    return mean, np.where(constant_columns(values), 0.0, scale)


def z_scores(X: object, *, reference: object = None) -> FloatArray:
    """Columns centered and divided by their population standard deviation; a constant column becomes 0.

    Parameters
    ----------
    X
        Records × attributes.
    reference
        The table whose means and deviations are used; X itself by default. Put a protected table on the scale of
        its original with ``z_scores(Y, reference=X)``.

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
    """Sum of squared distances of the records to the centroid of their cluster.

    ``SSE = sum_i sum_{j in cluster i} ||x_j - mean_i||^2`` (Balasch-Masoliver 2010, §2.1), on the values as given.

    Parameters
    ----------
    X
        Records × attributes, numeric.
    labels
        Cluster label of each record, whole numbers ≥ 0 (gaps are fine).

    Returns
    -------
    float
        In [0, SST]; 0 when every cluster is one record or all its records are equal.

    Notes
    -----
    O(n·p). Two passes (centroids, then deviations): no cancellation.

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
    """Sum of squared distances of the records to the mean record: the SSE of one single cluster.

    Examples
    --------
    >>> sst([[1.0], [3.0]])
    2.0
    """
    values = table(X, "X")
    return float(np.square(values - values.mean(axis=0)).sum())


def il_sse(X: object, labels: object) -> float:
    """Share of the variation that replacing records by their cluster's centroid destroys.

    ``IL = 100 · SSE / SST`` on z-scored columns (Balasch-Masoliver 2010, §3.3; Domingo-Ferrer & Torra 2005).

    Parameters
    ----------
    X
        Records × attributes, numeric, on any scale: columns are z-scored here (population deviation) and a constant
        column contributes nothing.
    labels
        Cluster label of each record.

    Returns
    -------
    float
        Percent, in [0, 100]; 0 when all columns are constant.

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
    """The five mean relative variations of Balasch-Masoliver (2010, §1.2), each 0 for an untouched table."""

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
    """Mean of ``|after - before| / |before|``; where the reference is 0, 0 if nothing changed and else 1.

    A reference that is so small that the ratio leaves the range of numbers counts as 0, too.
    """
    if before.size == 0:
        return 0.0
    change, size = np.abs(after - before), np.abs(before)
    zero = size <= change / np.finfo(np.float64).max
    ratio = np.where(zero, (change > 0).astype(np.float64), change / np.where(zero, 1.0, size))
    return float(ratio.mean())


def column_means(X: FloatArray) -> FloatArray:
    """Column means; one that is 0 up to rounding (as of z-scores) is exactly 0, and so a zero reference."""
    mean = X.mean(axis=0)
    return np.where(np.abs(mean) <= _ROUNDING * np.abs(X).max(axis=0), 0.0, mean)


def centred_columns(X: FloatArray) -> FloatArray:
    """Deviations from the column means; exactly 0 in a constant column."""
    centred: FloatArray = X - X.mean(axis=0)
    centred[:, constant_columns(X)] = 0.0
    return centred


def covariance_matrix(X: FloatArray) -> FloatArray:
    """Population covariances; exactly 0 with a constant attribute, and where the correlation is only rounding."""
    centred = centred_columns(X)
    product: FloatArray = centred.T @ centred / len(X)
    scale = np.sqrt(np.diag(product))
    product[np.abs(product) <= _ROUNDING * np.outer(scale, scale)] = 0.0
    return product


def correlation_matrix(X: FloatArray) -> FloatArray:
    """Pearson correlations; 0 with a constant attribute, which correlates with nothing."""
    covariance = covariance_matrix(X)
    scale = np.sqrt(np.diag(covariance))
    scale[scale == 0] = 1.0
    clipped: FloatArray = np.clip(covariance / np.outer(scale, scale), -1.0, 1.0)
    return clipped


def il_components(X: object, Y: object) -> ILComponents:
    """Changes of values, means, covariances, variances and correlations in a protected table.

    Each component is a mean relative variation ``|θ' - θ| / |θ|`` (Balasch-Masoliver 2010, §1.2; Domingo-Ferrer &
    Torra 2001): IL1 over all cells, IL2 over the means, IL3 over the covariances (upper triangle with its
    diagonal), IL4 over the variances, IL5 over the correlations of distinct attributes (0 with one attribute). Where
    the reference is 0 the variation is 0 if nothing changed, else 1.

    Parameters
    ----------
    X, Y
        Original and protected table, same shape and row order, numeric.

    Returns
    -------
    ILComponents
        Five numbers ≥ 0, not bounded above; ``.percent`` is ``100 · mean(IL1 … IL5)``.

    Notes
    -----
    O(n·p²). Relative variations are unbounded: a statistic near 0 can dominate. :func:`pil` is the bounded
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
    """``100 · mean(IL1 … IL5)``: the information loss of the classical score (Balasch-Masoliver 2010, §1.2).

    Percent, ≥ 0, not bounded above; see :func:`il_components`.

    Examples
    --------
    >>> il_statistics([[1.0], [3.0]], [[1.0], [3.0]])
    0.0
    """
    return il_components(X, Y).percent

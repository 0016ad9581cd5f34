"""MDAV: groups of k records around the points farthest out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import Progress
from sdc_problems.methods._importance import column_weights
from sdc_problems.methods._kernels.mdav import mdav_kernel, mixed_mdav_kernel
from sdc_problems.methods.partition._attributes import attributes, smallest_group


def mdav(
    X: object,
    k: int,
    *,
    kinds: Sequence[str] | None = None,
    standardize: bool = True,
    weights: Sequence[float] | None = None,
    progress: Progress | None = None,
) -> NDArray[np.int32]:
    """Partition records into groups of k by the maximum distance to the average vector (MDAV-generic).

    While at least 3k records remain, the record farthest from their centroid and the record farthest from that record
    each form a group with their k − 1 nearest records. If 2k to 3k − 1 records remain, one more group is formed; the
    rest is the last group. So every group has k records, except the last, which has up to 2k − 1.

    Parameters
    ----------
    X
        Records × attributes.
    k
        Smallest group: 2 … n/2.
    kinds
        "numeric", "ordinal" or "nominal" for each attribute; by default, all are numeric. Ordinal and nominal
        attributes hold codes 0, 1, … up to the number of categories − 1.
    standardize
        Whether numeric attributes are standardized to z-scores first.
    weights
        Weight of the squared distance in each attribute; by default, 1.
    progress
        Called as ``progress(records in groups, records)`` a few times per second.

    Returns
    -------
    labels
        One group number per record, in order of first use.

    Notes
    -----
    Algorithm 4 of Marés (2013), after Domingo-Ferrer and Torra (2005). The squared distance between two records is the
    sum over attributes of (a − b)² for numeric, ((|a − b| + 1)/|D|)² for different ordinal values (Eq. 2.6) and 1
    for different nominal values (Eq. 2.7); the centroid is the mean, lower median or most frequent value. Ties are
    decided by the position of the record. O(n²p/k) time at worst, O(np) memory. For numeric attributes, a k-d tree
    whose boxes shrink as records leave is used as long as it visits fewer records than a scan: with few attributes, ten
    times the records take about twelve times as long.

    Examples
    --------
    >>> mdav([[1.0], [2.0], [1.5], [8.0], [9.0], [8.5]], 3)
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    values, codes, sizes = attributes(X, kinds=kinds, standardize=standardize)
    k = smallest_group(k, len(values))
    counted = column_weights(weights, values.shape[1])
    if weights is not None:
        values = np.ascontiguousarray(values * np.where(codes == 0, np.sqrt(counted), 1.0))
    if codes.any():
        return mixed_mdav_kernel(values, k, codes, sizes, progress, counted)
    return mdav_kernel(values, k, progress)

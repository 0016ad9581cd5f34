"""Optimal microaggregation of one attribute, or of records along a path, by the algorithm of Hansen and Mukherjee."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import Progress, kernel
from sdc_problems._validation import choice, table, vector
from sdc_problems.methods._kernels.cut import cut
from sdc_problems.methods._kernels.mdav import first_use
from sdc_problems.methods._kernels.walk import nearest_next, path_of_groups
from sdc_problems.methods.partition._attributes import smallest_group, z_scores
from sdc_problems.methods.partition._mdav import mdav


@kernel(cost=lambda size, order: len(order) * 1e-6)
def _label_runs(size: NDArray[np.int32], order: NDArray[np.int64]) -> NDArray[np.int32]:
    """Labels of the records from the sizes of the best runs, from the last run backward."""
    labels = np.empty(len(order), dtype=np.int32)
    end, group = len(order), 0
    while end > 0:
        start = end - size[end]
        for i in range(start, end):
            labels[order[i]] = group
        end, group = start, group + 1
    first_use(labels, group)
    return labels


def microaggregate_univariate(x: object, k: int, *, progress: Progress | None = None) -> NDArray[np.int32]:
    """Partition one attribute into groups of at least k values with the smallest possible SSE.

    Parameters
    ----------
    x
        Numbers in any order.
    k
        Smallest group: 2 … n/2.
    progress
        Called as ``progress(values done, values)`` a few times per second.

    Returns
    -------
    labels
        One group number per value, in order of first use; every group has k to 2k − 1 values.

    Notes
    -----
    Hansen and Mukherjee (2003): an optimal group is a run of fewer than 2k sorted values, so the shortest path over the
    positions between sorted values is optimal. The best start of the last run never moves back as its end moves
    forward, so SMAWK (Aggarwal et al., 1987) finds the best starts for k ends in O(k). The error of a run is updated
    value by value and combined at one boundary, not computed from prefix sums, which would lose the small errors of
    neighboring values in large files. O(n) time after sorting, for any k; O(n) memory. Of runs with equal cost, the
    shorter one is used.

    Examples
    --------
    >>> microaggregate_univariate([1.0, 11.0, 2.0, 10.0, 3.0, 12.0, 2.5], 3)
    array([0, 1, 0, 1, 0, 1, 0], dtype=int32)
    """
    values = vector(x, "x")
    k = smallest_group(k, len(values))
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    # Scaling by a power of two is exact, and keeps the squares of the largest numbers finite.
    ordered = np.ldexp(ordered, -int(np.frexp(np.abs(ordered).max())[1]))
    return _label_runs(cut(ordered, k, progress), order)


def mhm(
    X: object,
    k: int,
    *,
    order: Literal["mdav", "nearest"] = "mdav",
    standardize: bool = True,
    progress: Progress | None = None,
) -> NDArray[np.int32]:
    """Order the records along a path and cut it optimally into groups (multivariate Hansen–Mukherjee, MHM).

    Parameters
    ----------
    X
        Records × numeric attributes.
    k
        Smallest group: 2 … n/2.
    order
        ``"mdav"``: through the groups of MDAV, next the group with the nearest centroid, and in it the nearest record.
        ``"nearest"``: next the nearest of all remaining records. Both start far from the center.
    standardize
        Whether attributes are standardized to z-scores first.
    progress
        Called as ``progress(records done, records)`` a few times per second, from 0 to all records in each step.

    Returns
    -------
    labels
        One group number per record, in order of first use; every group has k to 2k − 1 records.

    Notes
    -----
    Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz and Sebé (2006). The cut is optimal for the given path. The groups of
    MDAV are runs of the path through them, so ``order="mdav"`` never has a larger SSE than MDAV. O(n²p) time for the
    path at worst, close to O(n log n) for few attributes, O(nkp) for the cut, O(np) memory.

    Examples
    --------
    >>> mhm([[1.0], [2.0], [1.5], [8.0], [9.0], [8.5], [9.5]], 3)
    array([0, 0, 0, 1, 1, 1, 1], dtype=int32)
    """
    values = table(X, "X")
    k = smallest_group(k, len(values))
    how = choice(order, "order", ("mdav", "nearest"))
    P = np.ascontiguousarray(z_scores(values) if standardize else values)
    if how == "mdav":
        path = path_of_groups(P, mdav(P, k, standardize=False, progress=progress), progress)
    else:
        path = nearest_next(P, P.mean(axis=0), progress)
    return _label_runs(cut(np.ascontiguousarray(P[path]), k, progress), path)

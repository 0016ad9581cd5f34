"""Macrogroups: parts of a table that a slow search can process one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import labels as check_labels
from sdc_problems._validation import whole
from sdc_problems.errors import SDCError
from sdc_problems.methods.partition._attributes import attributes, smallest_group
from sdc_problems.methods.partition._centroids import microaggregate
from sdc_problems.methods.partition._mdav import mdav

Heuristic = Callable[[NDArray[np.float64], int], NDArray[np.int32]]
"""Function of points (on one scale) and the smallest group size that returns one label per point."""


class Macrogroups(NamedTuple):
    """Macrogroup of each record, and the groups that the macrogroups consist of."""

    macrogroups: NDArray[np.int32]
    groups: NDArray[np.int32]


def plain_mdav(Z: NDArray[np.float64], k: int) -> NDArray[np.int32]:
    """MDAV on points without standardization, the default heuristic."""
    return mdav(Z, k, standardize=False)


def one_step(X: object, K: int, *, heuristic: Heuristic = plain_mdav, standardize: bool = True) -> NDArray[np.int32]:
    """Partition records into macrogroups of about K records by the heuristic itself.

    Parameters
    ----------
    X
        Records × numeric attributes.
    K
        Size of a macrogroup; if it is more than n/2, there is a single macrogroup.
    heuristic
        Function that takes points and the smallest group size; by default, MDAV.
    standardize
        Whether attributes are standardized to z-scores first.

    Returns
    -------
    labels
        One macrogroup number per record.

    Notes
    -----
    Martínez-Ballesté et al. (2007), §3.1. It may split natural groups; ``two_step`` keeps the groups of the heuristic.

    Examples
    --------
    >>> one_step([[0.0], [1.0], [2.0], [3.0], [20.0], [21.0], [22.0], [23.0]], 4)
    array([0, 0, 0, 0, 1, 1, 1, 1], dtype=int32)
    """
    Z = _points(X, standardize)
    return _grouped(Z, whole(K, "K", least=2), heuristic)


def two_step(X: object, k: int, K: int, *, heuristic: Heuristic = plain_mdav, standardize: bool = True) -> Macrogroups:
    """Partition records into groups of k by the heuristic, and the centroids of groups into macrogroups of K/k groups.

    Parameters
    ----------
    X
        Records × numeric attributes.
    k
        Smallest group: 2 … n/2.
    K
        Size of a macrogroup: a multiple of k, at least 2k.
    heuristic
        Function that takes points and the smallest group size; by default, MDAV.
    standardize
        Whether attributes are standardized to z-scores first.

    Returns
    -------
    Macrogroups
        Both labels of each record. Each group is in one macrogroup, so an improved partition of a macrogroup improves
        that of the whole table (Lemma 1).

    Notes
    -----
    Martínez-Ballesté et al. (2007), §3.2. The last group and the last macrogroup may be larger.

    Examples
    --------
    >>> two_step([[0.0], [1.0], [4.0], [5.0], [20.0], [21.0], [24.0], [25.0]], 2, 4)
    Macrogroups(macrogroups=array([0, 0, 0, 0, 1, 1, 1, 1], dtype=int32), groups=array([0, 0, 1, 1, 2, 2, 3, 3], dtype=int32))
    """  # noqa: E501 -- the doctest's output is one line
    Z = _points(X, standardize)
    k = smallest_group(k, len(Z))
    size = whole(K, "K", least=2 * k)
    if size % k:
        raise SDCError(f"K = {size} must be a multiple of k = {k}, such as {size // k * k}")
    groups = _grouped(Z, k, heuristic)
    _, first = np.unique(groups, return_index=True)
    return Macrogroups(_grouped(microaggregate(Z, groups)[first], size // k, heuristic)[groups], groups)


def _points(X: object, standardize: bool) -> NDArray[np.float64]:
    return attributes(X, standardize=standardize)[0]  # the same as in MDAV to the last bit, so that ties are the same


def _grouped(Z: NDArray[np.float64], size: int, heuristic: Heuristic) -> NDArray[np.int32]:
    if size > len(Z) // 2:
        return np.zeros(len(Z), dtype=np.int32)
    _, labels = np.unique(check_labels(heuristic(Z, size), len(Z), "the heuristic's labels"), return_inverse=True)
    smallest = int(np.bincount(labels).min())
    if smallest < size:
        raise SDCError(f"the heuristic made a group of {smallest}, smaller than {size}")
    return labels.astype(np.int32)

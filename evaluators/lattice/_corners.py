"""Corners of boxes of a lattice: what their figures say of every node between them.

A box is all nodes between a finest and a coarsest one. Records that are suppressed in its coarsest node, where classes
up to some size go, are suppressed in each of its nodes where classes up to that size go, since classes only grow.
Of the records that are left no class is larger than in the coarsest node, and none is better mixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems.evaluators.lattice._kernels import ClassTable, Floats, Ints, Lattice

LOSSES = ("glm", "glm_percent", "cm", "discernibility", "suppressed")
"""Measures that are sums over records which grow with every level and every record suppressed."""

ROUNDING = 1e-9  # of sums of shares and of logarithms, relative; all else is whole numbers, or one division of them


class Corner(NamedTuple):
    """Measures of a node for each step of suppression, and what they say of finer nodes.

    Attributes
    ----------
    thresholds
        Of each step: classes of fewer records are suppressed.
    values
        Steps × measures.
    finer
        Steps × measures: no finer node that suppresses at least the classes of this step, and not those of the next,
        has a better value; of the losses it is what the node has at least beyond what it has without suppression.
    """

    thresholds: Ints
    values: Floats
    finer: Floats


def corner(table: ClassTable, limits: Ints, values: Floats, measures: Sequence[str], lattice: Lattice) -> Corner:
    """Corner of a node from its classes, the largest size suppressed at each step, and the measures of each."""
    finer = values.copy()
    for column, name in enumerate(measures):
        if name in LOSSES:
            finer[:, column] -= values[0, column]
            if name.startswith("glm"):
                finer[:, column] *= 1.0 - ROUNDING
        elif name in ("l", "entropy_l", "t") and lattice.max_suppressed > 0:
            mixed = _mixing(table, name, lattice)
            finer[:, column] = _best_mixing(mixed, table.sizes, limits, lattice.max_suppressed)
            if name == "t":
                finer[:, column] *= -1.0
        if name == "entropy_l":
            finer[:, column] *= 1.0 + 10 * ROUNDING
    return Corner(limits + 1, values, finer)


def _mixing(table: ClassTable, name: str, lattice: Lattice) -> Floats:
    """Mixing of the sensitive values of each class: larger is better."""
    stats, sizes = table.stats, table.sizes
    if name == "l":
        return stats[:, 0].astype(float)
    if name == "t":
        return -(stats[:, 3] / (sizes * lattice.n_records))
    x_log_x = sizes * np.log(sizes)
    mixed: Floats = np.exp(np.maximum(x_log_x - stats[:, 2] / lattice.log_scale, 0.0) / sizes)
    return mixed


def _best_mixing(mixed: Floats, sizes: NDArray[np.int64], limits: Ints, budget: int) -> Floats:
    """Best worst class at each step, when others that are in the way may be suppressed too, as the budget allows.

    A class of the coarsest node is out of the way only if all that it becomes in the finer one is suppressed.
    """
    order = np.argsort(mixed, kind="stable")
    needed = int(np.searchsorted(np.cumsum(sizes[order]), budget, side="right")) + 1
    order = order[:needed]  # beyond, not even the budget of all steps together would do
    sizes_of, found = sizes[order], np.empty(len(limits))
    for step, limit in enumerate(limits):
        left = sizes_of > limit
        gone = int(sizes[sizes <= limit].sum())
        stays = left & (np.cumsum(np.where(left, sizes_of, 0)) > budget - gone)
        found[step] = mixed[order[np.argmax(stays)]] if stays.any() else mixed[order[-1]]
    return found

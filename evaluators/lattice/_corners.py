"""Corners of boxes of a lattice: bounds on the figures of every node of a box.

A box contains all nodes between a finest and a coarsest one. A class of the coarsest node is the union of classes of a
finer one. Take the smallest that a finer node does not suppress completely: it suppresses all smaller ones, as the
coarsest node does at one of its steps. No class that is left is larger than in the coarsest node. If nothing is
suppressed, one of the parts of a class is mixed no better than the class. If a part is, what is left of the class may
be mixed better, but only as far as the budget reaches: see `_mixing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems.evaluators.lattice._kernels import ClassTable, Floats, Ints, Lattice

LOSSES = ("glm", "glm_percent", "cm", "discernibility", "suppressed")
"""Measures that are sums over records and increase with every level and every suppressed record."""

ROUNDING = 1e-9  # relative, of sums of shares and logarithms; everything else is a whole number or a ratio of two


class Corner(NamedTuple):
    """Measures of a node at each step of suppression, and bounds on those of finer nodes.

    Attributes
    ----------
    thresholds
        Threshold of each step: classes of fewer records are suppressed.
    values
        Steps × measures: measures of the node.
    finer
        Steps × measures: bounds for finer nodes that suppress at least the classes of this step but not those of the
        next. No such node has a better value. For losses, it is a lower bound on the increase by suppression.
    """

    thresholds: Ints
    values: Floats
    finer: Floats


def corner(table: ClassTable, limits: Ints, values: Floats, measures: Sequence[str], lattice: Lattice) -> Corner:
    """Corner of a node, from its classes, and the largest suppressed size and the measures of each step."""
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
    """Best possible mixing of what is left of each class if the budget is spent on it; larger is better.

    A class is the mixture of what is left of it and the suppressed rest, whose share is at most r. Entropy is concave
    and at least 0, so what is left has at most 1 / (1 - r) of the entropy of the class. The distance t is convex and at
    most 1, so it has at least (t - r) / (1 - r).
    """
    stats: Ints = table.stats
    sizes = table.sizes
    distinct: Floats = stats[:, 0].astype(float)
    if name == "l":
        return distinct
    kept = np.maximum(1.0 - lattice.max_suppressed / sizes, 0.0)
    if name == "t":
        t = stats[:, 3] / (sizes * lattice.n_records)
        nearer: Floats = np.maximum(t - (1.0 - kept), 0.0) / np.where(kept > 0, kept, 1.0)
        return -nearer * (1.0 - ROUNDING)
    entropy = np.maximum(np.log(sizes) - stats[:, 2] / (lattice.log_scale * sizes), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mixed: Floats = np.where(kept > 0, np.minimum(np.exp(entropy / kept), distinct), distinct)
    return mixed


def _best_mixing(mixed: Floats, sizes: NDArray[np.int64], limits: Ints, budget: int) -> Floats:
    """Best possible mixing of the worst class at each step, if the budget allows worse classes to be suppressed, too.

    A class of the coarsest node is suppressed in a finer node only if all classes that it splits into are.
    """
    order = np.argsort(mixed, kind="stable")
    needed = int(np.searchsorted(np.cumsum(sizes[order]), budget, side="right")) + 1
    order = order[:needed]  # the whole budget does not reach further
    sizes_of, found = sizes[order], np.empty(len(limits))
    for step, limit in enumerate(limits):
        left = sizes_of > limit
        gone = int(sizes[sizes <= limit].sum())
        stays = left & (np.cumsum(np.where(left, sizes_of, 0)) > budget - gone)
        found[step] = mixed[order[np.argmax(stays)]] if stays.any() else mixed[order[-1]]
    return found

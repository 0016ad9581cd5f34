"""Corners of boxes of a lattice: bounds on the figures of every node of a box.

A box contains all nodes between a finest and a coarsest one. A class of the coarsest node is the union of classes of a
finer one. Take the smallest that a finer node does not suppress completely: it suppresses all smaller ones, as the
coarsest node does at one of its steps. No class that is left is larger than in the coarsest node. If nothing is
suppressed, one of the parts of a class is mixed no better than the class. If a part is, what is left of the class may
be mixed better, but only as far as the budget reaches: see `_mixing`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from sdc_problems._kernel import kernel
from sdc_problems.evaluators.lattice._kernels import COUNT_BITS, ClassTable, Floats, Ints, Lattice

LOSSES = ("glm", "glm_percent", "cm", "discernibility", "suppressed")
"""Measures that are sums over records and increase with every level and every suppressed record."""

DECIMALS = 9
"""Decimals of entropy_l, so that equal distributions of different sizes tie."""
NOISE = 1e-10
"""Largest error of an entropy_l before it is rounded."""
HALVINGS = 40
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
        elif name == "entropy_l" or (name in ("l", "t") and lattice.max_suppressed > 0):
            finer[:, column] = _BEST[name](table, limits, lattice)
    return Corner(limits + 1, values, finer)


def _most_distinct(table: ClassTable, limits: Ints, lattice: Lattice) -> Floats:
    """Most sensitive values that the worst class can have at each step, if the budget is spent on worse classes."""
    distinct, sizes, budget = table.stats[:, 0].astype(float), table.sizes, lattice.max_suppressed
    order = np.argsort(distinct, kind="stable")
    needed = int(np.searchsorted(np.cumsum(sizes[order]), budget, side="right")) + 1
    order = order[:needed]  # the whole budget does not reach further
    sizes_of, found = sizes[order], np.empty(len(limits))
    for step, limit in enumerate(limits):
        left = sizes_of > limit
        gone = int(sizes[sizes <= limit].sum())
        stays = left & (np.cumsum(np.where(left, sizes_of, 0)) > budget - gone)
        found[step] = distinct[order[np.argmax(stays)]] if stays.any() else distinct[order[-1]]
    return found


def _least_distance(table: ClassTable, limits: Ints, lattice: Lattice) -> Floats:
    """Least t that the worst class can have at each step.

    Let a class of s records exceed by t the shares Q of the values that are too frequent in it, together. Without r of
    these records it exceeds them by (t s - r (1 - Q)) / (s - r), and without r others by no less.
    """
    sizes, stats = table.sizes, table.stats
    t = stats[:, 3] / (sizes * lattice.n_records)
    of = np.repeat(np.arange(len(sizes)), np.diff(table.start))
    values, counts = table.pairs >> COUNT_BITS, table.pairs & ((1 << COUNT_BITS) - 1)
    shares = lattice.reference / lattice.n_records
    sensitive = values < lattice.n_sensitive  # class labels are counted, too
    of, values, counts = of[sensitive], values[sensitive], counts[sensitive]
    frequent = counts * lattice.n_records > lattice.reference[values] * sizes[of]
    often = np.bincount(of[frequent], shares[values[frequent]], minlength=len(sizes)).astype(np.float64)
    found = _least_worst(t, 1.0 - often, sizes, limits, lattice.max_suppressed, False)
    return found * (1.0 - ROUNDING)


def _most_even(table: ClassTable, limits: Ints, lattice: Lattice) -> Floats:
    """Largest ``entropy_l`` that the worst class can have at each step.

    A class is the mixture of what is left of it and of the suppressed rest. Entropy is concave, and at least 0, so what
    is left of a class of s records without r of them has at most s / (s - r) of its entropy.
    """
    sizes, stats = table.sizes, table.stats
    entropy = np.maximum(np.log(sizes) - stats[:, 2] / (lattice.log_scale * sizes), 0.0)
    room = np.log(np.maximum(stats[:, 0], 1))
    found = np.exp(-_least_worst(-entropy, room, sizes, limits, lattice.max_suppressed, True))
    return np.round(found + NOISE, DECIMALS)  # a bound of 1 stays 1, or no box of such nodes could be ruled out


_BEST: dict[str, Callable[[ClassTable, Ints, Lattice], Floats]] = {
    "l": _most_distinct, "t": _least_distance, "entropy_l": _most_even,
}  # fmt: skip


def _least_worst(badness: Floats, room: Floats, sizes: Ints, limits: Ints, budget: int, entropy: bool) -> Floats:
    """Bound on how good the worst class can get at each step if the budget is spent on the worst classes."""
    order = np.argsort(-badness, kind="stable")
    gone = np.array([sizes[sizes <= limit].sum() for limit in limits], dtype=np.int64)
    return _spent_on_worst(badness[order], room[order], sizes[order], limits, budget - gone, entropy)


@kernel(allocates=True, cost=lambda badness, room, sizes, limits, left, entropy: len(limits) * 4e-3)
def _spent_on_worst(badness: Floats, room: Floats, sizes: Ints, limits: Ints, left: Ints, entropy: bool) -> Floats:
    """Search by halving, for each step, the badness to which the budget that is left can bring all classes.

    Classes are sorted by their badness, the worst first.
    """
    found = np.empty(len(limits))
    for step in range(len(limits)):
        first = 0
        while first < len(sizes) - 1 and sizes[first] <= limits[step]:
            first += 1
        high = badness[first]  # can be reached
        found[step] = high
        low = -np.max(room) if entropy else 0.0
        needed, at = 0, first
        while at < len(sizes) and badness[at] >= high - 1e-12:  # a class that is to be better loses a record
            needed += sizes[at] > limits[step]
            at += 1
        if needed > left[step]:
            continue
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            needed, at = 0, first
            while at < len(sizes) and badness[at] > middle and needed <= left[step]:
                if sizes[at] > limits[step]:
                    needed += _records_to_lose(badness[at], middle, room[at], sizes[at], entropy)
                at += 1
            if needed <= left[step]:
                high = middle
            else:
                low = middle
        found[step] = low
    return found


@kernel(allocates=False)
def _records_to_lose(badness: float, wanted: float, room: float, size: int, entropy: bool) -> int:
    """Fewest records that a class must lose to be no worse than wanted."""
    if entropy:  # both are negative entropies
        share = 1.0 - badness / wanted if -wanted <= room + 1e-12 else 1.0
    else:
        share = (badness - wanted) / (max(room, badness) - wanted)
    return math.ceil(size * min(share, 1.0) - 1e-9)

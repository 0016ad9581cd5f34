"""Operators of attribute groupings: the group crossover and five mutations of GOMM, and random groupings.

A row of X holds one group number per attribute. The group part of the paper's chromosome is the list of these
numbers in order of first use, so it needs no storage; renaming after an operation is the restricted growth string.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.mutation import Mutation
from pymoo.core.sampling import Sampling

from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.operators.canonical import restricted_growth

Row = NDArray[Any]


def inject(giver: Row, receiver: Row, groups: Row) -> Row:
    """Groups of one parent with all their attributes; the other attributes are grouped as in the other parent.

    Examples
    --------
    Group 1 (attributes 3 and 4) of the first parent goes into the second:

    >>> inject(np.array([0, 0, 1, 1, 0]), np.array([0, 1, 0, 1, 2]), np.array([1]))
    array([0, 1, 2, 2, 3])
    """
    given = np.isin(giver, groups)
    return restricted_growth(np.where(given, giver, len(giver) + receiver))


class RandomGroupings(Sampling):
    """One of n group numbers for every attribute, n being the number of attributes (Balasch-Masoliver 2010, §3.1)."""

    def _do(
        self, problem: Any, n_samples: int, *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        labels = random_state.integers(0, problem.n_var, size=(n_samples, problem.n_var))
        return restricted_growth(labels.astype(getattr(problem, "dtype", np.int16)))


class GroupCrossover(Crossover):
    """Two parents, two children: a section of one parent's groups is injected into the other.

    The section of each parent lies between two of its groups drawn with replacement, both included, so it has at
    least one group and may have all of them; then the child is a clone.

    Notes
    -----
    Balasch-Masoliver (2010), §3.4.1, after the crossover of Falkenauer's grouping genetic algorithm (1998).
    """

    def __init__(self, prob: float = 1.0) -> None:
        super().__init__(n_parents=2, n_offsprings=2, prob=prob)

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        parents = restricted_growth(X.reshape(-1, X.shape[2])).reshape(X.shape)
        n_groups = parents.max(axis=2) + 1
        ends = np.sort(random_state.integers(0, n_groups[:, :, None], size=(*n_groups.shape, 2)), axis=2)
        given = (parents >= ends[:, :, :1]) & (parents <= ends[:, :, 1:])
        # As in `inject`, for all matings at once: the first child of each takes from its first parent.
        children = np.where(given, parents, parents[::-1] + X.dtype.type(X.shape[2]))
        return restricted_growth(children.reshape(-1, X.shape[2])).reshape(X.shape)


class GroupingMutation(Mutation):
    """A mutation that works on one row at a time; the rows it is given are not changed."""

    def __init__(self, prob: float = 1.0) -> None:
        super().__init__(prob=prob)

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        children = restricted_growth(X)
        for row in children:
            self.vary(row, random_state)
        return restricted_growth(children)

    @abstractmethod
    def vary(self, row: Row, rng: np.random.Generator) -> None:
        """Change a canonical row in place; the labels need not stay canonical."""


class GroupCreate(GroupingMutation):
    """A new group takes random attributes, from one to all of them; the others stay as they were.

    The size is uniform, so that one step may reach the grouping of one group, as §3.4.2 says it can.
    """

    def vary(self, row: Row, rng: np.random.Generator) -> None:
        """Draw the size, then the attributes."""
        size = int(rng.integers(1, len(row), endpoint=True))
        row[rng.permutation(len(row))[:size]] = row.max() + 1


class GroupEliminate(GroupingMutation):
    """A random group dissolves: each of its attributes goes to a random one of the others. One group stays."""

    def vary(self, row: Row, rng: np.random.Generator) -> None:
        """Draw the group, then a new group for each attribute."""
        n_groups = int(row.max()) + 1
        if n_groups > 1:
            gone = int(rng.integers(n_groups))
            homeless = np.flatnonzero(row == gone)
            others = rng.integers(n_groups - 1, size=len(homeless))
            row[homeless] = others + (others >= gone)


class GroupSplit(GroupingMutation):
    """A random group becomes two of equal size, or of sizes that differ by one. A group of one attribute stays."""

    def vary(self, row: Row, rng: np.random.Generator) -> None:
        """Draw the group, then the half that leaves."""
        attributes = np.flatnonzero(row == rng.integers(row.max() + 1))
        row[rng.permutation(attributes)[: len(attributes) // 2]] = row.max() + 1


class ElementSwap(GroupingMutation):
    """Two random attributes change places; two of the same group give a clone."""

    def vary(self, row: Row, rng: np.random.Generator) -> None:
        """Draw two different attributes."""
        if len(row) > 1:
            one = int(rng.integers(len(row)))
            other = int(rng.integers(len(row) - 1))
            other += other >= one
            row[one], row[other] = row[other], row[one]


class ElementMove(GroupingMutation):
    """A random attribute goes to another existing group; a group it leaves empty is gone. One group stays."""

    def vary(self, row: Row, rng: np.random.Generator) -> None:
        """Draw the attribute, then its new group."""
        n_groups = int(row.max()) + 1
        if n_groups > 1:
            attribute = int(rng.integers(len(row)))
            group = int(rng.integers(n_groups - 1))
            row[attribute] = group + (group >= row[attribute])


MUTATIONS: dict[str, type[GroupingMutation]] = {
    "group_create": GroupCreate,
    "group_eliminate": GroupEliminate,
    "group_split": GroupSplit,
    "element_swap": ElementSwap,
    "element_move": ElementMove,
}
"""The five mutations of §3.4.2 by the names used in logs."""

FINE = {"group_create": 1, "group_eliminate": 2, "group_split": 1, "element_swap": 10, "element_move": 10}
"""Mostly single attributes: what reaches the most points of a front, where every point has its own neighbors."""


class AnyGroupingMutation(GroupingMutation):
    """One of the five mutations, drawn anew for each row: what algorithms with one mutation operator take.

    Parameters
    ----------
    prob
        Probability that a row is mutated at all.
    weights
        How often each mutation is drawn, relative to the others; those not named are not.
    """

    def __init__(self, prob: float = 1.0, *, weights: Mapping[str, float] = FINE) -> None:
        super().__init__(prob=prob)
        for name, weight in weights.items():
            if name not in MUTATIONS:
                known = ", ".join(MUTATIONS)
                raise SDCError(f"unknown mutation {name!r}{did_you_mean(name, MUTATIONS)} (known: {known})")
            if not 0 <= weight < np.inf:
                raise SDCError(f"weight of {name!r} must be a number ≥ 0, not {weight!r}")
        total = float(sum(weights.values()))
        if not total > 0:
            raise SDCError("all weights are 0: no mutation would ever be drawn")
        drawn = {name: weight for name, weight in weights.items() if weight > 0}
        self._all = [MUTATIONS[name]() for name in drawn]
        self._ends = np.cumsum(list(drawn.values())) / total

    def vary(self, row: Row, rng: np.random.Generator) -> None:
        """Draw the mutation, then let it vary the row."""
        drawn = int(np.searchsorted(self._ends[:-1], rng.random(), side="right"))
        self._all[drawn].vary(row, rng)

"""Operators for attribute groupings: random groupings, and the group crossover and five mutations of GOMM.

A row of X holds one group number per attribute. The group part of the chromosome in the paper is the list of these
numbers in order of first use, so it is not stored. After an operation, groups are renumbered as a restricted growth
string.
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
    """Inject groups of one parent, with all their attributes, into the other; the rest is grouped as in the other.

    Examples
    --------
    Group 1 (attributes 3 and 4) of the first parent goes into the second:

    >>> inject(np.array([0, 0, 1, 1, 0]), np.array([0, 1, 0, 1, 2]), np.array([1]))
    array([0, 1, 2, 2, 3])
    """
    given = np.isin(giver, groups)
    return restricted_growth(np.where(given, giver, len(giver) + receiver))


class RandomGroupings(Sampling):
    """Sampling that draws one of n group numbers for each of n attributes (Balasch-Masoliver 2010, §3.1)."""

    def _do(
        self, problem: Any, n_samples: int, *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        labels = random_state.integers(0, problem.n_var, size=(n_samples, problem.n_var))
        return restricted_growth(labels.astype(getattr(problem, "dtype", np.int16)))


class GroupCrossover(Crossover):
    """Crossover of two parents to two children: a section of the groups of one parent is injected into the other.

    The section of each parent lies between two of its groups, drawn with replacement, and includes both. So it has at
    least one group, and may have all of them, in which case the child is a clone.

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
        # Like `inject`, for all matings at once: the first child of each mating takes groups from its first parent.
        children = np.where(given, parents, parents[::-1] + X.dtype.type(X.shape[2]))
        return restricted_growth(children.reshape(-1, X.shape[2])).reshape(X.shape)


class GroupingMutation(Mutation):
    """Base class of mutations that vary one row at a time; the given rows are not changed."""

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
        """Change a canonical row in place; the result need not be canonical."""


class GroupCreate(GroupingMutation):
    """Mutation that moves random attributes, from one to all of them, to a new group; the others stay as they are.

    The size is uniform, so one step can reach the grouping with a single group, as §3.4.2 requires.
    """

    def vary(self, row: Row, rng: np.random.Generator) -> None:
        """Draw the size, then the attributes."""
        size = int(rng.integers(1, len(row), endpoint=True))
        row[rng.permutation(len(row))[:size]] = row.max() + 1


class GroupEliminate(GroupingMutation):
    """Mutation that dissolves a random group: each of its attributes joins a random other group, if there is any."""

    def vary(self, row: Row, rng: np.random.Generator) -> None:
        """Draw the group, then a new group for each attribute."""
        n_groups = int(row.max()) + 1
        if n_groups > 1:
            gone = int(rng.integers(n_groups))
            homeless = np.flatnonzero(row == gone)
            others = rng.integers(n_groups - 1, size=len(homeless))
            row[homeless] = others + (others >= gone)


class GroupSplit(GroupingMutation):
    """Mutation that splits a random group into halves whose sizes differ by at most one; a single attribute stays."""

    def vary(self, row: Row, rng: np.random.Generator) -> None:
        """Draw the group, then the half that leaves."""
        attributes = np.flatnonzero(row == rng.integers(row.max() + 1))
        row[rng.permutation(attributes)[: len(attributes) // 2]] = row.max() + 1


class ElementSwap(GroupingMutation):
    """Mutation that exchanges two random attributes; if they are in the same group, the result is a clone."""

    def vary(self, row: Row, rng: np.random.Generator) -> None:
        """Draw two different attributes."""
        if len(row) > 1:
            one = int(rng.integers(len(row)))
            other = int(rng.integers(len(row) - 1))
            other += other >= one
            row[one], row[other] = row[other], row[one]


class ElementMove(GroupingMutation):
    """Mutation that moves a random attribute to another existing group, if there is any; an empty group disappears."""

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
"""Five mutations of §3.4.2, by the names used in logs."""

FINE = {"group_create": 1, "group_eliminate": 2, "group_split": 1, "element_swap": 10, "element_move": 10}
"""Weights that mostly change single attributes: these find the most points of a front."""


class AnyGroupingMutation(GroupingMutation):
    """Mutation that draws one of the five mutations for each row, for algorithms with a single mutation operator.

    Parameters
    ----------
    prob
        Probability that a row is mutated at all.
    weights
        Relative frequency of each mutation; mutations that are not named are never drawn.
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

"""Portfolio of operators applied side by side, genealogy of their children, and their efficiency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.mutation import Mutation
from pymoo.core.population import Population

from sdc_problems.errors import SDCError


@dataclass(frozen=True)
class Share:
    """Share of one operator in a generation.

    Parameters
    ----------
    name
        Name in logs.
    operator
        A pymoo crossover or mutation.
    count
        Number of applications per generation; a crossover makes all its children each time.
    """

    name: str
    operator: Crossover | Mutation
    count: int

    @property
    def n_parents(self) -> int:
        """Number of parents of one application."""
        return self.operator.n_parents if isinstance(self.operator, Crossover) else 1


class Portfolio:
    """Operators with fixed counts per generation; an operator whose children are always discarded is retired.

    Parameters
    ----------
    shares
        Operators, in the order in which they are applied.
    patience
        An operator whose children are all discarded in this many successive generations is no longer applied
        (the rule of D-GOMM, Balasch-Masoliver 2010, §3.5, with 5); by default, no operator is retired.

    Examples
    --------
    >>> from sdc_problems.operators.grouping import GroupSplit
    >>> portfolio = Portfolio([Share("group_split", GroupSplit(), 10)], patience=2)
    >>> portfolio.observe({"group_split": 0}), portfolio.observe({"group_split": 0})
    ((), ('group_split',))
    >>> portfolio.active
    ()
    """

    def __init__(self, shares: Sequence[Share], *, patience: int | None = None) -> None:
        if not shares:
            raise SDCError("a portfolio needs at least one operator")
        names = [share.name for share in shares]
        if len(set(names)) < len(names):
            raise SDCError(f"an operator is named twice in {tuple(names)}")
        for share in shares:
            if share.count < 0:
                raise SDCError(f"operator {share.name!r}: count must be ≥ 0, not {share.count}")
        if patience is not None and patience < 1:
            raise SDCError(f"patience must be ≥ 1, not {patience}")
        self.shares = tuple(shares)
        self.patience = patience
        self._useless = dict.fromkeys(names, 0)
        self._retired: set[str] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all operators, including retired ones."""
        return tuple(share.name for share in self.shares)

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the operators that make the next generation."""
        return tuple(share.name for share in self.shares if share.name not in self._retired and share.count)

    @property
    def width(self) -> int:
        """Largest number of parents of a child."""
        return max(share.n_parents for share in self.shares)

    def breed(self, problem: Any, pop: Population, *, random_state: np.random.Generator) -> Population:
        """Make the children of one generation, not yet evaluated, from parents drawn at random.

        Each child has ``sdc_operator``, the position of its operator in ``names``, and ``sdc_parents``, the positions
        of its parents in ``pop`` (padded with -1 to ``width``).
        """
        X = pop.get("X")
        children = []
        for position, share in enumerate(self.shares):
            if share.name not in self.active:
                continue
            if share.n_parents > len(pop):
                raise SDCError(f"operator {share.name!r} needs {share.n_parents} parents; there are {len(pop)}")
            chosen = np.stack(
                [random_state.choice(len(pop), size=share.n_parents, replace=False) for _ in range(share.count)]
            )
            if isinstance(share.operator, Crossover):
                made = share.operator(problem, pop, chosen, random_state=random_state)
                # pymoo orders children child by child: the first children of all matings, then the second ones.
                parents = np.tile(chosen, (share.operator.n_offsprings, 1))
            else:
                made = share.operator(problem, Population.new("X", X[chosen[:, 0]]), random_state=random_state)
                parents = chosen
            padded = np.full((len(made), self.width), -1, dtype=np.int64)
            padded[:, : parents.shape[1]] = parents
            made.set("sdc_operator", np.full(len(made), position), "sdc_parents", padded)
            children.append(made)
        return Population.merge(Population(), *children) if children else Population()

    def observe(self, survived: Mapping[str, int]) -> tuple[str, ...]:
        """Record how many children of each operator entered the population; returns the operators retired now."""
        leaving = []
        for name in self.active:
            self._useless[name] = 0 if survived.get(name, 0) else self._useless[name] + 1
            if self.patience is not None and self._useless[name] >= self.patience:
                leaving.append(name)
        self._retired.update(leaving)
        return tuple(leaving)


class Genealogy:
    """Genealogy of a run: birth, operator, parents, costs and discarding of every individual.

    Individuals are numbered in the order of their birth; columns are arrays over these numbers. The first
    population has no operator (-1) and no parents.

    Parameters
    ----------
    width
        Largest number of parents.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._pieces: dict[str, list[NDArray[Any]]] = {}
        self._size = 0
        self._used: set[int] = set()
        self._died: dict[int, int] = {}

    def __len__(self) -> int:
        return self._size

    def born(
        self,
        generation: int,
        F: NDArray[np.float64],
        *,
        operator: NDArray[np.int64] | None = None,
        parents: NDArray[np.int64] | None = None,
        clone: NDArray[np.bool_] | None = None,
        evaluated: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.int64]:
        """Add individuals and return their numbers; their parents (numbers, padded with -1) count as used."""
        n = len(F)
        if parents is None:
            parents = np.full((n, self._width), -1, dtype=np.int64)
        piece = {
            "generation": np.full(n, generation),
            "operator": np.full(n, -1) if operator is None else np.asarray(operator, dtype=np.int64),
            "parents": parents,
            "F": np.array(F, dtype=float),
            "clone": np.zeros(n, dtype=bool) if clone is None else clone.copy(),
            "evaluated": np.ones(n, dtype=bool) if evaluated is None else evaluated.copy(),
        }
        for name, values in piece.items():
            self._pieces.setdefault(name, []).append(values)
        self._used.update(parents[parents >= 0].tolist())
        self._size += n
        return np.arange(self._size - n, self._size)

    def discarded(self, numbers: NDArray[np.int64], generation: int) -> None:
        """Record the generation whose selection discarded these individuals."""
        self._died.update(dict.fromkeys(np.asarray(numbers).tolist(), generation))

    def table(self, generation: int) -> dict[str, NDArray[Any]]:
        """All columns, as of the end of a generation.

        ``lifetime`` is the number of generations that an individual survived after its own, up to this generation for
        those still alive. ``survived`` is whether it entered the population at all.
        """
        out = {name: np.concatenate(pieces) for name, pieces in self._pieces.items()}
        end = np.full(self._size, generation)
        out["survived"] = np.ones(self._size, dtype=bool)
        if self._died:
            gone = np.fromiter(self._died, dtype=np.int64)
            end[gone] = np.fromiter(self._died.values(), dtype=np.int64)
            out["survived"][gone] = end[gone] > out["generation"][gone]
        out["lifetime"] = end - out["generation"]
        used = np.zeros(self._size, dtype=bool)
        used[list(self._used)] = True
        out["used"] = used
        return out


def efficiency(child: NDArray[np.float64], parents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Efficiency: percentage by which children are better (positive) or worse (negative) than their parents' mean.

    Parameters
    ----------
    child
        Costs of the children, one row each; any number of costs to be minimized.
    parents
        Costs of the parents: children × parents × costs; NaN where a child has fewer parents.

    Notes
    -----
    With r the cost of the child divided by the mean cost of its parents: (1 − r)·100 if r ≤ 1, else (1/r − 1)·100
    (Balasch-Masoliver 2010, Eq. 4.2 and 4.3). Eq. 4.1, for mutations, is printed without the difference from 1, by
    which a clone would be 100 % better than itself. With several costs, the result is the mean over them. Equal costs
    give 0, even if both are 0.

    Examples
    --------
    >>> efficiency(np.array([[9.0], [20.0]]), np.array([[[8.0], [12.0]], [[10.0], [np.nan]]]))
    array([ 10., -50.])
    """
    reference = np.nanmean(parents, axis=1)
    low, high = np.minimum(child, reference), np.maximum(child, reference)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(high == low, 0.0, 1.0 - low / high)
    return np.asarray((100.0 * np.where(child <= reference, gap, -gap)).mean(axis=1))

"""Optimum of the lattice: of all generalizations that meet a demand, the one that loses least."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.coded import CodedColumns
from sdc_problems._tables.columns import STAR
from sdc_problems._validation import whole
from sdc_problems.algorithms.generalization._node_cost import NodeCost
from sdc_problems.errors import SDCError
from sdc_problems.hierarchy import Hierarchy
from sdc_problems.methods._importance import checked_price, weights_of
from sdc_problems.methods.recoding._generalize import MAX_SUPPRESSION, Recoded
from sdc_problems.microdata import Microdata
from sdc_problems.problems.generalization import PBGProblem

SIDES = {"k": 1.0, "l": 1.0, "entropy_l": 0.05, "t": 0.01, "suppressed": 1.0, "glm_percent": 0.01}
"""Sides of the archive's boxes in a search of the lattice."""


def lattice_optimum(
    data: Microdata,
    hierarchies: Mapping[str, Hierarchy],
    k: int,
    *,
    l: int | None = None,
    entropy_l: float | None = None,
    t: float | None = None,
    max_suppression: float | None = None,
    importance: Mapping[str, float] | None = None,
    suppression_price: float | None = None,
    limit: int = 1_000_000,
    evaluations: int | None = None,
    rng: np.random.Generator | None = None,
) -> Recoded:
    """Generalize the quasi-identifiers to the levels that lose least (GLM) among all that are k-anonymous.

    Parameters
    ----------
    data
        The table.
    hierarchies
        A hierarchy for each quasi-identifier, by name.
    k
        Smallest class: 2 … n.
    l, entropy_l, t
        Demand on the sensitive columns in each class: smallest number of different values, smallest entropy ℓ, largest
        t-closeness.
    max_suppression
        Largest number of records that may be suppressed: a share in [0, 1), or a whole number. By default 1 %; with a
        price, as many as are worth it.
    importance
        Weight of a lost cell of each column; 1 by default.
    suppression_price
        Cost of a suppressed record, relative to one that loses everything; 1 by default.
    limit
        Largest number of nodes to measure.
    evaluations
        Number of nodes that a search measures, if all of them would take too long; by default all are measured.
    rng
        Source of the search's random numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> data = Microdata.from_frame(pd.DataFrame({"age": [21, 22, 27, 28, 34, 35]}), quasi_identifiers=["age"])
    >>> done = lattice_optimum(data, {"age": Hierarchy.intervals(range(20, 40), [5, 10])}, 2, max_suppression=0)
    >>> done.columns["age"].tolist()
    ['20-29', '20-29', '20-29', '20-29', '30-39', '30-39']
    """
    lattice = DemandedLattice(
        data, hierarchies, k, l=l, entropy_l=entropy_l, t=t, max_suppression=max_suppression, importance=importance,
        suppression_price=suppression_price,
    )  # fmt: skip
    if evaluations is None:
        return lattice.recoded(lattice.best_of_all(limit=limit))
    if rng is None:
        raise SDCError("a search of the lattice needs rng, such as numpy.random.default_rng(1)")
    return lattice.recoded(lattice.search(rng, evaluations=whole(evaluations, "evaluations", least=2))[0])


class DemandedLattice:
    """Lattice of generalizations with a demand, and its best node: of all nodes, or of those that a search finds.

    Parameters
    ----------
    data, hierarchies, k, l, entropy_l, t, max_suppression, importance, suppression_price
        As for `lattice_optimum`.
    """

    def __init__(
        self,
        data: Microdata,
        hierarchies: Mapping[str, Hierarchy],
        k: int,
        *,
        l: int | None = None,
        entropy_l: float | None = None,
        t: float | None = None,
        max_suppression: float | None = None,
        importance: Mapping[str, float] | None = None,
        suppression_price: float | None = None,
    ) -> None:
        self.demand = {"k": float(whole(k, "k", least=2))}
        asked = {"l": l, "entropy_l": entropy_l, "t": t}
        of_sensitive = {name: float(value) for name, value in asked.items() if value is not None}
        if of_sensitive and not data.sensitive:
            raise SDCError(f"{' and '.join(of_sensitive)} concerns sensitive values: name the sensitive columns")
        self.demand |= of_sensitive
        weights = weights_of(data.quasi_identifiers, importance)
        price = 1.0 if suppression_price is None else checked_price(suppression_price)
        plain = price == 1 and bool((weights == weights[0]).all())
        if max_suppression is None:
            max_suppression = MAX_SUPPRESSION if suppression_price is None else len(data) - 1
        self.problem = PBGProblem(
            data,
            {name: h for name, h in hierarchies.items() if name in data.quasi_identifiers},
            objectives=("k", *of_sensitive, *(() if plain else ("suppressed",)), "glm_percent"),
            sensitive=data.sensitive if of_sensitive else None,
            max_suppression=max_suppression,
        )
        self.cost = None if plain else NodeCost(self.problem, weights, price)

    def best_of_all(self, *, limit: int = 1_000_000) -> NDArray[Any]:
        """Best of all nodes, with its threshold."""
        if self.cost is None:
            front = self.problem.enumerate_front(limit=limit)
            best, most = self._best(front.X, front.F), self.problem.natural(front.F)[:, 0].max()
        else:
            largest = [0.0]

            def met() -> Iterator[tuple[NDArray[Any], NDArray[np.float64]]]:
                for X, F, _ in self.problem.enumerate_parts(limit=limit):
                    largest.append(float(self.problem.natural(F)[:, 0].max(initial=0)))
                    yield self._met(X, F)

            best = self.cost.cheapest(met())
            most = max(largest)
        if best is None:
            text = ", ".join(f"{name} = {value:g}" for name, value in self.demand.items())
            raise SDCError(
                f"no generalization has {text} with at most {self.problem.max_suppressed:,} records suppressed; the"
                f" largest k is {most:.0f}: allow more suppression, or end each hierarchy in one label"
            )
        return best

    def search(
        self, rng: np.random.Generator, *, evaluations: int | None = None, seconds: float | None = None
    ) -> tuple[NDArray[Any], int]:
        """Best node that a search finds, and the number of nodes that it measured.

        Parameters
        ----------
        rng
            Source of its random numbers.
        evaluations, seconds
            Limit of the number of nodes, or of time.
        """
        from sdc_problems.algorithms.generalization.pbg_search import PBGSearch

        sides = [SIDES[objective.name] for objective in self.problem.objectives]
        search = PBGSearch(max_evaluations=evaluations or self.problem.n_nodes, epsilon=sides)
        search.setup(self.problem, seed=int(rng.integers(2**31)))
        end = np.inf if seconds is None else time.monotonic() + seconds
        while search.has_next() and time.monotonic() < end:
            search.next()
        best = self._best(search.archive.X, search.archive.F)
        if best is None:
            raise SDCError("the search found no generalization that meets the demand: give it more time")
        return best, search.n_nodes

    def _best(self, X: NDArray[Any], F: NDArray[np.float64]) -> NDArray[Any] | None:
        rows, values = self._met(X, F)
        if self.cost is not None:
            return self.cost.cheapest([(rows, values)])
        return None if not len(rows) else rows[np.argmin(values[:, -1])]

    def _met(self, X: NDArray[Any], F: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Rows that meet the demand, and their measures."""
        if not len(X):
            return X, F
        values = self.problem.natural(F)
        enough = np.ones(len(X), dtype=np.bool_)
        for j, objective in enumerate(self.problem.objectives):
            if objective.name not in self.demand:
                continue
            wanted = self.demand[objective.name]
            below = objective.sense == "min"
            enough &= values[:, j] <= wanted + 1e-9 if below else values[:, j] >= wanted - 1e-9
        return X[enough], values[enough]

    def recoded(self, x: NDArray[Any]) -> Recoded:
        """The table generalized to a node."""
        frame = self.problem.coded_release(x, suppressed="star")
        levels = self.problem.decode(x).levels
        starred = np.ones(len(frame), dtype=np.bool_)
        for name in self.problem.attributes:
            starred &= (frame[name] == STAR).to_numpy()
        suppressed = starred if not starred.all() else np.zeros(len(starred), dtype=np.bool_)
        columns = {name: frame[name].array for name in self.problem.attributes if levels[name]}
        return Recoded(CodedColumns(columns), self.problem.describe(x), suppressed)

"""Search for clusters of nodes by moves whose effect is computed exactly."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sdc_problems._slices import watched
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.node_clusters._moves import TERMS, State, anneal, fill, new_state, terms
from sdc_problems.evaluators.node_clusters.engine import NodeClusterEngine

_MOVE = 1000  # elementary steps of a proposal, including its consequences
FOLLOWED = ("il_graph", *TERMS)


class NodeClusterSearch:
    """Annealing of one clustering that minimizes a weighted sum of measures.

    Parameters
    ----------
    engine
        Engine of the graph.
    weights
        Weight of each measure: ``il_graph``, ``aamil``, ``cdil``, ``dbil_graph``, ``nsil`` or ``dr_degree``.
    least, largest
        Smallest and largest size of a cluster.

    Attributes
    ----------
    best
        Best clustering so far; labels are not in order of first use.
    best_cost
        Its weighted sum.

    Examples
    --------
    >>> from sdc_problems.evaluators.graph._links import arcs
    >>> from sdc_problems.evaluators.node_clusters import Column
    >>> columns = [Column(np.array([0, 1, 0, 1], dtype=np.int32), 2)]
    >>> engine = NodeClusterEngine(columns, arcs([[0, 1], [1, 2], [2, 3]], 4))
    >>> search = NodeClusterSearch(engine, {"il_graph": 1.0}, least=2, largest=3)
    >>> search.start(np.array([0, 0, 1, 1]))
    >>> search.anneal(100, hot=0.1, cold=0.001, seed=1)
    >>> search.best_cost, bool(search.best[0] == search.best[2])
    (0.0, True)
    """

    def __init__(self, engine: NodeClusterEngine, weights: Mapping[str, float], *, least: int, largest: int) -> None:
        self.engine = engine
        self.least, self.largest = least, largest
        self.weights = np.zeros(len(TERMS))
        for name, weight in weights.items():
            if name not in FOLLOWED:
                raise SDCError(f"moves do not follow {name!r}: choose from {', '.join(FOLLOWED)}")
            if name == "il_graph":
                self.weights[:3] += weight / 3.0
            else:
                self.weights[TERMS.index(name)] += weight
        self._on = self.weights != 0.0
        self._state: State | None = None
        self.best = np.zeros(engine.n, dtype=np.int64)
        self.best_cost = np.inf

    def start(self, labels: NDArray[np.integer]) -> None:
        """Start from a clustering."""
        self._fill(labels)
        if self.cost < self.best_cost:
            self.best[:], self.best_cost = labels, self.cost

    def settle(self) -> None:
        """Recompute the sums of the current clustering, as at the start of a search.

        What follows then depends only on the clustering, not on the moves that led to it or their rounding.
        """
        self._fill(self.labels)

    def _fill(self, labels: NDArray[np.integer]) -> None:
        engine = self.engine
        rooms = max(engine.n // self.least, int(labels.max()) + 1)
        self._state = new_state(engine.table, engine.links, n_clusters=rooms, largest=self.largest)
        fill(engine.table, engine.links, self._state, self._on, labels.astype(np.int64))

    @property
    def labels(self) -> NDArray[np.int64]:
        """Current clustering; labels are not in order of first use."""
        assert self._state is not None, "start first"
        return self._state.labels.copy()

    @property
    def cost(self) -> float:
        """Weighted sum of the current clustering."""
        assert self._state is not None, "start first"
        found = terms(self.engine.table, self.engine.links, self._state)
        return float(found[self._on] @ self.weights[self._on])

    def anneal(self, moves: int, *, hot: float, cold: float, seed: int) -> None:
        """Propose moves while the temperature falls; at 0, only moves that do not increase the cost are kept.

        Parameters
        ----------
        moves
            Number of proposals.
        hot, cold
            First and last temperature, in units of the weighted sum.
        seed
            Seed of the random numbers.
        """
        assert self._state is not None, "start first"
        engine, found = self.engine, np.empty(self.engine.n, dtype=np.int64)
        before = engine.table, engine.links, self._state, self.weights, engine.neighbours, self.least, hot, cold, moves
        lowest = watched(
            lambda flag: anneal(*before, np.uint64(seed), found, flag), "moves proposed", steps=_MOVE * moves
        )
        cost = lowest + self._constant
        if cost < self.best_cost - 1e-12:
            self.best[:], self.best_cost = found, cost

    @property
    def _constant(self) -> float:
        """Part of the weighted sum that moves do not change."""
        if not self._on[TERMS.index("nsil")]:
            return 0.0
        links, n = self.engine.links, self.engine.n
        half = 1.0 if links.directed else 2.0
        return float(self.weights[TERMS.index("nsil")] * (2.0 * len(links.out) / half) / (n * (n - 1) / (2.0 * half)))

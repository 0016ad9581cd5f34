"""Cost of a node of the lattice with weights of columns or a price of a suppressed record; the cheapest node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.problems.generalization import PBGProblem

SLACK = 1e-12  # for sums in another order


class NodeCost:
    """Cost of nodes: the weighted share of detail that is lost, plus a price for each suppressed record.

    It is measured exactly only where bounds leave it open: the cost of a node without suppression is a sum over
    columns and levels, and the number of suppressed records comes from the engine.

    Parameters
    ----------
    problem
        The lattice; the last of its objectives are "suppressed" and "glm_percent".
    weights
        Weights of the columns.
    price
        Cost of a suppressed record, relative to one that loses everything.
    """

    def __init__(self, problem: PBGProblem, weights: NDArray[np.float64], price: float) -> None:
        self.problem, self.price = problem, price
        self.weights = weights / weights.sum()
        self._even = bool((weights == weights[0]).all())
        self._shares: list[NDArray[np.float64]] = []
        self._codes = codes = problem.data.codes(problem.attributes)
        for name, hierarchy in problem.hierarchies.items():
            table = hierarchy.table(problem.data.categories(name), attribute=name)
            total = max(hierarchy.n_values - 1, 1)
            under = [(np.asarray(hierarchy.leaves(level)) - 1) / total for level in range(hierarchy.n_levels)]
            self._shares.append(np.array([share[row] for share, row in zip(under, table, strict=True)]))
        self._means = [share[:, codes[:, j]].mean(axis=1) for j, share in enumerate(self._shares)]

    def exact(self, x: NDArray[Any]) -> float:
        """Cost of a row."""
        _, lost = self.problem._generalized(x)
        kept = self._codes[~lost]
        detail = sum(
            weight * share[x[j]][kept[:, j]].sum()
            for j, (weight, share) in enumerate(zip(self.weights, self._shares, strict=True))
        )
        return float(detail / len(lost) + self.price * lost.mean())

    def bounds(self, X: NDArray[Any], values: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Lower and upper bounds of the costs of rows, from their measures."""
        suppressed = values[:, -2] / len(self._codes)
        if self._even:
            cost = values[:, -1] / 100 + (self.price - 1) * suppressed
            return cost, cost
        whole, least, most = np.zeros(len(X)), np.zeros(len(X)), np.zeros(len(X))
        for j, (weight, mean, share) in enumerate(zip(self.weights, self._means, self._shares, strict=True)):
            occurring = share[:, np.unique(self._codes[:, j])]
            whole += weight * mean[X[:, j]]
            least += weight * occurring.min(axis=1)[X[:, j]]
            most += weight * occurring.max(axis=1)[X[:, j]]
        return whole + suppressed * (self.price - most), whole + suppressed * (self.price - least)

    def cheapest(self, parts: Iterable[tuple[NDArray[Any], NDArray[np.float64]]]) -> NDArray[Any] | None:
        """The row that costs least (the first if tied); None if there is none.

        Parameters
        ----------
        parts
            Rows with their measures.
        """
        ceiling, near = np.inf, []
        for X, values in parts:
            if len(X):
                low, high = self.bounds(X, values)
                ceiling = min(ceiling, float(high.min()) + SLACK)
                there = low <= ceiling
                near.append((X[there], low[there], high[there]))
        if not near:
            return None
        X, low, high = (np.concatenate(column) for column in zip(*near, strict=True))
        best, cost = None, np.inf
        for i in np.argsort(low, kind="stable"):
            if low[i] > min(ceiling, cost):
                break
            own = float(low[i]) if high[i] == low[i] else self.exact(X[i])
            if own < cost - SLACK:
                best, cost = X[i], own
        return best

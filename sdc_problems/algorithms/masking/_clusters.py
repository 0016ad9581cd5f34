"""Searches in the clusters of a large file, as rows that any backend can measure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.problem import Problem
from pymoo.optimize import minimize

from sdc_problems._sharing.arrays import SharedArrays
from sdc_problems.algorithms.masking.cell_search import CellSearch


def divided(labels: NDArray[Any], largest: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Labels of parts of clusters, in the order of the clusters: larger ones are cut at random into equal parts.

    Examples
    --------
    >>> parts = divided(np.array([0] * 5 + [1] * 2), 2, np.random.default_rng(1))
    >>> np.bincount(parts).tolist(), parts[5:].tolist()
    ([2, 2, 1, 2], [3, 3])
    """
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]  # by cluster, and random within each
    sizes = np.bincount(labels)
    parts = np.maximum(-(-sizes // largest), 1)
    begin, first = np.cumsum(sizes) - sizes, np.cumsum(parts) - parts
    cluster = labels[order]
    place = np.arange(len(labels)) - begin[cluster]
    found = np.empty(len(labels), dtype=np.int32)
    found[order] = first[cluster] + place * parts[cluster] // sizes[cluster]
    return found


class ClusterSearches(Problem):
    """Problem whose rows of X name a cluster, and whose ``F`` is the result of a search in it.

    ``F`` holds the protected cells of the cluster's records, the files for the aims one after the other, as codes of
    the whole problem; shorter clusters are padded with -1. So workers, Dask, lost processes and the order of results
    are handled as in any other measurement.

    Parameters
    ----------
    problem
        The masking problem of the whole file.
    labels
        Cluster of each record, 0, 1, …
    entropy
        Whole number from which the random numbers of all clusters are made; each cluster has its own.
    aims
        Number of files that a search of one cluster returns.
    moves
        Number of changes to try, in all clusters together.
    weights
        Weights, as for `CellSearch`.
    """

    def __init__(
        self,
        problem: Any,
        labels: NDArray[np.int32],
        *,
        entropy: int,
        aims: int,
        moves: int,
        weights: tuple[float, ...] | None,
    ) -> None:
        self.whole = problem
        self.shared = SharedArrays({"labels": labels})
        self.entropy = entropy
        self.aims = aims
        self.moves = moves
        self.weights = weights
        largest = int(np.bincount(labels).max())
        last = int(labels.max())
        super().__init__(n_var=1, n_obj=aims * largest * len(problem.free), xl=0, xu=last, vtype=int)

    def records(self, cluster: int) -> NDArray[np.intp]:
        """Records of a cluster."""
        return np.flatnonzero(self.shared["labels"] == cluster)

    def files(self, cluster: int, row: NDArray[np.float64]) -> NDArray[np.int64]:
        """Cells found in a cluster: aims × records × columns."""
        shape = self.aims, len(self.records(cluster)), len(self.whole.free)
        return row[: int(np.prod(shape))].astype(np.int64).reshape(shape)

    def _evaluate(self, x: NDArray[Any], out: dict[str, Any], *args: object, **kwargs: object) -> None:
        out["F"] = np.full((len(x), self.n_obj), -1.0)
        for row, cluster in zip(out["F"], np.asarray(x)[:, 0].astype(int), strict=True):
            found = self._search(int(cluster)).ravel()
            row[: len(found)] = found

    def _search(self, cluster: int) -> NDArray[Any]:
        """Rows of X of the cluster's own problem, one for each aim."""
        records = self.records(cluster)
        part = self.whole.part(records)
        moves = max(1, round(self.moves * len(records) / len(self.whole.data)))
        seed = int(np.random.SeedSequence([self.entropy, cluster]).generate_state(1)[0])
        found: NDArray[Any] = minimize(
            part, CellSearch(move_limit=moves, weights=self.weights, threads=1), seed=seed
        ).pop.get("X")
        return found

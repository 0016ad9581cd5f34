"""c-median: clusters of records around medians, for numbers and categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import Progress
from sdc_problems._validation import domain_sizes, table, whole
from sdc_problems.errors import SDCError
from sdc_problems.methods._kernels import c_median as kernels
from sdc_problems.methods.partition._attributes import attributes

ROUNDS = 200
"""Rounds after which medians of categories that cycle are stopped."""

_WHOLE = 2.0**53


class Clusters(NamedTuple):
    """Result of `c_median`.

    Attributes
    ----------
    labels
        Cluster of each record, 0, 1, …
    centroids
        Clusters × attributes.
    cost
        Sum of the distances of all records to their centroids.
    rounds
        Rounds that the best start took.
    start
        Initial centroids of the best start; one of them may since have lost all its records.
    """

    labels: NDArray[np.int32]
    centroids: NDArray[np.float64]
    cost: float
    rounds: int
    start: NDArray[np.float64]


class Rows:
    """Distinct records of a table, in order of first use, with the scale of their distances.

    Parameters
    ----------
    X
        Records × attributes.
    kinds
        "numeric", "ordinal" or "nominal" for each attribute.
    n_categories
        Domain sizes of ordinal and nominal attributes; by default, the largest code plus one.
    """

    def __init__(self, X: object, *, kinds: Sequence[str] | None, n_categories: object = None) -> None:
        values, self.kinds, sizes = attributes(X, kinds=kinds, standardize=False)
        categorical = self.kinds != kernels.NUMERIC
        if n_categories is not None:
            codes = np.where(categorical, values, 0.0).astype(np.int64)
            sizes = np.where(categorical, domain_sizes(n_categories, codes), 1)
        self.values, self.sizes = values, sizes.astype(np.int64)
        # Whole numbers per step, so that ties are exact; numbers are measured in standard deviations.
        common = math.lcm(*(int(size) for size in self.sizes[self.kinds == kernels.ORDINAL]))
        fits = categorical.all() and common * 2.0 * len(values) * len(categorical) < _WHOLE
        self.scale = float(common) if fits else 1.0
        step = np.where(self.kinds == kernels.ORDINAL, self.scale / self.sizes, self.scale)
        self.unit = np.where(categorical, step, _inverse_deviation(values))
        first, self.of_record = _first_use(values)
        self.first = first
        self.rows = np.ascontiguousarray(values[first])
        self.records = np.bincount(self.of_record)
        self.order = np.argsort(self.rows.T, axis=1, kind="stable")
        self.widest = int(self.sizes[categorical].max(initial=1))

    def __len__(self) -> int:
        return len(self.rows)

    def start(self, first: int, clusters: int) -> NDArray[np.float64]:
        """Initial centroids that are far apart, beginning with a given row (Kennard and Stone 1969)."""
        chosen = np.zeros(min(clusters, len(self)), dtype=np.int64)
        found = kernels.far_apart(self.rows, self.kinds, self.unit, first, chosen)
        return self.rows[chosen[:found]]

    def settle(self, start: NDArray[np.float64]) -> tuple[float, NDArray[np.int64], NDArray[np.float64], int]:
        """Final cost, label of each row and centroids of a start, and the number of rounds.

        If the centroids stop changing, the last round is used, else the cheapest: medians need not lower the cost,
        because the first step between categories costs more than the next.
        """
        centroids = np.array(start, dtype=np.float64)
        best = np.inf, np.zeros(len(self), dtype=np.int64), centroids
        for rounds in range(1, ROUNDS + 1):
            labels = np.empty(len(self), dtype=np.int64)
            cost = kernels.assign(self.rows, self.records, centroids, self.kinds, self.unit, labels)
            if cost < best[0]:
                best = cost, labels, centroids.copy()
            if not kernels.move_centroids(
                self.rows, self.records, self.order, self.kinds, self.widest, labels, centroids
            ):
                return cost, labels, centroids, rounds
        return (*best, ROUNDS)


def _first_use(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First record of each distinct row, in order, and index of the row of each record."""
    order = np.lexsort(values.T[::-1])
    ordered = values[order]
    new = np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)]
    first = order[new]  # lexsort is stable: this is the first record of each run of equal ones
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    of_record = np.empty(len(values), dtype=np.int64)
    of_record[order] = rank[np.cumsum(new) - 1]
    return np.sort(first), of_record


def _inverse_deviation(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Reciprocal standard deviation of each column; 0 for a constant column."""
    width = values.max(axis=0) / 2 - values.min(axis=0) / 2  # halved, so that the largest floats stay finite
    scale = np.where(width > 0, width, 1.0)
    spread = (values / scale).std(axis=0)
    return np.where(width > 0, 1.0 / np.where(width > 0, spread, 1.0), 0.0) / scale


def c_median(
    X: object,
    clusters: int,
    *,
    kinds: Sequence[str] | None = None,
    n_categories: object = None,
    start: object = None,
    restarts: int | Literal["all"] = 20,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Clusters:
    """Cluster records around medians (c-median), with the best of several starts.

    Each start chooses a random record, then repeatedly the record that is farthest from its nearest chosen record.
    Then records are assigned to their nearest centroid, and centroids move to the median of their records, until none
    changes.

    Parameters
    ----------
    X
        Records × attributes. Ordinal and nominal attributes hold codes 0, 1, …
    clusters
        Largest number of clusters: there are at most as many as distinct records, and a cluster may lose all records.
    kinds
        "numeric", "ordinal" or "nominal" for each attribute; by default, all are numeric.
    n_categories
        Domain sizes of ordinal and nominal attributes; by default, the largest code plus one.
    start
        Initial centroids (clusters × attributes), instead of random starts.
    restarts
        Number of starts; "all" starts once from each distinct record, without random numbers.
    rng
        Source of the random first records.
    progress
        Called as ``progress(starts done, starts)``.

    Returns
    -------
    Clusters
        Labels, centroids, cost, rounds and initial centroids of the cheapest start.

    Notes
    -----
    Marés (2013), Algorithms 10 and 11; starts after Kennard and Stone (1969). The distance to a centroid is the sum
    over attributes of |a − b| in standard deviations for numbers, (|a − b| + 1)/|D| for unequal ordinal categories
    (Eq. 2.6) and 1 for unequal nominal ones (Eq. 2.7). A centroid is the lower median or the most frequent category.
    Ties of distances go to the lower label, ties of costs to the first start. Medians of categories may cycle; after
    200 rounds, the cheapest is kept. Only distinct records are processed: O(distinct · clusters · attributes) per
    round.

    Examples
    --------
    >>> found = c_median([[0, 0], [0, 1], [1, 0], [3, 3], [3, 2], [2, 3]], 2, kinds=["ordinal"] * 2, restarts="all")
    >>> found.labels, found.cost
    (array([0, 0, 0, 1, 1, 1], dtype=int32), 2.0)
    """
    rows = Rows(X, kinds=kinds, n_categories=n_categories)
    wanted = whole(clusters, "clusters", least=1)
    if start is not None:
        first = table(start, "start")
        if first.shape != (wanted, rows.rows.shape[1]):
            raise SDCError(f"start must hold {wanted} × {rows.rows.shape[1]} values, not shape {first.shape}")
        return _clusters(rows, first)
    return best_start(rows, wanted, restarts=restarts, rng=rng, progress=progress)


def best_start(
    rows: Rows,
    clusters: int,
    *,
    restarts: int | Literal["all"],
    rng: np.random.Generator | None,
    progress: Progress | None = None,
) -> Clusters:
    """Cheapest clustering of several starts; arguments as for `c_median`."""
    firsts = _first_rows(rows, restarts, rng)
    best, chosen = np.inf, rows.rows[:1]
    for done, first in enumerate(firsts):
        if progress is not None:
            progress(done, len(firsts))
        begun = rows.start(int(first), clusters)
        cost = rows.settle(begun)[0]
        if cost < best:
            best, chosen = cost, begun
    if progress is not None:
        progress(len(firsts), len(firsts))
    return _clusters(rows, chosen)


def _first_rows(rows: Rows, restarts: object, rng: np.random.Generator | None) -> NDArray[np.int64]:
    if isinstance(restarts, str):
        if restarts != "all":
            raise SDCError(f"restarts must be a number or 'all', not {restarts!r}")
        return np.arange(len(rows))
    wanted = whole(restarts, "restarts", least=1)
    if rng is None:
        raise SDCError('restarts are drawn: give rng=, or restarts="all" for each distinct record once')
    drawn = rows.of_record[rng.integers(len(rows.of_record), size=wanted)]
    return drawn[np.sort(np.unique(drawn, return_index=True)[1])]  # equal starts give equal results


def _clusters(rows: Rows, start: NDArray[np.float64]) -> Clusters:
    """Result of one start, without clusters that have no records."""
    cost, labels, centroids, rounds = rows.settle(start)
    used, dense = np.unique(labels, return_inverse=True)
    return Clusters(dense[rows.of_record].astype(np.int32), centroids[used], cost / rows.scale, rounds, start)

"""Protection after clustering: each cluster of records is protected on its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import Progress
from sdc_problems._validation import choice, whole
from sdc_problems.errors import SDCError
from sdc_problems.methods._kernels import c_median as kernels
from sdc_problems.methods._kernels.mdav import mdav_kernel, mixed_mdav_kernel
from sdc_problems.methods.partition._attributes import KINDS, attributes
from sdc_problems.methods.partition._c_median import Rows, best_start
from sdc_problems.methods.partition._centroids import microaggregate
from sdc_problems.methods.recoding._mondrian import partition, release

METHODS = ("mdav", "global_median")
MERGES = ("smallest", "nearest")


class Preclustered(NamedTuple):
    """Result of `precluster`.

    Attributes
    ----------
    values
        Protected table, records × attributes.
    clusters
        Cluster of each record, after small ones were joined.
    groups
        Group of each record; the members of a group look alike. Groups are numbered cluster by cluster.
    sizes_before
        Number of records of each cluster found by c-median.
    sizes
        Number of records of each cluster after small ones were joined.
    cost
        Sum of the distances of all records to the centroids of c-median.
    rounds
        Rounds of the best start of c-median.
    """

    values: NDArray[np.float64]
    clusters: NDArray[np.int32]
    groups: NDArray[np.int32]
    sizes_before: tuple[int, ...]
    sizes: tuple[int, ...]
    cost: float
    rounds: int


def precluster(
    X: object,
    k: int,
    *,
    clusters: int,
    method: str = "mdav",
    kinds: Sequence[str] | None = None,
    n_categories: object = None,
    restarts: int | Literal["all"] = 20,
    merge: str = "smallest",
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Preclustered:
    """Protection after clustering: c-median, then microaggregation or Mondrian inside each cluster.

    Parameters
    ----------
    X
        Records × attributes. Ordinal and nominal attributes hold codes 0, 1, …
    k
        Smallest number of records that look alike, 2 … n.
    clusters
        Number of clusters for c-median; 1 protects the table as a whole.
    method
        "mdav": groups of k to 2k − 1 records get their mean, lower median or most frequent category. "global_median":
        the regions of Mondrian get the middle between their smallest and largest value; not for nominal attributes.
    kinds
        "numeric", "ordinal" or "nominal" for each attribute; by default, all are numeric.
    n_categories
        Domain sizes of ordinal and nominal attributes; by default, the largest code plus one.
    restarts
        Number of starts of c-median, of which the cheapest is used; "all" starts once from each distinct record,
        without random numbers.
    merge
        While a cluster has fewer than k records, "smallest" joins the two smallest clusters, "nearest" the smallest and
        the one with the nearest centroid.
    rng
        Source of the random starts.
    progress
        Called as ``progress(done, total)`` from time to time: for the starts, then for the records.

    Returns
    -------
    Preclustered
        Protected table, and the clusters used.

    Notes
    -----
    Marés (2013), Algorithm 9 and section 5.3. Attributes have the same scale in all clusters; only the ranges by which
    Mondrian compares attributes are those of the cluster. Clustering costs O(distinct records · clusters · attributes)
    per round, MDAV O(m²p/k) for a cluster of m records, so for a large file MDAV takes a fraction of the time that it
    takes without clusters. O(np) memory.

    Examples
    --------
    >>> done = precluster([[1], [2], [3], [7], [8], [9]], 2, clusters=2, restarts="all")
    >>> done.values[:, 0].tolist(), done.sizes
    ([2.0, 2.0, 2.0, 8.0, 8.0, 8.0], (3, 3))
    """
    rows = Rows(X, kinds=kinds, n_categories=n_categories)
    size = whole(k, "k", least=2)
    if size > len(rows.values):
        raise SDCError(f"k = {size} is larger than the number of records, {len(rows.values)}")
    wanted = whole(clusters, "clusters", least=1)
    protector = Protector(rows, choice(method, "method", METHODS))
    rule = choice(merge, "merge", MERGES)
    found = best_start(rows, wanted, restarts=restarts, rng=rng, progress=progress)
    joined = join_small(rows, found.labels[rows.first], size, rule)[rows.of_record]
    groups = protector.groups(joined, size, progress)
    return Preclustered(
        protector.values(groups),
        joined.astype(np.int32),
        groups,
        tuple(np.bincount(found.labels).tolist()),
        tuple(np.bincount(joined).tolist()),
        found.cost,
        found.rounds,
    )


def join_small(rows: Rows, found: NDArray[np.integer], k: int, merge: str) -> NDArray[np.int64]:
    """Join clusters until each has at least k records; returns the label of each distinct record.

    Parameters
    ----------
    rows
        Distinct records.
    found
        Cluster of each distinct record, 0, 1, …
    k
        Smallest number of records of a cluster; the table must have as many.
    merge
        "smallest" or "nearest"; ties go to the lower labels. A joined cluster has the lower of the two labels.
    """
    labels: NDArray[np.int64] = np.array(found, dtype=np.int64)
    sizes = np.bincount(labels, weights=rows.records).astype(np.int64)
    while sizes.min() < k:
        order = np.argsort(sizes, kind="stable")
        a = int(order[0])
        b = int(order[1]) if merge == "smallest" else _nearest(rows, labels, len(sizes), a)
        low, high = min(a, b), max(a, b)
        labels[labels == high] = low
        labels[labels > high] -= 1
        sizes[low] += sizes[high]
        sizes = np.delete(sizes, high)
    return labels


def _nearest(rows: Rows, labels: NDArray[np.int64], n_clusters: int, a: int) -> int:
    """Cluster with the centroid nearest to that of cluster a."""
    centroids = np.zeros((n_clusters, rows.rows.shape[1]))
    kernels.move_centroids(rows.rows, rows.records, rows.order, rows.kinds, rows.widest, labels, centroids)
    others = np.delete(np.arange(n_clusters), a)
    where = np.zeros(1, dtype=np.int64)
    kernels.assign(centroids[a : a + 1], np.ones(1, dtype=np.int64), centroids[others], rows.kinds, rows.unit, where)
    return int(others[where[0]])


class Protector:
    """Protection of the clusters of a table.

    Parameters
    ----------
    rows
        Distinct records of the table.
    method
        "mdav" or "global_median".
    """

    def __init__(self, rows: Rows, method: str) -> None:
        self.table = rows.values
        self.words = tuple(KINDS[kind] for kind in rows.kinds)
        self.kinds, self.sizes = rows.kinds, rows.sizes
        self.method = method
        if method == "global_median" and "nominal" in self.words:
            j = self.words.index("nominal")
            raise SDCError(f"column {j} of X is nominal and has no global_median: use method='mdav'")
        self._scaled = attributes(rows.values, kinds=self.words)[0]

    def group(self, members: NDArray[np.integer], k: int) -> NDArray[np.int32]:
        """Group of each member of one cluster, 0, 1, …"""
        if self.method == "global_median":
            return partition(self.table[members], k).labels
        if self.kinds.any():
            return mixed_mdav_kernel(self._scaled[members], k, self.kinds, self.sizes)
        return mdav_kernel(self._scaled[members], k)

    def groups(self, labels: NDArray[np.int64], k: int, progress: Progress | None = None) -> NDArray[np.int32]:
        """Group of each record, cluster by cluster; clusters must have at least k records."""
        out = np.empty(len(labels), dtype=np.int32)
        order = np.argsort(labels, kind="stable")
        used = done = 0
        for members in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
            if progress is not None:
                progress(done, len(labels))
            found = self.group(members, k)
            out[members] = found + used
            used += int(found.max()) + 1
            done += len(members)
        if progress is not None:
            progress(done, len(labels))
        return out

    def values(self, groups: NDArray[np.int32]) -> NDArray[np.float64]:
        """Cells of the protected table."""
        if self.method == "mdav":
            return microaggregate(self.table, groups, kinds=self.words)
        return release(self.table, groups, "global_median", self.words, [None] * len(self.words), None)

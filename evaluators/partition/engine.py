"""Engine for partitions of records: loss and disclosure of many microaggregated partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems._validation import choice, number
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.linkage.distance import distance_linkage
from sdc_problems.methods.partition._attributes import KINDS, attributes
from sdc_problems.methods.partition._centroids import microaggregate
from sdc_problems.parallel._process import thread_count

MEASURES = ("sse", "il_sse", "dbrl", "id_value", "k")
NEIGHBOURS = 16
_FEW_RECORDS = 5000  # below, comparing with all distinct protected rows (few) beats a search tree
_WORTH_A_THREAD = 1 << 20  # additions; below, starting threads takes longer than the work


@kernel()
def _score_rows(
    V: NDArray[np.float64],
    rows: NDArray[Any],
    factor: float,
    out: NDArray[np.float64],
    ids: NDArray[np.int64],
    size: NDArray[np.int64],
    first: NDArray[np.int64],
    mean: NDArray[np.float64],
) -> None:
    """SSE and disclosed cells of each row of labels, all attributes numeric; the last three are work arrays of 0."""
    n, d = V.shape
    for r in range(len(rows)):
        largest = 0
        for i in range(n):
            g = rows[r, i]
            if size[g] == 0:
                first[g] = i
                for j in range(d):
                    mean[g, j] = 0.0
            size[g] += 1
            largest = max(largest, g)
            # Differences from the group's first record, so that equal records have no error and no digits are lost.
            for j in range(d):
                mean[g, j] += V[i, j] - V[first[g], j]
        for g in range(largest + 1):
            for j in range(d):
                mean[g, j] = V[first[g], j] + mean[g, j] / max(size[g], 1)
        total, near = 0.0, 0
        for i in range(n):
            g = rows[r, i]
            for j in range(d):
                away = V[i, j] - mean[g, j]
                total += away * away
                near += 100.0 * abs(away) <= factor * abs(V[i, j])
        out[r] = total
        ids[r] = near
        for g in range(largest + 1):
            size[g] = 0


def _plain_smallest(rows: NDArray[Any], n_groups: int) -> NDArray[np.int64]:
    sizes = (np.bincount(row) for row in rows)
    return np.array([size[size > 0].min() for size in sizes], dtype=np.int64)


@kernel(cost=lambda rows, _: len(rows) * 1e-5 + rows.size * 5e-9, plain=_plain_smallest)
def smallest_groups(rows: NDArray[Any], n_groups: int) -> NDArray[np.int64]:
    """Size of the smallest group of each row of labels below ``n_groups``; labels that do not occur do not count."""
    out = np.empty(len(rows), dtype=np.int64)
    size = np.empty(n_groups, dtype=np.int64)
    for r in range(len(rows)):
        for g in range(n_groups):
            size[g] = 0
        for i in range(rows.shape[1]):
            size[rows[r, i]] += 1
        least = rows.shape[1]
        for g in range(n_groups):
            if 0 < size[g] < least:
                least = size[g]
        out[r] = least
    return out


class PartitionEngine:
    """Measures of microaggregated partitions, many at a time.

    Parameters
    ----------
    X
        Records × attributes; ordinal and nominal attributes hold codes 0, 1, …
    kinds
        "numeric", "ordinal" or "nominal" for each attribute; by default, all are numeric.
    percent
        Half-width of the disclosure interval, in percent of the z-score.
    threads
        Number of partitions measured at once; by default, all processors. The result does not depend on it.

    Attributes
    ----------
    V
        Attributes, numeric ones as z-scores.
    sst
        SSE of a single group with all records.
    measures
        Names of the measures.

    Notes
    -----
    ``sse`` is the sum of squared distances between records and the centroid of their group: (a − b)² on z-scores,
    ((|a − b| + 1)/|D|)² for different ordinal values, 1 for different nominal ones (Marés 2013, Eq. 2.6 and 2.7);
    ``il_sse`` is 100·SSE/SST. ``id_value`` is the share of cells within ``percent`` of the original z-score; categories
    count if they are unchanged. ``dbrl`` is the share of records linked by distance to the protected file; a record
    whose own centroid is the nearest counts 1 divided by the number of records that share it. A row costs O(np), with
    ``dbrl`` O(n²p/k).

    Examples
    --------
    >>> engine = PartitionEngine([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> engine.measure([[0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]], ("il_sse", "dbrl", "k")).round(2)
    array([[ 2.6 , 33.33,  3.  ],
           [89.18, 22.22,  3.  ]])
    """

    def __init__(
        self,
        X: object,
        *,
        kinds: Sequence[str] | None = None,
        percent: float = 10.0,
        threads: int | None = None,
    ) -> None:
        self.V, codes, self._sizes = attributes(X, kinds=kinds)
        self.n, self.p = self.V.shape
        self.kinds = tuple(KINDS[code] for code in codes)
        self.percent = number(percent, "percent", low=0.0, high=100.0)
        self.threads = thread_count(threads)
        self.measures = MEASURES
        self.sst = float(self._errors(np.zeros((1, self.n), dtype=np.int64))[0][0])

    def measure(self, rows: object, names: Sequence[str] = MEASURES) -> NDArray[np.float64]:
        """Measures of each row of labels (whole numbers from 0 to n − 1), one column per name."""
        labels = np.ascontiguousarray(rows)
        if labels.ndim != 2 or labels.shape[1] != self.n or labels.dtype.kind not in "iu":
            raise SDCError(
                f"rows must be whole numbers, partitions × {self.n} records, not {labels.dtype} of shape {labels.shape}"
            )
        if labels.size and (labels.min() < 0 or labels.max() >= self.n):
            raise SDCError(f"labels must be between 0 and {self.n - 1}")
        columns: dict[str, NDArray[Any]] = {}
        for name in names:
            choice(name, "a measure", MEASURES)
        if {"sse", "il_sse", "id_value"}.intersection(names):
            errors, near = self._errors(labels)
            columns["sse"] = errors
            share = errors / self.sst if self.sst > 0 else np.zeros(len(errors))
            columns["il_sse"] = 100.0 * np.minimum(share, 1.0)
            columns["id_value"] = 100.0 * near / (self.n * self.p)
        if "k" in names:
            columns["k"] = smallest_groups(labels, self.n)
        if "dbrl" in names:
            columns["dbrl"] = np.array(self._map(self._linked, list(labels), self.n**2 // 4), dtype=np.float64)
        return np.column_stack([columns[name] for name in names]).astype(np.float64)

    @cached_property
    def neighbours(self) -> NDArray[np.int32]:
        """Nearest other records of each record, nearest first (at most 16)."""
        from scipy.spatial import cKDTree

        parts = []
        for j, kind in enumerate(self.kinds):
            column = self.V[:, j]
            if kind == "nominal":
                parts.append((column[:, None] == np.unique(column)[None, :]) / np.sqrt(2.0))
            else:
                parts.append(column[:, None] / self._sizes[j])
        wanted = min(NEIGHBOURS, self.n - 1)
        places = np.concatenate(parts, axis=1)
        found = np.asarray(cKDTree(places).query(places, k=wanted + 1)[1])
        # A record with many duplicates may not find itself among them; then the farthest is dropped.
        own = found == np.arange(self.n)[:, None]
        own[~own.any(axis=1), -1] = True
        return np.ascontiguousarray(found[~own].reshape(self.n, wanted).astype(np.int32))

    def protect(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """Protected file of one row of labels: each record is the centroid of its group, on the scale of ``V``."""
        return microaggregate(self.V, labels, kinds=self.kinds)

    def _linked(self, labels: NDArray[Any]) -> float:
        return distance_linkage(
            self.V,
            self.protect(labels),
            ties="fraction",
            kinds=self.kinds,
            n_categories=self._sizes,
            standardize=False,
            engine="table" if self.n <= _FEW_RECORDS else "auto",
        )

    def _errors(self, rows: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        errors, near = np.empty(len(rows)), np.empty(len(rows), dtype=np.int64)
        if any(kind != "numeric" for kind in self.kinds):
            for r, row in enumerate(rows):
                errors[r], near[r] = self._mixed_errors(row)
            return errors, near
        step = max(1, -(-len(rows) // (2 * self.threads)))
        pieces = [slice(low, low + step) for low in range(0, len(rows), step)]

        def score(piece: slice) -> None:
            labels = rows[piece].astype(np.int64)  # always the same type, so that the kernel is compiled once
            room = np.zeros((2, self.n + 1), dtype=np.int64)  # allocated here, because it would make compilation slow
            mean = np.zeros((self.n + 1, self.p))
            _score_rows(self.V, labels, self.percent, errors[piece], near[piece], room[0], room[1], mean)

        self._map(score, pieces, step * self.n * self.p)
        return errors, near

    def _mixed_errors(self, row: NDArray[Any]) -> tuple[float, int]:
        protected = self.protect(row)
        away = np.abs(self.V - protected)
        total, near = 0.0, 0
        for j, kind in enumerate(self.kinds):
            if kind == "numeric":
                total += float((away[:, j] ** 2).sum())
                near += int((100.0 * away[:, j] <= self.percent * np.abs(self.V[:, j])).sum())
                continue
            differ = away[:, j] > 0
            near += int((~differ).sum())
            if kind == "ordinal":
                total += float((((away[differ, j] + 1.0) / self._sizes[j]) ** 2).sum())
            else:
                total += float(differ.sum())
        return total, near

    def _map(self, function: Callable[[Any], Any], items: list[Any], work: int) -> list[Any]:
        """Apply a function, in threads if that is worth it (kernels release the GIL)."""
        if self.threads == 1 or len(items) < 2 or work * len(items) < _WORTH_A_THREAD:
            return [function(item) for item in items]
        with ThreadPoolExecutor(min(self.threads, len(items))) as pool:
            return list(pool.map(function, items))

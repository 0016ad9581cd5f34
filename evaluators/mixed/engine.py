"""Engine for tables whose columns are masked in several ways; losses of columns and pairs of columns are cached."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import FloatArray, IntArray, choice, domain_sizes, kinds, number, table
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import dense, ranks, row_labels
from sdc_problems.evaluators.information_loss.categorical import category_distance, conditional_entropy
from sdc_problems.evaluators.information_loss.numeric import column_means, correlation_matrix, covariance_matrix
from sdc_problems.evaluators.information_loss.probabilistic import QUANTILES, pil_reference, statistic_losses
from sdc_problems.evaluators.linkage.distance import distance_linkage
from sdc_problems.evaluators.mixed.measures import KINDS
from sdc_problems.parallel._process import thread_count

PARTS = ("pil", "ctbil", "dbil", "ebil", "il_categorical", "il_mixed", "id_rank", "dbrl_protected", "dr_mixed", "k")

LINKAGE = frozenset({"dbrl_protected", "dr_mixed"})
"""Measures that compare records with each other; they cost more than all others together."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class MaskedColumn:
    """One way to mask a column.

    Attributes
    ----------
    key
        Identifies this way to mask the column; no other way to mask any column has the same key.
    values
        Value with which each cell is measured: a number, or the code of a category.
    labels
        Labels of the cells as released: equal labels for equal cells.
    """

    key: Hashable
    values: FloatArray
    labels: IntArray


class _Kept(OrderedDict[Any, Any]):
    """Cache of results by key; the least recently used entry is dropped first."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def get_or(self, key: Hashable, make: Callable[[], T]) -> T:
        try:
            found: T = self[key]
            self.move_to_end(key)
        except KeyError:
            found = self[key] = make()
            if len(self) > self.most:
                self.popitem(last=False)
        return found


class MixedEngine:
    """Loss and risk of files whose columns are masked in several ways, from cached losses of columns and pairs.

    Every measure except linkage and k is a mean over columns and pairs of columns. The loss of each column and pair is
    computed once for each way to mask it, so a file that differs from a known one in one column costs little.

    Parameters
    ----------
    X
        Records × columns: numbers, and codes of categories.
    kinds
        ``"numeric"``, ``"ordinal"`` or ``"nominal"``, for all columns or one word per column.
    n_categories
        Domain size per column (ignored for numeric ones); by default, the largest code plus one.
    percent
        Half width of the interval of disclosed ranks, in percent of the records.
    attacked
        Records that look for their own released record among all of them; by default, all records.
    kept
        Number of results for pairs of masked columns that are cached.
    threads
        Number of files compared at once; by default, all processors. The result does not depend on it.

    Notes
    -----
    The results equal those of the public functions `pil`, `il_categorical`, `il_mixed`, `interval_disclosure_rank`,
    `distance_linkage` and `dr_mixed`, except for rounding.

    Examples
    --------
    >>> X = np.array([[1.0, 0], [2.0, 1], [4.0, 0], [5.0, 1]])
    >>> engine = MixedEngine(X, ["numeric", "nominal"])
    >>> same, one = engine.untouched, MaskedColumn("all alike", np.zeros(4), np.zeros(4, dtype=np.int64))
    >>> engine.measure([same, (same[0], one)], ("il_mixed", "dr_mixed", "k")).round(2)
    array([[  0.  , 100.  ,   1.  ],
           [ 33.33,  87.5 ,   1.  ]])
    """

    def __init__(
        self,
        X: object,
        kinds_: object,
        n_categories: object = None,
        *,
        percent: float = 10.0,
        attacked: IntArray | None = None,
        kept: int = 1 << 17,
        threads: int | None = None,
    ) -> None:
        self.X = np.array(table(X, "X"), order="F")
        self.n, self.p = self.X.shape
        self.kinds = kinds(kinds_, self.p, KINDS)
        self.numeric = [j for j in range(self.p) if self.kinds[j] == "numeric"]
        self.others = [j for j in range(self.p) if self.kinds[j] != "numeric"]
        self.sizes = np.ones(self.p, dtype=np.int64)
        if self.others:
            codes = self.X[:, self.others].astype(np.int64)
            said = None if n_categories is None else [np.broadcast_to(np.asarray(n_categories), self.p)[self.others]]
            self.sizes[self.others] = domain_sizes(None if said is None else list(said[0]), codes, codes)
        self.reach = number(percent, "percent", low=0.0, high=100.0) * self.n
        self.attacked = attacked
        self.threads = thread_count(threads)
        self._ranks = [None if kind == "nominal" else ranks(self.X[:, j]) for j, kind in enumerate(self.kinds)]
        self._before = pil_reference(self.X[:, self.numeric]) if self.numeric else None
        self._place = {j: i for i, j in enumerate(self.numeric)}
        self._columns = _Kept(kept)
        self._pairs = _Kept(kept)
        self._lock = Lock()
        self.untouched = tuple(
            MaskedColumn(("untouched", j), np.ascontiguousarray(self.X[:, j]), cell_labels(self.X[:, j]))
            for j in range(self.p)
        )

    def measure(
        self, files: Sequence[Sequence[MaskedColumn]], names: Sequence[str], *, everyone: bool = False
    ) -> NDArray[np.float64]:
        """Measures of each file, one column per name: percentages, and ``k`` as a number of records.

        Parameters
        ----------
        files
            For each file, one masked column for every column of the table, in the order of the table.
        names
            Any of ``PARTS``. Records are only compared with each other if a linkage is named.
        everyone
            Whether all records look for their own, not only those in ``attacked``.
        """
        for name in names:
            choice(name, "a measure", PARTS)
        found = [dict.fromkeys(PARTS, math.nan) for _ in files]
        for file, parts in zip(files, found, strict=True):
            if len(file) != self.p:
                raise SDCError(f"a file has {len(file)} columns, not {self.p}")
            with self._lock:
                self._losses(file, parts)
            if "k" in names:
                labels = row_labels(np.column_stack([column.labels for column in file]))[0]
                parts["k"] = float(np.bincount(labels).min())
        if LINKAGE.intersection(names):
            records = None if everyone else self.attacked
            for parts, linked in zip(found, self._each(files, records), strict=True):
                parts["dbrl_protected"] = linked
                parts["dr_mixed"] = (parts["id_rank"] + linked) / 2
        return np.array([[parts[name] for name in names] for parts in found]).reshape(len(files), len(names))

    # -- columns and pairs ----------------------------------------------------------------------------------------

    def _losses(self, file: Sequence[MaskedColumn], parts: dict[str, float]) -> None:
        """Mean losses over columns and pairs of columns."""
        own = [self._columns.get_or((j, file[j].key), partial(self._column, j, file[j])) for j in range(self.p)]
        parts["id_rank"] = 100.0 * math.fsum(near for near, _ in own) / (self.n * self.p)
        total = 0.0
        if self.numeric:
            families = [math.fsum(own[j][1][i] for j in self.numeric) / len(self.numeric) for i in range(3)]
            if len(self.numeric) > 1:
                both = self._all_pairs(file, self.numeric, self._numeric_pair)
                families += [math.fsum(each) / len(both) for each in zip(*both, strict=True)]
            parts["pil"] = math.fsum(families) / len(families)
            total += len(self.numeric) * parts["pil"]
        if self.others:
            q = len(self.others)
            moved = [own[j][1][0] for j in self.others]
            moved += [each[0] for each in self._all_pairs(file, self.others, self._categorical_pair)]
            parts["ctbil"] = 100.0 * math.fsum(moved) / (2 * self.n * len(moved))
            parts["dbil"] = 100.0 * math.fsum(own[j][1][1] for j in self.others) / q
            parts["ebil"] = 100.0 * math.fsum(own[j][1][2] for j in self.others) / q
            parts["il_categorical"] = (parts["ctbil"] + parts["dbil"] + parts["ebil"]) / 3.0
            total += q * parts["il_categorical"]
        parts["il_mixed"] = total / self.p

    def _all_pairs(
        self, file: Sequence[MaskedColumn], columns: Sequence[int], measure: Callable[..., tuple[float, ...]]
    ) -> list[tuple[float, ...]]:
        found = []
        for at, i in enumerate(columns):
            for j in columns[at + 1 :]:
                a, b = file[i], file[j]
                found.append(self._pairs.get_or((i, j, a.key, b.key), partial(measure, i, j, a, b)))
        return found

    def _column(self, j: int, column: MaskedColumn) -> tuple[int, tuple[float, ...]]:
        """Number of cells of a column that are near the original, and the loss of the column by each measure."""
        x, y = self.X[:, j], column.values
        rank = self._ranks[j]
        near = x == y if rank is None else 100.0 * np.abs(rank - ranks(y)) <= self.reach
        if self.kinds[j] == "numeric":
            return int(near.sum()), self._numeric_column(j, y)
        before, after = x.astype(np.int64), y.astype(np.int64)
        size = int(self.sizes[j])
        moved = int(np.abs(np.bincount(before, minlength=size) - np.bincount(after, minlength=size)).sum())
        distance = float(category_distance(before, after, kind=self.kinds[j], n_categories=size).mean())
        entropy = conditional_entropy(before, after) / (self.n * math.log(size)) if size > 1 else 0.0
        return int(near.sum()), (moved, distance, entropy)

    def _numeric_column(self, j: int, y: FloatArray) -> tuple[float, ...]:
        before, i = self._before, self._place[j]
        assert before is not None
        after = (column_means(y[:, None]), covariance_matrix(y[:, None])[0], np.quantile(y, QUANTILES))
        known = (before.means[[i]], before.covariances[i, [i]], before.quantiles[:, i])
        deviations = (before.mean_deviations[[i]], before.variance_deviations[[i]], before.quantile_deviations[:, i])
        # In the order of the families: means, variances, quantiles; the mean does not depend on it.
        return tuple(
            float(statistic_losses(was, now, sd).mean()) for was, now, sd in zip(known, after, deviations, strict=True)
        )

    def _numeric_pair(self, i: int, j: int, a: MaskedColumn, b: MaskedColumn) -> tuple[float, ...]:
        before, r, s = self._before, self._place[i], self._place[j]
        assert before is not None
        both = np.column_stack([a.values, b.values])
        now = (covariance_matrix(both)[0, 1], correlation_matrix(both)[0, 1])
        known = (before.covariances[r, s], before.correlations[r, s])
        deviations = (before.covariance_deviations[r, s], before.correlation_deviations[r, s])
        losses = statistic_losses(np.array(known), np.array(now), np.array(deviations))
        return float(losses[0]), float(losses[1])

    def _categorical_pair(self, i: int, j: int, a: MaskedColumn, b: MaskedColumn) -> tuple[float, ...]:
        width = int(self.sizes[j])
        cells = int(self.sizes[i]) * width
        was = self.X[:, i].astype(np.int64) * width + self.X[:, j].astype(np.int64)
        now = a.values.astype(np.int64) * width + b.values.astype(np.int64)
        if cells > 8 * self.n + 1024:
            both, cells = dense(np.concatenate([was, now]))
            was, now = both[: self.n], both[self.n :]
        moved = np.abs(np.bincount(was, minlength=cells) - np.bincount(now, minlength=cells))
        return (int(moved.sum()),)

    # -- records --------------------------------------------------------------------------------------------------

    def _linked(self, file: Sequence[MaskedColumn], records: IntArray | None) -> float:
        Y = np.column_stack([column.values for column in file])
        return distance_linkage(self.X, Y, kinds=self.kinds, n_categories=list(self.sizes), records=records)

    def _each(self, files: Sequence[Sequence[MaskedColumn]], records: IntArray | None) -> list[float]:
        """Share of the records that are re-identified in each file."""
        if self.threads == 1 or len(files) < 2:
            return [self._linked(file, records) for file in files]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(lambda file: self._linked(file, records), files))


def cell_labels(column: NDArray[Any]) -> IntArray:
    """Labels of the cells of a column: equal labels for equal cells."""
    labels: IntArray = np.unique(column, return_inverse=True)[1].astype(np.int64)
    return labels

"""Table compiled for transition matrices: counts, distances and distinct combinations, computed once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sdc_problems._slices import slices
from sdc_problems._validation import FloatArray, IntArray, code_table, domain_sizes, labels, number
from sdc_problems._validation import kinds as check_kinds
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import unique_rows
from sdc_problems.evaluators.disclosure_risk import expectation_ratio
from sdc_problems.evaluators.information_loss.categorical import CATEGORICAL_KINDS, category_distance
from sdc_problems.evaluators.linkage.probabilistic import Rows
from sdc_problems.evaluators.transition._kernels import nearest_of

Matrices: TypeAlias = Sequence[FloatArray]

_DENSE_CELLS = 2**24  # of all contingency tables together; above, only cells that occur are stored
_DENSE_COMBINATIONS = 2**22  # of categories; above, nearest originals are searched for each file
_LARGEST_UNIT = 2**40  # least common multiple of the domain sizes; above, distances are not whole numbers


class TransitionData:
    """Table compiled for transition matrices; arguments as for ``TransitionEngine``."""

    def __init__(
        self,
        codes: npt.ArrayLike,
        *,
        n_categories: object,
        kinds: object,
        against: npt.ArrayLike | None,
        percent: float,
    ) -> None:
        original = code_table(codes, "codes")
        self.n, self.p = len(original), int(original.shape[1])
        self.codes = np.ascontiguousarray(original, dtype=np.int32)
        self.sizes: IntArray = domain_sizes(n_categories, original)
        self.kinds = check_kinds(kinds, self.p, CATEGORICAL_KINDS)
        self.percent = number(percent, "percent", low=0.0, high=100.0)
        self.frequencies = [np.bincount(original[:, a], minlength=self.sizes[a]) for a in range(self.p)]
        self.distances = [_distances(kind, int(size)) for kind, size in zip(self.kinds, self.sizes, strict=True)]
        self.starts: IntArray = np.concatenate([[0], np.cumsum(self.sizes**2)[:-1]])
        self.rows = Rows(*unique_rows(original.astype(np.float64)))
        self.row_codes = self.rows.values.astype(np.int64)
        self._set_tables()
        self._set_linkage()
        self.crossed: list[IntArray] | None = None
        if against is not None:
            self._set_against(labels(against, self.n, "against"))

    def _set_tables(self) -> None:
        """Original counts of all pairs of attributes, one table after the other."""
        self.pairs = list(combinations(range(self.p), 2))
        self.n_tables = self.p + len(self.pairs)
        cells = [int(self.sizes[a] * self.sizes[b]) for a, b in self.pairs]
        self.offsets: IntArray = np.concatenate([[0], np.cumsum(cells)]).astype(np.int64)
        self.dense_tables = sum(cells) <= _DENSE_CELLS
        self.tables = np.zeros(sum(cells) if self.dense_tables else 0, dtype=np.int64)
        if self.dense_tables:
            for t, (a, b) in enumerate(self.pairs):
                key = self.codes[:, a].astype(np.int64) * self.sizes[b] + self.codes[:, b]
                self.tables[self.offsets[t] : self.offsets[t + 1]] = np.bincount(key, minlength=cells[t])

    def _set_linkage(self) -> None:
        """Distances in whole units, so that ties are exact; the table of nearest originals is filled as it is used."""
        self.ordinal = np.array([kind == "ordinal" for kind in self.kinds])
        unit = math.lcm(1, *(int(size) for size in self.sizes[self.ordinal]))
        self.combinations = math.prod(int(size) for size in self.sizes)
        self.dense_combinations = self.combinations <= _DENSE_COMBINATIONS and unit <= _LARGEST_UNIT
        if self.dense_combinations:
            self.units: IntArray = np.where(self.ordinal, unit // self.sizes, unit).astype(np.int64)
            self.nearest = np.full(self.combinations, -1, dtype=np.int64)
            self.ties = np.zeros(self.combinations, dtype=np.int64)
        self.links: tuple[IntArray, IntArray, FloatArray] | None = None

    def _set_against(self, other: IntArray) -> None:
        self.against = other
        self.n_against = int(other.max()) + 1
        self.crossed = []
        for a, size in enumerate(self.sizes):
            key = self.codes[:, a].astype(np.int64) * self.n_against + other
            counts = np.bincount(key, minlength=int(size) * self.n_against)
            self.crossed.append(counts.reshape(int(size), self.n_against))

    def crossed_originals(self) -> list[IntArray]:
        """Original counts of each attribute crossed with the unprotected one."""
        if self.crossed is None:
            raise SDCError("bivariate and chi2 compare with an attribute that is not protected: give against=")
        return self.crossed

    def keys(self, rows: npt.NDArray[np.integer]) -> IntArray:
        """Key of each combination of categories."""
        keys = np.zeros(len(rows), dtype=np.int64)
        for a in range(self.p):
            keys = keys * self.sizes[a] + rows[:, a]
        return keys

    def categories_of(self, keys: IntArray) -> IntArray:
        """Categories of combinations, the inverse of ``keys``."""
        columns = []
        rest = keys
        for size in self.sizes[::-1]:
            rest, column = np.divmod(rest, size)
            columns.append(column)
        return np.stack(columns[::-1], axis=1)

    def find_nearest(self, keys: IntArray) -> None:
        """Find the nearest originals of protected combinations that are not yet in the table."""
        missing = keys[self.nearest[keys] < 0]
        for low, high in slices(len(missing), steps=self.row_codes.size, what="combinations looked for"):
            nearest_of(
                missing[low:high],
                self.sizes,
                self.row_codes,
                self.rows.records,
                self.units,
                self.ordinal,
                self.nearest,
                self.ties,
            )

    def mean_expectation_ratio(self, matrices: Matrices) -> float:
        """Frequency-weighted mean of the expectation ratios, averaged over attributes; a ratio counts at most n.

        The bound keeps the measure finite: a category into which no record changes has an infinite ratio.
        """
        total = 0.0
        for P, frequency in zip(matrices, self.frequencies, strict=True):
            ratio = np.minimum(expectation_ratio(P, frequency), float(self.n))
            total += float((ratio * frequency).sum()) / self.n
        return total / self.p

    def mean_entropy(self, matrices: Matrices) -> float:
        """Entropy of the rows weighted by their numbers of records, in percent of its maximum; mean over attributes."""
        total = 0.0
        for P, frequency in zip(matrices, self.frequencies, strict=True):
            rows = -x_log_x(P).sum(axis=1)
            total += max(float((rows * frequency).sum()), 0.0) / (self.n * math.log(len(P)))
        return 100.0 * total / self.p


def _distances(kind: str, size: int) -> FloatArray:
    first, second = np.divmod(np.arange(size * size), size)
    return category_distance(first, second, kind=kind, n_categories=size).reshape(size, size)


def x_log_x(x: npt.ArrayLike) -> FloatArray:
    """``x log x``, 0 at 0."""
    values = np.asarray(x, dtype=np.float64)
    product: FloatArray = values * np.log(np.where(values > 0, values, 1.0))
    return product


def double_ranks(counts: IntArray) -> IntArray:
    """Twice the mid-rank of each category, from counts in order (last axis)."""
    return 2 * np.cumsum(counts, axis=-1) - counts + 1


def chi2(counts: npt.ArrayLike) -> FloatArray:
    """Pearson's χ² statistic of contingency tables (a table or a stack of tables)."""
    table = np.asarray(counts, dtype=np.float64)
    product = table.sum(axis=-1, keepdims=True) * table.sum(axis=-2, keepdims=True)
    ratio = np.divide(table * table, product, out=np.zeros_like(table), where=product > 0).sum(axis=(-2, -1)) - 1.0
    return np.asarray(table.sum(axis=(-2, -1)) * np.where(ratio > 1e-12, ratio, 0.0))


def relative_change(value: FloatArray, reference: float) -> FloatArray:
    """``100 |value - reference| / reference``; if the reference is 0: 0 where nothing changed, else 100."""
    if reference == 0.0:
        return np.where(value == 0.0, 0.0, 100.0)
    change: FloatArray = 100.0 * np.abs(value - reference) / reference
    return change

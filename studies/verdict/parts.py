"""Parts of a verdict: measures with their ranges and sentences, and the tables behind them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sdc_problems.evaluators._codes import column_labels
from sdc_problems.microdata import Kind
from sdc_problems.studies.report.kept_records import with_records_kept
from sdc_problems.studies.verdict.leaves import Leaves
from sdc_problems.studies.verdict.pairing import Fate, PairedColumn, Pairing


@dataclass(frozen=True)
class Measure:
    """One value of a verdict, and how to read it."""

    group: str
    name: str
    label: str
    value: float
    unit: str
    low: float
    high: float | None
    """Ends of the range; None if there is no upper end."""
    better: str
    """"lower" or "higher" for the better direction; "" if there is none."""
    sentence: str
    of: str = ""
    """The sensitive attribute that it concerns, if any."""
    before: float | None = None
    """The same value for the original file, if that has a meaning."""


@dataclass(frozen=True)
class Skipped:
    """A measure that does not apply, with the reason."""

    group: str
    label: str
    why: str


def share(part: float, whole: int, of_all: int = 0) -> str:
    """A count and its percentage, in words; if records were left out, also the share of the total.

    Examples
    --------
    >>> share(2, 54), share(2, 54, 60)
    ('2 of 54 records (3.7 %)', '2 of 54 records kept of 60 (3.7 %; 3.33 % of all 60)')
    """
    count = f"{part:,.0f}" if part >= 10 or part == int(part) else f"{part:.1f}"
    if not of_all:
        return f"{count} of {whole:,} records ({100 * part / whole:.3g} %)"
    both = f"{100 * part / whole:.3g} %; {100 * part / of_all:.3g} % of all {of_all:,}"
    return f"{count} of {whole:,} records kept of {of_all:,} ({both})"


def names_of(columns: list[PairedColumn]) -> str:
    """Names of columns, up to a limit."""
    shown = ", ".join(column.name for column in columns[:4])
    return shown if len(columns) <= 4 else f"{shown} and {len(columns) - 4} more"


def hold(columns: list[PairedColumn]) -> str:
    """Names of columns with their verb: "age holds", "age, town hold"."""
    return f"{names_of(columns)} {'holds' if len(columns) == 1 else 'hold'}"


class Report:
    """Collection of the measures that apply to a pair of files."""

    def __init__(
        self, pairing: Pairing, linkage_limit: int, leaf_counts: Mapping[str, Leaves], n_dropped: int = 0
    ) -> None:
        self.pairing = pairing
        self.n_dropped = n_dropped
        self.of_all = pairing.n_records + n_dropped if n_dropped else 0
        self.leaf_counts = leaf_counts
        self.limit = linkage_limit
        self.measures: list[Measure] = []
        self.skipped: list[Skipped] = []
        self.notes: list[str] = []
        self.weakest = 0
        self.linked = 0.0
        self.kept = ~pairing.suppressed
        self.n = int(self.kept.sum())
        self.quasi = list(pairing.quasi_identifiers)
        self.numeric = [c for c in self.quasi if c.numeric]
        self.categorical = [c for c in self.quasi if c.kind is not Kind.NUMERIC and c.fate is not Fate.GENERALISED]
        self.perturbed = [c for c in self.quasi if c.fate is Fate.PERTURBED]
        self.generalised = [c for c in self.quasi if c.fate is Fate.GENERALISED]

    def share(self, part: float) -> str:
        """A count among the remaining records, in words."""
        return share(part, self.n, self.of_all)

    def with_those_left_out(self, percent: float) -> str:
        """Loss in percent of all records, where those left out for missing values count as completely lost."""
        if not self.n_dropped:
            return ""
        all_in_all = (percent * self.pairing.n_records + 100 * self.n_dropped) / self.of_all
        return f"; {all_in_all:.3g} % of all, if records left out because of missing values count as lost"

    def has(self, name: str) -> bool:
        """Whether a measure was taken."""
        return any(measure.name == name for measure in self.measures)

    def value(self, name: str) -> float:
        """Value of a measure that was taken (the worst, if there are several sensitive attributes)."""
        return min(measure.value for measure in self.measures if measure.name == name)

    def add(
        self,
        group: str,
        name: str,
        label: str,
        value: float,
        sentence: str,
        *,
        unit: str = "",
        low: float = 0.0,
        high: float | None = 100.0,
        better: str = "lower",
        of: str = "",
        before: float | None = None,
    ) -> None:
        """Add a measure; one without a finite value is not added, because it cannot be written as JSON."""
        if not math.isfinite(value):
            self.skip(group, label, "it is infinite here")
            return
        counts = self.pairing.n_records, self.n_dropped
        (sentence,) = with_records_kept([sentence], *counts, every=unit in ("%", "records"))
        self.measures.append(Measure(group, name, label, value, unit, low, high, better, sentence, of, before))

    def skip(self, group: str, label: str, why: str) -> None:
        """Add a note on a measure that does not apply."""
        self.skipped.append(Skipped(group, label, why))

    # ------------------------------------------------------------------ the tables behind the measures

    @property
    def n_stars(self) -> int:
        """Number of starred quasi-identifier cells in the remaining records; a column of only stars is one label."""
        return int(self.some_stars().sum())

    def whole(self, columns: list[PairedColumn]) -> NDArray[np.bool_]:
        """Mask of the remaining records without a star in these columns."""
        found: NDArray[np.bool_] = self.kept & ~np.any([c.stars for c in columns], axis=0)
        return found

    def among(self, columns: list[PairedColumn]) -> str:
        """Records that a measure of these columns covers, in words, if stars exclude some."""
        n = int(self.whole(columns).sum())
        return "" if n == self.n else f" (of the {n:,} records without a star there)"

    def values(self, columns: list[PairedColumn], which: int) -> NDArray[np.float64]:
        """Numbers or codes of the remaining records without a star in these columns; 0: original."""
        whole, stacked = self.whole(columns), []
        for column in columns:
            if column.numbers is not None:
                stacked.append(column.numbers[which][whole])
            else:
                stacked.append((column.original, column.protected)[which][whole].astype(np.float64))
        return np.stack(stacked, axis=1)

    @cached_property
    def different(self) -> int:
        """Number of distinct records that determines the time of probabilistic linkage, and that its limit is on.

        The time grows with the pairs of distinct records, original and published, times the larger number of them; with
        as many in both files, it grows with their cube.
        """
        if not self.n:
            return 0
        before = column_labels(c.original[self.kept] for c in self.quasi)[1]
        after = int(self.classes.max()) + 1
        return round(math.cbrt(before * after * max(before, after)))

    @property
    def linked_at_most(self) -> int:
        """Largest number of distinct records of one file, where the limit on `different` is kept."""
        return max(self.limit, self.n)

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """Class of equal published quasi-identifiers for each remaining record; a star is a value."""
        return column_labels(c.protected[self.kept] for c in self.quasi)[0]

    @cached_property
    def classes_before(self) -> NDArray[np.int64]:
        """Class of equal original quasi-identifiers for each record, including suppressed ones."""
        return column_labels(c.original for c in self.quasi)[0]

    def codes(self, columns: list[PairedColumn], which: int) -> NDArray[np.int32]:
        """Category ids of the remaining records without a star in these columns."""
        whole = self.whole(columns)
        return np.stack([(c.original, c.protected)[which][whole] for c in columns], axis=1)

    def shown(self) -> NDArray[np.int32]:
        """Category ids of the published quasi-identifiers of the remaining records; a star is a value."""
        return np.stack([c.protected[self.kept] for c in self.quasi], axis=1)

    def stars(self) -> NDArray[np.bool_]:
        """Mask of the starred cells among these."""
        return np.stack([c.stars[self.kept] for c in self.quasi], axis=1)

    def starred_columns(self) -> tuple[list[NDArray[np.int32]], list[NDArray[np.bool_]]]:
        """Cells of `shown` and mask of `some_stars`, column by column."""
        stars = [c.stars[self.kept] for c in self.quasi]
        return [c.protected[self.kept] for c in self.quasi], [s & (not s.all()) for s in stars]

    def some_stars(self) -> NDArray[np.bool_]:
        """Mask of the starred cells in columns that are not all stars."""
        stars = self.stars()
        return stars & ~stars.all(axis=0)

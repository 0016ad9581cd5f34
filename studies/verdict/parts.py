"""Parts of a verdict: measures with their ranges and sentences, and the tables behind them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdc_problems.microdata import Kind
from sdc_problems.studies.verdict.pairing import Fate, PairedColumn, Pairing


@dataclass(frozen=True)
class Measure:
    """One number of a verdict and how to read it."""

    group: str
    name: str
    label: str
    value: float
    unit: str
    low: float
    high: float | None
    """Ends of the range; None where there is no upper end."""
    better: str
    """"lower", "higher", or "" where neither is."""
    sentence: str
    of: str = ""
    """The sensitive attribute it is about, if it is about one."""
    before: float | None = None
    """The same of the original file, where that makes sense."""


@dataclass(frozen=True)
class Skipped:
    """A measure that cannot apply, and why."""

    group: str
    label: str
    why: str


def share(part: float, whole: int) -> str:
    """A count and its percentage, in words."""
    count = f"{part:,.0f}" if part >= 10 or part == int(part) else f"{part:.1f}"
    return f"{count} of {whole:,} records ({100 * part / whole:.3g} %)"


def names_of(columns: list[PairedColumn]) -> str:
    """Columns by name, not endless."""
    shown = ", ".join(column.name for column in columns[:4])
    return shown if len(columns) <= 4 else f"{shown} and {len(columns) - 4} more"


def hold(columns: list[PairedColumn]) -> str:
    """Columns by name with their verb: "age holds", "age, town hold"."""
    return f"{names_of(columns)} {'holds' if len(columns) == 1 else 'hold'}"


class Report:
    """Collects the measures that apply to a pair of files."""

    def __init__(self, pairing: Pairing, linkage_limit: int) -> None:
        self.pairing = pairing
        self.limit = linkage_limit
        self.measures: list[Measure] = []
        self.skipped: list[Skipped] = []
        self.notes: list[str] = []
        self.weakest = 0
        self.linked = 0.0
        self.comparable = False
        self.kept = ~pairing.suppressed
        self.n = int(self.kept.sum())
        self.quasi = list(pairing.quasi_identifiers)
        self.numeric = [c for c in self.quasi if c.numbers is not None]
        self.categorical = [c for c in self.quasi if c.kind is not Kind.NUMERIC and c.fate is not Fate.GENERALISED]
        self.perturbed = [c for c in self.quasi if c.fate is Fate.PERTURBED]
        self.generalised = [c for c in self.quasi if c.fate is Fate.GENERALISED]

    def has(self, name: str) -> bool:
        """Whether a measure was taken."""
        return any(measure.name == name for measure in self.measures)

    def value(self, name: str) -> float:
        """The number of a measure that was taken (of the worst sensitive attribute where there are several)."""
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
        """Note a measure; one without a finite value cannot be read, nor written as JSON."""
        if not math.isfinite(value):
            self.skip(group, label, "it is infinite here")
            return
        self.measures.append(Measure(group, name, label, value, unit, low, high, better, sentence, of, before))

    def skip(self, group: str, label: str, why: str) -> None:
        """Note a measure that does not apply."""
        self.skipped.append(Skipped(group, label, why))

    # ------------------------------------------------------------------ the tables behind the measures

    def values(self, columns: list[PairedColumn], which: int) -> NDArray[np.float64]:
        """Numbers or codes of the records that are left; 0: original, 1: protected."""
        stacked = []
        for column in columns:
            if column.numbers is not None:
                stacked.append(column.numbers[which])
            else:
                stacked.append((column.original, column.protected)[which].astype(np.float64))
        return np.stack(stacked, axis=1)[self.kept]

    def codes(self, columns: list[PairedColumn], which: int) -> NDArray[np.int64]:
        """Category ids of the records that are left."""
        return np.stack([(c.original, c.protected)[which] for c in columns], axis=1)[self.kept]

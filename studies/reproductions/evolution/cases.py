"""Files of Marés (2013), chapter 3, each as a masking problem."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from sdc_problems import MaskingProblem, Microdata, load

EDUCATION = [
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college",
    "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
]  # fmt: skip
"""Categories of education in the Adult file, from the lowest."""
ADULT = ("education", "marital-status", "occupation")


@dataclass(frozen=True)
class Case:
    """A file, its attributes, and the number of files that the source started from.

    Attributes
    ----------
    name, title
        Name and title of the file.
    source
        Name of the data set (`load`).
    columns
        Attributes; all numeric ones if none are named.
    records
        Number of first records to use; all if None.
    many
        Whether the source's population had 50 files or more.
    """

    name: str
    title: str
    source: str
    columns: tuple[str, ...] = ()
    records: int | None = None
    many: bool = False

    @property
    def numeric(self) -> bool:
        """Whether the file holds numbers."""
        return not self.columns

    @property
    def score(self) -> str:
        """Score that the source minimizes in the end: the mean for numbers, the larger for categories."""
        return "score_mean" if self.numeric else "score_max"

    def data(self, most: int | None = None) -> Microdata:
        """Load the file, or its first records."""
        return _data(self, most)

    def problem(
        self,
        objectives: tuple[str, ...],
        *,
        guard: bool,
        most: int | None = None,
        start: str | Mapping[str, NDArray[Any]] | None = None,
        edits: tuple[str, ...] = (),
    ) -> MaskingProblem:
        """Make the problem of the file, with the source's population or other start files.

        Parameters
        ----------
        objectives
            Objectives of the problem.
        guard
            Whether to avoid degenerate files.
        most
            Number of first records to use.
        start
            Start files; ours instead of the source's if not given.
        edits
            Sums to keep.
        """
        files = self.starts(most) if start is None else start
        return MaskingProblem(self.data(most), objectives=objectives, guard=guard, start=files, edits=edits)

    def starts(self, most: int | None = None) -> dict[str, NDArray[Any]]:
        """Start files by name, as values or codes; made only once."""
        return dict(_starts(self, most))


@functools.cache
def _data(case: Case, most: int | None) -> Microdata:
    data = load(case.source).data
    few = min((count for count in (case.records, most) if count is not None), default=None)
    if case.name == "eia":
        frame = data.frame().loc[:, "RESREVENUE":"TOTSALES"].iloc[:few]
        return Microdata.from_frame(frame, quasi_identifiers=list(frame.columns))
    if case.source == "adult":
        frame = data.frame()[list(case.columns)].iloc[:few]
        order = [level for level in EDUCATION if (frame["education"] == level).any()]
        return Microdata.from_frame(frame, quasi_identifiers=list(case.columns), orders={"education": order})
    names = list(case.columns or data.quasi_identifiers or data.names)
    if few is None:
        return data.with_roles(quasi_identifiers=names)
    orders = {n: list(data.attribute(n).labels) for n in names if data.attribute(n).kind.value == "ordinal"}
    return Microdata.from_frame(data.frame()[names].iloc[:few], quasi_identifiers=names, orders=orders)


@functools.cache
def _starts(case: Case, most: int | None) -> tuple[tuple[str, NDArray[Any]], ...]:
    problem = MaskingProblem(case.data(most), start="many" if case.many else "few")
    return tuple((name, problem.protected(x)) for name, x in problem.starts().items())


CENSUS = Case("census", "Census", "census", many=True)
DIABETES = Case("pima_diabetes", "Diabetes", "pima_diabetes")
EIA = Case("eia", "EIA", "eia", records=2000)
TARRAGONA = Case("tarragona", "Tarragona", "tarragona")
GERMAN = Case(
    "german_credit", "German credit", "german_credit", ("checking_status", "savings_status", "employment"), many=True
)
FLARE = Case(
    "solar_flare", "Solar flare", "solar_flare", ("class_zurich", "largest_spot_size", "spot_distribution"), many=True
)
ADULT_1000 = Case("adult_1000", "Adult, 1,000 records", "adult", ADULT, records=1000, many=True)
ADULT_ALL = Case("adult", "Adult, 30,162 records", "adult", ADULT)
NUMERIC = (CENSUS, DIABETES, EIA, TARRAGONA)
CATEGORICAL = (ADULT_1000, GERMAN, FLARE)
CASES = {case.name: case for case in (CENSUS, TARRAGONA, EIA, DIABETES, GERMAN, FLARE, ADULT_1000, ADULT_ALL)}


def all_present() -> None:
    """Load every file once, so that a missing file is noticed now and not after the searches."""
    for source in dict.fromkeys(case.source for case in CASES.values()):
        load(source)

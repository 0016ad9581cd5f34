"""Disclosure risk in a verdict: anonymity of the protected file, and disclosure between the two files."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems import evaluators
from sdc_problems.evaluators._codes import column_labels, first_records
from sdc_problems.evaluators.linkage._views import Recoding
from sdc_problems.evaluators.linkage.candidates import ManyRangesError, Values, candidates_of
from sdc_problems.evaluators.linkage.probabilistic import MOST_ATTRIBUTES
from sdc_problems.evaluators.wildcards import column_wildcard_sizes
from sdc_problems.microdata import Kind
from sdc_problems.studies.report.text import number
from sdc_problems.studies.verdict.agency import Beyond, agency
from sdc_problems.studies.verdict.attacks import attacks
from sdc_problems.studies.verdict.pairing import PairedColumn
from sdc_problems.studies.verdict.parts import Report, hold, names_of

ANONYMITY = "Anonymity of the protected file"
ALONE = "Anonymity of the file"
RISK = "Disclosure between the files"

STARS_EVERYWHERE = "every record has a star in one of its columns"
NEAR = 10.0  # half width of the disclosure intervals, in percent


def all_risks(report: Report, beyond: Beyond) -> None:
    """Take every measure of risk that applies, in the order of display."""
    anonymity(report)
    agency(report, beyond)
    disclosure(report)
    linkage(report)
    attacks(report)


def risks_alone(report: Report, beyond: Beyond) -> None:
    """Take the measures of risk that need no other file."""
    anonymity(report)
    report.measures = [replace(measure, group=ALONE, before=None) for measure in report.measures]
    agency(report, beyond)
    report.weakest = int(report.value("sample_uniques"))


def anonymity(report: Report) -> None:
    """Measure classes of equal quasi-identifiers, and what they reveal about the sensitive attributes."""
    classes, before = report.classes, report.classes_before
    sizes = evaluators.class_sizes(classes)
    k, n = int(sizes.min()), report.n
    weakest = int((sizes == k).sum())
    report.add(
        ANONYMITY, "k", "k (smallest group)", k,
        f"Every record published shares its quasi-identifiers with at least {k - 1:,} other{'s' * (k != 2)}."
        if k > 1 else "At least one record is unique in its quasi-identifiers.",
        unit="records", low=1, high=n, better="higher", before=evaluators.k_anonymity(before),
    )  # fmt: skip
    if report.n_stars:
        wild = int(column_wildcard_sizes(*report.starred_columns()).min())
        report.add(
            ANONYMITY, "k_wildcard", "k with stars as wildcards", wild,
            (f"If a star can be any value, every record looks like at least {wild - 1:,} other{'s' * (wild != 2)}; "
             if wild > 1 else "Even if a star can be any value, at least one record is unique; ")
            + "k, ℓ and t count a star as a value of its own.",
            unit="records", low=1, high=n, better="higher",
        )  # fmt: skip
    report.add(
        ANONYMITY, "smallest_groups", "records in classes of size k", weakest,
        f"{report.share(weakest)} are in the smallest classes. They are the weakest records.",
        unit="records", high=n,
    )  # fmt: skip
    for bound in (3, 5):
        small = int((sizes < bound).sum())
        report.add(
            ANONYMITY, f"groups_below_{bound}", f"records in classes below {bound}", small,
            f"{report.share(small)} share their quasi-identifiers with fewer than {bound - 1} others.",
            unit="records", high=n, before=int((evaluators.class_sizes(before) < bound).sum()),
        )  # fmt: skip
    mean = evaluators.average_class_size(classes)
    report.add(
        ANONYMITY, "average_group", "mean class size", mean,
        f"A class has {number(mean)} records on average.",
        unit="records", low=1, high=n, better="higher", before=evaluators.average_class_size(before),
    )  # fmt: skip
    if report.perturbed:
        report.notes.append(
            f"k, ℓ and t describe the published values; {hold(report.perturbed)} other values than the original,"
            " which an intruder does not know: for these, the linkages measure the risk"
        )
    for column in report.pairing.sensitive:
        diversity(report, column, classes)
    if not report.pairing.sensitive:
        report.skip(ANONYMITY, "ℓ-diversity, t-closeness", "no sensitive attribute was named")


def diversity(report: Report, column: PairedColumn, classes: NDArray[np.int64]) -> None:
    """The ℓ family and t for one sensitive attribute as published."""
    values: NDArray[Any] = column.protected[report.kept]
    if column.numbers is not None:
        values = np.unique(column.numbers[1][report.kept], return_inverse=True)[1]
    distinct = evaluators.distinct_l(classes, values)
    n_values = len(np.unique(values))
    report.add(
        ANONYMITY, "distinct_l", f"distinct ℓ of {column.name}", distinct,
        "In at least one class, all records have the same value, so their value is no secret." if distinct == 1
        else f"Every class has at least {distinct:,} different values.",
        low=1, high=n_values, better="higher", of=column.name,
    )  # fmt: skip
    known = evaluators.class_sizes(classes) == evaluators.sensitive_counts(classes, values)
    report.add(
        ANONYMITY, "revealed", f"records whose {column.name} is certain", int(known.sum()),
        f"For {report.share(int(known.sum()))}, the quasi-identifiers reveal the value.",
        unit="records", high=report.n, of=column.name,
    )  # fmt: skip
    entropy = evaluators.entropy_l(classes, values)
    report.add(
        ANONYMITY, "entropy_l", f"entropy ℓ of {column.name}", entropy,
        f"The least mixed class is as uncertain as {number(entropy)} equally frequent values.",
        low=1, high=n_values, better="higher", of=column.name,
    )  # fmt: skip
    alpha = evaluators.alpha(classes, values)
    report.add(
        ANONYMITY, "alpha", f"α of {column.name}", alpha,
        f"In at least one class, {100 * alpha:.3g} % have the same value: with k, this is (α, k)-anonymity.",
        high=1, of=column.name,
    )  # fmt: skip
    beta = evaluators.beta_likeness(classes, values)
    report.add(
        ANONYMITY, "beta", f"β-likeness of {column.name}", beta,
        f"Knowledge of the class makes a value at most {number(1 + beta)} times as likely as before.",
        high=None, of=column.name,
    )  # fmt: skip
    delta = evaluators.delta_disclosure(classes, values)
    report.add(
        ANONYMITY, "delta", f"δ-disclosure of {column.name}", delta,
        f"Shares of the values in a class differ from those of all records by a factor of at most e^{number(delta)}.",
        high=None, of=column.name,
    )  # fmt: skip
    bound = evaluators.recursive_c(classes, values, l=2)
    if math.isinf(bound):
        report.skip(ANONYMITY, f"recursive (c, 2) of {column.name}", "a group holds a single value: no c is enough")
    else:
        report.add(
            ANONYMITY, "recursive_c", f"recursive c for ℓ = 2 of {column.name}", bound,
            f"The most frequent value of a class is at most {number(bound)} times as frequent as the others together.",
            high=None, of=column.name,
        )  # fmt: skip
    distance = "equal" if column.kind is Kind.NOMINAL else "ordered"
    t = evaluators.t_closeness(classes, values, distance=distance)
    report.add(
        ANONYMITY, "t", f"t of {column.name} ({distance} distance)", t,
        f"The distribution within a class differs from that of all records by at most {number(t)}.",
        high=1, of=column.name,
    )  # fmt: skip


def disclosure(report: Report) -> None:
    """Measure disclosure between the two files: nearness of published values, and records that an intruder finds."""
    same = np.mean([np.mean(c.original[report.kept] == c.protected[report.kept]) for c in report.quasi])
    report.add(
        RISK, "unchanged_cells", "unchanged cells", 100 * float(same),
        f"{100 * same:.3g} % of the cells of the quasi-identifiers are published unchanged.", unit="%",
    )  # fmt: skip
    if report.numeric and report.whole(report.numeric).any():
        value = evaluators.interval_disclosure_value(
            report.values(report.numeric, 0), report.values(report.numeric, 1), percent=NEAR
        )
        report.add(
            RISK, "id_value_raw", "interval disclosure, values", value,
            f"{value:.3g} % of the numbers ({names_of(report.numeric)}) lie within {NEAR:g} % of the original"
            f"{report.among(report.numeric)}.",
            unit="%",
        )  # fmt: skip
    else:
        report.skip(RISK, "interval disclosure, values", no_number(report))
    comparable = [*report.numeric, *report.categorical]
    if comparable and report.whole(comparable).any():
        rank = evaluators.interval_disclosure_rank(
            report.values(comparable, 0), report.values(comparable, 1), percent=NEAR,
            kinds=[c.kind.value for c in comparable],
        )  # fmt: skip
        report.add(
            RISK, "id_rank", "interval disclosure, ranks", rank,
            f"{rank:.3g} % of the cells ({names_of(comparable)}) rank within {NEAR:g} % of the records of the original "
            f"(nominal: equal){report.among(comparable)}.",
            unit="%",
        )  # fmt: skip
    elif comparable:
        report.skip(RISK, "interval disclosure, ranks", STARS_EVERYWHERE)
    else:
        report.skip(RISK, "interval disclosure, ranks", no_distance(report, "ranks"))


def no_number(report: Report) -> str:
    """Reason why no numeric column is included."""
    return STARS_EVERYWHERE if report.numeric else "no quasi-identifier is published as a number"


def no_distance(report: Report, what: str) -> str:
    """Reason why generalized columns are not included."""
    return f"{hold(report.generalised)} generalized labels, which have no {what}"


@dataclass(frozen=True, eq=False)
class Compared:
    """Tables that an intruder compares: the original's values and the published ones."""

    columns: list[PairedColumn]
    records: NDArray[np.bool_]
    sets: list[list[Values] | None]
    """Values that the labels of each generalized column may stand for."""
    perturbed: bool
    """Whether some value was replaced by another, so that nearness counts and not the possible meaning of a label."""

    @cached_property
    def stars(self) -> NDArray[np.bool_]:
        """Mask of the starred cells."""
        return np.stack([c.stars[self.records] for c in self.columns], axis=1)

    def among(self, records: NDArray[np.bool_]) -> Compared:
        """The same for some of the records."""
        return Compared(self.columns, records, self.sets, self.perturbed)

    def ties(self) -> NDArray[np.int64]:
        """Number of records tied with each record's own counterpart; 0 if another is nearer."""
        if not self.perturbed:
            with suppress(
                ManyRangesError
            ):  # the linkage below then gives the same, because every own record is at distance 0
                return self._candidates()
        X, Y, options = self.tables()
        return evaluators.link_ties(X, Y, **options)

    def _candidates(self) -> NDArray[np.int64]:
        """Number of candidates of each record, computed once per distinct record, of which there are few."""
        who, n_points = column_labels(c.original[self.records] for c in self.columns)
        points = self._rows([c.original for c in self.columns], first_records(who, n_points))
        # A star hides the value; the columns are read again to save memory.
        shown, n_shown = column_labels(np.where(c.stars, 0, c.protected + 1)[self.records] for c in self.columns)
        first = first_records(shown, n_shown)
        labels = self._rows([c.protected for c in self.columns], first)
        stars = self._rows([c.stars for c in self.columns], first)
        records = np.bincount(shown, minlength=n_shown)
        return candidates_of(points, labels, self.sets, stars.astype(np.bool_), records)[who]

    def _rows(self, columns: list[NDArray[Any]], which: NDArray[np.int64]) -> NDArray[np.int64]:
        place = np.flatnonzero(self.records)[which]
        return np.stack([column[place].astype(np.int64) for column in columns], axis=1)

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64], dict[str, Any]]:
        """Arguments of the linkages: numbers if both files have them, otherwise codes and recodings."""
        X, Y, kinds, recodings = [], [], [], {}
        for j, (column, sets) in enumerate(zip(self.columns, self.sets, strict=True)):
            before, after, kind = column.original, column.protected, column.kind.value
            if column.numbers is not None:
                before, after = column.numbers  # type: ignore[assignment]
            elif sets is not None:
                kind = "nominal"
                labels = np.where(column.stars, -1, column.protected)[self.records]
                recodings[j] = Recoding.of(sets, labels, column.n_categories)
            kinds.append(kind)
            X.append(before[self.records].astype(np.float64))
            Y.append(np.where(column.stars, 0, after)[self.records].astype(np.float64))
        options = {"kinds": kinds, "stars": self.stars, "recodings": recodings}
        return np.stack(X, axis=1), np.stack(Y, axis=1), options


def compared(report: Report) -> Compared:
    """Every quasi-identifier in the form in which an intruder compares it.

    Numbers and categories of the original are compared by distance, labels by the values that they may stand for, and
    a star matches every value.
    """
    sets = [None if column.comparable else column.sets(report.kept) for column in report.quasi]
    return Compared(report.quasi, report.kept, sets, bool(report.perturbed))


def linkage(report: Report) -> None:
    """Measure distance and probabilistic linkage on everything that an intruder can compare."""
    tables = compared(report)
    ties = tables.ties()
    report.linked = float((1 / ties[ties > 0]).sum())
    report.weakest = int((ties == 1).sum())
    report.add(
        RISK, "dbrl", "distance linkage", 100 * report.linked / report.n,
        f"An intruder who takes the nearest record is right for about {report.share(report.linked)}"
        f"{'; a star is near to every value' if report.n_stars else ''}.", unit="%",
    )  # fmt: skip
    report.add(
        RISK, "certain_links", "records found for certain", report.weakest,
        f"For {report.share(report.weakest)} the nearest record is the right one, and no other is as near.",
        unit="records", high=report.n,
    )  # fmt: skip
    if report.n_stars:
        without_stars(report, tables)
    if report.different > report.limit:
        report.skip(
            RISK, "probabilistic linkage",
            f"there are more than {report.limit:,} different records ({report.different:,}), and its time"
            " grows with their cube"
            " (--linkage-limit)",
        )  # fmt: skip
        return
    if len(report.quasi) > MOST_ATTRIBUTES:
        excess = f"{len(report.quasi)} attributes are more than the {MOST_ATTRIBUTES} that it can compare"
        report.skip(RISK, "probabilistic linkage", excess)
        return
    X, Y, options = tables.tables()
    found = evaluators.match_probabilistically(X, Y, limit=report.linked_at_most, **options)
    if not found.converged:
        report.notes.append(f"probabilistic linkage: EM did not converge within {found.iterations:,} iterations")
    report.linked = max(report.linked, found.share * report.n / 100)
    report.add(
        RISK, "prl", "probabilistic linkage", found.share,
        f"An intruder who weighs agreements is right for about {report.share(found.share * report.n / 100)}.",
        unit="%",
    )  # fmt: skip


def without_stars(report: Report, tables: Compared) -> None:
    """Measure linkage by an intruder who ignores records with a star: often right, because most records have none.

    In perturbed files a star, which is near to every value, may also hide the own record behind starred ones.
    """
    complete = report.kept.copy()
    complete[report.kept] = np.logical_not(report.some_stars().any(axis=1))
    ties = tables.among(complete).ties() if complete.any() else np.zeros(0, dtype=np.int64)
    linked = float((1 / ties[ties > 0]).sum())
    report.linked = max(report.linked, linked)
    certain = int((ties == 1).sum())
    if report.perturbed:
        report.weakest = max(report.weakest, certain)
    report.add(
        RISK, "dbrl_complete", "linkage, stars ignored", 100 * linked / report.n,
        f"An intruder who ignores records with a star is right for about {report.share(linked)}.", unit="%",
    )  # fmt: skip
    report.add(
        RISK, "certain_complete", "certain, stars ignored", certain,
        f"For {report.share(certain)} the right record is the nearest one without a star, and no other is as near.",
        unit="records", high=report.n,
    )  # fmt: skip

"""Attacks on perturbed values that the usual scores do not count, and the remaining usefulness of single records.

A search that minimizes a score finds files that are bad in ways that the score does not see: rows shifted against each
other, categories renamed, sums that no longer add up. These measures are taken for every file with perturbed
quasi-identifiers.
"""

from __future__ import annotations

from sdc_problems import evaluators
from sdc_problems.evaluators.attacks import RENAMED, SHIFTED
from sdc_problems.evaluators.cells.numeric import RSRL_PERCENTS
from sdc_problems.evaluators.edits import broken_edits, find_edits
from sdc_problems.evaluators.information_loss.records import SYNTHETIC, dealt_change
from sdc_problems.studies.verdict.pairing import PairedColumn
from sdc_problems.studies.verdict.parts import Report, names_of

RISK = "Disclosure between the files"
LOSS = "Information loss"

MOST_RECORDS = 20_000
"""Most records for which every record is compared with those of near ranks."""


def attacks(report: Report) -> None:
    """Measure copies, linkage within ranks and guesses; note where a file reveals what linkage does not detect."""
    if not report.perturbed:
        report.skip(RISK, "copies, rank linkage, guesses", "all values of the quasi-identifiers are original values")
        return
    numbers = _perturbed(report, report.numeric)
    if numbers:
        _on_numbers(report, numbers)
    categories = _perturbed(report, report.categorical)
    if categories:
        _guesses(report, categories)


def records(report: Report) -> None:
    """Measure the change of single values and of regressions between columns, and sums that no longer hold."""
    numbers = _perturbed(report, report.numeric)
    if not numbers:
        return
    among, which = report.among(numbers), names_of(numbers)
    X, Y = report.values(numbers, 0), report.values(numbers, 1)
    moved, dealt = evaluators.record_change(X, Y), dealt_change(X)
    report.add(
        LOSS, "record_change", "change of single values", moved,
        f"A number ({which}) is {moved / 100:.2f} standard deviations from the original one of its record on average;"
        f" {dealt / 100:.2f} if values are assigned to records at random{among}.", unit="%", high=None,
    )  # fmt: skip
    if moved >= SYNTHETIC * dealt > 0:
        report.notes.append(
            f"the numbers are practically synthetic: statistics may hold, but {which} of a record say nothing about its"
            " person"
        )
    if len(numbers) > 1:
        lost = evaluators.regression_change(X, Y)
        report.add(
            LOSS, "regression_change", "loss of regressions", lost,
            f"Predictions of one column from the others lose {lost:.3g} % of its variance{among}.", unit="%",
        )  # fmt: skip
    sums = find_edits(X)
    if sums:
        names = [column.name for column in numbers]
        shown = "; ".join(edit.text(names) for edit in sums[:3])
        broken = broken_edits(Y, sums)
        report.add(
            LOSS, "sums_broken", "records with broken sums", broken,
            f"A sum that holds in every original record ({shown}) is broken in {broken:.3g} %{among}.", unit="%",
        )  # fmt: skip


def _perturbed(report: Report, columns: list[PairedColumn]) -> list[PairedColumn]:
    """These columns, if one of them is perturbed and there are at least two records to compare."""
    told = any(column in report.perturbed for column in columns)
    return columns if told and int(report.whole(columns).sum()) > 1 else []


def _on_numbers(report: Report, columns: list[PairedColumn]) -> None:
    among = report.among(columns)
    X, Y = report.values(columns, 0), report.values(columns, 1)
    copied = evaluators.copies(X, Y)
    report.add(
        RISK, "copies", "copies of original records", copied,
        f"{copied:.3g} % of the records nearly repeat the numbers of an original record, in any row{among}.",
        unit="%",
    )  # fmt: skip
    if copied >= SHIFTED:
        report.notes.append(
            f"{copied:.3g} % of the records are in the file unchanged, perhaps in other rows: linkage looks"
            " for a record"
            " in its own row and does not notice that"
        )
    if len(X) > MOST_RECORDS:
        report.skip(RISK, "rank linkage", f"{len(X):,} records are more than {MOST_RECORDS:,}")
        return
    linked, percent = max((evaluators.rsrl(X, Y, percent=percent), percent) for percent in RSRL_PERCENTS)
    report.add(
        RISK, "rsrl", "linkage within ranks", linked,
        f"An intruder who assumes that ranks moved by at most {percent} % is right for {linked:.3g} %{among}.",
        unit="%",
    )  # fmt: skip
    report.linked = max(report.linked, linked * len(X) / 100)


def _guesses(report: Report, columns: list[PairedColumn]) -> None:
    among = report.among(columns)
    X, Y = report.codes(columns, 0), report.codes(columns, 1)
    right = evaluators.guess(X, Y)
    report.add(
        RISK, "guess", "cells guessed", right,
        "An intruder who knows the most likely original category of each published one gets"
        f" {right:.3g} % of the cells ({names_of(columns)}) right{among}.", unit="%",
    )  # fmt: skip
    near = evaluators.interval_disclosure_rank(X, Y, percent=10.0, kinds=[c.kind.value for c in columns])
    if right - near >= RENAMED:
        report.notes.append(
            f"categories of {names_of(columns)} are practically renamed: only {near:.3g} % are near the original ones,"
            f" but {right:.3g} % are guessed"
        )

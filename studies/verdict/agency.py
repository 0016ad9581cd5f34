"""Risk as agencies report it: prosecutor, journalist, marketer; uniqueness in sample and population; SUDA2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdc_problems import evaluators
from sdc_problems._slices import slices
from sdc_problems._tables.columns import parse_numbers
from sdc_problems._tables.intervals import parse_interval
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import unique_rows
from sdc_problems.evaluators.uniques import refuse_long
from sdc_problems.microdata import Kind, Microdata
from sdc_problems.studies.verdict.pairing import PairedColumn
from sdc_problems.studies.verdict.parts import Report

AGENCY = "Risk as agencies report it"
_SPECIAL = 3  # most attributes of a combination
_WORK = 5_000_000_000  # most comparisons of a population with the classes of a file


@dataclass(frozen=True)
class Beyond:
    """Knowledge besides the file about the original's records, in their order.

    Attributes
    ----------
    population
        A table of the population with the quasi-identifiers; None if there is none.
    weights
        Number of persons that each record represents; None if unknown.
    households
        Number of each record's household; None if unknown.
    """

    population: Microdata | None = None
    weights: NDArray[np.float64] | None = None
    households: NDArray[np.int64] | None = None


def beyond(original: Microdata, *, population: Microdata | None, weights: str | None, households: str | None) -> Beyond:
    """Read the knowledge besides the file from the columns that hold it.

    Parameters
    ----------
    original
        The table before protection.
    population
        A table of the population.
    weights, households
        Names of columns of the original.
    """
    found = None
    if weights is not None:
        attribute = original.attribute(weights)
        if attribute.kind is not Kind.NUMERIC or attribute.has_missing:
            raise SDCError(f"sampling weights must be numbers without gaps: column {weights!r} is not")
        found = attribute.numbers[original.codes(weights)[:, 0]]
        if (found < 1).any():
            raise SDCError(
                f"{int((found < 1).sum()):,} sampling weights of column {weights!r} are below 1: a record stands for"
                " one person at least"
            )
    return Beyond(population, found, None if households is None else original.codes(households)[:, 0].astype(np.int64))


def agency(report: Report, beyond: Beyond) -> None:
    """Take the measures that agencies use."""
    classes = report.classes
    sizes = evaluators.class_sizes(classes)
    n, groups = report.n, len(np.unique(classes))
    alone = int((sizes == 1).sum())
    report.add(
        AGENCY, "sample_uniques", "sample uniques", alone,
        f"{report.share(alone)} are unique in the file by their quasi-identifiers.", unit="records", high=n,
    )  # fmt: skip
    report.add(
        AGENCY, "prosecutor_max", "prosecutor risk, highest", 100 / int(sizes.min()),
        f"An intruder who knows that a person is in the file finds the right record with a probability of at most"
        f" {100 / int(sizes.min()):.3g} %.",
        unit="%",
    )  # fmt: skip
    report.add(
        AGENCY, "prosecutor_mean", "prosecutor risk, mean", 100 * groups / n,
        f"On average, {100 * groups / n:.3g} % of such attempts find the right record.", unit="%",
    )  # fmt: skip
    special(report)
    risk = 1.0 / sizes
    if beyond.population is not None:
        in_population(report, sizes, beyond.population)
    elif beyond.weights is not None:
        risk = by_weights(report, classes, sizes, beyond.weights[report.kept])
    else:
        report.skip(
            AGENCY, "journalist and marketer risk, k-map, population uniqueness",
            "no population (--population) and no sampling weights (--weights) were given",
        )  # fmt: skip
    if beyond.households is not None:
        in_households(report, risk, beyond.households[report.kept])


def special(report: Report) -> None:
    """Measure special uniques, and the attributes that cause them."""
    names = [column.name for column in report.quasi]
    if len(names) < 2:
        report.skip(AGENCY, "special uniques (SUDA2)", "one quasi-identifier has no combinations")
        return
    try:
        refuse_long(report.n, len(names), _SPECIAL)
        found = evaluators.special_uniques(report.shown(), largest=_SPECIAL)
    except SDCError as error:
        report.skip(AGENCY, "special uniques (SUDA2)", str(error))
        return
    singled = int((found.sizes > 0).sum())
    most = min(_SPECIAL, len(names) - 1)
    order = np.argsort(-found.contributions, kind="stable")[:3]
    parts = ", ".join(f"{names[j]} ({found.contributions[j]:.0f} %)" for j in order if found.contributions[j] > 0)
    report.add(
        AGENCY, "special_uniques", "special uniques (SUDA2)", singled,
        f"{report.share(singled)} are singled out by {most} or fewer of the {len(names)} quasi-identifiers"
        + (f"; the attributes that occur most: {parts}." if parts else "."),
        unit="records", high=report.n,
    )  # fmt: skip
    report.add(
        AGENCY, "suda_max", "highest SUDA2 score", float(found.scores.max()),
        f"The riskiest record has a score of {found.scores.max():.4g}: the sum over the smallest combinations that"
        " single it out, where combinations of fewer attributes count more.",
        high=None,
    )  # fmt: skip


def by_weights(
    report: Report, classes: NDArray[np.int64], sizes: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Measure the risk in a sample whose population is known by weights; return the risk of each record."""
    risk = evaluators.individual_risk(classes, weights)
    stands_for = evaluators.population_counts(classes, weights)
    n, total = report.n, float(risk.sum())
    uniques = float((1.0 / stands_for)[sizes == 1].sum())
    report.add(
        AGENCY, "population_uniques", "population uniques, estimated", uniques,
        f"About {report.share(uniques)} are expected to be unique in the population, too.", unit="records", high=n,
    )  # fmt: skip
    report.add(
        AGENCY, "individual_risk_max", "individual risk, highest", 100 * float(risk.max()),
        f"The riskiest record is re-identified with a probability of {100 * risk.max():.3g} % (Benedetti and Franconi,"
        " by the weights).",
        unit="%",
    )  # fmt: skip
    report.add(
        AGENCY, "global_risk", "global risk", 100 * total / n,
        f"About {report.share(total)} are expected to be re-identified if the whole file is attacked.", unit="%",
    )  # fmt: skip
    report.add(
        AGENCY, "k_map", "k-map, estimated", float(stands_for.min()),
        f"Each record fits about {stands_for.min():,.0f} or more persons of the population.",
        unit="persons", low=1, high=None, better="higher",
    )  # fmt: skip
    _journalist(report, stands_for)
    return risk


def in_population(report: Report, sizes: NDArray[np.int64], population: Microdata) -> None:
    """Measure the risk by a table of the population itself."""
    fits = population_fits(report, population)
    if fits is None:
        report.skip(
            AGENCY, "journalist and marketer risk, k-map, population uniqueness",
            f"there are too many persons ({len(population):,}) and classes to compare",
        )  # fmt: skip
        return
    absent = int((fits < sizes).sum())
    if absent:
        report.notes.append(
            f"{absent:,} records fit fewer persons of the population than records of the file: the population lacks"
            " them or writes values differently; the size of their own class is used instead"
        )
    fits = np.maximum(fits, sizes)
    uniques = int((fits == 1).sum())
    report.add(
        AGENCY, "population_uniques", "population uniques", uniques,
        f"{report.share(uniques)} fit only one person of the population.", unit="records", high=report.n,
    )  # fmt: skip
    report.add(
        AGENCY, "k_map", "k-map", int(fits.min()),
        f"Each record fits {int(fits.min()):,} or more persons of the population.",
        unit="persons", low=1, high=len(population), better="higher",
    )  # fmt: skip
    _journalist(report, fits.astype(np.float64))


def _journalist(report: Report, stands_for: NDArray[np.float64]) -> None:
    highest, mean = 100 / float(stands_for.min()), 100 * float((1 / stands_for).mean())
    report.add(
        AGENCY, "journalist_max", "journalist risk, highest", highest,
        "An intruder who wants to find any record at all succeeds with a probability of at most"
        f" {highest:.3g} %.", unit="%",
    )  # fmt: skip
    report.add(
        AGENCY, "marketer", "marketer risk", mean,
        f"An intruder who links the whole file to the population is right for about"
        f" {report.share(mean * report.n / 100)}.",
        unit="%",
    )  # fmt: skip


def in_households(report: Report, risk: NDArray[np.float64], households: NDArray[np.int64]) -> None:
    """Measure the risk that a member of a household is found, because then all are."""
    together = evaluators.household_risk(risk, households)
    report.add(
        AGENCY, "household_risk_max", "household risk, highest", 100 * float(together.max()),
        f"In the riskiest household, a member is found with a probability of {100 * together.max():.3g} %, and then all"
        " are known.",
        unit="%",
    )  # fmt: skip
    report.add(
        AGENCY, "household_risk_mean", "household risk, mean", 100 * float(together.mean()),
        f"About {report.share(float(together.sum()))} live in a household of which a member is found.", unit="%",
    )  # fmt: skip


def population_fits(report: Report, population: Microdata) -> NDArray[np.int64] | None:
    """Number of persons of a population that each published record may be; None if that is too much work.

    A label stands for the values that were published under it, an interval for all values in it, a star for every
    value. A value that does not occur in the original fits only intervals and stars.
    """
    names = [column.name for column in report.quasi]
    lacking = [name for name in names if name not in population.names]
    if lacking:
        raise SDCError(f"the population has no column {lacking[0]!r}: it needs every quasi-identifier")
    persons, _, counts = unique_rows(population.codes(names))
    shown, where, _ = unique_rows(np.where(report.some_stars(), -1, report.shown()))
    if len(shown) * len(persons) * len(names) > _WORK:
        return None
    fit = [_fitting(column, report, population.attribute(column.name).labels) for column in report.quasi]
    found = np.empty(len(shown), dtype=np.int64)
    for low, high in slices(len(shown), steps=persons.size, what="records looked for in the population"):
        for i in range(low, high):
            these = np.arange(len(persons))
            for j, code in enumerate(shown[i].tolist()):
                if code >= 0:
                    these = these[fit[j][code][persons[these, j]]]
            found[i] = counts[these].sum()
    return found[where]


def _fitting(column: PairedColumn, report: Report, texts: list[str]) -> dict[int, NDArray[np.bool_]]:
    """Mask of the values of the population that each published label may stand for."""
    place = {text: code for code, text in enumerate(column.labels[: column.n_categories])}
    codes = np.array([place.get(text, -1) for text in texts])
    parsed = parse_numbers(texts) if column.kind is Kind.NUMERIC else None
    sets = column.sets(report.kept)
    found = {}
    for code in np.unique(column.protected[report.kept]).tolist():
        interval = parse_interval(column.labels[code]) if code >= column.n_categories else None
        if interval is not None and parsed is not None and not column.misplaced:
            found[code] = interval.holds(parsed)
        else:
            found[code] = np.isin(codes, np.asarray(sets[code])) & (codes >= 0)
            found[code] |= np.array([text == column.labels[code] for text in texts])
    return found

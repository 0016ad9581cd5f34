"""Verdict on a protected file whose rows were shuffled, in an unknown order.

It has the measures that are counted in the file alone, and the statistics of whole columns, but not measures that
compare the two records of a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems import evaluators
from sdc_problems.errors import SDCError
from sdc_problems.microdata import Microdata
from sdc_problems.studies.verdict.leaves import Leaves
from sdc_problems.studies.verdict.loss import LOSS
from sdc_problems.studies.verdict.pairing import Fate, PairedColumn, Pairing, check_roles, paired_column
from sdc_problems.studies.verdict.parts import Report, names_of
from sdc_problems.studies.verdict.risk import RISK, anonymity

NO_PAIRS = "the rows are shuffled, and without the rows file they cannot be paired"
NOTE = (
    "the rows of the protected file were shuffled, and its rows file is missing. So the verdict measures the file by"
    " itself and the loss of whole columns, but not how many records are re-identified. Put OUT.rows.csv beside OUT, or"
    " name it (--rows)"
)


def unpaired_report(
    original: Microdata,
    protected: Microdata,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    linkage_limit: int,
    leaf_counts: Mapping[str, Leaves],
) -> Report:
    """Measures of two tables whose rows do not correspond.

    Parameters
    ----------
    original, protected
        The tables; the protected one may have fewer records.
    quasi_identifiers, sensitive
        Names of columns.
    linkage_limit, leaf_counts
        As for `verdict`.
    """
    check_roles(original, protected, quasi_identifiers, sensitive)
    if len(protected) > len(original):
        raise SDCError(
            f"the files have different numbers of records: {len(original):,} in the original, {len(protected):,} in the"
            " protected file; is this the protected copy of that file?"
        )
    columns = {
        name: paired_column(
            original, protected, name, quasi=name in quasi_identifiers, measured=True, same_rows=True, paired=False
        )
        for name in (*quasi_identifiers, *sensitive)
    }
    starred = np.all([columns[name].stars for name in quasi_identifiers], axis=0)
    if starred.all():
        starred[:] = False
    columns = {name: _settled(column, ~starred) for name, column in columns.items()}
    pairing = Pairing(
        len(original),
        tuple(columns[name] for name in quasi_identifiers),
        tuple(columns[name] for name in sensitive),
        starred,
        (NOTE,),
    )
    report = Report(pairing, linkage_limit, leaf_counts, n_dropped=original.n_dropped)
    anonymity(report)
    report.skip(RISK, "interval disclosure, distance and probabilistic linkage", NO_PAIRS)
    report.skip(RISK, "risk by a population, weights or households", NO_PAIRS)
    _statistics(report)
    _detail(report, len(original) - len(protected))
    report.skip(LOSS, "IL, DBIL, EBIL, non-uniform entropy, χ², scores of the literature", NO_PAIRS)
    return report


def _settled(column: PairedColumn, kept: NDArray[np.bool_]) -> PairedColumn:
    """The column with its kind of change, as far as the values of both files show it."""
    shown = kept & ~column.stars
    if not shown.any():
        return replace(column, fate=Fate.GENERALISED, tables=None)  # a single label for all
    old: NDArray[Any]
    new: NDArray[Any]
    if column.numbers is not None:
        values, codes = np.unique(np.concatenate([column.numbers[0], column.numbers[1][shown]]), return_inverse=True)
        old, new = codes[: len(column.original)], codes[len(column.original) :]
        size = len(values)
    else:
        old, new, size = column.original, column.protected[shown], len(column.labels)
        if (new >= column.n_categories).any():
            return column
    had, has = np.bincount(old, minlength=size), np.bincount(new, minlength=size)
    if (has > had).any() or (len(new) == len(old) and (has < had).any()):
        return replace(column, fate=Fate.PERTURBED)
    return replace(column, fate=Fate.STARRED if column.stars[kept].any() else Fate.UNCHANGED)


def _statistics(report: Report) -> None:
    """Measure the loss of the statistics of whole columns, if both files have as many cells."""
    numeric = [c for c in report.numeric if _complete(c)]
    if numeric and len(numeric[0].original) > 1:
        X, Y = (np.stack([c.numbers[which] for c in numeric if c.numbers is not None], axis=1) for which in (0, 1))
        pil = evaluators.pil(X, Y)
        report.add(
            LOSS, "pil", "PIL, probabilistic", pil,
            f"Relative to their sampling errors, the statistics of {names_of(numeric)} lost {pil:.3g} %.", unit="%",
        )  # fmt: skip
    else:
        report.skip(LOSS, "PIL", "no quasi-identifier is published as a number in every record")
    categories = [c for c in report.categorical if _complete(c)]
    if categories:
        codes = (np.stack([(c.original, c.protected)[which] for c in categories], axis=1) for which in (0, 1))
        tables = evaluators.ctbil(*codes)
        report.add(
            LOSS, "ctbil", "CTBIL, contingency tables", tables,
            f"{tables:.3g} % of the counts in the tables of one and two attributes ({names_of(categories)}) are"
            " misplaced.", unit="%",
        )  # fmt: skip
    else:
        report.skip(LOSS, "CTBIL", "no quasi-identifier is published with the original categories in every record")


def _complete(column: PairedColumn) -> bool:
    return len(column.original) == len(column.protected) and not column.stars.any()


def _detail(report: Report, left_out: int) -> None:
    """GLM, if the leaves of every label are known; a record that is left out has lost everything."""
    columns = [c for c in report.quasi if c.fate is not Fate.PERTURBED]
    known = [entry for c in columns if (entry := c.known_leaves(report.leaf_counts.get(c.name))) is not None]
    if not columns or len(known) < len(columns):
        report.skip(LOSS, "GLM", "the leaves of the hierarchies are not known" if columns else NO_PAIRS)
        return
    leaves = np.stack([np.append(cells, [total] * left_out) for cells, total in known], axis=1)
    suppressed = np.append(report.pairing.suppressed, np.ones(left_out, dtype=np.bool_))
    percent = evaluators.glm_percent(leaves, [total for _, total in known], suppressed=suppressed)
    lost = report.with_those_left_out(percent)
    report.add(
        LOSS, "glm_percent", "GLM, percent", percent,
        f"A published value stands for {percent:.3g} % of the other values of its attribute on average{lost}; by the"
        " leaves of the hierarchies.", unit="%",
    )  # fmt: skip

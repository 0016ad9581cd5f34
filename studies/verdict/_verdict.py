"""Verdict on a protected file: every measure that applies, in groups, each with its range and a plain sentence.

It names columns and counts records; it never quotes a cell of either file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._tables.coded import coded_frame
from sdc_problems._tables.views import table_view
from sdc_problems._validation import IntArray, whole
from sdc_problems.evaluators._codes import column_labels
from sdc_problems.microdata import Microdata
from sdc_problems.studies.verdict.leaves import Leaves
from sdc_problems.studies.verdict.pairing import Pairing, as_protected, check_roles, pair_files, placed
from sdc_problems.studies.verdict.parts import Measure, Report, Skipped

if TYPE_CHECKING:
    import pandas as pd

VERDICT_SCHEMA = "sdc.verdict/2"

#: Most distinct records for which probabilistic linkage is worth its time.
LINKAGE_LIMIT = 2000


@dataclass(frozen=True)
class Verdict:
    """Verdict on a protected file, for a data steward before a release."""

    n_records: int
    n_suppressed: int
    n_dropped: int
    """Number of records that were left out because of missing values, before anything was measured."""
    columns: tuple[tuple[str, str, str, str], ...]
    """Name, role, kind and fate of the columns that were measured."""
    measures: tuple[Measure, ...]
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]
    weakest: int | None
    """Number of records that an intruder who knows the quasi-identifiers is certain to find; None if unknown."""
    risk: str
    """The disclosure risk in a sentence."""
    utility: str
    """The information loss in a sentence."""
    compared: bool = True
    """Whether two files were compared, or only one was measured."""

    def value(self, name: str, of: str = "") -> float | None:
        """Value of a measure by its name; None if it does not apply."""
        for measure in self.measures:
            if measure.name == name and (not of or measure.of == of):
                return measure.value
        return None

    def _repr_html_(self) -> str:
        files = "two files" if self.compared else "one file"
        rows = [[m.group, m.label + (f" ({m.of})" if m.of else ""), m.value, m.unit] for m in self.measures]
        caption = f"Verdict on {files}: {self.n_records:,} records"
        return table_view(caption, ["", "measure", "value", "unit"], rows, notes=[self.risk, self.utility])

    def payload(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        return {
            "schema": VERDICT_SCHEMA,
            "records": self.n_records,
            "records_of": self.n_records + self.n_dropped,
            "suppressed": self.n_suppressed,
            "records_dropped_for_missing_values": self.n_dropped,
            "weakest_records": self.weakest,
            "risk": self.risk,
            "utility": self.utility,
            "columns": [dict(zip(("name", "role", "kind", "fate"), column, strict=True)) for column in self.columns],
            "measures": [
                {
                    "group": m.group,
                    "name": m.name,
                    "of": m.of or None,
                    "label": m.label,
                    "value": m.value,
                    "before": m.before,
                    "unit": m.unit,
                    "range": [m.low, m.high],
                    "better": m.better or None,
                    "sentence": m.sentence,
                }
                for m in self.measures
            ],
            "not_applicable": [{"group": s.group, "label": s.label, "why": s.why} for s in self.skipped],
            "notes": list(self.notes),
        }


def verdict(
    original: Microdata,
    protected: Microdata | pd.DataFrame | None = None,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    population: Microdata | None = None,
    weights: str | None = None,
    households: str | None = None,
    same_rows: bool = False,
    rows: ArrayLike | None = None,
    shuffled: bool = False,
    linkage_limit: int = LINKAGE_LIMIT,
    leaf_counts: Mapping[str, Leaves] | None = None,
    missing_as_star: bool | None = None,
) -> Verdict:
    """Measure the disclosure risk and the information loss of a protected file.

    Parameters
    ----------
    original
        The table before protection; its kinds decide which measures apply.
    protected
        The table after it: the same columns except direct identifiers, and the same records, in the same rows
        unless `rows` or `shuffled` says otherwise. Quasi-identifiers may hold generalized labels; a suppressed cell is
        ``*`` or missing. If it is not given, the risk of the unprotected original is measured.
    quasi_identifiers, sensitive
        Names of columns; by default those with these roles in the original.
    population
        A table of the population with the quasi-identifiers, written as in the original.
    weights
        Column of the original with sampling weights: the number of persons that a record represents.
    households
        Column of the original that says who lives together: if one member is found, all are.
    same_rows
        Whether the rows are known to correspond although a column looks shuffled.
    rows
        Record of the original that each row of the protected table is, counted from 0 in the file or frame from which
        the original was read. Records that are not named were left out.
    shuffled
        Whether the rows do not correspond, in an unknown order: only measures that need no pairs are taken.
    linkage_limit
        Most records for which the probabilistic linkage is computed.
    leaf_counts
        Leaves of the hierarchies behind generalized columns (``studies.verdict.leaves``). Without them, GLM is computed
        over the values that occur, under another name.
    missing_as_star
        Whether cells that are missing in the original may stand for every value; otherwise they are a separate value.
        By default as in the original (``missing="star"``).

    Returns
    -------
    Verdict
        Also for files with values of only one kind: measures that do not apply are listed with the reason.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [21, 24, 35, 38], "flu": ["no", "yes", "no", "yes"]})
    >>> data = Microdata.from_frame(frame, quasi_identifiers=["age"], sensitive=["flu"])
    >>> found = verdict(data, frame.assign(age=["20-29", "20-29", "30-39", "30-39"]))
    >>> found.value("k"), found.value("distinct_l", of="flu")
    (2, 2)
    """
    from sdc_problems.studies.verdict.agency import beyond
    from sdc_problems.studies.verdict.loss import all_losses
    from sdc_problems.studies.verdict.risk import all_risks, risks_alone

    quasi = original.quasi_identifiers if quasi_identifiers is None else tuple(quasi_identifiers)
    private = original.sensitive if sensitive is None else tuple(sensitive)
    limit = whole(linkage_limit, "linkage_limit", least=1)
    compared = protected is not None
    table = as_protected(_measured(original, (*quasi, *private)) if protected is None else protected)
    del protected  # a table of ten million records must not be in memory twice
    if rows is not None:
        check_roles(original, table, quasi, private)
        table = placed(original, table, np.asarray(rows, dtype=np.int64), quasi)
    elif shuffled:
        from sdc_problems.studies.verdict.unpaired import unpaired_report

        report = unpaired_report(
            original,
            table,
            quasi_identifiers=quasi,
            sensitive=private,
            linkage_limit=limit,
            leaf_counts=leaf_counts or {},
        )
        more = _known_besides(report, _Besides.of(original, table, report))
        risk = "; ".join([_unpaired_risk(report), *more])
        return _verdict(original, report, None, risk, _utility(report, all_measured=False))
    pairing = pair_files(
        original if compared else original.with_roles(identifiers=_others(original, (*quasi, *private))),
        table,
        quasi_identifiers=quasi,
        sensitive=private,
        same_rows=same_rows or rows is not None,
        missing_as_star=original.missing_as_star if missing_as_star is None else missing_as_star,
    )
    report = Report(pairing, limit, leaf_counts or {}, n_dropped=original.n_dropped)
    besides = _Besides.of(original, table if compared else original, report, (weights, households))
    del table
    known = beyond(original, population=population, weights=weights, households=households)
    if not compared:
        risks_alone(report, known)
        risk, utility = _risk_alone(report), "not measured, because only one file was given"
    else:
        all_risks(report, known)
        all_losses(report)
        risk, utility = _risk(report), _utility(report)
    risk = "; ".join([risk, *_known_besides(report, besides)])
    return _verdict(original, report, report.weakest, risk, utility, compared=compared)


class _Besides(NamedTuple):
    """Columns that no measure covers, with their cells in the remaining records: only these are kept."""

    names: list[str]
    codes: list[NDArray[np.int32]]

    @classmethod
    def of(cls, original: Microdata, table: Microdata, report: Report, used: Sequence[str | None] = ()) -> _Besides:
        """Take these columns of a published table."""
        declared = [c.name for c in (*report.pairing.quasi_identifiers, *report.pairing.sensitive)]
        names = [name for name in table.names if name not in (*declared, *used, *original.identifiers)]
        return cls(names, [table.attribute(name).codes for name in names])

    def singled_out(self, report: Report) -> tuple[int, int]:
        """Number of published records that these columns single out, alone and with the other columns."""
        alone, n_alone = column_labels(codes[report.kept] for codes in self.codes)
        together, n_together = column_labels([alone, report.classes])

        def once(found: IntArray, n: int) -> int:
            return int((np.bincount(found, minlength=n) == 1).sum())

        return once(alone, n_alone), once(together, n_together)


def _known_besides(report: Report, besides: _Besides) -> list[str]:
    """Add the measure of the columns without a role, and return its sentences for the headline."""
    names = besides.names
    if not names:
        return []
    alone, together = besides.singled_out(report)
    from sdc_problems.studies.verdict.risk import ANONYMITY

    listed = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    report.add(
        ANONYMITY, "alone_besides", "records alone by other columns", together,
        f"{report.share(alone)} are unique in {listed}, which have no role;"
        f" {report.share(together)} are unique in these and the quasi-identifiers together.",
        unit="records", high=report.n,
    )  # fmt: skip
    return [f"{report.share(together)} are unique for an intruder who also knows {listed}"] if together else []


def _verdict(
    original: Microdata, report: Report, weakest: int | None, risk: str, utility: str, *, compared: bool = True
) -> Verdict:
    pairing = report.pairing
    left_out = pairing.n_records - len(pairing.suppressed)  # nonzero only if records are not paired
    return Verdict(
        n_records=pairing.n_records,
        n_suppressed=int(pairing.suppressed.sum()) + left_out,
        n_dropped=original.n_dropped,
        columns=tuple(_columns(pairing)),
        measures=tuple(report.measures),
        skipped=tuple(report.skipped),
        notes=(*pairing.notes, *report.notes),
        weakest=weakest,
        risk=risk,
        utility=utility,
        compared=compared,
    )


def _columns(pairing: Pairing) -> list[tuple[str, str, str, str]]:
    roles = (("quasi-identifier", pairing.quasi_identifiers), ("sensitive", pairing.sensitive))
    return [(c.name, role, c.kind.value, c.fate.value) for role, columns in roles for c in columns]


def _unpaired_risk(report: Report) -> str:
    k = int(report.value("k"))
    alone = "at least one record is unique in its quasi-identifiers"
    hidden = alone if k == 1 else f"every record of the file looks like at least {k - 1:,} others"
    unknown = (
        "not known: the rows are shuffled, and without the rows file it cannot be counted how many records an intruder"
        " re-identifies"
    )
    return "; ".join([unknown, hidden, *_dropped(report)])


def _risk(report: Report) -> str:
    suppressed = report.pairing.n_records - report.n
    parts = [
        f"an intruder who knows the quasi-identifiers re-identifies about {report.share(report.linked)}, "
        f"{report.weakest:,} of them for certain"
    ]
    if report.has("certain_complete") and report.value("certain_complete") > report.weakest:
        parts.append(f"{report.value('certain_complete'):,.0f} for certain if the intruder ignores starred records")
    if not report.perturbed and report.has("distinct_l") and report.value("distinct_l") == 1:
        parts.append("in at least one class, all records have the same sensitive value")
    if suppressed:
        parts.append(f"{suppressed:,} records are suppressed and not counted")
    return "; ".join([*parts, *_dropped(report)])


def _risk_alone(report: Report) -> str:
    said = f"{report.share(report.value('sample_uniques'))} are unique in the quasi-identifiers"
    return "; ".join([said, *_dropped(report)])


def _dropped(report: Report) -> list[str]:
    if not report.n_dropped:
        return []
    gone = f"{report.n_dropped:,} of {report.of_all:,} records"
    return [f"{gone} were left out because of missing values and are not counted"]


def _others(data: Microdata, measured: Sequence[str]) -> list[str]:
    return [name for name in data.names if name not in measured]


def _measured(data: Microdata, names: Sequence[str]) -> pd.DataFrame:
    """The measured columns in the form of an unchanged protected file."""
    return coded_frame(data)[[name for name in data.names if name in names]]


def _utility(report: Report, *, all_measured: bool = True) -> str:
    coarser = "generalized" if report.generalised or not report.n_stars else "starred"
    lost = [
        f"{what} lost {report.value(name):.3g} %{measured}"
        for name, what, measured in (
            ("pil", "the statistics of the numbers", ""),
            ("il_categorical", "the categories", ""),
            ("entropy_loss_percent", f"the {coarser} columns", " of their information (entropy)"),
            *([("glm_percent", f"the {coarser} columns", " (GLM)")] if not report.has("entropy_loss_percent") else []),
        )
        if report.has(name) and report.value(name) > 0
    ]
    if report.n_stars:
        cells = report.n * len(report.quasi)
        lost.append(f"{report.n_stars:,} of {cells:,} cells are starred ({100 * report.n_stars / cells:.3g} %)")
    if not lost and report.has("unchanged_cells") and report.value("unchanged_cells") < 100:
        changed = 100 - report.value("unchanged_cells")  # exchanged values do not change a column's statistics
        lost.append(f"{changed:.3g} % of the cells of the quasi-identifiers have other values")
    suppressed = report.pairing.n_records - report.n
    if suppressed:
        n = report.pairing.n_records
        lost.append(f"{suppressed:,} of {n:,} records are suppressed ({100 * suppressed / n:.3g} %)")
    if not all_measured:
        lost.append("the loss of coarser or changed cells is not known, because the rows are not paired")
    if report.n_dropped:
        gone = 100 * report.n_dropped / report.of_all
        lost.append(
            f"{report.n_dropped:,} of {report.of_all:,} records were left out because of missing values ({gone:.3g} %)"
        )
    return "; ".join(lost) if lost else "none that these measures detect"

"""Information loss in a verdict: numbers, categories, detail and associations, and the published scores."""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import NDArray

from sdc_problems import evaluators
from sdc_problems.evaluators._codes import column_labels
from sdc_problems.evaluators.information_loss.generalization import column_entropy, column_glm, share_lost
from sdc_problems.evaluators.linkage.probabilistic import ConvergenceWarning
from sdc_problems.microdata import Kind
from sdc_problems.studies.report.text import number
from sdc_problems.studies.verdict.attacks import records
from sdc_problems.studies.verdict.pairing import Fate, PairedColumn
from sdc_problems.studies.verdict.parts import Report, hold, names_of, share
from sdc_problems.studies.verdict.risk import STARS_EVERYWHERE, no_distance, no_number

LOSS = "Information loss"
SCORE = "Scores of the literature"


def all_losses(report: Report) -> None:
    """Take every measure of information loss that applies, in the order of display."""
    numbers(report)
    records(report)
    categories(report)
    detail(report)
    sensitive(report)
    associations(report)
    scores(report)


def numbers(report: Report) -> None:
    """IL1 … IL5 and the probabilistic loss of the columns that are still numeric."""
    if int(report.whole(report.numeric).sum()) < 2 if report.numeric else True:
        report.skip(LOSS, "IL, PIL", no_number(report))
        return
    among = report.among(report.numeric)
    X, Y = report.values(report.numeric, 0), report.values(report.numeric, 1)
    parts = evaluators.il_components(X, Y)
    listed = ", ".join(f"{name} {100 * part:.3g} %" for name, part in zip(parts._fields, parts, strict=True))
    report.add(
        LOSS, "il_statistics", "IL, relative change of statistics", parts.percent,
        f"Mean relative change of {names_of(report.numeric)}{among}: {listed}.", unit="%", high=None,
    )  # fmt: skip
    pil = evaluators.pil(X, Y)
    report.add(
        LOSS, "pil", "PIL, probabilistic", pil,
        f"Relative to their sampling errors, the statistics lost {pil:.3g} % (0: as good as the original){among}.",
        unit="%",
    )  # fmt: skip


def categories(report: Report) -> None:
    """CTBIL, DBIL and EBIL of the columns that still hold the original's categories."""
    columns = report.categorical
    if not columns:
        report.skip(LOSS, "CTBIL, DBIL, EBIL", "no quasi-identifier is published with the original categories")
        return
    if not report.whole(columns).any():
        report.skip(LOSS, "CTBIL, DBIL, EBIL", STARS_EVERYWHERE)
        return
    among = report.among(columns)
    X, Y = report.codes(columns, 0), report.codes(columns, 1)
    kinds, sizes = [c.kind.value for c in columns], [c.n_categories for c in columns]
    which = names_of(columns)
    tables = evaluators.ctbil(X, Y)
    report.add(
        LOSS, "ctbil", "CTBIL, contingency tables", tables,
        f"{tables:.3g} % of the counts in the tables of one and two attributes ({which}) are misplaced{among}.",
        unit="%",
    )  # fmt: skip
    distance = evaluators.dbil(X, Y, kinds=kinds, n_categories=sizes)
    report.add(
        LOSS, "dbil", "DBIL, distances", distance,
        f"Categories moved by {distance:.3g} % of the largest distance on average{among}.", unit="%",
    )  # fmt: skip
    entropy = evaluators.ebil(X, Y, n_categories=sizes)
    report.add(
        LOSS, "ebil", "EBIL, entropy", entropy,
        f"The published category leaves {entropy:.3g} % of the uncertainty about the original one{among}.", unit="%",
    )  # fmt: skip
    report.add(
        LOSS, "il_categorical", "mean of CTBIL, DBIL, EBIL", (tables + distance + entropy) / 3,
        "The categorical information loss of the literature.", unit="%",
    )  # fmt: skip


def detail(report: Report) -> None:
    """Loss of detail by coarser labels and suppressed records."""
    perturbed = report.perturbed
    columns = [c for c in report.quasi if c.fate is not Fate.PERTURBED]
    suppressed = report.pairing.suppressed
    if not report.generalised and not suppressed.any() and not report.n_stars:
        report.skip(LOSS, "GLM, entropy loss", "no quasi-identifier was generalized, and nothing was suppressed")
    elif columns:
        without = f" (without {names_of(perturbed)}: other values, not coarser ones)" if perturbed else ""
        general_loss(report, columns, without)
        bits = [column_entropy(c.original, c.protected, suppressed | c.stars) for c in columns]
        entropy = share_lost(sum(lost for lost, _ in bits), sum(worst for _, worst in bits))
        report.add(
            LOSS, "entropy_loss_percent", "non-uniform entropy", entropy,
            f"{entropy:.3g} % of the information in these columns is lost; rare values count less{without}.",
            unit="%",
        )  # fmt: skip
    else:
        report.skip(LOSS, "GLM, entropy loss", f"{hold(perturbed)} other values, not coarser ones")
    n = report.pairing.n_records
    classes = column_labels(c.protected for c in report.quasi)[0]
    before = report.classes_before
    confused = evaluators.discernibility(classes, suppressed=suppressed)
    report.add(
        LOSS, "discernibility", "discernibility", confused,
        f"A record is confused with {number(confused / n)} records on average, itself included.",
        low=n, high=n * n, before=evaluators.discernibility(before),
    )  # fmt: skip
    for column in report.pairing.sensitive:
        wrong = evaluators.cm(classes, column.protected, suppressed=suppressed)
        report.add(
            LOSS, "cm", f"CM, prediction of {column.name}", wrong,
            f"{share(wrong, n, report.of_all)} are suppressed, or a majority vote within their group predicts them"
            " wrongly.",
            unit="records", high=n, of=column.name, before=evaluators.cm(before, column.original),
        )  # fmt: skip


def general_loss(report: Report, columns: list[PairedColumn], without: str) -> None:
    """GLM by the leaves of the hierarchies if they are known for every label, otherwise over the values that occur.

    These are different quantities, with different names: a band of ten years may contain only six ages that occur.
    """
    suppressed = report.pairing.suppressed
    known = [c.known_counts(report.leaf_counts.get(c.name)) for c in columns]
    by_leaves = [(c, entry) for c, entry in zip(columns, known, strict=True) if entry is not None]
    parts = [
        column_glm(c.spread(*entry), entry[1], suppressed) for c, entry in by_leaves if len(by_leaves) == len(columns)
    ] or [column_glm(c.leaves(), c.n_categories, suppressed) for c in columns]
    total, cells = math.fsum(parts), len(suppressed) * len(columns)
    percent = 100 * (total / cells)
    if len(by_leaves) == len(columns):
        end, label, of = "", "GLM", "by the leaves of the hierarchies"
    else:
        lacking = [c for c, entry in zip(columns, known, strict=True) if entry is None]
        end, label, of = "_occurring", "GLM over occurring values", f"no hierarchy of {names_of(lacking)} is known"
    report.add(
        LOSS, f"glm{end}", f"{label}, sum", total,
        f"Sum over the cells of the share of other values that a published one may stand for; {of}{without}.",
        high=float(cells),
    )  # fmt: skip
    lost = report.with_those_left_out(percent)
    report.add(
        LOSS, f"glm{end}_percent", f"{label}, percent", percent,
        f"A published value stands for {percent:.3g} % of the other values of its attribute on average{lost};"
        f" {of}{without}.",
        unit="%",
    )  # fmt: skip


def sensitive(report: Report) -> None:
    """Measure whether the sensitive attributes were changed."""
    for column in report.pairing.sensitive:
        if column.fate is Fate.UNCHANGED:
            continue
        same = 100 * float(np.mean(column.original[report.kept] == column.protected[report.kept]))
        report.add(
            LOSS, "sensitive_kept", f"unchanged cells of {column.name}", same,
            f"{column.name} was changed, too: {same:.3g} % of its cells are unchanged.",
            unit="%", better="higher", of=column.name,
        )  # fmt: skip


def associations(report: Report) -> None:
    """Change of the association of the quasi-identifiers with the sensitive attributes."""
    label = "χ² with the sensitive attributes"
    if not report.pairing.sensitive:
        report.skip(LOSS, label, "no sensitive attribute was named")
        return
    rows = [c for c in report.quasi if not c.numeric]
    for target in report.pairing.sensitive:
        if target.fate is not Fate.UNCHANGED or target.kind is Kind.NUMERIC or not rows:
            why = (
                f"{target.name} is numeric" if target.kind is Kind.NUMERIC
                else "all quasi-identifiers are numbers" if not rows
                else f"{target.name} was changed, too"
            )  # fmt: skip
            report.skip(LOSS, f"χ² with {target.name}", f"{why}; it needs an unchanged categorical column")
            continue
        z = target.original[report.kept]
        change = float(np.mean([_chi2(report, column, z) for column in rows]))
        report.add(
            LOSS, "chi2", f"χ² with {target.name}", change,
            f"The association of {names_of(rows)} with {target.name} changed by {change:.3g} % on average.",
            unit="%", high=None, of=target.name,
        )  # fmt: skip
        same = [c for c in rows if c.comparable]
        if same:
            moved = float(
                np.mean(
                    [
                        evaluators.bivariate_difference(c.original[report.kept], c.protected[report.kept], z)
                        for c in same
                    ]
                )
            )
            report.add(
                LOSS, "bivariate", f"bivariate counts with {target.name}", moved,
                f"{moved:.3g} % of the counts of {names_of(same)} crossed with {target.name} are misplaced.",
                unit="%", of=target.name,
            )  # fmt: skip


def _chi2(report: Report, column: PairedColumn, z: np.ndarray) -> float:
    return evaluators.chi2_difference(column.original[report.kept], column.protected[report.kept], z)


def scores(report: Report) -> None:
    """The two published scores, one for files of numbers and one for files of categories."""
    if report.generalised:
        report.skip(SCORE, "classical and categorical score", no_distance(report, "distance to the original"))
        return
    if report.n_stars:
        report.skip(SCORE, "classical and categorical score", "stars have no distance to the original")
        return
    if report.numeric and report.categorical:
        report.skip(
            SCORE, "classical and categorical score", "the quasi-identifiers have both kinds, numbers and categories"
        )
        return
    if report.different > report.limit:
        report.skip(
            SCORE,
            "score",
            f"it contains the probabilistic linkage, which is limited to {report.limit:,} different records",
        )
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the linkage has reported it in the notes
        il, dr, what = _score_of_numbers(report) if report.numeric else _score_of_categories(report)
    mean, worst = evaluators.score_mean(il, dr), evaluators.score_max(il, dr)
    upper = None if report.numeric else 100.0
    names = ("score_classical", "score_classical_max") if report.numeric else ("score_mean", "score_max")
    report.add(
        SCORE, names[0], "(IL + DR) / 2", mean,
        f"IL {il:.3g} and DR {dr:.3g}: {what}. An unchanged file scores 50.", unit="%", high=upper,
    )  # fmt: skip
    report.add(
        SCORE, names[1], "max(IL, DR)", worst, "The same with the worse half only, which rewards balance.",
        unit="%", high=upper,
    )  # fmt: skip
    (_probabilistic_score if report.numeric else _guarded_score)(report)


def _probabilistic_score(report: Report) -> None:
    """Score of numeric files that are masked cell by cell."""
    X, Y = report.values(report.numeric, 0), report.values(report.numeric, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        risk = evaluators.dr_numeric(X, Y, limit=report.linked_at_most)
    report.add(
        SCORE, "dr_numeric", "DR by ranks and linkage", risk,
        "Half of it are values of near rank; each linkage is a quarter. It does not notice rows that were shifted:"
        " copies does.", unit="%",
    )  # fmt: skip
    if report.has("pil"):
        loss = report.value("pil")
        report.add(
            SCORE, "score_pil_max", "max(PIL, DR by ranks)", evaluators.score_max(loss, risk),
            f"The larger of PIL {loss:.3g} and this DR; their mean is {evaluators.score_mean(loss, risk):.3g}.",
            unit="%",
        )  # fmt: skip


def _guarded_score(report: Report) -> None:
    """Score of categorical files with a risk that also counts guesses."""
    X, Y, kinds, sizes = _categories(report)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        risk = evaluators.dr_guarded(X, Y, kinds=kinds, n_categories=sizes, limit=report.linked_at_most)
    loss = report.value("il_categorical")
    report.add(
        SCORE, "dr_guarded", "guarded DR", risk,
        "DR with cells guessed from the published category instead of those of near rank, if they are more: renamed"
        " categories do not lower it.", unit="%",
    )  # fmt: skip
    report.add(
        SCORE, "score_guarded_max", "max(IL, guarded DR)", evaluators.score_max(loss, risk),
        f"The larger of IL {loss:.3g} and guarded DR; their mean is {evaluators.score_mean(loss, risk):.3g}.",
        unit="%",
    )  # fmt: skip


def _score_of_numbers(report: Report) -> tuple[float, float, str]:
    X, Y = report.values(report.numeric, 0), report.values(report.numeric, 1)
    score = evaluators.classical_score(X, Y, limit=report.linked_at_most)
    return score.il_statistics, score.dr_classical, "IL1 … IL5 against interval disclosure and both linkages"


def _categories(report: Report) -> tuple[NDArray[np.int32], NDArray[np.int32], list[str], list[int]]:
    """Codes of both files, kinds and domain sizes."""
    X, Y = report.codes(report.categorical, 0), report.codes(report.categorical, 1)
    return X, Y, [c.kind.value for c in report.categorical], [c.n_categories for c in report.categorical]


def _score_of_categories(report: Report) -> tuple[float, float, str]:
    X, Y, kinds, sizes = _categories(report)
    il = evaluators.il_categorical(X, Y, kinds=kinds, n_categories=sizes)
    dr = evaluators.dr_categorical(X, Y, kinds=kinds, n_categories=sizes, limit=report.linked_at_most)
    return il, dr, "CTBIL, DBIL and EBIL against interval disclosure and the larger linkage"

"""Objectives of the masking task: measures of the protected file itself, against the original."""

from __future__ import annotations

import math
from dataclasses import replace

from sdc_problems.objective import Objective, by_name
from sdc_problems.problems.pram._objectives import CATALOGUE as OF_CATEGORIES

PERCENT = (0.0, 100.0)

PIL = Objective(
    "pil", "probabilistic information loss", "min", PERCENT, "%",
    concerns="loss",
    meaning=(
        "How improbable the released statistics are, were they those of another sample: the mean over means, variances,"
        " covariances, correlations and quantiles of the chance of a smaller deviation. It sees the file as a whole,"
        " not its records."
    ),
    formula="100 * mean over five families of mean of 2 * P(0 <= Z <= |released - original| / sd(original))",
    source="Mateo-Sanz, Domingo-Ferrer and Sebé (2005); Marés (2013), chapter 3",
)  # fmt: skip

DR_NUMERIC = Objective(
    "dr_numeric", "disclosure risk", "min", PERCENT, "%",
    concerns="risk",
    meaning=(
        "Half the percent of the cells near the original in rank (id_rank), and a quarter each of the percent of the"
        " records found again by distance (dbrl) and by agreement (prl). It does not see rows that were shifted:"
        " copies does."
    ),
    formula="id_rank / 2 + dbrl / 4 + prl / 4",
    source="Domingo-Ferrer and Torra (2001)",
)  # fmt: skip

DR_GUARDED = Objective(
    "dr_guarded", "guarded disclosure risk", "min", PERCENT, "%",
    concerns="risk",
    meaning=(
        "Mean of two percentages: the larger of cells near the original in rank (id_rank) and cells that are guessed"
        " from the released category (guess), and records found again by the stronger of two linkages (dbrl, prl)."
    ),
    formula="(max(id_rank, guess) + max(dbrl, prl)) / 2",
    source="Marés (2013), Eq. 4.10, with id_rank replaced by the larger of id_rank and guess",
)  # fmt: skip

GUESS = Objective(
    "guess", "cells guessed from the released category", "min", PERCENT, "%",
    concerns="risk",
    meaning=(
        "Percent of the cells that an intruder gets right who knows which original category is the likeliest behind"
        " each released one. Renamed categories do not lower it."
    ),
    formula="100 * mean over attributes of sum over released v of (max over x of records with x and v) / records",
)  # fmt: skip

ID_MEAN = Objective(
    "id_rank", "interval disclosure (ID)", "min", PERCENT, "%",
    concerns="risk",
    meaning=(
        "Percent of the cells whose released value has nearly the rank of the original one, the mean over intervals of"
        " 1, 2, … 10 % of the records."
    ),
    formula="mean over q of 100 * (cells with |rank of released - rank of original| <= q % of records) / cells",
    source="Domingo-Ferrer and Torra (2001); Marés (2013), section 2.4.2",
)  # fmt: skip

COPIES = Objective(
    "copies", "records that repeat an original", "min", PERCENT, "%",
    concerns="risk",
    meaning=(
        "Percent of the released records that all but repeat an original record, whichever row it stands in: their"
        " nearest original is at most half as far away as its own nearest neighbor."
    ),
    formula="100 * (records with d(released, nearest original) <= d(that original, its nearest other) / 2) / records",
)  # fmt: skip

RECORD_CHANGE = Objective(
    "record_change", "change of the values", "min", (0.0, math.inf), "%",
    concerns="loss",
    meaning=(
        "How far a released value is from the original one of its record, in percent of the attribute's standard"
        " deviation, the mean over the cells: about 113 where values were dealt out anew."
    ),
    formula="100 * mean over cells of |released - original| / sd(original)",
)  # fmt: skip

REGRESSION_CHANGE = Objective(
    "regression_change", "loss of regressions", "min", PERCENT, "%",
    concerns="loss",
    meaning=(
        "Percent of an attribute's variance by which predictions of the original from the other attributes become worse"
        " when the coefficients come from the released file, the mean over the attributes."
    ),
    formula="100 * mean over attributes of min(1, (error with released - error with original coefficients) / variance)",
)  # fmt: skip

RSRL = Objective(
    "rsrl", "rank swapping record linkage (RSRL)", "min", PERCENT, "%",
    concerns="risk",
    meaning=(
        "Percent of the records that an intruder links correctly who takes the nearest of the released records whose"
        " values are all within 5, 10, 15 or 20 % of its ranks; the largest of the four."
    ),
    formula="max over w of 100 * sum over records of (1 / nearest candidates, if the own one is among them) / records",
    source="Nin, Herranz and Torra (2008)",
)  # fmt: skip

DBRL_PROTECTED = Objective(
    "dbrl_protected", "distance-based record linkage from the original records", "min", PERCENT, "%",
    concerns="risk",
    meaning=(
        "Percent of the original records whose nearest released record is their own; where several are equally near,"
        " each counts by the chance of picking it."
    ),
    formula="100 * sum over records of (1 / nearest released records, if the own one is among them) / records",
    source="Domingo-Ferrer and Torra (2001)",
)  # fmt: skip

DBRL_HALF = Objective(
    "dbrl_half", "distance-based record linkage on half of the attributes", "min", PERCENT, "%",
    concerns="risk",
    meaning=(
        "Percent of the released records that an intruder links correctly who knows the first or the second half of"
        " the attributes and takes the nearest original record; the mean of the two."
    ),
    formula="mean over two halves of 100 * sum over records of (1 / nearest original records, if own) / records",
    source="Marés (2013), section 2.4.2, on part of the attributes",
)  # fmt: skip


def _scores(loss: Objective, risk: Objective) -> tuple[Objective, Objective]:
    both = f"information loss ({loss.name}) and disclosure risk ({risk.name})"
    return (
        Objective(
            "score_mean", "mean of information loss and disclosure risk", "min", PERCENT, "%",
            meaning=f"Mean of two percentages: {both}.",
            formula=f"({loss.name} + {risk.name}) / 2",
            source="Marés (2013), Eq. 3.2",
        ),
        Objective(
            "score_max", "larger of information loss and disclosure risk", "min", PERCENT, "%",
            meaning=f"Larger of two percentages: {both}.",
            formula=f"max({loss.name}, {risk.name})",
            source="Marés (2013), Eq. 3.4",
        ),
    )  # fmt: skip


def masking_objectives(*, numeric: bool, guard: bool) -> dict[str, Objective]:
    """Objectives of numeric or of categorical files; ``guard`` says which risk the categorical scores use."""
    linkage = [replace(OF_CATEGORIES[name], formerly=()) for name in ("dbrl", "prl")]
    if numeric:
        return by_name(
            PIL, DR_NUMERIC, *_scores(PIL, DR_NUMERIC), ID_MEAN, *linkage, COPIES, RSRL, DBRL_PROTECTED, DBRL_HALF,
            RECORD_CHANGE, REGRESSION_CHANGE,
        )  # fmt: skip
    loss, risk = (replace(OF_CATEGORIES[name], formerly=()) for name in ("il_categorical", "dr_categorical"))
    parts = [replace(OF_CATEGORIES[name], formerly=()) for name in ("ctbil", "dbil", "ebil", "id_rank")]
    return by_name(
        loss, risk, DR_GUARDED, *_scores(loss, DR_GUARDED if guard else risk), *parts, GUESS, *linkage, DBRL_PROTECTED,
        DBRL_HALF,
    )  # fmt: skip


CLUSTERING_LOSS = Objective(
    "clustering_loss", "loss for clustering", "min", PERCENT, "%",
    concerns="loss",
    meaning=(
        "Disagreement of clusterings of the original and of the released file, the mean over 2, 3, … 10 clusters of the"
        " mean of three percentages: what Rand, Jaccard and Wallace index lack to 1. It varies much with the number of"
        " clusters."
    ),
    formula="mean over c of 100 * ((1 - Rand) + (1 - Jaccard) + (1 - Wallace)) / 3",
    source="Marés (2013), Eq. 5.3, which does not say how many clusters",
)  # fmt: skip


def preclustering_objectives(*, n: int, guard: bool) -> dict[str, Objective]:
    """Objectives of files protected after clustering: those of categorical files, the clustering loss, and k.

    Parameters
    ----------
    n
        Number of records in the table.
    guard
        Whether the scores use the guarded risk.
    """
    k = Objective(
        "k", "smallest class", "max", (1.0, max(float(n), 2.0)), "records",
        concerns="risk",
        meaning=(
            "Number of records in the smallest group that looks alike in the protected columns. With k = 5 every record"
            " hides among at least four others."
        ),
        formula="min over records of its class size",
    )  # fmt: skip
    return {**masking_objectives(numeric=False, guard=guard), **by_name(CLUSTERING_LOSS, k)}

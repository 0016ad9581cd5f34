"""Objectives of the PRAM tasks: measures of the files that transition matrices draw, and of the matrices."""

from __future__ import annotations

from sdc_problems.objective import Objective, by_name

PERCENT = (0.0, 100.0)

CATALOGUE = by_name(
    Objective(
        "il_categorical", "information loss", "min", PERCENT, "%",
        concerns="loss",
        meaning=(
            "Mean of three percentages: counts misplaced in tables (ctbil), distance to the original categories (dbil)"
            " and uncertainty about them (ebil)."
        ),
        formula="(ctbil + dbil + ebil) / 3",
        source="Marés (2013), Eq. 4.9",
        formerly=("il",),
    ),
    Objective(
        "dr_categorical", "disclosure risk", "min", PERCENT, "%",
        concerns="risk",
        meaning=(
            "Mean of two percentages: cells near the original in rank (id_rank), and records found again by the"
            " stronger of two linkages (dbrl, prl)."
        ),
        formula="(id_rank + max(dbrl, prl)) / 2",
        source="Marés (2013), Eq. 4.10",
        formerly=("dr",),
    ),
    Objective(
        "score_mean", "mean of information loss and disclosure risk", "min", PERCENT, "%",
        meaning="Mean of two percentages: information loss (il_categorical) and disclosure risk (dr_categorical).",
        formula="(il_categorical + dr_categorical) / 2",
        source="Marés (2013), Eq. 4.12",
    ),
    Objective(
        "score_max", "larger of information loss and disclosure risk", "min", PERCENT, "%",
        meaning="Larger of two percentages: information loss (il_categorical) and disclosure risk (dr_categorical).",
        formula="max(il_categorical, dr_categorical)",
        source="Marés (2013), Eq. 4.11",
    ),
    Objective(
        "ctbil", "contingency tables changed (CTBIL)", "min", PERCENT, "%",
        concerns="loss",
        meaning="Percent of the counts that are misplaced in the tables of one and of two protected attributes.",
        formula="100 * sum over tables and cells of |original count - released count| / (2 * records * tables)",
        source="Marés (2013), Eq. 2.10",
    ),
    Objective(
        "dbil", "distance to the original values (DBIL)", "min", PERCENT, "%",
        concerns="loss",
        meaning="Percent of the largest possible distance that a category moves, the mean over the cells.",
        formula=(
            "100 * sum over cells of d / cells; d is 0 if unchanged, else 1 for nominal and (steps + 1) / |D| for"
            " ordinal attributes"
        ),
        source="Marés (2013), Eq. 2.6 to 2.9",
    ),
    Objective(
        "ebil", "uncertainty about the original values (EBIL)", "min", PERCENT, "%",
        concerns="loss",
        meaning=(
            "Percent of the largest possible uncertainty that is left about the original category when the released one"
            " is known, the mean over the attributes."
        ),
        formula="100 * mean over attributes of H(original | released) / log |D|",
        source="Marés (2013), Eq. 2.12 and 2.13",
    ),
    Objective(
        "id_rank", "interval disclosure (ID)", "min", PERCENT, "%",
        concerns="risk",
        meaning=(
            "Percent of the cells whose released category has nearly the rank of the original one; in a nominal"
            " attribute, that are unchanged."
        ),
        formula="100 * (cells with |rank of released - rank of original| <= 0.1 * records; if nominal, equal) / cells",
        source="Marés (2013), section 2.4.2; Domingo-Ferrer and Torra (2001)",
        formerly=("id",),
    ),
    Objective(
        "dbrl", "distance-based record linkage (DBRL)", "min", PERCENT, "%",
        concerns="risk",
        meaning=(
            "Percent of the released records that an intruder links correctly who takes the nearest original record;"
            " where several are equally near, each counts by the chance of picking it."
        ),
        formula="100 * sum over records of (1 / nearest original records, if the own one is among them) / records",
        source="Marés (2013), section 2.4.2",
    ),
    Objective(
        "prl", "probabilistic record linkage (PRL)", "min", PERCENT, "%",
        concerns="risk",
        meaning=(
            "Percent of the records that an intruder links correctly who weighs which attributes agree and gives every"
            " record one partner."
        ),
        formula="100 * correct pairs of the best one-to-one assignment by Fellegi-Sunter weights / records",
        source="Fellegi and Sunter (1969); Marés (2013), section 2.4.2",
    ),
    Objective(
        "bivariate", "change of the counts crossed with an unprotected attribute", "min", PERCENT, "%",
        concerns="loss",
        meaning=(
            "Percent of the counts that are misplaced in the table of a protected and an unprotected attribute, the"
            " mean over the protected ones."
        ),
        formula="100 * mean over attributes of (sum over cells of |original count - released count|) / (2 * records)",
        source="Marés (2013), Eq. 4.5",
    ),
    Objective(
        "chi2", "change of the association with an unprotected attribute (χ²)", "min", unit="%",
        concerns="loss",
        meaning=(
            "Percent by which the association (χ²) of a protected with an unprotected attribute changes, up or down,"
            " the mean over the protected ones; it can exceed 100."
        ),
        formula="100 * mean over attributes of |χ²(released) - χ²(original)| / χ²(original)",
        source="Marés (2013), Eq. 4.8",
    ),
    Objective(
        "expectation_ratio", "records that stayed per record that arrived", "min",
        concerns="risk",
        meaning=(
            "Ratio of the records expected to keep their category to those expected to move into it, the mean over the"
            " categories by their records and over the attributes; a ratio counts at most the number of records."
        ),
        formula="mean over attributes of sum over k of f_k * min(f_k p_kk / (sum over i != k of f_i p_ik), n) / n",
        source="Gouweleeuw et al. (1998); Marés (2013), section 4.1.5",
    ),
    Objective(
        "entropy", "entropy of the moves", "max", PERCENT, "%",
        concerns="risk",
        meaning=(
            "Percent of the largest possible uncertainty of where a category moves to, the mean over the records and"
            " the attributes: 0 if every move is certain, 100 if all categories are equally likely."
        ),
        formula="100 * mean over attributes of sum over i of f_i * H(row i of P) / (n * log |D|)",
        source="Shannon (1948)",
    ),
)  # fmt: skip

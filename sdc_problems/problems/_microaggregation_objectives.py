"""Objectives of the two microaggregation tasks: groupings of attributes and partitions of records."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.objective import Objective, by_name

PERCENT = (0.0, 100.0)

IL_SSE = Objective(
    "il_sse", "information loss", "min", PERCENT, "%",
    concerns="loss",
    meaning=(
        "Percent of the variation of the quasi-identifiers that is lost when records are replaced by the centroid of"
        " their group."
    ),
    formula="100 * SSE / SST, on z-scores",
    source="Balasch-Masoliver (2010), section 3.3; Domingo-Ferrer and Torra (2005)",
    formerly=("il",),
)  # fmt: skip

ID_VALUE = Objective(
    "id_value", "interval disclosure", "min", PERCENT, "%",
    concerns="risk",
    meaning=(
        "Percent of the cells whose released value is within 10 % of the original one, both as z-scores; a category"
        " counts if it is unchanged."
    ),
    formula="100 * (cells with |released - original| <= 0.1 * |original|) / cells, on z-scores",
    source="Balasch-Masoliver (2010), section 3.3",
    formerly=("id",),
)  # fmt: skip


def grouping_objectives(n_attributes: int) -> dict[str, Objective]:
    """Objectives of an attribute grouping."""
    return by_name(
        IL_SSE,
        ID_VALUE,
        Objective(
            "dld", "distance linkage disclosure", "min", PERCENT, "%",
            concerns="risk",
            meaning=(
                "Percent of the records whose own protected record is strictly the nearest of all: an intruder who"
                " looks for the nearest one finds them. A tie is no link."
            ),
            formula="100 * (records i with d(i, own) < d(i, j) for every other protected record j) / records",
            source="Balasch-Masoliver (2010), section 3.3",
        ),
        Objective(
            "dr_linkage", "disclosure risk", "min", PERCENT, "%",
            concerns="risk",
            meaning=(
                "Mean of two percentages: cells that stay within 10 % of the original (id_value), and records that are"
                " strictly nearest to their own protected record (dld)."
            ),
            formula="(id_value + dld) / 2",
            source="Balasch-Masoliver (2010), section 3.3",
            formerly=("dr",),
        ),
        Objective(
            "score_mean", "mean of information loss and disclosure risk", "min", PERCENT, "%",
            meaning="Mean of two percentages: information loss (il_sse) and disclosure risk (dr_linkage).",
            formula="(il_sse + dr_linkage) / 2",
            source="Balasch-Masoliver (2010), section 1.2",
            formerly=("score",),
        ),
        Objective(
            "n_groups", "attribute groups", "min", (1.0, float(n_attributes)),
            meaning="Number of groups of attributes, each of which is microaggregated on its own.",
            formula="number of groups",
            source="Balasch-Masoliver (2010), chapter 5",
        ),
    )  # fmt: skip


def partition_objectives(smallest: int, largest: int) -> dict[str, Objective]:
    """Objectives of a partition into groups with a smallest and a largest size."""
    return by_name(
        Objective(
            "sse", "within-group sum of squares", "min",
            concerns="loss",
            meaning="Sum, over the records, of the squared distance to the centroid that is released in their place.",
            formula=(
                "sum over records and attributes of d^2; d is the difference of z-scores, (steps + 1) / |D| between"
                " different ordinal values, 1 between different nominal ones"
            ),
            source="Solanas et al. (2006); for categories Marés (2013), Eq. 2.6 and 2.7",
        ),
        IL_SSE,
        Objective(
            "dbrl", "distance-based record linkage", "min", PERCENT, "%",
            concerns="risk",
            meaning=(
                "Percent of the records that an intruder links correctly who takes the nearest protected record; where"
                " several are equally near, each counts by the chance of picking it."
            ),
            formula="100 * sum over records of (1 / nearest protected records, if the own one is among them) / records",
            source="Marés (2013), section 2.4.2",
            formerly=("dld",),
        ),
        ID_VALUE,
        Objective(
            "k", "smallest group", "max", (float(smallest), float(largest)), "records",
            concerns="risk",
            meaning="Number of records in the smallest group; the records of a group get the same released values.",
            formula="min over groups of |group|",
            source="Domingo-Ferrer and Torra (2005)",
        ),
    )  # fmt: skip


def ranked(released: NDArray[Any], original: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Codes for the numbers of two tables: the rank of each among the distinct values of its column in both tables.

    Examples
    --------
    >>> ranked(np.array([[1.5], [1.5]]), np.array([[2.0], [1.0]]))
    (array([[1],
           [1]]), array([[2],
           [0]]))
    """
    codes = np.empty((2 * len(original), original.shape[1]), dtype=np.int64)
    for j in range(original.shape[1]):
        codes[:, j] = np.unique(np.concatenate([released[:, j], original[:, j]]), return_inverse=True)[1]
    return codes[: len(original)], codes[len(original) :]

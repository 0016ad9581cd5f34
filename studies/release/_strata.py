"""Strata: parts of a table that are protected each on its own, so that a guarantee holds within each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.coded import CodedColumns, held_cells, joined_cells
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.evaluators._codes import column_labels, dense
from sdc_problems.methods.recoding._generalize import Recoded
from sdc_problems.microdata import Microdata


def check_within(data: Microdata, within: Sequence[str], leaving: Sequence[str], k: int | None) -> None:
    """Refuse columns that make no strata, or strata of too few records; no value of them is told."""
    for name in within:
        if name not in data.names:
            raise SDCError(f"within names {name!r}, which is not a column{did_you_mean(name, data.names)}")
        if name in data.quasi_identifiers:
            raise SDCError(
                f"within names {name!r}, a quasi-identifier: strata are published as they are, so it cannot"
                " be protected"
            )
        if name not in leaving:
            raise SDCError(f"within names {name!r}, which is not released: name it in keep, too")
    if within and k is not None:
        sizes = [len(rows) for rows in strata(data, within)]
        small = sum(size < k for size in sizes)
        if small:
            raise SDCError(
                f"{small} of the {len(sizes)} strata of {', '.join(within)} have fewer than k = {k} records: merge them"
                " with others first"
            )


def strata(data: Microdata, within: Sequence[str]) -> list[NDArray[np.intp]]:
    """Records of each stratum; without columns one of all."""
    if not within:
        return [np.arange(len(data))]
    row, _ = column_labels(data.attribute(name).codes for name in within)
    return np.split(np.argsort(row, kind="stable"), np.cumsum(np.bincount(row))[:-1])


def in_strata(data: Microdata, within: Sequence[str], protect: Callable[[Microdata], Recoded]) -> Recoded:
    """Protect each stratum on its own.

    Parameters
    ----------
    data
        The table.
    within
        Columns that make the strata.
    protect
        Protects a table.
    """
    if not within:
        return protect(data)
    parts = [(rows, protect(data.take(rows))) for rows in strata(data, within)]
    columns = {
        name: joined_cells(((rows, _cells(data, name, rows, part)) for rows, part in parts), len(data))
        for name in data.quasi_identifiers
        if any(name in part.columns for _, part in parts)
    }
    lost = np.zeros(len(data), dtype=np.bool_)
    for rows, part in parts:
        if part.suppressed is not None:
            lost[rows] = part.suppressed
    sizes = [len(rows) for rows, _ in parts]
    said = (
        f"Protected within each of the {len(parts)} strata of {', '.join(within)}, of {min(sizes):,} to {max(sizes):,}"
        " records."
    )
    return Recoded(CodedColumns(columns), (said,), lost)


def _cells(data: Microdata, name: str, rows: NDArray[np.intp], part: Recoded) -> Any:
    """Cells of a column in a stratum, as they were if it was not changed there."""
    if name in part.columns:
        return held_cells(part.columns, name)
    attribute = data.attribute(name)
    return attribute.cells(attribute.codes[rows]).to_numpy(dtype=object)


def share_of(most: float | None, part: int, whole: int) -> float | None:
    """Records of a stratum that may be left out: the same share, or its share of a count."""
    return most if most is None or isinstance(most, float) else int(most) * part // whole


def labels_in_strata(
    data: Microdata, within: Sequence[str], partition: Callable[[Microdata], NDArray[Any]]
) -> NDArray[np.int64]:
    """Groups of each stratum, numbered on through all of them."""
    labels = np.zeros(len(data), dtype=np.int64)
    first = 0
    for rows in strata(data, within):
        own, n_groups = dense(partition(data.take(rows) if within else data))
        labels[rows] = first + own
        first += n_groups
    return labels

"""Usefulness of a released table: a cross-table or a regression of two columns, before and after; counts in fives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sdc_problems._tables.columns import label
from sdc_problems.errors import SDCError
from sdc_problems.microdata import Kind, Microdata
from sdc_problems.studies.report.small_counts import LEAST, nice_edges, shortened

_MOST = 12  # most labels that are shown per side; the others are counted together
_BINS = 6
OTHERS = "others"


def use_of(data: Microdata, released: Mapping[str, pd.DataFrame], across: str, down: str) -> dict[str, Any]:
    """Cross two columns in the original and in released tables, and fit a line if both are numeric.

    Parameters
    ----------
    data
        The original.
    released
        Released tables, by name.
    across, down
        The columns: the explanatory one and the explained one.
    """
    if across == down:
        raise SDCError("a table has two different columns")
    frame = data.frame()
    tables = {"original": frame, **released}
    sides = {name: _Side(data, name) for name in (across, down)}
    texts = {key: {name: side.labels(table) for name, side in sides.items()} for key, table in tables.items()}
    kept = {name: _kept(name, texts, sides[name]) for name in sides}
    found: list[dict[str, Any]] = []
    for key, columns in texts.items():
        first, second = columns[across], columns[down]
        if first is None or second is None:
            found.append({"name": key, "counts": None, "association": None, "slope": None, "correlation": None})
            continue
        counts = _counts(first, second, kept[across], kept[down])
        slope, correlation = _line(tables[key], across, down)
        found.append({
            "name": key,
            "counts": [[_fives(int(c)) for c in row] for row in counts],
            "association": _association(first, second),
            "slope": slope,
            "correlation": correlation,
        })  # fmt: skip
    return {
        "across": across,
        "down": down,
        "rows": [shortened(text) for text in kept[across]],
        "columns": [shortened(text) for text in kept[down]],
        "tables": found,
    }


class _Side:
    """Labels of a column's values in a table; numbers in bands of the original."""

    def __init__(self, data: Microdata, name: str) -> None:
        self.name = name
        self.attribute = data.attribute(name)
        self.edges = (
            nice_edges(data.values(name)[:, 0], bins=_BINS)
            if self.attribute.kind is Kind.NUMERIC and not self.attribute.has_missing
            else None
        )

    def labels(self, table: pd.DataFrame) -> NDArray[Any] | None:
        """Label of each record; None if the column is not released."""
        if self.name not in table.columns:
            return None
        column = table[self.name]
        if self.edges is None or not pd.api.types.is_numeric_dtype(column):
            return np.array([label(value) for value in column], dtype=object)
        bands = [f"< {self.edges[0]:g}"] if len(self.edges) else ["all"]
        bands += [f"{low:g} – {high:g}" for low, high in zip(self.edges[:-1], self.edges[1:], strict=True)]
        bands += [f"≥ {self.edges[-1]:g}"] * (len(self.edges) > 0)
        places = np.searchsorted(self.edges, column.to_numpy(dtype=float), side="right")
        return np.array(bands, dtype=object)[places]


def _kept(name: str, texts: Mapping[str, Mapping[str, NDArray[Any] | None]], side: _Side) -> list[str]:
    """Labels that are frequent enough in some table, in the order of the first table that has them."""
    order: dict[str, int] = {}
    for columns in texts.values():
        values = columns[name]
        if values is None:
            continue
        for text, count in zip(*np.unique(values.astype(str), return_counts=True), strict=True):
            order[str(text)] = max(order.get(str(text), 0), int(count))
    shown = [text for text, count in order.items() if count >= LEAST]
    frequent = sorted(shown, key=lambda text: -order[text])[:_MOST]
    kept = [text for text in shown if text in frequent]
    return [*kept, OTHERS] if len(kept) < len(order) else kept


def _counts(first: NDArray[Any], second: NDArray[Any], rows: list[str], columns: list[str]) -> NDArray[np.int64]:
    places = [
        np.array([{text: i for i, text in enumerate(kept)}.get(str(value), len(kept) - 1) for value in values])
        for values, kept in ((first, rows), (second, columns))
    ]
    counts = np.zeros((len(rows), len(columns)), dtype=np.int64)
    np.add.at(counts, (places[0], places[1]), 1)
    return counts


def _fives(count: int) -> int | None:
    return None if 0 < count < LEAST else count // LEAST * LEAST


def _association(first: NDArray[Any], second: NDArray[Any]) -> float | None:
    """Cramér's V: 0 if the columns are independent, 1 if one determines the other."""
    table = pd.crosstab(first, second).to_numpy(dtype=float)
    n, sides = table.sum(), min(table.shape) - 1
    if sides < 1 or n == 0:
        return 0.0 if n else None
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / n
    return float(f"{np.sqrt(((table - expected) ** 2 / expected).sum() / (n * sides)):.3g}")


def _line(table: pd.DataFrame, across: str, down: str) -> tuple[float | None, float | None]:
    """Slope of the regression of the second column on the first, and their correlation."""
    x, y = table[across], table[down]
    if not all(pd.api.types.is_numeric_dtype(c) and not pd.api.types.is_bool_dtype(c) for c in (x, y)):
        return None, None
    pair = np.stack([x.to_numpy(dtype=float), y.to_numpy(dtype=float)])
    pair = pair[:, np.isfinite(pair).all(axis=0)]
    if pair.shape[1] < LEAST or np.ptp(pair[0]) == 0 or np.ptp(pair[1]) == 0:
        return None, None
    covariance = np.cov(pair)
    slope = covariance[0, 1] / covariance[0, 0]
    return float(f"{slope:.3g}"), float(f"{covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]):.3g}")

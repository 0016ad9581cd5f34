"""Distributions that may be shown: no bar stands for fewer than five records, and none follows from the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEAST = 5  # smallest number of records that a bar may stand for
_MOST_LABELS = 24
_BINS = 20
_LONGEST_LABEL = 80


def guarded(counts: ArrayLike, *, least: int = LEAST) -> tuple[NDArray[np.bool_], int]:
    """Mask of the counts that may be shown, and the number of records in the hidden ones.

    Counts of 1 to ``least - 1`` are hidden. If these have fewer than ``least`` records together, the total would reveal
    them, so the smallest shown count is hidden as well, and so on.

    Examples
    --------
    >>> shown, hidden = guarded([40, 3, 7, 0])
    >>> shown.tolist(), hidden
    ([True, False, False, True], 10)
    """
    counts = np.asarray(counts, dtype=np.int64)
    shown = (counts == 0) | (counts >= least)
    hidden = int(counts[~shown].sum())
    while 0 < hidden < least:
        left = np.flatnonzero(shown & (counts > 0))
        if not len(left):
            break
        smallest = left[np.argmin(counts[left])]
        shown[smallest] = False
        hidden += int(counts[smallest])
    return shown, hidden


def label_bars(labels: Sequence[str], counts: ArrayLike, *, most: int = _MOST_LABELS) -> dict[str, Any]:
    """Bars of categories, in the order given; small ones, and those that are too many, go into ``rest``.

    Examples
    --------
    >>> label_bars(["a", "b", "c"], [10, 2, 4])
    {'kind': 'labels', 'labels': ['a'], 'counts': [10], 'rest': 6, 'rest_labels': 2}
    """
    counts = np.asarray(counts, dtype=np.int64)
    shown, _ = guarded(counts)
    shown &= counts > 0
    if shown.sum() > most:
        ranked = np.argsort(-np.where(shown, counts, -1), kind="stable")
        shown[ranked[most:]] = False
    kept = np.flatnonzero(shown)
    others = ~shown & (counts > 0)
    rest = int(counts[others].sum())
    return {
        "kind": "labels",
        "labels": [shortened(labels[int(i)]) for i in kept],
        "counts": counts[kept].tolist(),
        "rest": rest if rest >= LEAST else 0,  # fewer only if the whole table has fewer
        "rest_labels": int(others.sum()),
    }


def shortened(text: str) -> str:
    """Shorten a label that is too long for a chart."""
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def nice_edges(values: NDArray[np.float64], *, bins: int = _BINS) -> NDArray[np.float64]:
    """Inner edges at round numbers such that no bin between them holds fewer than ``LEAST`` records.

    The first and the last bin are open: the smallest and the largest value belong to single persons, so they are not
    edges.

    Examples
    --------
    >>> nice_edges(np.arange(100.0), bins=5).tolist()
    [20.0, 40.0, 60.0, 80.0]
    """
    low, high = np.quantile(values, [0.005, 0.995])
    if not high > low:
        return np.zeros(0)
    raw = (high - low) / bins
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * 0.999)
    edges = np.arange(math.ceil(low / step), math.floor(high / step) + 1) * step
    edges = edges[(edges > low) & (edges <= high)]
    kept: list[float] = []
    ordered = np.sort(values)
    left = 0  # records below the last kept edge
    for edge in edges:
        below = int(np.searchsorted(ordered, edge, side="left"))
        if below - left >= LEAST and len(values) - below >= LEAST:
            kept.append(float(edge))
            left = below
    return np.array(kept)


def bin_bars(values: NDArray[np.float64], edges: NDArray[np.float64]) -> dict[str, Any]:
    """Bars of numbers between inner edges, open at both ends; a bar that may not be shown is None.

    Examples
    --------
    >>> bin_bars(np.array([1.0] * 6 + [3.0] * 5 + [9.0]), np.array([2.0, 5.0]))
    {'kind': 'bins', 'edges': [2.0, 5.0], 'counts': [6, None, None], 'rest': 6}
    """
    counts = np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1)
    shown, hidden = guarded(counts)
    return {
        "kind": "bins",
        "edges": [float(f"{e:.10g}") for e in edges],
        "counts": [int(c) if s else None for c, s in zip(counts, shown, strict=True)],
        "rest": hidden if hidden >= LEAST else 0,
    }


def rounded(bars: dict[str, Any]) -> dict[str, Any]:
    """Bars in multiples of five.

    If records were left out, the difference of a bar before and after could otherwise be one person.

    Examples
    --------
    >>> rounded(label_bars(["a", "b"], [13, 21]))["counts"]
    [15, 20]
    """
    return {
        **bars,
        "counts": [None if c is None else LEAST * round(c / LEAST) for c in bars["counts"]],
        "rest": LEAST * round(bars["rest"] / LEAST),
    }


def size_bars(sizes: ArrayLike) -> list[dict[str, int]]:
    """Clusters by number of records, with neighboring sizes joined until every bar has at least ``LEAST`` clusters.

    Examples
    --------
    >>> size_bars([3, 3, 3, 3, 3, 4, 5, 5, 5, 5])
    [{'from': 3, 'to': 3, 'clusters': 5}, {'from': 4, 'to': 5, 'clusters': 5}]
    """
    found, counts = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
    bars: list[dict[str, int]] = []
    for size, count in zip(found.tolist(), counts.tolist(), strict=True):
        if bars and bars[-1]["clusters"] < LEAST:
            bars[-1]["to"] = size
            bars[-1]["clusters"] += count
        else:
            bars.append({"from": size, "to": size, "clusters": count})
    if len(bars) > 1 and bars[-1]["clusters"] < LEAST:
        last = bars.pop()
        bars[-1]["to"] = last["to"]
        bars[-1]["clusters"] += last["clusters"]
    return bars

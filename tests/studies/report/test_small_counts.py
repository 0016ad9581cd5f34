"""No bar stands for fewer than five records, and no hidden one can be worked out from the others."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems.studies.report.small_counts import LEAST, bin_bars, guarded, label_bars, nice_edges, size_bars

counts = st.lists(st.one_of(st.integers(0, 9), st.integers(0, 1000)), min_size=1, max_size=40)


@given(counts)
def test_shown_counts_are_large_and_hidden_ones_cannot_be_subtracted(values: list[int]) -> None:
    shown, hidden = guarded(values)
    visible = np.array(values)[shown]
    assert not ((visible > 0) & (visible < LEAST)).any()
    assert hidden == sum(values) - visible.sum()
    # The total is known: what is hidden must hold at least five records, unless nothing at all is shown.
    assert hidden == 0 or hidden >= LEAST or visible.sum() == 0


@given(counts, st.integers(1, 30))
def test_label_bars_hold_every_record_of_a_table_that_is_large_enough(values: list[int], most: int) -> None:
    bars = label_bars([f"label {i}" for i in range(len(values))], values, most=most)
    assert len(bars["labels"]) == len(bars["counts"]) <= most
    assert all(c >= LEAST for c in bars["counts"])
    if sum(values) >= LEAST:
        assert sum(bars["counts"]) + bars["rest"] == sum(values)


@given(st.lists(st.one_of(st.integers(-5, 5), st.floats(-1e6, 1e6)), min_size=1, max_size=300))
def test_histograms_hide_the_extremes(values: list[float]) -> None:
    data = np.array(values, dtype=float)
    edges = nice_edges(data)
    assert (np.diff(edges) > 0).all()
    if len(edges):
        # At least five records lie beyond the outer edges: the smallest and the largest value stay unknown.
        assert (data < edges[0]).sum() >= LEAST
        assert (data >= edges[-1]).sum() >= LEAST
    bars = bin_bars(data, edges)
    kept = [c for c in bars["counts"] if c is not None]
    assert len(bars["counts"]) == len(edges) + 1
    assert all(c == 0 or c >= LEAST for c in kept)
    if len(data) >= LEAST:
        assert sum(kept) + bars["rest"] == len(data)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=200))
def test_cluster_bars_hold_all_clusters_in_order(sizes: list[int]) -> None:
    bars = size_bars(sizes)
    assert sum(bar["clusters"] for bar in bars) == len(sizes)
    assert all(bar["clusters"] >= LEAST for bar in bars) or len(bars) == 1
    assert all(a["to"] < b["from"] for a, b in pairwise(bars))
    for bar in bars:
        assert bar["clusters"] == sum(bar["from"] <= size <= bar["to"] for size in sizes)


def test_a_constant_column_is_one_bin() -> None:
    assert len(nice_edges(np.full(50, 3.0))) == 0
    assert bin_bars(np.full(50, 3.0), np.zeros(0))["counts"] == [50]

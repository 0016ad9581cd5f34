"""k-degree anonymity: the cheapest sequence by enumeration, and graphs that have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.methods import k_degree, k_degree_sequence


def plain_costs(degrees: list[int], k: int) -> Iterator[int]:
    """Costs of all cuts of the sorted degrees into groups of at least k, each at its largest or one more."""
    if not degrees:
        yield 0
        return
    for size in range(k, len(degrees) + 1):
        if 0 < len(degrees) - size < k:
            continue
        for cost in plain_costs(degrees[size:], k):
            for raised in (0, 1):
                yield cost + sum(degrees[0] + raised - d for d in degrees[:size])


@given(st.lists(st.integers(0, 5), min_size=2, max_size=8), st.integers(2, 4), st.booleans())
def test_the_sequence_is_the_cheapest(degrees: list[int], k: int, even: bool) -> None:
    n = len(degrees) + 4
    degrees = degrees + [0] * 4
    costs = [c for c in plain_costs(sorted(degrees, reverse=True), k) if not even or c % 2 == 0]
    if not costs:
        with pytest.raises(SDCError, match="no even sum"):
            k_degree_sequence(degrees, k, even=even)
        return
    target = k_degree_sequence(degrees, k, even=even)
    assert target.sum() - sum(degrees) == min(costs)
    assert (target >= degrees).all()
    assert target.max() < n
    assert min(Counter(target.tolist()).values()) >= k


@given(st.integers(6, 30), st.integers(2, 5), st.integers(0, 10**6))
def test_links_are_added_until_each_degree_is_shared(n: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = np.argwhere(np.triu(rng.random((n, n)) < 0.2, 1))
    if not len(edges):
        edges = np.array([[0, 1]])
    try:
        added = k_degree(edges, n, min(k, n // 2), rng=rng)
    except SDCError:
        return  # there may be none
    every = {tuple(e) for e in np.concatenate([edges, added]).tolist()}
    assert len(every) == len(edges) + len(added), "a link is added once, and none that was there"
    assert all(a < b for a, b in added.tolist())
    degree = np.bincount(np.array(list(every)).ravel(), minlength=n)
    assert min(Counter(degree.tolist()).values()) >= min(k, n // 2)
    before = np.bincount(edges.ravel(), minlength=n)
    assert 2 * len(added) == k_degree_sequence(before, min(k, n // 2), even=True).sum() - before.sum()


@pytest.mark.parametrize(
    ("files", "first", "costs", "possible"),
    [
        (("graph_lazega_nodes.csv", "graph_lazega_cowork_edges.csv"), 1, (9, 17, 43, 129, 312), True),
        (("graph_caltech36_nodes.csv", "graph_caltech36_edges.csv"), 0, (79, 184, 442, 1164, 2791), False),
    ],
)
def test_published_graphs(
    files: tuple[str, str], first: int, costs: tuple[int, ...], possible: bool, public: Callable[[str], Path]
) -> None:
    n = len(pd.read_csv(public(files[0])))
    edges = np.unique(np.sort(pd.read_csv(public(files[1])).to_numpy() - first, axis=1), axis=0)
    degrees = np.bincount(edges.ravel(), minlength=n)
    for k, cost in zip((2, 3, 5, 10, 20), costs, strict=True):
        assert k_degree_sequence(degrees, k).sum() - degrees.sum() == cost
        even = k_degree_sequence(degrees, k, even=True).sum() - degrees.sum()
        assert cost <= even <= cost + 3
        if possible:
            assert 2 * len(k_degree(edges, n, k, rng=np.random.default_rng(1))) == even
        else:
            with pytest.raises(SDCError, match="exists by adding links"):
                k_degree(edges, n, k, rng=np.random.default_rng(1))


def test_what_is_refused() -> None:
    with pytest.raises(SDCError, match="k = 4 is more than the 3 nodes"):
        k_degree_sequence([1, 1, 2], 4)
    with pytest.raises(SDCError, match="above 2"):
        k_degree_sequence([3, 1, 1], 2)
    with pytest.raises(SDCError, match="no even sum"):
        k_degree_sequence([1, 0, 0, 0], 4, even=True)
    star = [[0, 1], [0, 2], [0, 3], [0, 4], [0, 5], [0, 6]]
    with pytest.raises(SDCError, match="exists by adding links"):  # two hubs of six links lack partners
        k_degree(star, 7, 2, rng=np.random.default_rng(1))

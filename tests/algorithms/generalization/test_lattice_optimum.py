"""Optimum of the lattice under weights and prices, against a plain twin that tries all that can be suppressed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems import Hierarchy, Microdata, SDCError
from sdc_problems.algorithms.generalization.lattice_optimum import DemandedLattice, lattice_optimum

TREES = {
    "a": Hierarchy.intervals(range(8), [2, 4]),
    "b": Hierarchy.intervals(range(6), [3]),
    "c": Hierarchy.suppression(["x", "y", "z"]),
}


def table(seed: int, n: int = 40) -> Microdata:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "a": rng.integers(0, 8, n), "b": rng.integers(0, 6, n), "c": rng.choice(["x", "y", "z"], n, p=[0.6, 0.3, 0.1]),
        "ill": rng.choice(["flu", "cold"], n), "faith": rng.choice(["one", "two", "three"], n),
    })  # fmt: skip
    return Microdata.from_frame(frame, quasi_identifiers=["a", "b", "c"], sensitive=["ill", "faith"])


def loss(data: Microdata, node: tuple[int, ...], kept: np.ndarray, weights: Mapping[str, float], price: float) -> float:
    """Cost of a table, cell by cell."""
    total, whole = 0.0, sum(weights.get(name, 1) for name in TREES)
    for i in range(len(data)):
        if not kept[i]:
            total += price * whole
            continue
        for level, (name, tree) in zip(node, TREES.items(), strict=True):
            values = [str(value) for value in tree.values]
            cell = str(data.frame()[name].iloc[i])
            column = tree.table(tree.values, attribute=name)[level]
            alike = int((column == column[values.index(cell)]).sum())
            total += weights.get(name, 1) * (alike - 1) / (len(values) - 1)
    return total / (len(data) * whole)


def plain(data: Microdata, k: int, l: int, weights: Mapping[str, float], price: float, most: int) -> float:
    """Least cost of all nodes and thresholds."""
    best, frame = np.inf, data.frame()
    for node in itertools.product(*(range(tree.n_levels) for tree in TREES.values())):
        labels = pd.DataFrame({
            name: tree.table(data.categories(name), attribute=name)[level][data.codes(name)[:, 0]]
            for level, (name, tree) in zip(node, TREES.items(), strict=True)
        })  # fmt: skip
        groups = labels.groupby(list(TREES)).ngroup().to_numpy()
        sizes = np.bincount(groups)
        for threshold in [0, *np.unique(sizes)]:
            kept = (sizes > threshold)[groups]
            if not kept.any() or (~kept).sum() > most or sizes[sizes > threshold].min() < k:
                continue
            if all(frame[name][kept].groupby(groups[kept]).nunique().min() >= l for name in data.sensitive):
                best = min(best, loss(data, node, kept, weights, price))
    return best


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 99),
    k=st.integers(2, 6),
    l=st.integers(1, 2),
    price=st.sampled_from([None, 0.2, 1.0, 3.0]),
    weights=st.sampled_from([{}, {"a": 3.0}, {"b": 0.1, "c": 7.0}]),
    most=st.sampled_from([0, 4, 39]),
)
def test_no_node_and_threshold_costs_less(
    seed: int, k: int, l: int, price: float | None, weights: dict[str, float], most: int
) -> None:
    data = table(seed)
    wanted = plain(data, k, l, weights, 1.0 if price is None else price, most)
    given_l = {} if l == 1 else {"l": l}
    lattice = DemandedLattice(
        data, TREES, k, **given_l, max_suppression=most, importance=weights, suppression_price=price
    )
    if wanted == np.inf:
        with pytest.raises(SDCError, match="no generalization has"):
            lattice.best_of_all()
        return
    x = lattice.best_of_all()
    node = lattice.problem.decode(x).levels
    lost = lattice.problem._generalized(x)[1]
    found = loss(data, tuple(node.values()), ~lost, weights, 1.0 if price is None else price)
    assert found == pytest.approx(wanted, abs=1e-12)


def test_a_price_is_a_limit_of_its_own() -> None:
    data = table(5)
    cheap, dear = (lattice_optimum(data, TREES, 5, suppression_price=price).suppressed for price in (0.05, 50.0))
    assert cheap is not None
    assert dear is not None
    assert cheap.sum() > 4 > dear.sum()
    limited = lattice_optimum(data, TREES, 5, suppression_price=0.05, max_suppression=3).suppressed
    assert limited is not None
    assert limited.sum() <= 3


def test_a_search_chooses_by_weights_too() -> None:
    data, rng = table(5), np.random.default_rng(1)
    whole = DemandedLattice(data, TREES, 3, max_suppression=4, importance={"a": 9})
    x, _ = whole.search(rng, evaluations=whole.problem.n_nodes)
    assert whole.cost is not None
    even = DemandedLattice(data, TREES, 3, max_suppression=4).best_of_all()
    assert whole.cost.exact(whole.best_of_all()) <= whole.cost.exact(x) <= whole.cost.exact(even)


@pytest.mark.parametrize("price", [0, -1, np.inf, np.nan, "2"])
def test_what_is_no_price_is_refused(price: object) -> None:
    with pytest.raises(SDCError, match="suppression_price"):
        DemandedLattice(table(1), TREES, 2, suppression_price=price)  # type: ignore[arg-type]

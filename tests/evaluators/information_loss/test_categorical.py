from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from sdc_problems import SDCError
from sdc_problems.evaluators.information_loss import (
    bivariate_difference,
    category_distance,
    chi2_difference,
    ctbil,
    dbil,
    ebil,
    il_categorical,
)
from sdc_problems.evaluators.information_loss.categorical import chi2_statistic


@st.composite
def code_pairs(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, list[int], list[str]]:
    p = draw(st.integers(1, 4))
    n = draw(st.integers(1, 15))
    sizes = draw(st.lists(st.integers(1, 6), min_size=p, max_size=p))
    rows = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    X = np.array(draw(st.lists(rows, min_size=n, max_size=n)), dtype=np.int64)
    Y = np.array(draw(st.lists(rows, min_size=n, max_size=n)), dtype=np.int64)
    kinds = draw(st.lists(st.sampled_from(["ordinal", "nominal"]), min_size=p, max_size=p))
    return X, Y, sizes, kinds


def plain_distance(a: int, b: int, kind: str, size: int) -> float:
    if a == b:
        return 0.0
    return 1.0 if kind == "nominal" else len(range(min(a, b), max(a, b) + 1)) / size


def plain_dbil(X: np.ndarray, Y: np.ndarray, kinds: list[str], sizes: list[int]) -> float:
    n, p = X.shape
    total = sum(plain_distance(X[i, j], Y[i, j], kinds[j], sizes[j]) for i in range(n) for j in range(p))
    return 100 * total / (n * p)


def plain_ctbil(X: np.ndarray, Y: np.ndarray, K: int, sizes: list[int]) -> tuple[float, float]:
    """Every cell of every table, empty ones too."""
    n, p = X.shape
    difference = n_tables = n_cells = 0
    for size in range(1, min(K, p) + 1):
        for attributes in combinations(range(p), size):
            before = Counter(map(tuple, X[:, attributes].tolist()))
            after = Counter(map(tuple, Y[:, attributes].tolist()))
            n_tables += 1
            for cell in product(*(range(sizes[j]) for j in attributes)):
                n_cells += 1
                difference += abs(before[cell] - after[cell])
    return 100 * difference / (2 * n * n_tables), difference / n_cells


def plain_ebil(X: np.ndarray, Y: np.ndarray, sizes: list[int]) -> float:
    n, p = X.shape
    losses = []
    for j in range(p):
        total = 0.0
        for record in range(n):
            seen = X[Y[:, j] == Y[record, j], j]
            for value in set(seen.tolist()):
                share = float(np.mean(seen == value))
                total -= share * math.log(share)
        losses.append(total / (n * math.log(sizes[j])) if sizes[j] > 1 else 0.0)
    return 100 * sum(losses) / p


@given(code_pairs())
def test_the_three_losses_are_the_plain_ones(case: tuple[np.ndarray, np.ndarray, list[int], list[str]]) -> None:
    X, Y, sizes, kinds = case
    assert dbil(X, Y, kinds=kinds, n_categories=sizes) == pytest.approx(plain_dbil(X, Y, kinds, sizes))
    for K in (1, 2, 3):
        percent, per_cell = plain_ctbil(X, Y, K, sizes)
        assert ctbil(X, Y, K=K) == pytest.approx(percent)
        assert ctbil(X, Y, K=K, per_cell=True, n_categories=sizes) == pytest.approx(per_cell)
    assert ebil(X, Y, n_categories=sizes) == pytest.approx(plain_ebil(X, Y, sizes), abs=1e-9)
    mean = (plain_ctbil(X, Y, 2, sizes)[0] + plain_dbil(X, Y, kinds, sizes) + plain_ebil(X, Y, sizes)) / 3
    assert il_categorical(X, Y, kinds=kinds, n_categories=sizes) == pytest.approx(mean)


@given(code_pairs())
def test_bounds_and_the_trivial_value(case: tuple[np.ndarray, np.ndarray, list[int], list[str]]) -> None:
    X, Y, sizes, kinds = case
    for loss in (dbil(X, Y, kinds=kinds, n_categories=sizes), ctbil(X, Y), ebil(X, Y, n_categories=sizes)):
        assert 0.0 <= loss <= 100.0 + 1e-9
    assert il_categorical(X, X, kinds=kinds, n_categories=sizes) == 0.0
    order = np.random.default_rng(0).permutation(len(X))
    assert ctbil(X, Y[order]) == ctbil(X, Y)  # tables of counts do not know the order of the records


def test_disjoint_categories_are_the_worst_case() -> None:
    X, Y = np.zeros((6, 3), dtype=int), np.ones((6, 3), dtype=int)
    assert ctbil(X, Y) == 100.0
    assert dbil(X, Y) == 100.0


def test_the_ordinal_distance_counts_both_ends() -> None:
    """From the first to the last of five categories lie five; neighbors span two."""
    d = category_distance([0, 0, 2], [4, 1, 2], kind="ordinal", n_categories=5)
    np.testing.assert_array_equal(d, [1.0, 0.4, 0.0])


def test_declared_domains_must_hold_the_codes() -> None:
    with pytest.raises(SDCError, match=r"n_categories says attribute 1 has 2 categories, but code 4 occurs"):
        dbil([[0, 4]], [[0, 1]], n_categories=[3, 2])


def test_kinds_are_checked() -> None:
    with pytest.raises(SDCError, match=r"kinds has 1 entries for 2 attributes"):
        dbil([[0, 1]], [[0, 1]], kinds=["ordinal"])
    with pytest.raises(SDCError, match=r"kinds\[1\] must be one of 'ordinal', 'nominal', not 'numeric'"):
        dbil([[0, 1]], [[0, 1]], kinds=["ordinal", "numeric"])


@given(code_pairs())
def test_bivariate_difference_is_the_plain_one(case: tuple[np.ndarray, np.ndarray, list[int], list[str]]) -> None:
    X, Y, _, _ = case
    x, y, z = X[:, 0], Y[:, 0], X[:, -1]
    before, after = Counter(zip(x.tolist(), z.tolist(), strict=True)), Counter(zip(y.tolist(), z.tolist(), strict=True))
    total = sum(abs(before[cell] - after[cell]) for cell in set(before) | set(after))
    assert bivariate_difference(x, y, z) == pytest.approx(100 * total / (2 * len(x)))
    assert bivariate_difference(x * 100_000, y * 100_000, z) == bivariate_difference(x, y, z)


@given(code_pairs())
def test_chi2_is_scipys(case: tuple[np.ndarray, np.ndarray, list[int], list[str]]) -> None:
    X, Y, _, _ = case
    x, z = X[:, 0], Y[:, -1]
    table = np.zeros((x.max() + 1, z.max() + 1))
    np.add.at(table, (x, z), 1)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    expected = chi2_contingency(table, correction=False).statistic
    assert chi2_statistic(x, z) == pytest.approx(expected, abs=1e-9)


def test_chi2_difference_with_a_zero_reference() -> None:
    independent, z = [0, 1, 0, 1], [0, 0, 1, 1]
    assert chi2_difference(independent, independent, z) == 0.0
    assert chi2_difference(independent, z, z) == 100.0
    assert chi2_difference(z, independent, z) == 100.0
    assert chi2_difference(z, z, z) == 0.0

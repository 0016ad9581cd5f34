"""Tables of both kinds: the measures against their definition, the engine against the measures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems.errors import SDCError
from sdc_problems.evaluators import (
    distance_linkage,
    dr_mixed,
    il_categorical,
    il_mixed,
    interval_disclosure_rank,
    pil,
)
from sdc_problems.evaluators.mixed.engine import PARTS, MaskedColumn, MixedEngine, cell_labels

KINDS = ("numeric", "nominal", "numeric", "ordinal", "nominal")


def table(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.column_stack(
        [rng.normal(size=n), rng.integers(0, 5, n), rng.lognormal(size=n), rng.integers(0, 3, n), rng.integers(0, 9, n)]
    ).astype(float)


def masked(rng: np.random.Generator, X: np.ndarray, j: int) -> MaskedColumn:
    y = X[:, j].copy()
    some = rng.random(len(y)) < rng.random()
    y[some] = rng.permutation(y[some]) if rng.random() < 0.8 else y[0]
    return MaskedColumn((j, rng.random()), y, cell_labels(y))


@given(st.integers(0, 10**6), st.integers(3, 40))
@settings(max_examples=40, deadline=None)
def test_the_engine_equals_the_public_functions_whatever_was_measured_before(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    X = table(rng, n)
    sizes = [int(X[:, j].max()) + 1 for j in range(5)]
    engine = MixedEngine(X, KINDS, sizes, threads=1, kept=7)  # so few that what is known is forgotten, too
    ways = [[engine.untouched[j], masked(rng, X, j), masked(rng, X, j)] for j in range(5)]
    for _ in range(4):
        file = [each[rng.integers(3)] for each in ways]
        Y = np.column_stack([column.values for column in file])
        found = dict(zip(PARTS, engine.measure([file], PARTS)[0], strict=True))
        options = {"kinds": KINDS, "n_categories": sizes}
        assert found["il_mixed"] == pytest.approx(il_mixed(X, Y, **options), abs=1e-9)
        assert found["dr_mixed"] == pytest.approx(dr_mixed(X, Y, **options), abs=1e-9)
        assert found["pil"] == pytest.approx(pil(X[:, [0, 2]], Y[:, [0, 2]]), abs=1e-9)
        categories = [1, 3, 4]
        of = {"kinds": [KINDS[j] for j in categories], "n_categories": [sizes[j] for j in categories]}
        before, after = X[:, categories].astype(int), Y[:, categories].astype(int)
        assert found["il_categorical"] == pytest.approx(il_categorical(before, after, **of), abs=1e-9)
        alike = np.unique(np.column_stack([column.labels for column in file]), axis=0, return_counts=True)[1]
        assert found["k"] == alike.min()


def test_each_kind_counts_by_its_columns() -> None:
    rng = np.random.default_rng(3)
    X = table(rng, 50)
    Y = np.column_stack([masked(rng, X, j).values for j in range(5)])
    numbers, categories = [0, 2], [1, 3, 4]
    kinds = [KINDS[j] for j in categories]
    lost = il_categorical(X[:, categories].astype(int), Y[:, categories].astype(int), kinds=kinds, n_categories=9)
    expected = (2 * pil(X[:, numbers], Y[:, numbers]) + 3 * lost) / 5
    assert il_mixed(X, Y, kinds=KINDS, n_categories=9) == pytest.approx(expected)
    near = interval_disclosure_rank(X, Y, kinds=KINDS)
    linked = distance_linkage(X, Y, kinds=KINDS, n_categories=9)
    assert dr_mixed(X, Y, kinds=KINDS, n_categories=9) == pytest.approx((near + linked) / 2)


@pytest.mark.parametrize("columns", [[0, 2], [1, 3]])
def test_a_table_of_one_kind_has_the_loss_of_that_kind(columns: list[int]) -> None:
    rng = np.random.default_rng(4)
    X = table(rng, 40)[:, columns]
    Y = X[rng.permutation(40)]
    kinds = [KINDS[j] for j in columns]
    if columns[0] == 0:
        assert il_mixed(X, Y, kinds=kinds) == pytest.approx(pil(X, Y))
    else:
        assert il_mixed(X, Y, kinds=kinds) == pytest.approx(il_categorical(X.astype(int), Y.astype(int), kinds=kinds))
    file = [MaskedColumn(("all", j), Y[:, j].copy(), cell_labels(Y[:, j])) for j in range(2)]
    found = MixedEngine(X, kinds).measure([file], ["il_mixed", "dr_mixed"])[0]
    assert found == pytest.approx([il_mixed(X, Y, kinds=kinds), dr_mixed(X, Y, kinds=kinds)])


def test_a_sample_is_attacked_among_all_records() -> None:
    rng = np.random.default_rng(5)
    X = table(rng, 200)
    Y = np.column_stack([masked(rng, X, j).values for j in range(5)])
    some = np.sort(rng.choice(200, 30, replace=False))
    options = {"kinds": KINDS, "n_categories": 9}
    from sdc_problems.evaluators import link_ties

    ties = link_ties(X, Y, **options)[some]
    expected = 100 * sum(1 / t for t in ties if t) / len(some)
    assert distance_linkage(X, Y, records=some, **options) == pytest.approx(expected)
    assert distance_linkage(X, Y, records=np.arange(200), **options) == distance_linkage(X, Y, **options)
    file = [MaskedColumn(("own", j), Y[:, j].copy(), cell_labels(Y[:, j])) for j in range(5)]
    engine = MixedEngine(X, KINDS, 9, attacked=some)
    assert engine.measure([file], ["dbrl_protected"])[0, 0] == pytest.approx(expected)
    assert engine.measure([file], ["dbrl_protected"], everyone=True)[0, 0] == distance_linkage(X, Y, **options)


@pytest.mark.parametrize("records", [[], [-1], [200], [0.5]])
def test_records_that_do_not_exist_are_refused(records: list[float]) -> None:
    X = table(np.random.default_rng(6), 200)
    with pytest.raises(SDCError, match="records must be positions"):
        distance_linkage(X, X, kinds=KINDS, records=np.array(records))

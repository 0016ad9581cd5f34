"""Engine of protection after clustering, against the public functions, one setting at a time."""

from __future__ import annotations

import numpy as np
import pytest

from sdc_problems.evaluators import Engine, clustering_loss, dr_categorical, dr_guarded, il_categorical, score_max
from sdc_problems.evaluators.preclustering import PreclusteringEngine
from sdc_problems.evaluators.preclustering import engine as module
from sdc_problems.methods import c_median, precluster

KINDS = ["ordinal", "ordinal"]
SIZES = [5, 4]


@pytest.fixture
def codes() -> np.ndarray:
    rng = np.random.default_rng(2)
    return np.column_stack([rng.integers(0, 5, 70), rng.integers(0, 3, 70)])


def engine(codes: np.ndarray, **options: object) -> PreclusteringEngine:
    return PreclusteringEngine(codes, kinds=KINDS, n_categories=SIZES, **options)


@pytest.mark.parametrize("guard", [True, False])
def test_measures_are_those_of_the_public_functions(codes: np.ndarray, guard: bool) -> None:
    compiled = engine(codes, guard=guard)
    settings = [(m, r, k, c) for m in (0, 1) for r in (0, 1) for k in (2, 9, 30) for c in (1, 3, 14)]
    names = ("il_categorical", "dr_guarded" if guard else "dr_categorical", "score_max", "k", "clustering_loss")
    found = compiled.measure(settings, names)
    for (m, r, k, c), row in zip(settings, found, strict=True):
        plain = precluster(
            codes, k, clusters=c, method=("mdav", "global_median")[m], merge=("smallest", "nearest")[r], kinds=KINDS,
            n_categories=SIZES, restarts="all",
        ).values.astype(int)  # fmt: skip
        np.testing.assert_array_equal(compiled.values(module.Setting(m, r, k, c)), plain)
        options = {"kinds": KINDS, "n_categories": SIZES}
        loss = il_categorical(codes, plain, **options)
        risk = (dr_guarded if guard else dr_categorical)(codes, plain, **options)
        smallest = np.unique(plain, axis=0, return_counts=True)[1].min()
        clusterings = []
        for number in range(2, 11):
            before = c_median(codes, number, restarts="all", **options)
            after = c_median(plain, number, start=before.start, **options)
            clusterings.append(clustering_loss(before.labels, after.labels))
        expected = [loss, risk, score_max(loss, risk), smallest, np.mean(clusterings)]
        np.testing.assert_allclose(row, expected, atol=1e-9)


def test_equal_files_are_measured_once(codes: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = engine(codes)
    asked = []
    measure = compiled.cells.measure
    monkeypatch.setattr(compiled.cells, "measure", lambda *args: asked.append(1) or measure(*args))
    settings = [(0, 0, 40, c) for c in range(1, 15)]  # all clusters are joined to one
    found = compiled.measure(settings, ("il_categorical",))
    assert len(np.unique(found)) == 1
    assert len(asked) == 1
    assert compiled.measure([settings[3]], ("ctbil",)).shape == (1, 1), "what is asked later is measured then"
    assert isinstance(compiled, Engine)


def test_starts_that_are_drawn_follow_the_seed(codes: np.ndarray) -> None:
    one, two = (engine(codes, restarts=1, seed=seed) for seed in (1, 2))
    assert any(one.clusters(c).cost != two.clusters(c).cost for c in range(2, 8))
    again = engine(codes, restarts=1, seed=1)
    for c in (7, 3):
        np.testing.assert_array_equal(again.clusters(c).labels, one.clusters(c).labels)

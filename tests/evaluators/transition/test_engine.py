from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.evaluators.disclosure_risk import dr_categorical, interval_disclosure_rank, mean_expectation_ratio
from sdc_problems.evaluators.information_loss.categorical import (
    bivariate_difference,
    chi2_difference,
    ctbil,
    dbil,
    ebil,
    il_categorical,
)
from sdc_problems.evaluators.linkage import distance_linkage, probabilistic_linkage
from sdc_problems.evaluators.transition import MEASURES, TransitionEngine, parts_of
from sdc_problems.evaluators.transition import _data as _transition_data
from sdc_problems.methods import normalize_rows
from sdc_problems.methods.perturbation._pram import randomize_with

pytestmark = pytest.mark.filterwarnings("ignore::sdc_problems.evaluators.linkage.ConvergenceWarning")


def example(seed: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], list[str], np.ndarray]:
    """A small table with skewed categories, one attribute more that stays, and matrices of all kinds."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 4))
    sizes = rng.integers(2, 6, size=p)
    n = int(rng.integers(3, 60))
    X = np.stack([np.minimum(rng.geometric(0.4, size=n) - 1, size - 1) for size in sizes], axis=1)
    matrices = []
    for size in sizes:
        weights = rng.random((size, size)) ** 3 * (rng.random((size, size)) < 0.7)
        matrices.append(normalize_rows(weights + rng.integers(0, 3) * np.eye(size)))
    kinds = rng.choice(["ordinal", "nominal"], size=p).tolist()
    return X, sizes, matrices, kinds, rng.integers(0, 3, size=n)


def plain(X: np.ndarray, Y: np.ndarray, sizes: np.ndarray, kinds: list[str], Z: np.ndarray) -> dict[str, float]:
    """The measures as functions of two files."""
    domain = {"n_categories": sizes}
    values = {
        "ctbil": ctbil(X, Y),
        "dbil": dbil(X, Y, kinds=kinds, **domain),
        "ebil": ebil(X, Y, **domain),
        "il_categorical": il_categorical(X, Y, kinds=kinds, **domain),
        "id_rank": interval_disclosure_rank(X, Y, kinds=kinds),
        "dbrl": distance_linkage(X, Y, direction="to_original", kinds=kinds, **domain),
        "prl": probabilistic_linkage(X, Y, kinds=kinds),
        "dr_categorical": dr_categorical(X, Y, kinds=kinds, **domain),
        "bivariate": float(np.mean([bivariate_difference(x, y, Z) for x, y in zip(X.T, Y.T, strict=True)])),
        "chi2": float(np.mean([chi2_difference(x, y, Z) for x, y in zip(X.T, Y.T, strict=True)])),
    }
    values["score_mean"] = (values["il_categorical"] + values["dr_categorical"]) / 2
    values["score_max"] = max(values["il_categorical"], values["dr_categorical"])
    return values


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_the_engine_measures_what_the_plain_functions_measure(seed: int) -> None:
    X, sizes, matrices, kinds, Z = example(seed)
    engine = TransitionEngine(X, n_categories=sizes, kinds=kinds, against=Z, replicates=3, seed=5)
    files = engine.sampled(matrices, MEASURES)
    for r, uniforms in enumerate(engine.uniforms):
        Y = randomize_with(X, matrices, uniforms)
        np.testing.assert_array_equal(engine.draw(matrices).protected[r], Y)
        for name, value in plain(X, Y, sizes, kinds, Z).items():
            assert files[name][r] == pytest.approx(value, abs=1e-9), name


def test_large_domains_are_measured_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the limits for dense tables the plain functions take over."""
    X, sizes, matrices, kinds, Z = example(8)
    assert X.shape[1] > 1
    dense = TransitionEngine(X, n_categories=sizes, kinds=kinds, against=Z).sampled(matrices, MEASURES)
    monkeypatch.setattr(_transition_data, "_DENSE_CELLS", 3)
    monkeypatch.setattr(_transition_data, "_DENSE_COMBINATIONS", 3)
    sparse = TransitionEngine(X, n_categories=sizes, kinds=kinds, against=Z)
    assert not sparse.data.dense_tables
    assert not sparse.data.dense_combinations
    for name, values in sparse.sampled(matrices, MEASURES).items():
        np.testing.assert_allclose(values, dense[name], atol=1e-9)
    for objective in ("il_categorical", "dr_categorical"):
        with pytest.raises(SDCError, match="sampled"):
            sparse.expected(matrices, [objective])


def test_many_categories_use_the_binary_search_of_the_draw() -> None:
    rng = np.random.default_rng(2)
    X = rng.integers(0, 40, size=(300, 2))
    matrices = [normalize_rows(rng.random((40, 40)) * (rng.random((40, 40)) < 0.2)) for _ in range(2)]
    engine = TransitionEngine(X, replicates=2)
    for file, uniforms in zip(engine.draw(matrices).protected, engine.uniforms, strict=True):
        np.testing.assert_array_equal(file, randomize_with(X, matrices, uniforms))


def test_common_random_numbers_make_scores_a_function_of_the_matrices() -> None:
    X, sizes, matrices, kinds, Z = example(3)
    engine = TransitionEngine(X, n_categories=sizes, kinds=kinds, against=Z)
    first = engine.sampled(matrices, MEASURES)
    engine.sampled([np.eye(s) for s in sizes], MEASURES)
    again = engine.sampled(matrices, MEASURES)
    other = TransitionEngine(X, n_categories=sizes, kinds=kinds, against=Z).sampled(matrices, MEASURES)
    for name, values in first.items():
        assert values.tobytes() == again[name].tobytes() == other[name].tobytes()
    elsewhere = TransitionEngine(X, n_categories=sizes, kinds=kinds, against=Z, seed=1).sampled(matrices, ["dbil"])
    assert elsewhere["dbil"].tobytes() != first["dbil"].tobytes()


def test_untouched_data() -> None:
    X, sizes, _, kinds, Z = example(4)
    engine = TransitionEngine(X, n_categories=sizes, kinds=kinds, against=Z, replicates=2)
    untouched = [np.eye(s) for s in sizes]
    for values in (engine.sampled(untouched, MEASURES), engine.expected(untouched, MEASURES)):
        for name in ("il_categorical", "ctbil", "dbil", "ebil", "bivariate", "chi2", "entropy"):
            assert np.max(values[name]) == pytest.approx(0, abs=1e-9)
        assert np.min(values["id_rank"]) == pytest.approx(100)


def test_fresh_files_are_other_files_in_pieces_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    X, sizes, matrices, kinds, _ = example(5)
    engine = TransitionEngine(X, n_categories=sizes, kinds=kinds)
    together = np.concatenate(
        [part["il_categorical"] for part in engine.fresh(matrices, ["il_categorical"], files=7, seed=3)]
    )
    monkeypatch.setattr("sdc_problems.evaluators.transition.engine._CELLS_AT_ONCE", X.size * 2)
    in_pieces = [part["il_categorical"] for part in engine.fresh(matrices, ["il_categorical"], files=7, seed=3)]
    assert [len(part) for part in in_pieces] == [2, 2, 2, 1]
    np.testing.assert_array_equal(np.concatenate(in_pieces), together)


def test_measures_of_the_matrices_alone() -> None:
    X, sizes, matrices, kinds, _ = example(6)
    engine = TransitionEngine(X, n_categories=sizes, kinds=kinds)
    counts = engine.data.frequencies
    ratios = [mean_expectation_ratio(P, t) for P, t in zip(matrices, counts, strict=True)]
    if np.isfinite(ratios).all() and max(ratios) < len(X):
        assert engine.expected(matrices, ["expectation_ratio"])["expectation_ratio"] == pytest.approx(np.mean(ratios))
    uniform = [np.full((s, s), 1 / s) for s in sizes]
    assert engine.sampled(uniform, ["entropy"])["entropy"][0] == pytest.approx(100)
    identity = engine.expected([np.eye(s) for s in sizes], ["expectation_ratio"])
    assert identity["expectation_ratio"] == pytest.approx(len(X)), "an infinite ratio counts n"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TransitionEngine([[0, 1]], kinds="numeric"), "kinds"),
        (lambda: TransitionEngine([[0.5, 1]]), "whole numbers"),
        (lambda: TransitionEngine(np.zeros((0, 2))), "empty"),
        (lambda: TransitionEngine([[0, 1], [1, 0]], n_categories=[1, 2]), "code 1 occurs"),
        (lambda: TransitionEngine([[0, 1], [1, 0]], against=[0]), "1 entries for 2 records"),
        (lambda: TransitionEngine([[0, 1], [1, 0]], replicates=0), "replicates"),
        (lambda: TransitionEngine([[0, 1], [1, 0]]).sampled([np.eye(2)] * 2, ["chi2"]), "give against="),
        (lambda: TransitionEngine([[0, 1], [1, 0]]).expected([np.eye(2)] * 2, ["bivariate"]), "give against="),
        (lambda: parts_of(["ctbill"]), "did you mean 'ctbil'"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        call()

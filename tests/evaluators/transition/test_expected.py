"""Expected measures: exact ones against exhaustive sums and 2,000 drawn files, approximations within stated errors."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from sdc_problems import _slices
from sdc_problems.evaluators.transition import TransitionEngine
from sdc_problems.evaluators.transition._expected_counts import expected_distances, expected_x_log_x
from sdc_problems.methods import diagonal_by_frequency_matrix, frequency_matrix, max_entropy_matrix, normalize_rows

EXACT = ("ctbil", "dbil", "ebil", "il_categorical", "dbrl", "bivariate")
FILES = 2000


def distribution(size: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """Probabilities of 0, 1, 2, … of a sum of binomials, by convolution."""
    total = np.ones(1)
    for n, p in zip(size, probability, strict=True):
        total = np.convolve(total, binom.pmf(np.arange(n + 1), n, p))
    return total


chances = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(1e-9, 1 - 1e-9))  # SciPy's pmf overflows at 1e-308
groups = st.lists(st.tuples(st.integers(0, 400), chances), min_size=1, max_size=6)


@given(groups, st.integers(0, 2500))
@settings(max_examples=150)
def test_expected_distance_is_the_sum_over_the_distribution(parts: list[tuple[int, float]], reference: int) -> None:
    size, probability = np.array([n for n, _ in parts]), np.array([[p] for _, p in parts])
    pmf = distribution(size, probability[:, 0])
    near = round(float((size * probability[:, 0]).sum()))  # where the kink of the distance matters
    for a in {reference, near, near + 1, max(near - 5, 0), 0}:
        exact = float((pmf * np.abs(np.arange(len(pmf)) - a)).sum())
        assert expected_distances(size, probability, np.array([a])) == pytest.approx(exact, abs=1e-8)


@given(groups)
@settings(max_examples=100)
def test_expected_a_log_a_is_the_sum_over_the_distribution(parts: list[tuple[int, float]]) -> None:
    size, probability = np.array([n for n, _ in parts]), np.array([[p] for _, p in parts])
    pmf = distribution(size, probability[:, 0])
    exact = sum(w * k * math.log(k) for k, w in enumerate(pmf) if k)
    assert expected_x_log_x(size, probability) == pytest.approx(exact, rel=1e-8, abs=1e-8)


def test_exact_measures_over_all_files_of_a_tiny_table() -> None:
    """Every file that could be drawn, with its probability: no sampling at all."""
    rng = np.random.default_rng(1)
    X, Z = np.array([[0, 0], [1, 2], [1, 0], [2, 2]]), np.array([0, 1, 0, 0])
    matrices = [normalize_rows(rng.random((3, 3))) for _ in range(2)]
    for kinds in ("nominal", "ordinal"):
        # One replicate per file: its numbers hit the middle of each category's interval.
        middles = [np.cumsum(P, axis=1) - P / 2 for P in matrices]
        engine = TransitionEngine(X, n_categories=[3, 3], kinds=kinds, against=Z, replicates=1)
        files, weights = [], []
        for choice in itertools.product(range(3), repeat=8):
            moved = np.array(choice).reshape(2, 4)
            files.append([[middles[a][X[i, a], moved[a, i]] for i in range(4)] for a in range(2)])
            weights.append(math.prod(matrices[a][X[i, a], moved[a, i]] for a in range(2) for i in range(4)))
        engine.uniforms = np.array(files)
        assert sum(weights) == pytest.approx(1)
        names = [*EXACT, "id_rank"] if kinds == "nominal" else EXACT
        values = engine.sampled(matrices, names)
        expected = engine.expected(matrices, names)
        for name in names:
            assert expected[name] == pytest.approx(float(np.dot(weights, values[name])), abs=1e-8), (kinds, name)


def table(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """A dependent table of 1,000 records whose third attribute stays."""
    rng = np.random.default_rng(7)
    a = rng.choice(5, size=1000, p=[0.4, 0.1, 0.25, 0.05, 0.2])
    b = np.clip(a + rng.integers(-1, 2, size=1000), 0, 3)
    return np.stack([a, b], axis=1), (a + rng.integers(0, 3, size=1000)) % 4


def test_linkage_in_slices_is_that_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = table("ordinal")
    matrices = [frequency_matrix(X[:, a], 0.5) for a in range(2)]

    def linked() -> float:
        engine = TransitionEngine(X, n_categories=[5, 4], kinds="ordinal", replicates=1)
        return engine.expected(matrices, ["dbrl"])["dbrl"]

    told: list[str] = []
    whole = linked()
    monkeypatch.setattr(_slices, "SLICE", 100)
    with _slices.listening(lambda what, *_: told.append(what)):
        assert linked() == whole
    assert "combinations linked" in told


@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
@pytest.mark.parametrize(
    "build",
    [
        lambda t: frequency_matrix(t, 0.5),
        lambda t: diagonal_by_frequency_matrix(t, 0.7),
        lambda t: 0.8 * np.roll(np.eye(len(t)), 1, axis=1) + 0.2 * max_entropy_matrix(len(t), 0.6),
    ],
)
def test_expected_is_the_mean_of_sampled_files(kind: str, build) -> None:
    """Means of 2,000 files: exact measures within four standard errors, approximations as documented."""
    X, Z = table(kind)
    engine = TransitionEngine(X, kinds=kind, against=Z, replicates=2, seed=12)
    matrices = [build(t) for t in engine.data.frequencies]
    # PRL, the slow one, is left out: dr is compared with DBRL in its place, and separately below.
    names = [*EXACT, "id_rank", "chi2"]
    sampled = {name: np.empty(0) for name in names}
    for part in engine.fresh(matrices, names, files=FILES, seed=99):
        sampled = {name: np.append(sampled[name], part[name]) for name in names}
    expected = engine.expected(matrices, names)
    for name in names:
        mean, error = sampled[name].mean(), sampled[name].std() / math.sqrt(FILES)
        allowed = 4 * error
        if name == "chi2":
            allowed += 0.5
        if name == "id_rank" and kind == "ordinal":
            allowed += 0.2
        assert abs(expected[name] - mean) < allowed, (name, expected[name], mean, error)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
def test_expected_risk_and_scores_stay_close_to_the_mean_of_files(kind: str) -> None:
    """DBRL stands for max(DBRL, PRL), and the maximum of means for the mean of maxima: at most 0.1 points below."""
    X, _ = table(kind)
    engine = TransitionEngine(X, kinds=kind, replicates=5)
    names = ("dr_categorical", "score_mean", "score_max")
    for stay in (0.3, 0.6, 0.9):
        matrices = [frequency_matrix(t, stay) for t in engine.data.frequencies]
        files = list(engine.fresh(matrices, names, files=FILES, seed=5))
        expected = engine.expected(matrices, names)
        for name in names:
            values = np.concatenate([part[name] for part in files])
            error = 4 * values.std() / math.sqrt(FILES)
            assert expected[name] == pytest.approx(values.mean(), abs=0.1 + error), (stay, name)


def test_probabilistic_linkage_is_that_of_the_common_files() -> None:
    X, _ = table("nominal")
    engine = TransitionEngine(X, replicates=3)
    matrices = [frequency_matrix(t, 0.7) for t in engine.data.frequencies]
    assert engine.expected(matrices, ["prl"])["prl"] == engine.sampled(matrices, ["prl"])["prl"].mean()
    both = engine.expected(matrices, ["prl", "dr_categorical"])
    assert both["dr_categorical"] == engine.expected(matrices, ["dr_categorical"])["dr_categorical"]
    assert "prl" not in engine.expected(matrices, ["dr_categorical"]), "not computed where DBRL stands for it"

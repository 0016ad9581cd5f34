from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sdc_problems import SDCError, _slices
from sdc_problems.evaluators.disclosure_risk import expectation_ratio, mean_expectation_ratio
from sdc_problems.methods import (
    diagonal_by_frequency_matrix,
    frequency_matrix,
    identity_matrix,
    make_invariant,
    max_entropy_matrix,
    normalize_rows,
    post_randomize,
    pram,
)
from sdc_problems.methods.perturbation._pram import MAX_CATEGORIES, draw_thresholds, randomize_with, transition_matrix

DEGREE = np.array([98, 173, 251, 195, 170, 80])
counts = st.lists(st.integers(0, 300), min_size=2, max_size=9).filter(any).map(np.array)
shares = st.floats(0, 1, allow_nan=False)

# Marés (2013), Table 4.1: p = 0.5, frequencies of Table 4.2.
TABLE_4_1 = np.array(
    [
        [0.500, 0.067, 0.060, 0.065, 0.067, 0.076, 0.080, 0.083],
        [0.073, 0.500, 0.058, 0.064, 0.066, 0.075, 0.080, 0.083],
        [0.072, 0.064, 0.500, 0.062, 0.064, 0.074, 0.080, 0.083],
        [0.073, 0.065, 0.057, 0.500, 0.066, 0.075, 0.080, 0.083],
        [0.073, 0.066, 0.058, 0.064, 0.500, 0.075, 0.080, 0.083],
        [0.074, 0.068, 0.061, 0.066, 0.068, 0.500, 0.080, 0.083],
        [0.075, 0.068, 0.062, 0.067, 0.069, 0.076, 0.500, 0.083],
        [0.075, 0.069, 0.062, 0.067, 0.069, 0.077, 0.081, 0.500],
    ]
)


def test_golden_frequency_matrix() -> None:
    """Table 4.1 to three decimals: one of its 64 cells is cut (0.0676 printed as 0.067), the others are rounded."""
    matrix = frequency_matrix([98, 173, 251, 195, 170, 80, 33, 0], 0.5)
    different = np.argwhere(np.abs(matrix.round(3) - TABLE_4_1) > 1e-9)
    assert different.tolist() == [[0, 4]]
    assert TABLE_4_1[0, 4] == np.floor(matrix[0, 4] * 1000) / 1000


def test_golden_expectation_ratios() -> None:
    """Initial matrix of Marés (2013), Tables 4.8 and 4.10."""
    P = max_entropy_matrix(6, 0.6)
    np.testing.assert_allclose(expectation_ratio(P, DEGREE), [0.846, 1.634, 2.629, 1.894, 1.600, 0.676], atol=5e-4)
    assert mean_expectation_ratio(P, DEGREE) == pytest.approx(1.780, abs=5e-4)


def plain_frequency_matrix(t: np.ndarray, p: float) -> np.ndarray:
    n, total = len(t), t.sum()
    matrix = np.empty((n, n))
    for k in range(n):
        for l in range(n):
            if k == l:
                matrix[k, l] = p
            elif n == 2 or t[k] == total:
                matrix[k, l] = (1 - p) / (n - 1)
            else:
                matrix[k, l] = (1 - p) * (total - t[k] - t[l]) / ((n - 2) * (total - t[k]))
    return matrix


@given(counts, shares)
def test_frequency_matrix_is_the_formula(t: np.ndarray, p: float) -> None:
    np.testing.assert_allclose(frequency_matrix(t, p), plain_frequency_matrix(t, p), atol=1e-12)


@given(counts, shares)
def test_builders_make_transition_matrices(t: np.ndarray, p: float) -> None:
    n = len(t)
    for matrix in (
        frequency_matrix(t, p),
        diagonal_by_frequency_matrix(t, p),
        max_entropy_matrix(n, p),
        identity_matrix(n),
    ):
        transition_matrix(matrix, n)  # refuses what is none
    by_frequency = np.diag(diagonal_by_frequency_matrix(t, p))
    order = np.argsort(t, kind="stable")
    assert (np.diff(by_frequency[order]) >= -1e-12).all(), "rarer categories move more"


@given(hnp.arrays(np.int16, st.tuples(st.integers(1, 3), st.just(4), st.just(4)), elements=st.integers(0, 1000)))
def test_normalised_rows_sum_to_one_and_keep_their_ratios(weights: np.ndarray) -> None:
    P = normalize_rows(weights)
    np.testing.assert_allclose(P.sum(axis=-1), 1.0)
    empty = weights.sum(axis=-1) == 0
    np.testing.assert_array_equal(P[empty], np.broadcast_to(np.eye(4), P.shape)[empty])
    np.testing.assert_allclose(P * weights.sum(axis=-1, keepdims=True) * ~empty[..., None], weights, atol=1e-9)


@given(st.integers(2, 20), st.integers(0, 2**32 - 1))
def test_drawing_inverts_the_cumulated_row(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    P = normalize_rows(rng.random((n, n)) * (rng.random((n, n)) < 0.6))
    codes, uniforms = rng.integers(0, n, size=(40, 1)), rng.random((1, 40))
    uniforms[0, 0] = np.nextafter(1, 0)  # the largest number a generator can give
    drawn = randomize_with(codes, [P], uniforms)[:, 0]
    for code, u, got in zip(codes[:, 0], uniforms[0], drawn, strict=True):
        assert P[code, got] > 0, "a category with probability 0 was drawn"
        assert P[code, :got].sum() <= u + 1e-12
        assert u <= P[code, : got + 1].sum() + 1e-12


def test_the_draw_does_not_walk_through_all_records_for_each_category() -> None:
    rng, n = np.random.default_rng(5), 200_000
    uniforms = rng.random((1, n))

    def cpu(size: int) -> float:
        codes, P = rng.integers(0, size, (n, 1)), np.full((size, size), 1.0 / size)
        thresholds = time.process_time()
        draw_thresholds(P)
        thresholds = time.process_time() - thresholds
        times = []
        for _ in range(3):
            started = time.process_time()
            randomize_with(codes, [P], uniforms)
            times.append(time.process_time() - started - thresholds)
        return min(times)

    assert cpu(1500) < 12 * cpu(15) + 0.02  # 100 times as many categories; 40 times as long with a mask for each


def test_slices_of_the_draw_change_nothing_and_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    codes, P = rng.integers(0, 9, (500, 2)), normalize_rows(rng.random((9, 9)))
    once = post_randomize(codes, [P, P], np.random.default_rng(1))
    monkeypatch.setattr(_slices, "SLICE", 128 * 60)
    told: list[tuple[str, int, int]] = []
    with _slices.listening(lambda *said: told.append(said)):
        np.testing.assert_array_equal(post_randomize(codes, [P, P], np.random.default_rng(1)), once)
    assert told[:2] == [("records drawn", 60, 500), ("records drawn", 120, 500)]
    assert len(told) == 2 * 9


def test_thresholds_end_at_the_last_possible_category() -> None:
    np.testing.assert_array_equal(draw_thresholds(np.array([[0.3, 0.7, 0.0], [0, 0, 1]]))[0], [0.3, np.inf, np.inf])


def test_frequencies_of_a_draw_follow_the_matrix() -> None:
    rng = np.random.default_rng(3)
    codes = np.repeat([0, 1, 2], 20_000)[:, None]
    P = frequency_matrix([5, 3, 2], 0.6)
    drawn = post_randomize(codes, [P], rng)[:, 0].reshape(3, -1)
    for row, p in zip(drawn, P, strict=True):
        share = np.bincount(row, minlength=3) / len(row)
        assert (np.abs(share - p) < 4 * np.sqrt(p * (1 - p) / len(row)) + 1e-12).all()


def test_an_invariant_matrix_keeps_frequencies_in_a_thousand_draws() -> None:
    """The mean count of each category over 1,000 files is within four standard errors of the original count."""
    rng = np.random.default_rng(11)
    codes = np.repeat(np.arange(6), DEGREE)[:, None]
    R = make_invariant(max_entropy_matrix(6, 0.6), DEGREE)
    files = np.array([np.bincount(post_randomize(codes, [R], rng)[:, 0], minlength=6) for _ in range(1000)])
    error = files.std(axis=0, ddof=1) / np.sqrt(len(files))
    assert (np.abs(files.mean(axis=0) - DEGREE) < 4 * error).all()
    plain = max_entropy_matrix(6, 0.6)  # which does not keep them
    biased = np.array([np.bincount(post_randomize(codes, [plain], rng)[:, 0], minlength=6) for _ in range(200)])
    assert (np.abs(biased.mean(axis=0) - DEGREE) > 4 * biased.std(axis=0) / np.sqrt(200)).any()


def test_same_generator_same_file_and_arguments_untouched(unchanged) -> None:
    codes, P = np.array([[0, 1], [1, 0], [1, 1]]), np.full((2, 2), 0.5)
    one, two = (post_randomize(codes, [P, P], np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    unchanged(lambda c, p: post_randomize(c, [p, p], np.random.default_rng(1)), codes, P)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: transition_matrix([[0.5, 0.4], [0, 1]]), "row 0 of P sums to 0.9"),
        (lambda: transition_matrix([[1.5, -0.5], [0, 1]]), "negative probability at row 0, column 1"),
        (lambda: transition_matrix([[1.0, 0.0]]), "square"),
        (lambda: transition_matrix([[np.nan, 1.0], [0, 1]]), "non-finite"),
        (lambda: transition_matrix([[1.0]]), "one category"),
        (lambda: transition_matrix(np.eye(3), 4), "4 categories"),
        (lambda: frequency_matrix([1, 2], 1.5), "p must be in"),
        (lambda: frequency_matrix([0, 0], 0.5), "all 0"),
        (lambda: frequency_matrix([3, -1], 0.5), "negative: position 1"),
        (lambda: frequency_matrix([3], 0.5), "one category"),
        (lambda: frequency_matrix([], 0.5), "empty"),
        (lambda: max_entropy_matrix(1, 0.5), "one category"),
        (lambda: max_entropy_matrix(MAX_CATEGORIES + 1, 0.5), "limit of 4096"),
        (lambda: diagonal_by_frequency_matrix([1, 2], -0.1), "theta"),
        (lambda: normalize_rows([[-1, 2], [1, 1]]), "not negative"),
        (lambda: normalize_rows([1, 2]), "square"),
        (lambda: post_randomize([[0], [1]], [np.eye(2)] * 2, np.random.default_rng(0)), "2 matrices are given for 1"),
        (lambda: post_randomize([[0], [2]], [np.eye(2)], np.random.default_rng(0)), "go up to 2"),
        (lambda: post_randomize([[0], [1]], [[[0.5, 0.6], [0, 1]]], np.random.default_rng(0)), "row 0 of matrix 0"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        call()


@pytest.mark.parametrize("matrix", ["frequency", "diagonal_by_frequency", "max_entropy"])
def test_pram_by_frequencies_is_post_randomize_with_that_matrix(matrix: str) -> None:
    codes = np.random.default_rng(5).choice(4, p=[0.5, 0.3, 0.15, 0.05], size=(500, 1))
    counts = np.bincount(codes[:, 0])
    made = {
        "frequency": frequency_matrix(counts, 0.7),
        "diagonal_by_frequency": diagonal_by_frequency_matrix(counts, 0.3),
        "max_entropy": max_entropy_matrix(4, 0.7),
    }
    expected = post_randomize(codes, [made[matrix]], np.random.default_rng(9))
    found = pram(codes, matrix=matrix, stay=0.7, rng=np.random.default_rng(9))
    np.testing.assert_array_equal(found, expected)


def test_pram_leaves_a_single_category_and_refuses_what_it_does_not_know() -> None:
    rng = np.random.default_rng(1)
    codes = np.column_stack([np.zeros(50, dtype=int), rng.integers(0, 2, 50)])
    found = pram(codes, stay=0.0, rng=rng)
    assert not found[:, 0].any()
    np.testing.assert_array_equal(found[:, 1], 1 - codes[:, 1])
    with pytest.raises(SDCError, match="matrix must be one of"):
        pram(codes, matrix="invariant", rng=rng)
    with pytest.raises(SDCError, match="stay must be in"):
        pram(codes, stay=2, rng=rng)

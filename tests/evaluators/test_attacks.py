"""Attacks on masked files: plain twins, golden values, and the files that the usual scores praise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems.evaluators import (
    attacks,
    copies,
    distance_linkage,
    dr_categorical,
    dr_guarded,
    dr_numeric,
    guess,
    il_categorical,
    interval_disclosure_rank,
    mean_interval_disclosure,
    pil,
    probabilistic_linkage,
    rsrl,
    score_max,
    score_mean,
)
from sdc_problems.methods import mdav, microaggregate, rank_swap, recode_rare


@st.composite
def numeric_files(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    n, p = draw(st.integers(2, 12)), draw(st.integers(1, 3))
    cells = st.lists(st.integers(-4, 6), min_size=n * p, max_size=n * p)
    X, Y = (np.array(draw(cells), dtype=float).reshape(n, p) for _ in range(2))
    return X, Y


def plain_distances(A: np.ndarray, B: np.ndarray, scale: np.ndarray) -> np.ndarray:
    weight = np.where(scale > 0, 1 / np.where(scale > 0, scale, 1), 0)
    return (((A[:, None, :] - B[None, :, :]) * weight) ** 2).sum(axis=2)


def plain_copies(X: np.ndarray, Y: np.ndarray, reach: float) -> float:
    scale = np.where(X.max(axis=0) == X.min(axis=0), 0, X.std(axis=0))
    apart = plain_distances(X, X, scale)
    np.fill_diagonal(apart, np.inf)
    found = 0
    for row in plain_distances(Y, X, scale):
        nearest = np.flatnonzero(row == row.min())
        found += any(row[k] <= reach**2 * apart[k].min() for k in nearest)
    return 100 * found / len(X)


def plain_rsrl(X: np.ndarray, Y: np.ndarray, percent: float) -> float:
    n, p = X.shape
    w = int(percent * n / 100)
    scale = np.where(X.max(axis=0) == X.min(axis=0), 0, X.std(axis=0))
    distance = plain_distances(X, Y, scale)
    linked = 0.0
    for i in range(n):
        inside = np.ones(n, dtype=bool)
        for j in range(p):
            values = sorted(X[:, j])
            ranks = [r for r, v in enumerate(values) if v == X[i, j]]
            low, high = values[max(ranks[0] - w, 0)], values[min(ranks[-1] + w, n - 1)]
            inside &= (Y[:, j] >= low) & (Y[:, j] <= high)
        if inside[i]:
            nearest = np.flatnonzero(inside & (distance[i] == distance[i][inside].min()))
            linked += (i in nearest) / len(nearest)
    return 100 * linked / n


@given(numeric_files(), st.sampled_from([0.3, 0.5, 1.0, 2.0]))
def test_copies_equal_their_plain_twin(files: tuple[np.ndarray, np.ndarray], reach: float) -> None:
    assert copies(*files, reach=reach) == pytest.approx(plain_copies(*files, reach), abs=1e-9)


@given(numeric_files(), st.sampled_from([0, 10, 25, 100]))
def test_rank_swapping_linkage_equals_its_plain_twin(files: tuple[np.ndarray, np.ndarray], percent: float) -> None:
    assert rsrl(*files, percent=percent) == pytest.approx(plain_rsrl(*files, percent), abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=30))
def test_guess_equals_its_plain_twin(cells: list[tuple[int, int]]) -> None:
    frame = pd.DataFrame(cells, columns=["x", "y"])
    right = sum(group["x"].value_counts().max() for _, group in frame.groupby("y"))
    assert guess(frame[["x"]].to_numpy(), frame[["y"]].to_numpy()) == pytest.approx(100 * right / len(frame))


def test_guess_sees_through_any_renaming(rng: np.random.Generator) -> None:
    X = rng.integers(0, 5, size=(60, 3))
    Y = np.column_stack([rng.permutation(5)[X[:, j]] for j in range(3)])
    assert guess(X, Y) == 100.0
    assert guess(X, rng.permutation(X)) < 100.0


def test_copies_do_not_depend_on_the_rows_and_vanish_far_away(rng: np.random.Generator) -> None:
    X = rng.normal(size=(50, 3))
    assert copies(X, rng.permutation(X)) == 100.0
    assert copies(X, X + 50.0) == 0.0
    assert copies(X, X, reach=0.0) == 100.0


def test_rank_swapping_linkage_without_a_limit_is_distance_linkage(rng: np.random.Generator) -> None:
    X = rng.normal(size=(80, 3))
    Y = X[rng.permutation(80)] * 0.5 + X * 0.5
    Y = np.clip(Y, X.min(axis=0), X.max(axis=0))
    assert rsrl(X, Y, percent=100) == distance_linkage(X, Y)


def test_mean_interval_disclosure_is_the_mean_over_the_widths(rng: np.random.Generator) -> None:
    X, Y = rng.integers(0, 9, size=(2, 40, 4))
    words = ("numeric", "ordinal", "nominal", "nominal")
    each = [interval_disclosure_rank(X, Y, percent=q, kinds=words) for q in range(1, 11)]
    assert mean_interval_disclosure(X, Y, kinds=words) == pytest.approx(np.mean(each), abs=1e-12)


def test_risks_are_made_of_their_parts(rng: np.random.Generator) -> None:
    X = rng.normal(size=(60, 3))
    Y = X + rng.normal(size=X.shape)
    parts = (mean_interval_disclosure(X, Y), distance_linkage(X, Y, direction="to_original"))
    assert dr_numeric(X, Y) == pytest.approx(
        0.5 * parts[0] + 0.25 * parts[1] + 0.25 * probabilistic_linkage(X, Y, kinds="numeric")
    )
    C = rng.integers(0, 4, size=(60, 3))
    renamed = (C + 1) % 4
    kinds = "nominal"
    assert dr_guarded(C, renamed, kinds=kinds) - dr_categorical(C, renamed, kinds=kinds) == pytest.approx(50.0)
    D = np.where(rng.random(C.shape) < 0.3, C, (C + 1) % 4)
    assert interval_disclosure_rank(C, D, kinds="nominal") < guess(C, D)
    assert 2 * (dr_guarded(C, D, kinds=kinds) - dr_categorical(C, D, kinds=kinds)) == pytest.approx(
        max(guess(C, D) - interval_disclosure_rank(C, D, kinds="nominal"), 0.0)
    )


# -- degenerate optima of the usual scores: whoever optimizes them finds these files ----------------------------------


def test_shifted_rows_publish_every_record_and_score_nearly_nothing(rng: np.random.Generator) -> None:
    X = rng.lognormal(size=(400, 4))
    X = X[np.argsort(X[:, 0])]
    Y = np.roll(X, -200, axis=0)
    assert pil(X, Y) == 0.0
    assert distance_linkage(X, Y, direction="to_original") == 0.0
    assert score_mean(pil(X, Y), dr_numeric(X, Y)) < 5.0
    assert copies(X, Y) == 100.0


@pytest.mark.parametrize(
    ("name", "score"), [("census", 2.426), ("tarragona", 1.900), ("pima_diabetes", 3.259), ("eia", 2.676)]
)
def test_shifted_rows_of_the_reference_files(public: Callable[[str], Path], name: str, score: float) -> None:
    frame = pd.read_csv(public(f"{name}.csv"))
    if name == "eia":
        frame = frame.loc[:, "RESREVENUE":"TOTSALES"].iloc[:2000]  # type: ignore[misc]
    X = frame.select_dtypes("number").drop(columns="class", errors="ignore").to_numpy(float)
    Y = np.roll(X, -(len(X) // 2), axis=0)
    assert score_mean(pil(X, Y), dr_numeric(X, Y)) == pytest.approx(score, abs=6e-4)
    assert copies(X, Y) == 100.0


def test_renamed_categories_look_protected_until_they_are_guessed() -> None:
    counts = [(0, 30), (1, 30), (2, 30), (3, 30)]
    X = np.concatenate([np.full((m, 1), v) for v, m in counts])
    Y = (X + 2) % 4
    assert dr_categorical(X, Y, kinds="nominal") < 2.0  # neither an equal cell nor a link
    assert guess(X, Y) == 100.0
    assert dr_guarded(X, Y, kinds="nominal") == pytest.approx(50.0, abs=2.0)


def german(public: Callable[[str], Path]) -> np.ndarray:
    frame = pd.read_csv(public("german_credit.csv"))
    return (
        frame[["checking_status", "savings_status", "employment"]]
        .apply(lambda c: pd.factorize(c, sort=True)[0])
        .to_numpy()
    )


def test_doing_nothing_has_a_low_mean_and_a_high_maximum(public: Callable[[str], Path]) -> None:
    X = german(public)
    loss, risk = il_categorical(X, X, kinds="ordinal"), dr_categorical(X, X, kinds="ordinal")
    assert (loss, risk) == pytest.approx((0.0, 54.25), abs=1e-9)
    assert score_mean(loss, risk) == pytest.approx(27.125)
    assert score_max(loss, risk) == pytest.approx(54.25)
    assert guess(X, X) == 100.0


def test_doing_nothing_on_a_numeric_file_scores_50(public: Callable[[str], Path]) -> None:
    X = pd.read_csv(public("census.csv")).to_numpy(float)
    assert score_mean(pil(X, X), dr_numeric(X, X)) == pytest.approx(50.0)


def test_merged_rare_categories_of_german_credit(public: Callable[[str], Path]) -> None:
    X = german(public)
    Y = np.column_stack([recode_rare(X[:, j], categories=3) for j in range(3)])
    assert guess(X, Y) == pytest.approx(77.4333, abs=5e-5)
    assert dr_guarded(X, Y, kinds="ordinal") == pytest.approx((77.43333333 + 1.8) / 2, abs=1e-6)


def test_copies_of_microaggregated_census(public: Callable[[str], Path]) -> None:
    X = pd.read_csv(public("census.csv")).to_numpy(float)
    found = [copies(X, microaggregate(X, mdav(X, k))) for k in (3, 5, 10)]
    assert found == pytest.approx([6.39, 1.39, 1.85], abs=0.005)


@pytest.mark.parametrize(("percent", "linked", "nearest"), [(5, 99.96, 87.9), (10, 98.1, 59.7), (20, 64.2, 14.6)])
def test_the_attack_that_was_not_optimised_against(
    public: Callable[[str], Path], percent: float, linked: float, nearest: float
) -> None:
    """Distance linkage falls much faster with the swapping distance than the linkage that knows it."""
    X = pd.read_csv(public("census.csv")).to_numpy(float)
    files = [rank_swap(X, percent=percent, rng=np.random.default_rng(seed)) for seed in range(5)]
    assert np.mean([rsrl(X, Y, percent=percent) for Y in files]) == pytest.approx(linked, abs=3.6)
    assert np.mean([distance_linkage(X, Y) for Y in files]) == pytest.approx(nearest, abs=3.6)


@given(
    st.integers(0, 10**6), st.integers(2, 400), st.integers(1, 5), st.sampled_from([2, 9, 1000]),
    st.sampled_from([1, 3, 64]), st.sampled_from([1, 10**8]),
)  # fmt: skip
def test_nearest_others_by_the_tree_are_those_of_all_pairs(
    seed: int, n: int, p: int, values: int, leaf: int, slice_: int
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (n, p)) * rng.choice([1.0, 0.1, 1e-170], p)
    w = rng.choice([0.0, 1.0, 1.0 / 3.0], p)
    plain = (((X[:, None, :] - X[None, :, :]) * w) ** 2).cumsum(axis=2)[:, :, -1]
    np.fill_diagonal(plain, np.inf)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attacks, "_LEAF", leaf)
        patch.setattr(attacks, "SLICE", slice_)
        patch.setattr(attacks, "_TREE_FROM", 0)
        np.testing.assert_array_equal(attacks.nearest_others(X, w), plain.min(axis=1))
        patch.setattr(attacks, "_TREE_FROM", n + 1)
        np.testing.assert_array_equal(attacks.nearest_others(X, w), plain.min(axis=1))


@given(
    st.integers(0, 10**6), st.integers(2, 300), st.integers(1, 4), st.sampled_from([2, 9, 1000]),
    st.sampled_from([1, 3, 64]), st.sampled_from([1, 10**8]), st.sampled_from([0.3, 0.5, 1.0]),
)  # fmt: skip
def test_copies_by_the_tree_are_those_of_all_pairs(
    seed: int, n: int, p: int, values: int, leaf: int, slice_: int, reach: float
) -> None:
    rng = np.random.default_rng(seed)
    X, Y = rng.integers(0, values, (2, n, p)).astype(float)
    Y[: n // 2] = rng.permutation(X)[: n // 2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attacks, "_LEAF", leaf)
        patch.setattr(attacks, "SLICE", slice_)
        patch.setattr(attacks, "_TREE_FROM", n + 1)
        pairs = copies(X, Y, reach=reach)
        patch.setattr(attacks, "_TREE_FROM", 0)
        assert copies(X, Y, reach=reach) == pairs

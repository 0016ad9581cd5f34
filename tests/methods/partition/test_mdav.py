"""MDAV against a plain twin on attributes of every kind, and its published figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sdc_problems.errors import SDCError
from sdc_problems.evaluators.information_loss import il_sse
from sdc_problems.methods import mdav, mdav_kernel

KINDS = ("numeric", "ordinal", "nominal")


def plain_distances(
    V: NDArray[np.float64],
    center: NDArray[np.float64],
    kinds: list[str],
    categories: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Squared distances, attribute by attribute (the order of the sum decides ties)."""
    D = np.zeros(len(V))
    for j, kind in enumerate(kinds):
        column = V[:, j]
        if kind == "numeric":
            D = D + weights[j] * (column - center[j]) ** 2
            continue
        apart = (np.abs(column - center[j]) + 1) / categories[j] if kind == "ordinal" else 1.0
        D = D + weights[j] * np.where(column != center[j], apart, 0.0) ** 2
    return D


def plain_mdav(
    V: NDArray[np.float64], k: int, kinds: list[str], weights: NDArray[np.float64] | None = None
) -> NDArray[np.int64]:
    """Algorithm 4 of Marés (2013) on lists of record numbers; whole numbers, so that sums are exact."""
    categories = V.max(axis=0) + 1
    counted = np.ones(len(kinds)) if weights is None else weights
    left, groups = list(range(len(V))), []

    def farthest(center: NDArray[np.float64]) -> int:
        D = plain_distances(V[left], center, kinds, categories, counted)
        return left[int(np.argmax(D))]  # the first of equals, and `left` is ascending

    def take(seed: int) -> NDArray[np.float64]:
        D = dict(zip(left, plain_distances(V[left], V[seed], kinds, categories, counted), strict=True))
        group = sorted(left, key=lambda i: (i != seed, D[i], i))[:k]
        groups.append(group)
        left[:] = [i for i in left if i not in group]
        return V[seed]

    def centroid() -> NDArray[np.float64]:
        out = []
        for j, kind in enumerate(kinds):
            column = V[left, j]
            if kind == "numeric":
                out.append(column.sum() / len(left))
            elif kind == "ordinal":
                out.append(np.sort(column)[(len(left) - 1) // 2])
            else:
                out.append(float(np.argmax(np.bincount(column.astype(int)))))
        return np.array(out)

    while len(left) >= 3 * k:
        seed = take(farthest(centroid()))
        take(farthest(seed))
    if len(left) >= 2 * k:
        take(farthest(centroid()))
    if left:
        groups.append(left)
    labels = np.empty(len(V), dtype=np.int64)
    for number, group in enumerate(sorted(groups, key=min)):
        labels[group] = number
    return labels


@given(
    st.integers(0, 10**6),
    st.integers(4, 80),
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=4),
    st.integers(2, 6),
    st.sampled_from([2, 4, 50]),
)
def test_every_kind_as_told_by_plain_lists(seed: int, n: int, kinds: list[str], k: int, codes: int) -> None:
    V = np.random.default_rng(seed).integers(0, codes, (n, len(kinds))).astype(float)
    k = min(k, n // 2)
    np.testing.assert_array_equal(mdav(V, k, kinds=kinds, standardize=False), plain_mdav(V, k, kinds))
    weights = np.random.default_rng(seed).choice([0.25, 1.0, 4.0, 16.0], len(kinds))  # their roots are exact
    found = mdav(V, k, kinds=kinds, standardize=False, weights=weights.tolist())
    np.testing.assert_array_equal(found, plain_mdav(V, k, kinds, weights))


@given(st.integers(0, 10**6), st.integers(4, 80), st.integers(1, 4), st.integers(2, 6))
def test_numbers_alone_by_both_kernels(seed: int, n: int, p: int, k: int) -> None:
    V = np.random.default_rng(seed).integers(0, 6, (n, p)).astype(float)
    k = min(k, n // 2)
    expected = plain_mdav(V, k, ["numeric"] * p)
    np.testing.assert_array_equal(mdav_kernel(np.ascontiguousarray(V), k), expected)
    np.testing.assert_array_equal(mdav(V, k, standardize=False), expected)


@pytest.mark.parametrize(
    ("name", "losses"),
    [
        ("census", (5.6922, 7.4947, 9.0884, 14.1559)),
        ("tarragona", (16.9326, 19.5460, 22.4619, 33.1929)),
        ("eia", (0.4829, 0.6713, 1.6667, 3.8397)),
    ],
)
def test_golden_losses_of_the_reference_files(
    name: str, losses: tuple[float, ...], public: Callable[[str], Path]
) -> None:
    frame = pd.read_csv(public(f"{name}.csv"))
    if name == "eia":
        frame = frame[["UTILITYID", *frame.columns[5:]]]
    X = frame.to_numpy(float)
    found = [round(il_sse(X, mdav(X, k)), 4) for k in (3, 4, 5, 10)]
    assert found == pytest.approx(losses, abs=5e-5 + 1e-9)


def test_arguments_stay_as_they_are(unchanged: Callable[..., None], rng: np.random.Generator) -> None:
    unchanged(mdav, rng.standard_normal((20, 3)), 3)
    unchanged(mdav_kernel, rng.standard_normal((20, 3)), 3)


def test_the_scale_of_an_attribute_does_not_matter(rng: np.random.Generator) -> None:
    X = rng.standard_normal((60, 3))
    np.testing.assert_array_equal(mdav(X, 3), mdav(X * [1.0, 1024.0, 2.0**-20] + [0.0, 512.0, 0.0], 3))


@pytest.mark.parametrize(
    ("X", "k", "options", "message"),
    [
        ([[1.0]] * 10, 1, {}, "k must be a whole number ≥ 2"),
        ([[1.0]] * 10, 6, {}, "at most 5 gives two groups"),
        ([[1.0], [float("nan")]] * 5, 3, {}, "non-finite"),
        (np.empty((0, 2)), 3, {}, "empty"),
        ([["a"], ["b"]] * 5, 3, {}, "must hold numbers"),
        ([[1.0]] * 10, 3, {"kinds": ["number"]}, "unknown kind 'number'.*did you mean 'numeric'"),
        ([[1.0]] * 10, 3, {"kinds": ["numeric", "nominal"]}, "one kind per attribute"),
        ([[0.5]] * 10, 3, {"kinds": ["nominal"]}, "whole numbers"),
        ([[-1.0]] * 10, 3, {"kinds": ["ordinal"]}, "negative code"),
    ],
)
def test_what_is_refused(X: object, k: int, options: dict[str, object], message: str) -> None:
    with pytest.raises(SDCError, match=message):
        mdav(X, k, **options)

"""MDAV on the shrinking k-d tree: the partition of the scan to the record, ties and duplicates included."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sdc_problems.methods import mdav, mdav_kernel
from sdc_problems.methods._kernels import mdav as scan
from sdc_problems.methods._kernels import mdav_tree as tree

Table = NDArray[np.float64]


@pytest.fixture(scope="module", autouse=True)
def _small_files_too() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "TREE_FROM", 0)
        patch.setattr(scan, "TREE_GROUPS", 0)
        yield


def by_scan(Z: Table, k: int) -> NDArray[np.int32]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "TREE_FROM", len(Z) + 1)
        return mdav_kernel(Z, k)


def by_tree(Z: Table, k: int, slice_: int = 10**9) -> NDArray[np.int32]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "SCAN_WORK", np.inf)
        patch.setattr(tree, "SLICE", slice_)
        return mdav_kernel(Z, k)


@given(
    st.integers(0, 10**6), st.integers(4, 400), st.integers(1, 5), st.integers(2, 9), st.sampled_from([1, 2, 5, 100])
)
def test_ties_and_duplicates_fall_as_in_the_scan(seed: int, n: int, p: int, k: int, values: int) -> None:
    Z = np.random.default_rng(seed).integers(0, values, (n, p)).astype(float)
    k = min(k, n // 2)
    np.testing.assert_array_equal(by_tree(Z, k), by_scan(Z, k))


SHAPES = {
    "normal": lambda rng, n: rng.standard_normal((n, 4)),
    "skewed": lambda rng, n: np.exp(2 * rng.standard_normal((n, 3))),
    "one column": lambda rng, n: rng.standard_normal((n, 1)),
    "a sphere": lambda rng, n: (lambda X: X / np.sqrt((X * X).sum(axis=1))[:, None])(rng.standard_normal((n, 3))),
    "a ring of few points": lambda rng, n: np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1]])[rng.integers(0, 4, n)],
    "two far clusters": lambda rng, n: rng.standard_normal((n, 3)) + 1e9 * (np.arange(n) % 2)[:, None],
    "all the same": lambda rng, n: np.full((n, 2), 0.1),
    "tiny numbers": lambda rng, n: 1e-170 * rng.standard_normal((n, 2)),
    "huge numbers": lambda rng, n: 1e160 * rng.standard_normal((n, 2)),
    "many columns": lambda rng, n: rng.standard_normal((n, 20)),
}


@pytest.mark.parametrize("k", [2, 3, 10, 200])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_falls_as_in_the_scan(shape: str, k: int, rng: np.random.Generator) -> None:
    Z = np.ascontiguousarray(SHAPES[shape](rng, 3001))
    expected = by_scan(Z, k)
    np.testing.assert_array_equal(by_tree(Z, k), expected)
    np.testing.assert_array_equal(mdav_kernel(Z, k), expected)  # with the probe, which may go over to the scan


def test_slices_change_nothing(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    Z = rng.standard_normal((500, 3))
    expected = by_scan(Z, 3)
    np.testing.assert_array_equal(by_tree(Z, 3, slice_=1), expected)
    monkeypatch.setattr(scan, "SLICE", 1)
    np.testing.assert_array_equal(by_scan(Z, 3), expected)
    V = rng.integers(0, 4, (200, 3)).astype(float)
    once = mdav(V, 3, kinds=["nominal", "ordinal", "numeric"])
    monkeypatch.setattr(scan, "SLICE", 10**9)
    np.testing.assert_array_equal(mdav(V, 3, kinds=["nominal", "ordinal", "numeric"]), once)


@pytest.mark.parametrize("kinds", [["numeric"] * 4, ["nominal"] * 4])
@pytest.mark.parametrize("p", [4, 40])
def test_progress_is_told_and_an_interrupt_is_heard(kinds: list[str], p: int, rng: np.random.Generator) -> None:
    X = rng.integers(0, 50, (100_000, p)).astype(float)
    kinds = (kinds * 10)[:p]
    mdav(X[:3000], 3, kinds=kinds)  # compiled
    told: list[tuple[int, int]] = []
    gaps, last = [], time.process_time()

    def tell(done: int, total: int) -> None:
        nonlocal last
        told.append((done, total))
        gaps.append(time.process_time() - last)
        last = time.process_time()
        if len(told) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mdav(X, 3, kinds=kinds, progress=tell)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert {total for _, total in told} == {100_000}
    assert max(gaps[1:]) < 0.7

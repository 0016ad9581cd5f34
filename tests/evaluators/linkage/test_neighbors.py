"""Nearest records by SciPy: what it settles is what the compiled tree finds, and the rest is left to that."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems._kernel import Kernel
from sdc_problems.evaluators import attacks
from sdc_problems.evaluators.linkage import _neighbors, distance, link_ties

Table = np.ndarray


def tables(seed: int, n: int, p: int, values: int) -> tuple[Table, Table]:
    """Two tables whose distances tie often, of large numbers that are near to each other."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (n, p)) + (1e6 if seed % 2 else 0.1)
    return X, np.where(rng.random((n, p)) < 0.5, X, X[rng.permutation(n)])


@pytest.fixture(scope="module", autouse=True)
def _small_files_too() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attacks, "_TREE_FROM", 0)
        patch.setattr(distance, "_FEW_CELLS", 0)
        patch.setattr(distance, "_FEW_PAIRS", 0)
        patch.setattr(_neighbors, "_FIRST", 5)
        yield


def both(find: Callable[[], object]) -> tuple[object, object]:
    """What is found by SciPy, and by compiled code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "spares", lambda kernel, _: kernel.py_func.__name__.startswith("tree_"))
        by_scipy = find()
        patch.setattr(Kernel, "spares", lambda *_: False)
        return by_scipy, find()


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 4), st.sampled_from([2, 5, 10**6]))
def test_answers_are_those_of_the_compiled_tree(seed: int, n: int, p: int, values: int) -> None:
    X, Y = tables(seed, n, p, values)
    w = attacks.inverse_scale(X)
    np.testing.assert_array_equal(*both(lambda: link_ties(X, Y)))
    np.testing.assert_array_equal(*both(lambda: link_ties(X, Y, direction="to_original")))
    np.testing.assert_array_equal(*both(lambda: attacks.nearest_others(X, w)))
    apart = attacks.nearest_others(X, w)
    for factor in (0.0, 0.25, 1.0):
        np.testing.assert_array_equal(*both(lambda f=factor: attacks._find_copies(Y, X, w, apart, f)))


def test_nearly_everything_is_settled(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kernel, "spares", lambda *_: True)
    X = rng.normal(size=(500, 3))
    Y = X + 0.1 * rng.normal(size=X.shape)
    found, w = np.empty(500, dtype=np.int64), np.ones(3)
    own = ((X - Y) ** 2).sum(axis=1)
    count = np.ones(500, dtype=np.int64)
    assert not len(_neighbors.settle_ties(distance.tree_ties, X, own, Y, count, w, found))
    assert {-1, 1} == set(found)


def test_what_takes_longer_than_compiling_is_left(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    X, asked = rng.normal(size=(100, 2)), []
    monkeypatch.setattr(Kernel, "spares", lambda *_: not asked)
    left = _neighbors.settled(
        distance.tree_ties,
        X,
        X,
        np.ones(2),
        lambda _, some, more: (more > 1 or asked.append(some), some % 2 == 0)[1],
        "records",
    )
    assert [list(some) for some in asked] == [[0, 1, 2, 3, 4]]
    assert list(left) == [1, 3, *range(5, 100)]
    asked.clear()
    huge = X * 1e200
    left = _neighbors.settled(distance.tree_ties, huge, huge, np.ones(2), lambda *_: np.array([]), "records")
    assert len(left) == 100

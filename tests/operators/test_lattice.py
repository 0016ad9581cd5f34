from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymoo.core.population import Population

from sdc_problems.operators.lattice import (
    LatticeCrossover,
    LatticeMutation,
    LatticeRepair,
    LatticeSampling,
    neighbours,
)


def lattice(*top: int) -> SimpleNamespace:
    """What the operators ask of a problem."""
    xu = np.array(top, dtype=float)
    return SimpleNamespace(n_var=len(top), xl=np.zeros_like(xu), xu=xu, dtype=np.dtype(np.int16))


TOPS = st.lists(st.integers(0, 6), min_size=1, max_size=6)


@given(TOPS, st.integers(0, 99))
def test_neighbours_are_all_nodes_one_step_away(top: list[int], seed: int) -> None:
    bounds = np.array(top, dtype=np.int16)
    node = np.random.default_rng(seed).integers(0, bounds + 1).astype(np.int16)
    around = neighbours(node, bounds)
    assert around.dtype == np.int16
    grid = np.indices(bounds + 1).reshape(len(top), -1).T
    expected = {tuple(other) for other in grid if np.abs(other - node).sum() == 1}
    assert {tuple(other) for other in around} == expected
    assert len(around) == len(expected)


@given(TOPS, st.integers(1, 30), st.integers(0, 99))
def test_samples_start_with_the_extremes(top: list[int], n: int, seed: int) -> None:
    problem = lattice(*top)
    X = LatticeSampling().do(problem, n, random_state=np.random.default_rng(seed)).get("X")
    assert X.dtype == np.int16
    assert ((X >= 0) & (X <= problem.xu)).all()
    if n > 1:
        assert X[:2].tolist() == [[0] * len(top), top]


def test_samples_reach_every_node() -> None:
    X = LatticeSampling(extremes=False).do(lattice(2, 1), 300, random_state=np.random.default_rng(0)).get("X")
    nodes, n = np.unique(X, axis=0, return_counts=True)
    assert len(nodes) == 6
    assert n.min() > 25


@given(TOPS, st.integers(0, 99))
def test_crossover_exchanges_what_is_behind_one_point(top: list[int], seed: int) -> None:
    problem, rng = lattice(*top), np.random.default_rng(seed)
    X = rng.integers(0, 100, size=(2, 20, len(top))).astype(np.int16)  # any values: only their places matter
    before = X.copy()
    children = LatticeCrossover()._do(problem, X, random_state=rng)
    np.testing.assert_array_equal(X, before)
    assert children.dtype == np.int16
    for m in range(20):
        cuts = [
            c
            for c in range(1, max(2, len(top)))
            if (children[0, m] == np.r_[X[0, m, :c], X[1, m, c:]]).all()
            and (children[1, m] == np.r_[X[1, m, :c], X[0, m, c:]]).all()
        ]
        assert cuts
    assert not np.shares_memory(children, X)


def test_crossover_uses_every_point() -> None:
    problem = lattice(9, 9, 9, 9)
    X = np.stack([np.zeros((400, 4), np.int16), np.full((400, 4), 9, np.int16)])
    first = LatticeCrossover()._do(problem, X, random_state=np.random.default_rng(1))[0]
    _, n = np.unique((first == 0).sum(axis=1), return_counts=True)
    assert len(n) == 3
    assert n.min() > 90


@given(TOPS, st.integers(0, 99))
def test_mutation_steps_by_one_within_the_lattice(top: list[int], seed: int) -> None:
    problem, rng = lattice(*top), np.random.default_rng(seed)
    X = rng.integers(0, np.array(top) + 1, size=(30, len(top))).astype(np.int16)
    before = X.copy()
    moved = LatticeMutation()._do(problem, X, random_state=rng)
    np.testing.assert_array_equal(X, before)
    assert moved.dtype == np.int16
    assert ((moved >= 0) & (moved <= top)).all()
    assert np.abs(moved - X).max() <= 1


def test_mutation_rates_are_the_papers() -> None:
    problem, rng = lattice(*[8] * 8), np.random.default_rng(5)
    X = np.full((5000, 8), 4, dtype=np.int16)
    moved = LatticeMutation()._do(problem, X, random_state=rng) - X
    assert (moved != 0).mean() == pytest.approx(1 / 8, abs=0.005)
    assert (moved > 0).mean() == pytest.approx(1 / 16, abs=0.005)
    always = LatticeMutation(prob_var=1.0)._do(problem, X, random_state=rng)
    assert (always != X).all()


def test_repair_makes_nodes_of_real_numbers() -> None:
    pop = Population.new("X", np.array([[-0.4, 1.2, 7.0], [0.6, 2.51, -3.0]]))
    X = LatticeRepair()(lattice(1, 3, 4), pop).get("X")
    assert X.tolist() == [[0, 1, 4], [1, 3, 0]]
    assert X.dtype == np.int16


def with_threshold(largest: int) -> SimpleNamespace:
    """A lattice of three attributes with a threshold from 1 behind them."""
    problem = lattice(2, 1, 3, largest)
    problem.xl[-1] = 1
    return problem


@pytest.mark.parametrize("largest", [1, 2, 301, 30_000])
def test_thresholds_are_drawn_by_factors_or_the_largest(largest: int) -> None:
    problem = with_threshold(largest)
    X = LatticeSampling().do(problem, 2000, random_state=np.random.default_rng(0)).get("X")
    assert X[:2].tolist() == [[0, 0, 0, 1], [2, 1, 3, largest]]
    thresholds = X[:, -1]
    assert thresholds.min() == 1
    assert thresholds.max() == largest
    assert (X[:, :3].max(axis=0) == [2, 1, 3]).all()
    assert X[:, :3].min() == 0
    if largest > 2:
        assert (thresholds == largest).mean() == pytest.approx(0.5, abs=0.05)
        smaller = thresholds[thresholds < largest]
        assert np.median(smaller) == pytest.approx(np.sqrt(largest), rel=0.25)


def test_thresholds_change_by_one_or_anew_and_levels_as_ever() -> None:
    problem, rng = with_threshold(301), np.random.default_rng(5)
    X = np.tile(np.array([1, 0, 2, 50], dtype=np.int16), (8000, 1))
    moved = LatticeMutation()._do(problem, X, random_state=rng)
    assert moved.dtype == np.int16
    assert ((moved >= problem.xl) & (moved <= problem.xu)).all()
    assert np.abs(moved[:, :3] - X[:, :3]).max() == 1
    at_home = (moved[:, :3] == X[:, :3]).all(axis=1)
    changed = moved[at_home & (moved[:, -1] != 50), -1]
    assert len(changed) / at_home.sum() == pytest.approx(1 / 4, abs=0.02)
    assert np.isin(changed, [49, 51]).mean() == pytest.approx(0.5, abs=0.05)
    assert len(np.unique(changed)) > 50
    elsewhere = moved[~at_home, -1]  # a threshold was made for another node: one of two is drawn anew, by a factor
    assert (np.abs(elsewhere - 50) > 1).mean() == pytest.approx(0.5, abs=0.03)
    assert (elsewhere == 301).mean() == pytest.approx(0.25, abs=0.03)
    bottom = LatticeMutation(prob_var=1.0)._do(problem, np.tile(problem.xl.astype(np.int16), (50, 1)), random_state=rng)
    assert bottom[:, -1].min() == 1


def test_repair_clips_thresholds() -> None:
    pop = Population.new("X", np.array([[0.2, 1.0, 3.4, 0.0], [0.0, 0.0, 0.0, 999.0]]))
    X = LatticeRepair()(with_threshold(301), pop).get("X")
    assert X.tolist() == [[0, 1, 3, 1], [0, 0, 0, 301]]

"""Operators of settings: each value reaches its whole range, in small steps and at once."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from pymoo.core.population import Population

from sdc_problems.operators import SettingsCrossover, SettingsMutation, SettingsRepair, SettingsSampling

PROBLEM = SimpleNamespace(xl=np.array([0, 2, 1]), xu=np.array([1, 9, 1]), n_var=3, dtype=np.dtype(np.int16))


def test_samples_reach_every_value() -> None:
    X = SettingsSampling()._do(PROBLEM, 400, random_state=np.random.default_rng(1))
    assert X.dtype == np.int16
    for j in range(3):
        assert sorted(set(X[:, j].tolist())) == list(range(PROBLEM.xl[j], PROBLEM.xu[j] + 1))


def test_mutation_steps_or_draws_anew() -> None:
    X = np.tile(np.array([0, 5, 1], dtype=np.int16), (2000, 1))
    rng = np.random.default_rng(2)
    children = SettingsMutation(prob_var=1.0)._do(PROBLEM, X, random_state=rng)
    share = np.isin(children[:, 1], [4, 6]).mean()
    assert 0.5 < share < 0.75, "half of them one step, and two of eight draws"
    assert set(children[:, 1].tolist()) == set(range(2, 10))
    assert (children[:, 2] == 1).all()
    few = SettingsMutation()._do(PROBLEM, X, random_state=rng)
    assert 0.2 < (few[:, 1] != 5).mean() < 0.4


def test_children_have_each_value_from_a_parent() -> None:
    X = np.array([[[0, 2, 1]] * 50, [[1, 9, 1]] * 50], dtype=np.int16)
    one, two = SettingsCrossover()._do(PROBLEM, X, random_state=np.random.default_rng(3))
    np.testing.assert_array_equal(np.sort([one, two], axis=0), X)
    assert len(np.unique(one, axis=0)) == 4


def test_repair_rounds_and_bounds() -> None:
    pop = Population.new(X=np.array([[0.6, 99.0, -3.0]]))
    assert SettingsRepair()(PROBLEM, pop).get("X").tolist() == [[1, 9, 1]]
    assert SettingsRepair(lambda X: X * 0)(PROBLEM, pop).get("X").tolist() == [[0, 0, 0]]

"""Each measure of several sensitive columns is that of the column that is protected worst."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems.evaluators.engine import Engine
from sdc_problems.evaluators.lattice import MEASURES, LatticeEngine, SeveralSensitive
from tests.evaluators.lattice.test_engine import random_case


def random_engines(seed: int) -> tuple[SeveralSensitive, list[LatticeEngine]]:
    """Engine of up to three sensitive columns of different sizes, and one engine for each of them."""
    case: dict[str, Any] = random_case(seed, n=60)
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, rng.integers(2, 9), 60) for _ in range(rng.integers(1, 4))]
    del case["sensitive"]
    together = SeveralSensitive(**case, sensitive=np.column_stack(columns), threads=1)
    return together, [LatticeEngine(**case, sensitive=column, threads=1) for column in columns]


def worst(tables: list[np.ndarray]) -> np.ndarray:
    low, high = np.minimum.reduce(tables), np.maximum.reduce(tables)
    return np.where(np.array(MEASURES) == "t", high, low)


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_every_node_is_as_bad_as_its_worst_column(seed: int) -> None:
    together, engines = random_engines(seed)
    assert isinstance(together, Engine)
    assert (together.n_nodes, together.n_records) == (engines[0].n_nodes, 60)
    nodes = engines[0].nodes()
    expected = worst([engine.evaluate_all() for engine in engines])
    np.testing.assert_array_equal(together.evaluate_all(), expected)
    np.testing.assert_array_equal(together.measure(nodes), expected)
    np.testing.assert_array_equal(together.measure(nodes, ("t", "k")), expected[:, [MEASURES.index("t"), 0]])
    for node, (thresholds, values) in zip(nodes, together.steps(nodes), strict=True):
        parts = [engine.steps([node])[0] for engine in engines]
        assert all(np.array_equal(thresholds, limits) for limits, _ in parts)
        np.testing.assert_array_equal(values, worst([figures for _, figures in parts]))
        assert together.effective([node], [2]).tolist() == engines[0].effective([node], [2]).tolist()
        figures = together.figures(node, int(thresholds[0]))
        assert [figures[name] for name in MEASURES] == values[0].tolist()
    met = [np.concatenate(parts) for parts in zip(*together.every_step(), strict=True)]
    order = np.lexsort((met[1], met[0]))
    np.testing.assert_array_equal(met[2][order], np.concatenate([values for _, values in together.steps(nodes)]))

"""The engines of all packages keep to one protocol, whatever their candidates are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from sdc_problems.errors import SDCError
from sdc_problems.evaluators import Engine
from sdc_problems.evaluators.grouping import GroupingEngine
from sdc_problems.evaluators.lattice import LatticeEngine
from sdc_problems.evaluators.partition import PartitionEngine
from sdc_problems.evaluators.transition import TransitionEngine

CODES = np.random.default_rng(0).integers(0, 4, size=(30, 2))
LEVELS = [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
Z = np.random.default_rng(1).normal(size=(30, 3))
Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)

# Annotated as the protocol: mypy says if one does not conform.
LATTICE: Engine = LatticeEngine(CODES, [LEVELS, LEVELS], sensitive=CODES[:, 0], labels=CODES[:, 1], max_suppressed=2)
GROUPING: Engine = GroupingEngine(Z, 3)
PARTITION: Engine = PartitionEngine(Z)
TRANSITION: Engine = TransitionEngine(CODES, n_categories=4, against=CODES[:, 0])
ENGINES: list[tuple[Engine, list[Any]]] = [
    (LATTICE, [[0, 0], [1, 2], [2, 2], [2, 0]]),
    (GROUPING, [[0, 0, 0], [0, 1, 1], [0, 1, 2]]),
    (PARTITION, [[0] * 30, [i // 3 for i in range(30)], [i % 10 for i in range(30)]]),
    (TRANSITION, [[np.eye(4)] * 2, [np.full((4, 4), 0.25)] * 2, [np.eye(4), np.roll(np.eye(4), 1, axis=1)]]),
]


@pytest.mark.parametrize(("engine", "candidates"), ENGINES, ids=lambda value: type(value).__name__)
def test_an_engine_measures_names_of_candidates(engine: Engine, candidates: Sequence[Any]) -> None:
    assert isinstance(engine, Engine)
    assert isinstance(engine.measures, tuple)
    everything = engine.measure(candidates)
    assert everything.dtype == np.float64
    assert everything.shape == (len(candidates), len(engine.measures))
    assert np.isfinite(everything).all()
    backwards = engine.measures[::-1]
    assert engine.measure(candidates, backwards).tobytes() == np.ascontiguousarray(everything[:, ::-1]).tobytes()
    for j, name in enumerate(engine.measures):
        assert engine.measure(candidates, (name,))[:, 0].tolist() == everything[:, j].tolist(), name
    for candidate, row in zip(candidates, everything, strict=True):
        assert engine.measure([candidate])[0].tolist() == row.tolist()
    with pytest.raises(SDCError, match="a measure must be one of"):
        engine.measure(candidates, ("beauty",))


def test_what_needs_an_unprotected_attribute_is_no_measure_without_one() -> None:
    assert set(TRANSITION.measures) - set(TransitionEngine(CODES).measures) == {"bivariate", "chi2"}


def test_what_cannot_measure_is_no_engine() -> None:
    assert not isinstance(CODES, Engine)

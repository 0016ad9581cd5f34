"""Linkage that is remembered, and files that are settled."""

from __future__ import annotations

import numpy as np
import pytest

from sdc_problems.evaluators.cells import CategoricalCells, NumericCells, _engine
from sdc_problems.evaluators.cells._engine import CellEngine


@pytest.fixture(params=["numeric", "categorical"])
def engine(request: pytest.FixtureRequest, rng: np.random.Generator) -> CellEngine:
    if request.param == "numeric":
        return NumericCells(rng.normal(size=(60, 3)).round(2), low=[-900] * 3, decimals=[2] * 3)
    X = rng.integers(0, 4, size=(60, 3))
    return CategoricalCells(X, kinds=("ordinal", "nominal", "ordinal"), n_categories=[4, 4, 4])


def test_linkage_of_a_file_is_taken_once(
    engine: CellEngine, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []
    plain = type(engine)._prl
    monkeypatch.setattr(type(engine), "_prl", lambda self, Y: taken.append(1) or plain(self, Y))
    monkeypatch.setattr(_engine, "LINKED", 2)
    files = [rng.integers(0, 4, size=(60, 3)) for _ in range(3)]
    values = [engine.prl(file) for file in files]
    assert len(taken) == 3
    assert [engine.prl(file.astype(np.int16)) for file in files[1:]] == values[1:]
    assert len(taken) == 3
    assert engine.prl(files[0]) == values[0]  # forgotten, and taken again
    assert len(taken) == 4


def test_a_settled_file_measures_as_one_that_is_opened(engine: CellEngine, rng: np.random.Generator) -> None:
    state = engine.open(rng.integers(0, 4, size=(60, 3)))
    differed = False
    for _ in range(200):
        cells = np.column_stack([rng.choice(60, size=2, replace=False), rng.integers(3, size=2)])
        state.propose(cells, rng.integers(0, 4, size=2))
        committed = state.commit()
        opened = engine.open(state.codes).measures
        differed |= committed != opened
        assert committed == pytest.approx(opened, abs=1e-9)
        assert state.settle() == opened
    assert differed or isinstance(engine, CategoricalCells)

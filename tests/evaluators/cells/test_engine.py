"""Measures of whole files by name, against the public functions."""

from __future__ import annotations

import numpy as np
import pytest

from sdc_problems import SDCError
from sdc_problems.evaluators import (
    Engine,
    copies,
    distance_linkage,
    dr_categorical,
    dr_guarded,
    dr_numeric,
    il_categorical,
    pil,
    record_change,
    regression_change,
    rsrl,
    score_max,
    score_mean,
)
from sdc_problems.evaluators.cells import CategoricalCells, NumericCells


def test_numeric_measures_by_name(rng: np.random.Generator) -> None:
    X = rng.integers(0, 500, size=(50, 4)).astype(float)
    engine = NumericCells(X, low=[0] * 4, decimals=[0] * 4)
    assert isinstance(engine, Engine)
    rows = np.stack([X.ravel(), rng.permuted(X, axis=0).ravel()]).astype(np.int32)
    found = engine.measure(rows)
    for row, values in zip(rows, found, strict=True):
        Y = row.reshape(50, 4).astype(float)
        said = dict(zip(engine.measures, values, strict=True))
        loss, risk = pil(X, Y), dr_numeric(X, Y)
        expected = {
            "pil": loss,
            "dr_numeric": risk,
            "score_mean": score_mean(loss, risk),
            "score_max": score_max(loss, risk),
            "copies": copies(X, Y),
            "rsrl": max(rsrl(X, Y, percent=percent) for percent in (5, 10, 15, 20)),
            "dbrl_protected": distance_linkage(X, Y),
            "dbrl_half": np.mean(
                [distance_linkage(X[:, h], Y[:, h], direction="to_original") for h in ([0, 1], [2, 3])]
            ),
            "record_change": record_change(X, Y),
            "regression_change": regression_change(X, Y),
        }
        assert {name: said[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    np.testing.assert_array_equal(engine.measure(rows, ("copies", "dr_numeric")), found[:, [6 + 1, 0]])


@pytest.mark.parametrize("guard", [True, False])
def test_categorical_measures_by_name(guard: bool, rng: np.random.Generator) -> None:
    sizes, kinds = [3, 4, 5], ["ordinal", "nominal", "ordinal"]
    X = rng.integers(0, sizes, size=(60, 3))
    engine = CategoricalCells(X, kinds=kinds, n_categories=sizes, guard=guard)
    assert isinstance(engine, Engine)
    Y = np.where(rng.random(X.shape) < 0.8, (X + 1) % sizes, X)
    said = dict(zip(engine.measures, engine.measure(Y.ravel())[0], strict=True))
    domain = {"kinds": kinds, "n_categories": sizes}
    loss, risk, guarded = il_categorical(X, Y, **domain), dr_categorical(X, Y, **domain), dr_guarded(X, Y, **domain)  # type: ignore[arg-type]
    assert guarded != risk
    expected = {
        "il_categorical": loss,
        "dr_categorical": risk,
        "dr_guarded": guarded,
        "score_mean": score_mean(loss, guarded if guard else risk),
        "score_max": score_max(loss, guarded if guard else risk),
        "dbrl_protected": distance_linkage(X, Y, **domain),  # type: ignore[arg-type]
    }
    assert {name: said[name] for name in expected} == pytest.approx(expected, abs=1e-9)


def test_unknown_measures_are_refused(rng: np.random.Generator) -> None:
    engine = CategoricalCells(rng.integers(0, 3, size=(9, 2)))
    with pytest.raises(SDCError, match=r"'dbrx', did you mean 'dbrl'|unknown measure 'dbrx'"):
        engine.measure(engine.X.ravel(), ("dbrx",))

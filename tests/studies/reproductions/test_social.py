"""Reproduction of Marés (2013), chapter 6: tables, pictures, and the statements with their verdicts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdc_problems.evaluators.graph import il_graph
from sdc_problems.studies.reproductions import find
from sdc_problems.studies.reproductions.social import study
from sdc_problems.studies.reproductions.social.runs import CASES, LOSSES, QUICK, SETS, Measured, gathered, measured
from sdc_problems.studies.reproductions.social.statements import statements

SMALL = replace(CASES[0], nodes=60, links=70)


@pytest.mark.usefixtures("nowhere")
def test_the_report_has_every_table_and_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "QUICK", replace(QUICK, ks=(2, 5), draws=1, evaluations=40))
    monkeypatch.setattr(study, "CASES", (SMALL, replace(SMALL, title="second graph", links=150)))
    said: list[str] = []
    report = find("social")(quick=True, say=said.append)
    assert len(said) == 2 * 2 + 1, "each K of both graphs, and the front"
    assert [table.name for table in report.tables] == ["graphs", "first-graph", "second-graph", "statements", "front"]
    assert [picture.name for picture in report.pictures] == [f"figure-6.{number}" for number in range(10, 16)]
    assert "caltech36 is not on this machine" in report.markdown()
    content = {table["name"]: table for table in json.loads(report.json())["tables"]}
    assert content["graphs"]["rows"][0]["Diameter"]["paper"] == 17
    assert {row["Verdict"] for row in content["statements"]["rows"]} <= {"holds", "does not hold"}


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No public file on this machine."""
    from sdc_problems._sources import files

    monkeypatch.delenv("SDC_DATA_HOME", raising=False)
    monkeypatch.setattr(files, "cache_home", lambda: tmp_path)


def test_figures_are_means_over_the_draws() -> None:
    both = measured(SMALL, 3, 2)
    problem = SMALL.problem(3)
    rows = [problem.baselines()[f"Algorithm 14, seed {seed}"] for seed in (1, 2)]
    values = np.array([problem.evaluate(x) for x in rows])
    np.testing.assert_allclose(both[0], values)
    curves = gathered((3,), [both])
    assert curves.losses["il_graph"] == pytest.approx(values[:, 0].mean())
    assert curves.errors["il_graph"] == pytest.approx(abs(values[0, 0] - values[1, 0]) / 2)
    assert curves.losses["il_graph"] == pytest.approx(np.mean([curves.losses[name] for name in LOSSES[1:]]))
    assert curves.risks["all attributes"] <= min(curves.risks.values())
    assert 0 < curves.microdata["il_categorical"] < 100
    assert il_graph([1, 0, 2], [0, 0, 0], [[0, 1], [1, 2]]) > 0


def curves(*, error: float = 0.0, **losses: list[float]) -> Measured:
    found = {name: np.array(losses.get(name, [0.1, 0.2, 0.3])) for name in LOSSES}
    risks = {name: np.array([0.5, 0.4, 0.3]) - 0.1 * i for i, name in enumerate(("topic 1", "topic 2", "topic 3"))}
    risks |= {name: np.array([0.2, 0.05, 0.01]) for name in ("location", "all topics", "all attributes")}
    tables = {"il_categorical": np.array([10.0, 20.0, 30.0]), "dr_categorical": np.array([30.0, 20.0, 10.0])}
    risks |= {name: np.array(losses[name]) for name in losses if name in risks}
    errors = dict.fromkeys([*LOSSES, *SETS, *tables], error)
    return Measured((2, 5, 10), found, {name: risks[name] for name in SETS}, tables, errors)


@pytest.mark.parametrize(
    ("losses", "statement", "verdict"),
    [
        ({}, "il grows with K in both graphs", "holds"),
        ({"il_graph": [0.3, 0.2, 0.1]}, "il grows with K in both graphs", "does not hold"),
        ({"cdil": [0.1, 0.4, 0.9]}, "cdil grows fastest in the first graph, as a ratio", "holds"),
        ({}, "cdil grows fastest in the first graph, as a ratio", "does not hold"),
        (
            {"cdil": [0.01, 0.01, 0.01]},
            "aamil is the lowest loss at almost every K of the second graph",
            "does not hold",
        ),
        ({"aamil": [0.05, 0.1, 0.1]}, "aamil is the lowest loss at almost every K of the second graph", "holds"),
    ],
)
def test_a_statement_holds_or_does_not(losses: dict[str, list[float]], statement: str, verdict: str) -> None:
    rows = statements(curves(**losses), curves(**losses)).rows
    assert {row[0]: row[1] for row in rows}[statement] == verdict


def test_what_goes_the_other_way_is_told_and_measured_against_the_noise_of_the_draws() -> None:
    statement = "dr falls with K for every set of attributes"
    location = {"location": [0.2, 0.01, 0.04]}
    for error, verdict in ((0.0, "does not hold"), (0.005, "does not hold"), (0.01, "holds")):
        found = curves(error=error, **location)
        row = {row[0]: row[1:] for row in statements(found, found).rows}[statement]
        assert row[0] == verdict
        said = f"the other way by up to 0.03 (location, first graph), standard error {error * 2**0.5:.2g}"
        assert said in str(row[1])


def test_figures_of_each_k_become_curves() -> None:
    def draws(*values: float) -> np.ndarray:
        return np.array([values, [2 * value for value in values]])

    parts = [(draws(*[a] * 4), draws(*[a] * 6), draws(a, 2 * a)) for a in (0.2, 0.4)]
    found = gathered((2, 3), parts)
    np.testing.assert_allclose(found.losses["cdil"], [0.3, 0.6])
    np.testing.assert_allclose(found.microdata["dr_categorical"], [0.6, 1.2])
    variances = [np.var([a, 2 * a], ddof=1) for a in (0.2, 0.4)]
    assert found.errors["location"] == pytest.approx(np.sqrt(np.mean(variances) / 2))
    assert set(gathered((2,), [(np.ones((1, 4)), np.ones((1, 6)), np.ones((1, 2)))]).errors.values()) == {0.0}

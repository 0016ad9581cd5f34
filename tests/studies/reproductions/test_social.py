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
    values = np.mean([problem.evaluate(x) for x in rows], axis=0)
    np.testing.assert_allclose(both[0], values)
    assert both[0][0] == pytest.approx(np.mean(both[0][1:]))
    assert dict(zip(SETS, both[1], strict=True))["all attributes"] <= min(both[1])
    assert 0 < both[2][0] < 100
    assert il_graph([1, 0, 2], [0, 0, 0], [[0, 1], [1, 2]]) > 0


def curves(**losses: list[float]) -> Measured:
    found = {name: np.array(losses.get(name, [0.1, 0.2, 0.3])) for name in LOSSES}
    risks = {name: np.array([0.5, 0.4, 0.3]) - 0.1 * i for i, name in enumerate(("topic 1", "topic 2", "topic 3"))}
    risks |= {name: np.array([0.2, 0.05, 0.01]) for name in ("location", "all topics", "all attributes")}
    tables = {"il_categorical": np.array([10.0, 20.0, 30.0]), "dr_categorical": np.array([30.0, 20.0, 10.0])}
    return Measured((2, 5, 10), found, {name: risks[name] for name in SETS}, tables)


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


def test_figures_of_each_k_become_curves() -> None:
    found = gathered((2, 3), [([0.1] * 4, [0.2] * 6, [3.0, 4.0]), ([0.5] * 4, [0.6] * 6, [7.0, 8.0])])
    np.testing.assert_array_equal(found.losses["cdil"], [0.1, 0.5])
    np.testing.assert_array_equal(found.microdata["dr_categorical"], [4.0, 8.0])

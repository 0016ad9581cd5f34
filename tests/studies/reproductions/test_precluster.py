"""The reproduction of Marés (2013), chapter 5: every table and picture, and the bars that its specification sets."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdc_problems.studies.reproductions import find
from sdc_problems.studies.reproductions.precluster import study
from sdc_problems.studies.reproductions.precluster.paper import GERMAN as PAPER
from sdc_problems.studies.reproductions.precluster.runs import (
    CLUSTERING,
    FULL,
    GERMAN,
    QUICK,
    Grid,
    run_grid,
)

TINY = replace(QUICK, ks=(5, 40), clusters=(1, 3, 12), restarts=2, large=600)


@pytest.fixture
def files(public: Callable[[str], Path]) -> None:
    for name in ("german_credit.csv", "solar_flare.csv"):
        public(name)


@pytest.mark.usefixtures("files")
def test_the_report_has_every_table_and_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "QUICK", TINY)
    said: list[str] = []
    report = find("precluster")(quick=True, say=said.append)
    assert len(said) == 4 + 4 + 2 + 4 + 3, "four grids of a file with an order, two without, and three larger files"
    assert [table.name for table in report.tables] == [
        "table-5.1", "table-5.2", "table-5.3", "statements", "joining", "random-starts", "starts", "clustering-spread",
        "table-flare", "large",
    ]  # fmt: skip
    assert {picture.name for picture in report.pictures} == {f"figure-5.{n}" for n in range(1, 11)} | {
        "clustering-spread"
    }
    content = {table["name"]: table for table in json.loads(report.json())["tables"]}
    rows = content["table-5.2"]["rows"]
    assert [row["IL"]["paper"] for row in rows] == [18.90, 31.90, 31.62, None]
    assert rows[0]["IL"]["ours"] == pytest.approx(18.65, abs=0.006), "k = 40 without clusters"
    assert rows[-1]["DR"]["ours"] == pytest.approx(54.25)
    assert [row["DR"]["paper"] for row in content["table-5.3"]["rows"]][:3] == [42.55, 30.63, 28.50]
    assert "not public any more" in report.markdown()
    assert {row[""] for row in content["statements"]["rows"]} == {"holds", "does not hold"}


def test_points_of_a_grid_by_method_and_rule() -> None:
    values = np.arange(2 * 2 * 2 * 3 * 3, dtype=float).reshape(2, 2, 2, 3, 3)
    grid = Grid(GERMAN, (5, 9), (1, 4, 7), values, (0.0, 54.0))
    assert [(point.k, point.clusters) for point in grid.found("plain")] == [(5, 1), (9, 1)]
    assert grid.best("plain").setting == "k = 5"
    best = grid.best("global_median", rule=None)
    assert (best.setting, best.rule, best.larger, best.mean) == ("k = 5, c = 4", 0, 40.0, 39.5)
    assert len(grid.found("mdav", rule=None)) == 8
    assert grid.best("mdav", loss=CLUSTERING, rule=1).loss == values[0, 1, 0, 1, CLUSTERING]


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_the_bars_of_german_credit() -> None:
    """Smallest larger one of loss and risk over the whole grid, all starts: no worse than the source's."""
    grid = run_grid(GERMAN, FULL, say=lambda line: None)
    assert grid.best("global_median").larger <= 26.9 < max(PAPER["global_median"])
    assert grid.best("mdav").larger <= 32.2
    for method in ("mdav", "global_median"):
        assert grid.best(method, rule=None).larger <= grid.best(method).larger

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sdc_problems import PBGProblem
from sdc_problems.algorithms import PBGEA, PBGSearch
from sdc_problems.studies.reproductions import find
from sdc_problems.studies.reproductions.pbg.study import BOXES, PAPER, SETS, random_lattice, repeat, title


def test_the_papers_figures_are_complete() -> None:
    assert [title(s) for s in PAPER] == ["k, GLM", "k, ℓ, GLM", "S_k, GLM", "S_k, S_ℓ, GLM", "k, GLM, CM"]
    assert [PAPER[s][2] for s in SETS] == [0.94, 0.93, 0.84, 0.83]
    assert [row[4] for row in PAPER.values()] == [916, 946, 1136, 1197, 1073]
    assert len(BOXES) == 6


def test_the_random_family_is_reproducible_and_searchable() -> None:
    data, hierarchies = random_lattice(1, records=300)
    again, _ = random_lattice(1, records=300)
    assert data.digest == again.digest
    problem = PBGProblem(data, hierarchies, objectives=("k", "glm"), suppression="budget")
    front = problem.enumerate_front(ties=True)
    theirs = repeat(problem, front, lambda: PBGEA(pop_size=10), 1)
    ours = repeat(problem, front, lambda: PBGSearch(120), 2)
    assert ours.nodes.tolist() == [120.0, 120.0]
    for runs in (theirs, ours):
        assert ((runs.rr >= 0) & (runs.rr <= 1)).all()
        assert (runs.ce >= 0).all()
        assert np.isfinite(runs.F).all()


@pytest.mark.slow
def test_the_quick_reproduction_fills_every_table(public: Callable[[str], Path], tmp_path: Path) -> None:
    public("adult.csv")
    report = find("pbg")(quick=True, say=lambda line: None)
    assert [table.name for table in report.tables] == ["table-1a", "table-1b", "table-2a", "table-2b", "search"]
    assert [len(table.rows) for table in report.tables] == [8, 5, 6, 5, 3]
    written = {path.name for path in report.write(tmp_path)}
    assert {"figure-1.png", "figure-2.png", "figure-3.png", "search.csv", "report.md"} <= written

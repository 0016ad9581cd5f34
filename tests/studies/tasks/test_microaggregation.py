"""A study of microaggregation from its file to a released table, with each search made for it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from sdc_problems import MicroaggregationProblem, Microdata
from sdc_problems.errors import SDCFailure
from sdc_problems.studies.cli import cli
from sdc_problems.studies.report.pictures import picture
from sdc_problems.studies.tasks import find_task

STUDY = """
title = "merge"
[data]
name = "people"
records = 60
quasi_identifiers = ["age", "hours", "wage"]
keep = ["sex", "income"]
[problem]
task = "microaggregation"
k = 3
{problem}
[algorithm]
{algorithm}
[termination]
generations = 3
[run]
seeds = 1
"""

SEARCHES = {
    "NSGA2": ('objectives = ["il_sse", "dbrl", "k"]\nk_max = 6', 'name = "NSGA2"\npop_size = 8\nstart = "baselines"'),
    "GA": ("", 'name = "GA"\npop_size = 8'),
    "SolanasGA": ("", 'name = "SolanasGA"\npop_size = 8\nmutation_prob = 0.02'),
    "HybridMicroaggregation": ("", 'name = "HybridMicroaggregation"\nK = 12\nepochs = 50'),
}


def run(folder: Path, name: str) -> Path:
    problem, algorithm = SEARCHES[name]
    (folder / "study.toml").write_text(STUDY.format(problem=problem, algorithm=algorithm))
    arguments = ["run", str(folder / "study.toml"), "--out", str(folder / "run"), "--no-pictures"]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    return folder / "run"


@pytest.mark.parametrize("name", SEARCHES)
def test_run_and_release(name: str, tmp_path: Path) -> None:
    folder = run(tmp_path, name)
    front = pd.read_csv(folder / "front.csv")
    out = tmp_path / "out.csv"
    solution = front.iloc[0, 0]
    done = CliRunner().invoke(cli, ["release", str(folder), "--solution", solution, "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    promises = {p["name"]: p for p in json.loads(done.stdout)["guarantees_checked_in_the_file"]}
    assert promises["k"]["holds"]
    assert pd.read_csv(out).groupby(["age", "hours", "wage"]).size().min() >= promises["k"]["promised"] >= 3


def test_a_broken_promise_is_found_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run(tmp_path, "GA")
    solution = pd.read_csv(folder / "front.csv").iloc[0, 0]
    honest = MicroaggregationProblem.release
    monkeypatch.setattr(
        MicroaggregationProblem,
        "release",
        lambda self, x, **options: honest(self, x, **options).assign(age=range(len(self.data))),
    )
    done = CliRunner().invoke(cli, ["release", str(folder), "--solution", solution, "--out", str(tmp_path / "out.csv")])
    assert isinstance(done.exception, SDCFailure)
    assert "k: 1 where" in str(done.exception)
    assert not (tmp_path / "out.csv").exists()


def problem() -> MicroaggregationProblem:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(20, 30, 24), "wage": rng.integers(1, 5, 24)})
    data = Microdata.from_frame(frame, quasi_identifiers=["age", "wage"])
    return MicroaggregationProblem(data, 3, objectives=("sse", "il_sse", "dbrl", "id_value", "k"), k_max=5)


def test_the_unprotected_data_as_objectives() -> None:
    made = problem()
    sse, il, linked, near, k = find_task("microaggregation").unprotected(made)
    assert (sse, il, near) == (0.0, 0.0, 100.0)
    codes = made.data.codes()
    counts = np.unique(codes, axis=0, return_counts=True)[1]
    assert k == counts.min()
    assert linked == pytest.approx(100 * len(counts) / 24)
    assert find_task("microaggregation").original(made)["dbrl"] == linked


def test_picture_and_guarantees_of_a_solution() -> None:
    made = problem()
    x = made.baselines()["MDAV"]
    figure = picture("microaggregation", made, x)
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert sum(heights) == len(made.decode(x).groups)
    released = made.release(x).astype(str)
    assert all(g.holds for g in find_task("microaggregation").guarantees(made, x, released))
    assert not all(g.holds for g in find_task("microaggregation").guarantees(made, x, released[1:]))

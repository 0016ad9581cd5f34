"""A study of masking from its file to a released table, with both searches, in pieces and on several workers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from sdc_problems import MaskingProblem, datasets
from sdc_problems.algorithms import CellSearch, MaskEvolution
from sdc_problems.studies.cli import cli
from sdc_problems.studies.release.csv_text import as_written
from sdc_problems.studies.report.picture_types import Bars, Lines, Matrix
from sdc_problems.studies.report.pictures import picture
from sdc_problems.studies.run.limits import Limits
from sdc_problems.studies.tasks import find_task
from sdc_problems.studies.verdict import verdict

TASK = find_task("masking")
COLUMNS = {"numeric": ["age", "hours", "wage"], "categorical": ["education", "marital_status", "income"]}
STUDY = """
title = "mask"
[data]
name = "people"
records = 80
quasi_identifiers = {columns}
sensitive = ["diagnosis"]
keep = ["sex"]
[problem]
task = "masking"
{problem}
[algorithm]
{algorithm}
[run]
seeds = 2
"""
FRONT = {
    "numeric": 'objectives = ["pil", "dr_numeric"]\nedits = []',
    "categorical": 'objectives = ["il_categorical", "dr_guarded"]',
}
SEARCHES = {
    "CellSearch": 'name = "CellSearch"\nmove_limit = 40_000\nweights = [0.3, 0.7]',
    "ClusteredSearch": 'name = "ClusteredSearch"\nclusters = 3\nsmallest = 15\nmove_limit = 20_000\nweights = [0.5]',
    "NSGA2": 'name = "NSGA2"\npop_size = 8\nstart = "baselines"\n[termination]\ngenerations = 3',
    "MaskEvolution": 'name = "MaskEvolution"\ncrossover_prob = 0.3\n[termination]\ngenerations = 30',
}


def sdc(*arguments: object) -> Result:
    done = CliRunner().invoke(cli, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    return done


def problem_of(kind: str, records: int = 80, **options: Any) -> MaskingProblem:
    data = datasets.people(records).data.with_roles(quasi_identifiers=COLUMNS[kind], sensitive=["diagnosis"])
    return MaskingProblem(data, **options)


def run(folder: Path, kind: str, name: str, *, workers: int = 1) -> Path:
    problem = FRONT[kind]
    if name == "MaskEvolution":
        problem = 'objectives = ["score_mean"]' if kind == "numeric" else 'objectives = ["score_max"]'
    if name == "NSGA2":
        problem += "\nguard = false"
    text = STUDY.format(columns=COLUMNS[kind], problem=problem, algorithm=SEARCHES[name])
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(text)
    sdc("run", folder / "study.toml", "--out", folder / "run", "--no-pictures", "--workers", workers)
    return folder / "run"


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("name", SEARCHES)
def test_run_and_release(kind: str, name: str, tmp_path: Path) -> None:
    folder = run(tmp_path, kind, name)
    front = pd.read_csv(folder / "front.csv")
    front = front[front["id"] != "baseline-untouched"]
    solution, out = front.iloc[-1, 0], tmp_path / "out.csv"
    sdc("release", folder, "--solution", solution, "--out", out)
    certificate = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    assert certificate["promise"] == "promises no k"
    assert "No smallest class is promised: records may be unique in the released file." in certificate["what_was_done"]
    checked = certificate["guarantees_checked_in_the_file"]
    expected = "numbers out of range" if kind == "numeric" else "new categories"
    assert [entry["name"] for entry in checked] == ["records", "changed elsewhere", expected]
    assert len(pd.read_csv(out)) == 80
    status = json.loads(sdc("status", folder, "--json").stdout)
    least = 4 if name == "ClusteredSearch" else 24  # whole files only: those of the clusters are not the study's
    assert all(seed["evaluated"] >= least for seed in status["seeds"]), "what a search measures on its own is counted"


def test_a_guard_that_nothing_keeps_to_is_named(tmp_path: Path) -> None:
    text = STUDY.format(columns=COLUMNS["numeric"], problem=FRONT["numeric"], algorithm=SEARCHES["NSGA2"])
    (tmp_path / "study.toml").write_text(text)
    arguments = ["run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "run"), "--no-pictures"]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 3, done.output
    assert "nothing feasible" in done.output
    assert "the nearest one misses copies <= 1 by " in " ".join(done.output.split())


def test_the_untouched_table_is_not_released(tmp_path: Path) -> None:
    folder = run(tmp_path, "categorical", "CellSearch")
    out = tmp_path / "out.csv"
    done = CliRunner().invoke(cli, ["release", str(folder), "--solution", "baseline-untouched", "--out", str(out)])
    assert "changes no cell of education, marital_status, income" in str(done.exception)
    assert not out.exists()


@pytest.mark.parametrize("name", ["CellSearch", "ClusteredSearch"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_workers_give_the_same_bytes(
    kind: str, name: str, tmp_path: Path, content: Callable[[Path], dict[str, Any]]
) -> None:
    found = [content(run(tmp_path / str(workers), kind, name, workers=workers)) for workers in (1, 2)]
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("prl", ["auto", "lagged", "exact", None])
def test_a_search_in_pieces_is_the_search_in_one(
    kind: str, prl: Any, workshop: Any, content: Callable[[Path], dict[str, Any]]
) -> None:
    """Evolution with each kind of linkage, and the search by cells."""
    score = ("score_mean",) if kind == "numeric" else ("score_max",)
    problem = problem_of(kind, objectives=score)

    def work(folder: Path, **options: Any) -> Any:
        algorithm = CellSearch(move_limit=60_000, islands=2) if prl is None else MaskEvolution(prl=prl)
        limits = Limits(generations=41 if prl is None else 90)
        return workshop.work(folder, problem=problem, algorithm=algorithm, limits=limits, ends=prl is None, **options)

    whole, pieces = workshop.create("whole"), workshop.create("pieces")
    ending = work(whole)
    stops = (1, 2, 3) if prl is None else (1, 7, 20)  # a search of few moves has few generations
    for stop_after in stops:
        work(pieces, stop_after=stop_after)
    assert work(pieces).replayed == sum(stops)
    assert ending.generations > sum(stops)
    assert content(pieces) == content(whole)


def test_numbers_that_no_code_stands_for_are_found() -> None:
    problem = problem_of("numeric")
    x = next(iter(problem.starts().values()))
    for cell in ("1000000", "-3", "31.5"):
        frame = as_written(problem.release(x)).astype(object)
        frame.loc[4, "age"] = cell
        broken = [g for g in TASK.guarantees(problem, x, frame) if not g.holds]
        assert [(g.name, g.found) for g in broken] == [("numbers out of range", 1)], cell


def test_new_categories_and_changes_elsewhere_are_found() -> None:
    problem = problem_of("categorical")
    x = next(iter(problem.starts().values()))
    frame = as_written(problem.release(x)).astype(object)
    frame.loc[4, "education"] = "no such school"
    frame.loc[[5, 6], "sex"] = "unknown"
    broken = {g.name: g.found for g in TASK.guarantees(problem, x, frame) if not g.holds}
    assert broken == {"changed elsewhere": 2, "new categories": 1}


def test_a_kept_sum_is_counted_in_the_file() -> None:
    data = datasets.people(80).data
    frame = data.frame()[["age", "hours"]].assign(both=lambda f: f["age"] + f["hours"])
    from sdc_problems import Microdata

    table = Microdata.from_frame(frame, quasi_identifiers=["age", "hours", "both"])
    problem = MaskingProblem(table, edits=["both = age + hours"])
    x = next(iter(problem.starts().values()))
    written = as_written(problem.release(x)).astype(object)
    kept = TASK.guarantees(problem, x, written)[-1]
    assert (kept.name, kept.holds, kept.sentence) == ("broken sums", True, "in every record both = age + hours")
    written.loc[3, "both"] = "1"
    assert TASK.guarantees(problem, x, written)[-1].found == 1


def test_pictures_of_categories_say_what_was_done() -> None:
    problem = problem_of("categorical", 200)
    x = problem.untouched.astype(problem.dtype).reshape(200, 3).copy()
    x[:50, 0] = (x[:50, 0] + 1) % 8
    x[:3, 2] = 1 - x[:3, 2]  # three cells: too few to be counted
    found = TASK.pictures(problem, x.ravel())
    changed = found[0]
    assert isinstance(changed, Bars)
    assert (changed.labels, changed.values) == (("education", "marital_status"), (25.0, 0.0))
    assert "Fewer than 5 values are changed in income" in changed.caption
    moved = [p for p in found if isinstance(p, Matrix) and p.name == "marital_status"]
    shares = np.array(moved[0].shares)
    counts = np.bincount(problem.original()[:, 1], minlength=len(shares))
    np.testing.assert_array_equal(np.diag(shares), (counts >= 5).astype(float))
    shown = np.array(
        [
            [np.nan if r is None else r for r in row]
            for p in found
            if p.title == "income: where each category went"
            for row in p.records
        ]
    )
    assert not ((shown > 0) & (shown < 5)).any()
    attacks = found[-1]
    figures = problem.figures(x.ravel())
    assert dict(zip(attacks.labels, attacks.values, strict=True))["guessed cells"] == pytest.approx(
        figures["guess"], rel=0.01
    )
    assert picture("masking", problem, x.ravel()).get_size_inches().min() > 4


def test_pictures_of_numbers_tell_a_synthetic_file_from_a_perturbed_one() -> None:
    problem = problem_of("numeric", 200)
    rng = np.random.default_rng(1)
    original = problem.original()
    files = {
        "original": original,
        "dealt": np.column_stack([rng.permutation(column) for column in original.T]),
        "perturbed": original + np.rint(0.1 * original.std(axis=0) * rng.normal(size=original.shape)),
    }
    shown = {}
    for name, table in files.items():
        found = TASK.pictures(problem, problem.encode(table).astype(problem.dtype))
        shown[name] = {p.title: p for p in found}
    curves = {name: {line.name: line.values for line in p["How far values moved"].lines} for name, p in shown.items()}
    assert curves["original"]["age"] == (100.0,) * 13
    reference = np.array(curves["dealt"]["assigned at random"])
    assert np.abs(np.array(curves["dealt"]["age"]) - reference).max() < 15
    assert curves["perturbed"]["age"][2] > reference[2] + 30
    assert not any("before and after" in title for title in shown["dealt"]), "its quantiles are the original's"
    assert any(isinstance(p, Lines) and "before and after" in t for t, p in shown["perturbed"].items())
    assert "copies in any row" in shown["original"]["Risk by attack"].labels
    assert np.max(shown["dealt"]["Correlations: how far they changed"].shares) > 0.05
    assert set(shown["original"]["Statistics lost"].values) == {0.0}


def test_what_stands_in_a_picture_stands_in_the_verdict() -> None:
    """`sdc evaluate` measures the released pair of files, and finds the same."""
    for kind, names in {"numeric": ("copies", "rsrl"), "categorical": ("guess",)}.items():
        problem = problem_of(kind, 200)
        x = list(problem.starts().values())[-1]
        figures = problem.figures(x)
        found = verdict(problem.data, problem.release(x))
        for name in names:
            assert found.value(name) == pytest.approx(figures[name], abs=1e-9), name

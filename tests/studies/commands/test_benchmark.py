"""``sdc benchmark``: what its commands print and write."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from sdc_problems import SDCError
from sdc_problems.datasets import people
from sdc_problems.studies.cli import cli
from sdc_problems.studies.store.reader import Run
from sdc_problems.suite import Record, instance

NAME = "pbg-people-k-glm@1"


def sdc(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["benchmark", *map(str, arguments)], catch_exceptions=False)


def test_list_and_show_say_what_an_instance_is() -> None:
    assert NAME in sdc("list").stdout
    listed = json.loads(sdc("list", "--json").stdout)["instances"]
    found = next(row for row in listed if row["id"] == NAME)
    assert (found["space"], found["points"], found["known"]) == (17920, 29, "exact")
    shown = sdc("show", NAME).stdout
    assert "17,920 different solutions" in shown
    assert json.loads(sdc("show", NAME, "--json").stdout)["digest"] in shown


def test_run_writes_records_and_goes_on(tmp_path: Path) -> None:
    line = ["run", "--instance", NAME, "--algorithm", "random", "--budget", "50", "--workers", "1", "--out", tmp_path]
    first = sdc(*line, "--seeds", 1)
    assert first.exit_code == 0
    assert "1 runs in" in first.stdout
    assert "random pbg-people-k-glm@1 seed 1: 50 evaluations" in first.stderr
    second = sdc(*line, "--seeds", 2)
    assert "1 of 2 runs already exist" in second.stderr
    assert len(list(tmp_path.rglob("*.npz"))) == 2


def test_submission_goes_from_check_to_page(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    sdc("run", "--instance", NAME, "--algorithm", "random", "--budget", "short", "--workers", 1, "--out", folder)
    refused = sdc("check", folder)
    assert refused.exit_code == 1
    assert "submission.toml" in refused.stdout
    said = 'algorithm = "R"\nversion = "1"\nsource = "s"\nlicense = "MIT"\nauthors = ["A"]\nmachine = "m"\n'
    (folder / "submission.toml").write_text(said + 'tuned = "nothing"\ntuned_on_suite = false\n', encoding="utf-8")
    assert sdc("check", folder).stdout.endswith("no problems found\n")
    assert json.loads(sdc("check", folder, "--json").stdout)["submission"]["authors"] == ["A"]
    page = tmp_path / "page.html"
    assert sdc("page", folder, "--budget", "short", "--verify", "-o", page).exit_code == 0
    assert ">verified<" in page.read_text(encoding="utf-8")
    with pytest.raises(SDCError, match="exists"):
        sdc("page", folder, "--budget", "short", "-o", page)
    assert "2 files" in sdc("export", folder, "--format", "ioh", "--out", tmp_path / "ioh").stdout
    assert "1 files" in sdc("export", folder, "--format", "moocore", "--out", tmp_path / "sets").stdout
    assert "@inproceedings{dewri2010" in sdc("cite", "--instance", NAME).stdout


def test_serve_measures_lines_and_writes_a_record(tmp_path: Path) -> None:
    line = ["serve", NAME, "--algorithm", "mine", "--budget", "2", "--out", tmp_path]
    rows = ["0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0.2", "9 9 9 9 9 9 9 9", "0 0 0 0 0 0 0 0"]
    asked = CliRunner().invoke(cli, ["benchmark", *map(str, line)], input="\n".join(["objectives", *rows]))
    assert asked.exit_code == 0
    assert asked.stdout.splitlines()[0] == "-k\tglm"
    assert len(asked.stdout.splitlines()) == 3  # the budget is two
    record = Record.load(tmp_path / "mine" / NAME / "2-1.npz")
    assert (record.evaluations, record.different, record.algorithm) == (2, 1, "mine")
    np.testing.assert_array_equal(record.F[0], [float(v) for v in asked.stdout.splitlines()[1].split("\t")])
    with pytest.raises(SDCError, match="already exists"):
        sdc(*line)
    assert "mine" in sdc("table", tmp_path, "--budget", "2").stdout


STUDY = """
[data]
name = "people"
[problem]
task = "pbg"
objectives = ["k", "glm"]
suppression = "budget"
[algorithm]
name = "NSGA2"
pop_size = 20
[termination]
generations = GENERATIONS
"""


def test_studies_on_an_instance_are_compared_by_its_front(tmp_path: Path) -> None:
    runner = CliRunner()
    for name, generations in (("brief", 1), ("longer", 6)):
        (tmp_path / f"{name}.toml").write_text(STUDY.replace("GENERATIONS", str(generations)), encoding="utf-8")
        line = ["run", str(tmp_path / f"{name}.toml"), "--out", str(tmp_path / name), "--no-pictures"]
        assert runner.invoke(cli, line, catch_exceptions=False).exit_code == 0
    compare = ["compare", str(tmp_path / "brief"), str(tmp_path / "longer"), "--instance"]
    done = runner.invoke(cli, [*compare, NAME, "--json"], catch_exceptions=False)
    said = json.loads(done.stdout)
    found = instance(NAME)
    assert said["instance"]["digest"] == found.digest
    assert said["box"] == {"ideal": found.ideal.tolist(), "reference": found.reference.tolist()}
    assert said["common_front"] == 29
    with Run(tmp_path / "longer") as run:
        F = run.front().F
    held = [any(np.allclose(f, g, rtol=1e-12) for g in F) for f in found.front]
    assert said["runs"][1]["share_of_common_front"] == pytest.approx(np.mean(held))
    assert said["runs"][0]["hypervolume_together"] <= said["runs"][1]["hypervolume_together"] <= 1
    assert "exact front of pbg-people-k-glm@1" in runner.invoke(cli, [*compare, NAME], catch_exceptions=False).stdout
    with pytest.raises(SDCError, match="has the objectives spread_k, glm, the runs k, glm"):
        runner.invoke(cli, [*compare, "pbg-people-spread-glm"], catch_exceptions=False)
    with pytest.raises(SDCError, match="is not a run on pbg-people10-k-glm@1"):
        runner.invoke(cli, [*compare, "pbg-people10-k-glm"], catch_exceptions=False)


def test_studies_that_name_an_instance_are_checked_and_compared_by_its_front(tmp_path: Path) -> None:
    runner = CliRunner()

    def run(name: str, study: str) -> Path:
        (tmp_path / f"{name}.toml").write_text(study.replace("GENERATIONS", "1"), encoding="utf-8")
        line = ["run", str(tmp_path / f"{name}.toml"), "--out", str(tmp_path / name), "--no-pictures"]
        assert runner.invoke(cli, line, catch_exceptions=False).exit_code == 0
        return tmp_path / name

    named = [run(name, f'instance = "{NAME}"\n{STUDY}') for name in ("first", "second")]
    said = runner.invoke(cli, ["compare", *map(str, named), "--json"], catch_exceptions=False)
    assert json.loads(said.stdout)["instance"]["id"] == NAME
    mixed = runner.invoke(cli, ["compare", str(named[0]), str(run("none", STUDY)), "--json"], catch_exceptions=False)
    assert json.loads(mixed.stdout).get("instance") is None
    with pytest.raises(SDCError, match="has the objectives spread_k, glm, not k, glm"):
        run("spread", 'instance = "pbg-people-spread-glm@1"\n' + STUDY)
    with pytest.raises(SDCError, match=f"this is not the problem of {NAME}"):
        run("free", f'instance = "{NAME}"\n' + STUDY.replace('"budget"', '"free"'))
    assert not (tmp_path / "free").exists()


INSTANCE = """
id = "blank-here@1"
suite = "mine"
task = "blank-columns"
title = "Columns to blank out"
what_is_hard = "Nothing: there are 4 solutions."
problem = "blanking_here:ColumnSuppressionProblem"
[table]
file = "people.csv"
quasi_identifiers = ["sex", "income"]
[options]
objectives = ["k", "blanked"]
[budgets]
short = 10
[proof]
how = "every solution is measured"
"""


def test_freeze_finds_a_module_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(Path(__file__).parents[3] / "examples" / "column_suppression.py", tmp_path / "blanking_here.py")
    people(100).data.frame()[["sex", "income"]].to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "blank-here@1.toml").write_text(INSTANCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in ("", str(tmp_path))])
    try:
        assert "blank-here@1: " in sdc("freeze", "blank-here@1.toml").stdout
    finally:
        sys.modules.pop("blanking_here", None)
    refused = ["run", "--instance", "blank-here@1", "--algorithm", "random", "--out", tmp_path / "runs"]
    with pytest.raises(
        SDCError, match=r"Name a frozen instance of your own by its file.*--instance own/mine@1\.toml.*entry point"
    ):
        sdc(*refused)

"""``sdc hierarchy`` as a person meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sdc_problems import Hierarchy, SDCError
from sdc_problems.studies.cli import cli
from sdc_problems.studies.store.schema import DATABASE

AGES = range(18, 80)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{age};0{8000 + age};{'ab'[age % 2]}\n" for age in AGES)
    (tmp_path / "people.csv").write_text(f"age;zip;sex\n{rows}")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["hierarchy", *arguments])


def test_suggested_hierarchies_cover_the_file(folder: Path) -> None:
    result = run("suggest", "people.csv", "--columns", "age,zip")
    assert result.exit_code == 0, result.stderr
    assert "age: numbers: bands of 5, 10, 20" in result.stdout
    assert "--hierarchy age=hierarchies/age.csv" in result.stdout
    assert Hierarchy.from_csv("hierarchies/zip.csv").labels(1)[0] == "0801*"
    checked = run("check", "people.csv", "hierarchies")
    assert checked.exit_code == 0
    assert "age: all 62 values are covered; 6 levels" in checked.stdout


def test_protect_takes_them(folder: Path) -> None:
    run("suggest", "people.csv", "--columns", "age")
    words = "protect people.csv --method mondrian --k 3 --columns age --keep sex --hierarchy age=hierarchies/age.csv"
    result = CliRunner().invoke(cli, [*words.split(), "--out", "out.csv"])
    assert result.exit_code == 0, result.stderr


def test_what_is_not_covered_is_counted_and_named_on_request(folder: Path) -> None:
    (folder / "age.csv").write_text("".join(f"{age};young;*\n" for age in AGES[2:]) + "99;old;*\n")
    result = run("check", "people.csv", "age.csv")
    assert result.exit_code == 1
    said = "age: 2 of 62 values have no row, in 2 records (rows 1, 2); 3 levels, 1 rows for values that do not occur"
    assert said in result.stdout.replace("\n", " ").replace("  ", " ")
    assert "  18\n" not in result.stdout
    named = run("check", "people.csv", "age.csv", "--values")
    assert "  18\n  19\n" in named.stdout
    payload = json.loads(run("check", "people.csv", "age.csv", "--json").stdout)
    assert payload["checked"][0]["lacking"] == 2
    assert run("check", "people.csv", "age.csv", "--column", "sex").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["suggest", "people.csv", "--columns", "agee"], "did you mean 'age'"),
        (["suggest", "people.csv", "--columns", ","], "names no column"),
        (["suggest", "people.csv", "--columns", "age", "--out", "people.csv/x"], "cannot make the folder"),
        (["check", "people.csv", "town.csv"], "no column 'town'"),
        (["check", "people.csv", "zip.csv"], "there is no hierarchy file"),
        (["check", "people.csv", "."], "has no file COLUMN.csv"),
        (["check", "people.csv", ".", "--column", "age"], "--column is for one"),
    ],
)
def test_wrong_words_are_one_sentence(folder: Path, arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code != 0
    assert said in str(result.exception) + result.stderr


def test_nothing_is_replaced_unasked(folder: Path) -> None:
    assert run("suggest", "people.csv", "--columns", "age").exit_code == 0
    before = (folder / "hierarchies" / "age.csv").read_bytes()
    assert "already exists" in str(run("suggest", "people.csv", "--columns", "zip,age").exception)
    assert not (folder / "hierarchies" / "zip.csv").exists()
    assert run("suggest", "people.csv", "--columns", "age", "--overwrite", "--json").exit_code == 0
    assert (folder / "hierarchies" / "age.csv").read_bytes() == before
    (folder / "age.csv").write_text((folder / "people.csv").read_text())
    assert "is the input file" in str(run("suggest", "age.csv", "--columns", "age", "--out", ".").exception)


@pytest.mark.parametrize("out", ["run", "run/hierarchies", "."])
def test_nothing_is_written_into_a_run(folder: Path, monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    run_folder = folder / "run"
    run_folder.mkdir()
    (run_folder / DATABASE).write_bytes(b"")
    if out == ".":
        monkeypatch.chdir(run_folder)
    result = run("suggest", str(folder / "people.csv"), "--columns", "age", "--out", out)
    assert isinstance(result.exception, SDCError)
    assert "is a run folder" in str(result.exception)
    assert [path.name for path in run_folder.iterdir()] == [DATABASE]

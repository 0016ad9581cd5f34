"""``sdc evaluate`` as a person meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from sdc_problems.errors import SDCError
from sdc_problems.studies.cli import cli, main

ORIGINAL = "age,town,ill\n21,Olot,no\n24,Reus,yes\n35,Reus,no\n38,Olot,yes\n"
PROTECTED = "age,town,ill\n20-29,Cat,no\n20-29,Cat,yes\n30-39,Cat,no\n30-39,Cat,yes\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "original.csv").write_text(ORIGINAL)
    (tmp_path / "protected.csv").write_text(PROTECTED)
    return tmp_path


def evaluate(folder: Path, *more: str, quasi: str = "age,town", protected: str = "protected.csv") -> Result:
    paths = [str(folder / "original.csv"), str(folder / protected)]
    return CliRunner().invoke(cli, ["evaluate", *paths, "--quasi-identifiers", quasi, *more])


def test_a_person_reads_a_verdict(files: Path) -> None:
    result = evaluate(files, "--sensitive", "ill")
    assert result.exit_code == 0
    assert result.stdout.startswith("Risk: an intruder who knows the quasi-identifiers finds about 2 of 4 records")
    assert "k (smallest group)" in result.stdout
    assert "2 (was 1)" in result.stdout
    assert "Not applicable" in result.stdout
    assert "Weakest records: 0 of 4" in result.stdout
    assert "Olot" not in result.stdout


def test_glm_has_a_name_of_its_own_without_hierarchies(files: Path) -> None:
    def names(*more: str) -> set[str]:
        return {m["name"] for m in json.loads(evaluate(files, "--json", *more).stdout)["measures"]}

    assert "glm_occurring_percent" in names()
    assert "GLM over occurring values" in evaluate(files).stdout
    folder = files / "hierarchies"
    folder.mkdir()
    assert "holds no COLUMN.csv of a quasi-identifier" in str(evaluate(files, "--hierarchies", str(folder)).exception)
    (folder / "town.csv").write_text("Olot;Cat;*\nReus;Cat;*\n")
    assert "glm_occurring_percent" in names("--hierarchies", str(folder))
    (folder / "age.csv").write_text("".join(f"{age};{age // 10 * 10}-{age // 10 * 10 + 9};*\n" for age in range(100)))
    assert {"glm", "glm_percent"} <= names("--hierarchies", str(folder))
    assert "is no folder" in str(evaluate(files, "--hierarchies", str(files / "none")).exception)


def test_a_program_reads_json(files: Path) -> None:
    result = evaluate(files, "--sensitive", "ill", "--json")
    payload = json.loads(result.stdout)
    assert payload["schema"] == "sdc.verdict/2"
    assert payload["weakest_records"] == 0
    assert next(m for m in payload["measures"] if m["name"] == "k")["value"] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age,town\n20-29,Cat\n20-29,Cat\n30-39,Cat\n30-39,Cat\n", "lacks 'ill'"),
        ("town,age,ill\nCat,20-29,no\nCat,20-29,yes\nCat,30-39,no\nCat,30-39,yes\n", "different order"),
        ("age,town,ill\n20-29,Cat,no\n20-29,Cat,yes\n", "different numbers of records"),
        (
            "age,town,ill\n30-39,Cat,no\n20-29,Cat,yes\n30-39,Cat,no\n30-39,Cat,yes\n",
            "in another order, or is it another",
        ),
        ("age,town,ill\nx,Cat,no\n24,Cat,yes\n35,Cat,no\n38,Cat,yes\n", "different types"),
    ],
)
def test_files_that_do_not_match(files: Path, text: str, message: str) -> None:
    (files / "protected.csv").write_text(text)
    result = evaluate(files)
    assert isinstance(result.exception, SDCError)  # main() turns it into exit code 2
    assert message in str(result.exception)


def test_the_program_ends_with_2_and_one_sentence(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (files / "protected.csv").write_text("age,town\n1,x\n2,y\n")
    arguments = ["evaluate", str(files / "original.csv"), str(files / "protected.csv"), "--quasi-identifiers", "age"]
    monkeypatch.setattr("sys.argv", ["sdc", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("error: the files have different columns")


def test_kinds_and_identifiers(files: Path) -> None:
    frame = pd.read_csv(files / "original.csv")
    frame.insert(0, "name", list("abcd"))
    frame.to_csv(files / "original.csv", index=False)
    assert "lacks 'name'" in str(evaluate(files).exception)
    result = evaluate(files, "--identifiers", "name", "--kinds", "age=nominal,ill=nominal", "--json")
    columns = json.loads(result.stdout)["columns"]
    assert [c["kind"] for c in columns] == ["nominal", "nominal"]
    wrong = evaluate(files, "--identifiers", "name", "--kinds", "age")
    assert wrong.exit_code == 2
    assert "'age' is not NAME=KIND" in wrong.stderr


def test_missing_values_of_the_original_are_an_error_or_a_category(files: Path) -> None:
    (files / "original.csv").write_text(ORIGINAL.replace("Reus", "?"))
    assert "missing" in str(evaluate(files).exception)
    assert evaluate(files, "--missing", "category").exit_code == 0


def test_another_delimiter(files: Path) -> None:
    for name in ("original.csv", "protected.csv"):
        path = files / name
        path.write_text(path.read_text().replace(",", ";"))
    assert evaluate(files, "--delimiter", ";").exit_code == 0

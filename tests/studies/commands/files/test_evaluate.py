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
    said = " ".join(result.stdout.split())
    assert said.startswith("Risk: an intruder who knows the quasi-identifiers re-identifies about 2 of 4 records")
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
    assert "has no file COLUMN.csv for any quasi-identifier" in str(
        evaluate(files, "--hierarchies", str(folder)).exception
    )
    (folder / "town.csv").write_text("Olot;Cat;*\nReus;Cat;*\n")
    assert "glm_occurring_percent" in names("--hierarchies", str(folder))
    (folder / "age.csv").write_text("".join(f"{age};{age // 10 * 10}-{age // 10 * 10 + 9};*\n" for age in range(100)))
    assert {"glm", "glm_percent"} <= names("--hierarchies", str(folder))
    assert "is not a folder" in str(evaluate(files, "--hierarchies", str(files / "none")).exception)


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


def test_a_file_of_means_alone_and_beside_itself(tmp_path: Path) -> None:
    """The mean of equal numbers is rounded to another one: that is no sign of swapped files."""
    path = tmp_path / "original.csv"
    values = [f"{whole / 3!r}" for whole in range(100, 160) for _ in range(9)]
    path.write_text("\n".join(["age", *values, ""]))
    alone = CliRunner().invoke(cli, ["evaluate", str(path), "--quasi-identifiers", "age"])
    assert alone.exit_code == 0, alone.output
    assert evaluate(tmp_path, "--same-rows", quasi="age", protected="original.csv").exit_code == 0


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


def test_columns_that_were_left_out_as_they_were_not_kept(files: Path) -> None:
    """What `sdc protect --keep` leaves out is said to `sdc evaluate` in the same words."""
    frame = pd.read_csv(files / "original.csv").assign(floor=[1, 2, 3, 4], ward=list("abab"))
    frame.to_csv(files / "original.csv", index=False)
    protected = pd.read_csv(files / "protected.csv").assign(ward=list("abab"))
    protected.to_csv(files / "protected.csv", index=False)
    assert "(--identifiers floor), or not among those to --keep" in str(evaluate(files).exception)
    assert evaluate(files, "--keep", "ill,ward").exit_code == 0
    assert "no column 'wards'; did you mean 'ward'" in str(evaluate(files, "--keep", "wards").exception)
    assert "the direct identifier 'ill' (or a column that is not among those to --keep)" in str(
        evaluate(files, "--keep", "").exception
    )


HOSPITAL = "Alter;Größe;Ort;Befund\n21;1,71;Köln;nein\n24;1,82;Köln ;ja\n35;1,65;Jülich;nein\n38;1,90;Jülich;ja\n"


def evaluate_hospital(folder: Path, *more: str) -> Result:
    return evaluate(
        folder, "--decimal", ",", "--encoding", "cp1252", "--sensitive", "Befund", *more, quasi="Alter,Größe,Ort"
    )


def test_each_file_is_read_as_it_is_written(files: Path) -> None:
    """Semicolons, decimal commas and Windows-1252 here; commas, points and UTF-8 there."""
    (files / "original.csv").write_text(HOSPITAL, encoding="cp1252")
    other = (
        "Alter,Größe,Ort,Befund\n20-29,1.7,Köln,nein\n20-29,1.8,Köln,ja\n30-39,1.7,Jülich,nein\n30-39,1.9,Jülich,ja\n"
    )
    (files / "protected.csv").write_text(other, encoding="utf-8")
    result = evaluate_hospital(files, "--json")
    assert result.exit_code == 0, result.exception
    assert "note: original.csv is read with --delimiter ';'" in result.stderr
    assert [c["fate"] for c in json.loads(result.stdout)["columns"]][:3] == ["generalised", "perturbed", "unchanged"]
    kept = HOSPITAL.replace("1,71", "1,7").replace("1,82", "1,8").replace("1,65", "1,7").replace("21;", "20-29;")
    kept = kept.replace("24;", "20-29;").replace("35;", "30-39;").replace("38;", "30-39;")
    (files / "protected.csv").write_text(kept, encoding="cp1252")
    again = evaluate_hospital(files, "--json")
    assert json.loads(again.stdout) == json.loads(result.stdout)
    (files / "protected.csv").write_text(kept.replace(";", "\t"), encoding="utf-16")
    assert json.loads(evaluate_hospital(files, "--json", "--delimiter", ";").stdout) == json.loads(result.stdout)


def test_an_encoding_that_is_none_is_refused(files: Path) -> None:
    for name in ("undefined", "utf8x", "a\0b", ""):
        error = evaluate(files, "--encoding", name).exception
        assert isinstance(error, SDCError)
        assert "unknown encoding" in str(error)


def test_a_tab_is_written_as_a_person_writes_it(files: Path) -> None:
    for name in ("original.csv", "protected.csv"):
        (files / name).write_text((files / name).read_text().replace(",", "\t"))
    assert evaluate(files, "--delimiter", r"\t").exit_code == 0
    assert evaluate(files).exit_code == 0


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        (ORIGINAL.replace("Olot", "\xff"), [], "try --encoding 'cp1252' or --encoding 'latin-1'"),
        (ORIGINAL.replace(",", ";"), ["--delimiter", ","], "did you mean --delimiter ';'"),
        ("age,town,ill\n21,O,no\n,R,yes\n35,R,no\n38,O,yes\n", ["--missing", "error"], "--missing 'drop' leaves such"),
        ("age,town,ill\n21,O,no\nx,R,yes\n35,R,no\n38,O,yes\n", [], "in --na-values, or declare --kinds 'age=nominal'"),
        ('age,town,ill\n"1,021",O,no\n24,R,yes\n35,R,no\n38,O,yes\n', [], "give --thousands or --decimal"),
    ],
)
def test_errors_name_options_of_the_command(text: str, options: list[str], says: str, files: Path) -> None:
    (files / "original.csv").write_text(text, encoding="latin-1")
    error = evaluate(files, *options).exception
    assert isinstance(error, SDCError)
    assert says in str(error)


def test_missing_values_of_the_original(files: Path) -> None:
    (files / "original.csv").write_text(ORIGINAL.replace("24,Reus", "24,-"))
    protected = ORIGINAL.replace("24,Reus", "24,-").replace("38,Olot", "38,*")
    (files / "protected.csv").write_text(protected)
    gaps = ["--na-values", "-,?", "--json"]
    assert "missing" in str(evaluate(files, *gaps, "--missing", "error").exception)
    category = evaluate(files, *gaps)
    assert "note: missing cells of town count as a category of their own (see --missing)" in category.stderr
    found = {how: json.loads(evaluate(files, *gaps, "--missing", how).stdout) for how in ("category", "star", "drop")}
    assert {how: f["records"] for how, f in found.items()} == {"category": 4, "star": 4, "drop": 3}
    starred = {how: f["utility"] for how, f in found.items()}
    assert "1 of 8 cells are starred" in starred["category"]
    assert "2 of 8 cells are starred" in starred["star"]
    assert "1 of 6 cells are starred" in starred["drop"]
    (files / "protected.csv").write_text("\n".join(line for line in protected.splitlines() if "-" not in line))
    assert json.loads(evaluate(files, *gaps, "--missing", "drop").stdout) == found["drop"]


def test_another_delimiter(files: Path) -> None:
    for name in ("original.csv", "protected.csv"):
        path = files / name
        path.write_text(path.read_text().replace(",", ";"))
    assert evaluate(files, "--delimiter", ";").exit_code == 0
    assert evaluate(files).exit_code == 0


def test_one_file_alone(files: Path) -> None:
    alone = ["evaluate", str(files / "original.csv"), "--quasi-identifiers", "age,town", "--sensitive", "ill"]
    result = CliRunner().invoke(cli, alone)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("Risk: 4 of 4 records (100 %) are unique in the quasi-identifiers.")
    assert "Loss:" not in result.stdout
    assert "prosecutor risk, highest" in result.stdout
    refused = CliRunner().invoke(cli, [*alone, "--same-rows"])
    assert refused.exit_code == 2
    assert "--same-rows is for a pair of files" in refused.stderr


def test_a_population_gives_the_journalist_risk(files: Path) -> None:
    (files / "all.csv").write_text("age;town;more\n" + "21;Olot;x\n24;Reus;x\n35;Reus;x\n38;Olot;x\n" * 3)
    result = evaluate(files, "--population", str(files / "all.csv"), "--json")
    values = {m["name"]: m["value"] for m in json.loads(result.stdout)["measures"]}
    assert values["k_map"] == 6
    assert values["journalist_max"] == pytest.approx(100 / 6)
    (files / "short.csv").write_text("age,region\n1,2\n3,4\n")
    said = str(evaluate(files, "--population", str(files / "short.csv")).exception)
    assert "the population has no column 'town'" in said


@pytest.mark.parametrize(("missing", "k", "records"), [("category", 1, 8), ("star", 1, 8), ("drop", 2, 5)])
def test_the_guide_says_what_missing_values_do_to_k(tmp_path: Path, missing: str, k: int, records: int) -> None:
    guide = Path(__file__).parents[4] / "docs" / "methods.md"
    table = guide.read_text(encoding="utf-8").split("```text\n")[1].split("```")[0]
    (tmp_path / "gaps.csv").write_text(table)
    words = ["evaluate", str(tmp_path / "gaps.csv"), "--quasi-identifiers", "age,town", "--missing", missing, "--json"]
    payload = json.loads(CliRunner().invoke(cli, words).stdout)
    values = {m["name"]: m["value"] for m in payload["measures"]}
    assert (values["k"], payload["records"]) == (k, records)
    assert values.get("k_wildcard") == (4 if missing == "star" else None)


def test_roles_come_from_the_certificate_beside_the_file(tmp_path: Path) -> None:
    rows = 40
    frame = pd.DataFrame(
        {
            "name": [f"Person {chr(65 + i % 26)}{chr(97 + i // 26)}" for i in range(rows)],
            "age": [20 + i % 30 for i in range(rows)],
            "floor": [i % 4 for i in range(rows)],
            "ward": ["ab"[i % 2] for i in range(rows)],
            "ill": [("flu", "no", "cold")[i % 3] for i in range(rows)],
        }
    )
    frame.to_csv(tmp_path / "original.csv", index=False)
    pair = [str(tmp_path / "original.csv"), str(tmp_path / "protected.csv")]
    given = ["--columns", "age", "--sensitive", "ill", "--identifiers", "name", "--keep", "ward"]
    made = CliRunner().invoke(cli, ["protect", pair[0], "--method", "mdav", "--k", "4", *given, "--out", pair[1]])
    assert made.exit_code == 0, made.stderr
    asked = CliRunner().invoke(cli, ["evaluate", *pair, "--json", "--quasi-identifiers", "age", *given[2:]])
    told = CliRunner().invoke(cli, ["evaluate", *pair, "--json"])
    assert told.exit_code == 0, told.stderr
    assert json.loads(told.stdout) == json.loads(asked.stdout)
    assert "note:" not in asked.stderr
    says = "protected.csv.certificate.json says --quasi-identifiers age --sensitive ill --identifiers name"
    assert says in told.stderr
    other = CliRunner().invoke(cli, ["evaluate", *pair, "--json", "--quasi-identifiers", "ward", "--sensitive", ""])
    assert other.exit_code == 0, other.stderr
    assert "says --identifiers name" in other.stderr  # options that are given win
    Path(f"{pair[1]}.certificate.json").unlink()
    assert "Missing option '--quasi-identifiers'" in CliRunner().invoke(cli, ["evaluate", *pair]).stderr

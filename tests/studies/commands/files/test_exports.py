"""A hospital's export goes through protect, evaluate, run, release and evaluate as it is, without an editor."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdc_problems import SDCError
from sdc_problems.studies.study.data import DataSection, load_table

Sdc = Callable[..., Any]
N = 240
ROLES = ["--sensitive", "Befund", "--identifiers", "Patient"]
MARKS = ["--decimal", ",", "--thousands", ".", "--encoding", "cp1252"]

STUDY = """
[data]
file = "klinik.csv"
encoding = "cp1252"
decimal = ","
thousands = "."
missing = "{missing}"
quasi_identifiers = ["Alter", "Größe", "PLZ"]
sensitive = ["Befund"]
identifiers = ["Patient"]
keep = []
kinds = {{PLZ = "nominal"}}
[data.hierarchies]
Alter = {{intervals = [5, 10, 20]}}
"Größe" = {{intervals = [10, 20]}}
PLZ = {{masking = 5}}
[problem]
task = "pbg"
max_suppression = 0.1
[algorithm]
name = "NSGA2"
pop_size = 10
[termination]
generations = 2
"""


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """Semicolons, Windows-1252, decimal commas, blanks for gaps, trailing spaces, Windows' line ends."""
    rng = np.random.default_rng(1)
    lines = ["Patient;Alter;PLZ;Größe;Befund;Kosten"]
    for i in range(N):
        age = "" if i % 37 == 0 else str(rng.integers(18, 90))
        place = f"{rng.integers(37000, 37030):05d}" + ("  " if i % 11 == 0 else "")
        size = " " if i % 29 == 0 else f"{rng.normal(170, 9):.1f}".replace(".", ",")
        cost = f"{rng.integers(1000, 9000):,}".replace(",", ".") + ",50"
        lines.append(f"P{i:04d};{age};{place};{size};{rng.choice(['gesund', 'Grippe ', 'Schürfung'])};{cost}")
    path = tmp_path / "klinik.csv"
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode("cp1252"))
    return path


def plain_k(path: Path, names: list[str]) -> int:
    frame = pd.read_csv(path, sep=";", encoding="cp1252", dtype=str, keep_default_na=False)
    shown = frame[~(frame[names] == "*").all(axis=1)]
    return int(shown.groupby(names).size().min())


@pytest.mark.parametrize("missing", ["category", "star", "drop"])
def test_protect_and_evaluate(export: Path, missing: str, tmp_path: Path, sdc: Sdc) -> None:
    out = tmp_path / "out.csv"
    given = [*ROLES, *MARKS, "--missing", missing, "--keep", ""]
    said = sdc("protect", export, "--columns", "Alter,Größe", "--k", 4, "--method", "mdav", *given, "--out", out)
    assert "klinik.csv is read with --delimiter ';'" in said.err
    assert ("it counts as ordinal" in said.err) == ("--missing 'drop' leaves" in said.err) == (missing != "drop")
    assert plain_k(out, ["Alter", "Größe"]) >= 4
    assert "," in pd.read_csv(out, sep=";", encoding="cp1252", dtype=str)["Größe"].str.cat()
    found = json.loads(sdc("evaluate", export, out, "--quasi-identifiers", "Alter,Größe", *given, "--json").out)
    certified = json.loads((tmp_path / "out.csv.certificate.json").read_text())["measured_in_the_file"]
    values = {m["name"]: m["value"] for m in found["measures"] if m["of"] is None}
    assert values["k"] == plain_k(out, ["Alter", "Größe"])
    assert {m["name"]: m["value"] for m in certified["measures"] if m["of"] is None} == values
    kept = N if missing != "drop" else len(pd.read_csv(out, sep=";", encoding="cp1252"))
    assert (found["records"], found["records_of"]) == (kept, N)
    assert (kept < N) == (missing == "drop")
    assert found["risk"] == certified["risk"]


@pytest.mark.parametrize("missing", ["category", "star", "drop"])
def test_run_release_and_evaluate(export: Path, missing: str, tmp_path: Path, sdc: Sdc) -> None:
    (tmp_path / "study.toml").write_text(STUDY.format(missing=missing), encoding="utf-8")
    said = sdc("run", tmp_path / "study.toml", "--out", tmp_path / "run", "--no-pictures")
    assert 'klinik.csv is read with delimiter = ";", which was detected' in said.err
    out = tmp_path / "out.csv"
    sdc("release", tmp_path / "run", "--solution", "baseline-Datafly, k = 5", "--out", out)
    names = ["Alter", "Größe", "PLZ"]
    assert plain_k(out, names) >= 5
    given = [*ROLES, *MARKS, "--missing", missing, "--keep", "", "--kinds", "PLZ=nominal"]
    found = json.loads(sdc("evaluate", export, out, "--quasi-identifiers", ",".join(names), *given, "--json").out)
    certified = json.loads((tmp_path / "out.csv.certificate.json").read_text())["measured_in_the_file"]
    assert next(m["value"] for m in found["measures"] if m["name"] == "k") >= plain_k(out, names)
    assert found["risk"] == certified["risk"]
    assert {m["name"] for m in found["measures"]} >= {"k", "dbrl", "glm_percent"}
    if missing != "drop":
        table = load_table(DataSection.model_validate(section(missing)), tmp_path)
        assert table.hierarchies["Alter"].labels(1)[-1] == "?"
        assert set(table.hierarchies["Alter"].labels(4)) == {"*"}


def section(missing: str) -> dict[str, Any]:
    import tomllib

    values: dict[str, Any] = tomllib.loads(STUDY.format(missing=missing))["data"]
    return values


def test_a_study_finds_delimiter_and_encoding_where_they_are_plain(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [21, 22, 23], "town": ["Olot", "Vic", "Móra"]})
    for name, delimiter, encoding in (
        ("a", ";", "utf-8"),
        ("b", "\t", "utf-16"),
        ("c", "|", "utf-8-sig"),
        ("d", ",", "utf-8"),
    ):
        frame.to_csv(tmp_path / f"{name}.csv", sep=delimiter, encoding=encoding, index=False)
        plain = DataSection(file=f"{name}.csv", quasi_identifiers=["age"])
        assert load_table(plain, tmp_path).data.frame().equals(frame)
    given = DataSection(file="a.csv", quasi_identifiers=["age"], delimiter=",")
    with pytest.raises(SDCError, match="has one column when split at ','"):  # what is given is taken
        load_table(given, tmp_path)

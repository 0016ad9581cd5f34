"""``sdc scan`` as a person meets it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from sdc_problems import roles
from sdc_problems.studies.cli import cli


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    n = 500
    frame = pd.DataFrame(
        {
            "patient_no": rng.permutation(90_000)[:n],
            "e-mail": [f"somebody{i}@clinic.org" for i in range(n)],
            "zip": [f"0{8000 + i % 30}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "diagnosis": rng.choice(["flu", "asthma", "none"], n),
            "ward": rng.choice(["A", "B"], n),
        }
    )
    path = tmp_path / "patients.csv"
    frame.to_csv(path, index=False, sep=";")
    return path


def scan(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["scan", *arguments])


def one_line(result: Result) -> str:
    return " ".join(result.stdout.split())


def test_a_person_reads_roles_and_what_identifies(file: Path) -> None:
    result = scan(str(file))
    assert result.exit_code == 0, result.stderr
    assert "patient_no: identifier, a number of the record" in result.stdout
    assert "e-mail: identifier, looks like e-mail addresses" in result.stdout
    assert "diagnosis: sensitive" in result.stdout
    assert "zip + age" in result.stdout
    assert "somebody1" not in result.stdout
    assert "asthma" not in result.stdout


def test_what_would_single_people_out_is_not_proposed_to_be_kept(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    halls, dials = rng.choice(["A", "B"], 400), [f"x{i}" for i in rng.integers(0, 300, 400)]
    frame = pd.DataFrame({"height": rng.permutation(9000)[:400] / 7, "hall": halls, "dial": dials})
    frame.to_csv(tmp_path / "in.csv", index=False)
    result = scan(str(tmp_path / "in.csv"), "--largest", "1")
    assert "dial: other" in result.stdout
    assert "hall: other" in result.stdout
    assert "--keep hall --out" in one_line(result)
    assert "Not in --keep, so left out: dial." in one_line(result)
    frame.drop(columns="hall").to_csv(tmp_path / "in.csv", index=False)
    line = json.loads(scan(str(tmp_path / "in.csv"), "--largest", "1", "--json").stdout)["next"]
    assert "--keep '' --out" in line


def test_the_line_at_the_end_protects_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    line = json.loads(scan(str(file), "--json", "--encoding", "utf-8").stdout)["next"]
    words = shlex.split(line)
    assert words[:2] == ["sdc", "protect"]
    assert words[-2:] == ["--out", "patients-protected.csv"]
    assert words[words.index("--encoding") + 1] == "utf-8"
    assert words[words.index("--quasi-identifiers") + 1] == "zip,age,sex,ward"
    result = CliRunner().invoke(cli, words[1:])
    assert result.exit_code == 0, f"{result.stderr} {result.exception}"
    released = pd.read_csv("patients-protected.csv", sep=";", dtype=str)
    assert list(released.columns) == ["zip", "age", "sex", "diagnosis", "ward"]
    assert released.groupby(["zip", "age", "sex", "ward"]).size().min() >= 5


def test_a_program_reads_json(file: Path) -> None:
    payload = json.loads(scan(str(file), "--json").stdout)
    assert payload["schema"] == "sdc.scan/1"
    assert {c["name"]: c["role"] for c in payload["columns"]}["sex"] == "quasi-identifier"
    assert payload["combinations"][-1]["singled_out"] <= payload["singled_out_by_all"]


def test_what_is_not_searched_is_said(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "not searched" not in scan(str(file)).stdout
    monkeypatch.setattr(roles, "_WORK", 500 * 4)
    result = scan(str(file), "--largest", "2")
    assert "2 further columns would make too many combinations, so they were not searched: sex, ward." in one_line(
        result
    )
    assert json.loads(scan(str(file), "--largest", "2", "--json").stdout)["not_searched"] == ["sex", "ward"]


def test_a_file_without_quasi_identifiers_says_what_to_fill_in(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1, 1, 2, 2], "b": [3, 3, 3, 3]}).to_csv(tmp_path / "plain.csv", index=False)
    said = one_line(scan(str(tmp_path / "plain.csv")))
    assert "No quasi-identifier is proposed: replace COLUMNS by the columns that others may know" in said
    assert "--quasi-identifiers COLUMNS --keep a,b" in said


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    assert "there is no file" in str(scan(str(tmp_path / "none.csv")).exception)

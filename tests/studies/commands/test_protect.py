"""``sdc protect`` as a person meets it: every method, the promise kept in the file, clear refusals, all or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.studies.cli import cli, main
from sdc_problems.studies.release import METHODS
from sdc_problems.studies.release import _protect as module

N = 30


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "name": [f"person {i}" for i in range(N)],
        "age": rng.integers(18, 80, N),
        "wage": rng.normal(30, 5, N).round(1),
        "town": rng.choice(["Olot", "Reus"], N),
        "ill": rng.choice(["yes", "no"], N),
        "same": 1,
    })  # fmt: skip
    frame.to_csv(tmp_path / "in.csv", index=False)
    frame[:12].to_csv(tmp_path / "few.csv", index=False)
    return tmp_path


def protect(folder: Path, *more: str, file: str = "in.csv", k: str = "3", columns: str = "age,wage") -> Result:
    where = [str(folder / file), "--out", str(folder / "out.csv")]
    return CliRunner().invoke(cli, ["protect", *where, "--k", k, "--columns", columns, *more])


@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_k(folder: Path, method: str) -> None:
    columns = "age" if method == "univariate" else "age,wage"
    file = "few.csv" if method == "exhaustive" else "in.csv"
    options = ["--method", method, "--identifiers", "name", "--sensitive", "ill", "--epochs", "50", "--json"]
    result = protect(folder, *options, file=file, columns=columns)
    assert result.exit_code == 0, result.output
    payload = json.loads(result.stdout)
    assert payload["method"] == method
    assert payload["verdict"]["schema"] == "sdc.verdict/2"
    before, after = pd.read_csv(folder / file), pd.read_csv(folder / "out.csv")
    names = columns.split(",")
    assert list(after.columns) == [name for name in before.columns if name != "name"]
    assert after.groupby(names).size().min() >= 3
    np.testing.assert_allclose(after[names].mean(), before[names].mean())
    for name in ("town", "ill", "same"):
        pd.testing.assert_series_equal(after[name], before[name])


def test_a_person_reads_what_was_done_and_the_verdict(folder: Path) -> None:
    result = protect(folder, columns="age,wage,town")
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert "30 records form 10 groups of 3 similar records" in text
    assert "checked in the file: k 3 (promised 3)" in text
    assert "Risk: an intruder who knows the quasi-identifiers" in text
    assert "k (smallest group)" in text


def test_the_same_seed_writes_the_same_bytes(folder: Path) -> None:
    written = []
    for seed in ("5", "5", "6"):
        options = ["--method", "ga", "--epochs", "30", "--seed", seed, "--overwrite"]
        assert protect(folder, *options).exit_code == 0
        written.append((folder / "out.csv").read_bytes())
    assert written[0] == written[1] != written[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": "1"}, "k must be a whole number ≥ 2"),
        ({"k": "16"}, "at most 15 gives two groups"),
        ({"columns": "wages"}, "did you mean 'wage'"),
        ({"columns": "same"}, "same"),
        ({"columns": ""}, "no quasi-identifiers"),
        ({"columns": "age,town", "more": ["--method", "mhm"]}, "'town' is not one: use mdav"),
        ({"columns": "town", "more": ["--kinds", "town=numeric"]}, "town"),
        ({"more": ["--method", "mdva"]}, "did you mean 'mdav'"),
        ({"more": ["--method", "univariate"]}, "for one column, not for 2"),
        ({"more": ["--method", "exhaustive"]}, "at most 12"),
        ({"more": ["--method", "v-mdav", "--gamma", "-1"]}, "gamma"),
        ({"more": ["--method", "hybrid", "--macrogroup", "2"]}, "K must be a whole number ≥ 4"),
        ({"file": "missing.csv"}, "missing.csv"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(folder: Path, options: dict, message: str) -> None:
    more = options.pop("more", [])
    result = protect(folder, *more, **options)
    assert isinstance(result.exception, SDCError), result.output
    assert message in str(result.exception)
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age,wage\n", "no records"),
        ("age,wage\n1,2\n3,\n5,6\n7,8\n", "missing"),
        ("age,wage\n1,2\n3,4\n5,6\n", "too few"),
    ],
)
def test_files_that_cannot_be_protected(folder: Path, text: str, message: str) -> None:
    (folder / "odd.csv").write_text(text)
    result = protect(folder, file="odd.csv", k="2")
    assert isinstance(result.exception, SDCError)
    assert message in str(result.exception)


def test_an_existing_file_and_the_original_are_safe(folder: Path) -> None:
    (folder / "out.csv").write_text("mine")
    assert "exists already" in str(protect(folder).exception)
    assert (folder / "out.csv").read_text() == "mine"
    original = (folder / "in.csv").read_bytes()
    again = CliRunner().invoke(
        cli, ["protect", str(folder / "in.csv"), "--k", "3", "--columns", "age", "--out", str(folder / "in.csv"),
              "--overwrite"],
    )  # fmt: skip
    assert "the original file itself" in str(again.exception)
    assert (folder / "in.csv").read_bytes() == original
    assert isinstance(protect(folder, "--overwrite").exception, type(None))


def test_a_broken_promise_leaves_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = module.without_identifiers
    monkeypatch.setattr(
        module, "without_identifiers", lambda frame, problem: release(frame, problem).assign(age=range(len(frame)))
    )
    result = protect(folder)
    assert isinstance(result.exception, SDCFailure)
    assert "does not keep what was promised" in str(result.exception)
    assert sorted(p.name for p in folder.iterdir()) == ["few.csv", "in.csv"]


def test_exit_code_of_bad_input(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    argv = ["sdc", "protect", str(folder / "in.csv"), "--k", "1", "--columns", "age", "--out", str(folder / "o.csv")]
    monkeypatch.setattr("sys.argv", argv)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("error: k must be a whole number ≥ 2")

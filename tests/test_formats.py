"""Tables of other programs: what goes in comes out, with labels, and a damaged or strange file is one sentence."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from sdc_problems import Kind, Microdata, SDCError
from sdc_problems._tables import formats
from sdc_problems._tables.coded import coded_texts, starred
from sdc_problems._tables.formats import Labels, format_of, read_frame, refuse_unwritable, write_frame
from sdc_problems.studies.cli import cli

ENDS = {".parquet": "Parquet", ".xlsx": "XLSX", ".sav": "SPSS", ".dta": "Stata", ".xpt": "SAS transport"}
LABELLED = (".sav", ".dta")
LABELS = Labels({"age": "Age in years"}, {"sex": {1: "male", 2: "female"}})


def people(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 60, n),
            "zip": [f"0{8000 + i % 12}" for i in range(n)],
            "sex": rng.integers(1, 3, n),
            "wage": rng.normal(2000, 300, n).round(2),
            "born": [datetime.date(1950 + i % 40, 1 + i % 12, 3) for i in range(n)],
            "ill": rng.choice(["=flu", "none"], n),
        }
    )


@pytest.fixture(params=ENDS)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"people{request.param}"
    write_frame(people(), path, ENDS[request.param], LABELS)
    return path


def test_what_is_written_is_read(file: Path) -> None:
    frame, labels = read_frame(file)
    for name, column in people().items():
        assert frame[name].tolist() == column.tolist(), name
    if file.suffix in LABELLED:
        assert labels.values["sex"] == {1: "male", 2: "female"}
    if file.suffix not in (".parquet", ".xlsx"):
        assert labels.columns["age"] == "Age in years"


def test_a_gap_stays_a_gap(tmp_path: Path) -> None:
    frame = people(6).astype({"age": "Int64"})
    frame.loc[1, "age"] = None
    frame.loc[2, "zip"] = None
    frame.loc[3, "wage"] = None
    for end, how in ENDS.items():
        write_frame(frame, tmp_path / f"x{end}", how)
        found, _ = read_frame(tmp_path / f"x{end}")
        assert found.isna().sum().to_dict() == frame.isna().sum().to_dict(), end
        assert found["age"].dropna().tolist() == frame["age"].dropna().tolist(), end


@pytest.mark.parametrize("permuted", [False, True])
def test_parquet_in_pieces_is_what_pandas_writes_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, permuted: bool
) -> None:
    plain = people(60).astype({"sex": "Int64"})
    plain["empty"] = None
    plain.loc[3, "sex"] = None
    plain["late"] = [None] * 50 + ["x"] * 10  # the first pieces have gaps alone
    held = plain.copy()
    held["zip"] = coded_texts(*pd.factorize(plain["zip"]))
    held["late"] = coded_texts(np.array([-1] * 50 + [0] * 10), ["x"])
    held["lost"] = starred(plain["age"], np.arange(60) < 2)
    held["kept"] = starred(plain["age"], np.zeros(60, dtype=bool))
    plain["lost"], plain["kept"] = ["*", "*", *plain["age"][2:].astype(str)], plain["age"]
    order = np.random.default_rng(2).permutation(60) if permuted else np.arange(60)
    plain.iloc[order].to_parquet(tmp_path / "plain.parquet", index=False)
    monkeypatch.setattr(formats, "_ROW_GROUP", 7)
    write_frame(held, tmp_path / "held.parquet", "Parquet", order=order if permuted else None)
    found, asked = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("held", "plain"))
    pd.testing.assert_frame_equal(found, asked)
    assert pq.ParquetFile(tmp_path / "held.parquet").num_row_groups == 9


def test_numbers_beside_labels_become_text(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": ["*", 30, "20-29"], "x": [1, 2, 3]})
    for end, how in ENDS.items():
        write_frame(frame, tmp_path / f"x{end}", how)
        assert read_frame(tmp_path / f"x{end}")[0]["age"].tolist() == ["*", "30", "20-29"], end


def test_labelled_numbers_are_categories(tmp_path: Path) -> None:
    write_frame(people(), tmp_path / "p.sav", "SPSS", LABELS)
    assert Microdata.from_file(tmp_path / "p.sav").attribute("sex").kind is Kind.NOMINAL
    declared = Microdata.from_file(tmp_path / "p.sav", kinds={"sex": "numeric"})
    assert declared.attribute("sex").kind is Kind.NUMERIC


def test_csv_options_are_for_csv(file: Path) -> None:
    with pytest.raises(SDCError, match="delimiter= says how a CSV file is written"):
        Microdata.from_file(file, delimiter=";")
    assert len(Microdata.from_file(file, delimiter=",", quasi_identifiers=["age"])) == 60


@pytest.mark.parametrize("out", [".csv", *ENDS])
def test_protect_and_evaluate_any_pair_of_formats(file: Path, out: str) -> None:
    target = file.with_name(f"out{out}")
    words = ["--sensitive", "ill"]
    protect = ["protect", str(file), "--method", "mondrian", "--k", "5", "--columns", "age,zip", *words]
    result = CliRunner().invoke(cli, [*protect, "--keep", "sex,wage,born", "--out", str(target)])
    assert result.exit_code == 0, f"{result.stderr} {result.exception}"
    evaluate = ["evaluate", str(file), str(target), "--quasi-identifiers", "age,zip", *words, "--json"]
    result = CliRunner().invoke(cli, evaluate)
    assert result.exit_code == 0, f"{result.stderr} {result.exception}"
    values = {m["name"]: m["value"] for m in json.loads(result.stdout)["measures"]}
    assert values["k"] >= 5
    if out != ".csv":
        frame, labels = read_frame(target)
        assert sorted(frame["wage"]) == sorted(people()["wage"])
        assert ("sex" in labels.values) == (file.suffix in LABELLED and out in LABELLED)


def test_text_is_no_formula_in_a_workbook(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    write_frame(people(), tmp_path / "p.xlsx", "XLSX")
    sheet = openpyxl.load_workbook(tmp_path / "p.xlsx").worksheets[0]
    assert {cell.data_type for cell in sheet["F"]} == {"s"}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04 and no more", b"PAR1PAR1", b"$FL2@(#)"])
def test_damaged_files_are_one_sentence(tmp_path: Path, end: str, content: bytes) -> None:
    (tmp_path / f"x{end}").write_bytes(content)
    with pytest.raises(SDCError, match=f"cannot be read as {ENDS[end]}|is damaged"):
        Microdata.from_file(tmp_path / f"x{end}")
    with pytest.raises(SDCError, match="there is no file"):
        Microdata.from_file(tmp_path / f"none{end}")


def test_a_workbook_says_what_is_odd(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")

    def book(rows: list[list[object]]) -> Path:
        made = openpyxl.Workbook()
        for row in rows:
            made.active.append(row)
        made.save(tmp_path / "b.xlsx")
        return tmp_path / "b.xlsx"

    with pytest.raises(SDCError, match="first sheet is empty"):
        read_frame(book([]))
    with pytest.raises(SDCError, match="column 2 has no name"):
        read_frame(book([["a", None, "c"], [1, 2, 3]]))
    frame, _ = read_frame(book([["zip", "n", None], ["08001", 1], [8002, 2.5], [None, None]]))
    assert frame["zip"].tolist() == ["08001", "8002"]
    assert frame["n"].tolist() == [1, 2.5]


def test_what_cannot_be_written_is_said_before_anything_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SDCError, match=r"name the file '.xpt'"):
        refuse_unwritable(Path("x.sas7bdat"))

    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(formats, "import_module", absent)
    for end, extra in ((".parquet", "parquet"), (".xlsx", "files"), (".sav", "files")):
        with pytest.raises(SDCError, match=rf"sdc-problems\[{extra}\]"):
            refuse_unwritable(Path(f"x{end}"))
    refuse_unwritable(Path("x.csv"))
    assert format_of("a.CSV") is None
    assert format_of("A.SAV") == "SPSS"


def test_parquet_is_read_a_column_at_a_time(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {
            "age": [34, 51, 34],
            "town ": ["Olot", None, "Vic"],
            "level": pd.Categorical(["a", "b", "a"], ["b", "a"], ordered=True),
            "born": pd.to_datetime(["2001-01-01", "2002-02-02", "2003-03-03"]),
        },
        index=pd.Index([7, 8, 9], name="number"),
    )
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    found = Microdata.from_file(path, quasi_identifiers=["age"], missing="category")
    whole = pd.read_parquet(path).reset_index(drop=True).rename(columns=str.strip)
    assert found.names == ("age", "town", "level", "born")
    assert found == Microdata.from_frame(whole, quasi_identifiers=["age"], missing="category")
    pd.testing.assert_frame_equal(found.frame(), Microdata.from_frame(whole, missing="category").frame())

"""Reading CSV files: the same cells for any chunk, and every broken file met with a sentence that names the place."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import Kind, Microdata, SDCError
from sdc_problems._slices import listening

Reader = Callable[..., Microdata]


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    """Write a file and read it as Microdata."""

    def read(content: str | bytes, **options: Any) -> Microdata:
        path = tmp_path / "people.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return Microdata.from_csv(path, **options)

    return read


def test_a_plain_file(read: Reader) -> None:
    data = read("age,town,income\n39,Vic,1.5\n50,Reus,-2\n38,Vic,1e3\n", quasi_identifiers=["age", "town"])
    assert data.frame().to_dict("list") == {
        "age": [39, 50, 38],
        "town": ["Vic", "Reus", "Vic"],
        "income": [1.5, -2, 1e3],
    }
    assert [a.kind.value for a in data.attributes] == ["numeric", "nominal", "numeric"]
    assert data.frame()["age"].dtype == np.int64
    assert data.codes().tolist() == [[1, 1], [2, 0], [0, 1]]


def _zipped(content: bytes, *names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        bz2.compress,
        lzma.compress,
        lambda content: _zipped(content, "people.csv"),
        lambda content: _zipped(content, "people.csv", "__MACOSX/._people.csv"),
    ],
)
def test_a_packed_file_is_read_as_the_plain_one(read: Reader, pack: Callable[[bytes], bytes]) -> None:
    for encoding in ("utf-8", "utf-8-sig", "cp1252", "utf-16"):
        content = "age,town\n39,Köln\n50,Vic\n1.5,Vic\n".encode(encoding)
        plain = read(content, encoding=encoding)
        assert read(pack(content), encoding=encoding) == plain == read(pack(content), encoding=encoding, chunksize=1)
    with pytest.raises(SDCError, match=r"not utf-8: byte 0xf6 at position 13 \(row 1, column 'town'\)"):
        read(pack("age,town\n39,Köln\n50,Vic\n".encode("cp1252")))
    with pytest.raises(SDCError, match=r"damaged|not a valid CSV"):
        read(pack(b"age,town\n" + b"39,Vic\n" * 100_000)[:-20])


def test_a_tiny_number_is_a_number(read: Reader) -> None:
    data = read("a,b\n1,2\n-1e-320,3\n3,4\n", quasi_identifiers=["a"])
    assert data.values()[:, 0].tolist() == [1, -1e-320, 3]
    assert np.isfinite(data.z_scores()).all()


@pytest.mark.parametrize("cells", ["08001 43007 17001", f"{'1' * 30} {'2' * 30} 7", "1e308 x y", "1 2 ４2a ４ ５"])
def test_codes_and_text_stay_as_they_are(read: Reader, cells: str) -> None:
    data = read("a,b\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells.split())))
    assert data.frame()["a"].tolist() == cells.split()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (_zipped(b"a,b\n1,2\n", "a.csv", "b.csv"), "zip file of 2 files: zip the table alone"),
        (_zipped(b""), "zip file of 0 files"),
        (_zipped(b"", "[Content_Types].xml", "xl/workbook.xml"), "is a spreadsheet: export it as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a spreadsheet: export it as CSV"),
    ],
)
def test_packed_files_refused(read: Reader, content: bytes, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        read(content)


def test_a_damaged_packed_file_is_named(read: Reader) -> None:
    content = "".join(f"{i},{i * i % 97}\n" for i in range(2000))
    for pack in (gzip.compress, lzma.compress, lambda plain: _zipped(plain, "people.csv")):
        packed = bytearray(pack(f"a,b\n{content}".encode()))
        packed[len(packed) // 2] ^= 255
        with pytest.raises(SDCError, match=r"is a damaged packed file|cannot read"):
            read(bytes(packed))


@pytest.mark.parametrize("line", ["sep=;\r\n", '"sep=;"\n', "\ufeffsep=;\n"])
def test_the_line_of_excel_tells_the_delimiter(read: Reader, line: str) -> None:
    plain = read("age;town\n39;Vic\n50;Reus\n", delimiter=";")
    assert read(f"{line}age;town\n39;Vic\n50;Reus\n") == plain
    assert read(f"{line}age;town\n39;Vic\n50;Reus\n", chunksize=1) == plain
    assert read(f"{line}age;town\n39;Vic\n50;Reus\n".encode("utf-16"), encoding="utf-16") == plain
    with pytest.raises(SDCError, match="row 2: number of cells is 3"):
        read(f"{line}age;town\n39;Vic\n50;Reus;1\n")


@pytest.mark.parametrize(
    ("content", "cells"),
    [
        ('a,b\n"x\r\ny",1\n"p\nq",2\n', ["x\r\ny", "p\nq"]),
        ('a,b\n"x ""y""",1\n"p,q",2\n', ['x "y"', "p,q"]),
        ("a,b\r\nx,1\r\ny,2\r\n", ["x", "y"]),
        ("a,b\rx,1\ry,2\r", ["x", "y"]),
        ("a,b\nx,1\n\n   \ny,2", ["x", "y"]),
        ("\ufeffa,b\nx,1\ny,2\n", ["x", "y"]),
        ('\ufeff"a",b\nx,1\ny,2\n', ["x", "y"]),
        ("a,b\n x,1\ny ,2\n", ["x", "y"]),
        ("a,b\n07006  ,1\n07006,2\n43,3\n", ["07006", "07006", "43"]),
        ("a,b\nTrue,1\nFalse,2\n", [True, False]),
        ("a,b\ntrue,1\nfalse,2\n", ["true", "false"]),
        ("a,b\n 1,1\n2 ,2\n", [1, 2]),
        ("a,b\n1.0,1\n2,2\n", [1.0, 2.0]),
        ("a,b\n007,1\n12,2\n", ["007", "12"]),
        ("a,b\n12345678901234567890,1\n5,2\n", ["12345678901234567890", "5"]),
        ("a,b\n1_000,1\n5,2\n", ["1_000", "5"]),
        ("a,b\n٣,1\nx,2\n", ["٣", "x"]),
        ("a,b\n2020-01-02,1\n2020-01-01,2\n", ["2020-01-02", "2020-01-01"]),
        ("a,b\n0.1,1\n2.675,2\n", [0.1, 2.675]),
    ],
)
def test_cells_are_what_the_file_says(read: Reader, content: str, cells: list[object]) -> None:
    found = read(content).frame()["a"].tolist()
    assert found == cells
    assert [type(a) for a in found] == [type(b) for b in cells]


def test_other_formats(read: Reader) -> None:
    data = read("a;b\n1.234,5;x\n7;y\n", delimiter=";", decimal=",", thousands=".")
    assert data.categories("a").tolist() == [7.0, 1234.5]
    assert read("a\tb\n1\tx\n2\ty\n", delimiter="\t").names == ("a", "b")
    assert read('a,b\n"1,234",x\n5,y\n', thousands=",").categories("a").tolist() == [5, 1234]
    assert read("a,b\né,1\nx,2\n".encode("latin-1"), encoding="latin-1").categories("a").tolist() == ["x", "é"]
    assert read("a,b\né,1\nx,2\n".encode("utf-16"), encoding="utf-16").categories("a").tolist() == ["x", "é"]


def test_kinds_decide_what_a_cell_is(read: Reader) -> None:
    codes = "a,b\n007,1\n12,2\n"
    assert read(codes, kinds={"a": "numeric"}).categories("a").tolist() == [7, 12]
    assert read(codes, kinds={"a": "ordinal"}).categories("a").tolist() == ["007", "12"]
    assert read("a,b\n3,1\n1,2\n", kinds={"a": "nominal"}).categories("a").tolist() == [1, 3]
    assert read('a,b\n"1,5",1\n1,2\n', kinds={"a": "nominal"}).categories("a").tolist() == ["1", "1,5"]
    mixed = "a,b\n1,1\nx,2\n3,3\n"
    assert read(mixed, kinds={"a": "nominal"}).categories("a").tolist() == ["1", "3", "x"]
    assert read(mixed, orders={"a": ["x", 3, 1.0]}).codes("a")[:, 0].tolist() == [2, 0, 1]
    assert read(mixed, na_values=["x"], missing="drop").attribute("a").kind is Kind.NUMERIC


def test_missing_cells(read: Reader) -> None:
    content = "age,work\n39,?\n50,State\n,Private\n38,NA\n"
    with pytest.raises(SDCError, match="column 'age' has missing values in 1 of 4 rows, first in row 3"):
        read(content)
    data = read(content + "20,Private\n", missing="drop")
    assert (data.n_records, data.n_dropped) == (2, 3)
    assert data.frame().to_dict("list") == {"age": [50, 20], "work": ["State", "Private"]}
    assert data.frame().index.tolist() == [0, 1]
    data = read(content, missing="category", kinds={"age": "ordinal"})
    assert data.codes(["age", "work"]).tolist() == [[1, 2], [2, 1], [3, 0], [0, 2]]
    assert data.frame()["work"].isna().tolist() == [True, False, False, True]


# --------------------------------------------------------------------------- chunks


@pytest.mark.parametrize("chunksize", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(
    "column",
    [
        ["1", "2", "3", "4", "5", "6", "7"],
        ["1", "2", "3.5", "4", "?", "6", "7.25"],
        ["1", "1.0", "x", "1", "2", "x", "y"],
        ["1.0", "1", "2", "2.50", "02", "2.5", "2.5"],
        ["", "?", "", "x", "y", "", "1"],
        ["?", "", "5", "6", "", "7", "x"],
        ["True", "False", "True", "True", "?", "False", "True"],
        ["True", "False", "True", "True", "Maybe", "False", "True"],
        ["b", "a", "c", "b", "e", "d", "a"],
        ["-0.0", "0", "0.0", "1e0", "1", "-0", "5"],
        ["9007199254740993", "9007199254740992", "0.5", "1", "2", "3", "4"],
    ],
    ids="-".join,
)
def test_any_chunk_gives_the_same(tmp_path: Path, column: list[str], chunksize: int) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,n\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(column)))
    options: dict[str, Any] = {"kinds": {"a": "ordinal"}, "missing": "category"}
    whole = Microdata.from_csv(path, **options)
    parts = Microdata.from_csv(path, chunksize=chunksize, **options)
    assert parts.digest == whole.digest
    pd.testing.assert_frame_equal(parts.frame(), whole.frame())


def test_one_chunk_agrees_with_pandas(tmp_path: Path, rng: np.random.Generator) -> None:
    n = 5_000
    frame = pd.DataFrame(
        {
            "few": rng.integers(0, 9, n),
            "many": rng.normal(size=n),
            "text": np.array(["x", "y,z", 'q"'])[rng.integers(0, 3, n)],
            "id": [f"p{i}" for i in rng.permutation(n)],
            "flag": rng.random(n) < 0.5,
        }
    )
    path = tmp_path / "a.csv"
    frame.to_csv(path, index=False)
    data = Microdata.from_csv(path, chunksize=777)
    pd.testing.assert_frame_equal(data.frame(), frame)
    assert data == Microdata.from_frame(frame)


MEMORY = """
import resource, sys
from sdc_problems import Microdata
Microdata.from_csv(sys.argv[2], chunksize=1000)  # everything loaded, a few records
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
data = Microdata.from_csv(sys.argv[1], chunksize=20_000)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024, len(data))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measures resident memory in Linux' units")
def test_memory_is_the_codes_and_not_the_cells(tmp_path: Path) -> None:
    """600,000 records of 12 columns: 29 MB of codes; pandas alone would need about 700 MB for the text."""
    pattern = [",".join(f"category {(i * j) % 90:03d}" for j in range(1, 13)) for i in range(1000)]
    head = ",".join(f"c{j}" for j in range(12)) + "\n"
    (tmp_path / "small.csv").write_text(head + "\n".join(pattern) + "\n")
    with (tmp_path / "large.csv").open("w") as stream:
        stream.write(head)
        stream.writelines("\n".join(pattern) + "\n" for _ in range(600))
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path / "large.csv"), str(tmp_path / "small.csv")],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    grown, records = map(int, done.stdout.split())
    assert records == 600_000
    assert grown < 4 * (records * 12 * 4)


text = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n,;\"'"), max_size=4)


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(2, 10))
    cells: dict[str, st.SearchStrategy[Any]] = {
        "int": st.integers(-(10**17), 10**17),
        "float": st.floats(-1e150, 1e150),
        "text": text.map(lambda t: f"t{t}t"),
        "bool": st.booleans(),
    }
    kinds = draw(st.lists(st.sampled_from(list(cells)), min_size=1, max_size=4))
    columns = {f"c{i}": draw(st.lists(cells[kind], min_size=n, max_size=n)) for i, kind in enumerate(kinds)}
    return pd.DataFrame(columns)


@given(tables(), st.integers(1, 12))
def test_file_round_trip(tmp_path_factory: pytest.TempPathFactory, frame: pd.DataFrame, chunksize: int) -> None:
    path = tmp_path_factory.mktemp("t") / "t.csv"
    frame.to_csv(path, index=False)
    data = Microdata.from_csv(path, chunksize=chunksize)
    pd.testing.assert_frame_equal(data.frame(), frame)
    for name in frame:
        assert data.codes(name)[:, 0].tolist() == pd.factorize(frame[name], sort=True)[0].tolist()


# --------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", {}, r"people\.csv is empty: the first line must name the columns"),
        ("\n\n", {}, "is empty"),
        ("a,b\n", {}, "has a header but no records"),
        ("a,b\n1,2\n", {}, "only 1 record"),
        ("a;b\n1;2\n3;4\n", {}, r"one column when split at ','; did you mean delimiter=';'\?"),
        ("a;b\n1,5;2\n3,4;4\n", {}, "did you mean delimiter=';'"),
        ("a\tb\n1\t2\n3\t4\n", {}, r"did you mean delimiter='\\t'"),
        ("a,b\n1,2\n3,4\n", {"delimiter": ";"}, "did you mean delimiter=','"),
        ("a,x;b\n1;2\n3;4\n", {}, "row 1: number of cells is 1, but the header names 2 .*did you mean delimiter=';'"),
        ("a,b\n1,2\n", {"delimiter": ";;"}, "delimiter must be a single character"),
        ("a,b\n1,2\n", {"decimal": ""}, "decimal must be a single character"),
        ("a,b\n1,2\n", {"decimal": ",", "thousands": ","}, "decimal and thousands are both ','"),
        ("a,b\n1,2\n", {"chunksize": 0}, "chunksize must be at least 1"),
        ("a,b,a\n1,2,3\n4,5,6\n", {}, r"column name 'a' occurs twice \(again at column 3\)"),
        ("a,,c\n1,2,3\n4,5,6\n", {}, "column 2 has no name .*index=False"),
        ("a,b\n1,2\n3,4,5\n", {}, "row 2: number of cells is 3, but the header names 2 columns"),
        ("a,b\n1,2,3\n3,4,5\n", {}, "row 1: number of cells is 3"),
        ("a,b\n1,2,\n3,4,\n", {}, "row 1: number of cells is 3"),
        ("a,b\n1,2\n3\n", {}, "row 2: number of cells is 1"),
        ("a,b\n1,2\n3\n", {"missing": "drop"}, "row 2: number of cells is 1"),
        ("a,b\n1,x\n3\n", {"na_values": ()}, "row 2: number of cells is 1"),
        ('a,b\n1,"x\n3,4\n', {}, "quotation mark left open"),
        ("a,b\nx,1\ny,é\n".encode("latin-1"), {}, r"not utf-8: byte 0xe9 at position 10 \(row 2, column 'b'\); try"),
        ("a,é\nx,1\ny,2\n".encode("latin-1"), {}, r"not utf-8: byte 0xe9 at position 2 \(column name 2\)"),
        ("a,b\nx,1\ny,é\n".encode("utf-16"), {}, "not utf-8 but UTF-16"),
        ("a,b\nx,1\ny,é\n".encode(), {"encoding": "ascii"}, "not ascii: byte 0xc3 at position 10"),
        ("a,b\nx,1\ny,2\n", {"encoding": "utf8x"}, "unknown encoding 'utf8x'"),
        ("a,b\nx,1\ny,2\n", {"encoding": "base64"}, "unknown encoding 'base64'"),
        (b"PK\x03\x04\xff\xfe", {}, "damaged zip file"),
        (b"\x1f\x8b\x08\xff", {}, "damaged packed file"),
        ("a,b\n" + "x" * 200_000 + ",2\n3,4\n", {}, "field larger than field limit"),
        ('a,b\n"1,234",x\n5,y\n', {}, r"column 'a' looks numeric .*first in row 1\); give thousands="),
        ("a;b\n5;x\n1,5;y\n", {"delimiter": ";"}, r"column 'a' looks numeric .*first in row 2\); give .*decimal="),
        ("a,b\n1,2\nx,3\n3,4\n", {}, "column 'a' mixes numbers and text: row 2 is not a number, as are 1 of 3 cells"),
        ("a,b\n1,2\n-,3\n3,4\n", {"na_values": ()}, "column 'a' mixes numbers and text: row 2"),
        ("a,b\n1,2\ninf,3\n3,4\n", {}, "column 'a', row 2: the value is infinite"),
        ("a,b\n1,2\n-1e999,3\n3,4\n", {}, "column 'a', row 2: the value is infinite"),
        ("a,b\n1,2\n1e308,3\n3,4\n", {}, r"column 'a', row 2: the number is beyond 1e\+150.*na_values"),
        ("a,b\n1,2\n４２,3\n3,4\n", {}, "'a' mixes numbers and text: row 2 is not a number, as are 1 of 3.*na_values"),
        ("a,b\n1,2\n٤٢,3\n3,4\n", {}, "'a' mixes numbers and text: row 2 is not a number"),
        (f"a,b\n1,2\n{'1' * 30},3\n3,4\n", {}, "'a' mixes numbers and text: row 2 has more than 18 digits"),
        (f"a,b\n1,2\n3,4\n-{'1' * 400},3\n", {}, "'a' mixes numbers and text: row 3 has more than 18 digits"),
        ("a,b\n1,2\n1\u00a0234,3\n3,4\n", {}, r"'a' looks numeric .*first in row 2\); give thousands="),
        ("a,b\n1,2\n1\u202f234,3\n3,4\n", {}, r"'a' looks numeric .*first in row 2\); give thousands="),
        ("a,b\n1,2\nnan,3\n3,4\n", {}, "column 'a' has missing values in 1 of 3 rows, first in row 2"),
        ("a,b\nx,2\n1,3\ny,4\n", {"kinds": {"a": "numeric"}}, r"'a' is declared numeric, but row 1 .*\(2 such rows\)"),
        ("a;b\n5;x\n1,5;y\n1,234;y\n", {"delimiter": ";"}, r"give decimal=',' to from_csv"),
        ("a;b\n5;x\n1.234,5;y\n1.234;y\n", {"delimiter": ";"}, r"give thousands='\.' and decimal=',' to from_csv"),
        ("a;b\n5;x\n1,234;y\n12,345;y\n", {"delimiter": ";"}, "give thousands= or decimal= to from_csv"),
        ('a,b\n"1,234",2\n5,3\n', {"kinds": {"a": "numeric"}}, "written with separators"),
        ("a,b\n1,2\n3,4\n", {"quasi_identifiers": ["c"]}, "quasi_identifiers names a column 'c'"),
        ("age,b\n1,2\n3,4\n", {"kinds": {"agee": "numeric"}}, "did you mean 'age'"),
        ("a,b\n1,2\n1,4\n", {"quasi_identifiers": "a"}, "quasi-identifier 'a' has the same value from row 1 to row 2"),
    ],
)
def test_files_refused(read: Reader, content: str | bytes, options: dict[str, Any], message: str) -> None:
    with pytest.raises(SDCError, match=message):
        read(content, **options)


def test_places_refused(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("a\n1\n2\n")
    with pytest.raises(SDCError, match=r"there is no file .*peple\.csv; did you mean 'people\.csv'"):
        Microdata.from_csv(tmp_path / "peple.csv")
    with pytest.raises(SDCError, match="there is no file"):
        Microdata.from_csv(tmp_path / "nowhere" / "people.csv")
    with pytest.raises(SDCError, match="cannot read"):
        Microdata.from_csv(tmp_path)


def test_a_bad_byte_far_into_the_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    good = b"name,n\n" + b"".join(b"p%d,%d\n" % (i, i) for i in range(3000))
    path.write_bytes(good + b"caf\xe9,7\n")
    with pytest.raises(SDCError, match=rf"byte 0xe9 at position {len(good) + 3} \(row 3001, column 'name'\)"):
        Microdata.from_csv(path, chunksize=100)


def test_unknown_options_are_type_errors(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="quasi_identifier"):
        Microdata.from_csv(tmp_path / "a.csv", quasi_identifier=["a"])  # type: ignore[call-arg]


# --------------------------------------------------------------------------- public files


def test_adult(public: Callable[[str], Path]) -> None:
    path = public("adult.csv")
    roles = {"quasi_identifiers": ["age", "workclass", "education", "sex"], "sensitive": ["occupation"]}
    everything = pd.read_csv(path, na_values="?")
    named = Microdata.from_csv(path, missing="drop", chunksize=5000, **roles)
    assert len(named) == len(everything.dropna(subset=[*roles["quasi_identifiers"], *roles["sensitive"]])) == 30_718
    roles["quasi_identifiers"].append("native-country")
    data = Microdata.from_csv(path, missing="drop", chunksize=5000, **roles)
    assert (data.n_records, data.n_dropped) == (30_162, 32_561 - 30_162)
    pd.testing.assert_frame_equal(data.frame(), everything.dropna().reset_index(drop=True))
    with pytest.raises(SDCError, match="column 'workclass' has missing values in 1836 of 32561 rows, first in row 28"):
        Microdata.from_csv(path)
    assert Microdata.from_csv(path, missing="category", **roles).attribute("workclass").labels[-1] == "?"


@pytest.mark.parametrize("name", ["census", "tarragona", "eia", "german_credit", "solar_flare", "pima_diabetes"])
def test_public_files_agree_with_pandas(public: Callable[[str], Path], name: str) -> None:
    path = public(f"{name}.csv")
    data = Microdata.from_csv(path, chunksize=500)
    pd.testing.assert_frame_equal(data.frame(), pd.read_csv(path, keep_default_na=False))
    if name in ("census", "tarragona"):
        z = data.z_scores(data.names)
        np.testing.assert_allclose(z.std(axis=0), 1)


@pytest.mark.parametrize("mark", ["5", "e", "-", "+", '"', "\n", "\0"])
@pytest.mark.parametrize("option", ["delimiter", "decimal", "thousands"])
def test_a_mark_that_is_part_of_numbers_or_lines(option: str, mark: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(SDCError, match=f"{option} cannot be"):
        Microdata.from_csv(path, **{option: mark})


@pytest.mark.parametrize("cell", ['"100"5', '"100" 5', '"a""b"c', '"x\ny"z'])
def test_text_behind_a_quotation_mark_is_refused(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n1,2\n3,{cell}\n5,6\n")
    with pytest.raises(SDCError, match=r"row 2: text follows the closing quotation mark"):
        Microdata.from_csv(path)


@pytest.mark.parametrize(
    ("cell", "value"), [('"100" ', "100"), ('"a""b" ', 'a"b'), ('6" x 4', '6" x 4'), ('"a ""x"" , b"', 'a "x" , b')]
)
def test_quotation_marks_that_do_no_harm(cell: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n{cell},2\nx y,3\n")
    assert value in Microdata.from_csv(path, kinds={"a": "nominal"}).attribute("a").labels


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        (["31.12.2023", "01.02.2024", "15.01.2024"], "ordinal"),
        (["2023-12-31", "2024-02-01", "2024-01-15"], "ordinal"),
        (["12/31/2023", "02/01/2024", "01/15/2024"], "ordinal"),
        (["01/02/2024", "02/03/2023", "03/04/2023"], "nominal"),  # day and month cannot be told apart
        (["31.12.2023", "01.02.2024", "unknown"], "nominal"),
    ],
)
def test_dates_are_in_the_order_of_time(tmp_path: Path, written: list[str], kind: str) -> None:
    (tmp_path / "t.csv").write_text("admitted\n" + "".join(f"{text}\n" for text in written))
    data = Microdata.from_csv(tmp_path / "t.csv")
    assert data.attribute("admitted").kind.value == kind
    in_time = [written[0], written[2], written[1]] if kind == "ordinal" else sorted(written)
    assert list(data.categories("admitted")) == in_time
    assert data.frame()["admitted"].tolist() == written
    assert Microdata.from_csv(tmp_path / "t.csv", kinds={"admitted": "nominal"}).attribute("admitted").kind == "nominal"


def test_rows_are_told_while_they_are_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f'{i},"x {i % 3}"\n' for i in range(10)))
    told: list[tuple[str, int, int]] = []
    with listening(lambda *said: told.append(said)):
        Microdata.from_csv(tmp_path / "t.csv", chunksize=4)
    assert told == [("rows read", 4, 10), ("rows read", 8, 10), ("rows read", 10, 10)]

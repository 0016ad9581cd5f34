"""Order of released rows: secret, the same for the same seed, and written for the holder of the data alone."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import Microdata, SDCError
from sdc_problems.studies.cli import cli
from sdc_problems.studies.release import protect, release
from sdc_problems.studies.release.row_order import RowOrder, content_words, read_rows, rows_file, rows_of
from sdc_problems.studies.store.reader import Run

STUDY = """
[data]
file = "mine.csv"
quasi_identifiers = ["age", "town"]
sensitive = ["ill"]
identifiers = ["name"]
missing = "drop"
[data.hierarchies]
age = {intervals = [5, 10, 20]}
town = {suppression = true}
[problem]
task = "pbg"
max_suppression = 5
[algorithm]
name = "NSGA2"
pop_size = 6
start = "baselines"
[termination]
generations = 2
"""
COLUMNS = ("--quasi-identifiers", "age,town", "--sensitive", "ill", "--identifiers", "name")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Two hundred people of whom six have no town."""
    rng = np.random.default_rng(3)
    towns = rng.choice(["Olot", "Reus", "Vic"], 200).astype(object)
    towns[[3, 9, 60, 130]] = "Isla"  # rare: a baseline suppresses them
    towns[[0, 7, 50, 51, 120, 199]] = ""
    frame = pd.DataFrame({
        "name": [f"person {i}" for i in range(200)],
        "age": rng.integers(20, 60, 200),
        "town": towns,
        "ill": rng.choice(["yes", "no"], 200),
    })  # fmt: skip
    frame.to_csv(tmp_path / "mine.csv", index=False)
    return tmp_path / "mine.csv"


@pytest.fixture
def run(people: Path, sdc: Callable[..., Any]) -> Path:
    (people.parent / "study.toml").write_text(STUDY)
    sdc("run", people.parent / "study.toml", "--out", people.parent / "run", "--no-pictures")
    return people.parent / "run"


def suppressing(run: Path) -> str:
    """A solution that leaves records out."""
    with Run(run) as opened:
        ids = opened.baselines().ids
    return next(name for name in ids if "Datafly" in name)


def test_a_default_release_is_evaluated_with_nothing_said(run: Path, people: Path, sdc: Callable[..., Any]) -> None:
    """Records with gaps and suppressed ones are left out, the rest is shuffled: the rows file pairs them."""
    out = people.with_name("out.csv")
    sdc("release", run, "--solution", suppressing(run), "--out", out)
    original, after = pd.read_csv(people, dtype=str), pd.read_csv(out, dtype=str)
    assert len(after) < 194
    assert stat.S_IMODE(out.with_name("out.csv.rows.csv").stat().st_mode) == 0o600
    rows = read_rows(out.with_name("out.csv.rows.csv"), out)
    assert not set(rows) & {0, 7, 50, 51, 120, 199}
    assert (original["ill"].to_numpy()[rows] == after["ill"].to_numpy()).all()
    assert not np.array_equal(rows, np.sort(rows)), "row number n is not the n-th record"
    certificate = json.loads(out.with_name("out.csv.certificate.json").read_text())
    assert certificate["output"]["row_order"] == "shuffled"
    assert "The rows are shuffled" in " ".join(certificate["what_was_done"])
    said = json.loads(sdc("evaluate", people, out, *COLUMNS, "--missing", "drop", "--json").out)
    assert said["measures"] == certificate["measured_in_the_file"]["measures"]
    assert said["suppressed"] == 194 - len(after)
    every = json.loads(sdc("evaluate", people, out, *COLUMNS, "--json").out)  # gaps are a category: six more left out
    assert (every["records"], every["suppressed"]) == (200, 200 - len(after))


@pytest.mark.parametrize("missing", ["category", "drop"])
def test_a_default_protect_is_evaluated_with_nothing_said(people: Path, sdc: Callable[..., Any], missing: str) -> None:
    out = people.with_name("out.csv")
    more = ("--sensitive", "ill", "--identifiers", "name", "--missing", missing)
    sdc("protect", people, "--method", "mondrian", "--k", 4, "--columns", "age,town", *more, "--out", out)
    found = json.loads(out.with_name("out.csv.certificate.json").read_text())["measured_in_the_file"]
    said = json.loads(sdc("evaluate", people, out, *COLUMNS, "--missing", missing, "--json").out)
    assert said["measures"] == found["measures"]
    assert said["records"] == {"category": 200, "drop": 194}[missing]


def test_the_same_seed_gives_the_same_bytes_and_no_two_files_share_an_order(people: Path, tmp_path: Path) -> None:
    data = Microdata.from_csv(
        people, quasi_identifiers=["age"], sensitive=["ill"], identifiers=["name"], missing="drop"
    )

    def bytes_of(name: str, **options: Any) -> tuple[bytes, bytes]:
        done = protect(data, tmp_path / name, **({"k": 3, "method": "mdav"} | options))
        assert done.places is not None
        assert done.rows is not None
        return done.places.file.read_bytes(), done.rows.read_bytes()

    first, again = bytes_of("a.csv", rows_seed=5), bytes_of("b.csv", rows_seed=5)
    assert first == again
    assert bytes_of("c.csv")[0] != bytes_of("d.csv")[0], "drawn anew"
    kept = bytes_of("c.csv", overwrite=True)
    assert kept == bytes_of("c.csv", overwrite=True), "the mapping that is replaced keeps the seed"
    orders = [read_rows(tmp_path / f"{n}.csv.rows.csv", tmp_path / f"{n}.csv") for n in ("a", "c")]
    assert not np.array_equal(*orders)
    bytes_of("e.csv", rows_seed=5, k=4)
    other = read_rows(tmp_path / "e.csv.rows.csv", tmp_path / "e.csv")
    assert not np.array_equal(orders[0], other), "another protection under the same seed has another order"
    assert bytes_of("f.csv", method="ga", epochs=30, seed=9) == bytes_of("g.csv", method="ga", epochs=30, seed=9)
    assert '"seed": 9' not in (tmp_path / "f.csv.certificate.json").read_text(), "it orders the rows: a secret"
    with pytest.raises(SDCError, match="--rows-seed"):
        protect(data, tmp_path / "x.csv", k=3, rows_seed=5, keep_order=True)


def test_a_second_release_has_the_same_order_unless_another_is_asked_for(run: Path, tmp_path: Path) -> None:
    ident = suppressing(run)
    first = release(run, ident, tmp_path / "out.csv")
    before = first.file.read_bytes()
    assert release(run, ident, tmp_path / "out.csv", overwrite=True).file.read_bytes() == before
    seed = pd.read_csv(first.mapping, dtype=str).set_index("column")["released"]["(rows seed)"]
    assert seed not in first.certificate.read_text()
    assert release(run, ident, tmp_path / "again.csv", rows_seed=int(seed)).file.read_bytes() == before
    assert release(run, ident, tmp_path / "other.csv").file.read_bytes() != before
    with Run(run) as opened:
        front = opened.front().ids
    release(run, next(i for i in front if i != ident), tmp_path / "out.csv", overwrite=True, override="a test")
    now = pd.read_csv(first.mapping, dtype=str).set_index("column")["released"]["(rows seed)"]
    assert now != seed, "another solution is not ordered by the same seed"


def test_the_order_is_kept_and_the_rows_file_left_out_when_that_is_asked_for(
    people: Path, run: Path, sdc: Callable[..., Any]
) -> None:
    out = people.with_name("out.csv")
    sdc("release", run, "--solution", suppressing(run), "--out", out, "--keep-order", "--no-rows")
    assert not out.with_name("out.csv.rows.csv").exists()
    certificate = json.loads(out.with_name("out.csv.certificate.json").read_text())
    assert certificate["output"]["row_order"] == "as in the original"
    assert "can link every record by its row number" in " ".join(certificate["what_was_done"])
    assert "--keep-order" in certificate["reproduce"][1]
    assert "(rows seed)" not in out.with_name("out.csv.mapping.csv").read_text()
    after = pd.read_csv(out, dtype=str)
    sdc("release", run, "--solution", suppressing(run), "--out", out, "--keep-order", "--overwrite")
    rows = read_rows(out.with_name("out.csv.rows.csv"), out)
    assert np.array_equal(rows, np.sort(rows))
    original = pd.read_csv(people, dtype=str)
    assert (original["ill"].to_numpy()[rows] == after["ill"].to_numpy()).all()
    sdc("release", run, "--solution", suppressing(run), "--out", out, "--no-rows", "--overwrite")
    assert not out.with_name("out.csv.rows.csv").exists(), "that of the file before would pair the wrong rows"


def test_guarantees_are_counted_in_the_shuffled_file(people: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """A shuffle that tears columns apart is found out, as what was not to change has changed."""
    data = Microdata.from_csv(
        people, quasi_identifiers=["age"], sensitive=["ill"], identifiers=["name"], missing="drop"
    )
    honest = pd.DataFrame.iloc.fget  # type: ignore[attr-defined]

    class Torn:
        def __init__(self, frame: pd.DataFrame) -> None:
            self.frame = frame

        def __getitem__(self, at: Any) -> Any:
            found = honest(self.frame)[at]
            if isinstance(found, pd.DataFrame) and "ill" in found:
                found = found.assign(ill=np.roll(found["ill"].to_numpy(), 1))
            return found

    def torn(self: RowOrder, frame: pd.DataFrame) -> Any:
        monkeypatch.setattr(pd.DataFrame, "iloc", property(Torn))
        return np.arange(len(frame))[::-1].copy()

    monkeypatch.setattr(RowOrder, "places", torn)
    with pytest.raises(Exception, match="changed elsewhere"):
        protect(data, tmp_path / "out.csv", k=3)
    monkeypatch.undo()
    assert not (tmp_path / "out.csv").exists()


# ------------------------------------------------------------------ rows files


@given(st.permutations(range(12)), st.integers(0, 11))
def test_a_rows_file_is_read_as_it_was_written(order: list[int], kept: int) -> None:
    records = np.array(order[: kept + 1], dtype=np.int64)
    digest = hashlib.sha256(b"file").hexdigest()
    content = rows_file(records, digest)
    assert np.array_equal(rows_of(content, "x", digest), records)
    assert np.array_equal(rows_of(content.replace(b"\n", b"\r\n"), "x", digest), records)
    own = b"\n".join([content.split(b"\n")[0], *content.split(b"\n")[2:]])
    assert np.array_equal(rows_of(b"\xef\xbb\xbf" + own, "x", "of another file"), records)


GOOD = rows_file(np.array([2, 0, 1]), "digest").decode()
OWN = "released,original\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOOD.replace("1,3", "1,4"), "does not fit the protected file: one of them was edited"),
        (GOOD.replace("2,1\n", ""), "does not fit the protected file"),
        (rows_file(np.array([2, 0, 1]), "other").decode(), "belongs to another release"),
        ("", "its first line is not 'released,original'"),
        ("a,b\n1,2\n", "its first line is not"),
        ("\x00\xff", "its first line is not"),
        (OWN + "1,2\n2,x\n", "line 3 is not a row of the protected file and one of the original"),
        (OWN + "1,2\n2,1e3\n", "line 3"),
        (OWN + "1,2\n\n", "line 3"),
        (OWN + "1,2\n2," + "9" * 30 + "\n", "line 3"),
        (OWN + "1,2\n1,3\n", "from 1 to 2, each once"),
        (OWN + "1,2\n3,3\n", "from 1 to 2, each once"),
        (OWN + "1,2\n2,2\n", "names a record of the original twice"),
        (OWN + "1,2\n2,0\n", "or a record below 1"),
    ],
)
def test_a_wrong_rows_file_is_refused(text: str, says: str) -> None:
    with pytest.raises(SDCError) as error:
        rows_of(text.encode("latin-1"), "out.csv.rows.csv", "digest")
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: lines[:-1], "the rows file has 199 rows, and the protected file has 200"),
        (lambda lines: [*lines[:-1], "200,201"], "names record 201 of an original that has 200"),
    ],
)
def test_rows_that_fit_no_file_are_refused(
    people: Path, sdc: Callable[..., Any], change: Callable[[list[str]], list[str]], says: str
) -> None:
    out, rows = people.with_name("out.csv"), people.with_name("own.csv")
    how = ("--method", "recode-intervals", "--bins", 4, "--columns", "age", "--identifiers", "name,town,ill")
    sdc("protect", people, *how, "--out", out)
    lines = ["released,original", *(f"{i},{i}" for i in range(1, 201))]
    rows.write_text("\n".join(change(lines)) + "\n")
    pair = ("evaluate", people, out, "--quasi-identifiers", "age", "--identifiers", "name,town,ill", "--rows")
    assert says in sdc(*pair, rows, code=2).err
    assert "cannot read the rows file" in sdc(*pair, people.with_name("none.csv"), code=2).err


@pytest.mark.parametrize("there", ["folder", "nothing"])
@pytest.mark.parametrize("beside", ["rows", "folders", "nothing"])
def test_what_is_no_protected_file_is_one_sentence(tmp_path: Path, there: str, beside: str) -> None:
    (tmp_path / "in.csv").write_text("age\n1\n2\n")
    out = tmp_path / "out.csv"
    if there == "folder":
        out.mkdir()
    for name in ("rows.csv", "certificate.json"):
        place = tmp_path / f"out.csv.{name}"
        if beside == "folders":
            place.mkdir()
        elif beside == "rows":
            place.write_text("released,original\n1,1\n2,2\n")
    result = CliRunner().invoke(cli, ["evaluate", str(tmp_path / "in.csv"), str(out), "--quasi-identifiers", "age"])
    assert isinstance(result.exception, SDCError), result.exception
    assert "\n" not in str(result.exception)
    assert "out.csv" in str(result.exception)


def test_a_large_rows_file_is_written_and_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    from sdc_problems.studies.release import row_order

    records = np.random.default_rng(1).permutation(500).astype(np.int64)
    whole = rows_file(records, "0" * 64)
    monkeypatch.setattr(row_order, "_LINES", 7)
    monkeypatch.setattr(row_order, "_BYTES", 11)
    assert rows_file(records, "0" * 64) == whole
    fast = row_order._as_written(whole, "0" * 64)
    assert fast is not None
    assert fast.tolist() == row_order._table(whole, "rows.csv", "0" * 64).tolist()
    assert rows_of(whole, "rows.csv", "0" * 64).tolist() == records.tolist()


@pytest.mark.parametrize("body", ["1,2,3\n4\n", "1,2\n\n3,4\n", "1,2", ",1\n", "1 ,2\n"])
def test_a_rows_file_that_is_odd_is_read_line_by_line(body: str) -> None:
    from sdc_problems.studies.release import row_order

    content = f"released,original\n(check),{row_order._check(body.encode(), '0' * 64)}\n{body}".encode()
    assert row_order._as_written(content, "0" * 64) is None


def test_the_order_of_the_rows_is_that_of_former_versions() -> None:
    frame = pd.DataFrame({"age": [34, 51, 34], "town": ["Olot", "Reus", None], "paid": [0.5, 1e16, 2.0]})
    assert content_words(frame) == [
        2249673748,
        1788689934,
        2136655189,
        3820242601,
        4126159227,
        3310438094,
        2210751392,
        1694881778,
    ]

"""The publishers' formats, the canonical table and its digest."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems._sources.catalogue import SOURCES
from sdc_problems._sources.parsers import (
    Table,
    canonical,
    parse_adult_test,
    parse_blank_separated,
    parse_comma_separated,
    parse_solar_flare,
    read_csv,
)
from sdc_problems.errors import SDCError


def write(folder: Path, text: str, name: str = "raw.data") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_adult_data_has_blanks_question_marks_and_a_last_empty_line(tmp_path: Path) -> None:
    path = write(tmp_path, "39, State-gov, 77516, <=50K\n54, ?, 180211, >50K\n\n")
    table = parse_comma_separated([path], ("age", "workclass", "fnlwgt", "income"))
    assert table.rows == [["39", "State-gov", "77516", "<=50K"], ["54", "", "180211", ">50K"]]


def test_adult_test_has_a_remark_and_full_stops(tmp_path: Path) -> None:
    path = write(tmp_path, "|1x3 Cross validator\r\n25, Private, <=50K.\r\n38, Private, >50K.\r\n")
    assert parse_adult_test([path], ("age", "workclass", "income")).rows == [
        ["25", "Private", "<=50K"],
        ["38", "Private", ">50K"],
    ]


def test_german_data_is_separated_by_blanks(tmp_path: Path) -> None:
    path = write(tmp_path, "A11 6 A34 1169 \nA12 48 A32 5951\n")
    table = parse_blank_separated([path], ("checking_status", "duration", "credit_history", "credit_amount"))
    assert table.rows == [["A11", "6", "A34", "1169"], ["A12", "48", "A32", "5951"]]


def test_solar_flare_joins_two_files_that_begin_with_a_remark(tmp_path: Path) -> None:
    first = write(tmp_path, "*** a\nC S O 1\nD S O 1\n", "flare.data1")
    second = write(tmp_path, "three words and a remark\nH A X 1\n", "flare.data2")
    bare = write(tmp_path, "B X O 2\n", "flare.data3")
    table = parse_solar_flare([first, second, bare], ("class", "size", "distribution", "activity"))
    assert table.rows == [["C", "S", "O", "1"], ["D", "S", "O", "1"], ["H", "A", "X", "1"], ["B", "X", "O", "2"]]


def test_water_treatment_spells_numbers_in_its_own_way(tmp_path: Path) -> None:
    path = write(tmp_path, "D-1/3/90,44101,1.50,?\n")
    assert parse_comma_separated([path], ("date", "Q-E", "ZN-E", "DBO-E")).rows == [["D-1/3/90", "44101", "1.5", ""]]


@pytest.mark.parametrize(
    ("parse", "text"),
    [(parse_comma_separated, "1,2\n3\n"), (parse_blank_separated, "1 2\n3 4 5\n"), (parse_solar_flare, "1 2\n\n3\n")],
)
def test_a_ragged_line_is_named(parse: Callable[..., Table], text: str, tmp_path: Path) -> None:
    with pytest.raises(SDCError, match=r"raw\.data, line [23]: [13] values where 2 are expected"):
        parse([write(tmp_path, text)], ("a", "b"))


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_a_file_without_records_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(SDCError, match="holds no records"):
        parse_comma_separated([write(tmp_path, text)], ("a", "b"))


def test_csv_quotes_byte_order_mark_and_line_ends(tmp_path: Path) -> None:
    path = write(tmp_path, '\ufeff"a", b\r\n"Poudre Valley R E A, Inc",1.0\r\n\r\n')
    assert read_csv(path, ("a", "b")).rows == [["Poudre Valley R E A, Inc", "1"]]


def test_csv_needs_the_right_header(tmp_path: Path) -> None:
    with pytest.raises(SDCError, match="first row must name the columns a, b"):
        read_csv(write(tmp_path, "b,a\n1,2\n"), ("a", "b"))
    with pytest.raises(SDCError, match="holds no records"):
        read_csv(write(tmp_path, "a,b\n"), ("a", "b"))


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "raw.data").write_bytes(b"a,\xff\n")
    with pytest.raises(SDCError, match=r"raw\.data is not UTF-8 text \(byte 2\)"):
        read_csv(tmp_path / "raw.data", ("a", "b"))
    with pytest.raises(SDCError, match="cannot read"):
        read_csv(tmp_path / "absent.csv", ("a", "b"))


@given(
    st.one_of(st.text(max_size=12), st.integers().map(str), st.floats(allow_nan=False, allow_infinity=False).map(str))
)
def test_canonical_is_its_own_canonical_form(cell: str) -> None:
    assert canonical(canonical(cell)) == canonical(cell)


@given(st.integers(-(10**6), 10**6), st.integers(0, 5))
def test_numbers_have_one_spelling(number: int, zeros: int) -> None:
    assert canonical(f"{number}.{'0' * zeros}") == canonical(f" {number} ") == str(number)


def test_digest_separates_what_differs_and_joins_what_does_not() -> None:
    tables = [
        Table(("a", "b"), [["1", "2"]]),
        Table(("a", "b"), [["12", ""]]),
        Table(("a", "b"), [["1", ""], ["2", ""]]),
        Table(("a", "b"), [["1", "2"], ["1", "2"]]),
        Table(("ab", ""), [["1", "2"]]),
    ]
    assert len({table.digest() for table in tables}) == len(tables)
    text = Table(("a", "b"), [['say "x", y', ""]]).to_csv()
    assert list(csv.reader(io.StringIO(text))) == [["a", "b"], ['say "x", y', ""]]


def raw_files(name: str, table: Table) -> dict[str, str]:
    """The published table in the publisher's own format, as that publisher writes it."""
    source = SOURCES[name]
    rows = [[cell or "?" for cell in row] for row in table.rows]
    if name == "adult":
        return {"adult.data": "".join(", ".join(row) + "\n" for row in rows) + "\n"}
    if name == "adult_test":
        return {"adult.test": "|1x3 Cross validator\n" + "".join(", ".join(row) + ".\n" for row in rows)}
    if name == "german_credit":
        return {"german.data": "".join(" ".join(row) + " \n" for row in rows)}
    if name == "solar_flare":
        lines = [" ".join(row) + "\n" for row in rows]
        return {
            "flare.data1": "*** remark\n" + "".join(lines[:323]),
            "flare.data2": "*** remark\n" + "".join(lines[323:]),
        }
    return {source.raw[0]: "".join(",".join(row) + "\n" for row in rows)}


@pytest.mark.parametrize("name", [name for name, source in SOURCES.items() if source.raw])
def test_a_whole_file_in_the_publishers_format_has_the_same_digest(
    name: str, public: Callable[[str], Path], tmp_path: Path
) -> None:
    source = SOURCES[name]
    table = read_csv(public(source.csv), source.columns)
    files = raw_files(name, table)
    assert tuple(files) == source.raw
    parsed = source.parse([write(tmp_path, text, file) for file, text in files.items()], source.columns)
    assert parsed.digest() == table.digest() == source.digest


@pytest.mark.parametrize("name", list(SOURCES))
def test_the_public_file_fulfils_the_digest(name: str, public: Callable[[str], Path]) -> None:
    source = SOURCES[name]
    table = read_csv(public(source.csv), source.columns)
    assert (len(table.rows), table.digest()) == (source.rows, source.digest)
    if source.edges is not None:
        file, digest, count, _ = source.edges
        edges = read_csv(public(file), ("source", "target"))
        assert (len(edges.rows), edges.digest()) == (count, digest)

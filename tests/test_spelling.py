"""Spelling of numbers: what is kept of the texts of a CSV file gives every one of them back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sdc_problems import Microdata
from sdc_problems._tables.coded import coded_frame
from sdc_problems._tables.columns import parse_numbers
from sdc_problems._tables.spelling import MOST_FORMS, Speller, Spelling, spelled
from sdc_problems.studies.release.csv_text import Form, to_csv, write_csv

WRITTEN = ["1.50", "1.5", "-0.0", "1e3", "+2", "2.", ".5", "-.25", "1E+03", "007", "-07", "12345678901234567", "0.1"]


def spelling_of(
    texts: list[str], decimal: str = ".", thousands: str | None = None, at_once: int = 3
) -> Spelling | None:
    """Spelling of texts that are read a few at a time."""
    speller, numbers = Speller(decimal, thousands), []
    for low in range(0, len(texts), at_once):
        part = texts[low : low + at_once]
        parsed = parse_numbers(part, decimal=decimal, thousands=thousands, codes_too=True)
        assert parsed is not None
        speller.add(np.arange(len(part)), range(len(part)), part, parsed)
        numbers.append(parsed)
    return speller.finish(whole=np.concatenate(numbers).dtype.kind == "i")


def said(texts: list[str], decimal: str = ".", thousands: str | None = None) -> list[str]:
    """The texts as their spelling says them."""
    found = spelling_of(texts, decimal, thousands)
    numbers = parse_numbers(texts, decimal=decimal, thousands=thousands, codes_too=True)
    assert numbers is not None
    if found is None:
        return [str(number).replace(".", decimal) for number in numbers.tolist()]
    forms = [0] * len(texts) if found.codes is None else found.codes.tolist()
    numbers = numbers + 0.0 if numbers.dtype.kind == "f" else numbers  # no -0.0, as in a table
    return [found.text(x, found.forms[i]) for x, i in zip(numbers.tolist(), forms, strict=True)]


@example(["+2", "12345678901234567"])  # integers that no float is
@example(["1.50", "1.50", "1.50", "12345678901234567"])  # one that is read apart from those that are not whole
@given(st.lists(st.sampled_from(WRITTEN), min_size=1))
def test_texts_come_back(texts: list[str]) -> None:
    assert said(texts) == texts


@given(st.lists(st.decimals(-(10**6), 10**6, places=2), min_size=1), st.sampled_from([(",", "."), (".", "'")]))
def test_texts_with_marks_come_back(numbers: list[object], marks: tuple[str, str]) -> None:
    decimal, thousands = marks
    texts = [f"{x:,.2f}".translate({ord("."): decimal, ord(","): thousands}) for x in numbers]
    assert said(texts, decimal, thousands) == texts


@pytest.mark.parametrize(
    ("texts", "forms"),
    [
        (["1", "23", "-4"], None),
        (["0.5", "1.25", "1e+16"], None),
        (["1.50", "2.00", "3.25", "4.75"], (".2f",)),
        (["007", "012", "123"], ("03d",)),
        ([".50", ".25"], ("~.2f",)),
        (["1.5e+00", "2.5e-01"], (".1e",)),
        (["1.5", "1.50"], (".1f", ".2f")),
    ],
)
def test_a_column_that_is_written_in_one_form_needs_no_form_per_cell(
    texts: list[str], forms: tuple[str, ...] | None
) -> None:
    found = spelling_of(texts, at_once=2)
    assert (None if found is None else found.forms) == forms
    assert found is None or (found.codes is None) == (len(found.forms) == 1)


def test_too_many_forms_are_not_kept() -> None:
    odd = [f"0.{i:04d}1234567890123456789" for i in range(MOST_FORMS + 2)]  # longer than a float
    assert spelling_of(odd, at_once=7) is None
    assert spelling_of(odd[:MOST_FORMS]) is not None


def test_spelling_is_no_part_of_a_table_and_follows_its_records(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1.5,a\n1.50,\n2.0,b\n1.5,b\n")
    (tmp_path / "b.csv").write_text("x,y\n1.5,a\n1.5,\n2.0,b\n1.5,b\n")
    first, second = (
        Microdata.from_csv(tmp_path / f"{name}.csv", missing="drop", quasi_identifiers=["y"]) for name in "ab"
    )
    assert (
        first.digest
        == Microdata.from_csv(tmp_path / "b.csv", missing="drop", quasi_identifiers=["y"], chunksize=1).digest
    )
    assert second.attribute("x").spelling is None
    whole = Microdata.from_csv(tmp_path / "a.csv", missing="category")
    some = whole.take([1, 3])
    spelling = some.attribute("x").spelling
    assert spelling is not None
    assert spelling.codes is not None
    assert [spelling.forms[i] for i in spelling.codes] == [".2f", ".1f"]


def test_changed_numbers_get_the_form_that_all_had_where_it_is_exact(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x;y\n1,50;007\n2,25;012\n3,00;011\n")
    data = Microdata.from_csv(tmp_path / "a.csv", delimiter=";", decimal=",", kinds={"y": "numeric"})
    frame = coded_frame(data).iloc[[1, 2, 0]].reset_index(drop=True)

    def written(table: object) -> str:
        pieces: list[bytes] = []
        as_read = spelled(data, table, data.rows, decimal=",")  # type: ignore[arg-type]
        write_csv(table, pieces.append, form=Form(";", decimal=","), as_read=as_read)  # type: ignore[arg-type]
        return b"".join(pieces).decode()

    assert written(frame) == "x;y\n2,25;012\n3,00;011\n1,50;007\n"
    means = frame.assign(x=frame["x"] / 3)
    assert written(means) == "x;y\n0,75;012\n1,00;011\n0,50;007\n"
    means = frame.assign(x=frame["x"] / 7)
    assert written(means) == "x;y\n0,32142857142857145;012\n0,42857142857142855;011\n0,21428571428571427;007\n"
    assert to_csv(frame, form=Form(";", decimal=",")) == b"x;y\n2,25;12\n3,0;11\n1,5;7\n"  # of no original


def test_an_empty_thousands_mark_is_none(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n1.50\n2.25\n")
    data = Microdata.from_csv(tmp_path / "t.csv", thousands="")
    spelling = data.attribute("x").spelling
    assert spelling is not None
    assert (spelling.forms, spelling.thousands) == ((".2f",), None)

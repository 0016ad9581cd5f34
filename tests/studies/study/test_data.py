"""The data section of a study: what it reads, as a person has it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sdc_problems import SDCError
from sdc_problems.studies.study.data import DataSection, HierarchySection, load_table

TABLE = "born;town;wage\n1990-01-02;Olot;1,5\n1990-05-03;;\n1991-02-04;Reus;2,5\n"


def section(**more: object) -> DataSection:
    return DataSection.model_validate(
        {"file": "t.csv", "quasi_identifiers": ["town"], "delimiter": ";", "decimal": ",", **more}
    )


@pytest.mark.parametrize(("missing", "n"), [("category", 3), ("star", 3), ("drop", 2)])
def test_missing_values_are_one_of_four(tmp_path: Path, missing: str, n: int) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    table = load_table(section(missing=missing), tmp_path)
    assert len(table.data) == n
    assert table.data.missing_as_star == (missing == "star")
    with pytest.raises(SDCError, match="'town' has missing values in 1 of 3 rows, first in row 2"):
        load_table(section(), tmp_path)


def test_a_packed_file_with_the_line_of_excel(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "packed").write_bytes(gzip.compress(f"sep=;\n{TABLE}".encode("utf-8-sig")))
    plain = load_table(section(missing="drop"), tmp_path)
    assert load_table(section(missing="drop", file="packed", delimiter=","), tmp_path).digest == plain.digest


def test_bands_of_dates(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    how = HierarchySection.model_validate({"intervals": ["quarter", "year"]})
    table = load_table(section(quasi_identifiers=["born"], missing="category", hierarchies={"born": how}), tmp_path)
    assert table.hierarchies["born"].labels(1) == ("1990-Q1", "1990-Q2", "1991-Q1")
    wrong = HierarchySection.model_validate({"intervals": ["quarter", 4]})
    with pytest.raises(SDCError, match=r"hierarchy 'born': width 4.0 of dates must be day, week, month"):
        load_table(section(quasi_identifiers=["born"], missing="category", hierarchies={"born": wrong}), tmp_path)


def test_a_date_that_is_none_is_named_by_its_record(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("born;town\n;Olot\n1990-05-03;Vic\n02.03.1930;Reus\n02.03.1930;Reus\n")
    how = HierarchySection.model_validate({"intervals": ["year"]})
    given = {"quasi_identifiers": ["born"], "hierarchies": {"born": how}, "decimal": "."}
    for missing, n in (("category", 3), ("drop", 3)):
        with pytest.raises(SDCError, match=f"'born': the value of record {n} .* is not a date such as") as error:
            load_table(section(**given, missing=missing), tmp_path)
        assert "1930" not in str(error.value)

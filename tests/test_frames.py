"""Tables of other packages: polars, Arrow and dicts are read as the same table in pandas is."""

from __future__ import annotations

import datetime
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from sdc_problems import (
    GOMMProblem,
    Hierarchy,
    MicroaggregationProblem,
    Microdata,
    PBGProblem,
    PRAMProblem,
    SDCError,
    protect,
)

COLUMNS: dict[str, list[Any]] = {
    "age": [34, 51, 34, 29, 60, 51],
    "wage": [1.5, 2.0, 2.5, 1.0, 9.0, 4.0],
    "town": ["Olot", "Reus", "Vic", "Reus", "Olot", "Vic"],
    "born": [datetime.date(1990, 1, day) for day in (1, 2, 3, 4, 5, 6)],
    "asked": [datetime.datetime(2024, 1, day, 12) for day in (1, 2, 3, 4, 5, 6)],
    "ill": [True, False, False, True, False, False],
}
ROLES: dict[str, Any] = {"quasi_identifiers": ["age", "town"], "sensitive": ["ill"]}


def tables() -> dict[str, Any]:
    coded = pa.table(COLUMNS).set_column(2, "town", pa.array(COLUMNS["town"]).dictionary_encode())
    return {"dict": COLUMNS, "arrow": pa.table(COLUMNS), "arrow with dictionaries": coded}


def assert_same(found: Microdata, expected: Microdata) -> None:
    assert (found.codes(expected.names) == expected.codes(expected.names)).all()
    for name in expected.names:
        assert found.attribute(name).kind is expected.attribute(name).kind, name
        assert list(found.categories(name)) == list(expected.categories(name)), name
    assert found.roles == expected.roles if hasattr(expected, "roles") else True


@pytest.mark.parametrize("how", list(tables()))
def test_read_as_the_same_table_in_pandas_is(how: str) -> None:
    expected = Microdata.from_frame(pd.DataFrame(COLUMNS), **ROLES)
    found = Microdata.from_frame(tables()[how], **ROLES)
    assert_same(found, expected)
    assert found.quasi_identifiers == ("age", "town")
    assert found.frame()["wage"].tolist() == COLUMNS["wage"]


def test_polars() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(COLUMNS, schema_overrides={"town": polars.Categorical})
    assert_same(Microdata.from_frame(frame, **ROLES), Microdata.from_frame(pd.DataFrame(COLUMNS), **ROLES))
    frame = polars.DataFrame(COLUMNS)
    assert_same(Microdata.from_frame(frame, **ROLES), Microdata.from_frame(pd.DataFrame(COLUMNS), **ROLES))
    with pytest.raises(SDCError, match=r"not LazyFrame; collect\(\) it first"):
        Microdata.from_frame(frame.lazy(), **ROLES)


def test_whole_numbers_with_gaps_stay_whole() -> None:
    kinds = {"age": "nominal"}
    named = Microdata.from_frame(
        pa.table({"age": [34, None, 51]}), quasi_identifiers=["age"], missing="category", kinds=kinds
    )
    assert [str(age) for age in named.categories("age")] == ["34", "51", "?"]


class Stream:
    """What any package that speaks Arrow has."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)


def test_whatever_exports_arrow_is_read() -> None:
    assert_same(Microdata.from_frame(Stream(), **ROLES), Microdata.from_frame(pd.DataFrame(COLUMNS), **ROLES))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([1, 2], "takes a DataFrame of pandas or polars, an Arrow table or a dict of columns, not list"),
        ({"age": [1, 2], "town": "Olot"}, "column 'town' of the dict is a str, not a sequence of cells"),
        ({"age": 3}, "column 'age' of the dict is a int"),
        (pa.chunked_array([[1, 2]]), "a ChunkedArray is not a table with named columns"),
        (pd.Series([1, 2]), "a Series is not a table|not Series"),
    ],
)
def test_what_is_no_table_is_refused(table: Any, words: str) -> None:
    with pytest.raises(SDCError, match=words):
        Microdata.from_frame(table)


@pytest.mark.parametrize("how", ["pandas", *tables()])
def test_problems_take_a_table_and_the_columns_to_protect(how: str) -> None:
    table = pd.DataFrame(COLUMNS) if how == "pandas" else tables()[how]
    problem = MicroaggregationProblem(table, k=3, columns=["age", "wage"])
    assert problem.data.quasi_identifiers == ("age", "wage")
    assert problem.release(problem.baselines()["MDAV"]).shape == (6, 6)
    towns = Hierarchy.suppression(["Olot", "Reus", "Vic"])
    assert PBGProblem(table, {"town": towns}, columns=["town"]).attributes == ("town",)
    assert GOMMProblem(table, k=2, columns=["age", "wage"]).attributes == ("age", "wage")
    assert PRAMProblem(table, columns=["town"]).attributes == ("town",)


def test_a_table_without_roles_needs_columns() -> None:
    with pytest.raises(SDCError, match=r"name the quasi-identifiers by columns=.*Microdata\.from_frame"):
        MicroaggregationProblem(COLUMNS, k=3)  # type: ignore[arg-type]
    with pytest.raises(SDCError, match="data must be a Microdata or a table, not int"):
        MicroaggregationProblem(7, k=3, columns=["age"])  # type: ignore[arg-type]
    with pytest.raises(SDCError, match=r"write columns=\['age'\]"):
        MicroaggregationProblem(COLUMNS, k=3, columns="age")  # type: ignore[arg-type]


def test_protect_takes_a_table_and_its_roles() -> None:
    options: dict[str, Any] = {"method": "mdav", "k": 3, "keep": ["wage", "town", "born", "asked"]}
    roles: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    data = Microdata.from_frame(pd.DataFrame(COLUMNS), **roles)
    expected = protect(data, **options).frame["age"].tolist()
    for table in tables().values():
        assert protect(table, **roles, **options).frame["age"].tolist() == expected
    with pytest.raises(SDCError, match="name the quasi-identifiers"):
        protect(COLUMNS, **options)
    with pytest.raises(SDCError, match="for tables without roles"):
        protect(data, quasi_identifiers=["age"], **options)

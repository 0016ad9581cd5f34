"""Microdata: typed columns, codes, the original cells back, one shared copy for all processes."""

from __future__ import annotations

import copy
import datetime
import json
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import Kind, Microdata, Role, SDCError
from sdc_problems._sharing.arrays import SharedArrays
from sdc_problems.errors import SDCWarning


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [39, 50, 38, 39],
            "town": ["Vic", "Reus", "Vic", "Olot"],
            "income": [1.5, -2.0, 1.5, 0.25],
            "smoker": [True, False, False, True],
            "born": pd.to_datetime(["1980-05-01", "1970-01-02", "1981-03-04", "1980-05-01"]),
            "school": pd.Categorical(["high", "low", "low", "high"], ["none", "low", "high"], ordered=True),
        }
    )


@pytest.fixture
def data(frame: pd.DataFrame) -> Microdata:
    return Microdata.from_frame(frame, quasi_identifiers=["age", "town"], sensitive="income", identifiers=["born"])


def test_kinds_roles_and_counts(data: Microdata) -> None:
    assert len(data) == data.n_records == 4
    assert data.n_dropped == 0
    assert data.names == ("age", "town", "income", "smoker", "born", "school")
    kinds = {a.name: a.kind.value for a in data.attributes}
    assert kinds == {
        "age": "numeric",
        "town": "nominal",
        "income": "numeric",
        "smoker": "nominal",
        "born": "ordinal",
        "school": "ordinal",
    }
    assert data.quasi_identifiers == ("age", "town")
    assert data.sensitive == ("income",)
    assert data.identifiers == ("born",)
    assert data.attribute("school").role is Role.OTHER
    assert data.attribute("age").role == "quasi-identifier"
    assert [a.n_categories for a in data.attributes] == [3, 3, 3, 2, 3, 3]


def test_categories_in_code_order(data: Microdata) -> None:
    assert data.categories("age").tolist() == [38, 39, 50]
    assert data.categories("town").tolist() == ["Olot", "Reus", "Vic"]
    assert data.categories("smoker").tolist() == [False, True]
    assert data.categories("school").tolist() == ["none", "low", "high"]
    assert data.categories("born").astype("datetime64[D]").astype(str).tolist() == [
        "1970-01-02",
        "1980-05-01",
        "1981-03-04",
    ]
    assert data.attribute("born").labels == ["1970-01-02", "1980-05-01", "1981-03-04"]
    assert data.attribute("income").labels == ["-2", "0.25", "1.5"]
    assert not data.categories("age").flags.writeable
    for name in data.names:
        assert len(data.categories(name)) == data.attribute(name).n_categories


def test_codes(data: Microdata, frame: pd.DataFrame) -> None:
    codes = data.codes()
    assert codes.dtype == np.int32
    assert codes.flags.c_contiguous
    assert codes.tolist() == [[1, 2], [2, 1], [0, 2], [1, 0]]
    assert data.codes("school").tolist() == [[2], [1], [1], [2]]
    assert data.codes(["smoker", "age"])[:, 1].tolist() == codes[:, 0].tolist()
    assert data.codes([]).shape == (4, 0)
    codes[:] = 9
    assert data.codes().max() == 2


def test_values_and_z_scores(data: Microdata) -> None:
    values = data.values(["age", "income", "school"])
    assert values.dtype == np.float64
    assert values.tolist() == [[39, 1.5, 2], [50, -2, 1], [38, 1.5, 1], [39, 0.25, 2]]
    z = data.z_scores(["age", "income"])
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(z.std(axis=0), 1)
    with pytest.raises(SDCError, match="'town' is nominal"):
        data.values()
    constant = Microdata.from_frame(pd.DataFrame({"a": [0.1, 0.1, 0.1], "b": [1, 2, 3]}))
    assert constant.z_scores(["a", "b"])[:, 0].tolist() == [0.0, 0.0, 0.0]


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=30))
def test_z_scores_agree_with_pandas(values: list[float]) -> None:
    series = pd.Series(values)
    z = Microdata.from_frame(pd.DataFrame({"a": series})).z_scores("a")[:, 0]
    spread = np.sqrt(((series - series.mean()) ** 2).mean())
    expected = (series - series.mean()) / spread if spread > 0 and len(set(values)) > 1 else series * 0
    np.testing.assert_allclose(z, expected, rtol=1e-6, atol=1e-6)


def test_names_are_checked_everywhere(data: Microdata) -> None:
    for method in (data.codes, data.values, data.z_scores, data.attribute, data.categories):
        with pytest.raises(SDCError, match="no column 'incme'; did you mean 'income'"):
            method("incme")
    with pytest.raises(SDCError, match="no quasi-identifiers were declared"):
        data.with_roles().codes()


def test_kinds_and_orders_can_be_declared(frame: pd.DataFrame) -> None:
    data = Microdata.from_frame(
        frame,
        kinds={"age": "ordinal", "born": "numeric", "smoker": Kind.NUMERIC},
        orders={"town": ["Vic", "Olot", "Reus", "Ulm"]},
    )
    assert data.attribute("age").kind is Kind.ORDINAL
    assert data.values("age")[:, 0].tolist() == [1, 2, 0, 1]
    assert data.values("born")[1, 0] == 1.0
    assert data.values("smoker")[:, 0].tolist() == [1, 0, 0, 1]
    assert data.attribute("town").kind is Kind.ORDINAL
    assert data.codes("town")[:, 0].tolist() == [0, 2, 0, 1]
    assert data.categories("town").tolist() == ["Vic", "Olot", "Reus", "Ulm"]
    pd.testing.assert_frame_equal(data.frame(), frame)


def test_orders_of_numbers_and_of_ordered_categoricals(frame: pd.DataFrame) -> None:
    data = Microdata.from_frame(frame, orders={"age": ["50", 39, 38.0, 10], "school": ["high", "low"]})
    assert data.categories("age").tolist() == [50, 39, 38, 10]
    assert data.codes("age")[:, 0].tolist() == [1, 0, 2, 1]
    assert data.categories("school").tolist() == ["high", "low"]
    assert data.frame()["age"].tolist() == frame["age"].tolist()
    assert data.frame()["school"].astype(str).tolist() == frame["school"].astype(str).tolist()
    nominal = Microdata.from_frame(frame, kinds={"school": "nominal"})
    assert nominal.categories("school").tolist() == ["high", "low"]


def test_with_roles(data: Microdata) -> None:
    other = data.with_roles(quasi_identifiers="school", identifiers=["age"])
    assert other.quasi_identifiers == ("school",)
    assert other.identifiers == ("age",)
    assert other.sensitive == ()
    assert np.shares_memory(other.arrays["column0/codes"], data.arrays["column0/codes"])
    assert other != data
    assert other.with_roles(quasi_identifiers=["age", "town"], sensitive="income", identifiers="born") == data
    with pytest.raises(SDCError, match="'agee' that is not there; did you mean 'age'"):
        data.with_roles(sensitive=["agee"])


# --------------------------------------------------------------------------- the cells come back


def test_frame_gives_the_original_cells(data: Microdata, frame: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(data.frame(), frame)
    changed = data.frame()
    changed.loc[0, "age"] = 99
    pd.testing.assert_frame_equal(data.frame(), frame)


def test_frames_given_are_not_modified(frame: pd.DataFrame) -> None:
    before = frame.copy(deep=True)
    data = Microdata.from_frame(frame, quasi_identifiers=["age"], orders={"town": ["Vic", "Olot", "Reus"]})
    pd.testing.assert_frame_equal(frame, before)
    frame.loc[:, "age"] = 1
    frame.loc[:, "income"] = 7.5
    assert data.frame()["age"].tolist() == before["age"].tolist()
    assert data.frame()["income"].tolist() == before["income"].tolist()


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(5, 13, 2, name="record"),
        pd.Index(["d", "a", "c", "a"], name="person"),
        pd.Index([0.5, 3.0, 1.0, 2.0]),
        pd.DatetimeIndex(["2020-01-01", "2019-01-01", "2020-01-03", "2020-01-01"]),
        pd.MultiIndex.from_tuples([(1, "x"), (1, "y"), (2, "x"), (2, "y")], names=["household", None]),
    ],
    ids=lambda index: type(index).__name__ + str(index.dtype),
)
def test_the_index_comes_back(frame: pd.DataFrame, index: pd.Index) -> None:
    frame.index = index
    pd.testing.assert_frame_equal(Microdata.from_frame(frame).frame(), frame)


def test_an_index_that_cannot_be_kept_gives_way(frame: pd.DataFrame) -> None:
    frame.index = pd.Index([1, "x", None, 2.5], dtype=object)
    pd.testing.assert_frame_equal(Microdata.from_frame(frame).frame(), frame.reset_index(drop=True))
    frame.index = pd.Index(["a", None, "b", "c"], dtype=object)
    pd.testing.assert_frame_equal(Microdata.from_frame(frame).frame(), frame.reset_index(drop=True))


COLUMNS = {
    "int8": pd.array([3, 1, 2], dtype="int8"),
    "uint16": pd.array([3, 1, 60000], dtype="uint16"),
    "int64": np.array([2**62, -(2**62), 0]),
    "float32": np.array([0.1, 0.5, 0.1], dtype=np.float32),
    "bool": np.array([True, False, True]),
    "object text": np.array(["x", "y\nz", "é"], dtype=object),
    "surrogates": pd.Series(["\ud800", "x", "x"], dtype=object),
    "dates": pd.Series([datetime.date(1, 1, 1), datetime.date(9999, 1, 1), datetime.date(2000, 1, 1)], dtype=object),
    "seconds": np.array(["2020-01-03", "1650-01-01", "2020-01-01"], dtype="datetime64[s]"),
    "nanoseconds": pd.DatetimeIndex(["2020-01-03T10:00:00.000000001", "2020-01-01", "2020-01-01"]),
    "zone": pd.DatetimeIndex(["2020-07-03T10:00", "2020-01-01", "2020-01-01"]).tz_localize("Europe/Madrid"),
    "offset": pd.to_datetime(["2020-07-03T10:00+01:30", "2020-01-01T00:00+01:30", "2020-01-01T00:00+01:30"]),
    "spans": pd.to_timedelta([3, 1, 2], unit="h"),
    "ordered": pd.Categorical([3, 1, 3], [3, 2, 1], ordered=True),
    "ordered dates": pd.Categorical(
        pd.to_datetime(["2020-01-01", "2019-01-01", "2019-01-01"]),
        pd.to_datetime(["2020-01-01", "2019-01-01", "2018-01-01"]),
        ordered=True,
    ),
    "unordered": pd.Categorical(["x", "y", "x"], ["x", "y"]),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_types_come_back(kind: str) -> None:
    frame = pd.DataFrame({"a": COLUMNS[kind], "b": [1, 2, 3]})
    pd.testing.assert_frame_equal(Microdata.from_frame(frame).frame(), frame)


@pytest.mark.parametrize(
    ("dtype", "cells", "kind"),
    [
        ("Int64", [3, 1, 2], "numeric"),
        ("UInt8", [3, 1, 2], "numeric"),
        ("Float64", [0.5, 1.0, 0.5], "numeric"),
        ("boolean", [True, False, True], "nominal"),
        ("string", ["x", "y", "x"], "nominal"),
        ("string[pyarrow]", ["x", "y", "x"], "nominal"),
        ("int32[pyarrow]", [3, 1, 2], "numeric"),
        ("double[pyarrow]", [0.5, 1.0, 0.5], "numeric"),
        ("bool[pyarrow]", [True, False, True], "nominal"),
        ("timestamp[us, tz=UTC][pyarrow]", pd.to_datetime(["2020-01-02", "2020-01-01"] * 2, utc=True)[:3], "ordinal"),
        ("date32[day][pyarrow]", [datetime.date(2020, 1, 2), datetime.date(2020, 1, 1)] * 1, "ordinal"),
        ("Sparse[int]", [1, 0, 0], "numeric"),
    ],
)
def test_nullable_and_arrow_columns(dtype: str, cells: Any, kind: str) -> None:
    cells = list(cells)
    frame = pd.DataFrame({"a": pd.array(cells, dtype=dtype), "b": range(len(cells))})
    before = frame.copy(deep=True)
    data = Microdata.from_frame(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert data.attribute("a").kind == kind
    assert [pd.Timestamp(c) if kind == "ordinal" else c for c in data.frame()["a"]] == [
        pd.Timestamp(c) if kind == "ordinal" else c for c in cells
    ]


def test_arrow_dictionaries_and_decimals() -> None:
    arrow = pytest.importorskip("pyarrow")
    from decimal import Decimal

    frame = pd.DataFrame(
        {
            "a": pd.Series(pd.arrays.ArrowExtensionArray(arrow.array(["x", "y", "x"]).dictionary_encode())),
            "b": pd.array(
                [Decimal("1.50"), Decimal("2.25"), Decimal("1.5")], dtype=pd.ArrowDtype(arrow.decimal128(5, 2))
            ),
            "c": [Decimal("1.50"), Decimal("2.25"), Decimal("1.5")],
        }
    )
    data = Microdata.from_frame(frame)
    assert data.categories("a").tolist() == ["x", "y"]
    assert data.categories("b").tolist() == data.categories("c").tolist() == [1.5, 2.25]
    assert data.codes("c")[:, 0].tolist() == [0, 1, 0]


def test_objects_that_are_plain_numbers() -> None:
    frame = pd.DataFrame(
        {"a": pd.Series([1, 2.5, 1.0], dtype=object), "b": pd.Series([True, False, True], dtype=object)}
    )
    data = Microdata.from_frame(frame)
    assert data.categories("a").tolist() == [1.0, 2.5]
    assert data.frame()["b"].tolist() == [True, False, True]


def test_minus_zero_is_zero() -> None:
    data = Microdata.from_frame(pd.DataFrame({"a": [-0.0, 0.0, 1.0]}))
    assert data.categories("a").tolist() == [0.0, 1.0]
    assert data.digest == Microdata.from_frame(pd.DataFrame({"a": [0.0, -0.0, 1.0]})).digest


cells = {
    "int": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(-1e150, 1e150),
    "text": st.text(st.characters(exclude_categories=["Cs"]), max_size=4).filter(lambda t: t.strip() not in ("", "?")),
    "bool": st.booleans(),
    "date": st.datetimes(pd.Timestamp("1700-01-01"), pd.Timestamp("2200-01-01")),
}


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(2, 12))
    kinds = draw(st.lists(st.sampled_from(list(cells)), min_size=1, max_size=4))
    # A number among the letters would make a column that looks like numbers with separators.
    return pd.DataFrame(
        {
            f"c{i}": pd.Series(
                ["t" + c + "t" if kind == "text" else c for c in draw(st.lists(cells[kind], min_size=n, max_size=n))]
            )
            for i, kind in enumerate(kinds)
        }
    )


@given(frames())
def test_frame_round_trip(frame: pd.DataFrame) -> None:
    data = Microdata.from_frame(frame)
    pd.testing.assert_frame_equal(data.frame(), frame)
    for name in frame:
        codes, distinct = pd.factorize(frame[name], sort=True)
        assert data.codes(name)[:, 0].tolist() == codes.tolist()
        assert pd.Index(data.categories(name)).equals(
            pd.Index(distinct.to_numpy() if hasattr(distinct, "to_numpy") else distinct)
        )


@pytest.mark.parametrize("dtype", ["object", "string", "category", "ordered"])
def test_blanks_around_a_value_are_no_part_of_it(dtype: str) -> None:
    cells = ["37006", "37006  ", "\u00a008001", " ?", "08001"]
    series: Any = pd.Series(cells, dtype=dtype if dtype in ("object", "string") else "category")
    if dtype == "ordered":
        series = series.cat.as_ordered()
    data = Microdata.from_frame(pd.DataFrame({"zip": series, "n": range(5)}), missing="category")
    assert sorted(data.attribute("zip").labels) == sorted(["08001", "37006", "?"])
    codes = data.codes("zip")[:, 0]
    assert codes[0] == codes[1] != codes[2] == codes[4]
    assert data.frame()["zip"].isna().tolist() == [False, False, False, True, False]


def test_blanks_around_the_categories_of_an_order_are_no_part_of_them() -> None:
    frame = pd.DataFrame({"size": ["small ", "large", " small"]})
    data = Microdata.from_frame(frame, orders={"size": ["small", " large "]})
    assert data.codes("size")[:, 0].tolist() == [0, 1, 0]


# --------------------------------------------------------------------------- missing values


@pytest.fixture
def holes() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [39.0, 50.0, np.nan, 39.0, 20.0],
            "town": ["Vic", "?", "Vic", None, "Olot"],
            "school": pd.Categorical(["high", "low", "low", "high", None], ["none", "low", "high"], ordered=True),
            "smoker": pd.array([True, None, False, False, True], dtype="boolean"),
        },
        index=list("abcde"),
    )


def test_missing_values_are_an_error_that_names_the_first(holes: pd.DataFrame) -> None:
    with pytest.raises(
        SDCError, match=r"column 'age' has missing values in 1 of 5 rows, first in row 3: missing='drop'"
    ):
        Microdata.from_frame(holes)
    with pytest.raises(SDCError, match=r"column 'town' has missing values in 2 of 5 rows, first in row 2.*na_values"):
        Microdata.from_frame(holes.drop(columns="age"))


def test_missing_values_dropped(holes: pd.DataFrame) -> None:
    full = holes.loc[["a"]].rename(index={"a": "f"}).assign(age=21.0, town="Olot")
    full["school"] = pd.Categorical(["low"], dtype=holes["school"].dtype)
    holes = pd.concat([holes, full])
    data = Microdata.from_frame(holes, missing="drop")
    assert (data.n_records, data.n_dropped) == (2, 4)
    assert data.frame().index.tolist() == ["a", "f"]
    assert data.frame()["town"].tolist() == ["Vic", "Olot"]
    assert data.categories("age").tolist() == [21, 39]
    assert data.categories("school").tolist() == ["none", "low", "high"]
    plain = Microdata.from_frame(holes.reset_index(drop=True), missing="drop")
    assert plain.frame().index.tolist() == [0, 5]
    assert "4 with missing values left out" in data.summary()


def test_missing_values_as_a_category(holes: pd.DataFrame) -> None:
    data = Microdata.from_frame(holes, missing="category", kinds={"age": "ordinal"})
    assert data.categories("town").tolist() == ["Olot", "Vic", "?"]
    assert data.codes("town")[:, 0].tolist() == [1, 2, 1, 2, 0]
    assert data.categories("age").tolist() == [20.0, 39.0, 50.0, "?"]
    assert data.attribute("school").labels == ["none", "low", "high", "?"]
    assert data.codes("smoker")[:, 0].tolist() == [1, 2, 0, 0, 1]
    assert data.attribute("smoker").has_missing
    assert data.attribute("smoker").n_categories == 3
    back = data.frame()
    pd.testing.assert_frame_equal(back.drop(columns="town"), holes.drop(columns="town"))
    assert back["town"].isna().tolist() == [False, True, False, True, False]
    with pytest.raises(
        SDCError, match=r"'age' .* first in row 3, and numbers have no category.*declare the column ordinal"
    ):
        Microdata.from_frame(holes, missing="category", kinds={"age": "numeric"})
    with pytest.warns(SDCWarning, match=r"'age' .* first in row 3, .*it counts as ordinal.*missing='drop' leaves"):
        by_itself = Microdata.from_frame(holes, missing="category")
    assert by_itself.attribute("age").kind is Kind.ORDINAL
    assert by_itself.categories("age").tolist() == [20.0, 39.0, 50.0, "?"]
    assert by_itself.attribute("age").holds_numbers
    assert not by_itself.attribute("town").holds_numbers


def test_missing_values_as_a_star(holes: pd.DataFrame) -> None:
    """The same cells as with a category; what differs is what a verdict makes of them, so the table is another one."""
    star, category = (
        Microdata.from_frame(holes, missing=how, kinds={"age": "ordinal"}) for how in ("star", "category")
    )
    assert star.missing_as_star
    assert not category.missing_as_star
    assert star.with_roles(quasi_identifiers=["age"]).missing_as_star
    assert star.categories("age").tolist() == category.categories("age").tolist()
    assert star != category


@pytest.mark.parametrize("missing", ["category", "star", "drop"])
def test_gaps_of_numbers_in_a_column_without_role(missing: str) -> None:
    frame = pd.DataFrame({"age": [20, 30, 40], "wage": [1.5, np.nan, 2.5], "id": [1, np.nan, 3]})
    data = Microdata.from_frame(frame, quasi_identifiers=["age"], identifiers=["id"], missing=missing)
    kept = frame.dropna(subset="id").reset_index(drop=True) if missing == "drop" else frame
    assert data.frame()["wage"].tolist() == pytest.approx(kept["wage"].tolist(), nan_ok=True)
    assert data.attribute("wage").numbers.tolist()[:-1] == [1.5, 2.5][: len(data.attribute("wage").numbers) - 1]
    with pytest.raises(SDCError, match=r"'wage' has missing values in 1 of 3 rows.*numbers have no category"):
        Microdata.from_frame(frame, quasi_identifiers=["wage"], missing="star", kinds={"wage": "numeric"})
    with pytest.raises(SDCError, match="'town' is nominal: only numeric columns are numbers"):
        Microdata.from_frame(pd.DataFrame({"town": ["a", "b"]})).attribute("town").numbers


def test_missing_dates_and_integers_come_back() -> None:
    frame = pd.DataFrame(
        {
            "when": pd.to_datetime(["2020-01-01", None, "2020-01-02"]),
            "n": pd.array([1, None, 2], dtype="Int64"),
            "span": pd.to_timedelta([1, None, 2], unit="D"),
        }
    )
    data = Microdata.from_frame(frame, missing="category", kinds={"n": "ordinal"})
    pd.testing.assert_frame_equal(data.frame(), frame)


def test_what_counts_as_missing_can_be_chosen() -> None:
    frame = pd.DataFrame({"a": ["NA", "?", "x", "-9"], "b": [1, 2, 3, 4]})
    data = Microdata.from_frame(frame, missing="drop")
    assert data.categories("a").tolist() == ["-9", "x"]
    data = Microdata.from_frame(frame, na_values=())
    assert data.categories("a").tolist() == ["-9", "?", "NA", "x"]
    data = Microdata.from_frame(frame, na_values=["-9"], missing="drop")
    assert data.categories("a").tolist() == ["?", "NA", "x"]
    frame.loc[0, "a"] = None
    with pytest.raises(SDCError, match=r"'a' has missing values .* and also a category '\?'"):
        Microdata.from_frame(frame, na_values=(), missing="category")


def test_a_marker_in_an_ordered_categorical_is_no_category() -> None:
    frame = pd.DataFrame({"a": pd.Categorical(["x", "?", "y"], ["?", "y", "x"], ordered=True), "b": [1, 2, 3]})
    data = Microdata.from_frame(frame, missing="drop")
    assert data.categories("a").tolist() == ["y", "x"]
    assert data.codes("a")[:, 0].tolist() == [1, 0]


def test_nothing_but_missing() -> None:
    frame = pd.DataFrame({"a": [None, None], "b": [1, 2]})
    with pytest.raises(SDCError, match="'a' is missing in every row"):
        Microdata.from_frame(frame, missing="drop")
    assert Microdata.from_frame(frame, missing="category").categories("a").tolist() == ["?"]
    frame = pd.DataFrame({"a": [None, 1.0, 2.0], "b": ["x", None, "y"]})
    with pytest.raises(SDCError, match=r"only 1 record left when those with missing values are dropped \(of 3\)"):
        Microdata.from_frame(frame, missing="drop")


# --------------------------------------------------------------------------- refused

B = {"b": [1, 2, 3]}


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([1.0, np.inf, 2.0], r"column 'a', row 2: the value is infinite"),
        ([1.0, np.nan, 2.0], r"column 'a' has missing values in 1 of 3 rows, first in row 2"),
        ([1, "x", 2], r"column 'a' mixes types: row 2 is str, the rows before are int"),
        (pd.Series([None, True, 1], dtype=object), r"column 'a' mixes types: row 3 is int, the rows before are bool"),
        ([datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, 9), None], r"'a' mixes types: row 2 is datetime"),
        (
            [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), None],
            "'a' mixes dates with and without time zones",
        ),
        ([[1], [2], [3]], r"column 'a' holds cells of type list \(first in row 1\)"),
        ([None, b"x", b"y"], r"column 'a' holds cells of type bytes \(first in row 2\)"),
        ([1j, 2, 3], r"column 'a' holds cells of type complex"),
        (pd.period_range("2020", periods=3, freq="M"), r"column 'a' holds cells of type Period"),
        (pd.cut([1, 2, 3], 2), r"column 'a' holds cells of type Interval"),
        ([1, 2**70, 3], r"column 'a', row 2: the integer needs more than 64 bits"),
        (np.array([1, 2, 2**63], dtype=np.uint64), r"column 'a', row 3: the integer needs more than 64 bits"),
        (["1,234", "5", "6"], r"column 'a' looks numeric .*first in row 1"),
        (["5", "1.234,5", "6"], r"column 'a' looks numeric .*first in row 2"),
        (["5", "6", "1 234"], r"column 'a' looks numeric .*first in row 3"),
    ],
)
def test_cells_refused(cells: Any, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        Microdata.from_frame(pd.DataFrame({"a": cells, **B}))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame(np.ones((3, 2))), r"column 1 is named by int, not by text: use frame.rename\(columns=str\)"),
        (pd.DataFrame(np.ones((3, 2)), columns=["a", ("b", 1)]), "column 2 is named by tuple"),
        (pd.DataFrame(np.ones((3, 2)), columns=["a", "a"]), r"column name 'a' occurs twice \(again at column 2\)"),
        (pd.DataFrame(np.ones((3, 2)), columns=["a", " "]), "column 2 has no name"),
        (pd.DataFrame(index=range(3)), "no columns"),
        (pd.DataFrame({"a": []}), "the table has no records"),
        (pd.DataFrame({"a": [1]}), "the table has only 1 record"),
        ([1, 2], "a dict of columns, not list"),
    ],
)
def test_frames_refused(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        Microdata.from_frame(frame)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quasi_identifiers": ["agee"]}, r"quasi_identifiers names a column 'agee' .* did you mean 'age'"),
        ({"sensitive": ["agee"]}, "sensitive names a column 'agee'"),
        ({"identifiers": [3]}, "identifiers names a column 3"),
        ({"kinds": {"agee": "numeric"}}, "kinds names a column 'agee'"),
        ({"orders": {"agee": [1]}}, "orders names a column 'agee'"),
        ({"kinds": {"age": "numerical"}}, r"kinds\['age'\] must be one of .* not 'numerical'; did you mean 'numeric'"),
        (
            {"kinds": {"age": "numeric"}, "orders": {"age": [1]}},
            "orders names column 'age', but kinds declares it numeric",
        ),
        (
            {"kinds": {"town": "numeric"}},
            r"column 'town' is declared numeric, but row 1 is not a number \(4 such rows\)",
        ),
        ({"missing": "ignore"}, "missing must be one of 'error', 'category', 'star', 'drop', not 'ignore'"),
        (
            {"quasi_identifiers": ["age"], "sensitive": ["age"]},
            "'age' is named twice, as quasi-identifier and as sensitive",
        ),
        ({"orders": {"town": ["Vic", "Olot"]}}, r"column 'town', row 2: the value is not in orders\['town'\] \(1 such"),
        ({"orders": {"town": ["Vic", "Olot", "Vic"]}}, r"orders\['town'\] names the category 'Vic' twice"),
        ({"orders": {"town": "Vic"}}, r"orders\['town'\] must be a list"),
        ({"orders": {"age": [38, 39, 50, "old"]}}, r"orders\['age'\] has categories .* the first is 'old'"),
        ({"orders": {"smoker": [False, True, "unknown"]}}, r"orders\['smoker'\] has categories"),
    ],
)
def test_options_refused(frame: pd.DataFrame, options: dict[str, Any], message: str) -> None:
    with pytest.raises(SDCError, match=message):
        Microdata.from_frame(frame, **options)


def test_text_declared_numeric_may_not_be_huge() -> None:
    frame = pd.DataFrame({"odd": ["1", "1e308"]})
    with pytest.raises(SDCError, match=r"column 'odd', row 2: the number is beyond 1e\+150"):
        Microdata.from_frame(frame, kinds={"odd": "numeric"})


def test_a_quasi_identifier_with_one_value_is_refused(frame: pd.DataFrame) -> None:
    frame["country"] = "ES"
    with pytest.raises(SDCError, match="quasi-identifier 'country' has the same value from row 1 to row 4"):
        Microdata.from_frame(frame, quasi_identifiers=["age", "country"])
    data = Microdata.from_frame(frame, sensitive=["country"])
    with pytest.raises(SDCError, match="'country' has the same value"):
        data.with_roles(quasi_identifiers=["country"])


def test_errors_show_no_cells(frame: pd.DataFrame) -> None:
    secret = "a very private cell"
    frame["note"] = ["1", "2", secret, "4"]
    for options in ({"kinds": {"note": "numeric"}}, {"orders": {"note": ["1", "2", "4"]}}):
        with pytest.raises(SDCError) as caught:
            Microdata.from_frame(frame, **options)  # type: ignore[arg-type]
        assert secret not in str(caught.value)


def test_what_is_printed_shows_no_cells(data: Microdata, frame: pd.DataFrame) -> None:
    assert repr(data) == "Microdata(4 records, 6 attributes: 2 quasi-identifier, 1 sensitive, 1 identifier, 2 other)"
    printed = repr(data) + data.summary() + repr(data.attributes) + repr(data.arrays)
    for value in ("Vic", "Olot", "Reus", "0.25", "-2", "1980", "high"):
        assert value not in printed
    assert "town    nominal  quasi-identifier  3 values" in data.summary()


# --------------------------------------------------------------------------- identity and sharing


def test_immutable_and_equal_by_content(data: Microdata, frame: pd.DataFrame) -> None:
    assert copy.deepcopy(data) is data
    assert copy.copy(data) is data
    with pytest.raises(AttributeError):
        data.n_records = 5  # type: ignore[misc]
    with pytest.raises(AttributeError):
        data.attribute("age").kind = Kind.NOMINAL  # type: ignore[misc]
    same = Microdata.from_frame(frame, quasi_identifiers=["age", "town"], sensitive="income", identifiers=["born"])
    assert same == data
    assert hash(same) == hash(data)
    assert data != "data"


def test_the_digest_is_over_content_and_roles(data: Microdata, frame: pd.DataFrame) -> None:
    roles = {"quasi_identifiers": ["age", "town"], "sensitive": "income", "identifiers": ["born"]}
    other_types = frame.astype({"age": "int8", "town": "string", "smoker": "boolean"}).set_axis(list("abcd"))
    assert Microdata.from_frame(other_types, **roles).digest == data.digest
    renamed = frame.rename(columns={"school": "level"})
    assert Microdata.from_frame(renamed, **roles).digest != data.digest
    frame.loc[3, "age"] = 40
    assert Microdata.from_frame(frame, **roles).digest != data.digest
    assert data.with_roles().digest != data.digest


@pytest.fixture
def large(rng: np.random.Generator) -> Microdata:
    n = 100_000
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 90, n),
            "income": rng.normal(size=n),
            "name": [f"person {i}" for i in range(n)],
            "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
        }
    )
    return Microdata.from_frame(frame, quasi_identifiers=["age", "sex"], identifiers=["name"])


def test_pickles_are_small_whatever_the_number_of_records(large: Microdata) -> None:
    pickled = pickle.dumps(large)
    assert len(pickled) < 1_000
    assert b"person" not in pickled
    assert len(pickle.dumps(large.attributes)) < 5_000
    assert pickle.loads(pickled) == large


def test_a_spawned_process_sees_the_same(large: Microdata) -> None:
    code = (
        "import json, pickle, sys\n"
        "data = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "print(json.dumps([data.digest, data.codes().sum(axis=0).tolist(), data.values('income').sum(),"
        " len(data.categories('name')), 'pandas' in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, pickle.dumps(large).hex()], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        large.digest,
        large.codes().sum(axis=0).tolist(),
        large.values("income").sum(),
        100_000,
        False,
    ]


def test_other_arrays_are_no_microdata() -> None:
    with pytest.raises(SDCError, match="hold no microdata"):
        Microdata(SharedArrays({"a": np.arange(3)}))


def test_a_million_categories(rng: np.random.Generator) -> None:
    n = 1_000_000
    frame = pd.DataFrame({"id": pd.Series(np.char.add("p", rng.permutation(n).astype(str))), "b": np.arange(n) % 7})
    data = Microdata.from_frame(frame, quasi_identifiers=["id", "b"])
    assert data.attribute("id").n_categories == n
    assert len(np.unique(data.codes("id"))) == n
    assert data.categories("id")[data.codes("id")[:5, 0]].tolist() == frame["id"].head().tolist()
    assert len(pickle.dumps(data)) < 1_000


def test_only_gaps_in_columns_with_a_role_cost_a_record() -> None:
    frame = pd.DataFrame(
        {
            "age": [30, None, 50, 60, 31],
            "ill": ["no", "yes", None, "no", "yes"],
            "wage": [1.5, 2.0, 2.5, None, 3.5],
            "floor": pd.array([1, 2, 3, None, 5], dtype="Int64"),
            "note": ["a", "b", "c", None, "e"],
        }
    )
    data = Microdata.from_frame(frame, quasi_identifiers=["age"], sensitive=["ill"], missing="drop")
    assert (data.n_records, data.n_dropped) == (3, 2)
    back = data.frame()
    assert back["age"].tolist() == [30, 60, 31]
    assert back["wage"].isna().tolist() == back["floor"].isna().tolist() == back["note"].isna().tolist()
    assert back["wage"].isna().tolist() == [False, True, False]
    assert back["floor"].dropna().tolist() == [1, 5]
    assert Microdata.from_frame(frame, missing="drop").n_dropped == 3, "no column has a role yet: each may get one"
    for use in (lambda: data.values(["wage"]), lambda: data.with_roles(quasi_identifiers=["wage"])):
        with pytest.raises(SDCError, match="column 'wage' has missing values, kept because it had no role"):
            use()
    assert data.with_roles(quasi_identifiers=["note"]).codes().ravel().tolist() == [0, 2, 1]


def test_records_taken_keep_kinds_roles_and_categories() -> None:
    frame = pd.DataFrame({"age": [30, 20, 40], "town": ["b", None, "a"], "size": ["s", "l", "s"]}, index=[7, 8, 9])
    orders = {"size": ["s", "m", "l"]}
    data = Microdata.from_frame(frame, quasi_identifiers=["age"], sensitive=["town"], orders=orders, missing="category")
    part = data.take([2, 1])
    assert part.frame().equals(frame.iloc[[2, 1]].reset_index(drop=True))
    assert [(a.name, a.kind, a.role, a.n_categories) for a in part.attributes] == [
        (a.name, a.kind, a.role, a.n_categories) for a in data.attributes
    ]
    np.testing.assert_array_equal(part.values("age")[:, 0], [40, 20])
    for wrong in ([], [3], [-1], [0.5], [[0]]):
        with pytest.raises(SDCError, match="take needs"):
            data.take(wrong)


def test_some_of_the_records_keep_categories_and_roles_of_the_whole() -> None:
    frame = pd.DataFrame(
        {"town": ["Olot", "Reus", "Vic", "Reus"], "age": [30, 41, 52, 41], "ill": ["a", "b", "a", "b"]},
        index=["w", "x", "y", "z"],
    )
    data = Microdata.from_frame(frame, quasi_identifiers=["town", "age"], sensitive=["ill"])
    part = data.take(np.array([3, 1]))
    pd.testing.assert_frame_equal(part.frame(), frame.iloc[[3, 1]].reset_index(drop=True))
    assert part.quasi_identifiers == data.quasi_identifiers
    assert part.sensitive == data.sensitive
    assert part.attribute("town").labels == data.attribute("town").labels
    np.testing.assert_array_equal(part.codes(), data.codes()[[3, 1]])
    assert data.take([0, 1, 2, 3]).codes().tolist() == data.codes().tolist()
    assert pickle.loads(pickle.dumps(part)).digest == part.digest
    for wrong in ([], [4], [-1], [0.5], [[0]]):
        with pytest.raises(SDCError, match="take needs"):
            data.take(wrong)

"""Hierarchies: levels that nest, builders, ARX's files, and errors that name the value."""

from __future__ import annotations

import copy
import datetime
import pickle
import time
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import Hierarchy, Microdata, SDCError
from sdc_problems.errors import SDCWarning

TOWNS = {
    "Olot": ["Girona", "north", "*"],
    "Figueres": ["Girona", "north", "*"],
    "Reus": ["Tarragona", "south", "*"],
    "Valls": ["Tarragona", "south", "*"],
    "Vic": ["Barcelona", "north", "*"],
}


@pytest.fixture
def towns() -> Hierarchy:
    return Hierarchy.from_levels(TOWNS, name="towns")


def test_levels_labels_and_groups(towns: Hierarchy) -> None:
    assert (towns.n_levels, towns.length, towns.n_values) == (4, 3, 5)
    assert towns.values == towns.labels(0) == tuple(TOWNS)
    assert towns.labels(1) == ("Girona", "Tarragona", "Barcelona")
    assert towns.codes(1).tolist() == [0, 0, 1, 1, 2]
    assert towns.codes(2).tolist() == [0, 0, 1, 1, 0]
    assert [towns.n_groups(level) for level in range(4)] == [5, 3, 2, 1]
    assert [towns.leaves(level).tolist() for level in range(4)] == [[1] * 5, [2, 2, 1], [3, 2], [5]]
    assert [towns.describe(level) for level in range(4)] == ["unchanged", "3 groups", "2 groups", "suppressed"]
    assert repr(towns) == "Hierarchy(5 values, 4 levels: 5, 3, 2, 1 groups)"
    assert towns.rows()[2] == ("Reus", "Tarragona", "south", "*")


def test_rows_are_as_good_as_a_mapping(towns: Hierarchy) -> None:
    assert Hierarchy.from_levels([[town, *labels] for town, labels in TOWNS.items()]) == towns
    assert Hierarchy.from_levels({1: ["a"], 2.0: ["a"]}).values == ("1", "2")


def test_the_last_level_may_have_several_groups() -> None:
    assert Hierarchy.from_levels({"a": ["x"], "b": ["y"]}).n_groups(1) == 2


def test_descriptions_of_ones_own() -> None:
    ages = Hierarchy.from_levels({"1": ["child"], "40": ["adult"]}, descriptions=["stage of life"])
    assert ages.describe(1) == "stage of life"
    with pytest.raises(SDCError, match="1 levels above the values but 2 descriptions"):
        Hierarchy.from_levels({"1": ["child"]}, descriptions=["a", "b"])


def test_it_cannot_be_changed(towns: Hierarchy) -> None:
    with pytest.raises(ValueError, match="read-only"):
        towns.codes(1)[0] = 7
    with pytest.raises(AttributeError):
        towns.n_levels = 3  # type: ignore[misc]
    assert copy.deepcopy(towns) is towns
    assert copy.copy(towns) is towns


def test_equal_by_content(towns: Hierarchy) -> None:
    same = Hierarchy.from_levels(TOWNS)
    assert same == towns
    assert hash(same) == hash(towns)
    assert same.digest == towns.digest
    assert towns != Hierarchy.suppression(TOWNS)
    assert towns != "towns"


def test_pickles_are_small(towns: Hierarchy) -> None:
    back = pickle.loads(pickle.dumps(towns))
    assert back == towns
    assert towns.arrays.folder is None
    big = Hierarchy.masking(f"{i:06d}" for i in range(20_000))
    assert len(pickle.dumps(big)) < 1_000
    assert pickle.loads(pickle.dumps(big)) == big


# --------------------------------------------------------------------------- tables


def test_table_follows_the_order_of_the_data(towns: Hierarchy) -> None:
    table = towns.table(["Vic", "Olot"])
    assert table.dtype == np.int32
    assert table.flags.c_contiguous
    assert table.tolist() == [[4, 0], [2, 0], [0, 0], [0, 0]]


def test_numbers_meet_their_text() -> None:
    ages = Hierarchy.intervals([39, 40], [20])
    spellings = ["39", 39, 39.0, np.int16(39), np.float32(39), Decimal(39), Fraction(39)]
    assert ages.table(spellings)[0].tolist() == [0] * len(spellings)
    assert Hierarchy.suppression([True, False]).table(["False", True])[0].tolist() == [1, 0]
    assert Hierarchy.suppression([0.5]).table(["0.5"])[0].tolist() == [0]
    assert Hierarchy.suppression(["2020-01-01"]).table(pd.to_datetime(["2020-01-01"]).to_numpy())[0].tolist() == [0]


def test_a_missing_value_is_named_with_its_column(towns: Hierarchy) -> None:
    with pytest.raises(
        SDCError, match=r"'towns' of column 'town' lacks 2 .* 4 values .* number 2 of .*check --values"
    ) as said:
        towns.table(["Reus", "Vals", "Olot", "Ripoll"], attribute="town")
    assert not any(town in str(said.value) for town in ("Vals", "Ripoll", "Valls"))  # no cell of the data
    with pytest.raises(SDCError, match="lacks 1"):
        Hierarchy.suppression(["a"]).table(["?"])


def test_tables_fit_the_codes_of_microdata() -> None:
    frame = pd.DataFrame({"age": [39, 21, 25, 39], "town": ["Vic", "Olot", "Vic", "Reus"]})
    data = Microdata.from_frame(frame, quasi_identifiers=["age", "town"])
    ages = Hierarchy.intervals(data.categories("age"), [10])
    groups = ages.table(data.categories("age"))[1][data.codes("age")[:, 0]]
    assert [ages.labels(1)[g] for g in groups] == ["30-39", "20-29", "20-29", "30-39"]
    towns = Hierarchy.from_levels(TOWNS)
    groups = towns.table(data.categories("town"))[1][data.codes("town")[:, 0]]
    assert [towns.labels(1)[g] for g in groups] == ["Barcelona", "Girona", "Barcelona", "Tarragona"]


# --------------------------------------------------------------------------- builders


def test_bands_of_whole_numbers() -> None:
    ages = Hierarchy.intervals([30, 20, 24, 25, 20], [5, 10])
    assert ages.values == ("20", "24", "25", "30")
    assert ages.labels(1) == ("20-24", "25-29", "30-34")
    assert ages.labels(2) == ("20-29", "30-39")
    assert ages.labels(3) == ("*",)
    assert [ages.describe(level) for level in range(4)] == ["unchanged", "bands of 5", "bands of 10", "suppressed"]


def test_bands_from_an_origin_and_without_a_top() -> None:
    ages = Hierarchy.intervals(range(17, 28), [5, 10], origin=17, top=False)
    assert ages.labels(1) == ("17-21", "22-26", "27-31")
    assert ages.labels(2) == ("17-26", "27-36")
    assert ages.n_levels == 3


def test_bands_below_zero_and_of_width_one() -> None:
    assert Hierarchy.intervals([-5, 3], [5]).labels(1) == ("-5 to -1", "0-4")
    assert Hierarchy.intervals([3, 4], [1]).labels(1) == ("3", "4")


def test_bands_of_real_numbers_are_exact_on_borders() -> None:
    tenths = [i / 10 for i in range(-30, 31)]
    bands = Hierarchy.intervals(tenths, [0.1, 0.3])
    assert bands.n_groups(1) == len(tenths)
    assert bands.labels(2)[:2] == ("[-3.0, -2.7)", "[-2.7, -2.4)")
    assert bands.labels(2)[bands.codes(2)[bands.values.index("0.3")]] == "[0.3, 0.6)"
    assert bands.describe(1) == "bands of 0.1"


@given(
    st.lists(st.decimals(-1000, 1000, places=2).map(float), min_size=1, max_size=30),
    st.sampled_from([0.01, 0.05, 0.25, 1, 3, 7.5]),
    st.lists(st.integers(2, 5), max_size=3),
    st.sampled_from([0, 0.1, -3.3, 17]),
)
def test_bands_agree_with_fractions(values: list[float], width: float, factors: list[int], origin: float) -> None:
    widths = [Fraction(str(width)) * int(np.prod(factors[:i], initial=1)) for i in range(len(factors) + 1)]
    hierarchy = Hierarchy.intervals(values, [float(w) for w in widths], origin)
    for level, wide in enumerate(widths, 1):
        slow = {}
        for value in sorted(set(values)):
            band = floor((Fraction(str(value)) - Fraction(str(origin))) / wide)
            slow.setdefault(band, []).append(value)
        codes = hierarchy.table(sorted(set(values)))[level]
        fast: dict[int, list[float]] = {}
        for value, code in zip(sorted(set(values)), codes.tolist(), strict=True):
            fast.setdefault(code, []).append(value)
        assert list(fast.values()) == list(slow.values())


@pytest.mark.parametrize(
    ("values", "widths", "options", "message"),
    [
        ([3, 4], [2, 5], {}, r"width 5 is not a multiple .* of 2"),
        ([3, 4], [2, 2], {}, r"width 2 is not a multiple .* of 2"),
        ([0.5], [0.2, 0.5], {}, r"width 0.5 is not a multiple"),
        ([3, 4], [-2], {}, "width -2 is not positive"),
        ([3, 4], [0], {}, "width 0 is not positive"),
        ([3, 4], [], {"top": False}, "at least one width"),
        ([], [5], {}, "no values"),
        ([1.0, np.nan], [5], {}, "finite numbers"),
        (np.array([1.0, np.inf]), [5], {}, "finite numbers"),
        ([1], [np.inf], {}, "finite numbers"),
        (["1"], [5], {}, "need numbers, not str"),
        ([True], [5], {}, "need numbers, not bool"),
        ([1], ["5"], {}, "need numbers, not str"),
        ([2**60], [5], {}, r"below 2\*\*53"),
        ([1e9 + 0.5], [1e-9], {}, "too narrow"),
        ([1, None], [5], {"name": "age"}, "hierarchy 'age': intervals need numbers, not NoneType"),
    ],
)
def test_bands_refused(values: list, widths: list, options: dict, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        Hierarchy.intervals(values, widths, **options)


def test_bands_of_dates() -> None:
    dates = ["2023-12-31", "2024-01-01", "2024-02-29", "2024-08-15", "2029-12-31", "?"]
    hierarchy = Hierarchy.intervals(dates, ["month", "quarter", "6 months", "year", "5 years", "decade"])
    assert hierarchy.rows()[2] == (
        "2024-02-29", "2024-02", "2024-Q1", "2024-01 to 2024-06", "2024", "2020-2024", "2020-2029", "*"
    )  # fmt: skip
    assert hierarchy.labels(2) == ("2023-Q4", "2024-Q1", "2024-Q3", "2029-Q4", "?")
    assert hierarchy.labels(5) == ("2020-2024", "2025-2029", "?")
    assert hierarchy.describe(3) == "bands of 6 months"
    assert hierarchy.labels(7) == ("*",)
    typed = Hierarchy.intervals(np.array(dates[:-1], dtype="datetime64[D]"), ["month", "year"])
    assert typed == Hierarchy.intervals(pd.to_datetime(dates[:-1]), ["month", "year"])
    assert typed == Hierarchy.intervals([datetime.date.fromisoformat(text) for text in dates[:-1]], ["month", "year"])
    assert typed.rows()[0] == ("2023-12-31", "2023-12", "2023", "*")


def test_weeks_begin_on_monday() -> None:
    days = [datetime.date(2023, 12, 20) + datetime.timedelta(days=i) for i in range(60)]
    hierarchy = Hierarchy.intervals(days, ["day", "week", "2 weeks"])
    weeks = dict(zip(days, (row[2] for row in hierarchy.rows()), strict=True))
    assert hierarchy.labels(1) == tuple(map(str, days))
    for day, text in weeks.items():
        begin = day - datetime.timedelta(days=day.weekday())
        assert text == f"{begin} to {begin + datetime.timedelta(days=6)}"
    times = ["1969-12-31T23:59:59", "1970-01-01 00:00", "1900-01-01"]
    assert Hierarchy.intervals(times, ["day", "month"]).labels(2) == ("1969-12", "1970-01", "1900-01")


@pytest.mark.parametrize(
    ("values", "widths", "options", "message"),
    [
        (["2024-01-01"], ["week", "month"], {}, "width 'month' does not hold whole bands"),
        (["2024-01-01"], ["year", "quarter"], {}, "width 'quarter' does not hold whole bands"),
        (["2024-01-01"], ["2 years", "5 years"], {}, "width '5 years' does not hold whole bands"),
        (["2024-01-01"], ["fortnight"], {}, "width 'fortnight' of dates must be day, week, month"),
        (["2024-01-01"], ["0 days"], {}, "width '0 days' of dates must be"),
        ([datetime.date(2024, 1, 1)], [30], {}, "width 30 of dates must be"),
        (
            ["31.12.2024"],
            ["year"],
            {"name": "born"},
            r"hierarchy 'born': value 1 of 1 \(not shown: it is data\) is not a date such as 2024-12-31",
        ),
        (
            ["2024-03-01", "2024-02-30"],
            ["year"],
            {},
            r"^[^4]*value 2 of 2 \(not shown: it is data\) is not a date such as 2024-12-31[^0]*$",
        ),
        ([5], ["year"], {}, "value 1 of 1 .* is not a date"),
        (["2024-01-01"], ["year"], {"origin": 1}, "omit origin"),
        ([], ["year"], {}, "has no values"),
    ],
)
def test_bands_of_dates_refused(values: list, widths: list, options: dict, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        Hierarchy.intervals(values, widths, **options)


def test_masking_hides_one_character_at_a_time() -> None:
    zips = Hierarchy.masking(["43001", "43007", "08001", "4321"])
    assert zips.labels(1) == ("4300*", "0800*", "4321*")
    assert zips.labels(2) == ("430**", "080**", "432**")
    assert zips.labels(5) == ("*****",)
    # One of them has four characters: of it the first levels hide nothing, or fewer than of the others.
    assert zips.describe(1) == "first 4 characters shown"
    assert zips.describe(4) == "first character shown"
    assert zips.describe(5) == "suppressed"
    zips = Hierarchy.masking(["43001", "43007", "08001", "?"])  # how missing values are called
    assert zips.describe(1) == "last character hidden"
    assert zips.describe(2) == "last 2 characters hidden"
    assert Hierarchy.masking(["12", "13"], mark="x", levels=1).labels(1) == ("1x",)
    assert Hierarchy.masking([8001, 43001]).values == ("8001", "43001")


def test_trailing_blanks_do_not_change_how_much_is_hidden(tmp_path: Path) -> None:
    cells = ["37006", "37006  ", "08001", "43201"]
    zips = Hierarchy.masking(cells, levels=3)
    assert zips == Hierarchy.masking(["37006", "08001", "43201"], levels=3)
    assert zips.labels(3) == ("37***", "08***", "43***")
    assert zips.describe(3) == "last 3 characters hidden"
    (tmp_path / "zip.csv").write_text("37006  ;37*** ;*\n08001; 08***;*\n")
    read = Hierarchy.from_csv(tmp_path / "zip.csv")
    assert read.values == ("37006", "08001")
    assert read.labels(1) == ("37***", "08***")
    assert read.table([" 37006"]).tolist() == [[0], [0], [0]]


@pytest.mark.parametrize("values", [["37006", "3700612"], ["370", "37006"]])
def test_a_level_read_from_a_file_hides_what_its_phrase_says(values: list[str], tmp_path: Path) -> None:
    """Also where stars stand for more characters than some values have."""
    width = max(map(len, values))
    Hierarchy.masking([*values, "08001"], levels=width - 2).to_csv(tmp_path / "zip.csv")
    read = Hierarchy.from_csv(tmp_path / "zip.csv")
    assert read.describe(width - 2) == "first 2 characters shown"
    same = Hierarchy.from_levels({"37006": ["37***"], "08001": ["08***"]})
    assert same.describe(1) == "last 3 characters hidden"


@given(st.lists(st.text("*01a", max_size=5), min_size=1, max_size=20))
def test_masking_always_nests(values: list[str]) -> None:
    hierarchy = Hierarchy.masking(values)
    assert hierarchy.n_groups(hierarchy.length) == 1
    assert set(hierarchy.values) == set(values)


def test_masking_leaves_a_missing_value_a_class_of_its_own() -> None:
    some = Hierarchy.masking(["01067", "01069", "?"], levels=4, name="zip")
    assert [some.labels(level) for level in range(5)] == [
        ("01067", "01069", "?"), ("0106*", "?"), ("010**", "?"), ("01***", "?"), ("0****", "?"),
    ]  # fmt: skip
    assert Hierarchy.masking(["01067", "01069", "?"]).labels(5) == ("*****",)
    with pytest.raises(SDCError, match=r"hierarchy 'zip': levels must be between 1 and 5, .* not 9"):
        Hierarchy.masking(["01067", "?"], levels=9, name="zip")


def test_masking_refused() -> None:
    with pytest.raises(SDCError, match="levels must be between 1 and 2"):
        Hierarchy.masking(["12"], levels=3)
    with pytest.raises(SDCError, match="levels must be between 1 and 2"):
        Hierarchy.masking(["12"], levels=0)
    with pytest.raises(SDCError, match="mark must be one character"):
        Hierarchy.masking(["12"], mark="")
    with pytest.raises(SDCError, match="no values"):
        Hierarchy.masking([])


def test_suppression() -> None:
    sexes = Hierarchy.suppression(["Male", "Female", "Male"])
    assert sexes.values == ("Male", "Female")
    assert sexes.labels(1) == ("*",)
    with pytest.raises(SDCError, match="a list of values, not a text"):
        Hierarchy.suppression("Male")
    with pytest.raises(SDCError, match="hierarchy 'sex' has no values"):
        Hierarchy.suppression([], name="sex")


# --------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "has no values"),
        ([["a"], ["b"]], "no level above the values"),
        ([["a", "x"], ["b", "x", "*"]], r"row 2 \(value 'b'\) has 3 entries, row 1 has 2"),
        ([["a", "x"], ["b", "x"], ["a", "x"]], "value 'a' stands in row 1 and again in row 3"),
        ([[1, "x"], ["1", "x"]], "value '1' stands in row 1 and again in row 2"),
        (
            [["a", "x", "p"], ["b", "y", "p"], ["c", "x", "q"]],
            r"does not nest: value 'c' \(row 3\) is 'x' at level 1 like 'a', but 'q' and not 'p' at level 2",
        ),
        ([["a", "x"], ["b", " "]], r"row 2 \(value 'b'\) has an empty label at level 1"),
        ([["a", "b", "*"], ["b", "a", "*"]], "level 1 merges nothing and shows value 'a' as 'b', which is another"),
        ([["1", "2"], ["2", "3"]], "level 1 merges nothing and shows value '1' as '2'"),
        ([["a", "x", "a"], ["b", "y", "b"]], r"level 2 shows value 'a' \(row 1\) again, .* replaced by 'x'"),
        (["ab", "cd"], "row 1 must be a list"),
        ({"a": "xy"}, "value 'a' needs a list of labels"),
        ({"a": 5}, "row 1 must be a list"),
    ],
)
def test_levels_refused(rows: object, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        Hierarchy.from_levels(rows)  # type: ignore[arg-type]


@pytest.mark.parametrize("level", [-1, 4, 1.5, "1", None])
def test_levels_out_of_range(towns: Hierarchy, level: int) -> None:
    for method in (towns.labels, towns.codes, towns.n_groups, towns.leaves, towns.describe):
        with pytest.raises(SDCError, match="'towns' has levels 0 to 3"):
            method(level)


def test_other_arrays_are_no_hierarchy() -> None:
    frame = pd.DataFrame({"a": [1, 2]})
    with pytest.raises(SDCError, match="hold no hierarchy"):
        Hierarchy(Microdata.from_frame(frame).arrays)


# --------------------------------------------------------------------------- files


@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), min_size=2, max_size=2),
        min_size=1,
        max_size=12,
        unique_by=lambda row: row[0].strip(),
    )
)
def test_file_round_trip(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]) -> None:
    first = [["first", "x"], ["second", "x"]]  # so that no line of numbers stands below one of words
    labelled = [[value, f"{text.strip()} …"] for value, text in rows if value.strip() not in ("first", "second")]
    hierarchy = Hierarchy.from_levels([[*row, "*"] for row in [*first, *labelled]])
    path = tmp_path_factory.mktemp("h") / "h.csv"
    hierarchy.to_csv(path)
    assert Hierarchy.from_csv(path).rows() == hierarchy.rows()


def test_arx_format(tmp_path: Path, towns: Hierarchy) -> None:
    path = tmp_path / "towns.csv"
    towns.to_csv(path)
    assert path.read_bytes().splitlines()[0] == b"Olot;Girona;north;*"
    assert Hierarchy.from_csv(path) == towns
    assert Hierarchy.from_csv(path).name == "towns"
    path.write_bytes(b"\xef\xbb\xbf1;0-4;*\r\n\r\n5;5-9;*\r\n")
    ages = Hierarchy.from_csv(path, name="age")
    assert ages.values == ("1", "5")
    assert ages.describe(1) == "bands of 5"
    path.write_text("1\t0-4\n")
    assert Hierarchy.from_csv(path, delimiter="\t").labels(1) == ("0-4",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"1,a,*\n2,b,*\n", "did you mean delimiter=','"),
        (b"1;a;*\n2;b\n", r"hierarchy 'h': row 2 \(value '2'\) has 2 entries, row 1 has 3"),
        (b"1;caf\xe9;*\n", "not UTF-8: byte 0xe9 at position 5"),
        (b'1;"a;*\n2;b;*\n', "quotation mark left open"),
        (b"1\n2\n", "no level above the values"),
        (b"age;decade\n20;20-29\n31;30-39\n", r"the first line \('age'\) looks like names of levels"),
        (b"H;group\na;x\nb;x\n", r"the first line \('H'\) looks like names of levels"),
        (b"1;a;*;\n2;b;*;\n", r"row 1 \(value '1'\) has an empty label at level 3: .*delimiter at the end"),
    ],
)
def test_files_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "h.csv"
    path.write_bytes(content)
    with pytest.raises(SDCError, match=message):
        Hierarchy.from_csv(path)


@pytest.mark.parametrize("first", ["?", "*", "NA", "<18", "90+", "15-17", "A1"])
def test_a_first_line_that_is_a_value(first: str, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text(f"{first};x\n20;y\n30;y\n")
    assert Hierarchy.from_csv(tmp_path / "h.csv").values == (first, "20", "30")


def test_labels_that_are_values_and_merge() -> None:
    """Decades by number, a middle value for its band, a name kept: none of them exchanges or restores values."""
    assert Hierarchy.from_levels([[i, i // 10] for i in range(20)]).labels(1) == ("0", "1")
    assert Hierarchy.from_levels([[1, 2], [2, 2], [3, 2]]).labels(1) == ("2",)
    assert Hierarchy.from_levels([["a", "a", "*"], ["b", "c", "*"]]).labels(1) == ("a", "c")


def test_a_label_of_an_interval_without_the_value(tmp_path: Path) -> None:
    rows = [["19", "0-19", "*"], ["20", "0-19", "*"], ["21", "21-40", "*"], ["?", "unknown", "*"]]
    with pytest.warns(SDCWarning, match=r"shows '20' as '0-19', which does not hold it \(1 such labels\)"):
        hierarchy = Hierarchy.from_levels(rows)
    hierarchy.to_csv(tmp_path / "h.csv")
    with pytest.warns(SDCWarning, match="the hierarchy 'h' shows '20' as '0-19'"):
        assert Hierarchy.from_csv(tmp_path / "h.csv") == hierarchy
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Hierarchy.from_levels([["19", "0-19"], ["20", ">=20"], ["2.5", "[2.5, 5.0)"], ["x", "1-2"]])
        Hierarchy.intervals(range(-20, 20), [5, 10])


@pytest.mark.filterwarnings("error")
def test_hundreds_of_levels() -> None:
    """Each further level looks at its own labels only, not at those of all levels before."""
    rows = [[str(i), *(f"g{max(i, level)}" for level in range(1, 401))] for i in range(500)]
    hierarchy = Hierarchy.from_levels(rows)
    assert hierarchy.n_levels == 401
    assert hierarchy.n_groups(400) == 100


def test_places_refused(tmp_path: Path, towns: Hierarchy) -> None:
    towns.to_csv(tmp_path / "towns.csv")
    with pytest.raises(SDCError, match=r"no hierarchy file .*did you mean 'towns.csv'"):
        Hierarchy.from_csv(tmp_path / "town.csv")
    with pytest.raises(SDCError, match="cannot read"):
        Hierarchy.from_csv(tmp_path)
    with pytest.raises(SDCError, match="cannot write"):
        towns.to_csv(tmp_path / "no" / "folder.csv")
    with pytest.raises(SDCError, match="delimiter must be a single character"):
        Hierarchy.from_csv(tmp_path / "towns.csv", delimiter="")


def test_arx_examples(public: Callable[[str], Path], tmp_path: Path) -> None:
    lengths = {}
    for name in ("age", "education", "marital-status", "native-country", "occupation", "race", "sex", "workclass"):
        path = public(f"hierarchies/adult_{name}.csv")
        with warnings.catch_warnings():  # ages of 5, 10, … stand in the band below
            warnings.simplefilter("ignore", SDCWarning)
            hierarchy = Hierarchy.from_csv(path)
        lengths[name] = hierarchy.length
        assert hierarchy.labels(hierarchy.length) == ("*",)
        hierarchy.to_csv(tmp_path / "again.csv")
        assert (tmp_path / "again.csv").read_text().split() == path.read_text().split()
    assert lengths["age"] == 4


# --------------------------------------------------------------------------- many values


def test_work_grows_with_the_number_of_values_and_no_faster() -> None:
    """Ten times the values take about ten times the time; anything quadratic would take a hundred times."""

    def seconds(n: int) -> float:
        values = [f"{i:07d}" for i in range(n)]
        begin = time.process_time()
        hierarchy = Hierarchy.masking(values, levels=3)
        hierarchy.table(values)
        Hierarchy.intervals(np.arange(n) / 4, [0.5, 5])
        return time.process_time() - begin

    seconds(1000)
    assert seconds(100_000) < 40 * max(min(seconds(10_000) for _ in range(3)), 0.01)


def test_places_by_the_level_of_their_type() -> None:
    top = [("United States", 5), ("World", 7)]
    state = [("New York State", 4), *top]
    places = Hierarchy.from_typed_paths([
        [("Brooklyn", 0), ("New York City", 1), *state],
        [("Washington DC", 1), *top],
        state,
        top,
    ])  # fmt: skip
    assert places.rows()[0] == ("Brooklyn", "New York City", *["New York State"] * 3, "United States", "World", "World")
    assert places.rows()[1] == (*["Washington DC"] * 2, *["United States"] * 4, "World", "World")
    assert places.rows()[3] == (*["United States"] * 6, "World", "World")
    for paths, sentence in [
        ([], "has no values"),
        ([[("a", 1), ("b", 1)]], "levels of path 1 must rise"),
        ([[("a", 0), ("b", 1)], [("c", 0), ("d", 1)]], "the last place must be the same"),
        ([["a", "b"]], "path 1 must hold pairs"),
    ]:
        with pytest.raises(SDCError, match=sentence):
            Hierarchy.from_typed_paths(paths)


@pytest.mark.parametrize(
    ("widths", "origin"),
    [([10**19], 0), ([1e308], 0), ([10**400], 0), ([10], 1e300), ([1, 2**60], 0), ([2**-40, 2**14], 0)],
)
def test_intervals_beyond_whole_numbers_of_floats(widths: list[float], origin: float) -> None:
    with pytest.raises(SDCError, match=r"below 2\*\*53|finite numbers"):
        Hierarchy.intervals([1, 2, 3], widths, origin)

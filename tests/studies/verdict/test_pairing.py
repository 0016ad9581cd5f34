from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Microdata, SDCError
from sdc_problems._tables.intervals import parse_interval
from sdc_problems.studies.verdict import verdict
from sdc_problems.studies.verdict.pairing import Fate, PairedColumn, Pairing, as_protected, pair_files, read_protected

FRAME = pd.DataFrame(
    {
        "name": ["n1", "n2", "n3", "n4", "n5", "n6"],
        "age": [21, 24, 35, 38, 52, 57],
        "town": ["Olot", "Reus", "Reus", "Olot", "Vic", "Vic"],
        "job": ["a", "b", "a", "b", "a", "b"],
        "flu": ["no", "yes", "no", "yes", "no", "no"],
    }
)
QUASI = ("age", "town")


def pair(protected: pd.DataFrame, *, quasi: tuple[str, ...] = QUASI, **options: bool) -> Pairing:
    data = Microdata.from_frame(FRAME, quasi_identifiers=quasi, sensitive=["flu"], identifiers=["name"])
    return pair_files(data, as_protected(protected), quasi_identifiers=quasi, sensitive=("flu",), **options)


RELEASE = FRAME.drop(columns="name")


def test_untouched_files() -> None:
    pairing = pair(RELEASE)
    assert [c.fate for c in pairing.quasi_identifiers] == [Fate.UNCHANGED, Fate.UNCHANGED]
    assert not pairing.suppressed.any()
    assert pairing.notes == ()


def test_fates() -> None:
    noisy = pair(RELEASE.assign(age=[20.5, 24, 35, 38, 52, 57], town=list("ORROVV"))).quasi_identifiers
    assert [c.fate for c in noisy] == [Fate.PERTURBED, Fate.GENERALISED]
    assert noisy[0].numbers is not None
    assert noisy[0].numbers[1].tolist() == [20.5, 24, 35, 38, 52, 57]
    swapped = pair(RELEASE.assign(town=["Reus", "Olot", "Reus", "Olot", "Vic", "Vic"])).quasi_identifiers
    assert swapped[1].fate is Fate.PERTURBED


def test_numbers_are_compared_as_numbers() -> None:
    pairing = pair(RELEASE.assign(age=["21.0", "24", "35.00", "38", "5.2e1", "57"]))
    assert pairing.quasi_identifiers[0].fate is Fate.UNCHANGED


def test_a_label_of_a_value_and_of_gaps_is_no_finer_one() -> None:
    towns = pd.DataFrame({"town": ["Vic", "Vic", "Vic", None, "Olot", "Olot"]})
    data = Microdata.from_frame(towns, quasi_identifiers=["town"], missing="category")
    shown = pd.DataFrame({"town": ["Vic", "Vic", "Vic or ?", "Vic or ?", "Olot", "Olot"]})
    pairing = pair_files(data, as_protected(shown), quasi_identifiers=["town"])
    assert pairing.quasi_identifiers[0].fate is Fate.GENERALISED


def test_suppressed_records_are_those_without_any_quasi_identifier() -> None:
    released = RELEASE.astype(object).copy()
    released.loc[0, ["age", "town"]] = "*"
    released.loc[1, ["age", "town"]] = np.nan
    released.loc[2, "town"] = "*"
    pairing = pair(released)
    assert pairing.suppressed.tolist() == [True, True, False, False, False, False]
    age, town = pairing.quasi_identifiers
    assert age.fate is Fate.UNCHANGED  # the records that are left kept it
    assert town.fate is Fate.STARRED  # a star where others show a town
    assert town.stars.tolist() == [True, True, True, False, False, False]


def test_everything_starred_is_one_group_not_no_records() -> None:
    pairing = pair(RELEASE.assign(age="*", town="*"))
    assert not pairing.suppressed.any()
    assert all(c.fate is Fate.GENERALISED for c in pairing.quasi_identifiers)


def test_leaves_are_counted() -> None:
    released = RELEASE.assign(
        age=["20-29", "20-29", "[30, 57)", "[30, 57)", "57", ">=57"], town=["C", "C", "C", "C", "Vic", "*"]
    )
    released.loc[4, "age"] = "52"
    age, town = pair(released).quasi_identifiers
    assert age.leaves().tolist() == [2, 2, 3, 3, 1, 1]
    assert town.leaves().tolist() == [2, 2, 2, 2, 1, 3]


def test_a_label_stands_for_the_values_that_went_out_under_it() -> None:
    kept = np.ones(6, dtype=bool)
    town = pair(RELEASE.assign(town=["C", "C", "Reus", "Olot", "*", "Vic"])).quasi_identifiers[1]
    sets = dict(zip(town.labels, town.sets(kept), strict=True))  # Olot, Reus, Vic in this order
    assert {name: list(values) for name, values in sets.items()} == {
        "Olot": [0], "Reus": [1], "Vic": [2], "C": [0, 1], "*": [],
    }  # fmt: skip
    age = pair(RELEASE.assign(age=["21", "20-29", "35", ">=35", "52", "50-59"])).quasi_identifiers[0]
    sets = dict(zip(age.labels, age.sets(kept), strict=True))
    assert sets["20-29"] == range(2)
    assert sets[">=35"] == range(2, 6)


def test_an_empty_cell_is_a_star_unless_it_was_empty_before() -> None:
    frame = FRAME.assign(town=["Olot", None, "Reus", "Olot", "Vic", "Vic"]).drop(columns="name")
    data = Microdata.from_frame(frame, quasi_identifiers=QUASI, missing="category")

    def town(cells: list[str | None]) -> PairedColumn:
        protected = as_protected(frame.assign(town=cells))
        return pair_files(data, protected, quasi_identifiers=QUASI).quasi_identifiers[1]

    left = town(["Olot", None, "Reus", "Olot", "Vic", "Vic"])
    assert left.fate is Fate.UNCHANGED
    assert not left.stars.any()
    emptied = town([None, None, "Reus", "Olot", "Vic", "Vic"])
    assert emptied.fate is Fate.STARRED
    assert emptied.stars.tolist() == [True, True, False, False, False, False]  # nobody can tell the two apart


def test_other_columns_that_differ_are_noted() -> None:
    pairing = pair(RELEASE.assign(job=["b", "b", "a", "b", "a", "b"]))
    assert pairing.notes == ("not measured, as neither quasi-identifier nor sensitive, but different: 'job'",)


@pytest.mark.parametrize(
    ("protected", "message"),
    [
        (FRAME, "still holds the direct identifier 'name'"),
        (RELEASE.drop(columns="job"), "the protected file lacks 'job'"),
        (RELEASE.assign(more=1), "it has 'more', which the original lacks"),
        (RELEASE[["town", "age", "job", "flu"]], "different order: column 1 is 'age' in the original and 'town'"),
        (RELEASE.iloc[:5], "6 in the original, 5 in the protected file"),
        (RELEASE.assign(town=[1, 2, 2, 1, 3, 3]), "column 'town' has different types: text in the original, numbers"),
        (RELEASE.assign(age=["x", "24", "35", "38", "52", "57"]), r"column 'age' has different types.*first in row 1"),
        (
            RELEASE.assign(age=["30-39", "20-29", *["*"] * 4]),
            r"column 'age': in 1 rows \(first in row 1\) the original",
        ),
        (RELEASE.assign(flu=["no", "no", "no", "maybe", "no", "no"]), r"column 'flu' holds values .*first in row 4"),
        (RELEASE.assign(flu=["no", "no", "no", "*", "no", "no"]), r"column 'flu' holds values .*first in row 4"),
        (RELEASE.assign(town=list("uvwxyz")), "column 'town' holds more different new labels"),
        (RELEASE.iloc[::-1], r"rows seem to be in a different order: .*\(first in row 1\)"),
        (RELEASE.iloc[::-1].assign(age="*", town="*"), "rows seem to be in a different order: 'job', 'flu' hold"),
    ],
)
def test_files_that_do_not_match_are_refused(protected: pd.DataFrame, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        pair(protected.reset_index(drop=True))


@pytest.mark.parametrize(
    "coarser",
    [
        RELEASE.assign(age=["20-29", "20-29", "30-39", "30-39", "50-59", "50-59"]),
        RELEASE.assign(age=[22.5, 22.5, 36.5, 36.5, 54.5, 54.5]),
        RELEASE.assign(town=["C", "C", "C", "C", "Vic", "Vic"]),
        RELEASE.assign(town=["Olot", "Reus", "*", "Olot", "*", "Vic"]),
    ],
)
def test_swapped_files_are_refused(coarser: pd.DataFrame) -> None:
    data = Microdata.from_frame(coarser, quasi_identifiers=QUASI)
    with pytest.raises(SDCError, match="did you swap the two files"):
        pair_files(data, as_protected(RELEASE), quasi_identifiers=QUASI)
    pair(coarser)  # the right way round


def test_noise_is_no_sign_of_swapped_files(rng: np.random.Generator) -> None:
    for age in (rng.normal(40, 10, 6), FRAME["age"] + rng.normal(size=6), np.full(6, 20.5), [21, 25, 34, 39, 52, 56]):
        pair(RELEASE.assign(age=age))
    pair(RELEASE.assign(town=["Olot", "Reus", "C", "C", "Vic", "V"]), same_rows=True)  # labels of one value and of two


def test_no_error_repeats_a_cell() -> None:
    for protected in (
        RELEASE.assign(age=["secret", "24", "35", "38", "52", "57"]),
        RELEASE.assign(flu=["no", "no", "no", "secret", "no", "no"]),
        RELEASE.assign(age=["90-99", *["*"] * 5], town="secret"),
        RELEASE.iloc[::-1].reset_index(drop=True),
    ):
        with pytest.raises(SDCError) as caught:
            pair(protected, quasi=("age",) if "town" in protected else QUASI)
        assert not any(cell in str(caught.value) for cell in ("secret", "Olot", "21"))


def test_labels_that_do_not_hold_their_values_are_noted() -> None:
    """ARX's own hierarchy of ages shows 20 as 0-19: equal values are treated equally, in the order of the values."""
    frame = pd.DataFrame({"age": [18, 20, 21, 40, 41, 20], "ill": list("yynnyn")})
    data = Microdata.from_frame(frame, quasi_identifiers=["age"], sensitive=["ill"])
    labels = {18: "0-19", 20: "0-19", 21: "20-39", 40: "20-39", 41: "40-59"}
    pairing = pair_files(data, as_protected(frame.assign(age=frame["age"].map(labels))), quasi_identifiers=["age"])
    assert any("'age' are named after intervals that do not hold all their values" in note for note in pairing.notes)
    column = pairing.quasi_identifiers[0]
    assert column.leaves().tolist() == [2, 2, 2, 2, 1, 2]
    assert [len(held) for held in column.sets(np.ones(6, dtype=bool)) if len(held)] == [2, 2, 1]
    found = verdict(data, frame.assign(age=frame["age"].map(labels)))
    assert found.value("k") == 1
    for wrong in (
        ["20-39", "0-19", "0-19", "0-19", "40-59", "0-19"],
        ["0-19", "0-19", "0-19", "0-19", "0-19", "40-59"],
    ):
        with pytest.raises(SDCError, match="outside the interval"):
            pair_files(data, as_protected(frame.assign(age=wrong)), quasi_identifiers=["age"])


def test_years_of_dates_are_labels() -> None:
    frame = pd.DataFrame({"born": ["1990-01-02", "1990-05-01", "1991-07-07", "1992-08-08"]})
    data = Microdata.from_frame(frame, quasi_identifiers=["born"])
    years = as_protected(frame.assign(born=["1990", "1990", "*", "1992"]))
    assert pair_files(data, years, quasi_identifiers=["born"]).quasi_identifiers[0].fate is Fate.GENERALISED
    with pytest.raises(SDCError, match="text in the original, numbers in the protected file"):
        pair_files(data, as_protected(frame.assign(born=["1990", "1991", "1991", "1992"])), quasi_identifiers=["born"])


def test_swapped_on_purpose() -> None:
    shuffled = RELEASE.iloc[::-1].reset_index(drop=True)
    pairing = pair(shuffled, same_rows=True)
    assert [c.fate for c in pairing.quasi_identifiers] == [Fate.PERTURBED, Fate.PERTURBED]


def test_a_swapped_column_beside_untouched_ones_is_no_other_order() -> None:
    assert pair(RELEASE.assign(town=RELEASE.town.to_numpy()[::-1])).quasi_identifiers[1].fate is Fate.PERTURBED


def test_numeric_sensitive_attributes_stay_numbers() -> None:
    data = Microdata.from_frame(FRAME, quasi_identifiers=["town"], sensitive=["age"], identifiers=["name"])
    with pytest.raises(SDCError, match=r"column 'age' has different types: numeric .*first in row 1"):
        pair_files(data, as_protected(RELEASE.assign(age="20-60")), quasi_identifiers=("town",), sensitive=("age",))


def test_roles_are_checked() -> None:
    data = Microdata.from_frame(RELEASE)
    same = as_protected(RELEASE)
    with pytest.raises(SDCError, match="name at least one quasi-identifier"):
        pair_files(data, same, quasi_identifiers=())
    with pytest.raises(SDCError, match="'town' cannot be a quasi-identifier and sensitive"):
        pair_files(data, same, quasi_identifiers=("town",), sensitive=("town",))
    with pytest.raises(SDCError, match="'town' is named twice"):
        pair_files(data, same, quasi_identifiers=("town", "town"))
    with pytest.raises(SDCError, match="did you mean 'town'"):
        pair_files(data, same, quasi_identifiers=("twon",))


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("20-29", [20, 29], [19.9, 29.1]),
        ("20 – 29", [20, 29], [30]),
        ("-5--1", [-5, -1], [-6, 0]),
        ("[2.5, 5.0)", [2.5, 4.9], [2.4, 5.0]),
        ("(2.5, 5.0]", [2.6, 5.0], [2.5]),
        ("(30.0, 45.0]", [45], [30]),
        (">=65", [65, 1e9], [64]),
        (">65", [66], [65]),
        ("<18", [17, -3], [18]),
        ("≤18", [18], [19]),
        ("65+", [65, 90], [64]),
        ("1e3-2e3", [1500], [999]),
        ("under 20", [-5, 19], [20, 21]),
        ("60 and over", [60, 99], [59]),
        ("Older than 60", [61], [60]),
        ("up to 2.5", [2.5], [2.6]),
        ("12 or less", [12], [13]),
    ],
)
def test_intervals_are_read(text: str, inside: list[float], outside: list[float]) -> None:
    interval = parse_interval(text)
    assert interval is not None
    assert interval.holds(np.array(inside, dtype=float)).all()
    assert not interval.holds(np.array(outside, dtype=float)).any()


@pytest.mark.parametrize("text", ["*", "young", "2019", "20-", "a-b", "", "20-29-39", "under age", "20 and", "over"])
def test_other_labels_are_no_intervals(text: str) -> None:
    assert parse_interval(text) is None


def test_numbers_stand_beside_intervals_in_words() -> None:
    ages = ["under 25", "under 25", "35", "38", "50 and over", "50 and over"]
    assert pair(RELEASE.assign(age=ages)).quasi_identifiers[0].fate is Fate.GENERALISED
    with pytest.raises(SDCError, match="mixes numbers with text that is neither an interval"):
        pair(RELEASE.assign(age=["young", "young", *ages[2:]]))


def test_a_parquet_file_is_read_a_column_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    days = [datetime.date(2020, 1, 1 + i) for i in range(4)]
    frame = pd.DataFrame({"n": [1, 2, 2, 4], "x": [0.5, None, 2.0, 4.0], "s": ["x", "*", None, "x"], "d": days})
    frame.to_parquet(tmp_path / "p.parquet", index=False)
    whole = as_protected(pd.read_parquet(tmp_path / "p.parquet"))
    monkeypatch.setattr("sdc_problems.studies.verdict.pairing.read_frame", None)
    found = read_protected(tmp_path / "p.parquet")
    for name in whole.names:
        one, other = found.attribute(name), whole.attribute(name)
        assert [one.labels[code] for code in one.codes] == [other.labels[code] for code in other.codes], name

"""Mondrian: regions of the reference files, a plain twin, and what holds for every file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import Hierarchy, Microdata
from sdc_problems.errors import SDCError
from sdc_problems.evaluators import ctbil, dbil, distance_linkage, ebil, il_sse, interval_disclosure_rank
from sdc_problems.methods import mondrian
from sdc_problems.methods._by_name import mondrian_regions

THREE = ["checking_status", "savings_status", "employment"]


@pytest.fixture
def german(public: Callable[[str], Path]) -> np.ndarray:
    frame = pd.read_csv(public("german_credit.csv"))[THREE]
    return np.column_stack([pd.Categorical(frame[name]).codes for name in THREE]).astype(int)


@pytest.fixture
def census(public: Callable[[str], Path]) -> np.ndarray:
    return pd.read_csv(public("census.csv")).to_numpy(float)


def n_regions(X: np.ndarray, ks: tuple[int, ...], **options: object) -> list[int]:
    return [int(mondrian(X, k, **options).labels.max()) + 1 for k in ks]


def test_regions_of_german_credit(german: np.ndarray) -> None:
    ks = (2, 3, 5, 10, 25, 50, 100)
    assert n_regions(german, ks, kinds="ordinal") == [73, 63, 55, 38, 19, 12, 7]
    assert n_regions(german, ks, kinds="ordinal", strict=False) == [296, 196, 116, 64, 32, 16, 8]


def test_regions_of_the_census(census: np.ndarray) -> None:
    ks = (3, 5, 10, 25, 50)
    assert n_regions(census, ks) == [257, 130, 64, 32, 16]
    assert n_regions(census, ks, strict=False) == [256, 128, 64, 32, 16]
    for strict, wanted in ((True, (16.241, 23.167, 29.939)), (False, (15.700, 22.647, 29.664))):
        found = [il_sse(census, mondrian(census, k, strict=strict).labels) for k in (3, 5, 10)]
        assert found == pytest.approx(wanted, abs=6e-4)


def test_regions_of_adult(public: Callable[[str], Path]) -> None:
    frame = pd.read_csv(public("adult.csv"), na_values="?", skipinitialspace=True).dropna()
    X = frame[["age", "education-num", "hours-per-week"]].to_numpy(float)
    ks = (2, 5, 10, 25, 50, 100)
    assert n_regions(X, ks, strict=False) == [11371, 3945, 2030, 1023, 512, 256]
    sizes = [np.bincount(mondrian(X, k).labels) for k in ks]
    assert [len(s) for s in sizes] == [4487, 2358, 1402, 668, 378, 202]
    assert [s.max() for s in sizes] == [170] * 5 + [252]
    assert [(s**2).sum() for s in (sizes[0], sizes[-1])] == [1_181_254, 4_703_078]


@pytest.mark.parametrize(
    ("k", "wanted"),
    [
        (10, (38, 35_542, 19.3500, 7.5533, 17.4886, 86.9667, 3.5183)),
        (50, (12, 88_962, 53.7500, 21.5200, 33.1233, 59.7667, 1.1667)),
    ],
)
def test_global_median_of_german_credit(german: np.ndarray, k: int, wanted: tuple[float, ...]) -> None:
    labels, release = mondrian(german, k, kinds="ordinal", summary="global_median")
    Y = release.astype(int)
    size = np.bincount(labels)
    found = (
        len(size),
        (size**2).sum(),
        ctbil(german, Y),
        dbil(german, Y, kinds="ordinal"),
        ebil(german, Y),
        interval_disclosure_rank(german, Y, kinds="ordinal"),
        distance_linkage(german, Y, direction="to_original", kinds="ordinal"),
    )
    assert found == pytest.approx(wanted, abs=5e-5)


def plain(X: np.ndarray, k: int, strict: bool, spans: np.ndarray, rows: np.ndarray) -> list[list[int]]:
    """Regions as one writes them down."""
    V = X[rows]
    width = np.where(spans > 0, (V.max(axis=0) - V.min(axis=0)) / np.where(spans > 0, spans, 1), 0)
    for j in np.argsort(-width, kind="stable"):
        if width[j] == 0:
            break
        if strict:
            cuts = [(abs(2 * (V[:, j] <= v).sum() - len(V)), v) for v in np.unique(V[:, j])[:-1]]
            cuts = [(b, v) for b, v in cuts if min((V[:, j] <= v).sum(), (V[:, j] > v).sum()) >= k]
            if not cuts:
                continue
            left = V[:, j] <= min(cuts)[1]
        else:
            if len(V) < 2 * k:
                continue
            left = np.zeros(len(V), dtype=bool)
            left[np.argsort(V[:, j], kind="stable")[: (len(V) + 1) // 2]] = True
        return plain(X, k, strict, spans, rows[left]) + plain(X, k, strict, spans, rows[~left])
    return [rows.tolist()]


@given(
    st.integers(1, 40), st.integers(1, 4), st.integers(1, 12), st.integers(1, 6), st.booleans(), st.integers(0, 9999)
)
def test_kernel_agrees_with_the_plain_recursion(n: int, p: int, values: int, k: int, strict: bool, seed: int) -> None:
    X = np.random.default_rng(seed).integers(0, values, (n, p)).astype(float) ** 2
    k = min(k, n)
    labels, release = mondrian(X, k, strict=strict)
    found = sorted(np.flatnonzero(labels == region).tolist() for region in range(labels.max() + 1))
    assert found == sorted(plain(X, k, strict, X.max(axis=0) - X.min(axis=0), np.arange(n)))
    size = np.bincount(labels)
    assert size.min() >= k
    for region, members in enumerate(found):
        if not strict and len(members) > 2 * k - 1:
            assert (X[members] == X[members[0]]).all(), region
    if strict:
        same = pd.DataFrame(X).groupby(list(range(p))).ngroup().to_numpy()
        assert pd.Series(labels).groupby(same).nunique().max() == 1, "equal records are never parted"
    assert (release[:, :, 0] <= X).all()
    assert (release[:, :, 1] >= X).all()
    assert (labels[np.sort(np.unique(labels, return_index=True)[1])] == np.arange(len(size))).all()


def test_nominal_attributes_are_cut_along_their_hierarchy() -> None:
    towns = Hierarchy.from_levels({"Olot": ["G", "*"], "Reus": ["T", "*"], "Salt": ["G", "*"], "Valls": ["T", "*"]})
    codes = np.array([0, 1, 2, 3] * 3)
    table = towns.table(["Olot", "Reus", "Salt", "Valls"])
    labels, release = mondrian(codes, 5, kinds="nominal", hierarchies=[table])
    assert labels.tolist() == [0, 1, 0, 1] * 3
    assert release[:2, 0].tolist() == [[1, 0], [1, 1]], "level 1, its two groups"
    fine = mondrian(codes, 3, kinds="nominal", hierarchies=[table])
    assert fine.labels.tolist() == [0, 1, 2, 3] * 3
    assert fine.release[:, 0, 0].tolist() == [0] * 12
    whole = mondrian(codes, 7, kinds="nominal", hierarchies=[table]).release
    assert whole[0, 0].tolist() == [2, 0]
    # Without a hierarchy it goes by the order of codes.
    assert mondrian(codes, 6, kinds="nominal").labels.tolist() == [0, 0, 1, 1] * 3


@given(st.integers(2, 60), st.integers(1, 8), st.integers(0, 999))
def test_release_by_a_hierarchy_covers_every_record(n: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = np.array([np.arange(8), np.arange(8) // 2, np.arange(8) // 4, np.zeros(8, dtype=int)])
    X = np.column_stack([rng.integers(0, 8, n), rng.integers(0, 5, n)])
    labels, release = mondrian(X, min(k, n), kinds=["nominal", "ordinal"], hierarchies=[tree, None])
    assert np.bincount(labels).min() >= min(k, n)
    level, group = release[:, 0].astype(int).T
    assert (tree[level, X[:, 0]] == group).all()


def test_summaries() -> None:
    X = np.array([[1.0, 0], [2, 1], [4, 1], [9, 5]])
    assert mondrian(X, 4, summary="mean", kinds="numeric").release[0].tolist() == [4, 2]
    assert mondrian(X, 4, summary="mean", decimals=2).release[0].tolist() == [4, 1.75]
    assert mondrian(X, 4, summary="median").release[0].tolist() == [2, 1]
    assert mondrian(X, 4, summary="mode").release[0].tolist() == [1, 1]
    assert mondrian(X, 4, summary="global_median").release[0].tolist() == [5, 2]


def test_constant_columns_and_one_record() -> None:
    assert mondrian([[3.0, 1.0]] * 5, 2).labels.tolist() == [0] * 5
    assert mondrian([[3.0]], 1).release.tolist() == [[[3.0, 3.0]]]


def test_arguments_stay(unchanged: Callable[..., None], rng: np.random.Generator) -> None:
    unchanged(mondrian, rng.random((30, 2)), 3)


@pytest.mark.parametrize(
    ("X", "k", "options", "message"),
    [
        ([1.0, 2.0], 3, {}, "k = 3 is larger than the number of records, 2"),
        ([1.0, 2.0], 0, {}, "k must be a whole number ≥ 1"),
        ([1.0, 2.0], 1, {"summary": "mid"}, "summary must be one of"),
        ([1.0, 2.0], 1, {"kinds": "text"}, "kinds must be one of"),
        ([0, 1], 2, {"kinds": "nominal", "summary": "median"}, "column 0 of X is nominal and has no median"),
        ([0, 1], 2, {"kinds": "ordinal", "summary": "mean"}, "column 0 of X is ordinal and has no mean"),
        ([0.5, 1], 2, {"kinds": "ordinal"}, "column 0 of X must hold whole"),
        ([-1, 1], 2, {"kinds": "ordinal"}, "negative code"),
        ([0, 1], 2, {"kinds": "ordinal", "hierarchies": [[[0, 1]]]}, "only nominal attributes"),
        ([0, 1], 2, {"kinds": "nominal", "hierarchies": []}, "0 entries for 1 attributes"),
        ([0, 2], 2, {"kinds": "nominal", "hierarchies": [[[0, 1]]]}, "levels × codes"),
        ([1.0, float("nan")], 1, {}, "non-finite"),
    ],
)
def test_what_is_refused(X: object, k: int, options: dict[str, object], message: str) -> None:
    with pytest.raises(SDCError, match=message):
        mondrian(X, k, **options)


def test_nominal_columns_may_get_labels_of_their_hierarchies() -> None:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"age": rng.integers(20, 60, 80), "town": rng.choice(["Olot", "Vic", "Reus", "Salou"], 80)})
    data = Microdata.from_frame(frame, quasi_identifiers=["age", "town"])
    rows = [["Olot", "Girona", "*"], ["Vic", "Girona", "*"], ["Reus", "Camp", "*"], ["Salou", "Camp", "*"]]
    trees = {"town": Hierarchy.from_levels(rows)}
    done = mondrian_regions(data, 4, trees, labels=True)
    frame["where"], frame["when"] = done.columns["town"], done.columns["age"]
    assert frame.groupby(["where", "when"]).size().min() >= 4
    under = {"Girona": {"Olot", "Vic"}, "Camp": {"Reus", "Salou"}, "*": set(frame["town"])}
    for label, own in frame.groupby("where")["town"]:
        assert set(own) <= under.get(label, {label})
    assert len(set(frame["where"])) > 1
    with pytest.raises(SDCError, match="'town' has no hierarchy"):
        mondrian_regions(data, 4, labels=True)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("labels", [True, False])
def test_a_tables_regions_are_those_of_its_values(strict: bool, labels: bool) -> None:
    rng = np.random.default_rng(5)
    towns = ["Olot", "Reus", "Salt", "Vic", "Valls"]
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, 300) / 2,
            "town": rng.choice(towns, 300),
            "grade": pd.Categorical(rng.choice(["a", "b", "c", "d"], 300), ["d", "c", "b", "a"], ordered=True),
        }
    )
    whole = Microdata.from_frame(frame, quasi_identifiers=list(frame))
    data = whole.take(np.flatnonzero(frame["town"] != "Reus"))  # values of the whole that no record has
    sides = ["north", "south", "north", "north", "south"]
    tree = Hierarchy.from_levels({town: [side, "*"] for town, side in zip(towns, sides, strict=True)})
    done = mondrian_regions(data, 6, {"town": tree}, labels=labels, strict=strict)
    X = np.column_stack([data.values("age")[:, 0], data.codes(["town", "grade"])])
    trees = [None, tree.table(data.categories("town"), attribute="town") if labels else None, None]
    found = mondrian(X, 6, kinds=["numeric", "nominal", "ordinal"], hierarchies=trees, strict=strict)
    assert done.sentences[0].startswith(f"The {len(data)} records form {found.labels.max() + 1} regions")
    for region in range(found.labels.max() + 1):
        there = found.labels == region
        ages, codes = data.values("age")[there, 0], data.codes("grade")[there, 0]
        low, high = f"{ages.min():g}", f"{ages.max():g}"
        assert set(done.columns["age"][there]) == {low if low == high else f"{low}-{high}"}
        first, last = (data.attribute("grade").labels[code] for code in (codes.min(), codes.max()))
        assert set(done.columns["grade"][there]) == {first if first == last else f"{first} to {last}"}
        names = sorted(set(data.frame()["town"][there]))
        if labels:
            parts = {"north" if name in ("Olot", "Salt", "Vic") else "south" for name in names}
            wanted = names[0] if len(names) == 1 else parts.pop() if len(parts) == 1 else "*"
        else:
            wanted = " or ".join(names)
        assert set(done.columns["town"][there]) == {wanted}


def test_a_tables_regions_need_k_records() -> None:
    data = Microdata.from_frame(pd.DataFrame({"age": [1, 2, 3]}), quasi_identifiers=["age"])
    with pytest.raises(SDCError, match="k = 4 is larger than the number of records, 3"):
        mondrian_regions(data, 4)


def test_a_gap_is_no_end_of_a_range() -> None:
    days = ["1990-01-01", "1990-01-02", "1990-01-03", None, "1991-01-01", "1991-01-02", None, None, None, None]
    frame = pd.DataFrame({"born": days})
    how = {"quasi_identifiers": ["born"], "missing": "category", "kinds": {"born": "ordinal"}}
    for k, shown in ((2, {"?"}), (4, {"1990-01-01 to 1991-01-02", "?"}), (6, {"1990-01-01 to 1991-01-02 or ?"})):
        data = Microdata.from_frame(frame, **how)
        texts = set(mondrian_regions(data, k).columns["born"].tolist())
        assert shown <= texts
        assert not any("to ?" in text or text.startswith("? ") for text in texts)

"""Tables by name: roles, hierarchies, where files are looked for, and what is said when they are not there."""

from __future__ import annotations

import dataclasses
import math
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sdc_problems import SDCError, load
from sdc_problems import datasets as module
from sdc_problems._sources import files as _files
from sdc_problems._sources import people as _people
from sdc_problems._sources.catalogue import SOURCES
from sdc_problems.datasets import cache_home, catalogue, crawl, ensure, names
from sdc_problems.evaluators.graph import structure
from sdc_problems.hierarchy import Hierarchy


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No data on this machine; the cache is an empty folder."""
    monkeypatch.delenv("SDC_DATA_HOME", raising=False)
    monkeypatch.setattr(_files, "cache_home", lambda: tmp_path)
    return tmp_path


def hierarchies(folder: str) -> dict[str, Hierarchy]:
    attributes = _people.QUASI_IDENTIFIERS if folder == "people" else SOURCES["adult"].quasi_identifiers
    return module._hierarchies(folder, attributes)


# --------------------------------------------------------------------------------------------- names and files


def test_every_name_loads_or_says_how(nowhere: Path) -> None:
    assert names()[:3] == ("people", "crawl", "firms")
    for name in names()[3:]:
        with pytest.raises(SDCError, match=f"dataset '{name}' is not on this machine") as error:
            load(name, download=False)
        text = str(error.value)
        assert str(nowhere) in text
        assert "SDC_DATA_HOME" in text
        source = SOURCES[name]
        assert ("https://archive.ics.uci.edu/" in text) == bool(source.url)
        assert all(file in text for file in (source.raw if source.url else source.files))


@pytest.mark.parametrize("name", ["census", "tarragona", "eia"])
def test_the_casc_files_come_from_r(name: str, nowhere: Path) -> None:
    with pytest.raises(SDCError, match=r"cannot be downloaded: the R package sdcMicro .* write\.csv\(\w+, '\w+\.csv'"):
        load(name)
    with pytest.raises(SDCError, match="sdcMicro"):
        ensure(name)


@pytest.mark.parametrize(("wrong", "right"), [("peopel", "people"), ("Adult", "adult"), ("german", "german_credit")])
def test_an_unknown_name(wrong: str, right: str) -> None:
    with pytest.raises(SDCError, match=f"unknown dataset '{wrong}'; did you mean '{right}'.*water_treatment"):
        load(wrong)


def test_the_embedded_table_has_no_file() -> None:
    for name in ("people", "crawl", "firms"):
        with pytest.raises(SDCError, match="embedded"):
            ensure(name)


def test_the_embedded_graph_is_like_the_crawled_ones() -> None:
    small = load("crawl")
    assert (len(small.data), len(small.edges), small.data.identifiers) == (306, 342, ("id",))
    found = structure(small.edges, 306)
    assert (found.components, found.diameter, round(found.mean_path, 2)) == ((306,), 17, 7.33)
    labels = small.data.attribute("place").labels
    assert set(labels) <= set(small.hierarchies["place"].values)
    assert len(small.hierarchies["place"].values) == 336
    topics = small.data.frame()[["topic1", "topic2", "topic3"]].astype(str)
    assert (topics.nunique(axis=1) == 3).all()
    assert small.graph.n_links == 342
    assert crawl(306, 342, seed=4).data.digest != small.data.digest == crawl(306, 342).data.digest


@pytest.mark.parametrize(("n", "m"), [(5, None), (100, 98), (100, 5_000), (True, None)])
def test_a_graph_that_cannot_be_drawn(n: int, m: int | None) -> None:
    with pytest.raises(SDCError, match=r"^(n|m) "):
        crawl(n, m)


def test_a_table_has_no_links() -> None:
    with pytest.raises(SDCError, match="has no links"):
        _ = load("people").graph


def test_the_data_home_must_be_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDC_DATA_HOME", str(tmp_path / "absent"))
    with pytest.raises(SDCError, match=r"SDC_DATA_HOME is set to .*absent, which is not a folder"):
        load("census")
    assert len(load("people").data) == 5_000  # needs no folder


def test_a_file_that_is_not_the_published_one(tmp_path: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = ",".join(SOURCES["census"].columns) + "\n"
    (nowhere / "census.csv").write_text(header + "1" + ",2" * 12 + "\n")
    with pytest.raises(
        SDCError, match=r"census\.csv is not the published file: it has 1 records instead of 1080; remove"
    ):
        load("census")
    small = dataclasses.replace(SOURCES["census"], rows=1)
    monkeypatch.setitem(SOURCES, "census", small)
    with pytest.raises(SDCError, match=r"not the published file: its digest is [0-9a-f]{12}…, expected c047bec13d87…"):
        load("census")


def test_the_data_home_comes_before_the_cache(nowhere: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")
    source = SOURCES["census"]
    (nowhere / "census.csv").write_text("cached")
    assert _files.find(source) == nowhere / "census.csv"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDC_DATA_HOME", str(home))
        assert _files.find(source) == nowhere / "census.csv"
        (home / "census.csv").write_text("given")
        assert _files.find(source) == home / "census.csv"


def test_the_catalogue_says_where_each_table_is(nowhere: Path) -> None:
    (nowhere / "tarragona.csv").write_text("")
    listed = {listing.name: listing for listing in catalogue()}
    assert tuple(listed) == names()
    assert listed["tarragona"].place == nowhere / "tarragona.csv"
    assert listed["adult"].place is None
    assert {name for name, listing in listed.items() if listing.downloadable} == {
        "adult", "adult_test", "german_credit", "solar_flare", "water_treatment",
    }  # fmt: skip
    assert (listed["eia"].records, listed["eia"].columns) == (4_092, 15)


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, "home/.cache/sdc-problems"),
        ("linux", {"XDG_CACHE_HOME": "/elsewhere"}, "/elsewhere/sdc-problems"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "home/.cache/sdc-problems"),
        ("darwin", {"XDG_CACHE_HOME": "/elsewhere"}, "home/Library/Caches/sdc-problems"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/sdc-problems/Cache"),
        ("win32", {}, "home/AppData/Local/sdc-problems/Cache"),
    ],
)
def test_the_cache_is_where_the_platform_keeps_caches(
    platform: str, environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    assert cache_home() == Path(expected)


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(SDCError, match="set SDC_DATA_HOME"):
        cache_home()


# ------------------------------------------------------------------------------------------------- hierarchies


@pytest.mark.parametrize("folder", ["people", "adult"])
def test_the_hierarchies_have_the_lengths_of_dewri_et_al(folder: str) -> None:
    found = list(hierarchies(folder).values())
    assert [h.length for h in found] == [6, 3, 3, 3, 1, 1, 4, 1]
    assert math.prod(h.n_levels for h in found) == 17_920
    assert all(h.n_groups(h.length) == 1 for h in found)


def test_adults_hierarchies_have_the_values_of_table_1a() -> None:
    assert [h.n_values for h in hierarchies("adult").values()] == [74, 7, 16, 7, 5, 2, 41, 2]


@pytest.mark.parametrize("folder", ["people", "adult"])
def test_every_level_generalises(folder: str) -> None:
    for name, hierarchy in hierarchies(folder).items():
        groups = [hierarchy.n_groups(level) for level in range(hierarchy.n_levels)]
        assert groups == sorted(set(groups), reverse=True), name  # each level has fewer groups than the one before


@pytest.mark.parametrize("folder", ["people", "adult"])
def test_age_bands_are_5_10_and_20_years_wide(folder: str) -> None:
    age = hierarchies(folder)["age"]
    years = np.array([int(value) for value in age.values])
    assert sorted(years) == list(range(17, 91))
    for level, width in ((1, 5), (2, 10), (3, 20)):
        codes = age.codes(level)
        for group in range(age.n_groups(level)):
            assert len(set(years[codes == group] // width)) == 1
        assert age.n_groups(level) == len(set(years // width))


def test_the_hierarchies_of_people_cover_its_values() -> None:
    dataset = load("people")
    for name, hierarchy in dataset.hierarchies.items():
        assert hierarchy.table(dataset.data.categories(name), attribute=name).size


# ---------------------------------------------------------------------------------------------- the public files


@pytest.fixture
def from_home(public: Callable[[str], Path]) -> Callable[[str], module.Dataset]:
    """Load from the data home."""

    def call(name: str) -> module.Dataset:
        for file in SOURCES[name].files:
            public(file)
        return load(name, download=False)

    return call


@pytest.mark.parametrize("name", list(SOURCES))
def test_a_public_table(name: str, from_home: Callable[[str], module.Dataset]) -> None:
    dataset = from_home(name)
    source = SOURCES[name]
    assert len(dataset.data) == (source.complete if source.incomplete else source.rows)
    assert dataset.data.quasi_identifiers == source.quasi_identifiers
    assert dataset.data.sensitive == source.sensitive
    assert dataset.data.identifiers == source.identifiers
    assert {a.name for a in dataset.data.attributes if a.kind == "numeric"} == set(source.numeric)
    assert f"{source.rows} records × {len(source.columns)} columns" in dataset.about
    assert (dataset.edges is not None) == (source.edges is not None)


def test_adult_is_the_table_of_dewri_et_al(from_home: Callable[[str], module.Dataset]) -> None:
    adult = from_home("adult")
    assert len(adult.data.quasi_identifiers) == 8
    assert len(adult.data.categories("occupation")) == 14
    for name in ("workclass", "education", "marital-status", "race", "sex", "native-country", "income"):
        assert len(adult.data.categories(name)) == adult.hierarchies[name].n_values
    for name, hierarchy in adult.hierarchies.items():
        assert hierarchy.table(adult.data.categories(name), attribute=name).size


def test_german_credit_is_ordered_by_its_codes(from_home: Callable[[str], module.Dataset]) -> None:
    data = from_home("german_credit").data
    assert [data.attribute(name).kind for name in data.quasi_identifiers] == ["ordinal"] * 3
    assert data.attribute("savings_status").labels == ["A61", "A62", "A63", "A64", "A65"]


def test_water_treatment_has_38_numbers_and_no_date(from_home: Callable[[str], module.Dataset]) -> None:
    data = from_home("water_treatment").data
    assert "date" not in data.names
    assert data.values().shape == (380, 38)
    assert np.isfinite(data.values()).all()


@pytest.mark.parametrize(("name", "edges", "directed"), [("caltech36", 16_656, False), ("lazega", 756, True)])
def test_a_graph(name: str, edges: int, directed: bool, from_home: Callable[[str], module.Dataset]) -> None:
    dataset = from_home(name)
    pairs = dataset.edges
    assert pairs is not None
    assert pairs.shape == (edges, 2)
    assert pairs.min() == 0
    assert pairs.max() == len(dataset.data) - 1
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert not pairs.flags.writeable
    known = set(map(tuple, pairs.tolist()))
    assert all(((b, a) in known) == directed for a, b in known)


def test_edges_that_are_not_the_published_ones(
    public: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes, edges = (public(file) for file in SOURCES["lazega"].files)
    shutil.copy(nodes, tmp_path)
    header, first, *others = edges.read_text().splitlines()
    (tmp_path / edges.name).write_text("\n".join([header, *others, first]))
    monkeypatch.setenv("SDC_DATA_HOME", str(tmp_path))
    with pytest.raises(
        SDCError, match=r"cowork_edges\.csv is not the published file: 756 edges, 756 expected, or in an"
    ):
        load("lazega")

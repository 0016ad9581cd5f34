"""``sdc data`` as a person meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sdc_problems import datasets
from sdc_problems._sources import files as _files
from sdc_problems.errors import SDCError
from sdc_problems.studies.cli import cli


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("SDC_DATA_HOME", raising=False)
    for module in (_files, datasets):
        monkeypatch.setattr(module, "cache_home", lambda: tmp_path)
    return tmp_path


def test_list_says_what_is_where(cache: Path) -> None:
    (cache / "census.csv").write_text("")
    result = CliRunner().invoke(cli, ["data", "list"])
    assert result.exit_code == 0
    where = {line.split()[0]: line.split()[3:5] for line in result.stdout.splitlines()[1:] if line[0] != " "}
    assert tuple(where) == datasets.names()
    assert where["people"][0] == "embedded"
    assert where["census"][0] == "cache"
    assert where["adult"] == ["to", "fetch"]
    assert where["eia"] == ["by", "hand"]
    assert str(cache) in result.stderr


def test_list_knows_the_data_home(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / "eia.csv").write_text("")
    result = CliRunner().invoke(cli, ["data", "list"], env={"SDC_DATA_HOME": str(home)})
    assert [line.split()[3] for line in result.stdout.splitlines() if line.startswith("eia")] == ["SDC_DATA_HOME"]


def test_show_describes_a_table() -> None:
    result = CliRunner().invoke(cli, ["data", "show", "people"])
    assert result.exit_code == 0
    assert "people who do not exist" in result.stdout
    assert "diagnosis" in result.stdout
    assert "heights: age 6, workclass 3" in result.stdout


def test_programs_read_json(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "ensure", lambda name, *, progress: cache / f"{name}.csv")

    def said(*arguments: str) -> Any:
        result = CliRunner().invoke(cli, ["data", *arguments, "--json"], catch_exceptions=False)
        payload = json.loads(result.stdout)
        assert payload.pop("schema") == "sdc.data/1"
        return payload

    tables = {table["name"]: table for table in said("list")["tables"]}
    assert tuple(tables) == datasets.names()
    assert (tables["people"]["where"], tables["people"]["path"]) == ("embedded", None)
    people = said("show", "people")
    assert people["records"] == tables["people"]["records"]
    assert len(people["columns"]) == tables["people"]["columns"]
    assert people["hierarchies"]["age"] == 6
    assert said("fetch", "adult") == {"files": {"adult": str(cache / "adult.csv")}}


@pytest.mark.parametrize("arguments", [[], ["adult", "--all"]])
def test_fetch_wants_names_or_all(arguments: list[str]) -> None:
    result = CliRunner().invoke(cli, ["data", "fetch", *arguments])
    assert result.exit_code == 2
    assert "name the tables to fetch, or give --all" in result.stderr


def test_fetch_fetches_each_and_prints_where_it_is(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def ensure(name: str, *, progress: datasets.Progress) -> Path:
        progress(10, None)
        progress(20, 20)
        asked.append(name)
        return cache / f"{name}.csv"

    monkeypatch.setattr(datasets, "ensure", ensure)
    result = CliRunner().invoke(cli, ["data", "fetch", "--all"])
    assert result.exit_code == 0
    assert asked == ["adult", "adult_test", "german_credit", "solar_flare", "water_treatment"]
    assert result.stdout.splitlines() == [f"{name}\t{cache / name}.csv" for name in asked]
    assert result.stderr == ""  # no bar where there is no terminal


def test_fetch_says_what_cannot_be_fetched(cache: Path) -> None:
    result = CliRunner().invoke(cli, ["data", "fetch", "tarragona"])
    assert isinstance(result.exception, SDCError)
    assert "sdcMicro" in str(result.exception)

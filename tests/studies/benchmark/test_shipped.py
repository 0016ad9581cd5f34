"""Results that come with the suite: they are of its instances, and three cells come out again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sdc_problems import SDCError
from sdc_problems.studies.benchmark.check import check_shipped
from sdc_problems.studies.benchmark.runs import jobs, run_all
from sdc_problems.studies.benchmark.shipped import (
    TABLE,
    differences,
    planned,
    read_table,
    samples_of,
    shipped,
    with_shipped,
)
from sdc_problems.studies.benchmark.tables import every_budget, read_entries, summary
from sdc_problems.studies.cli import cli
from sdc_problems.suite import instance, instances
from sdc_problems.suite._statistics import pairs_by_instance

CELLS = (
    ("pbg-people-k-glm@1", "PBGEA"),
    ("gomm-firms10-il-id@1", "GOMM"),
    ("micro-firms12-il-dbrl@1", "random"),
)


def test_results_are_of_instances_and_budgets_that_there_are() -> None:
    table = shipped()
    known = {found.id: found for found in instances("core")}
    assert set(table["instance"]) <= set(known)
    for row in table.itertuples():
        assert row.budget in known[row.instance].budgets.values()
        assert 0 <= row.solved <= row.seeds
        assert row.gap_q1 <= row.gap <= row.gap_q3
    assert not table.duplicated(["instance", "algorithm", "budget"]).any()
    assert {"random", "NSGA2", "NSGA2-integer"} <= set(table["algorithm"])
    assert set(CELLS) <= set(zip(table["instance"], table["algorithm"], strict=True))


def test_command_prints_them_without_a_folder() -> None:
    def printed(*options: str) -> str:
        return CliRunner().invoke(cli, ["benchmark", "table", *options], catch_exceptions=False).stdout

    assert "pbg-people-k-glm@1 (exact), 500 evaluations" in printed("--budget", "short")
    assert len(printed("--csv", "--budget", "every").splitlines()) == len(shipped()) + 1
    one = shipped(["pbg-people-k-glm"], "long")
    assert set(one["budget"]) == {2000}
    with pytest.raises(SDCError, match="no results of pbg-people-k-glm@1 come with the suite"):
        shipped(["pbg-people-k-glm"], 7)


def test_they_say_what_they_were_run_on(tmp_path: Path) -> None:
    report = check_shipped()
    assert report.problems == []
    assert report.records > 400
    text = TABLE.read_text(encoding="utf-8")
    found = instance("pbg-people-k-glm@1")
    for before, after, sentence in (
        (found.digest, "0" * 64, "has results of another pbg-people-k-glm@1: the digest differs"),
        (f"{found.id},core@1,", f"{found.id},core@2,", "has results of pbg-people-k-glm@1 in core@2, not in core@1"),
        ("gaps", "things", "is not a table of `sdc benchmark table --csv`"),
    ):
        (tmp_path / "table.csv").write_text(text.replace(before, after), encoding="utf-8")
        with pytest.raises(SDCError, match=sentence):
            read_table(tmp_path / "table.csv")


def test_their_tests_are_made_from_the_gap_of_each_seed() -> None:
    said = json.loads(CliRunner().invoke(cli, ["benchmark", "table", "--json"], catch_exceptions=False).stdout)
    table = shipped((), "long")
    assert len(said["rows"]) == len(table)
    for row in table.itertuples():
        assert len(row.gaps) == row.seeds
        assert np.median(row.gaps) == pytest.approx(row.gap, rel=1e-4, abs=1e-9)
        assert len(row.shares) == (0 if np.isnan(row.found) else row.seeds)
    pairs = {(pair["instance"], pair["first"], pair["second"]) for pair in said["pairs"]}
    assert ("pbg-people-k-glm@1", "NSGA2", "random") in pairs
    assert said["shared"] >= 19
    assert not {"PBGEA", "GOMM"} & set(said["mean_ranks"])
    with pytest.raises(SDCError, match="indicator must be gap or missing"):
        samples_of(table, "epsilon")


def test_they_stand_beside_other_results(tmp_path: Path) -> None:
    name = "pbg-people-k-glm@1"
    run_all(jobs([instance(name)], ["random"], seeds=3, budget="short"), tmp_path)

    def sdc(*options: str) -> str:
        command = ["benchmark", "table", str(tmp_path), "--budget", "short", *options]
        return CliRunner().invoke(cli, command, catch_exceptions=False).stdout

    said = json.loads(sdc("--shipped", "--json"))
    theirs = shipped([name], "short")["algorithm"]
    assert [row["algorithm"] for row in said["rows"]] == ["random", *(f"shipped/{one}" for one in theirs)]
    assert {row["instance"] for row in said["rows"]} == {name}
    by = {(pair["first"], pair["second"]): pair for pair in said["pairs"]}
    assert by["random", "shipped/NSGA2"]["effect"] < 0.5
    assert len(sdc("--shipped", "--csv").splitlines()) == len(theirs) + 2
    with pytest.raises(SDCError, match="no results of these instances"):
        with_shipped(summary(read_entries([tmp_path]), 77))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "algorithm"), CELLS)
def test_cells_come_out_again(tmp_path: Path, name: str, algorithm: str) -> None:
    table = shipped([name])
    expected = table[table["algorithm"] == algorithm].reset_index(drop=True)
    run_all(jobs([instance(name)], [algorithm], seeds=int(expected["seeds"].max())), tmp_path)
    found = every_budget(read_entries([tmp_path]))
    assert found["budget"].tolist() == expected["budget"].tolist()
    for column in expected.columns:
        if column in ("instance", "suite", "digest", "algorithm", "gaps", "shares") or column.startswith("seconds"):
            continue
        assert found[column].tolist() == pytest.approx(expected[column].tolist(), rel=1e-5, nan_ok=True), column
    for column in ("gaps", "shares"):
        for mine, theirs in zip(found[column], expected[column], strict=True):
            assert mine == pytest.approx(theirs, rel=1e-5, abs=1e-12)
    assert list(differences(expected, found)) == []


@pytest.mark.slow
def test_our_operators_find_no_less_than_those_for_whole_numbers() -> None:
    """On no core instance: share of the front, or gap where it is not proven; adjusted over the instances."""
    table = shipped((), "long")
    table = table[table["algorithm"].isin(["NSGA2", "NSGA2-integer"])]
    values = dict(samples_of(table)) | dict(samples_of(table, "missing"))
    assert set(values) == {found.id for found in instances("core")}
    assert {len(sample) for by in values.values() for sample in by.values()} == {25}
    pairs = pairs_by_instance(values)
    assert len(pairs) == len(values)
    for pair in pairs:
        assert (pair.first, pair.second) == ("NSGA2", "NSGA2-integer")
        assert pair.effect >= 0.5 or pair.p_holm >= 0.05, pair


@pytest.mark.slow
def test_instances_tell_algorithms_apart() -> None:
    """On two thirds of core at the long budget; at the short one only a search made for its task solves any always."""
    core = instances("core")
    pairs = pairs_by_instance(samples_of(shipped((), "long")))
    told = {pair.instance for pair in pairs if pair.p_holm < 0.01}
    assert len(told) >= 2 / 3 * len(core)
    early = shipped((), "short")
    always = early[(early["solved"] == early["seeds"]) & (early["seeds"] >= 5)]
    assert set(always["algorithm"]) <= {"PBGSearch"}
    assert always["instance"].nunique() <= len(core) / 5


def test_the_shipped_results_are_checked_where_no_framework_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pygmo", "jmetal", "platypus", "deap", "optuna", "nevergrad"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in [name for name in sys.modules if name.startswith("sdc_problems.suite.adapters.")]:
        monkeypatch.delitem(sys.modules, name)
    assert planned([instance("pbg-people-k-glm@1")], ["pygmo-NSGA2"])

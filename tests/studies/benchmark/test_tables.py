"""Tables and pictures of records, and the command that prints and draws them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from sdc_problems import SDCError
from sdc_problems.studies.benchmark import pictures
from sdc_problems.studies.benchmark.runs import jobs, run_all
from sdc_problems.studies.benchmark.show import beside
from sdc_problems.studies.benchmark.tables import Entry, assessed, best_of, read_entries, samples, summary, written
from sdc_problems.studies.cli import cli
from sdc_problems.suite import Recorder, instance

NAMES = ("pbg-people-k-glm@1", "pbg-people-spread-glm@1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("bench")
    run_all(jobs([instance(name) for name in NAMES], ["PBGEA", "random"], seeds=6, budget="short"), made)
    return made


@pytest.fixture(scope="module")
def entries(folder: Path) -> list[Entry]:
    return read_entries([folder])


def sdc(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["benchmark", *map(str, arguments)], catch_exceptions=False)


def test_summary_is_what_the_runs_say(entries: list[Entry]) -> None:
    table = summary(entries, "short").set_index(["instance", "algorithm"])
    runs = assessed(entries, "short")
    for (name, algorithm), group in runs.groupby(["instance", "algorithm"]):
        row = table.loc[(name, algorithm)]
        assert row["gap"] == np.median(group["gap"])
        assert row["seeds"] == 6
        found = [e for e in entries if (e.record.instance, e.label) == (name, algorithm)]
        assert row["solved"] == sum(np.isfinite(e.times[-1]) for e in found)
        times = [e.times[9] for e in found]
        reached = [t for t in times if np.isfinite(t)]
        expected = sum(t if np.isfinite(t) else 500 for t in times) / len(reached) if reached else np.inf
        assert row["ert_0.1"] == expected
    again = pd.read_csv(io.StringIO(written(summary(entries, "short"))))
    assert list(again["gap"]) == pytest.approx(list(summary(entries, "short")["gap"]), rel=1e-5)


def test_smaller_budget_looks_at_the_archive_of_that_moment(entries: list[Entry]) -> None:
    early, late = assessed(entries, 100), assessed(entries, "short")
    assert set(early["budget"]) == {100}
    assert (early["gap"].to_numpy() >= late["gap"].to_numpy()).all()
    assert (early["gap"].to_numpy() > late["gap"].to_numpy()).any()
    with pytest.raises(SDCError, match="no run had the budget 'long'"):
        assessed(entries, "long")
    with pytest.raises(SDCError, match="indicator must be gap"):
        samples(early, "hypervolume")


def test_marks_tell_the_best_from_what_is_worse(entries: list[Entry]) -> None:
    marks = best_of(samples(assessed(entries, "short")))
    assert marks == {name: {"PBGEA": "*", "random": ""} for name in NAMES}
    few = assessed([e for e in entries if (e.record.seed or 0) < 3], "short")
    assert best_of(samples(few))[NAMES[0]] == {"PBGEA": "*", "random": ""}, "two seeds are not tested"
    some = assessed([e for e in entries if (e.record.seed or 0) < 4], "short")
    assert best_of(samples(some))[NAMES[0]] == {"PBGEA": "*", "random": "~"}


def test_same_algorithm_of_two_folders_is_named_with_its_folder(folder: Path, tmp_path: Path) -> None:
    run_all(jobs([instance(NAMES[0])], ["random"], seeds=1, budget=50), tmp_path / "other")
    found = read_entries([folder, tmp_path / "other"], [NAMES[0]])
    assert {entry.label for entry in found} == {"PBGEA", f"{folder.name}/random", "other/random"}
    (tmp_path / "other" / "again.npz").write_bytes(next((tmp_path / "other").rglob("50-1.npz")).read_bytes())
    with pytest.raises(SDCError, match="two records of seed 1"):
        read_entries([tmp_path / "other"])
    with pytest.raises(SDCError, match="is not a folder of a benchmark"):
        read_entries([tmp_path / "nowhere"])
    with pytest.raises(SDCError, match="there are no records of"):
        read_entries([tmp_path / "other" / "random"], [NAMES[1]])


def test_table_is_printed_with_its_tests(folder: Path) -> None:
    text = sdc("table", folder, "--budget", "short", "--pairs").stdout
    assert f"{NAMES[0]} (exact)" in text
    assert "PBGEA *" in text
    assert "PBGEA against random: better in 100 % (A12 = 1.00)" in text
    assert "Over the 2 instances" in text
    said = json.loads(sdc("table", folder, "--budget", "short", "--json").stdout)
    assert said["mean_ranks"] == {"PBGEA": 1.0, "random": 2.0}
    assert len(said["pairs"]) == 2
    assert all(pair["p_holm"] >= pair["p"] for pair in said["pairs"])
    lines = sdc("table", folder, "--budget", "short", "--csv").stdout.splitlines()
    assert len(lines) == 5


def test_every_picture_is_drawn(folder: Path, tmp_path: Path) -> None:
    done = sdc("plot", folder, "--instance", NAMES[0], "--budget", "short", "--out", tmp_path / "pictures")
    assert done.exit_code == 0
    names = {path.stem for path in (tmp_path / "pictures").glob("*.png")}
    of = NAMES[0]
    assert names == {"ecdf", "critical-difference", f"anytime-{of}", f"attainment-{of}", f"difference-{of}"}
    with pytest.raises(SDCError, match="there is no run of 'NSGA3'"):
        sdc("plot", folder, "--between", "PBGEA,NSGA3", "--budget", "short", "--out", tmp_path / "pictures")
    with pytest.raises(SDCError, match="--between takes two"):
        sdc("plot", folder, "--between", "PBGEA")


def of_instance(entries: list[Entry], name: str = NAMES[0]) -> list[Entry]:
    return [entry for entry in entries if entry.record.instance == name]


def test_front_is_drawn_under_what_was_attained(entries: list[Entry]) -> None:
    figure = pictures.attainment_picture(of_instance(entries), "short")
    found = instance(NAMES[0])
    drawn = figure.axes[0].collections[0].get_offsets()
    values = found.natural(found.front)
    assert sorted(np.asarray(drawn).tolist()) == sorted(values.tolist())
    front, best, half, worst = (line.get_xydata() for line in figure.axes[0].lines[:4])
    # k is maximized and drawn as people read it: no surface lies beyond the front
    for surface in (best, half, worst):
        for k, glm in surface:
            covering = values[values[:, 0] >= k]
            assert len(covering) == 0 or glm >= covering[:, 1].min() or k <= values[:, 0].min()
    assert len(front) >= len(worst) // 2


def test_difference_favors_the_better_one(entries: list[Entry]) -> None:
    figure = pictures.difference_picture(of_instance(entries), "PBGEA", "random", "short")
    better, worse = (sum(abs(p.get_width() * p.get_height()) for p in panel.patches) for panel in figure.axes)
    assert better > 0
    assert worse < better / 10
    with pytest.raises(SDCError, match="have not both run"):
        pictures.difference_picture(of_instance(entries), "PBGEA", "NSGA2", "short")


def test_ecdf_counts_targets_and_stays_within_its_bands(entries: list[Entry]) -> None:
    figure = pictures.ecdf_picture(entries)
    line = figure.axes[0].lines[0]
    runs = [entry for entry in entries if entry.label == "PBGEA"]
    expected = np.mean([(entry.times <= 500).mean() for entry in runs])
    assert line.get_ydata()[-1] == pytest.approx(expected)
    path = figure.axes[0].collections[0].get_paths()[0].vertices
    last = path[path[:, 0] == path[:, 0].max()][:, 1]
    assert last.min() <= expected <= last.max()


def test_both_curves_are_drawn(entries: list[Entry]) -> None:
    figure = pictures.anytime_picture(of_instance(entries))
    all_of_them, different = figure.axes
    assert all_of_them.lines[0].get_xdata()[-1] == 500
    assert different.lines[0].get_xdata()[-1] < 450  # PBG-EA repeats genomes
    final = np.median([entry.curve.gap[-1] for entry in of_instance(entries) if entry.label == "PBGEA"])
    assert all_of_them.lines[0].get_ydata()[-1] == pytest.approx(max(final, pictures.LEAST))


def test_run_that_was_recorded_elsewhere_is_read_alike(tmp_path: Path) -> None:
    recorder = Recorder(instance(NAMES[0]), 30, seed=1, algorithm="by hand")
    problem = recorder.problem
    recorder.evaluate(problem.operators()["sampling"](problem, 30, random_state=np.random.default_rng(1)).get("X"))
    recorder.record().save(tmp_path / "any name.npz")
    assert assessed(read_entries([tmp_path]), 30)["algorithm"].tolist() == ["by hand"]


def test_instances_of_records_are_cited(folder: Path) -> None:
    text = sdc("cite", folder).stdout
    assert text.startswith(
        "% One line for a paper: 2 instances (pbg-people-k-glm@1, pbg-people-spread-glm@1) of the suite core@1"
    )


def test_list_keeps_every_column_where_a_line_is_short() -> None:
    """Of 80 characters: what does not fit behind is below, and nothing is left out."""
    wide = sdc("list").stdout.splitlines()
    assert max(map(len, wide)) > 80
    head = wide[0].index("objectives")
    narrow = beside([line[:head].rstrip() for line in wide], [line[head:] for line in wide], 80)
    assert max(map(len, narrow)) <= 80
    assert " ".join(narrow).split() == " ".join(wide).split()

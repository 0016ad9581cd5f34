"""Exports: other tools read what was recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import moocore
import numpy as np
import pytest

from sdc_problems import SDCError
from sdc_problems.studies.benchmark.export import export
from sdc_problems.studies.benchmark.runs import jobs, run_all
from sdc_problems.studies.benchmark.tables import Entry, read_entries
from sdc_problems.suite import instance

NAME = "pbg-people-k-glm@1"


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> list[Entry]:
    folder = tmp_path_factory.mktemp("records")
    run_all(jobs([instance(NAME)], ["random"], seeds=3, budget=200), folder)
    return read_entries([folder])


def test_moocore_reads_the_archives(tmp_path: Path, entries: list[Entry]) -> None:
    (path,) = export(entries, "moocore", tmp_path)
    read = moocore.read_datasets(path)
    assert sorted(set(read[:, -1])) == [1, 2, 3]
    for number, entry in enumerate(entries, 1):
        assert np.array_equal(read[read[:, -1] == number, :-1], entry.record.F[entry.record.front()])


def test_ioh_has_the_gaps_of_every_run(tmp_path: Path, entries: list[Entry]) -> None:
    described, data = export(entries, "ioh", tmp_path)
    said = json.loads(described.read_text())
    (scenario,) = said["scenarios"]
    assert described.parent / scenario["path"] == data
    assert [run["instance"] for run in scenario["runs"]] == [1, 2, 3]
    blocks = data.read_text().split("evaluations raw_y\n")[1:]
    for entry, block, run in zip(entries, blocks, scenario["runs"], strict=True):
        rows = np.array([line.split() for line in block.splitlines()], dtype=float)
        assert rows[-1, 0] == run["evals"] == 200
        assert rows[-1, 1] == pytest.approx(entry.curve.gap[-1])
        assert (np.diff(rows[:, 0]) > 0).all()
        assert run["best"]["y"] == pytest.approx(rows[:, 1].min())


def test_paretobench_reads_the_archives_of_every_moment(tmp_path: Path, entries: list[Entry]) -> None:
    paretobench = pytest.importorskip("paretobench")
    (path,) = export(entries, "paretobench", tmp_path)
    read = paretobench.Experiment.load(path)
    assert (read.name, read.software, len(read.runs)) == ("random", "sdc-problems", 3)
    for entry, run in zip(entries, read.runs, strict=True):
        assert (run.problem, run.metadata["seed"], run.metadata["digest"]) == (
            NAME, entry.record.seed, entry.instance.digest,
        )  # fmt: skip
        assert [report.fevals for report in run.reports] == list(range(10, 201, 10))
        for report in run.reports:
            there = entry.record.front(report.fevals)
            assert np.array_equal(report.f, entry.record.F[there])
            assert np.array_equal(report.x, entry.record.X[there])
        assert run.reports[0].names_f == ["k", "glm"]
        assert len(run.to_nondominated().reports) == 20


def test_paretobench_without_h5py_says_what_is_missing(
    tmp_path: Path, entries: list[Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(SDCError, match="needs h5py: pip install h5py"):
        export(entries, "paretobench", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_unknown_format_is_refused(tmp_path: Path, entries: list[Entry]) -> None:
    with pytest.raises(SDCError, match="format must be ioh, moocore or paretobench"):
        export(entries, "hdf5", tmp_path)

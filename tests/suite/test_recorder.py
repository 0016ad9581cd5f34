"""Recorder: counts, budget and archive are those of a plain account of the run."""

from __future__ import annotations

import copy
import json
import pickle
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from pymoo.optimize import minimize

from sdc_problems import SDCError
from sdc_problems.suite import BudgetSpent, Record, Recorder


class Grid(Problem):
    """Whole numbers with few different objective values, so that rows tie and repeat."""

    def __init__(self, constrained: bool = False) -> None:
        super().__init__(n_var=2, n_obj=2, n_ieq_constr=int(constrained), xl=0, xu=5, vtype=int)
        self.measured = 0

    def _evaluate(self, x: Any, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        self.measured += len(x)
        out["F"] = np.column_stack([x.sum(axis=1) // 2, (5 - x[:, 0]) + x[:, 1] % 3]).astype(float)
        if self.n_ieq_constr:
            out["G"] = x[:, :1] - 3.0


class Forms(Grid):
    """A problem whose measuring tells which form a row has."""

    def _evaluate(self, x: Any, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        super()._evaluate(x, out)
        out["X"] = np.sort(x, axis=1)


class Pair:
    """As little of an instance as the recorder needs."""

    id, digest, budgets = "grid@1", "0" * 64, {"short": 4, "long": 9}

    def problem(self) -> Grid:
        return Grid()


def plain(batches: list[np.ndarray], budget: int, constrained: bool) -> list[tuple[int, int, list[float], list[int]]]:
    """Account of a run, row by row."""
    archive: list[np.ndarray] = []
    seen: list[tuple[int, ...]] = []
    entries = []
    rows = [x for batch in batches for x in batch][:budget]
    for number, x in enumerate(rows, 1):
        if tuple(x) in seen:
            continue
        seen.append(tuple(x))
        out: dict[str, Any] = Grid(constrained).evaluate(x[None], return_as_dictionary=True)
        f = out["F"][0]
        if constrained and out["G"][0, 0] > 0:
            continue
        if not any((a <= f).all() for a in archive):
            archive.append(f)
            entries.append((number, len(seen), f.tolist(), x.tolist()))
    return entries


row = st.tuples(st.integers(0, 5), st.integers(0, 5))


@given(st.lists(st.lists(row, min_size=1, max_size=12), min_size=1, max_size=8), st.integers(1, 60), st.booleans())
def test_it_keeps_what_a_plain_account_keeps(
    given_rows: list[list[tuple[int, int]]], budget: int, constrained: bool
) -> None:
    batches = [np.array(batch) for batch in given_rows]
    recorder = Recorder(Grid(constrained), budget)
    wanted = sum(map(len, batches))
    ended = False
    for batch in batches:
        try:
            F = recorder.evaluate(batch)
        except BudgetSpent:
            ended = True
            break
        assert np.array_equal(F, Grid(constrained).evaluate(batch, return_values_of=["F"]))
    record = recorder.record()
    assert ended == (wanted > budget)
    assert record.evaluations == min(wanted, budget)
    rows = [tuple(x) for batch in batches for x in batch][:budget]
    assert record.different == len(set(rows)) == recorder.problem.measured
    found = list(zip(record.at, record.at_different, record.F.tolist(), record.X.tolist(), strict=True))
    assert found == plain(batches, budget, constrained)


def test_pymoo_searches_on_a_recorded_problem_and_ends_at_the_budget() -> None:
    recorder = Recorder(Grid(), 75)
    with pytest.raises(BudgetSpent):
        minimize(recorder.problem, NSGA2(pop_size=20), ("n_gen", 10), seed=1)
    assert recorder.done
    assert recorder.evaluations == 75
    with pytest.raises(BudgetSpent):
        recorder.evaluate(np.zeros((1, 2)))
    assert recorder.evaluations == 75


def test_a_copy_of_the_problem_counts_too_and_none_goes_elsewhere() -> None:
    recorder = Recorder(Grid(), 10)
    copy.deepcopy(recorder.problem).evaluate(np.zeros((3, 2)))
    assert recorder.evaluations == 3
    with pytest.raises((AttributeError, pickle.PicklingError, TypeError)):
        pickle.dumps(recorder.problem)


def test_one_row_gives_one_row() -> None:
    recorder = Recorder(Grid(), 10)
    assert recorder.evaluate(np.array([1, 2])).shape == (2,)
    assert recorder.evaluate([[1, 2]]).shape == (1, 2)
    assert (recorder.evaluations, recorder.different) == (2, 1)


def test_form_that_the_problem_gives_is_what_is_recorded() -> None:
    recorder = Recorder(Forms(), 10)
    for _ in range(2):  # measured, then remembered
        out = recorder.problem.evaluate(np.array([[5, 1], [0, 0]]), return_as_dictionary=True)
        assert out["X"].tolist() == [[1, 5], [0, 0]]
    assert recorder.record().X.tolist() == [[1, 5], [0, 0]]
    assert recorder.problem.measured == 2


def test_what_is_asked_for_beside_the_measures_is_asked_every_time() -> None:
    class More(Grid):
        def _evaluate(self, x: Any, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            super()._evaluate(x, out)
            out["note"] = x[:, :1] * 2.0

    recorder = Recorder(More(), 10)
    for _ in range(2):
        _, note = recorder.problem.evaluate(np.array([[4, 1], [4, 1]]), return_values_of=["F", "note"])
        assert note.tolist() == [[8.0], [8.0]]
    assert (recorder.evaluations, recorder.different, len(recorder.record())) == (4, 1, 1)


def test_budget_is_named_by_the_instance() -> None:
    recorder = Recorder(Pair(), "short", seed=3, algorithm="mine")
    assert recorder.budget == 4
    record = recorder.record()
    assert (record.instance, record.digest, record.seed, record.algorithm) == ("grid@1", "0" * 64, 3, "mine")
    with pytest.raises(SDCError, match="'short', 'long', or a number"):
        Recorder(Pair(), "tiny")
    with pytest.raises(SDCError, match="must be a number"):
        Recorder(Grid())


def searched(budget: int = 60) -> Record:
    recorder = Recorder(Pair(), budget, seed=1)
    rng = np.random.default_rng(1)
    while not recorder.done:
        recorder.evaluate(rng.integers(0, 6, (7, 2))[: budget - recorder.evaluations])
    return recorder.record()


def test_a_record_comes_back_from_its_file(tmp_path: Path) -> None:
    record = searched()
    record.save(tmp_path / "a.npz")
    record.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    found = Record.load(tmp_path / "a.npz")
    assert found.head == record.head
    for name in ("at", "at_different", "F", "X"):
        assert np.array_equal(getattr(found, name), getattr(record, name))
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:  # open: JSON and arrays
        head = np.load(BytesIO(archive.read("head.npy")), allow_pickle=False)
    assert json.loads(head.tobytes())["instance"] == "grid@1"


def test_the_archive_of_any_moment_is_in_the_record() -> None:
    record = searched()
    for evaluations in (1, 10, 60):
        F = record.F[record.front(evaluations)]
        there = record.F[record.at <= evaluations]
        best = [f for f in there if not any((g <= f).all() and (g < f).any() for g in there)]
        assert sorted(F.tolist()) == sorted(f.tolist() for f in best)
    assert not record.front(0).any()


def written(path: Path, head: Any, **arrays: Any) -> Path:
    record = searched()
    full = {name: getattr(record, name) for name in ("at", "at_different", "F", "X")} | arrays
    np.savez(path, head=np.frombuffer(json.dumps({**record.head, **head}).encode(), dtype=np.uint8), **full)
    return path


@pytest.mark.parametrize(
    ("head", "arrays"),
    [
        ({"schema": "other"}, {}),
        ({"more": 1}, {}),
        ({"instance": "a\x1b[2J"}, {}),
        ({"budget": -1}, {}),
        ({"budget": True}, {}),
        ({"evaluations": 61}, {}),
        ({"seed": "1"}, {}),
        ({"objectives": ["f1"]}, {}),
        ({"objectives": 3}, {}),
        ({"versions": ["a"]}, {}),
        ({"seconds_measuring": "a"}, {}),
        ({}, {"at": np.array([1])}),
        ({}, {"F": np.full((1, 2), np.nan), "X": np.zeros((1, 2)), "at": np.array([1]), "at_different": np.array([1])}),
        ({}, {"at": np.zeros(0, dtype=int)}),
        ({}, {"X": np.array([[None]], dtype=object)}),
    ],
)
def test_what_is_no_record_is_refused(tmp_path: Path, head: dict[str, Any], arrays: dict[str, Any]) -> None:
    with pytest.raises(SDCError, match="is not a record"):
        Record.load(written(tmp_path / "bad.npz", head, **arrays))


def test_a_file_of_anything_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    for content in (b"", b"PK\x03\x04", pickle.dumps([1])):
        path.write_bytes(content)
        with pytest.raises(SDCError, match="is not a record"):
            Record.load(path)
    with pytest.raises(SDCError, match="is not a record"):
        Record.load(tmp_path / "nowhere.npz")

"""Runs of a benchmark: every kind of algorithm keeps the budget, and runs go on after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdc_problems import SDCError
from sdc_problems.studies.benchmark import runs
from sdc_problems.studies.benchmark.algorithms import find_algorithm, unfit
from sdc_problems.studies.benchmark.runs import Job, jobs, make, run_all
from sdc_problems.suite import Record, instance

NAME = "pbg-people-k-glm@1"


@pytest.mark.parametrize("name", ["random", "NSGA2-integer", "NSGA2", "MOEAD", "SMSEMOA", "SPEA2", "GDE3", "PBGEA"])
def test_every_kind_of_algorithm_spends_its_budget_exactly(name: str) -> None:
    record = make(Job(name, NAME, 3, 130))
    assert (record.evaluations, record.budget, record.seed, record.algorithm) == (130, 130, 3, name)
    assert 1 <= record.different <= 130
    problem = instance(NAME).problem()
    assert np.array_equal(problem.evaluate(record.X, return_values_of=["F"]), record.F)
    assert record.F.shape[1] == 2
    again = make(Job(name, NAME, 3, 130))
    assert again.at.tolist() == record.at.tolist()
    assert again.X.tobytes() == record.X.tobytes()


def greedy(problem: Any, budget: int, rng: np.random.Generator) -> None:
    """Ends before the budget does."""
    problem.evaluate(problem.operators()["sampling"](problem, 7, random_state=rng).get("X"))


def test_function_of_anybodys_is_recorded() -> None:
    name = f"{__name__}:greedy"
    sys.modules.setdefault(__name__, sys.modules[greedy.__module__])
    record = make(Job(name, NAME, 1, 50))
    assert (record.evaluations, record.algorithm) == (7, name)


def stumbling(problem: Any, budget: int, rng: np.random.Generator) -> None:
    """Fails for some seeds."""
    greedy(problem, budget, rng)
    if rng.random() < 0.5:
        raise RuntimeError("both queues are empty")


def test_a_run_that_fails_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    name, told = f"{__name__}:stumbling", list[str]()
    sys.modules.setdefault(__name__, sys.modules[stumbling.__module__])
    wanted = [Job(name, NAME, seed, 20) for seed in range(1, 9)]
    done = run_all(wanted, tmp_path, tell=told.append)
    assert 0 < done.failed < len(wanted)
    assert (done.made + done.failed, done.left) == (len(wanted), 0)
    assert len(list(tmp_path.rglob("*.*"))) >= done.made
    failures = [line for line in told if line.startswith("FAILED")]
    assert len(failures) == done.failed
    assert "RuntimeError: both queues are empty" in failures[0]
    assert NAME in failures[0]


@pytest.mark.parametrize("name", ["NSGAII", "no_such_module:search", "json:nothing", "json:__name__"])
def test_what_is_no_algorithm_is_refused(name: str) -> None:
    with pytest.raises(SDCError, match="algorithm"):
        find_algorithm(name)


def test_searches_of_other_tasks_are_left_out_and_said() -> None:
    assert unfit("GOMM", "pbg", 2) == "GOMM is for gomm only"
    assert unfit("GA", "pbg", 2) == "GA is for one objective"
    assert unfit("random", "pbg", 2) == ""
    told: list[str] = []
    with pytest.raises(SDCError, match="GOMM cannot run on any of the instances"):
        jobs([instance(NAME)], ["GOMM"], seeds=1, tell=told.append)
    assert told == ["1 instances are left out: GOMM is for gomm only"]
    with pytest.raises(SDCError, match="budget must be short, long or a number"):
        jobs([instance(NAME)], ["random"], seeds=1, budget="tiny")


def test_runs_that_are_there_are_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = jobs([instance(NAME)], ["random"], seeds=2, budget=40)
    made: list[int] = []
    monkeypatch.setattr(runs, "make", lambda job: made.append(job.seed) or make(job))
    first = run_all(wanted[:1], tmp_path)
    second = run_all(wanted, tmp_path)
    assert (first.made, second.made, second.there, second.left) == (1, 1, 1, 0)
    assert made == [1, 2]
    path = wanted[0].path(tmp_path)
    path.write_bytes(wanted[1].path(tmp_path).read_bytes())
    with pytest.raises(SDCError, match="is the record of another run"):
        run_all(wanted, tmp_path)


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): Record.load(path).X.tobytes() + Record.load(path).at.tobytes()
        for path in folder.rglob("*.npz")
    }


@pytest.mark.slow
def test_several_processes_and_a_kill_change_nothing(tmp_path: Path) -> None:
    def command(out: str) -> list[str]:
        line = f"benchmark run --instance {NAME} --algorithm NSGA2 --seeds 6 --budget 400 --workers 2 --out {out}"
        return [sys.executable, "-m", "sdc_problems", *line.split()]

    killed = subprocess.Popen(command("killed"), cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 120
    while len(list((tmp_path / "killed").rglob("*.npz"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert 2 <= len(content(tmp_path / "killed")) <= 6
    subprocess.run(command("killed"), cwd=tmp_path, check=True, capture_output=True)
    run_all(jobs([instance(NAME)], ["NSGA2"], seeds=6, budget=400), tmp_path / "whole")
    assert content(tmp_path / "killed") == content(tmp_path / "whole")
    assert len(content(tmp_path / "whole")) == 6

"""Tasks done here, by processes and on a cluster: the same results, whatever dies on the way."""

from __future__ import annotations

import contextlib
import importlib
import os
from pathlib import Path

import pytest

from sdc_problems import SDCError, SDCFailure
from sdc_problems._slices import listening, tell
from sdc_problems.parallel import done_tasks, tasks

# What travels to other processes travels by reference, so this needs a module that they can import.
DEADLY = '''
import os
from pathlib import Path


def square(task):
    """Square a number; the first process that is given 3 dies of it."""
    number, scratch = task
    if number == 3 and not Path(scratch, "died").exists():
        Path(scratch, "died").touch()
        os._exit(9)
    return number**2
'''


def test_few_tasks_are_made_ahead_and_what_dies_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deadly_tasks.py").write_text(DEADLY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    square = importlib.import_module("deadly_tasks").square
    made: list[int] = []

    def task(i: int) -> tuple[int, str]:
        made.append(i)
        return i, str(tmp_path)

    found = []
    with contextlib.closing(done_tasks(square, task, 9, workers=2)) as done:
        for i, result in done:
            assert max(made) < i + 1 + tasks.AHEAD * 2
            found.append((i, result))
    assert found == [(i, i**2) for i in range(9)]
    assert (tmp_path / "died").exists()
    assert len(made) > 9, "nothing was done again"


def test_workers_that_die_again_and_again_are_given_up() -> None:
    with pytest.raises(SDCFailure, match="ended 3 times over the same tasks"):
        list(done_tasks(os._exit, int, 5, workers=2))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_give_the_same_results_in_order(threads: int) -> None:
    made: list[int] = []
    for i, result in done_tasks(abs, lambda i: made.append(i) or -i, 9, threads=threads):
        assert result == i
        assert max(made) < i + 1 + tasks.AHEAD * threads
    assert made == list(range(9))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_a_task_is_the_error_here(threads: int) -> None:
    with pytest.raises(SDCError, match="must be at least 1"):
        list(done_tasks(_refusing, int, 5, threads=threads))


def test_threads_end_when_nobody_waits_for_them() -> None:
    """Each tells its progress until it is stopped: without that, this test does not end."""
    heard: list[tuple[str, int, int]] = []

    def endless(i: int) -> int:
        while i > 0:
            tell("rounds", 1, 2)
        return i

    with listening(lambda *said: heard.append(said)):
        done = done_tasks(endless, int, 9, threads=3)
        assert next(done) == (0, 0)
        done.close()
    assert not heard, "progress of tasks is no progress of the whole"


def _refusing(task: int) -> int:
    raise SDCError(f"task {task} must be at least 1")


@pytest.mark.slow
def test_a_cluster_gives_the_same_results() -> None:
    pytest.importorskip("distributed")
    done = done_tasks(abs, lambda i: -i, 9, scheduler="local", workers=2)
    assert sorted(done) == [(i, i) for i in range(9)]


@pytest.mark.slow
def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("sdc_problems.parallel.cluster.PATIENCE", 1)
    with pytest.raises(SDCFailure, match="no Dask scheduler answers"):
        list(done_tasks(abs, int, 1, scheduler="tcp://127.0.0.1:1"))
    with pytest.raises(SDCError, match="address like"):
        list(done_tasks(abs, int, 1, scheduler="here"))


def test_a_worker_of_another_version_is_refused() -> None:
    with pytest.raises(SDCFailure, match="the work was sent by"):
        tasks._there("0.0", abs, -1)

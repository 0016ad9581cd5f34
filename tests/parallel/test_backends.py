"""Any number of workers gives the same bytes; a worker that dies costs its batch and nothing else."""

from __future__ import annotations

import collections
import importlib
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import process as executor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from pymoo.optimize import minimize
from pymoo.problems import get_problem

from sdc_problems import PBGProblem, load
from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.parallel import ParallelEvaluator, ProcessPool, Serial, open_backend, process_pool, processors
from sdc_problems.parallel._process import children_of_one_thread, linear_algebra_in_one_thread
from sdc_problems.parallel.backend import batches

# What travels to other processes travels by reference, so this problem needs a module that they can import.
FUSSY = '''
import os
from pathlib import Path

import numpy as np
from pymoo.core.problem import Problem

from sdc_problems.errors import SDCError


class Fussy(Problem):
    """x = 1 is wrong input, x = 2 ends its process the first time, x = 3 every time."""

    def __init__(self, scratch):
        super().__init__(n_var=1, n_obj=2, xl=0, xu=9)
        self.scratch = str(scratch)

    def _evaluate(self, x, out, *args, **kwargs):
        for value in x[:, 0]:
            if value == 1:
                raise SDCError("ones are not welcome")
            if value == 3 or (value == 2 and not Path(self.scratch, "died").exists()):
                Path(self.scratch, "died").touch()
                os._exit(9)
        out["F"] = np.column_stack([x[:, 0], np.full(len(x), os.getpid())])
'''


@pytest.fixture
def problem() -> Problem:
    return get_problem("bnh")


@pytest.fixture
def X(problem: Problem, rng: np.random.Generator) -> NDArray[np.float64]:
    return problem.xl + rng.random((37, problem.n_var)) * (problem.xu - problem.xl)


@pytest.fixture
def fussy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Problem:
    (tmp_path / "fussy_problem.py").write_text(FUSSY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    problem: Problem = importlib.import_module("fussy_problem").Fussy(tmp_path)
    return problem


def same(a: dict[str, NDArray[Any]], b: dict[str, NDArray[Any]]) -> bool:
    return a.keys() == b.keys() and all(a[k].tobytes() == b[k].tobytes() for k in a)


def test_slices_cover_every_row_once() -> None:
    for n in (0, 1, 2, 7, 100, 101):
        for workers in (1, 2, 3, 16):
            cuts = batches(n, workers)
            assert [i for cut in cuts for i in range(n)[cut]] == list(range(n))


def test_any_number_of_workers_gives_the_same_bytes(problem: Problem, X: NDArray[np.float64]) -> None:
    serial = Serial(problem).evaluate(X)
    assert list(serial) == ["F", "G"]
    for workers in (1, 2, 3):
        with open_backend(problem, workers=workers) as backend:
            assert same(backend.evaluate(X), serial)
            assert same(backend.evaluate(X[:1]), {k: v[:1] for k, v in serial.items()})
            assert backend.evaluate(X[:0])["F"].shape == (0, 2)


def test_a_killed_worker_costs_its_batch_only(fussy: Problem) -> None:
    X = np.array([[0.0], [2.0], [4.0], [5.0]])
    with ProcessPool(fussy, workers=2) as pool:
        np.testing.assert_array_equal(pool.evaluate(X)["F"][:, 0], X[:, 0])
        assert len(pool.processes()) == 2
        os.kill(pool.processes()[0], signal.SIGKILL)
        np.testing.assert_array_equal(pool.evaluate(X)["F"][:, 0], X[:, 0])


def test_a_pool_whose_worker_was_killed_can_be_closed(fussy: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have died with the lock in its hand under which the other one would hear that this is the end."""
    monkeypatch.setattr(process_pool, "PATIENCE", 1.0)
    for _ in range(2):
        pool = ProcessPool(fussy, workers=2)
        pool.evaluate(np.array([[0.0], [2.0]]))
        os.kill(pool.processes()[0], signal.SIGKILL)
        pool.close()
        assert pool.processes() == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_pool_whose_thread_has_ended_is_replaced(fussy: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends if the system has no memory for what it does; futures do not notice, and would be waited for forever."""
    honest = executor._ExecutorManagerThread.add_call_item_to_queue
    raised: list[str] = []

    def without_memory(self: Any) -> None:
        if not raised:
            raised.append("once")
            raise MemoryError
        honest(self)

    monkeypatch.setattr(executor._ExecutorManagerThread, "add_call_item_to_queue", without_memory)
    monkeypatch.setattr(process_pool, "LOOK", 0.05)
    X = np.array([[0.0], [4.0], [5.0]])
    with ProcessPool(fussy, workers=2) as pool:
        np.testing.assert_array_equal(pool.evaluate(X)["F"][:, 0], X[:, 0])
    assert raised


def test_a_pool_without_memory_for_its_threads_says_so(fussy: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = threading.Thread.start

    def without_memory(self: threading.Thread) -> None:
        if self.name == "QueueFeederThread":
            raise RuntimeError("can't start new thread")
        honest(self)

    monkeypatch.setattr(threading.Thread, "start", without_memory)
    with ProcessPool(fussy, workers=2) as pool, pytest.raises(RuntimeError, match="can't start new thread"):
        pool.evaluate(np.array([[0.0]]))


def test_an_error_of_a_task_that_took_too_long_is_its_own() -> None:
    with (
        process_pool.pool_of(1, process_pool.begin_worker) as pool,
        pytest.raises(TimeoutError, match="of the task"),
    ):
        process_pool.result_of(pool, pool.submit(_late))


def test_no_process_starts_while_the_pool_looks_after_the_others() -> None:
    with process_pool.pool_of(2, process_pool.begin_worker) as pool:
        first, second = pool._processes.values()
        os.kill(first.pid, signal.SIGKILL)
        tasks = (pool.submit(os.getpid) for _ in itertools.count())  # the pool may notice it among them
        with pytest.raises(BrokenProcessPool):
            collections.deque((process_pool.result_of(pool, task) for task in tasks), maxlen=0)
        assert list(pool._processes.values()) == [first, second]


def test_processes_end_at_once_if_their_block_is_left_by_an_error() -> None:
    processes: list[BaseProcess] = []

    def interrupted() -> None:
        with process_pool.pool_of(2, process_pool.begin_worker) as pool:
            processes.extend(pool._processes.values())
            pool.submit(time.sleep, 3600)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert len(wait([process.sentinel for process in processes], timeout=0)) == 2


def _late() -> None:
    raise TimeoutError("of the task")


def test_rows_that_always_kill_their_worker_are_given_up(fussy: Problem) -> None:
    with ProcessPool(fussy, workers=1) as pool, pytest.raises(SDCFailure, match="out of memory"):
        pool.evaluate(np.array([[3.0]]))


def test_an_error_in_a_worker_is_the_error_here(fussy: Problem) -> None:
    with ProcessPool(fussy, workers=2) as pool:
        with pytest.raises(SDCError, match="ones are not welcome"):
            pool.evaluate(np.array([[0.0], [1.0], [4.0]]))
        assert pool.evaluate(np.array([[4.0]]))["F"][0, 0] == 4


def test_the_work_is_done_elsewhere_and_shared(fussy: Problem) -> None:
    with ProcessPool(fussy, workers=2) as pool:
        pids = {int(p) for p in pool.evaluate(np.full((40, 1), 5.0))["F"][:, 1]}
    assert os.getpid() not in pids


def test_under_pymoo_directly(problem: Problem) -> None:
    with ProcessPool(problem, workers=2) as pool:
        parallel = minimize(problem, NSGA2(pop_size=12, evaluator=ParallelEvaluator(pool)), ("n_gen", 4), seed=1)
    plain = minimize(problem, NSGA2(pop_size=12), ("n_gen", 4), seed=1)
    assert parallel.pop.get("F").tobytes() == plain.pop.get("F").tobytes()
    assert parallel.F.tobytes() == plain.F.tobytes()


def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import os, signal, sys\n"
        "from pymoo.problems import get_problem\n"
        "from sdc_problems.parallel import ProcessPool\n"
        "if __name__ == '__main__':\n"
        "    pool = ProcessPool(get_problem('bnh'), workers=2)\n"
        "    pool.evaluate(get_problem('bnh').xl[None, :].repeat(8, axis=0))\n"
        "    print(*pool.processes(), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    # The workers hold the other end of this pipe: it ends when the last of them has ended.
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(done.stdout.split()) == 2, done.stderr


def test_nonsense_is_refused(problem: Problem) -> None:
    with pytest.raises(SDCError, match="at least 1"):
        ProcessPool(problem, workers=0)
    problem.callback = lambda *args: None
    with ProcessPool(problem, workers=1) as pool, pytest.raises(SDCError, match="cannot be sent"):
        pool.evaluate(problem.xl[None, :])


@pytest.mark.parametrize("threads", [None, 3])
def test_every_worker_process_uses_one_thread(threads: int | None) -> None:
    people = load("people")
    problem = PBGProblem(people.data, people.hierarchies, threads=threads)
    assert problem.engine.threads == (threads or processors())
    with ProcessPool(problem, workers=1) as pool:
        code = "__import__('sdc_problems.parallel.process_pool', fromlist=['_problem'])._problem.engine.threads"
        assert pool._started().submit(eval, code).result(timeout=120) == 1


def test_processors_are_those_of_the_affinity_and_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 2, 5}, raising=False)
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    assert processors() == 3
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    assert processors() == 2


def test_children_get_their_setting_and_this_process_keeps_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)  # numba refuses another number once its threads run
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    with children_of_one_thread():
        assert os.environ["OPENBLAS_NUM_THREADS"] == os.environ["OMP_NUM_THREADS"] == "1"
        assert "NUMBA_NUM_THREADS" not in os.environ
    assert "OPENBLAS_NUM_THREADS" not in os.environ
    assert os.environ["OMP_NUM_THREADS"] == "3"
    with process_pool.pool_of(1, process_pool.begin_worker) as pool:
        assert os.environ["OMP_NUM_THREADS"] == "3"
        assert process_pool.result_of(pool, pool.submit(os.getenv, "OPENBLAS_NUM_THREADS")) == "1"


def test_linear_algebra_in_one_thread_gives_the_others_back() -> None:
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info, threadpool_limits

    def threads() -> set[int]:
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with linear_algebra_in_one_thread():
            assert threads() == {1}
        assert threads() == before

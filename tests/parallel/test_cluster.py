"""On Dask: the same bytes as serial, data placed once per worker, a killed worker survived; on real processes."""

from __future__ import annotations

import importlib
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sdc_problems import load
from sdc_problems._sharing.arrays import SharedArrays
from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.parallel import Serial, open_backend
from sdc_problems.parallel.cluster import DaskCluster, PlacedArrays, PlacedProblem, separated
from sdc_problems.parallel.cluster import _forget as forget_here
from sdc_problems.parallel.cluster import _measure_there as measured_here
from sdc_problems.problems.generalization import PBGProblem

# A problem on shared data that counts, in a folder, how often each process opened it; x = 2 kills its process once.
COUNTING = """
import os
from pathlib import Path

import numpy as np
from pymoo.core.problem import Problem


class Counting(Problem):
    def __init__(self, data, scratch):
        super().__init__(n_var=1, n_obj=2, xl=0, xu=99)
        self.shared = data
        self.scratch = str(scratch)

    def __setstate__(self, state):
        self.__dict__.update(state)
        with open(Path(self.scratch, f"opened-{os.getpid()}"), "a") as log:
            log.write("x")

    def _evaluate(self, x, out, *args, **kwargs):
        died = Path(self.scratch, "died")
        if (x == 2).any() and not died.exists():
            died.touch()
            os._exit(9)
        total = float(self.shared["values"].sum())
        out["F"] = np.column_stack([x[:, 0] * 2, x[:, 0] + total])
"""


@pytest.fixture
def counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "counting_problem.py").write_text(COUNTING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    data = SharedArrays({"values": np.arange(100_000, dtype=np.int64)})
    return importlib.import_module("counting_problem").Counting(data, tmp_path)


@pytest.fixture
def lattice() -> PBGProblem:
    people = load("people")
    return PBGProblem(people.data, people.hierarchies, objectives=("k", "l", "glm"))


def nodes(problem: PBGProblem, n: int) -> NDArray[Any]:
    low, high = problem.xl.astype(int), problem.xu.astype(int)
    return np.random.default_rng(4).integers(low, high + 1, (n, problem.n_var)).astype(problem.dtype)


def test_a_problem_travels_without_its_data(lattice: PBGProblem) -> None:
    packed, data = separated(lattice)
    assert len(packed) < 20_000
    assert lattice.data.arrays.digest in data
    assert sum(a.nbytes for arrays in data.values() for a in arrays.values()) > 100_000


def test_addresses_are_checked(lattice: PBGProblem) -> None:
    with pytest.raises(SDCError, match='"local" or an address'):
        DaskCluster(lattice, scheduler="localhost")


def test_a_scheduler_that_is_not_there(lattice: PBGProblem) -> None:
    with pytest.raises(SDCFailure, match="no Dask scheduler answers"):
        DaskCluster(lattice, scheduler="tcp://127.0.0.1:1", patience=1)


def test_a_client_that_joins_takes_nothing_from_those_at_work(
    lattice: PBGProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Placing the same problem again makes Dask tear down what is there; tasks run before it is set up anew."""
    monkeypatch.setattr("sdc_problems.parallel.cluster.one_thread", lambda: None)  # this is not a worker
    packed, data = separated(lattice)
    plugins = [*(PlacedArrays(*item) for item in data.items()), PlacedProblem("key", packed)]
    X = nodes(lattice, 20)
    for plugin in plugins:
        plugin.setup(None)
    before = measured_here("key", X)["F"].tobytes()
    for plugin in plugins:
        plugin.teardown(None)
        assert measured_here("key", X)["F"].tobytes() == before
        plugin.setup(None)
    forget_here("key", list(data))
    with pytest.raises(KeyError):
        measured_here("key", X)


@pytest.mark.slow
def test_a_local_cluster_gives_the_same_bytes(lattice: PBGProblem) -> None:
    X = nodes(lattice, 300)
    expected = Serial(lattice).evaluate(X)["F"]
    with open_backend(lattice, workers=2, scheduler="local") as cluster:
        assert isinstance(cluster, DaskCluster)
        assert len(set(cluster.workers().values())) == 2
        assert cluster.evaluate(X)["F"].tobytes() == expected.tobytes()
        assert cluster.evaluate(X[:1])["F"].tobytes() == expected[:1].tobytes()
        assert cluster.evaluate(X[:0])["F"].shape == (0, 3)
        os.kill(next(iter(cluster.workers().values())), signal.SIGKILL)
        assert cluster.evaluate(X)["F"].tobytes() == expected.tobytes()


@pytest.mark.slow
def test_a_worker_killed_while_it_measures_costs_its_batch(counting: Any, tmp_path: Path) -> None:
    X = np.arange(40.0)[:, None]
    with DaskCluster(counting, scheduler="local", workers=2) as cluster:
        F = cluster.evaluate(X)["F"]
        assert (tmp_path / "died").exists(), "no worker was killed"
        for _ in range(3):
            assert cluster.evaluate(X)["F"].tobytes() == F.tobytes()
    np.testing.assert_array_equal(F[:, 0], X[:, 0] * 2)
    np.testing.assert_array_equal(F[:, 1], X[:, 0] + 100_000 * 99_999 / 2)
    openings = list(tmp_path.glob("opened-*"))
    assert 2 <= len(openings) <= 3, "two workers, and the one in place of the killed one"
    assert {path.read_text() for path in openings} == {"x"}, "each opened the problem once"


@pytest.mark.slow
def test_a_scheduler_and_workers_started_as_commands(counting: Any, cluster_of_commands: str, tmp_path: Path) -> None:
    """Two studies at once on the same workers, which forget the data afterwards."""

    def placed() -> int:  # in here, so that it travels by value: other packages bring a module `tests`, too
        from sdc_problems.parallel.cluster import _HERE

        return len(_HERE.data)

    X = np.arange(3.0, 40.0)[:, None]
    expected = Serial(counting).evaluate(X)["F"]
    with DaskCluster(counting, scheduler=cluster_of_commands) as first:
        first.client.wait_for_workers(2, timeout=60)
        with DaskCluster(counting, scheduler=cluster_of_commands) as second:
            for cluster in (first, second):
                assert cluster.evaluate(X)["F"].tobytes() == expected.tobytes()
        assert {p.read_text() for p in tmp_path.glob("opened-*")} == {"x"}
        assert all(count == 1 for count in first.client.run(placed).values())
        first.forget()
        assert all(count == 0 for count in first.client.run(placed).values())

"""Interrupted and resumed is uninterrupted, byte for byte; whatever breaks that promise is refused."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pymoo.algorithms.moo.moead import MOEAD
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.moo.nsga3 import NSGA3
from pymoo.algorithms.moo.rvea import RVEA
from pymoo.algorithms.moo.sms import SMSEMOA
from pymoo.algorithms.moo.spea2 import SPEA2
from pymoo.core.duplicate import NoDuplicateElimination
from pymoo.util.ref_dirs import get_reference_directions

from sdc_problems import SDCError
from sdc_problems.errors import SDCFailure
from sdc_problems.studies.run.limits import Limits
from sdc_problems.studies.store.lock import RunLock
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.store.writer import RunWriter

Content = Callable[[Path], dict[str, Any]]


def directions() -> np.ndarray[Any, Any]:
    return get_reference_directions("das-dennis", 2, n_partitions=9)


ALGORITHMS = {
    "NSGA2": lambda o: NSGA2(pop_size=10, **o),
    "NSGA3": lambda o: NSGA3(directions(), **o),
    "SPEA2": lambda o: SPEA2(pop_size=10, **o),
    "SMSEMOA": lambda o: SMSEMOA(pop_size=10, **o),
    "RVEA": lambda o: RVEA(directions(), **o),
    "MOEAD": lambda o: MOEAD(
        directions(), n_neighbors=4, **{k: v for k, v in o.items() if k != "eliminate_duplicates"}
    ),
}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_run_in_pieces_is_the_run_in_one(name: str, workshop: Any, content: Content, knapsack: Any) -> None:
    def algorithm() -> Any:
        return ALGORITHMS[name](knapsack().operators())

    whole, pieces = workshop.create("whole"), workshop.create("pieces")
    ending = workshop.work(whole, algorithm=algorithm())
    assert (ending.reason, ending.generations, ending.replayed) == ("limit reached", 12, 0)
    for expected, more in ((0, 1), (1, 3), (4, 3), (7, 3)):
        ending = workshop.work(pieces, stop_after=more, algorithm=algorithm())
        assert (ending.reason, ending.replayed) == ("", expected)
    ending = workshop.work(pieces, algorithm=algorithm())
    assert ending.reason == "limit reached"
    assert content(pieces) == content(whole)
    assert Run(pieces).fingerprint() == Run(whole).fingerprint()


def test_a_replay_measures_nothing_again_except_a_sample(workshop: Any, knapsack: Any) -> None:
    folder = workshop.create("run")
    first = knapsack()
    workshop.work(folder, stop_after=6, problem=first)
    second = knapsack()
    ending = workshop.work(folder, stop_after=1, problem=second)
    assert (ending.replayed, ending.generations) == (6, 7)
    assert second.measured <= 4 + 10 < first.measured


def test_a_repeated_solution_is_measured_once_and_counted_twice(workshop: Any, knapsack: Any) -> None:
    folder = workshop.create("run")
    problem = knapsack(3, levels=1)  # eight solutions in all
    algorithm = NSGA2(pop_size=6, **{**problem.operators(), "eliminate_duplicates": NoDuplicateElimination()})
    workshop.work(folder, problem=problem, algorithm=algorithm)
    state = Run(folder).progress()[0]
    assert state.evaluated == 12 * 6
    assert state.solutions == problem.measured <= 8


def test_a_search_without_new_candidates_ends(workshop: Any, knapsack: Any) -> None:
    folder = workshop.create("run")
    problem = knapsack(2, levels=1)
    ending = workshop.work(folder, problem=problem, limits=Limits(generations=500))
    assert ending.reason == "no new candidates"
    assert ending.generations < 500


def test_the_front_is_what_a_plain_filter_finds(workshop: Any, opened: Callable[[Path], Run]) -> None:
    folder = workshop.create("run", seeds=(1, 2))
    workshop.work(folder, seed=1)
    workshop.work(folder, seed=2)
    run = opened(folder)
    everything = run.solutions(genomes=True)
    F = everything.F
    better = (F[:, None] <= F[None]).all(axis=2) & (F[:, None] < F[None]).any(axis=2)
    expected = {tuple(f) for f in F[~better.any(axis=0)]}
    front = run.front(genomes=True)
    assert {tuple(f) for f in front.F} == expected
    assert len(front) == len(expected)
    assert front.X is not None
    assert everything.X is not None
    place = {ident: i for i, ident in enumerate(everything.ids)}
    np.testing.assert_array_equal(front.X, everything.X[[place[ident] for ident in front.ids]])


def test_a_time_limit_counts_all_sessions(workshop: Any) -> None:
    folder = workshop.create("run")
    workshop.work(folder, stop_after=2)
    spent = Run(folder).progress()[0].seconds
    ending = workshop.work(folder, limits=Limits(generations=12, seconds=spent / 2))
    assert (ending.reason, ending.generations) == ("time limit reached", 2)


def test_a_time_limited_run_is_the_beginning_of_a_longer_one(workshop: Any, content: Content) -> None:
    short, long = workshop.create("short"), workshop.create("long")
    workshop.work(short, limits=Limits(seconds=1e-6))
    workshop.work(long, limits=Limits(generations=5))
    a, b = content(short)["generations"], content(long)["generations"]
    assert len(a) == 1
    assert a == b[:1]


def test_a_stalled_search_ends(workshop: Any) -> None:
    folder = workshop.create("run")
    ending = workshop.work(folder, limits=Limits(generations=400, stalled=5))
    assert ending.reason == "front unchanged for 5 generations"
    sizes = Run(folder).history(1).front_size
    assert len(set(sizes[-6:])) == 1


def test_a_finished_seed_stays_as_it_is(workshop: Any, content: Content) -> None:
    folder = workshop.create("run")
    workshop.work(folder)
    before = content(folder)
    assert workshop.work(folder).reason == "finished"
    assert content(folder) == before


def test_another_algorithm_is_refused(workshop: Any, content: Content, knapsack: Any) -> None:
    folder = workshop.create("run")
    workshop.work(folder, stop_after=3)
    before = content(folder)
    with pytest.raises(SDCError, match="generation 1 differs from the stored one"):
        workshop.work(folder, algorithm=NSGA2(pop_size=12, **knapsack().operators()))
    assert content(folder) == before


def test_another_measure_is_refused(workshop: Any, content: Content, knapsack: Any) -> None:
    class Heavier(knapsack):  # type: ignore[misc]
        def _measure(self, X: Any, names: Any) -> Any:
            return super()._measure(X, names) + 1e-9

    folder = workshop.create("run")
    workshop.work(folder, stop_after=3)
    before = content(folder)
    with pytest.raises(SDCError, match="measured differently"):
        workshop.work(folder, problem=Heavier())
    assert content(folder) == before


@pytest.mark.parametrize("column", ["evaluated", "rng", "arrays"])
def test_a_changed_database_is_refused(column: str, workshop: Any) -> None:
    folder = workshop.create("run")
    workshop.work(folder, stop_after=3)
    db = sqlite3.connect(folder / "run.sqlite")
    if column == "arrays":
        db.execute("UPDATE generations SET arrays = (SELECT arrays FROM generations WHERE generation = 1)")
    elif column == "rng":
        (text,) = db.execute("SELECT rng FROM generations WHERE generation = 2").fetchone()
        changed = json.loads(text)
        changed["state"]["state"] += 1
        db.execute("UPDATE generations SET rng = ? WHERE generation = 2", (json.dumps(changed, sort_keys=True),))
    else:
        db.execute("UPDATE generations SET evaluated = evaluated + 1 WHERE generation = 2")
    db.commit()
    db.close()
    with pytest.raises(SDCError, match=r"changed or damaged|cannot be continued"):
        workshop.work(folder)


def test_a_full_disk_loses_one_generation_only(workshop: Any, content: Content) -> None:
    whole, full = workshop.create("whole"), workshop.create("full")
    workshop.work(whole)
    with pytest.raises(SDCFailure, match=r"generation \d+ of seed 1 could not be saved \(the disk is full"):
        workshop.work(full, pages=12)
    stored = len(content(full)["generations"])
    assert 0 < stored < 12
    assert workshop.work(full).replayed == stored
    assert content(full) == content(whole)


@pytest.mark.skipif(os.name != "posix", reason="limits of files are POSIX's")
def test_a_disk_that_is_full_from_the_start(workshop: Any) -> None:
    import resource

    folder = workshop.create("run")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))  # no file may grow
    try:
        with pytest.raises(SDCFailure, match="what is stored there is safe"), RunLock(folder):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    workshop.work(folder)


def test_a_second_process_is_refused(workshop: Any) -> None:
    folder = workshop.create("run")
    with RunLock(folder), pytest.raises(SDCFailure, match="another process"):
        workshop.work(folder)
    workshop.work(folder)


def test_a_process_that_lost_its_run_writes_nothing_more(workshop: Any, content: Content) -> None:
    folder = workshop.create("run")
    workshop.work(folder, stop_after=2)
    before = content(folder)["generations"]
    with RunLock(folder) as lock:
        writer = RunWriter.take(folder, lock, versions={}, workers="1")
        newer = RunLock(folder)
        RunWriter.take(folder, newer, versions={}, workers="1").close()
        with writer, pytest.raises(SDCFailure, match="taken over"):
            writer.mark(1, "running")
    assert content(folder)["generations"] == before

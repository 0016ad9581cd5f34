"""Runs of a benchmark: which there are, made side by side, each one file that is written when it is complete."""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.parallel.process_pool import begin_worker, finished, pool_of
from sdc_problems.studies.benchmark.algorithms import run_algorithm, unfit
from sdc_problems.studies.run.runner import interruptions
from sdc_problems.suite import Instance, Record, Recorder, instance
from sdc_problems.suite._catalogue import known_ids, own_files

Made = Generator[tuple["Job", Record | str], None, None]
"""Runs as they are made: what was to be made, and its record or the error that its algorithm ended with."""


@dataclass(frozen=True)
class Job:
    """Run to be made: an algorithm on an instance, with a seed and a budget."""

    algorithm: str
    instance: str
    seed: int
    budget: int

    def path(self, folder: Path) -> Path:
        """File of its record in a benchmark's folder."""
        name = re.sub(r"[^\w.-]", ".", self.algorithm)
        return folder / name / self.instance / f"{self.budget}-{self.seed}.npz"


@dataclass(frozen=True)
class Done:
    """Outcome of a session: how many runs were made, were there already, failed, and are left."""

    made: int
    there: int
    failed: int
    left: int


def jobs(
    chosen: Sequence[Instance],
    algorithms: Sequence[str],
    *,
    seeds: int,
    budget: str | int = "long",
    some: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Job]:
    """List the runs, one algorithm after the other and seed by seed.

    Parameters
    ----------
    chosen
        Instances; those whose table is missing are left out, by name, as are those that an algorithm is not for.
    algorithms
        Names, or ``module:function``.
    seeds
        How many: 1, 2, ….
    budget
        Name of one of the instances' budgets, or a number of evaluations.
    some
        Whether an algorithm may be for none of the instances.
    tell
        Takes a line about what is left out.
    """
    there = [found for found in chosen if found.available]
    for found in chosen:
        if not found.available:
            tell(f"{found.id} is left out: its table is not on this machine")
    made = []
    for name in algorithms:
        reasons = {found.id: unfit(name, found.task, found.n_objectives) for found in there}
        for reason in dict.fromkeys(filter(None, reasons.values())):
            tell(f"{sum(r == reason for r in reasons.values())} instances are left out: {reason}")
        fit = [found for found in there if not reasons[found.id]]
        if not fit and not some:
            raise SDCError(f"{name} cannot run on any of the instances")
        made += [Job(name, f.id, seed, _evaluations(f, budget)) for seed in range(1, seeds + 1) for f in fit]
    return made


def _evaluations(found: Instance, budget: str | int) -> int:
    if isinstance(budget, int):
        return budget
    if budget not in found.budgets:
        raise SDCError(f"budget must be {', '.join(found.budgets)} or a number, not {budget!r}")
    return found.budgets[budget]


def run_all(
    wanted: Sequence[Job], folder: Path, *, workers: int = 1, tell: Callable[[str], None] = lambda line: None
) -> Done:
    """Make the runs that a folder does not have yet; after a kill, the same call goes on.

    Parameters
    ----------
    wanted
        The runs.
    folder
        Where their records are written, one file each.
    workers
        Processes. The records are the same but for their seconds.
    tell
        Takes a line about each run.
    """
    left = [job for job in wanted if not _is_there(job, folder)]
    there = len(wanted) - len(left)
    if there:
        tell(f"{there} of {len(wanted)} runs already exist")
    made = failed = 0
    with (
        interruptions(lambda line: tell(line.replace("generations", "runs"))) as stop,
        closing(_side_by_side(left, workers, stop) if workers > 1 else _in_turn(left, stop)) as runs,
    ):
        for job, record in runs:
            name = f"{job.algorithm} {job.instance} seed {job.seed}"
            if isinstance(record, str):
                failed += 1
                tell(f"FAILED {name}: {record}")
                continue
            path = job.path(folder)
            path.parent.mkdir(parents=True, exist_ok=True)
            record.save(path)
            made += 1
            tell(f"{made + there}/{len(wanted)} {name}: {_sentence(record)}")
    return Done(made, there, failed, len(left) - made - failed)


def _sentence(record: Record) -> str:
    seconds = record.seconds_measuring + record.seconds_algorithm
    return f"{record.evaluations:,} evaluations, {record.different:,} different, {seconds:.1f} s"


def _is_there(job: Job, folder: Path) -> bool:
    path = job.path(folder)
    if not path.exists():
        return False
    record = Record.load(path)
    found = instance(job.instance)
    if (record.algorithm, record.instance, record.seed) != (job.algorithm, job.instance, job.seed):
        raise SDCError(f"{str(path)!r} is the record of another run: choose another --out")
    if record.digest != found.digest:
        raise SDCError(
            f"{str(path)!r} is a record of another {job.instance} (its digest differs): choose another --out"
        )
    return True


@functools.cache
def _problem(name: str) -> Any:
    return instance(name).problem(threads=1)


class _Compiled:
    """Instance whose problem is compiled once in a process, not for every run."""

    def __init__(self, name: str) -> None:
        found = instance(name)
        self.name, self.id, self.digest, self.budgets = name, found.id, found.digest, found.budgets

    def problem(self) -> Any:
        """Copy of the problem, with its compiled engine."""
        return copy.copy(_problem(self.name))


def make(job: Job) -> Record:
    """Make a run.

    Parameters
    ----------
    job
        Which.
    """
    compiled = _Compiled(job.instance)
    compiled.problem().engine  # noqa: B018 - compiled before the clock starts
    recorder = Recorder(compiled, job.budget, seed=job.seed, algorithm=job.algorithm)
    run_algorithm(job.algorithm, recorder, instance(job.instance).task, job.seed)
    return recorder.record()


def _attempt(job: Job) -> Record | str:
    """Record of a run, or the error that its algorithm ended with: it is anybody's, and the other runs go on."""
    try:
        return make(job)
    except SDCError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever its author has left in it
        return f"{type(error).__name__}: {error}"


def _in_turn(left: Sequence[Job], stop: Callable[[], bool]) -> Made:
    for job in left:
        if stop():
            return
        yield job, _attempt(job)


def _begin(own: Sequence[Path]) -> None:
    begin_worker()
    for file in own:
        known_ids(str(file))


def _side_by_side(left: Sequence[Job], workers: int, stop: Callable[[], bool]) -> Made:
    waiting = iter(left)
    pending: dict[Future[Record | str], Job] = {}
    try:
        with pool_of(workers, _begin, own_files()) as pool:
            while True:
                while len(pending) < 2 * workers and not stop() and (job := next(waiting, None)) is not None:
                    pending[pool.submit(_attempt, job)] = job
                if not pending:
                    return
                for future in finished(pool, pending, 0.2):
                    yield pending.pop(future), future.result()
    except BrokenProcessPool:
        raise SDCFailure(
            "a process that made runs ended without a message (is the machine out of memory?); the runs that are"
            " complete are stored: give the same command again, perhaps with fewer workers"
        ) from None

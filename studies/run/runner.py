"""Runner of a study: its seeds side by side, and how it can be stopped and continued.

The seeds of a study are independent. With several workers, they run in separate processes; additional workers measure
the candidates of each. Every process writes its own generations to the common store.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from sdc_problems.errors import SDCFailure
from sdc_problems.parallel import Backend, open_backend
from sdc_problems.parallel._process import ENDING
from sdc_problems.parallel.backend import measure
from sdc_problems.parallel.process_pool import begin_worker, finished, pool_of
from sdc_problems.problem import SDCProblem
from sdc_problems.studies.run.baselines import baselines_of, enumeration
from sdc_problems.studies.run.seed import Ending, search
from sdc_problems.studies.run.start import CHANGEABLE, reopen, start
from sdc_problems.studies.store.folder import check_folder
from sdc_problems.studies.store.lock import RunLock
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.store.versions import versions
from sdc_problems.studies.store.writer import RunWriter
from sdc_problems.studies.study.schema import Built, Plan, Study

__all__ = ["Outcome", "reopen", "start", "work"]


@dataclass(frozen=True)
class Outcome:
    """Outcome of a session.

    Attributes
    ----------
    folder
        The run folder.
    endings
        One per seed that was run.
    interrupted
        Whether it was asked to stop before its end; everything until then is stored.
    """

    folder: Path
    endings: tuple[Ending, ...]
    interrupted: bool


def work(
    folder: Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    built: tuple[Study, Built] | None = None,
    made_with: Mapping[str, str] | None = None,
    exact_baselines: bool | None = None,
    tell: Callable[[str], None] = lambda line: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Run the unfinished seeds of a study.

    Parameters
    ----------
    folder
        The run folder.
    workers
        Number of processes; by default that of the study.
    scheduler
        Dask scheduler. It is never taken from the folder, which may come from a stranger: a scheduler can run any code.
    built
        The study, if ``start`` or ``reopen`` has just built it.
    made_with
        Versions with which the run was begun, if they may differ.
    exact_baselines
        Whether to find the best solution for each objective first; by default only if it costs a share of the budget.
    tell
        Called with one line about each event.
    stopped
        Function that says whether to stop after the current generation, as Ctrl-C does if signals can be received (in
        the main thread).
    """
    folder = check_folder(folder)
    if built is None:
        study, made, meta = reopen(folder)
        made_with = meta["versions"]
    else:
        study, made = built
    current = versions()
    changed = [f"{k} {v}, now {current.get(k)}" for k, v in (made_with or {}).items() if current.get(k) != v]
    if changed:
        tell(f"made with other versions: {'; '.join(changed)}")
    run_section = study.sections.run
    workers = workers or run_section.workers
    with RunLock(folder) as lock, ExitStack() as stack:
        place = f"{workers} processes" if scheduler is None else f"{scheduler}, {workers} processes"
        writer = stack.enter_context(RunWriter.take(folder, lock, versions=versions(), workers=place))
        _take_over_changes(writer, folder, study)
        _keep_baselines(writer, folder, made.plan, exact_baselines, tell)
        seeds = [seed for seed in run_section.numbers if writer.status(seed) != "finished"]
        crew = _Crew(folder, lock.token, study, made, tell)
        stop = stack.enter_context(interruptions(tell, stopped))
        if not seeds:
            tell("every seed is finished")
            return Outcome(folder, (), False)
        jobs = min(workers, len(seeds))
        if scheduler is not None:
            # One client for the whole session: it starts a local cluster, and cleans up the workers at the end.
            backend = stack.enter_context(open_backend(made.problem, workers=workers, scheduler=scheduler))
            scheduler = backend.scheduler
            stack.callback(backend.forget)
            if jobs == 1:
                return crew.one_after_the_other(writer, seeds, backend, stop)
        elif jobs == 1:
            backend = stack.enter_context(open_backend(made.problem, workers=workers))
            return crew.one_after_the_other(writer, seeds, backend, stop)
        return crew.side_by_side(seeds, jobs, workers // jobs, scheduler, stop)


def _take_over_changes(writer: RunWriter, folder: Path, study: Study) -> None:
    """Continue further than planned: new limits reopen finished seeds, new seeds are added."""
    values = study.values()
    with Run(folder) as run:
        before, seeds = run.study, run.seeds
    if before != values:
        writer.revise({**before, **{key: values[key] for key in CHANGEABLE if key in values}})
    writer.add_seeds([seed for seed in study.sections.run.numbers if seed not in seeds])
    if before["termination"] != values["termination"]:
        for seed in seeds:
            writer.mark(seed, "waiting")


def _keep_baselines(
    writer: RunWriter, folder: Path, plan: Plan, exact: bool | None, tell: Callable[[str], None]
) -> None:
    with Run(folder) as run:
        if len(run.baselines()):
            return
    problem = plan.problem
    rows, note = baselines_of(plan, exact=exact)
    for said in (note, enumeration(plan)):
        if said:
            tell(said)
    if not rows:
        return
    X = problem.genomes(np.array(list(rows.values())))
    F = measure(problem, X)["F"]
    writer.add_baselines({name: {"X": X[i : i + 1], "F": F[i : i + 1]} for i, name in enumerate(rows)})


@contextmanager
def interruptions(
    tell: Callable[[str], None], stopped: Callable[[], bool] = lambda: False
) -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C (or a polite kill, or a closed terminal) end the session after the current generations.

    A second one ends it at once.

    Parameters
    ----------
    tell
        Called with one line about each event.
    stopped
        Function that says whether to stop for another reason.
    """
    asked = False
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        with suppress(OSError):  # the terminal may be gone
            tell("stopping after the current generations; press Ctrl-C again to stop now (stored generations are kept)")

    # Shells ignore Ctrl-C for what they start in the background, nohup a closed terminal: only the latter is meant.
    meant = [number for number in ENDING if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, ask) for number in meant}
    try:
        yield lambda: asked or stopped()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Crew:
    """Runs seeds, in this process or in several."""

    def __init__(self, folder: Path, token: str, study: Study, built: Built, tell: Callable[[str], None]) -> None:
        self.folder = folder
        self.token = token
        self.study = study
        self.built = built
        self.tell = tell

    def one_after_the_other(
        self, writer: RunWriter, seeds: list[int], backend: Backend, stop: Callable[[], bool]
    ) -> Outcome:
        """Run the seeds in this process."""
        endings = []
        for seed in seeds:
            if stop():
                break
            endings.append(_search(writer, self.built.plan, seed, backend, stop))
            self._report(endings[-1])
        return Outcome(self.folder, tuple(endings), stop())

    def side_by_side(
        self, seeds: list[int], jobs: int, workers: int, scheduler: str | None, stop: Callable[[], bool]
    ) -> Outcome:
        """Run each seed in one of several processes."""
        asked = multiprocessing.get_context("spawn").Event()
        setup = (self.folder, self.token, self.study, self.built.problem, workers, scheduler, asked)
        endings: list[Ending] = []
        try:
            with pool_of(jobs, _open_seeds, *setup) as pool:
                pending: set[Future[Ending]] = {pool.submit(_run_seed, seed) for seed in seeds}
                while pending:
                    done = finished(pool, pending, 0.2)
                    pending -= done
                    if stop():
                        asked.set()  # each ends after its generation; a second Ctrl-C ends them at once
                    for future in done:
                        endings.append(future.result())
                        self._report(endings[-1])
        except BrokenProcessPool:
            raise SDCFailure(
                "a process that ran a seed ended without a message (is the machine out of memory?); all that it stored"
                " is safe: continue with `sdc resume`, perhaps with fewer workers"
            ) from None
        return Outcome(self.folder, tuple(sorted(endings, key=lambda e: seeds.index(e.seed))), stop())

    def _report(self, ending: Ending) -> None:
        replayed = f" ({ending.replayed} replayed in {ending.replay_seconds:.1f} s)" if ending.replayed else ""
        reason = ending.reason or ("not begun" if not ending.generations else "interrupted")
        self.tell(f"seed {ending.seed}: {ending.generations} generations{replayed}, {reason}")


def _search(writer: RunWriter, plan: Plan, seed: int, backend: Backend, stop: Callable[[], bool]) -> Ending:
    return search(
        writer,
        seed=seed,
        problem=plan.problem,
        algorithm=plan.algorithm,
        limits=plan.limits,
        backend=backend,
        rounded=plan.rounded,
        ends=plan.ends,
        stop=stop,
    )


# ---------------------------------------------------------------------- in a process that runs seeds

_setup: Any = None


def _open_seeds(
    folder: Path, token: str, study: Study, problem: SDCProblem, workers: int, scheduler: str | None, asked: Any
) -> None:
    global _setup
    begin_worker()
    _setup = (folder, token, study, problem, workers, scheduler, asked)


def _run_seed(seed: int) -> Ending:
    folder, token, study, problem, workers, scheduler, asked = _setup
    if asked.is_set():
        return Ending(seed, 0, 0, 0.0, "")
    plan = study.plan(problem)
    with RunWriter(folder, token) as writer, open_backend(problem, workers=workers, scheduler=scheduler) as backend:
        return _search(writer, plan, seed, backend, asked.is_set)

"""Carrying out a study: its folder, its seeds side by side, and the ways in which it can stop and go on.

The seeds of a study are independent. With several workers they run in processes of their own; workers that are left
over measure the candidates of each. Every process writes its own generations; the store is where they meet.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import multiprocessing
import platform
import signal
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from sdc_problems import __version__
from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.evaluators.parallel import Serial, end_with_parent, measure, one_thread, open_backend
from sdc_problems.problem import SDCProblem
from sdc_problems.studies.config import Built, Plan, Study
from sdc_problems.studies.folder import FORMAT, STUDY, RunLock, check_folder, create_folder
from sdc_problems.studies.journal import Journal, now
from sdc_problems.studies.search import Ending, search
from sdc_problems.studies.store import Run
from sdc_problems.studies.tasks import unprotected

_VERSIONED = ("pymoo", "numpy", "scipy", "pandas", "numba", "moocore")


@dataclass(frozen=True)
class Outcome:
    """What a session came to.

    Attributes
    ----------
    folder
        The run folder.
    endings
        One per seed that was worked on.
    interrupted
        Whether it was asked to stop before its end; everything up to there is stored.
    """

    folder: Path
    endings: tuple[Ending, ...]
    interrupted: bool


@functools.cache
def versions() -> dict[str, str]:
    """Versions that results may depend on."""
    found = {name: importlib.metadata.version(name) for name in _VERSIONED}
    return {"sdc-problems": __version__, **found, "python": platform.python_version()}


def start(study: Study, text: str, folder: Path) -> Built:
    """Build the study, to be sure that it can be built, and make its run folder."""
    if Path(folder).exists():
        raise SDCError(f"{str(folder)!r} exists already: continue it with `sdc resume`, or choose another --out")
    built = study.build()
    problem = built.problem
    meta = {
        "format": list(FORMAT),
        "created": now(),
        "versions": versions(),
        "study": study.values(),
        "given": _without_run(tomllib.loads(text)),
        "folder": str(study.folder),
        "data": {
            "digest": built.table.digest,
            "records": built.table.data.n_records,
            "columns": len(built.table.data.names),
            "file": None if built.table.file is None else str(built.table.file),
            "sha256": None if built.table.file is None else file_digest(built.table.file),
        },
        "problem": {
            "class": type(problem).__name__,
            "n_var": int(problem.n_var),
            "dtype": str(problem.dtype),
            "original": unprotected(study.task, problem),
            "objectives": [
                {
                    "name": o.name,
                    "label": o.label,
                    "sense": o.sense,
                    "bounds": [b if np.isfinite(b) else None for b in map(float, o.bounds)],
                    "unit": o.unit,
                }
                for o in problem.objectives
            ],
        },
    }
    create_folder(Path(folder), text, meta, study.sections.run.numbers)
    return built


def reopen(folder: Path, *, data: Path | None = None) -> tuple[Study, Built, Mapping[str, Any]]:
    """Build the study of a run folder again, and refuse a changed study or changed data.

    Parameters
    ----------
    folder
        The run folder.
    data
        Where its CSV file is now, if it was moved.
    """
    folder = check_folder(folder)
    with Run(folder) as run:
        meta = dict(run.meta)
    try:
        text = (folder / STUDY).read_text(encoding="utf-8-sig")
        given = _without_run(tomllib.loads(text))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SDCError(f"{STUDY} in {str(folder)!r} cannot be read: {error}") from None
    difference = _difference(meta["given"], given)
    if difference:
        raise SDCError(
            f"{STUDY} in {str(folder)!r} was changed after the run began ({difference}); put it back, or start a new"
            " run with it"
        )
    values = tomllib.loads(text)
    if data is not None:
        values = {**values, "data": {**values["data"], "file": str(data.resolve())}}
    study = Study.from_values(values, folder=Path(meta["folder"]))
    try:
        built = study.build()
    except (SDCError, OSError) as error:
        raise SDCError(f"the study of {str(folder)!r} cannot be built again: {error}") from None
    if built.table.digest != meta["data"]["digest"]:
        raise SDCError(
            f"the data of {str(folder)!r} changed after the run began: {_where(built)} had SHA-256"
            f" {meta['data']['digest'][:12]}…, now {built.table.digest[:12]}… ({meta['data']['records']} records then,"
            f" {built.table.data.n_records} now). Put the old file back, or start a new run"
        )
    return study, built, meta


def _where(built: Built) -> str:
    return "the table" if built.table.file is None else str(built.table.file)


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def work(
    folder: Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    built: tuple[Study, Built] | None = None,
    made_with: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Run what is left of a study.

    Parameters
    ----------
    folder
        The run folder.
    workers
        Processes; by default as the study says.
    scheduler
        Dask scheduler. Never taken from the folder, which may be a stranger's: who names a scheduler can have code run.
    built
        The study, if ``start`` or ``reopen`` has just built it.
    made_with
        Versions that the run was begun with, if they may be others.
    tell
        Takes a line about what happens.
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
        journal = stack.enter_context(Journal.take(folder, lock, versions=versions(), workers=place))
        _keep_baselines(journal, folder, made.problem)
        seeds = [seed for seed in run_section.numbers if journal.status(seed) != "finished"]
        crew = _Crew(folder, lock.token, study, made, tell)
        stop = stack.enter_context(interruptions(tell))
        if not seeds:
            return Outcome(folder, (), False)
        jobs = min(workers, len(seeds))
        if scheduler is not None:
            # One client for the whole session: it starts a local cluster, and clears the workers at the end.
            backend = stack.enter_context(open_backend(made.problem, workers=workers, scheduler=scheduler))
            scheduler = backend.scheduler  # type: ignore[attr-defined]
            stack.callback(backend.forget)  # type: ignore[attr-defined]
            if jobs == 1:
                return crew.one_after_the_other(journal, seeds, backend, stop)
        elif jobs == 1:
            backend = stack.enter_context(open_backend(made.problem, workers=workers))
            return crew.one_after_the_other(journal, seeds, backend, stop)
        return crew.side_by_side(seeds, jobs, workers // jobs, scheduler, stop)


def _without_run(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a study that decides what comes out, as JSON would keep it."""
    run = given.get("run", {})
    kept = {"seeds": run["seeds"]} if "seeds" in run else {}
    try:
        plain: dict[str, Any] = json.loads(json.dumps({**given, "run": kept}))
    except TypeError as error:
        raise SDCError(f"dates and times have no place in a study: {error}") from None
    return plain


def _difference(before: Any, after: Any, place: str = "") -> str:
    """Say where two nested tables differ first; empty if they do not."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(k for k in after if k not in before)]:
            where = f"{place}.{key}" if place else str(key)
            if key not in after:
                return f"{where} is gone"
            if key not in before:
                return f"{where} is new"
            found = _difference(before[key], after[key], where)
            if found:
                return found
        return ""
    same = type(before) is type(after) and before == after
    return "" if same else f"{place} was {json.dumps(before)}, is {json.dumps(after)}"


def _keep_baselines(journal: Journal, folder: Path, problem: SDCProblem) -> None:
    with Run(folder) as run:
        if len(run.baselines()):
            return
    rows = problem.baselines()
    if not rows:
        return
    X = problem.genomes(np.array(list(rows.values())))
    F = measure(problem, X)["F"]
    journal.add_baselines({name: {"X": X[i : i + 1], "F": F[i : i + 1]} for i, name in enumerate(rows)})


@contextmanager
def interruptions(tell: Callable[[str], None]) -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C (or a polite kill) end the session after the current generations; a second one ends it now."""
    asked = False
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        tell("stopping after the generations that are under way; again to stop now (what is stored stays)")

    before = {s: signal.signal(s, ask) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: asked
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
        self, journal: Journal, seeds: list[int], backend: Serial, stop: Callable[[], bool]
    ) -> Outcome:
        """Run the seeds in this process."""
        endings = []
        for seed in seeds:
            if stop():
                break
            endings.append(_search(journal, self.built.plan, seed, backend, stop))
            self._report(endings[-1])
        return Outcome(self.folder, tuple(endings), stop())

    def side_by_side(
        self, seeds: list[int], jobs: int, workers: int, scheduler: str | None, stop: Callable[[], bool]
    ) -> Outcome:
        """Run each seed in one of several processes."""
        context = multiprocessing.get_context("spawn")
        asked = context.Event()
        setup = (self.folder, self.token, self.study, self.built.problem, workers, scheduler, asked)
        endings: list[Ending] = []
        with ProcessPoolExecutor(jobs, mp_context=context, initializer=_open_seeds, initargs=setup) as pool:
            pending: set[Future[Ending]] = {pool.submit(_run_seed, seed) for seed in seeds}
            try:
                while pending:
                    done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
                    if stop():
                        asked.set()
                    for future in done:
                        endings.append(future.result())
                        self._report(endings[-1])
            except BrokenProcessPool:
                raise SDCFailure(
                    "a process that ran a seed ended without a word (out of memory?); everything that it stored is"
                    " safe: continue with `sdc resume`, perhaps with fewer workers"
                ) from None
            except BaseException:
                # The others are asked to end with their generation; a second Ctrl-C ends them at once.
                asked.set()
                for future in pending:
                    future.cancel()
                for process in list((pool._processes or {}).values()):
                    process.terminate()
                raise
        return Outcome(self.folder, tuple(sorted(endings, key=lambda e: seeds.index(e.seed))), stop())

    def _report(self, ending: Ending) -> None:
        replayed = f" ({ending.replayed} replayed in {ending.replay_seconds:.1f} s)" if ending.replayed else ""
        reason = ending.reason or ("not begun" if not ending.generations else "interrupted")
        self.tell(f"seed {ending.seed}: {ending.generations} generations{replayed}, {reason}")


def _search(journal: Journal, plan: Plan, seed: int, backend: Serial, stop: Callable[[], bool]) -> Ending:
    return search(
        journal,
        seed=seed,
        problem=plan.problem,
        algorithm=plan.algorithm,
        limits=plan.limits,
        backend=backend,
        rounded=plan.rounded,
        stop=stop,
    )


# ---------------------------------------------------------------------- in a process that runs seeds

_setup: Any = None


def _open_seeds(
    folder: Path, token: str, study: Study, problem: SDCProblem, workers: int, scheduler: str | None, asked: Any
) -> None:
    global _setup
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    end_with_parent()
    one_thread()
    _setup = (folder, token, study, problem, workers, scheduler, asked)


def _run_seed(seed: int) -> Ending:
    folder, token, study, problem, workers, scheduler, asked = _setup
    if asked.is_set():
        return Ending(seed, 0, 0, 0.0, "")
    plan = study.plan(problem)
    with Journal(folder, token) as journal, open_backend(problem, workers=workers, scheduler=scheduler) as backend:
        return _search(journal, plan, seed, backend, asked.is_set)

"""Search of one seed: its loop over generations, each stored when it ends; a resumed search begins with a replay."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdc_problems.parallel.backend import Backend
from sdc_problems.problem import SDCProblem
from sdc_problems.studies.run.checkpoint import can_be_restored
from sdc_problems.studies.run.evaluation_log import EvaluationLog, RecordingEvaluator
from sdc_problems.studies.run.generation import step
from sdc_problems.studies.run.limits import Limits, Progress
from sdc_problems.studies.run.replay import Replay, check_measures
from sdc_problems.studies.store.writer import RunWriter


@dataclass(frozen=True)
class Ending:
    """End of a session of a search; ``reason`` is empty if it was interrupted and can be continued.

    ``missed`` names the bounds that the nearest solution misses, if no solution meets them all.
    """

    seed: int
    generations: int
    replayed: int
    replay_seconds: float
    reason: str
    missed: str = ""


def search(
    writer: RunWriter,
    *,
    seed: int,
    problem: SDCProblem,
    algorithm: Any,
    limits: Limits,
    backend: Backend,
    rounded: bool = False,
    ends: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> Ending:
    """Run or resume one seed until its limits are reached, or ``stop()`` is true between two generations.

    Parameters
    ----------
    writer
        Writer of the run.
    seed, problem, algorithm, limits
        Seed, problem, algorithm and limits of the search.
    backend
        Backend that measures.
    rounded
        Whether the algorithm proposes real numbers.
    ends
        Whether the algorithm's own termination also counts, because it has its own budget.
    stop
        Called between two generations.
    """
    log = EvaluationLog(problem, backend, rounded=rounded)
    # Some of pymoo's default arguments are objects that a search changes (SPEA2's survival): always work on a copy.
    algorithm = copy.deepcopy(algorithm)
    termination = limits.termination(algorithm.termination if ends else None)
    algorithm.setup(problem, termination=termination, seed=seed, evaluator=RecordingEvaluator(log), verbose=False)
    start = time.perf_counter()
    progress = Progress(limits, ends)
    replay = Replay(writer, seed, stop)
    if can_be_restored(algorithm):
        replay.restore(algorithm, log, progress)
    else:
        replay.work_again(algorithm, log, progress)
    replay_seconds = time.perf_counter() - start
    number, chain, last = replay.number, replay.chain, replay.last
    if replay.interrupted:
        return Ending(seed, number, number, replay_seconds, "")
    if last is not None:
        check_measures(last, problem, backend)
    replayed = number
    if writer.status(seed) == "finished":
        return Ending(seed, number, replayed, replay_seconds, "finished")
    writer.mark(seed, "running")
    while True:
        reason = progress.reason(algorithm)
        if reason:
            writer.mark(seed, "finished", reason)
            return Ending(seed, number, replayed, replay_seconds, reason, _missed(problem, log))
        if stop():
            return Ending(seed, number, replayed, replay_seconds, "")
        number += 1
        log.begin()
        generation = step(algorithm, log, seed, number)
        chain = writer.append(generation, chain)
        progress.add(generation)


def _missed(problem: SDCProblem, log: EvaluationLog) -> str:
    """Bounds that the nearest solution misses, and by how much; empty if a solution meets them all."""
    if not problem.requirements or not len(log):
        return ""
    G = np.maximum(log.measures(np.arange(len(log)))["G"], 0.0)
    nearest = G[int(np.argmin(G.sum(axis=1)))]
    parts, first = [], 0
    for requirement in problem.requirements:
        by = nearest[first : first + requirement.n_bounds].sum()
        first += requirement.n_bounds
        if by > 0:
            parts.append(f"{requirement} by {by:.3g}")
    return " and ".join(parts)

"""Generation of a search: one step of the algorithm, and its record for the store."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.problem import SDCProblem
from sdc_problems.studies.run.checkpoint import state_of
from sdc_problems.studies.run.evaluation_log import EvaluationLog
from sdc_problems.studies.store.writer import Generation


def step(algorithm: Any, log: EvaluationLog, seed: int, number: int) -> Generation:
    """Run one generation: as many steps as the algorithm needs to count one (MOEA/D makes a step per child)."""
    start = time.perf_counter()
    before = algorithm.n_iter
    while algorithm.has_next():
        algorithm.next()
        if algorithm.n_iter != before:
            break
    population = log.numbers(_genomes(algorithm.pop, log.problem))
    extra: dict[str, NDArray[Any]] = {}
    if algorithm.archive is not None:
        extra["archive"] = log.numbers(_genomes(algorithm.archive, log.problem)).astype(np.int32)
    # Algorithms that measure on their own (local searches) report their results as their optimum.
    log.numbers(_genomes(algorithm.opt, log.problem))
    arrays = {**log.arrays(), "population": population.astype(np.int32), **extra}
    seconds = time.perf_counter() - start
    return Generation(
        seed=seed,
        number=number,
        # Algorithms that follow single changes measure and count them on their own.
        evaluated=max(log.evaluated, algorithm.evaluator.n_eval),
        solutions=len(log),
        rng=_state(algorithm.random_state),
        arrays=arrays,
        seconds=seconds,
        measuring=log.measuring,
        state=state_of(algorithm),
    )


def _genomes(members: Any, problem: SDCProblem) -> NDArray[Any]:
    """``X`` of a population, or of an archive that holds its genomes as ``X``."""
    if members is None or len(members) == 0:
        return np.zeros((0, problem.n_var), dtype=problem.dtype)
    if hasattr(members, "get"):
        return np.asarray(members.get("X"))
    return np.asarray(members.X)


def _state(generator: np.random.Generator) -> str:
    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value.tolist()
        return int(value)

    return json.dumps(generator.bit_generator.state, sort_keys=True, default=plain)

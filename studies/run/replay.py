"""Replay of a stored search: every generation is computed again with measures from the store, and compared.

An algorithm's state is thousands of Python objects that only a pickle could save, and a pickle from disk can run any
code. So nothing of the algorithm is saved. A resumed search starts again from its seed; its measures are taken from the
store instead of being computed, and at every generation everything that is stored (solutions, population, front,
counters, state of the random generator) must have the same digest. After the last stored generation, the search has
provably reached the state where it stopped, and continues. (A search whose own computation takes most of the time can
store its state in numbers, and is restored instead: see ``checkpoint``.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sdc_problems.errors import SDCError
from sdc_problems.parallel.backend import Backend
from sdc_problems.problem import SDCProblem
from sdc_problems.studies.run.checkpoint import Gatherer, restore
from sdc_problems.studies.run.evaluation_log import Diverged, EvaluationLog
from sdc_problems.studies.run.generation import step
from sdc_problems.studies.run.limits import Progress
from sdc_problems.studies.store.writer import BEGINNING, Generation, RunWriter, check_stored


class Replay:
    """Replay of the generations that earlier sessions stored, or restoration of their last state.

    Attributes
    ----------
    number, chain, last
        Number, chain digest and content of the last stored generation.
    interrupted
        Whether it was asked to stop before the end of the stored generations.
    """

    def __init__(self, writer: RunWriter, seed: int, stop: Callable[[], bool]) -> None:
        self.writer = writer
        self.seed = seed
        self.stop = stop
        self.number = 0
        self.chain = BEGINNING
        self.last: Generation | None = None
        self.interrupted = False

    def work_again(self, algorithm: Any, log: EvaluationLog, progress: Progress) -> None:
        """Compute every stored generation again with its measures; the result must be as stored."""
        for stored, expected in self.writer.generations(self.seed):
            if self.stop():
                self.interrupted = True
                return
            if self.number and not algorithm.has_next():
                raise self._ends_too_soon()
            log.begin(stored.arrays)
            try:
                again = step(algorithm, log, self.seed, self.number + 1)
            except Diverged as error:
                raise _diverged(self.seed, self.number + 1, str(error)) from None
            check_stored(stored, expected, self.chain)
            if again.chain(self.chain) != expected:
                raise _diverged(self.seed, self.number + 1, _difference(again, stored))
            self._take(stored, expected, progress)

    def restore(self, algorithm: Any, log: EvaluationLog, progress: Progress) -> None:
        """Read every stored generation, and restore the algorithm's state."""
        last = self.writer.last(self.seed)
        if last is None:
            return
        gathered = Gatherer(log, last)
        for stored, expected in self.writer.generations(self.seed):
            check_stored(stored, expected, self.chain)
            gathered.add(stored)
            self._take(stored, expected, progress)
        state = self.writer.state(self.seed, last.number, self.chain)
        if state is None:
            raise SDCError(
                f"seed {self.seed}: the state of the search is not stored, so it cannot be continued: start a new run"
            )
        restore(algorithm, gathered, state)

    def _take(self, stored: Generation, expected: str, progress: Progress) -> None:
        self.number, self.chain, self.last = stored.number, expected, stored
        progress.add(stored)

    def _ends_too_soon(self) -> SDCError:
        return SDCError(
            f"[termination] now ends seed {self.seed} after generation {self.number}, but more generations"
            " are stored: raise the limit"
        )


def _difference(again: Generation, stored: Generation) -> str:
    if again.number != stored.number or again.evaluated != stored.evaluated or again.solutions != stored.solutions:
        return f"{again.evaluated} evaluations instead of {stored.evaluated}"
    for name in sorted(set(again.arrays) | set(stored.arrays)):
        a, b = again.arrays.get(name), stored.arrays.get(name)
        if a is None or b is None or a.shape != b.shape or a.dtype != b.dtype or a.tobytes() != b.tobytes():
            return f"its {name} is different"
    return "its random generator is in another state"


def _diverged(seed: int, number: int, what: str) -> SDCError:
    return SDCError(
        f"seed {seed} cannot be continued: generation {number} differs from the stored one ({what}). Most often"
        " another version of pymoo, numpy or sdc-problems is installed than the run was made with (`sdc status` shows"
        " both). Stored results can still be read; use those versions, or start a new run"
    )


def check_measures(last: Generation, problem: SDCProblem, backend: Backend) -> None:
    """Measure a few stored solutions again: the rest of the run must be measured in the same way as its beginning."""
    few = slice(0, 4)
    X = last.arrays["X"][few]
    if not len(X):
        return
    measures = backend.evaluate(problem.genomes(X))
    for key, values in measures.items():
        if values.tobytes() != last.arrays[key][few].tobytes():
            raise SDCError(
                f"seed {last.seed} cannot be continued: its solutions are measured differently now than when they were"
                " stored: the data or the version of sdc-problems or numpy has changed (`sdc status` shows the"
                " versions), or the problem measures a row differently beside other rows"
            )

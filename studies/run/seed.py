"""One seed's search: the step loop, its record after every generation, and the replay that a resume begins with.

An algorithm's state is thousands of Python objects that only a pickle could save, and a pickle from disk can run any
code. So nothing of the algorithm is saved. A resumed search starts again from its seed; whatever it measures again is
served from the store instead of being computed, and at every generation everything that is stored (solutions,
population, front, counters, state of the random generator) must come out with the same digest. When the stored
generations are used up the search has provably arrived where it was, and goes on. (A search whose own work is what
takes the time can say its state in numbers, and is restored instead: see ``snapshot``.)
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError
from sdc_problems.parallel.backends import Backend
from sdc_problems.problem import SDCProblem
from sdc_problems.studies.run.checkpoint import Gatherer, can_be_restored, restore, state_of
from sdc_problems.studies.run.evaluation_log import Diverged, Ledger, RecordingEvaluator
from sdc_problems.studies.store.writer import BEGINNING, Generation, Journal


@dataclass(frozen=True)
class Limits:
    """When a search ends: whichever comes first.

    Parameters
    ----------
    generations, evaluations
        Counted by pymoo.
    seconds
        Computing time over all sessions, without replays. The generations are the same whatever the time limit; how
        many there are depends on the machine.
    stalled
        Generations in which the front has not changed.
    """

    generations: int | None = None
    evaluations: int | None = None
    seconds: float | None = None
    stalled: int | None = None

    def termination(self, own: Any = None) -> Any:
        """Return pymoo's part of it, together with an algorithm's own."""
        from pymoo.core.termination import NoTermination, TerminateIfAny
        from pymoo.termination import get_termination

        parts = [] if own is None else [own]
        if self.generations is not None:
            parts.append(get_termination("n_gen", self.generations))
        if self.evaluations is not None:
            parts.append(get_termination("n_eval", self.evaluations))
        return parts[0] if len(parts) == 1 else TerminateIfAny(*parts) if parts else NoTermination()


@dataclass(frozen=True)
class Ending:
    """How a session of a search ended: ``reason`` is empty when it was interrupted and can go on."""

    seed: int
    generations: int
    replayed: int
    replay_seconds: float
    reason: str


def search(
    journal: Journal,
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
    """Run, or resume, one seed until its limits are met or ``stop()`` says so between two generations.

    Parameters
    ----------
    journal
        Where it is stored.
    seed, problem, algorithm, limits
        What is searched, how, and for how long.
    backend
        What measures.
    rounded
        Whether the algorithm proposes real numbers.
    ends
        Whether the algorithm's own termination counts, too: it has a budget of its own.
    stop
        Asked between two generations.
    """
    ledger = Ledger(problem, backend, rounded=rounded)
    # Some of pymoo's default arguments are objects that a search changes (SPEA2's survival): work on a copy, always.
    algorithm = copy.deepcopy(algorithm)
    termination = limits.termination(algorithm.termination if ends else None)
    algorithm.setup(problem, termination=termination, seed=seed, evaluator=RecordingEvaluator(ledger), verbose=False)
    start = time.perf_counter()
    clock = _Progress(limits, ends)
    before = _Before(journal, seed, stop)
    if can_be_restored(algorithm):
        before.restore(algorithm, ledger, clock)
    else:
        before.replay(algorithm, ledger, clock)
    replay_seconds = time.perf_counter() - start
    number, chain, last = before.number, before.chain, before.last
    if before.interrupted:
        return Ending(seed, number, number, replay_seconds, "")
    if last is not None:
        _check_measures(last, problem, backend)
    replayed = number
    if journal.status(seed) == "finished":
        return Ending(seed, number, replayed, replay_seconds, "finished")
    journal.mark(seed, "running")
    while True:
        reason = clock.reason(algorithm)
        if reason:
            journal.mark(seed, "finished", reason)
            return Ending(seed, number, replayed, replay_seconds, reason)
        if stop():
            return Ending(seed, number, replayed, replay_seconds, "")
        number += 1
        ledger.begin()
        generation = _step(algorithm, ledger, seed, number)
        chain = journal.append(generation, chain)
        clock.add(generation)


class _Before:
    """What was done in earlier sessions, brought back to life."""

    def __init__(self, journal: Journal, seed: int, stop: Callable[[], bool]) -> None:
        self.journal = journal
        self.seed = seed
        self.stop = stop
        self.number = 0
        self.chain = BEGINNING
        self.last: Generation | None = None
        self.interrupted = False

    def replay(self, algorithm: Any, ledger: Ledger, clock: _Progress) -> None:
        """Work every stored generation again, with its measures; each must come out as it was stored."""
        for stored, expected in self.journal.generations(self.seed):
            if self.stop():
                self.interrupted = True
                return
            if self.number and not algorithm.has_next():
                raise self._ends_too_soon()
            ledger.begin(stored.arrays)
            try:
                again = _step(algorithm, ledger, self.seed, self.number + 1)
            except Diverged as error:
                raise _diverged(self.seed, self.number + 1, str(error)) from None
            _check_stored(stored, expected, self.chain)
            if again.chain(self.chain) != expected:
                raise _diverged(self.seed, self.number + 1, _difference(again, stored))
            self._take(stored, expected, clock)

    def restore(self, algorithm: Any, ledger: Ledger, clock: _Progress) -> None:
        """Take in every stored generation and give the algorithm its state back."""
        last = self.journal.last(self.seed)
        if last is None:
            return
        gathered = Gatherer(ledger, last)
        for stored, expected in self.journal.generations(self.seed):
            _check_stored(stored, expected, self.chain)
            gathered.add(stored)
            self._take(stored, expected, clock)
        state = self.journal.state(self.seed, last.number, self.chain)
        if state is None:
            raise SDCError(f"seed {self.seed}: the state of the search is not stored; it cannot be continued")
        restore(algorithm, gathered, state)

    def _take(self, stored: Generation, expected: str, clock: _Progress) -> None:
        self.number, self.chain, self.last = stored.number, expected, stored
        clock.add(stored)

    def _ends_too_soon(self) -> SDCError:
        return SDCError(
            f"[termination] now ends seed {self.seed} after generation {self.number}, but more are stored; raise it"
        )


def _step(algorithm: Any, ledger: Ledger, seed: int, number: int) -> Generation:
    """One generation: as many steps as the algorithm needs to count one (MOEA/D steps once per child)."""
    start = time.perf_counter()
    before = algorithm.n_iter
    while algorithm.has_next():
        algorithm.next()
        if algorithm.n_iter != before:
            break
    population = ledger.numbers(_genomes(algorithm.pop, ledger.problem))
    extra: dict[str, NDArray[Any]] = {}
    if algorithm.archive is not None:
        extra["archive"] = ledger.numbers(_genomes(algorithm.archive, ledger.problem)).astype(np.int32)
    # Algorithms that measure on their own (local searches) show what they found as their optimum.
    ledger.numbers(_genomes(algorithm.opt, ledger.problem))
    arrays = {**ledger.arrays(), "population": population.astype(np.int32), **extra}
    seconds = time.perf_counter() - start
    return Generation(
        seed=seed,
        number=number,
        evaluated=ledger.evaluated,
        solutions=len(ledger),
        rng=_state(algorithm.random_state),
        arrays=arrays,
        seconds=seconds,
        measuring=ledger.measuring,
        state=state_of(algorithm),
    )


def _genomes(members: Any, problem: SDCProblem) -> NDArray[Any]:
    """``X`` of a population, or of an archive that has its genomes as ``X``."""
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


def _check_stored(stored: Generation, expected: str, chain: str) -> None:
    if stored.chain(chain) != expected:
        raise SDCError(
            f"seed {stored.seed}, generation {stored.number}: what is stored does not have the digest that was stored"
            " with it; the run's database was changed or damaged, and it is not continued"
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
        f"seed {seed} cannot be continued: generation {number} does not come out as it was stored ({what}). Most often"
        " another version of pymoo, numpy or sdc-problems is installed than the run was made with (`sdc status` shows"
        " both). What is stored stays readable; use those versions, or start a new run"
    )


def _check_measures(last: Generation, problem: SDCProblem, backend: Backend) -> None:
    """Measure a few stored solutions again: the rest of the run must be measured as its beginning was."""
    few = slice(0, 4)
    X = last.arrays["X"][few]
    if not len(X):
        return
    measures = backend.evaluate(problem.genomes(X))
    for key, values in measures.items():
        if values.tobytes() != last.arrays[key][few].tobytes():
            raise SDCError(
                f"seed {last.seed} cannot be continued: its solutions are measured differently now than when they were"
                " stored: the data, or the version of sdc-problems or numpy, is another one (`sdc status` shows the"
                " versions), or what the problem measures of a row depends on the rows beside it"
            )


class _Progress:
    """What the limits are about, summed over the sessions."""

    def __init__(self, limits: Limits, ends: bool) -> None:
        self.limits = limits
        self.forced = "its own budget is spent" if ends else "no new candidates"
        self.seconds = 0.0
        self.unchanged = 0
        self._front: bytes | None = None

    def add(self, generation: Generation) -> None:
        self.seconds += generation.seconds
        front = generation.arrays["front"].tobytes()
        self.unchanged = self.unchanged + 1 if front == self._front else 0
        self._front = front

    def reason(self, algorithm: Any) -> str:
        """Why the search is over; empty while it is not."""
        if algorithm.is_initialized and not algorithm.has_next():
            return self.forced if algorithm.termination.force_termination else "limit reached"
        if self.limits.seconds is not None and self.seconds >= self.limits.seconds:
            return "time limit reached"
        if self.limits.stalled is not None and self.unchanged >= self.limits.stalled:
            return f"front unchanged for {self.unchanged} generations"
        return ""

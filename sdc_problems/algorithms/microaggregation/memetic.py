"""Memetic search for microaggregation: annealing, ruin and recreate, crossover."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pymoo.core.algorithm import Algorithm
from pymoo.core.population import Population
from pymoo.core.termination import Termination
from pymoo.optimize import minimize
from pymoo.util.display.single import SingleObjectiveOutput

from sdc_problems._slices import tell
from sdc_problems._validation import choice, number, whole
from sdc_problems.algorithms._checks import single_objective
from sdc_problems.algorithms.microaggregation._partition_search import (
    HEURISTIC_UP_TO,
    SMALL,
    TASKS,
    WORTH_ANNEALING,
    Milestone,
    PartitionSearch,
    starting_points,
)
from sdc_problems.algorithms.microaggregation.hybrid import problem_rows
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.information_loss.numeric import sse
from sdc_problems.methods.bounds._lower import bounded_partition
from sdc_problems.methods.bounds._nearest import nearest_bound
from sdc_problems.methods.registry import Partitioned

if TYPE_CHECKING:
    from sdc_problems.problems.microaggregation import MicroaggregationProblem

MOVES_PER_RECORD = 20_000  # if no limit is given
ROUNDS = 200  # most rounds of a search limited by moves: a round is a step of the temperature
ROUND_SECONDS = 0.25
MOVES_PER_SECOND = 15_000_000  # of one worker, roughly; determines the rounds of a search that is limited by time
FEWEST_MOVES = 20_000  # in a task: with fewer, starting it costs more than the work
NEIGHBOURS = 10
BOUNDED = 5_000  # most records for which groups are excluded one by one for a bound
BOUND_ROUNDS, BOUND_SECONDS, BOUND_STEPS = 10, 60.0, 5_000_000


class BudgetSpent(Termination):
    """Termination by the limit of the algorithm itself."""

    def _update(self, algorithm: Any) -> float:
        return float(algorithm.progress)


class MemeticMicroaggregation(Algorithm):
    """Search for the k-partition with the smallest SSE by annealing, ruin and recreate, and crossover of groups.

    A population of partitions starts from MDAV and from the optimal cut of its path. First these are improved briefly,
    in case the search is stopped early. Then, up to a quarter of the budget, each whole partition is annealed: records
    relocate and swap, groups dissolve and form. After that, neighborhoods are heated and cooled one by one, and the
    change is kept only where it is an improvement. At half of the budget the worse half of the partitions is dropped,
    at three quarters all but the best, after the best has taken over every part that another one groups better. The
    first generation is the best heuristic's partition, so the result is never worse.

    Parameters
    ----------
    time_limit
        Seconds of the search, counted after everything is compiled. The result then depends on the machine.
    move_limit
        Number of proposals; the same seed gives the same result, with any number of workers. If neither limit is given:
        20,000 per record. With both, the first that is reached ends the search.
    pop_size
        Number of partitions side by side: 1, 2 or 4; by default 4 up to 10,000 records, else 1.
    workers
        Number of threads.

    Attributes
    ----------
    trajectory
        Proposals, seconds and SSE of the best partition after each round.

    Notes
    -----
    Numeric attributes only; the objective is ``sse`` or ``il_sse``. A swap or a relocation is evaluated from sums that
    are kept up to date: O(p) in the whole file, O(1) in a neighborhood. Every partition that is ever measured has
    groups of k to 2k − 1 records. Memory is O(np), and O(480²) per worker. Above 200,000 records MDAV runs in blocks.

    Examples
    --------
    >>> import pandas as pd
    >>> from pymoo.optimize import minimize
    >>> from sdc_problems import MicroaggregationProblem, Microdata
    >>> values = np.random.default_rng(1).normal(size=(60, 2))
    >>> frame = pd.DataFrame(values, columns=["a", "b"])
    >>> problem = MicroaggregationProblem(Microdata.from_frame(frame, quasi_identifiers=["a", "b"]), k=3)
    >>> result = minimize(problem, MemeticMicroaggregation(move_limit=200_000), seed=1)
    >>> bool(result.F[0] < 0.95 * problem.evaluate(problem.baselines()["MDAV"])[0])
    True
    >>> result.algorithm.trajectory[-1].moves >= 200_000
    True
    """

    pop: Any

    def __init__(
        self,
        *,
        time_limit: float | None = None,
        move_limit: int | None = None,
        pop_size: Literal[1, 2, 4] | None = None,
        workers: int = 1,
    ) -> None:
        super().__init__(termination=BudgetSpent(), output=SingleObjectiveOutput())
        self.time_limit = None if time_limit is None else number(time_limit, "time_limit", low=0.0, high=1e9)
        self.move_limit = None if move_limit is None else whole(move_limit, "move_limit", least=1)
        if pop_size is not None and pop_size not in (1, 2, TASKS):
            raise SDCError(f"pop_size must be 1, 2 or {TASKS}, not {pop_size!r}")
        self.pop_size = pop_size
        self.workers = whole(workers, "workers", least=1)
        self.trajectory: list[Milestone] = []
        self._search: PartitionSearch | None = None
        self._began = 0.0

    @property
    def progress(self) -> float:
        """Share of the budget that is used."""
        if self._search is None:
            return 0.0
        shares = [0.0]
        if self.move_limit is not None:
            shares.append(self._search.moves / self.move_limit)
        if self.time_limit is not None:
            shares.append((time.perf_counter() - self._began) / self.time_limit if self.time_limit else 1.0)
        return min(1.0, max(shares))

    def _setup(self, problem: Any, **kwargs: object) -> None:
        single_objective(problem, "MemeticMicroaggregation")
        choice(problem.objectives[0].name, "the objective of MemeticMicroaggregation", ("sse", "il_sse"))
        if set(problem.kinds) != {"numeric"}:
            raise SDCError("MemeticMicroaggregation needs numeric quasi-identifiers: means of categories do not exist")
        if self.move_limit is None and self.time_limit is None:
            self.move_limit = MOVES_PER_RECORD * problem.n_var

    def _initialize_infill(self) -> Any:
        self._search = self._prepared()
        return self._best()

    def _prepared(self) -> PartitionSearch:
        """Set the size of the rounds, and set up the search."""
        assert self.random_state is not None
        problem, V = self.problem, self.problem.engine.V
        n, k = len(V), problem.k
        _compile()
        self._began = time.perf_counter()
        pop_size = self.pop_size or (TASKS if n <= SMALL else 1)
        budget = self._expected_moves()
        annealed = budget >= WORTH_ANNEALING * n * pop_size
        self._moves = max(FEWEST_MOVES, budget // (TASKS * ROUNDS))
        if self.time_limit is not None:
            seconds = min(ROUND_SECONDS, self.time_limit / ROUNDS)
            self._moves = max(FEWEST_MOVES, int(MOVES_PER_SECOND * seconds * min(self.workers, TASKS) / TASKS))
        return PartitionSearch(
            V,
            k,
            near=np.ascontiguousarray(problem.neighbours[:, :NEIGHBOURS]) if annealed else None,
            rng=self.random_state,
            starts=starting_points(V, k),
            pop_size=pop_size,
            workers=self.workers,
        )

    def _expected_moves(self) -> int:
        """Number of proposals that the limits allow, as far as it can be known beforehand."""
        limits = []
        if self.move_limit is not None:
            limits.append(self.move_limit)
        if self.time_limit is not None:
            limits.append(int(self.time_limit * MOVES_PER_SECOND * self.workers))
        return min(limits)

    def _best(self) -> Any:
        assert self._search is not None
        return Population.new("X", problem_rows(self.problem, self._search.best))

    def _infill(self) -> Any:
        assert self._search is not None
        before = self._search.best_sse
        self._search.step(self.progress, self._moves)
        # A round without improvement has nothing to measure: the best partition is measured already.
        return self._best() if self._search.best_sse < before else None

    def _initialize_advance(self, infills: Any = None, **kwargs: object) -> None:
        self._note()

    def _advance(self, infills: Any = None, **kwargs: object) -> None:
        if infills is not None:
            self.pop = infills
        self._note()

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return the state from which a study can continue, together with the population."""
        assert self._search is not None
        return self._search.state()

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore the search; time used before is not counted."""
        self._search = self._prepared()
        self._search.take(state)

    def _note(self) -> None:
        assert self._search is not None
        seconds = time.perf_counter() - self._began
        self.trajectory.append(Milestone(self._search.moves, seconds, self._search.best_sse))


def memetic(
    problem: MicroaggregationProblem,
    *,
    rng: np.random.Generator,
    moves: int | None = None,
    seconds: float | None = None,
    workers: int = 1,
    bound: bool = False,
) -> Partitioned:
    """Partition the records of a problem by `MemeticMicroaggregation`; above 200,000 records in blocks.

    Parameters
    ----------
    problem
        The records and k.
    rng
        Source of all random numbers.
    moves
        Largest number of proposals. By default 20,000 per record; above 200,000 records, 3,000 in blocks.
    seconds
        Time limit, for searching the whole table at once; the result then depends on the machine.
    workers
        Number of threads, or of processes for blocks. The result does not depend on it.
    bound
        Whether to improve the groups region by region by integer programs, and to compute a bound on how far the loss
        is from the optimum. For up to 5,000 records this takes up to three minutes, or three times ``seconds`` if that
        is longer, and the result then depends on the machine. With k above 7, only the bound is computed, in a minute.

    Returns
    -------
    labels, sentences
        One group number per record; sentences on how they were found, and on the bound if it was asked for.
    """
    n, V = problem.n_var, problem.engine.V
    told: tuple[str, ...] = ()
    if seconds is None and n > HEURISTIC_UP_TO:
        from sdc_problems.algorithms.microaggregation.blocks import MOVES, in_blocks

        each = MOVES if moves is None else -(-moves // n)
        labels, told = in_blocks(V, problem.k, rng=rng, moves=each, workers=workers, standardize=False)
    else:
        search = MemeticMicroaggregation(move_limit=moves, time_limit=seconds, workers=workers)
        labels = minimize(problem, search, seed=rng, copy_algorithm=False, callback=_tell).X
    if bound:
        labels, said = bounded(V, problem.k, labels, max(BOUND_SECONDS, seconds or 0.0))
        told = (*told, said)
    return Partitioned(labels, told)


def _tell(search: MemeticMicroaggregation) -> None:
    tell("parts of the search", int(1000 * search.progress), 1000)


def bounded(
    Z: NDArray[np.float64], k: int, labels: NDArray[Any], limit: float = BOUND_SECONDS
) -> tuple[NDArray[Any], str]:
    """Partition, improved where a bound shows how, and a sentence on its distance from the optimum.

    Parameters
    ----------
    Z
        The points, on one scale.
    k
        Smallest group.
    labels
        The partition.
    limit
        Seconds for improving it, again for the bound, and once more for a weaker bound if that was not enough.
    """
    lost, total = sse(Z, labels), float(np.square(Z - Z.mean(axis=0)).sum()) or 1.0
    if len(Z) <= BOUNDED:
        what, began, most = "regions and bound", time.perf_counter(), int(2 * limit) or 1
        found = bounded_partition(
            Z, k, labels=labels, standardize=False, rounds=BOUND_ROUNDS, time_limit=limit, steps=BOUND_STEPS,
            progress=lambda _: tell(what, min(int(time.perf_counter() - began), most - 1), most),
        )  # fmt: skip
        tell(what, most, most)
        least = found.bound.sse
        if found.sse < lost:
            labels, lost = found.labels, found.sse
    else:
        least = nearest_bound(Z, k, standardize=False)
    said = f"Of the variation {100 * lost / total:.4g} % is lost"
    if lost <= least * (1.0 + 1e-9):
        return labels, f"{said}, and no groups of at least {k} lose less."
    above = f" ({100 * (lost / least - 1):.2g} % above it)" if least else ""
    return labels, f"{said}; no groups of at least {k} lose less than {100 * least / total:.4g} %{above}."


def _compile() -> None:
    """Run the kernels once on a few points, so that compiling them is not counted as searching."""
    Z: NDArray[np.float64] = np.ascontiguousarray(np.arange(12.0)[:, None] ** 2)
    near = np.ascontiguousarray((np.arange(12)[:, None] + np.arange(1, 4)) % 12).astype(np.int32)
    for pop_size in (1, TASKS):
        search = PartitionSearch(
            Z,
            2,
            near=near,
            rng=np.random.default_rng(0),
            starts=starting_points(Z, 2),
            pop_size=pop_size,
            workers=1,
        )
        search.step(0.1, 100)
        search.step(1.0, 100)

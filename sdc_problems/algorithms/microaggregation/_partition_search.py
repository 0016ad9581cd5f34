"""Memetic search for the k-partition of smallest error: annealing, ruin and recreate, crossover by whole groups.

Everything runs in rounds of a fixed number of tasks; a task is one compiled call that needs only its own copy of the
labels and a seed. So workers affect how fast a round is, but never its result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError
from sdc_problems.evaluators.information_loss.numeric import sse
from sdc_problems.methods._kernels.anneal import anneal
from sdc_problems.methods._kernels.crossing import best_parts_kernel
from sdc_problems.methods._kernels.mdav import mdav_kernel
from sdc_problems.methods._kernels.window import windows_kernel
from sdc_problems.methods.partition._univariate import mhm

TASKS = 4  # per round
FIRST = 0.03  # share of the budget in which the heuristics' partitions are improved, for a search stopped early
ANNEALED = 0.25  # share of the budget after which whole partitions are no longer annealed
RACE = (0.5, 0.75)  # shares of the budget after which half of the partitions, and all but one, are dropped
HOT, COLD = 10.0, 0.003  # first and last temperature, in mean squared errors of MDAV per record
WORTH_ANNEALING = 10_000  # proposals per record; with fewer, windows alone do better
SMALL = 10_000  # records up to which several partitions are improved side by side
HEURISTIC_UP_TO = 200_000  # records; MDAV takes quadratic time, so larger files are cut into blocks first
BLOCK = 20_000

Job = TypeVar("Job")
Found = TypeVar("Found")


class Milestone(NamedTuple):
    """Milestone of a search: its best partition after a certain amount of work."""

    moves: int
    seconds: float
    sse: float


def kd_blocks(Z: NDArray[np.float64], largest: int) -> list[NDArray[np.intp]]:
    """Cut records in half along the attribute of largest spread until no block has more than ``largest``.

    Examples
    --------
    >>> [block.tolist() for block in kd_blocks(np.array([[0.0], [9.0], [1.0], [8.0]]), 2)]
    [[0, 2], [1, 3]]
    """
    waiting, blocks = [np.arange(len(Z))], []
    while waiting:
        block = waiting.pop()
        if len(block) <= largest:
            blocks.append(np.sort(block))
            continue
        column = int(np.argmax(np.ptp(Z[block], axis=0)))
        order = block[np.argsort(Z[block, column], kind="stable")]
        half = len(order) // 2
        waiting += [order[half:], order[:half]]
    return blocks


def blocked_mdav(Z: NDArray[np.float64], k: int, *, block: int = BLOCK) -> NDArray[np.int32]:
    """MDAV within the blocks of a k-d partition, for files that are too large for quadratic time.

    Examples
    --------
    >>> blocked_mdav(np.arange(8.0)[:, None], 2, block=4)
    array([0, 0, 1, 1, 2, 2, 3, 3], dtype=int32)
    """
    labels = np.empty(len(Z), dtype=np.int32)
    groups = 0
    for inside in kd_blocks(Z, max(block, 4 * k)):
        found = mdav_kernel(np.ascontiguousarray(Z[inside]), k)
        labels[inside] = groups + found
        groups += int(found.max()) + 1
    return labels


def starting_points(Z: NDArray[np.float64], k: int) -> list[NDArray[np.int32]]:
    """Partitions to start from: MDAV first, and for small files the optimum along its path."""
    if len(Z) > HEURISTIC_UP_TO:
        return [blocked_mdav(Z, k)]
    found = [mdav_kernel(Z, k)]
    if len(Z) <= SMALL:
        found.append(mhm(Z, k, standardize=False).astype(np.int32))
    return found


class PartitionSearch:
    """A population of k-partitions of the same points, improved in rounds.

    Parameters
    ----------
    Z
        C-contiguous float64 points, already on one scale.
    k
        Smallest group.
    near
        Nearest other records of each record; ``None`` leaves out the annealing of whole partitions.
    rng
        Source of all seeds.
    starts
        Partitions to start from, at least one. Groups must have k to 2k − 1 records.
    pop_size
        Number of partitions improved side by side: 1, 2 or 4.
    workers
        Number of threads. The result does not depend on it.

    Attributes
    ----------
    best, best_sse
        The best partition so far and its sum of squares.
    moves
        Number of proposals made so far.
    """

    def __init__(
        self,
        Z: NDArray[np.float64],
        k: int,
        *,
        near: NDArray[np.int32] | None,
        rng: np.random.Generator,
        starts: Sequence[NDArray[np.int32]],
        pop_size: int,
        workers: int,
    ) -> None:
        if pop_size not in (1, 2, TASKS):
            raise SDCError(f"pop_size must be 1, 2 or {TASKS}, not {pop_size}")
        self._Z, self._k, self._near, self._rng, self._workers = Z, k, near, rng, workers
        self._partitions = [starts[i % len(starts)].copy() for i in range(pop_size)]
        errors = [sse(Z, labels) for labels in starts]
        self.best = starts[int(np.argmin(errors))].copy()
        self.best_sse = min(errors)
        self._scale = errors[0] / len(Z)
        self._orders = [rng.permutation(len(Z)).astype(np.int32) for _ in range(TASKS)]
        self._next = [0] * TASKS
        self.moves = 0

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that changes from round to round, except the generator."""
        return {
            "partitions": np.stack(self._partitions),
            "best": self.best,
            "figures": np.array([self.best_sse, self._scale]),
            "orders": np.stack(self._orders),
            "next": np.array(self._next, dtype=np.int64),
            "moves": np.array([self.moves], dtype=np.int64),
        }

    def take(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a state."""
        self._partitions = [labels.copy() for labels in state["partitions"]]
        self.best = state["best"].copy()
        self.best_sse, self._scale = (float(figure) for figure in state["figures"])
        self._orders = [order.copy() for order in state["orders"]]
        self._next = [int(position) for position in state["next"]]
        self.moves = int(state["moves"][0])

    def step(self, progress: float, moves: int) -> None:
        """Run one round of ``TASKS`` tasks with about ``moves`` proposals each.

        Parameters
        ----------
        progress
            Share of the budget that is used, 0 to 1: it sets the temperature, and how many partitions are left.
        moves
            Number of proposals per task.
        """
        if self._scale == 0.0:  # MDAV loses nothing, so nothing can be better
            self.moves += TASKS * moves
            return
        if self._near is not None and FIRST <= progress < ANNEALED:
            self._anneal(HOT * (COLD / HOT) ** ((progress - FIRST) / (ANNEALED - FIRST)), moves)
        else:
            self._race(progress)
            self._refine(moves)
        for labels in self._partitions:
            error = sse(self._Z, labels)
            if error < self.best_sse:
                self.best, self.best_sse = labels.copy(), error

    def _seeds(self) -> list[np.uint64]:
        return [np.uint64(seed) for seed in self._rng.integers(0, 2**63, size=TASKS)]

    def _anneal(self, temperature: float, moves: int) -> None:
        near = self._near
        assert near is not None

        def task(job: tuple[NDArray[np.int32], np.uint64]) -> None:
            anneal(self._Z, job[0], self._k, near, temperature * self._scale, moves, job[1])

        jobs = list(zip(self._partitions, self._seeds(), strict=False))
        self._map(task, jobs)
        self.moves += moves * len(jobs)

    def _race(self, progress: float) -> None:
        left = sum(progress < share for share in RACE) + 1  # 3, 2, 1
        keep = {3: len(self._partitions), 2: 2, 1: 1}[left]
        if len(self._partitions) <= keep:
            return
        ranked = sorted(self._partitions, key=lambda labels: sse(self._Z, labels))
        kept = ranked[:keep]
        for other in ranked[1:]:  # parts that the others group better are taken over
            kept[0] = best_parts_kernel(self._Z, kept[0], other)[0]
        self._partitions = kept

    def _refine(self, moves: int) -> None:
        branches = TASKS // len(self._partitions)
        jobs = [(task, self._partitions[task // branches].copy(), seed) for task, seed in enumerate(self._seeds())]

        def refine(job: tuple[int, NDArray[np.int32], np.uint64]) -> tuple[int, NDArray[np.int32]]:
            task, labels, seed = job
            spent, _, self._next[task] = windows_kernel(
                self._Z, labels, self._k, self._orders[task], self._next[task], moves, seed
            )
            return spent, labels

        found = self._map(refine, jobs)
        for i in range(len(self._partitions)):
            mine = found[i * branches : (i + 1) * branches]
            labels = mine[0][1]
            for _, other in mine[1:]:  # branches that changed different places contribute all their gains
                labels = best_parts_kernel(self._Z, labels, other)[0]
            self._partitions[i] = labels
        self.moves += sum(spent for spent, _ in found)

    def _map(self, function: Callable[[Job], Found], jobs: list[Job]) -> list[Found]:
        if self._workers == 1 or len(jobs) == 1:
            return [function(job) for job in jobs]
        with ThreadPoolExecutor(min(self._workers, len(jobs))) as pool:
            return list(pool.map(function, jobs))

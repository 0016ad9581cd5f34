"""Microaggregation of large files in blocks of near records: MDAV and the search in each, on any number of workers.

A block is a task: its points, k, a budget and a seed that is its own. So neither the number of workers nor the order in
which blocks are done, nor a worker that dies and whose block is done again, changes the partition.
"""

from __future__ import annotations

import contextlib
import math
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._slices import tell
from sdc_problems._validation import table, whole
from sdc_problems.algorithms.microaggregation._partition_search import TASKS, PartitionSearch, kd_blocks
from sdc_problems.evaluators.information_loss.numeric import sse
from sdc_problems.methods._kernels.mdav import mdav_kernel
from sdc_problems.methods.partition._attributes import smallest_group, z_scores
from sdc_problems.parallel import done_tasks

BLOCK = 10_000
"""Records of a block: MDAV's time in it grows with the square, and few groups would rather cross its border."""
MOVES = 200
"""Proposals per record: about as long as MDAV takes."""
ROUNDS = 8

Task = tuple[NDArray[np.float64], int, int, tuple[int, int]]
"""Points of a block, k, proposals and seed."""


class Done(NamedTuple):
    """A block that is done: its groups, its sum of squares after MDAV and after the search, its processor seconds."""

    labels: NDArray[np.int32]
    mdav_sse: float
    sse: float
    seconds: float


class Blocked(NamedTuple):
    """Partition of a large file.

    Attributes
    ----------
    labels
        Group of each record.
    sse
        Sum of squares within groups.
    mdav_sse
        The same of MDAV in the blocks, where the search began.
    seconds
        Processor seconds of each block, wherever it was done.
    sizes
        Records of each block.
    """

    labels: NDArray[np.int32]
    sse: float
    mdav_sse: float
    seconds: NDArray[np.float64]
    sizes: NDArray[np.int64]


def microaggregate_blocks(
    X: object,
    k: int,
    *,
    block: int = BLOCK,
    moves: int = MOVES,
    seed: int = 0,
    workers: int = 1,
    scheduler: str | None = None,
    standardize: bool = True,
) -> Blocked:
    """Partition a large file into groups of at least k near records, block by block.

    Parameters
    ----------
    X
        Records × numeric attributes.
    k
        Smallest group.
    block
        Most records of a block, at least 4k. Blocks are halves of halves along the attribute of largest spread.
    moves
        Proposals of the search per record, after MDAV; 0 for MDAV alone.
    seed
        Seed of the search. The partition depends on it, on ``block`` and on ``moves`` alone.
    workers
        Processes of this machine, which take a block at a time.
    scheduler
        Address of a Dask scheduler whose workers take the blocks instead, such as ``"tcp://host:8786"``, or ``"local"``
        for a cluster of ``workers`` processes.
    standardize
        Whether attributes are turned into z-scores first.

    Notes
    -----
    Groups have k to 2k − 1 records. Of n records and p attributes MDAV takes about n·block·p/k steps. A block travels
    once, 8p bytes a record, and 4 bytes a record come back.

    Examples
    --------
    >>> X = np.random.default_rng(1).normal(size=(400, 3))
    >>> found = microaggregate_blocks(X, 3, block=100, moves=100)
    >>> found.sizes.tolist(), int(np.bincount(found.labels).min()), found.sse < found.mdav_sse
    ([100, 100, 100, 100], 3, True)
    """
    values = table(X, "X")
    k = smallest_group(k, len(values))
    block, moves = whole(block, "block", least=4 * k), whole(moves, "moves")
    workers, seed = whole(workers, "workers", least=1), whole(seed, "seed")
    Z = np.ascontiguousarray(z_scores(values) if standardize else values)
    blocks = kd_blocks(Z, block)

    def task(i: int) -> Task:
        return np.ascontiguousarray(Z[blocks[i]]), k, moves * len(blocks[i]), (seed, i)

    found: dict[int, Done] = {}
    with contextlib.closing(done_tasks(improved, task, len(blocks), workers=workers, scheduler=scheduler)) as done:
        for i, result in done:
            found[i] = result
            tell("records in groups", sum(len(blocks[j]) for j in found), len(Z))
    labels = np.empty(len(Z), dtype=np.int32)
    groups = 0
    for i, inside in enumerate(blocks):
        labels[inside] = groups + found[i].labels
        groups += int(found[i].labels.max()) + 1
    every = [found[i] for i in range(len(blocks))]
    return Blocked(
        labels,
        math.fsum(one.sse for one in every),
        math.fsum(one.mdav_sse for one in every),
        np.array([one.seconds for one in every]),
        np.array([len(inside) for inside in blocks]),
    )


def improved(task: Task) -> Done:
    """Groups of one block: MDAV, then the search in windows.

    Parameters
    ----------
    task
        The block.
    """
    Z, k, moves, seed = task
    began = time.process_time()
    labels = mdav_kernel(Z, k)
    before = sse(Z, labels)
    if not moves or len(Z) < 2 * k:
        return Done(labels, before, before, time.process_time() - began)
    rng = np.random.default_rng(seed)
    search = PartitionSearch(Z, k, near=None, rng=rng, starts=[labels], pop_size=1, workers=1)
    step = max(moves // (ROUNDS * TASKS), 1)
    for number in range(ROUNDS):
        search.step(number / ROUNDS, step)
    return Done(search.best, before, search.best_sse, time.process_time() - began)

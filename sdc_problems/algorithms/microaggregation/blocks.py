"""Microaggregation of large files: MDAV in large parts, then the search in blocks of near groups, on any workers.

First the file is cut into parts that MDAV's tree handles in seconds. Then, in each turn, it is cut into blocks of
whole groups, from which the search in the block starts. All blocks of a turn are the same work. The borders are
elsewhere in each turn, so that records near a border are exchanged in the next one. A part or block is a task: its
points, k, its groups, a budget and its own seed. So the partition depends neither on the number of workers nor on the
order of the tasks, and a task whose worker dies is simply done again.
"""

from __future__ import annotations

import contextlib
import math
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._slices import tell, telling
from sdc_problems._validation import table, whole
from sdc_problems.evaluators.information_loss.numeric import sse
from sdc_problems.methods._kernels.mdav import mdav_kernel
from sdc_problems.methods._kernels.window import windows_kernel
from sdc_problems.methods.partition._attributes import smallest_group, z_scores
from sdc_problems.methods.registry import Partitioned
from sdc_problems.parallel import done_tasks
from sdc_problems.parallel._process import thread_count

PART, WIDE_PART = 250_000, 50_000
"""Most records of a part for MDAV: its border costs more than that of a block, because nothing is exchanged over it."""
WIDE = 13
"""Most attributes for which MDAV's tree helps; with more, its time grows with the square of a part."""
BLOCK = 50_000
"""Records of a block of average error: borders of smaller ones cost more, and larger ones keep fewer workers busy."""
LEAST_GROUPS = 10
"""Fewest groups of a block, however large their errors: without its neighbors, the search cannot improve a group."""
MOVES = 3_000
"""Proposals per record."""
TURNS = 4
AT_ONCE = 4_000_000
"""Proposals between checks of the clock and of Ctrl-C."""
BORDERS = (0.3, 0.7)
"""Shares at which a block may be cut in two, after the first turn."""


class Task(NamedTuple):
    """Part or block of a file, with its groups if it has any."""

    Z: NDArray[np.float64]
    labels: NDArray[np.int32] | None
    k: int
    moves: int
    seed: tuple[int, ...]


class Done(NamedTuple):
    """Groups of a part or block, their sum of squares, and the processor seconds that they took."""

    labels: NDArray[np.int32]
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
        Sum of squares of MDAV in the parts, from which the search started.
    seconds
        Processor seconds of each task, wherever it ran: of MDAV in the parts, then of the blocks, turn by turn.
    sizes
        Number of records of each task.
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
    part: int | None = None,
    block: int = BLOCK,
    moves: int = MOVES,
    turns: int = TURNS,
    seed: int = 0,
    workers: int = 1,
    threads: int | None = None,
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
    part
        Most records of a part for MDAV, at least 4k; by default 250,000, with more than 13 attributes 50,000.
    block
        Records of a block for the search if its error is that of the file, at least 4k. All blocks are the same work:
        one with a larger error has fewer records, and one with a smaller error up to twice as many.
    moves
        Number of proposals of the search per record, in all turns together; 0 for MDAV alone.
    turns
        Number of times that the file is cut into blocks, each time with other borders.
    seed
        Seed of the search and of the borders. The partition depends only on it and on the numbers above.
    workers
        Number of processes on this machine; each takes one task at a time.
    threads
        Number of tasks at a time if there is one process; by default one per processor.
    scheduler
        Address of a Dask scheduler whose workers take the tasks instead, such as ``"tcp://host:8786"``, or ``"local"``
        for a cluster of ``workers`` processes.
    standardize
        Whether attributes are standardized to z-scores first.

    Notes
    -----
    Groups have k to 2k − 1 records. A turn sends 8p + 4 bytes per record and gets 4 back. Memory is a few copies of the
    table, whatever the number of workers.

    Examples
    --------
    >>> X = np.random.default_rng(1).normal(size=(400, 3))
    >>> found = microaggregate_blocks(X, 3, part=200, block=100, moves=100)
    >>> found.sizes.tolist()[:2], int(np.bincount(found.labels).min()), found.sse < found.mdav_sse
    ([200, 200], 3, True)
    """
    values = table(X, "X")
    k = smallest_group(k, len(values))
    block = whole(block, "block", least=4 * k)
    part = (PART if values.shape[1] <= WIDE else WIDE_PART) if part is None else whole(part, "part", least=4 * k)
    moves, turns = whole(moves, "moves"), whole(turns, "turns", least=1)
    workers, seed = whole(workers, "workers", least=1), whole(seed, "seed")
    threads = thread_count(threads)
    Z = np.ascontiguousarray(z_scores(values) if standardize else values)
    labels = np.empty(len(Z), dtype=np.int32)
    seconds, sizes, totals = list[float](), list[int](), list[float]()

    def work(cuts: list[NDArray[np.intp]], shares: list[float] | None, turn: int) -> None:
        """Do the tasks of all parts, or of all blocks of a turn; their groups are numbered in the order of the cuts."""

        def task(i: int) -> Task:
            points = np.ascontiguousarray(Z[cuts[i]])
            if shares is None:
                return Task(points, None, k, 0, (seed, turn, i))
            here = np.unique(before[cuts[i]], return_inverse=True)[1].astype(np.int32)
            return Task(points, here, k, math.ceil(shares[i] * moves * len(Z) / turns), (seed, turn, i))

        before = labels.copy()
        found, ready = dict[int, Done](), 0
        doing = done_tasks(improved, task, len(cuts), workers=workers, threads=threads, scheduler=scheduler)
        with contextlib.closing(doing) as done:
            for i, result in done:
                found[i] = result
                ready += len(cuts[i])
                tell("records in groups" if shares is None else f"records searched, turn {turn}", ready, len(Z))
        groups = 0
        for i, inside in enumerate(cuts):
            labels[inside] = groups + found[i].labels
            groups += int(found[i].labels.max()) + 1
            seconds.append(found[i].seconds)
            sizes.append(len(inside))
        totals.append(math.fsum(one.sse for one in found.values()))

    work(cut(Z, np.ones(len(Z)), part), None, 0)
    rng = np.random.default_rng(seed)
    for turn in range(1, turns + 1 if moves else 1):
        groups = Groups.of(Z, labels)
        weights = groups.weights(block)
        pieces = cut(groups.means, weights, block / len(Z), rng if turn > 1 else None)
        work([groups.members(piece) for piece in pieces], [float(weights[piece].sum()) for piece in pieces], turn)
    return Blocked(labels, totals[-1], totals[0], np.array(seconds), np.array(sizes))


def in_blocks(
    X: object,
    k: int,
    *,
    rng: np.random.Generator,
    moves: int = MOVES,
    part: int | None = None,
    block: int = BLOCK,
    turns: int = TURNS,
    workers: int = 1,
    scheduler: str | None = None,
    standardize: bool = True,
) -> Partitioned:
    """Partition a large file by `microaggregate_blocks`, and report what the search gained.

    Parameters
    ----------
    X
        Records × numeric attributes.
    k
        Smallest group.
    rng
        Source of the seed.
    moves
        Number of proposals of the search per record, in all turns together; 0 for MDAV alone.
    part
        Most records of a part for MDAV; by default 250,000, with more than 13 columns 50,000.
    block
        Records of a block for the search if its error is that of the file.
    turns
        Number of times that the file is cut into blocks, each time with other borders.
    workers
        Number of processes; one uses all processors, too. The result does not depend on it.
    scheduler
        Address of a Dask scheduler whose workers take the blocks instead.
    standardize
        Whether columns are standardized to z-scores first.
    """
    found = microaggregate_blocks(
        X, k, part=part, block=block, moves=moves, turns=turns, seed=int(rng.integers(2**62)), workers=workers,
        scheduler=scheduler, standardize=standardize,
    )  # fmt: skip
    parts = int(np.searchsorted(np.cumsum(found.sizes), len(found.labels))) + 1
    blocks = len(found.sizes) - parts
    said = f"Grouped in blocks: MDAV in {parts:,} part{'s' if parts > 1 else ''}"
    if not blocks:
        return Partitioned(found.labels, (f"{said}, without a search.",))
    gained = 100.0 * (1.0 - found.sse / found.mdav_sse) if found.mdav_sse else 0.0
    gain = f"the sum of squares is {gained:.1f} % below MDAV's"
    return Partitioned(found.labels, (f"{said}, then a search in {blocks:,} blocks in {turns} turns; {gain}.",))


def improved(task: Task) -> Done:
    """Groups of a part by MDAV, or those of a block after the search in windows.

    Parameters
    ----------
    task
        The part or block.
    """
    Z, labels, k, moves, seed = task
    began = time.thread_time()
    if labels is None:
        labels = mdav_kernel(Z, k, telling("records in groups"))
    rng = np.random.default_rng(seed)
    labels, order, start = labels.copy(), rng.permutation(len(Z)).astype(np.int32), 0
    while moves > 0 and len(Z) >= 2 * k:
        spent, _, start = windows_kernel(
            Z, labels, k, order, start, min(moves, AT_ONCE), np.uint64(rng.integers(0, 2**63))
        )
        if not spent:
            break  # nothing to gain
        moves -= spent
        tell("proposals left", moves, moves)
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    return Done(labels, sse(Z, labels), time.thread_time() - began)


def cut(
    Z: NDArray[np.float64], weights: NDArray[np.float64], largest: float, rng: np.random.Generator | None = None
) -> list[NDArray[np.intp]]:
    """Cut points in two along the attribute of largest spread, until no piece weighs more than ``largest``.

    Parameters
    ----------
    Z
        The points.
    weights
        Weight of each point.
    largest
        Largest weight of a piece.
    rng
        Source of the share at which each piece is cut; by default in the middle.

    Examples
    --------
    >>> [piece.tolist() for piece in cut(np.array([[0.0], [9.0], [1.0], [8.0]]), np.ones(4), 2)]
    [[0, 2], [1, 3]]
    """
    waiting, pieces = [np.arange(len(Z))], []
    while waiting:
        piece = waiting.pop()
        weight = weights[piece].sum()
        if weight <= largest or len(piece) == 1:
            pieces.append(np.sort(piece))
            continue
        column = int(np.argmax(Z[piece].std(axis=0)))
        order = piece[np.argsort(Z[piece, column], kind="stable")]
        share = 0.5 if rng is None else rng.uniform(*BORDERS)
        at = int(np.searchsorted(np.cumsum(weights[order]), share * weight, side="right"))
        at = min(max(at, 1), len(order) - 1)
        waiting += [order[at:], order[:at]]
    return pieces


class Groups(NamedTuple):
    """Groups of a partition: their sizes, means and sums of squares, and their records, group after group."""

    counts: NDArray[np.int64]
    means: NDArray[np.float64]
    errors: NDArray[np.float64]
    records: NDArray[np.intp]
    starts: NDArray[np.int64]

    @staticmethod
    def of(Z: NDArray[np.float64], labels: NDArray[np.int32]) -> Groups:
        """Measure the groups of a partition."""
        counts = np.bincount(labels)
        means = np.stack([np.bincount(labels, weights=column) for column in Z.T], axis=1) / counts[:, None]
        apart = np.zeros(len(Z))
        for column, mean in zip(Z.T, means.T, strict=True):
            apart += np.square(column - mean[labels])
        errors = np.asarray(np.bincount(labels, weights=apart), dtype=np.float64)
        return Groups(counts, means, errors, np.argsort(labels, kind="stable"), np.cumsum(counts) - counts)

    def weights(self, block: int) -> NDArray[np.float64]:
        """Share of the search for each group: half by its records, half by its error, as far as a block can give it."""
        n, total = int(self.counts.sum()), float(self.errors.sum())
        shares = self.counts / n
        if total > 0.0:
            shares += np.minimum(self.errors / total, block / n / LEAST_GROUPS)
        return np.asarray(shares / shares.sum(), dtype=np.float64)

    def members(self, groups: NDArray[np.intp]) -> NDArray[np.intp]:
        """Records of some groups, in the order of the file."""
        ends = self.starts + self.counts
        return np.sort(np.concatenate([self.records[self.starts[g] : ends[g]] for g in groups]))

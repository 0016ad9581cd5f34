"""Operators for partitions of records into groups of limited size.

A row of X holds one group label per record. The operators use attributes of the problem: ``smallest`` and ``largest``,
the limits of the group size, and, if present, ``neighbours``, the positions of the records nearest to each record. They
never see the records themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.mutation import Mutation
from pymoo.core.repair import Repair
from pymoo.core.sampling import Sampling
from pymoo.core.selection import Selection

from sdc_problems._kernel import kernel
from sdc_problems.errors import SDCError
from sdc_problems.operators.canonical import restricted_growth

HOMELESS = -1
REFINED = (-0.7, 1.3)  # proposals per record in a refinement, as powers of 10: from the first to the second


def _fit(row: NDArray[np.int64], least: int, most: int, late: NDArray[np.int64]) -> None:
    """Move as few whole groups and records as needed, in place; ``late`` lists records in the order of moving."""
    size = np.bincount(row + 1, minlength=len(row) + 2)[1:]
    used = size[size > 0]
    if used.sum() < len(row) or used.min() < least or used.max() > most:
        _move_into_limits(row, least, most, late, size, len(used), np.empty_like(size))


@kernel(allocates=False)
def _move_into_limits(
    row: NDArray[np.int64],
    least: int,
    most: int,
    late: NDArray[np.int64],
    size: NDArray[np.int64],
    n_groups: int,
    homes: NDArray[np.int64],
) -> None:
    """:func:`_fit` with arrays allocated by the caller, because allocating them here would make compilation slow."""
    n = len(row)
    # Dissolve groups, the smallest first, while there are more than the records can fill.
    while n_groups > n // least:
        gone = -1
        for g in range(n + 1):
            if size[g] > 0 and (gone < 0 or size[g] <= size[gone]):
                gone = g
        for i in range(n):
            if row[i] == gone:
                row[i] = HOMELESS
        size[gone] = 0
        n_groups -= 1
    for a in range(n):
        i = late[a]
        if row[i] >= 0 and size[row[i]] > most:
            size[row[i]] -= 1
            row[i] = HOMELESS
    count, fresh = 0, 0
    for g in range(n + 1):
        if size[g] > 0:
            homes[count] = g
            count += 1
    while count * most < n:
        while size[fresh] > 0:
            fresh += 1
        homes[count] = fresh
        fresh += 1
        count += 1
    # Records without a group fill up the groups that are too small, then the smallest ones.
    for a in range(n):
        i = late[a]
        if row[i] == HOMELESS:
            smallest = int(homes[0])
            for a_home in range(count):
                if size[homes[a_home]] < size[smallest]:
                    smallest = int(homes[a_home])
            row[i] = smallest
            size[smallest] += 1
    # Groups that are still too small take records from the largest ones.
    for at in range(count):
        to = homes[at]
        while size[to] < least:
            source = int(homes[0])
            for a_home in range(count):
                if size[homes[a_home]] > size[source]:
                    source = int(homes[a_home])
            for a in range(n):
                i = late[a]
                if row[i] == source:
                    row[i] = to
                    break
            size[source] -= 1
            size[to] += 1


def limited(
    labels: NDArray[Any], least: int, most: int, *, random_state: np.random.Generator | None = None
) -> NDArray[Any]:
    """Repair rows of labels so that every group has ``least`` to ``most`` records; labels are in order of first use.

    Rows within the limits keep their groups. Otherwise, the smallest groups dissolve while there are more than the
    records can fill, groups that are too large lose records, and groups that are too small are filled up, if necessary
    from the largest ones.

    Parameters
    ----------
    labels
        Partitions × records, labels from 0 to the number of records; −1 for records without a group. Not changed.
    least, most
        Limits; ``most`` is at least ``2·least − 1``, so that any number of records from ``least`` on can be divided.
    random_state
        Draws the records that move; without it, the last records of a group move, so that equal rows give equal
        results.

    Returns
    -------
    ndarray
        Partitions × records, labels in order of first use.

    Notes
    -----
    Any row gives a valid row. The random moves are those after Algorithm I of Solanas et al. (2006). O(nG) at worst,
    with G groups.

    Examples
    --------
    >>> limited(np.array([[0, 0, 0, 0, 0, 1, 2]]), 3, 5)
    array([[0, 0, 0, 0, 1, 1, 1]])
    """
    rows = np.array(np.atleast_2d(labels))
    n = rows.shape[1]
    if not 1 <= least <= n or most < 2 * least - 1:
        raise SDCError(f"groups of {least} to {most} cannot hold {n} records: at most must be at least 2·least − 1")
    if rows.size and (rows.min() < HOMELESS or rows.max() > n):
        raise SDCError(f"labels must be between {HOMELESS} and {n}")
    last_first = np.arange(n)[::-1].copy()
    out = np.empty_like(rows)
    for r, row in enumerate(rows):
        wide = row.astype(np.int64)
        _fit(wide, least, most, last_first if random_state is None else random_state.permutation(n))
        out[r] = restricted_growth(wide)
    return out.reshape(np.shape(labels))


def limits(problem: Any) -> tuple[int, int]:
    """Smallest and largest group size that a problem allows."""
    return int(problem.smallest), int(problem.largest)


class GroupSizes(Repair):
    """Repair that brings group sizes within the limits of the problem and numbers groups in order of first use."""

    def _do(self, problem: Any, X: NDArray[Any], *args: object, **kwargs: object) -> NDArray[Any]:
        return limited(X, *limits(problem))


class RandomPartitions(Sampling):
    """Sampling by Algorithm I of Solanas et al. (2006): each record joins a random group with room; sizes are repaired.

    With variable sizes, each row first draws its own k, uniformly from ``smallest`` to the ``k_max`` of the problem.
    """

    def _do(
        self, problem: Any, n_samples: int, *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        least, n = int(problem.smallest), int(problem.n_var)
        top = max(least, int(getattr(problem, "k_max", least)))
        X = np.empty((n_samples, n), dtype=getattr(problem, "dtype", np.int16))
        for row in X:
            k = int(random_state.integers(least, top, endpoint=True)) if top > least else least
            row[:] = random_partition(n, k, random_state)
        return X


def random_partition(n: int, k: int, random_state: np.random.Generator) -> NDArray[np.int64]:
    """Random partition by Algorithm I of Solanas et al. (2006), repaired by random moves.

    Examples
    --------
    >>> random_partition(7, 3, np.random.default_rng(1))
    array([0, 0, 1, 0, 1, 1, 0])
    """
    drawn = _with_room(random_state.random(n), n // k, 2 * k - 1)
    fitted: NDArray[np.int64] = limited(drawn, k, 2 * k - 1, random_state=random_state)
    return fitted


@kernel(cost=lambda chance, *_: len(chance) * 2e-6)
def _with_room(chance: NDArray[np.float64], n_groups: int, most: int) -> NDArray[np.int64]:
    """One group per record, uniformly among those with fewer than ``most`` records."""
    open_groups = np.empty(n_groups, dtype=np.int64)
    for g in range(n_groups):
        open_groups[g] = g
    size = np.zeros(n_groups, dtype=np.int64)
    count = n_groups
    row = np.empty(len(chance), dtype=np.int64)
    for i in range(len(chance)):
        at = min(int(chance[i] * count), count - 1)
        row[i] = open_groups[at]
        size[row[i]] += 1
        if size[row[i]] == most:
            count -= 1
            open_groups[at] = open_groups[count]
    return row


class OnePointCrossover(Crossover):
    """Crossover of two parents to two children, which exchange the labels after a random point.

    Notes
    -----
    Solanas et al. (2006), §II-D, in its plain form. Equal labels mean different groups in the two parents, so groups
    are not preserved.
    """

    def __init__(self, prob: float = 0.5) -> None:
        super().__init__(n_parents=2, n_offsprings=2, prob=prob)

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        _, n_matings, n = X.shape
        points = np.asarray(random_state.integers(1, max(n, 2), size=n_matings))
        behind = np.arange(n)[None, :] >= points[:, None]
        return np.stack([np.where(behind, X[1], X[0]), np.where(behind, X[0], X[1])])


class GeneMutation(Mutation):
    """Mutation that replaces every label by a random one with a small probability (Solanas et al. 2006, §II-D).

    Parameters
    ----------
    prob_var
        Probability for each label.
    """

    def __init__(self, prob_var: float = 0.1) -> None:
        if not 0 <= prob_var <= 1:
            raise SDCError(f"prob_var must be a probability, not {prob_var!r}")
        super().__init__(prob=1.0, prob_var=prob_var)

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        low, high = np.asarray(problem.xl, dtype=np.int64), np.asarray(problem.xu, dtype=np.int64)
        hit = random_state.random(X.shape) < self.prob_var.value
        drawn = np.asarray(random_state.integers(low, np.broadcast_to(high, X.shape), endpoint=True))
        return np.where(hit, drawn, X).astype(X.dtype)


class WholeGroupCrossover(Crossover):
    """Crossover of two parents to two children that inherit whole groups of one, then intact groups of the other.

    Each group of the first parent is inherited with probability 1/2. Groups of the other parent without an inherited
    record stay whole; the others keep their remaining records if these are enough for a group. All other records join
    the group of their nearest neighbor that has a group with room (any group, if the problem has no neighbors).
    """

    def __init__(self, prob: float = 0.5) -> None:
        super().__init__(n_parents=2, n_offsprings=2, prob=prob)

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        least, most = limits(problem)
        near = _neighbours(problem)
        parents = restricted_growth(X.reshape(-1, X.shape[2])).reshape(X.shape)
        children = np.empty_like(X)
        for m in range(X.shape[1]):
            for child, (giver, receiver) in enumerate(((0, 1), (1, 0))):
                inherited = random_state.random(int(parents[giver, m].max()) + 1) < 0.5
                row = _inherit(parents[giver, m], parents[receiver, m], inherited, least)
                _join(row, near, random_state.permutation(len(row)), most)
                children[child, m] = limited(restricted_homes(row), least, most, random_state=random_state)
        return children


def restricted_homes(row: NDArray[np.int64]) -> NDArray[np.int64]:
    """Renumber labels as 0, 1, … in ascending order; −1 (no group) stays −1.

    Examples
    --------
    >>> restricted_homes(np.array([7, -1, 7, 3]))
    array([ 1, -1,  1,  0])
    """
    used = np.unique(row[row >= 0])
    return np.where(row < 0, HOMELESS, np.searchsorted(used, row))


def _neighbours(problem: Any) -> NDArray[np.int32]:
    near = getattr(problem, "neighbours", None)
    return np.empty((problem.n_var, 0), dtype=np.int32) if near is None else near


def _inherit(
    giver: NDArray[Any], receiver: NDArray[Any], inherited: NDArray[np.bool_], least: int
) -> NDArray[np.int64]:
    taken = inherited[giver]
    whole = np.bincount(receiver[~taken], minlength=len(receiver)) >= least
    mine: NDArray[np.int64] = giver.astype(np.int64)
    return np.where(taken, mine, np.where(whole[receiver], len(inherited) + receiver.astype(np.int64), HOMELESS))


def _join(row: NDArray[np.int64], near: NDArray[np.int32], order: NDArray[np.int64], most: int) -> None:
    size = np.bincount(row + 1, minlength=2 * len(row) + 2)[1:]
    _join_nearest(row, near, order, size, most)


@kernel(allocates=False)
def _join_nearest(
    row: NDArray[np.int64], near: NDArray[np.int32], order: NDArray[np.int64], size: NDArray[np.int64], most: int
) -> None:
    for i in order:
        if row[i] < 0:
            for a in range(near.shape[1]):
                g = row[near[i, a]]
                if g >= 0 and size[g] < most:
                    row[i] = g
                    size[g] += 1
                    break


class RecordMutation(Mutation):
    """Mutation that moves or exchanges a few records between groups; sizes stay within the limits.

    The other group is that of one of the record's neighbors, or of a random record if the problem has no neighbors. A
    record moves if its group can spare it and the other has room; otherwise, and sometimes in any case, two records are
    exchanged. Sometimes, a large group is cut in two, or two small neighboring groups are merged.

    Random moves rarely improve a good partition of many records. Therefore, some rows are passed to the ``refined``
    method of the problem, if it has one, for a number of proposals that is drawn over two orders of magnitude.

    Parameters
    ----------
    prob
        Probability that a row is mutated at all.
    mean_moves
        Mean number of records that move (geometrically distributed, at least one).
    refine
        Probability that a row is refined instead of mutated.
    """

    def __init__(self, prob: float = 1.0, *, mean_moves: float = 2.0, refine: float = 0.25) -> None:
        if not mean_moves >= 1:
            raise SDCError(f"mean_moves must be at least 1, not {mean_moves!r}")
        if not 0 <= refine <= 1:
            raise SDCError(f"refine must be a probability, not {refine!r}")
        super().__init__(prob=prob)
        self.mean_moves = mean_moves
        self.refine = refine

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        least, most = limits(problem)
        near = _neighbours(problem)
        refined = getattr(problem, "refined", None)
        out = np.empty_like(X)
        for r, row in enumerate(X):
            if refined is not None and random_state.random() < self.refine:
                proposals = int(len(row) * 10.0 ** random_state.uniform(*REFINED))
                out[r] = refined(row, proposals, random_state)
                continue
            wide = limited(row, least, most).astype(np.int64)
            moves = int(random_state.geometric(1.0 / self.mean_moves))
            size = np.bincount(wide, minlength=len(wide) + 1)
            _move(wide, near, random_state.random((moves, 4)), size, least, most)
            out[r] = restricted_growth(wide)
        return out


@kernel(allocates=False)
def _move(
    row: NDArray[np.int64],
    near: NDArray[np.int32],
    chance: NDArray[np.float64],
    size: NDArray[np.int64],
    least: int,
    most: int,
) -> None:
    n = len(row)
    for step in range(len(chance)):
        i = int(chance[step, 0] * n)
        other = int(chance[step, 1] * n)
        if near.shape[1] > 0:
            other = near[i, int(chance[step, 1] * near.shape[1])]
        here, there = row[i], row[other]
        kind = chance[step, 2]
        if here == there:
            if kind < 0.25 and size[here] >= 2 * least:
                _cut(row, near, i, size, least)
            continue
        if kind < 0.25 and size[here] + size[there] <= most:
            for j in range(n):
                if row[j] == here:
                    row[j] = there
            size[there] += size[here]
            size[here] = 0
        elif kind < 0.75 and size[here] > least and size[there] < most:
            row[i] = there
            size[here] -= 1
            size[there] += 1
        elif kind < 0.75 and size[there] > least and size[here] < most:
            row[other] = here
            size[there] -= 1
            size[here] += 1
        else:
            pick = int(chance[step, 3] * size[there])
            for j in range(n):
                if row[j] == there:
                    if pick == 0:
                        row[j] = here
                        break
                    pick -= 1
            row[i] = there


@kernel(allocates=False)
def _cut(row: NDArray[np.int64], near: NDArray[np.int32], i: int, size: NDArray[np.int64], least: int) -> None:
    """Split off record i with the nearest records of its group, then with any of them, until they form a group."""
    here, fresh = row[i], 0
    while size[fresh] > 0:
        fresh += 1
    row[i] = fresh
    size[here] -= 1
    size[fresh] = 1
    for a in range(near.shape[1]):
        if size[fresh] < least and row[near[i, a]] == here:
            row[near[i, a]] = fresh
            size[here] -= 1
            size[fresh] += 1
    for j in range(len(row)):
        if size[fresh] < least and row[j] == here:
            row[j] = fresh
            size[here] -= 1
            size[fresh] += 1


class RouletteSelection(Selection):
    """Selection of parents with probability proportional to 1/(F + 1), where F is the single objective, F ≥ 0.

    Solanas et al. (2006). If the survival has set ``sdc_fitness``, that is used instead.
    """

    def _do(
        self,
        problem: Any,
        pop: Any,
        n_select: int,
        n_parents: int,
        *args: object,
        random_state: np.random.Generator,
        **kwargs: object,
    ) -> NDArray[np.int64]:
        fitness = pop.get("sdc_fitness")
        if any(value is None for value in fitness):
            fitness = fitness_of(pop.get("F"))
        ends = np.cumsum(fitness)
        drawn = np.searchsorted(ends, random_state.random(n_select * n_parents) * ends[-1], side="right")
        chosen: NDArray[np.int64] = np.minimum(drawn, len(ends) - 1).reshape(n_select, n_parents)
        return chosen


def fitness_of(F: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fitness 1/(F + 1) of a single objective (Solanas et al. 2006, Eq. 8).

    Examples
    --------
    >>> fitness_of(np.array([[0.0], [3.0]]))
    array([1.  , 0.25])
    """
    if F.ndim != 2 or F.shape[1] != 1:
        raise SDCError("roulette selection needs one objective; choose another selection for several")
    if F.min() < 0:
        raise SDCError("roulette selection needs an objective that is at least 0, such as sse")
    fitness: NDArray[np.float64] = 1.0 / (F[:, 0] + 1.0)
    return fitness

"""Genetic algorithm for microaggregation: for pymoo, and compiled for thousands of short runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pymoo.algorithms.soo.nonconvex.ga import GA
from pymoo.core.survival import Survival

from sdc_problems._kernel import kernel
from sdc_problems._validation import labels as check_labels
from sdc_problems._validation import number, table, whole
from sdc_problems.algorithms._checks import single_objective
from sdc_problems.errors import SDCError
from sdc_problems.methods.partition._attributes import smallest_group, z_scores
from sdc_problems.operators.canonical import restricted_growth
from sdc_problems.operators.duplicates import row_keys
from sdc_problems.operators.partition import (
    GeneMutation,
    OnePointCrossover,
    RandomPartitions,
    RouletteSelection,
    fitness_of,
    limits,
    random_partition,
)

EPOCHS = 10_000
POP_SIZE, MUTATION_PROB, CROSSOVER_PROB = 100, 0.1, 0.3  # recommended by the sensitivity analysis


def within(X: NDArray[Any], least: int, most: int) -> NDArray[np.bool_]:
    """Mask of the rows of labels whose groups all have ``least`` to ``most`` records.

    Examples
    --------
    >>> within(np.array([[0, 0, 1, 1], [0, 0, 0, 1]]), 2, 3)
    array([ True, False])
    """
    out = np.empty(len(X), dtype=np.bool_)
    for r, row in enumerate(X):
        sizes = np.bincount(row)
        sizes = sizes[sizes > 0]
        out[r] = sizes.min() >= least and sizes.max() <= most
    return out


class PenalisedSurvival(Survival):
    """Survival of the fittest, where copies of a partition survive only if there are not enough others.

    A row whose groups break the limits has no fitness, whatever its repaired form scores.
    """

    def __init__(self) -> None:
        super().__init__(filter_infeasible=False)

    def _do(self, problem: Any, pop: Any, *args: object, n_survive: int | None = None, **kwargs: object) -> Any:
        fitness = np.where(within(pop.get("X"), *limits(problem)), fitness_of(pop.get("F")), 0.0)
        order = np.argsort(-fitness, kind="stable")
        seen: set[bytes] = set()
        clone = np.zeros(len(order), dtype=np.bool_)
        for i, key in enumerate(row_keys(restricted_growth(pop.get("X")[order]))):
            clone[i] = key in seen
            seen.add(key)
        order = np.concatenate([order[~clone], order[clone]])
        pop.set("sdc_fitness", fitness)
        pop.set("rank", np.argsort(order))
        return pop[order[:n_survive]]


class SolanasGA(GA):
    """The genetic algorithm of Solanas et al. (2006) as a configuration of pymoo's GA.

    One symbol per record out of ⌊n/k⌋, a first population by Algorithm I, fitness 1/(SSE + 1) but none for rows with a
    group outside [k, 2k − 1], roulette selection, one-point crossover and a mutation of every gene. The best of parents
    and children survive, clones last (the paper does not say how the population is replaced; a population full of
    clones of one local optimum would find no other).

    Parameters
    ----------
    pop_size
        Number of chromosomes.
    mutation_prob
        Probability for each gene.
    crossover_prob
        Probability for each pair of parents.

    Notes
    -----
    Made for up to about 50 records; ``HybridMicroaggregation`` cuts larger files into such pieces. The defaults are
    those its authors recommend (§IV, Results 2 to 4).

    Examples
    --------
    >>> import pandas as pd
    >>> from pymoo.optimize import minimize
    >>> from sdc_problems import MicroaggregationProblem, Microdata
    >>> frame = pd.DataFrame({"a": [1.0, 9.0, 2.0, 8.0, 3.0, 7.0, 2.5], "b": [0.0, 5.0, 1.0, 6.0, 0.5, 5.5, 0.7]})
    >>> problem = MicroaggregationProblem(Microdata.from_frame(frame, quasi_identifiers=["a", "b"]), k=3)
    >>> result = minimize(problem, SolanasGA(pop_size=20), ("n_gen", 30), seed=1)
    >>> problem.decode(result.X).groups
    ((0, 2, 4, 6), (1, 3, 5))
    """

    def __init__(
        self,
        *,
        pop_size: int = POP_SIZE,
        mutation_prob: float = MUTATION_PROB,
        crossover_prob: float = CROSSOVER_PROB,
    ) -> None:
        super().__init__(
            pop_size=whole(pop_size, "pop_size", least=2),
            sampling=RandomPartitions(),
            selection=RouletteSelection(),
            crossover=OnePointCrossover(prob=number(crossover_prob, "crossover_prob", low=0.0, high=1.0)),
            mutation=GeneMutation(number(mutation_prob, "mutation_prob", low=0.0, high=1.0)),
            survival=PenalisedSurvival(),
            eliminate_duplicates=False,
        )

    def _setup(self, problem: Any, **kwargs: object) -> None:
        single_objective(problem, "SolanasGA")
        super()._setup(problem, **kwargs)


class Evolved(NamedTuple):
    """The best partition of a run, its SSE, and the epoch that found it (0: the first population)."""

    labels: NDArray[np.int64]
    sse: float
    epoch: int


@kernel()
def _sse(P: NDArray[np.float64], row: NDArray[np.int64], k: int, size: Any, mean: Any) -> float:
    """SSE of a row, infinite if a group is outside [k, 2k − 1]; size and mean are work arrays."""
    n, d = P.shape
    size[:] = 0
    for i in range(n):
        size[row[i]] += 1
    for g in range(len(size)):
        if size[g] > 0 and not k <= size[g] < 2 * k:
            return np.inf
    mean[:] = 0.0
    for i in range(n):
        for j in range(d):
            mean[row[i], j] += P[i, j]
    for g in range(len(size)):
        if size[g] > 0:
            for j in range(d):
                mean[g, j] /= size[g]
    total = 0.0
    for i in range(n):
        for j in range(d):
            away = P[i, j] - mean[row[i], j]
            total += away * away
    return total


@kernel()
def _clones_last(F: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rows by SSE; of those with the same SSE (up to rounding, the same partition) all but one come last."""
    order = np.argsort(F, kind="mergesort")
    out = np.empty(len(F), dtype=np.int64)
    last = -1.0
    kept, clones = 0, len(F)
    for a in range(len(F)):
        f = F[order[a]]
        if f - last <= 1e-12 * f or f == last:
            clones -= 1
            out[clones] = order[a]
        else:
            out[kept] = order[a]
            kept += 1
            last = f
    out[clones:] = out[clones:][::-1].copy()
    return out


@kernel()
def _evolve(
    P: NDArray[np.float64],
    k: int,
    pop: NDArray[np.int64],
    rng: np.random.Generator,
    mutation_prob: float,
    crossover_prob: float,
    epochs: int,
) -> tuple[float, int]:
    """Evolve ``pop`` in place, its best row first; return the SSE of that row and the epoch that found it."""
    m, n = pop.shape
    n_groups = n // k
    size = np.empty(n_groups, dtype=np.int64)
    mean = np.empty((n_groups, P.shape[1]))
    both = np.empty((2 * m, n), dtype=np.int64)
    F = np.empty(2 * m)
    ends = np.empty(m)
    for r in range(m):
        F[r] = _sse(P, pop[r], k, size, mean)
    order = np.argsort(F[:m], kind="mergesort")
    for a in range(m):
        both[a] = pop[order[a]]
    F[:m] = F[:m][order]
    best, found = F[0], 0
    for epoch in range(1, epochs + 1):
        total = 0.0
        for r in range(m):
            total += 1.0 / (F[r] + 1.0)
            ends[r] = total
        made = 0
        while made < m:
            one = min(np.searchsorted(ends, rng.random() * total, side="right"), m - 1)
            two = min(np.searchsorted(ends, rng.random() * total, side="right"), m - 1)
            point = n
            if rng.random() < crossover_prob:
                point = 1 + int(rng.random() * (n - 1))
            for child in range(min(2, m - made)):
                first, second = (one, two) if child == 0 else (two, one)
                row = both[m + made]
                same = point == n
                for i in range(n):
                    row[i] = both[first, i] if i < point else both[second, i]
                    if rng.random() < mutation_prob:
                        symbol = int(rng.random() * n_groups)
                        same = same and symbol == row[i]
                        row[i] = symbol
                F[m + made] = F[first] if same else _sse(P, row, k, size, mean)
                made += 1
        order = _clones_last(F)
        both = both[order]
        F = F[order]
        if F[0] < best:
            best, found = F[0], epoch
    pop[:] = both[:m]
    return best, found


def evolve(
    X: object,
    k: int,
    *,
    rng: np.random.Generator,
    epochs: int = EPOCHS,
    pop_size: int = POP_SIZE,
    mutation_prob: float = MUTATION_PROB,
    crossover_prob: float = CROSSOVER_PROB,
    start: object = None,
    standardize: bool = True,
) -> Evolved:
    """Run the algorithm of ``SolanasGA`` as compiled code.

    Parameters
    ----------
    X
        Records × numeric attributes.
    k
        Smallest group: 2 … n/2.
    rng
        Source of all random numbers.
    epochs
        Number of generations.
    pop_size, mutation_prob, crossover_prob
        As in ``SolanasGA``.
    start
        Labels of a valid partition to include in the first population; the result is never worse.
    standardize
        Whether attributes are standardized to z-scores first.

    Notes
    -----
    O(pop_size · np) per epoch, O(pop_size · n) memory.

    Examples
    --------
    >>> found = evolve([[1.0], [9.0], [2.0], [8.0], [3.0], [7.0]], 3, rng=np.random.default_rng(1), epochs=50)
    >>> found.labels
    array([0, 1, 0, 1, 0, 1])
    """
    values = table(X, "X")
    n = len(values)
    k = smallest_group(k, n)
    size = whole(pop_size, "pop_size", least=2)
    P = np.ascontiguousarray(z_scores(values) if standardize else values)
    pop = np.stack([random_partition(n, k, rng) for _ in range(size)]).astype(np.int64)
    if start is not None:
        first = restricted_growth(check_labels(start, n, "start"))
        if not within(first[None, :], k, 2 * k - 1)[0]:
            raise SDCError(f"start has a group outside {k} to {2 * k - 1} records")
        pop[0] = first
    sse, epoch = _evolve(
        P,
        k,
        pop,
        rng,
        number(mutation_prob, "mutation_prob", low=0.0, high=1.0),
        number(crossover_prob, "crossover_prob", low=0.0, high=1.0),
        whole(epochs, "epochs", least=0),
    )
    return Evolved(restricted_growth(pop[0]), float(sse), int(epoch))


def ga(X: object, k: int, *, rng: np.random.Generator, epochs: int = EPOCHS, standardize: bool = True) -> NDArray[Any]:
    """Partition records by the genetic algorithm of `evolve`.

    Parameters
    ----------
    X
        Records × numeric attributes.
    k
        Smallest group: 2 … n/2.
    rng
        Source of all random numbers.
    epochs
        Number of generations.
    standardize
        Whether attributes are standardized to z-scores first.

    Returns
    -------
    labels
        One group number per record, in order of first use.
    """
    return evolve(X, k, rng=rng, epochs=epochs, standardize=standardize).labels

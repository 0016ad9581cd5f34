"""Adapter to pygmo: a user-defined problem with whole numbers, and an algorithm with pygmo's sorting.

Algorithms of pygmo for real numbers only (``moead``, ``nspso``, ``maco`` and others) do not keep to whole numbers: the
nearest canonical row is measured, and the chromosome that they keep is not that row.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.suite.adapters._base import Adapted, Source, answer, needs, session

with needs("pygmo"):
    import pygmo


class PygmoProblem:
    """User-defined problem: ``pygmo.problem(PygmoProblem(source, rng))``; ``population`` uses this package's sampling.

    Parameters
    ----------
    source, rng
        A problem or a recorder of one, and the source of the operators' random numbers.
    """

    get_name, get_nobj, get_nic, get_nix = answer("name"), answer("n_obj"), answer("n_constr"), answer("n_var")
    get_bounds, has_batch_fitness = answer("bounds"), answer(True)

    def __init__(self, source: Source, rng: np.random.Generator) -> None:
        self.task = Adapted(source, rng)

    def __deepcopy__(self, memo: dict[int, Any]) -> "PygmoProblem":
        return self  # pygmo copies its problems; one recorder counts for all copies

    def get_extra_info(self) -> str:
        return f"\tvariables: {', '.join(self.task.names)}\n\tobjectives: {', '.join(self.task.labels)}"

    def fitness(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.concatenate(self.task.measure(x)[1:], axis=1).ravel()

    def batch_fitness(self, xs: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.fitness(xs.reshape(-1, self.task.n_var))

    def population(self, size: int) -> pygmo.population:
        """Population of pygmo from this package's sampling.

        Parameters
        ----------
        size
            Its size.
        """
        made = pygmo.population(pygmo.problem(self))
        for x in self.task.vary.sample(size):
            made.push_back(x)
        return made


class PygmoNSGA2:
    """User-defined algorithm: NSGA-II with pygmo's sorting and this package's operators, which its own does not take.

    A solution that violates a requirement is worse than all that do not; more violation is worse.

    Parameters
    ----------
    gen
        Number of generations.
    """

    def __init__(self, gen: int) -> None:
        self.gen = gen

    def evolve(self, pop: pygmo.population) -> pygmo.population:
        task = pop.problem.extract(PygmoProblem).task
        for _ in range(self.gen):
            X, values = pop.get_x(), pop.get_f()
            order = np.asarray(pygmo.sort_population_mo(_ranked(values, task.n_obj)))
            drawn = order[task.rng.integers(len(X), size=(2, len(X), 2)).min(axis=2)]
            rows, *measured = task.measure(task.vary.mutate(task.vary.cross(X[drawn[0]], X[drawn[1]])[0]))
            X, values = np.concatenate([X, rows]), np.concatenate([values, np.hstack(measured)])
            for place, kept in enumerate(pygmo.select_best_N_mo(_ranked(values, task.n_obj), len(pop))):
                pop.set_xf(place, X[kept], values[kept])
        return pop


def _ranked(values: NDArray[np.float64], n_obj: int) -> NDArray[np.float64]:
    F, excess = values[:, :n_obj], values[:, n_obj:].sum(axis=1, keepdims=True)
    return np.where(excess > 0, F.max(axis=0) + excess, F)


to_pygmo = PygmoProblem


def pygmo_nsga2(problem: Source, budget: int, rng: np.random.Generator) -> None:
    """NSGA-II with pygmo's sorting and this package's operators, until the budget is used up.

    Parameters
    ----------
    problem, budget, rng
        As for every algorithm of a benchmark.
    """
    mine = PygmoProblem(problem, rng)
    with session(rng):
        pygmo.algorithm(PygmoNSGA2((budget - 1) // 100)).evolve(mine.population(100))

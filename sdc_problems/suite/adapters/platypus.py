"""Adapter to Platypus: a problem with types for whole numbers, and operators as its generator and variator."""

import random
from copy import deepcopy
from typing import Any

import numpy as np

from sdc_problems.suite.adapters._base import Adapted, Source, Tied, needs, session

with needs("platypus-opt"):
    from platypus import NSGAII, Generator, Problem, Solution, Type, Variator


class Whole(Type):
    """Whole number without encoding: ``platypus.Integer`` holds Gray-coded bits, which only bitwise operators vary.

    Parameters
    ----------
    name, low, high
        Name and bounds of the variable.
    """

    def __init__(self, name: str, low: int, high: int) -> None:
        super().__init__()
        self.name, self.min_value, self.max_value = name, low, high

    def rand(self) -> int:
        return random.randint(self.min_value, self.max_value)


class PlatypusProblem(Problem):
    """Problem of Platypus: ``NSGAII(problem, **problem.operators())``; measured solutions become canonical.

    Parameters
    ----------
    source, rng
        A problem or a recorder of one, and the source of the operators' random numbers.
    """

    def __init__(self, source: Source, rng: np.random.Generator) -> None:
        task = Adapted(source, rng)
        super().__init__(len(task.names), task.n_obj, task.n_constr)
        self.task = task
        self.types[:] = [Whole(name, *bounds) for name, bounds in task.ranges.items()]
        self.constraints[:] = "<=0"

    def evaluate(self, solution: Any) -> None:
        (row,), (F,), (G,) = self.task.measure([list(solution.variables)])
        solution.variables[:], solution.objectives[:], solution.constraints[:] = row.tolist(), F.tolist(), G.tolist()

    def operators(self) -> dict[str, Any]:
        """Generator and variator, as the keyword arguments of Platypus' algorithms."""
        return {"generator": PlatypusGenerator(self.task), "variator": PlatypusVariator(self.task, 2)}


class PlatypusGenerator(Tied, Generator):
    """Sampling of this package."""

    def generate(self, problem: Any) -> Any:
        solution = Solution(problem)
        solution.variables[:] = self.task.fresh()
        return solution


class PlatypusVariator(Tied, Variator):
    """Crossover and then mutation of this package, each with its own probability."""

    def evolve(self, parents: Any) -> Any:
        children = [deepcopy(parent) for parent in parents]
        rows = np.concatenate(self.task.vary.cross(*(list(parent.variables) for parent in parents)))
        for child, row in zip(children, self.task.vary.mutate(rows).tolist(), strict=True):
            child.variables[:], child.evaluated = row, False
        return children


to_platypus = PlatypusProblem


def platypus_nsga2(problem: Source, budget: int, rng: np.random.Generator) -> None:
    """NSGA-II of Platypus with this package's operators, until the budget is used up.

    Parameters
    ----------
    problem, budget, rng
        As for every algorithm of a benchmark.
    """
    mine = PlatypusProblem(problem, rng)
    with session(rng):
        NSGAII(mine, **mine.operators()).run(budget)

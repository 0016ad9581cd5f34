"""Adapter to jMetalPy: an integer problem, with this package's initial population, crossover and mutation."""

from copy import copy
from typing import Any

import numpy as np

from sdc_problems.suite.adapters._base import Adapted, Source, Tied, answer, needs, session

with needs("jmetalpy"):
    from jmetal.algorithm.multiobjective.nsgaii import NSGAII
    from jmetal.core import operator, problem
    from jmetal.util.comparator import DominanceWithConstraintsComparator
    from jmetal.util.termination_criterion import StoppingByEvaluations


class JMetalProblem(problem.IntegerProblem):
    """Integer problem of jMetalPy: ``NSGAII(problem, 100, 100, **problem.operators())``.

    Measured solutions become canonical; a constraint below 0 is violated.

    Parameters
    ----------
    source, rng
        A problem or a recorder of one, and the source of the operators' random numbers.
    """

    name, number_of_objectives, number_of_constraints = answer("name"), answer("n_obj"), answer("n_constr")

    def __init__(self, source: Source, rng: np.random.Generator) -> None:
        super().__init__()
        self.task = task = Adapted(source, rng)
        self.lower_bound, self.upper_bound, self.labels = task.low, task.high, task.labels
        self.directions = [self.MINIMIZE] * task.n_obj

    def create_solution(self) -> Any:
        made = super().create_solution()
        made.variables = self.task.fresh()
        return made

    def evaluate(self, solution: Any) -> Any:
        (row,), (F,), (G,) = self.task.measure(solution.variables)
        solution.variables, solution.objectives, solution.constraints = row.tolist(), F.tolist(), (-G).tolist()
        return solution

    def operators(self) -> dict[str, Any]:
        """Crossover, mutation and dominance, as the keyword arguments of jMetalPy's algorithms."""
        made = {"crossover": JMetalCrossover(self.task, 1.0), "mutation": JMetalMutation(self.task, 1.0)}
        return {**made, "dominance_comparator": DominanceWithConstraintsComparator()}


class JMetalCrossover(Tied, operator.Crossover):
    """Crossover of this package, with its own probability."""

    get_number_of_parents, get_number_of_children, get_name = answer(2), answer(2), answer("name")

    def execute(self, source: Any) -> Any:
        children = [copy(parent) for parent in source]
        for child, rows in zip(children, self.task.vary.cross(*(parent.variables for parent in source)), strict=True):
            child.variables = rows[0].tolist()
        return children


class JMetalMutation(Tied, operator.Mutation):
    """Mutation of this package, with its own probability."""

    get_name = answer("name")

    def execute(self, source: Any) -> Any:
        source.variables = self.task.vary.mutate(source.variables)[0].tolist()
        return source


to_jmetal = JMetalProblem


def jmetal_nsga2(problem: Source, budget: int, rng: np.random.Generator) -> None:
    """NSGA-II of jMetalPy with this package's operators, until the budget is used up.

    Parameters
    ----------
    problem, budget, rng
        As for every algorithm of a benchmark.
    """
    mine, stop = JMetalProblem(problem, rng), StoppingByEvaluations(budget)
    with session(rng):
        NSGAII(mine, 100, 100, termination_criterion=stop, **mine.operators()).run()

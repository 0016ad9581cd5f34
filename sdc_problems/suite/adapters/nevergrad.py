"""Adapter to nevergrad: an array that this package's operators sample, mutate and recombine, and its vector of losses.

Optimizers that work on standardized data (CMA, DE, PSO and most others) do not keep to whole numbers: the nearest
canonical row is measured. Those that use the array itself, such as ``EvolutionStrategy``, use this package's operators.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdc_problems.suite.adapters._base import Adapted, Source, needs, session

with needs("nevergrad"):
    from nevergrad import families, p


class NevergradProblem(p.Array):
    """Array of nevergrad: ``optimizer(problem, budget).minimize(problem.measure)``.

    With requirements, use ``minimize(problem.measure, constraint_violation=[problem.violation])``: nevergrad
    turns them into a penalty on its single loss, which the ranks of its NSGA-II do not take into account.

    Parameters
    ----------
    source, rng
        A problem or a recorder of one, and the source of the operators' random numbers.
    """

    value: Any

    def __init__(self, source: Source, rng: np.random.Generator) -> None:
        task = Adapted(source, rng)
        low, high = np.array(task.low) - 0.49, np.array(task.high) + 0.49
        with session(rng):  # it also draws random numbers
            super().__init__(init=task.fresh(), lower=low, upper=high)
            self.set_integer_casting().set_name(task.name).random_state  # noqa: B018 - seeded when first asked for
        self.task = task

    def measure(self, x: ArrayLike) -> list[float]:
        """Losses of a value, one for each objective."""
        found: list[float] = self.task.measure(x)[1][0].tolist()
        return found

    def violation(self, x: ArrayLike) -> float:
        """Sum of the violations of requirements; the value measured last is not measured again."""
        return sum(self.task.violations(x))

    def sample(self) -> Any:
        child = self.spawn_child(new_value=np.array(self.task.fresh()))
        child._set_parenthood(None)
        return child

    def mutate(self) -> None:
        self.value = self.task.vary.mutate(self.value)[0].astype(float)

    def recombine(self, *others: Any) -> None:
        self.value = self.task.vary.cross(self.value, others[0].value)[0][0].astype(float)


to_nevergrad = NevergradProblem


def nevergrad_nsga2(problem: Source, budget: int, rng: np.random.Generator) -> None:
    """Evolution strategy of nevergrad, with ranks of NSGA-II and this package's operators, until the budget is used up.

    Parameters
    ----------
    problem, budget, rng
        As for every algorithm of a benchmark.
    """
    mine = NevergradProblem(problem, rng)
    with session(rng), warnings.catch_warnings(action="ignore"):  # about its first losses, which have no bounds yet
        strategy = families.EvolutionStrategy(popsize=100, offsprings=100, recombination_ratio=1)
        strategy(mine, budget=budget).minimize(mine.measure)

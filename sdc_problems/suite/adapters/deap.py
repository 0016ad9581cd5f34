"""Adapter to DEAP: a toolbox with individuals, fitness, this package's operators, and NSGA-II's selection."""

from typing import Any

import numpy as np

from sdc_problems.suite.adapters._base import Adapted, Source, needs, session

with needs("deap"):
    from deap import algorithms, base, tools


class DeapFitness(base.Fitness):
    """Fitness by constrained domination: less violation dominates, whatever the loss; each is equal only to itself."""

    violation, __eq__, __hash__ = 0.0, object.__eq__, object.__hash__  # equal losses may have different violations

    def dominates(self, other: Any, obj: slice = slice(None)) -> Any:
        return super().dominates(other, obj) if self.violation == other.violation else self.violation < other.violation

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        copied = super().__deepcopy__(memo)
        copied.violation = self.violation
        return copied


DeapIndividual: Any = type("DeapIndividual", (list,), {"__doc__": "Row of whole numbers, with its ``fitness``."})


class DeapToolbox(base.Toolbox):
    """Toolbox of DEAP: ``individual``, ``population``, ``evaluate``, ``mate``, ``mutate`` and ``select``.

    Measured individuals become canonical. ``mate`` and ``mutate`` have their own probabilities: call them always.

    Parameters
    ----------
    source, rng
        A problem or a recorder of one, and the source of the operators' random numbers.
    """

    def __init__(self, source: Source, rng: np.random.Generator) -> None:
        super().__init__()
        self.task = Adapted(source, rng)
        self.register("fitness", type("Fitness", (DeapFitness,), {"weights": (-1.0,) * self.task.n_obj}))
        self.register("population", tools.initRepeat, list, self.individual)
        self.register("select", tools.selNSGA2)

    def individual(self) -> Any:
        made = DeapIndividual(self.task.fresh())
        made.fitness = self.fitness()
        return made

    def evaluate(self, individual: Any) -> tuple[float, ...]:
        (individual[:],), (F,), (G,) = (part.tolist() for part in self.task.measure([individual]))
        individual.fitness.violation = sum(G)
        return tuple(F)

    def mate(self, one: Any, other: Any) -> tuple[Any, Any]:
        (one[:],), (other[:],) = (rows.tolist() for rows in self.task.vary.cross([one], [other]))
        return one, other

    def mutate(self, individual: Any) -> tuple[Any]:
        (individual[:],) = self.task.vary.mutate([individual]).tolist()
        return (individual,)


to_deap = DeapToolbox


def deap_nsga2(problem: Source, budget: int, rng: np.random.Generator) -> None:
    """NSGA-II of DEAP with this package's operators, until the budget is used up.

    Parameters
    ----------
    problem, budget, rng
        As for every algorithm of a benchmark.
    """
    toolbox = DeapToolbox(problem, rng)
    with session(rng):
        parents, children = list[Any](), toolbox.population(100)
        for _ in range(0, budget, 100):
            for child in children:
                child.fitness.values = toolbox.evaluate(child)
            parents = toolbox.select(parents + children, 100)
            children = algorithms.varAnd(tools.selTournamentDCD(parents, 100), toolbox, 1.0, 1.0)

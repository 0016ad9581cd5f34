"""Adapter to Optuna: an objective with search space, directions and constraints, and a sampler.

The objective has the interface of OptunaHub's ``BaseProblem``, and is one if OptunaHub is installed.
"""

import warnings
from operator import attrgetter
from typing import Any

import numpy as np

from sdc_problems.suite.adapters._base import Adapted, Source, ends, needs, session

with needs("optuna"):
    import optuna
    from optuna.distributions import BaseDistribution, IntDistribution
    from optuna.samplers import NSGAIISampler
    from optuna.study import Study, StudyDirection
    from optuna.trial import FrozenTrial
try:
    from optunahub.benchmarks import BaseProblem
except ImportError:
    BaseProblem = object


class OptunaProblem(BaseProblem):
    """Objective of Optuna: ``create_study(directions=problem.directions, sampler=problem.sampler())``.

    It measures the canonical form of the parameters, which are not changed. Requirements are constraints of
    the trial. A used-up budget stops the study; the trial that had no budget left is pruned.

    Parameters
    ----------
    source, rng
        A problem or a recorder of one, and the source of the operators' random numbers.
    """

    search_space = property(attrgetter("space"), doc="Distribution of each variable.")
    directions = property(lambda self: [StudyDirection.MINIMIZE] * self.task.n_obj, doc="All are minimized.")

    def __init__(self, source: Source, rng: np.random.Generator) -> None:
        self.task = task = Adapted(source, rng)
        self.space: dict[str, Any] = {name: IntDistribution(*bounds) for name, bounds in task.ranges.items()}

    def evaluate(self, params: dict[str, Any]) -> Any:
        return self.task.measure([[params[name] for name in self.space]])[1][0].tolist()

    def evaluate_constraints(self, params: dict[str, Any]) -> Any:
        return self.task.named(self.task.violations([params[name] for name in self.space]))

    def __call__(self, trial: optuna.Trial) -> Any:
        row = [trial.suggest_int(name, *bounds) for name, bounds in self.task.ranges.items()]
        with ends(lambda: trial.study.stop(), optuna.TrialPruned()):
            _, (F,), (G,) = self.task.measure([row])
        for name, violation in self.task.named(G).items():
            trial.set_constraint(name, violation)
        return F.tolist()

    def sampler(self, population_size: int = 100) -> NSGAIISampler:
        """NSGA-II of Optuna with this package's sampling, crossover and mutation.

        Parameters
        ----------
        population_size
            Number of trials in a generation.
        """
        return OptunaSampler(self, population_size)


class OptunaSampler(NSGAIISampler):
    """NSGA-II of Optuna whose initial population and children are made by a problem's own operators."""

    def __init__(self, problem: OptunaProblem, size: int) -> None:
        self.task, self.space = problem.task, problem.space
        with warnings.catch_warnings(action="ignore"):  # Optuna marks its hook for children as experimental
            super().__init__(population_size=size, child_generation_strategy=self._child)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        return self.space

    def sample_relative(self, study: Study, trial: FrozenTrial, search_space: Any) -> dict[str, Any]:
        return super().sample_relative(study, trial, self.space) or dict(
            zip(self.space, self.task.fresh(), strict=True)
        )

    def _child(self, study: Study, space: Any, parents: list[FrozenTrial]) -> dict[str, Any]:
        chosen = [parents[i].params for i in self.task.rng.integers(len(parents), size=2)]
        rows = self.task.vary.cross(*([[params[name] for name in space]] for params in chosen))
        return dict(zip(space, self.task.vary.mutate(rows[0])[0].tolist(), strict=True))


to_optuna = OptunaProblem


def optuna_nsga2(problem: Source, budget: int, rng: np.random.Generator) -> None:
    """NSGA-II of Optuna with this package's operators, until the budget is used up.

    Parameters
    ----------
    problem, budget, rng
        As for every algorithm of a benchmark.
    """
    mine = OptunaProblem(problem, rng)
    with session(rng):
        optuna.create_study(directions=mine.directions, sampler=mine.sampler()).optimize(mine, n_trials=budget)

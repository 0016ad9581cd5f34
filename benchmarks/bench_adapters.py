"""Share of the exact hypervolume that frameworks reach, with their own operators for whole numbers and with ours.

    python benchmarks/bench_adapters.py [--frameworks deap jmetal …] [--instances pbg-people-k-glm …]
                                        [--evaluations 2000] [--seeds 5]

Each line: a framework's algorithm on an instance, the median of the seeds and their range, with the framework's own
sampling and operators, and with ours; the different solutions among the evaluations; and the CPU seconds of a run
with our operators as a ratio to one without. What is measured is canonical in both.
"""

from __future__ import annotations

import argparse
import logging
import random
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import moocore
import numpy as np

from sdc_problems import adapters
from sdc_problems.suite import Instance, Recorder, instance

Run = Callable[[Any, int, np.random.Generator], object]
POPULATION = 100


def pygmo_own(problem: Any, budget: int, rng: np.random.Generator, name: str = "nsga2") -> None:
    import pygmo

    task = adapters.to_pygmo(problem, rng)
    with adapters.session(rng):
        seed = random.randrange(2**31)
        # Subproblems of MOEA/D by a grid: as many as there are with so many objectives, and not more than a population.
        size = POPULATION if name != "moead" else _grid_size(task.task.n_obj)
        options = {"seed": seed, "gen": budget // size}
        pygmo.algorithm(getattr(pygmo, name)(**options)).evolve(pygmo.population(pygmo.problem(task), size, seed=seed))


def _grid_size(n_obj: int) -> int:
    from math import comb

    return max(comb(h + n_obj - 1, n_obj - 1) for h in range(1, 200) if comb(h + n_obj - 1, n_obj - 1) <= POPULATION)


def jmetal_own(problem: Any, budget: int, rng: np.random.Generator) -> None:
    from jmetal.algorithm.multiobjective.nsgaii import NSGAII
    from jmetal.core.problem import IntegerProblem
    from jmetal.operator.crossover import IntegerSBXCrossover
    from jmetal.operator.mutation import IntegerPolynomialMutation
    from jmetal.util.termination_criterion import StoppingByEvaluations

    task = adapters.to_jmetal(problem, rng)
    task.create_solution = lambda: IntegerProblem.create_solution(task)
    with adapters.session(rng):
        NSGAII(
            task, POPULATION, POPULATION, crossover=IntegerSBXCrossover(0.9, 20.0),
            mutation=IntegerPolynomialMutation(1 / task.number_of_variables(), 20.0),
            termination_criterion=StoppingByEvaluations(budget),
        ).run()  # fmt: skip


def platypus_own(problem: Any, budget: int, rng: np.random.Generator) -> None:
    import platypus

    task = adapters.to_platypus(problem, rng).task
    types = [platypus.Integer(low, max(high, low + 1)) for low, high in task.ranges.values()]
    own = platypus.Problem(task.n_var, task.n_obj, function=lambda x: task.measure([list(x)])[1][0].tolist())
    own.types[:] = types
    with adapters.session(rng):
        platypus.NSGAII(own, population_size=POPULATION).run(budget)


def deap_own(problem: Any, budget: int, rng: np.random.Generator) -> None:
    from deap import algorithms, tools

    toolbox = adapters.to_deap(problem, rng)
    task = toolbox.task
    task.fresh = lambda: [random.randint(low, high) for low, high in task.ranges.values()]
    toolbox.register("mate", tools.cxUniform, indpb=0.5)
    toolbox.register("mutate", tools.mutUniformInt, low=task.low, up=task.high, indpb=1 / task.n_var)
    with adapters.session(rng):
        parents: list[Any] = []
        children = toolbox.population(POPULATION)
        for _ in range(0, budget, POPULATION):
            for child in children:
                child.fitness.values = toolbox.evaluate(child)
            parents = toolbox.select(parents + children, POPULATION)
            children = algorithms.varAnd(tools.selTournamentDCD(parents, POPULATION), toolbox, 0.9, 1.0)


def optuna_own(problem: Any, budget: int, rng: np.random.Generator) -> None:
    import optuna

    task = adapters.to_optuna(problem, rng)
    sampler = optuna.samplers.NSGAIISampler(population_size=POPULATION, seed=int(rng.integers(2**31)))
    optuna.create_study(directions=task.directions, sampler=sampler).optimize(task, n_trials=budget)


def nevergrad_own(problem: Any, budget: int, rng: np.random.Generator) -> None:
    from nevergrad import families, p

    task = adapters.to_nevergrad(problem, rng)
    with adapters.session(rng):
        low, high = np.array(task.task.low) - 0.49, np.array(task.task.high) + 0.49
        array = p.Array(shape=(task.task.n_var,), lower=low, upper=high).set_integer_casting()
        strategy = families.EvolutionStrategy(popsize=POPULATION, offsprings=POPULATION, recombination_ratio=1)
        strategy(array, budget=budget).minimize(task.measure)


FRAMEWORKS: dict[str, tuple[Run, Run | None]] = {
    "jmetal": (jmetal_own, lambda *run: adapters.jmetal_nsga2(*run)),
    "platypus": (platypus_own, lambda *run: adapters.platypus_nsga2(*run)),
    "deap": (deap_own, lambda *run: adapters.deap_nsga2(*run)),
    "pygmo": (pygmo_own, lambda *run: adapters.pygmo_nsga2(*run)),
    "pygmo-moead": (lambda *run: pygmo_own(*run, name="moead"), None),
    "pygmo-nspso": (lambda *run: pygmo_own(*run, name="nspso"), None),
    "optuna": (optuna_own, lambda *run: adapters.optuna_nsga2(*run)),
    "nevergrad": (nevergrad_own, lambda *run: adapters.nevergrad_nsga2(*run)),
}


def shares(run: Run, found: Instance, evaluations: int, seeds: int) -> tuple[list[float], float, float]:
    """Shares of the exact hypervolume, one for each seed; different solutions and CPU seconds of a run."""
    problem, different, began = found.problem(threads=1), [], time.process_time()
    reference = np.full(found.n_objectives, 1.1)
    whole = moocore.hypervolume(found.scaled(found.front), ref=reference)
    reached = []
    for seed in range(1, seeds + 1):
        recorder = Recorder(problem, evaluations, seed=seed)
        run(recorder, evaluations, np.random.default_rng(seed))
        assert recorder.evaluations <= evaluations
        record = recorder.record()
        reached.append(moocore.hypervolume(found.scaled(record.F[record.front()]), ref=reference) / whole)
        different.append(recorder.different)
    return reached, statistics.median(different), (time.process_time() - began) / seeds


def said(reached: list[float]) -> str:
    return f"{statistics.median(reached):.3f} ({min(reached):.3f} to {max(reached):.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frameworks", nargs="+", choices=FRAMEWORKS, default=list(FRAMEWORKS))
    parser.add_argument("--instances", nargs="+", default=["pbg-people-k-glm", "pbg-people-spread-glm"])
    parser.add_argument("--evaluations", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    logging.disable(logging.INFO)
    warnings.simplefilter("ignore")
    print(f"{'':12} {'':24} {'own operators':>24} {'different':>9} {'ours':>26} {'different':>9} {'CPU':>6}")
    for name in given.frameworks:
        own, ours = FRAMEWORKS[name]
        for found in map(instance, given.instances):
            reached, different, seconds = shares(own, found, given.evaluations, given.seeds)
            line = f"{name:12} {found.id:24} {said(reached):>24} {different:9.0f}"
            if ours is not None:
                reached, different, others = shares(ours, found, given.evaluations, given.seeds)
                line += f" {said(reached):>26} {different:9.0f} {others / seconds:6.2f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()

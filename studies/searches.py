"""The searches that a study can name: pymoo's multi-objective algorithms and our own, with typed options."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.studies.validation import Section, shown, validated

if TYPE_CHECKING:
    from sdc_problems.problem import SDCProblem

Size = Annotated[int, Field(ge=2, le=1_000_000)]
Share = Annotated[float, Field(ge=0, le=1)]

# pymoo's algorithms that are no searches for a study, and why.
REFUSED = {
    "CMOPSO": "in pymoo 0.6.2 it draws numbers from generators of its own: no run of it could be repeated",
    "PINSGA2": "it asks a person questions while it runs",
    "DNSGA2": "it is made for problems that change over time",
    "KGB": "it is made for problems that change over time",
}


class Start(Section):
    """What every population-based search has."""

    start: Literal["random", "baselines"] = Field(
        default="random", description="Whether the first population begins with the problem's baselines."
    )


class PopulationOptions(Start):
    """A search with a population."""

    pop_size: Size = Field(default=100, description="Size of the population.")
    n_offsprings: Size | None = Field(
        default=None, description="Children of a generation; as many as parents if not given."
    )


class DirectionOptions(Start):
    """A search along reference directions."""

    directions: Size = Field(default=50, description="Number of reference directions, spread evenly.")


class ManyObjectiveOptions(DirectionOptions):
    """A search along reference directions with a population of its own size."""

    pop_size: Size | None = Field(default=None, description="Size of the population; one per direction if not given.")


class RVEAOptions(ManyObjectiveOptions):
    """RVEA."""

    alpha: float = Field(default=2.0, gt=0)
    adapt_freq: Annotated[float, Field(gt=0, le=1)] = 0.1


class MOEADOptions(DirectionOptions):
    """MOEA/D."""

    n_neighbors: Size = 20
    prob_neighbor_mating: Share = 0.9


class OmniOptions(PopulationOptions):
    """Omni-Optimizer."""

    delta: float = Field(default=0.001, ge=0)
    obj_crowding: bool = True
    var_crowding: bool = True


class ReferencePoints(Section):
    """Aspiration points in natural units."""

    reference_points: list[list[float]] = Field(
        min_length=1, description="Points to come near, one number per objective, in the unit a person reads."
    )
    start: Literal["random", "baselines"] = "random"


class RNSGA2Options(ReferencePoints):
    """R-NSGA-II."""

    pop_size: Size = 100
    n_offsprings: Size | None = None
    epsilon: float = Field(default=0.001, ge=0)
    normalization: Literal["no", "front", "ever"] = "front"
    extreme_points_as_reference_points: bool = False


class RNSGA3Options(ReferencePoints):
    """R-NSGA-III."""

    pop_per_ref_point: Size = 20
    mu: Share = 0.05


class DifferentialOptions(Start):
    """Differential evolution; its real-valued proposals are rounded."""

    pop_size: Size = 100
    variant: str = Field(default="DE/rand/1/bin", pattern=r"^DE/[a-z0-9-]+/[1-9]/(bin|exp|hypercube|line)$")
    CR: Share = 0.5
    F: float | None = Field(default=None, gt=0, le=2)
    gamma: float = Field(default=1e-4, ge=0)


class DifferentialDirectionOptions(DifferentialOptions):
    """Differential evolution along reference directions."""

    directions: Size = 50


class ParticleOptions(Start):
    """Particle swarm; its real-valued proposals are rounded."""

    pop_size: Size = 100
    w: float = Field(default=0.6, ge=0)
    c1: float = Field(default=2.0, ge=0)
    c2: float = Field(default=2.0, ge=0)
    max_velocity_rate: float = Field(default=0.5, gt=0)
    archive_size: Size = 200


class GOMMSearchOptions(Section):
    """The genetic optimizer for multivariate microaggregation."""

    pop_size: Size = 200
    crossovers: Annotated[int, Field(ge=0)] = Field(default=25, description="Group crossovers of a generation.")
    mutations: Annotated[int, Field(ge=0)] | dict[str, int] = Field(
        default=10, description="Applications of each mutation in a generation."
    )
    dynamic: bool = Field(default=False, description="Retire operators whose children never survive (D-GOMM).")


class SolanasOptions(Section):
    """The genetic algorithm for microaggregation."""

    pop_size: Size = 100
    mutation_rate: Share = Field(default=0.1, description="Probability for each record's label.")
    crossover_rate: Share = Field(default=0.3, description="Probability for each pair of parents.")


class HybridOptions(Section):
    """A heuristic for the whole file, a genetic algorithm for each macrogroup of it."""

    K: Annotated[int, Field(ge=4)] = Field(default=18, description="Records of a macrogroup.")
    steps: Literal[1, 2] = Field(default=2, description="Macrogroups of records (1), or of MDAV's groups (2).")
    epochs: Annotated[int, Field(ge=0)] = Field(default=10_000, description="Epochs in each macrogroup per generation.")
    pop_size: Size = 10
    mutation_rate: Share = 0.1
    crossover_rate: Share = 0.5


class ElitistOptions(Section):
    """The elitist (1+1) evolutionary algorithm."""

    crossover_rate: Share = Field(default=0.5, description="Probability of crossover instead of mutation.")


class GPOptions(Section):
    """Steady-state genetic programming."""

    pop_size: Size = 6
    tournament: Size = Field(default=4, description="Equations in a tournament; an even number.")
    crossover_rate: Share = 0.5


Epsilon = Annotated[float, Field(gt=0)] | list[Annotated[float, Field(gt=0)]]


class PBGEAOptions(Section):
    """The evolutionary algorithm of property based generalizations, with its box archive."""

    pop_size: Size = 25
    epsilon: Epsilon = Field(default=1.0, description="Side of the archive's boxes: one number, or one per objective.")
    crossover_probability: Share = 0.8
    mutation_probability: Share | None = Field(default=None, description="Per attribute; one over their number.")


class PBGSearchOptions(Section):
    """The model-guided search for minimal generalisations."""

    max_evaluations: Size = Field(default=1000, description="Nodes to measure at most.")
    epsilon: Epsilon = Field(default=1.0, description="Side of the archive's boxes: one number, or one per objective.")
    batch_size: Annotated[int, Field(ge=1)] = Field(default=16, description="Nodes measured between two models.")


@dataclass(frozen=True)
class Search:
    """A search by name.

    Attributes
    ----------
    title
        What it is.
    module
        Where its class is.
    options
        Its options; but for ``start``, ``directions`` and ``reference_points`` they are its constructor's.
    operators
        What it takes of the operators.
    own
        Whether it has operators of its own, so that it gets only those that a study names.
    real
        Whether it proposes real numbers, which are rounded.
    archive
        Whether a study may give it a box archive; some have their own.
    objectives
        How many objectives it is for.
    tasks
        The tasks it is for; all if None.
    """

    title: str
    module: str
    options: type[Section]
    operators: tuple[str, ...] = ("sampling", "crossover", "mutation", "repair", "eliminate_duplicates")
    own: bool = False
    real: bool = False
    archive: bool = True
    objectives: Literal["one", "several", "any"] = "several"
    tasks: tuple[str, ...] | None = None


_DE = ("sampling",)
_MOO = "pymoo.algorithms.moo."
_OURS = "sdc_problems.algorithms."
SEARCHES: dict[str, Search] = {
    "NSGA2": Search("NSGA-II", _MOO + "nsga2", PopulationOptions),
    "NSGA3": Search("NSGA-III", _MOO + "nsga3", ManyObjectiveOptions),
    "UNSGA3": Search("U-NSGA-III", _MOO + "unsga3", ManyObjectiveOptions),
    "RNSGA2": Search("R-NSGA-II, towards reference points", _MOO + "rnsga2", RNSGA2Options),
    "RNSGA3": Search("R-NSGA-III, towards reference points", _MOO + "rnsga3", RNSGA3Options),
    "SPEA2": Search("SPEA2", _MOO + "spea2", PopulationOptions),
    "SMSEMOA": Search("SMS-EMOA", _MOO + "sms", PopulationOptions),
    "AGEMOEA": Search("AGE-MOEA", _MOO + "age", PopulationOptions),
    "AGEMOEA2": Search("AGE-MOEA-II", _MOO + "age2", PopulationOptions),
    "RVEA": Search("RVEA", _MOO + "rvea", RVEAOptions),
    "CTAEA": Search("C-TAEA", "sdc_problems.studies.variation", DirectionOptions),
    "MOEAD": Search("MOEA/D", _MOO + "moead", MOEADOptions, ("sampling", "crossover", "mutation", "repair")),
    "ParallelMOEAD": Search(
        "MOEA/D, a generation at a time", _MOO + "moead", MOEADOptions, ("sampling", "crossover", "mutation", "repair")
    ),
    "OmniOptimizer": Search("Omni-Optimizer", _MOO + "omni", OmniOptions),
    "GDE3": Search("GDE3", _MOO + "gde3", DifferentialOptions, _DE, real=True),
    "GDE3MNN": Search("GDE3, M-NN crowding", _MOO + "gde3", DifferentialOptions, _DE, real=True),
    "GDE32NN": Search("GDE3, 2-NN crowding", _MOO + "gde3", DifferentialOptions, _DE, real=True),
    "GDE3PCD": Search("GDE3, pruned crowding", _MOO + "gde3", DifferentialOptions, _DE, real=True),
    "NSDE": Search("NSDE", _MOO + "nsde", DifferentialOptions, _DE, real=True),
    "NSDER": Search("NSDE-R", _MOO + "nsder", DifferentialDirectionOptions, _DE, real=True),
    "MOPSO_CD": Search("MOPSO-CD", _MOO + "mopso_cd", ParticleOptions, _DE, real=True),
    "GA": Search(
        "Genetic algorithm, for one objective", "pymoo.algorithms.soo.nonconvex.ga", PopulationOptions, objectives="one"
    ),
    "GOMM": Search(
        "GOMM and D-GOMM", _OURS + "gomm", GOMMSearchOptions, (), own=True, objectives="any", tasks=("gomm",)
    ),
    "SolanasGA": Search(
        "Genetic algorithm for microaggregation, up to about 50 records",
        _OURS + "partition_ga",
        SolanasOptions,
        (),
        own=True,
        objectives="one",
        tasks=("microaggregation",),
    ),
    "HybridMicroaggregation": Search(
        "MDAV, then a genetic algorithm in each macrogroup",
        _OURS + "hybrid_microaggregation",
        HybridOptions,
        (),
        own=True,
        objectives="one",
        tasks=("microaggregation",),
    ),
    "PBGEA": Search(
        "PBG-EA, as published",
        _OURS + "pbg_ea",
        PBGEAOptions,
        (),
        own=True,
        archive=False,
        objectives="any",
        tasks=("pbg",),
    ),
    "PBGSearch": Search(
        "Model-guided search for minimal generalisations",
        _OURS + "pbg_search",
        PBGSearchOptions,
        (),
        own=True,
        archive=False,
        objectives="any",
        tasks=("pbg",),
    ),
    "ElitistEA": Search(
        "Elitist (1+1) EA for transition matrices",
        _OURS + "elitist_ea",
        ElitistOptions,
        ("sampling", "crossover", "mutation"),
        own=True,
        objectives="one",
        tasks=("pram",),
    ),
    "SteadyStateGP": Search(
        "Steady-state genetic programming",
        _OURS + "steady_state_gp",
        GPOptions,
        ("sampling", "crossover", "mutation"),
        own=True,
        objectives="one",
        tasks=("pram-equations",),
    ),
}


def search_options(section: Mapping[str, Any]) -> Section:
    """Check an algorithm section."""
    name = section.get("name")
    if name is None:
        raise SDCError(f"algorithm.name is missing (known: {', '.join(SEARCHES)})")
    if isinstance(name, str) and name in REFUSED:
        raise SDCError(f"algorithm.name {name!r} cannot be used in a study: {REFUSED[name]}")
    if not isinstance(name, str) or name not in SEARCHES:
        hint = did_you_mean(str(name), SEARCHES)
        raise SDCError(f"algorithm.name {shown(name)} is unknown{hint} (known: {', '.join(SEARCHES)})")
    return validated(SEARCHES[name].options, {k: v for k, v in section.items() if k != "name"}, "algorithm")


def build_search(
    name: str,
    options: Section,
    problem: SDCProblem,
    task: str,
    operators: Mapping[str, Any],
    epsilon: Sequence[float] | None,
) -> Any:
    """Make the algorithm, with the problem's operators or those that the study puts in their place."""
    from sdc_problems.studies.variation import BaselinesFirst, chosen_operators

    search = SEARCHES[name]
    named = chosen_operators(operators, task)
    _check_fit(name, search, problem, task, named, epsilon)
    given = {key: getattr(options, key) for key in type(options).model_fields}
    given = {key: value for key, value in given.items() if value is not None}
    start = given.pop("start", "random")
    if "directions" in given:
        given["ref_dirs"] = _directions(problem.n_obj, given.pop("directions"))
    if "reference_points" in given:
        given["ref_points"] = _points(problem, given.pop("reference_points"))
    chosen = {} if search.own else problem.operators()
    chosen |= named
    kept = {kind: value for kind, value in chosen.items() if kind in search.operators}
    if start == "baselines":
        kept["sampling"] = BaselinesFirst(kept["sampling"], list(problem.baselines().values()))
    algorithm = getattr(importlib.import_module(search.module), name)(**given, **kept)
    if epsilon is not None:
        algorithm.archive = _archive(problem, epsilon)
    return algorithm


def _check_fit(
    name: str,
    search: Search,
    problem: SDCProblem,
    task: str,
    operators: Mapping[str, Any],
    epsilon: Sequence[float] | None,
) -> None:
    """Say before anything runs why an algorithm cannot be used for a problem."""
    if search.tasks is not None and task not in search.tasks:
        raise SDCError(f"algorithm {name} is for the task {' or '.join(search.tasks)}, not for {task}")
    if search.objectives == "several" and problem.n_obj == 1:
        others = [n for n, s in SEARCHES.items() if s.objectives != "several" and task in (s.tasks or (task,))]
        raise SDCError(f"algorithm {name} needs at least two objectives; with one, use {' or '.join(others)}")
    if search.objectives == "one" and problem.n_obj > 1:
        raise SDCError(f"algorithm {name} is for one objective, not for {problem.n_obj}; use for example NSGA2")
    unused = [kind for kind in operators if kind not in search.operators]
    if unused:
        raise SDCError(f"algorithm {name} takes no {' and no '.join(unused)} from [operators]")
    if epsilon is not None and not search.archive:
        raise SDCError(f"algorithm {name} has an archive of its own: give algorithm.epsilon instead of [archive]")


def _directions(n_obj: int, count: int) -> NDArray[np.float64]:
    from pymoo.util.ref_dirs import get_reference_directions

    if n_obj == 2:  # evenly spaced, at no cost
        return np.asarray(get_reference_directions("das-dennis", 2, n_partitions=count - 1))
    return np.asarray(get_reference_directions("energy", n_obj, count, seed=1))


def _points(problem: SDCProblem, points: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    for point in points:
        if len(point) != problem.n_obj:
            names = ", ".join(o.name for o in problem.objectives)
            raise SDCError(
                f"algorithm.reference_points: each point has {problem.n_obj} numbers ({names}), not {len(point)}"
            )
    return problem.minimised(np.array(points))


def _archive(problem: SDCProblem, epsilon: Sequence[float]) -> Any:
    from sdc_problems.algorithms.archive import BoxArchive

    if len(epsilon) != problem.n_obj:
        raise SDCError(f"archive.epsilon has {len(epsilon)} numbers for {problem.n_obj} objectives")
    return BoxArchive(list(epsilon))

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


@dataclass(frozen=True)
class Search:
    """A search by name: the class, its options, and what it takes of the problem's operators."""

    title: str
    module: str
    options: type[Section]
    operators: tuple[str, ...] = ("sampling", "crossover", "mutation", "repair", "eliminate_duplicates")
    real: bool = False
    tasks: tuple[str, ...] | None = None  # all
    class_name: str | None = None


_DE = ("sampling",)
_MOO = "pymoo.algorithms.moo."
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
    "CTAEA": Search("C-TAEA", _MOO + "ctaea", DirectionOptions),
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
    "GA": Search("Genetic algorithm, for one objective", "pymoo.algorithms.soo.nonconvex.ga", PopulationOptions),
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
    if search.tasks is not None and task not in search.tasks:
        raise SDCError(f"algorithm {name} is for the tasks {', '.join(search.tasks)}, not for {task!r}")
    if problem.n_obj == 1 and search.module.startswith(_MOO):
        raise SDCError(f"algorithm {name} needs at least two objectives; with one, use GA")
    if problem.n_obj > 1 and name == "GA":
        raise SDCError(
            f"algorithm GA is for one objective, and the problem has {problem.n_obj}; use NSGA2, for example"
        )
    given = {key: getattr(options, key) for key in type(options).model_fields}
    given = {key: value for key, value in given.items() if value is not None}
    start = given.pop("start", "random")
    if "directions" in given:
        given["ref_dirs"] = _directions(problem.n_obj, given.pop("directions"))
    if "reference_points" in given:
        given["ref_points"] = _points(problem, given.pop("reference_points"))
    chosen = {**problem.operators(), **chosen_operators(operators, task)}
    unused = [kind for kind in operators if kind not in search.operators]
    if unused:
        raise SDCError(f"algorithm {name} takes no {' and no '.join(unused)} from [operators]")
    kept = {kind: value for kind, value in chosen.items() if kind in search.operators}
    if start == "baselines":
        kept["sampling"] = BaselinesFirst(kept["sampling"], list(problem.baselines().values()))
    algorithm_class = getattr(importlib.import_module(search.module), search.class_name or name)
    if epsilon is not None:
        given["archive"] = _archive(problem, epsilon)
    return algorithm_class(**given, **kept)


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

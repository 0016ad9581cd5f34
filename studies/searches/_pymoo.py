"""pymoo's algorithms as searches: the arguments that a study may set, and their bounds.

pymoo annotates and checks few of its arguments, so types and bounds are here. Defaults are those of its constructors.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from sdc_problems.studies.searches.search import Search, Share, Size
from sdc_problems.studies.study.options import Argument

# pymoo's algorithms that cannot be searches of a study, and why.
REFUSED = {
    "CMOPSO": "in pymoo 0.6.2 it draws numbers from generators of its own: no run of it could be repeated",
    "PINSGA2": "it asks a person questions while it runs",
    "DNSGA2": "it is made for problems that change over time",
    "KGB": "it is made for problems that change over time",
}

_Positive = Annotated[float, Field(gt=0)]
_AtLeast0 = Annotated[float, Field(ge=0)]


ARGUMENTS: dict[str, Argument] = {
    "pop_size": Argument(Size, "Size of the population."),
    "n_offsprings": Argument(Size, "Children of a generation; as many as parents if not given."),
    "alpha": Argument(_Positive, "Exponent of the penalty for being far from a direction."),
    "adapt_freq": Argument(Annotated[float, Field(gt=0, le=1)], "Share of the run between two updates of directions."),
    "n_neighbors": Argument(Size, "Directions of a neighborhood, which mate and replace each other."),
    "prob_neighbor_mating": Argument(Share, "Probability that both parents come from the neighborhood."),
    "delta": Argument(_AtLeast0, "Difference that does not count as better, as a share of an objective's range."),
    "obj_crowding": Argument(bool, "Whether crowding counts distances between objectives."),
    "var_crowding": Argument(bool, "Whether crowding counts distances between genomes."),
    "epsilon": Argument(_AtLeast0, "Distance below which solutions crowd around a reference point."),
    "normalization": Argument(Literal["no", "front", "ever"], "What the objectives are normalized by."),
    "extreme_points_as_reference_points": Argument(bool, "Whether the ends of the front are reference points too."),
    "pop_per_ref_point": Argument(Size, "Solutions for each reference point."),
    "mu": Argument(Share, "How far the directions around a reference point are spread; less is tighter."),
    "variant": Argument(
        Annotated[str, Field(pattern=r"^DE/[a-z0-9-]+/[1-9]/(bin|exp|hypercube|line)$")],
        "Strategy: DE/selection/number of differences/crossover.",
    ),
    "CR": Argument(Share, "Probability that a variable crosses over."),
    "F": Argument(Annotated[float, Field(gt=0, le=2)], "Factor of the differences; drawn from (0, 1) if not given."),
    "gamma": Argument(_AtLeast0, "Deviation of the factor's jitter."),
    "w": Argument(_AtLeast0, "Inertia of a particle."),
    "c1": Argument(_AtLeast0, "Pull of a particle's own best place."),
    "c2": Argument(_AtLeast0, "Pull of the swarm's leaders."),
    "max_velocity_rate": Argument(_Positive, "Largest velocity, as a share of a variable's range."),
    "archive_size": Argument(Size, "Leaders that are kept at most."),
}

_SIZES = ("pop_size", "n_offsprings")
_MOEAD = ("n_neighbors", "prob_neighbor_mating")
_DE = ("pop_size", "variant", "CR", "F", "gamma")
_OMNI = (*_SIZES, "delta", "obj_crowding", "var_crowding")
_RNSGA2 = (*_SIZES, "epsilon", "normalization", "extreme_points_as_reference_points")
_SWARM = ("pop_size", "w", "c1", "c2", "max_velocity_rate", "archive_size")


def _pymoo(name: str, title: str, module: str, parameters: tuple[str, ...], *study: Any, **options: Any) -> Search:
    target = module if ":" in module else f"pymoo.algorithms.{module}:{name}"
    arguments = {name: ARGUMENTS[name] for name in parameters}
    if "directions" in study and "pop_size" in arguments:
        arguments["pop_size"] = Argument(Size, "Size of the population; one per direction if not given.")
    return Search(name, title, target, parameters, arguments=arguments, study=("start", *study), **options)


def _differential(name: str, title: str, module: str, *study: Any) -> Search:
    return _pymoo(name, title, module, _DE, *study, operators=("sampling",), real=True)


_NO_DUPLICATES = ("sampling", "crossover", "mutation", "repair")
PYMOO = (
    _pymoo("NSGA2", "NSGA-II", "moo.nsga2", _SIZES),
    _pymoo("NSGA3", "NSGA-III", "moo.nsga3", ("pop_size",), "directions"),
    _pymoo("UNSGA3", "U-NSGA-III", "moo.unsga3", ("pop_size",), "directions"),
    _pymoo("RNSGA2", "R-NSGA-II, towards reference points", "moo.rnsga2", _RNSGA2, "reference_points"),
    _pymoo(
        "RNSGA3", "R-NSGA-III, towards reference points", "moo.rnsga3", ("pop_per_ref_point", "mu"),
        "reference_points", defaults={"pop_per_ref_point": 20},
    ),
    _pymoo("SPEA2", "SPEA2", "moo.spea2", _SIZES),
    _pymoo("SMSEMOA", "SMS-EMOA", "moo.sms", _SIZES),
    _pymoo("AGEMOEA", "AGE-MOEA", "moo.age", _SIZES),
    _pymoo("AGEMOEA2", "AGE-MOEA-II", "moo.age2", _SIZES),
    _pymoo("RVEA", "RVEA", "moo.rvea", ("pop_size", "alpha", "adapt_freq"), "directions"),
    _pymoo("CTAEA", "C-TAEA", "moo.ctaea", (), "directions"),
    _pymoo("MOEAD", "MOEA/D", "moo.moead", _MOEAD, "directions", operators=_NO_DUPLICATES),
    _pymoo(
        "ParallelMOEAD", "MOEA/D, a generation at a time", "moo.moead", _MOEAD, "directions", operators=_NO_DUPLICATES
    ),
    _pymoo("OmniOptimizer", "Omni-Optimizer", "moo.omni", _OMNI),
    _differential("GDE3", "GDE3", "moo.gde3"),
    _differential("GDE3MNN", "GDE3, M-NN crowding", "moo.gde3"),
    _differential("GDE32NN", "GDE3, 2-NN crowding", "moo.gde3"),
    _differential("GDE3PCD", "GDE3, pruned crowding", "moo.gde3"),
    _differential("NSDE", "NSDE", "moo.nsde"),
    _differential("NSDER", "NSDE-R", "moo.nsder", "directions"),
    _pymoo("MOPSO_CD", "MOPSO-CD", "moo.mopso_cd", _SWARM, operators=("sampling",), real=True),
    _pymoo("GA", "Genetic algorithm, for one objective", "soo.nonconvex.ga", _SIZES, objectives="one"),
)  # fmt: skip

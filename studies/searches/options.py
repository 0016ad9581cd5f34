"""Options of the searches, as each one's table in a study file has them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sdc_problems.studies.study.validation import Section

Size = Annotated[int, Field(ge=2, le=1_000_000)]
Share = Annotated[float, Field(ge=0, le=1)]


class Start(Section):
    """Options that every population-based search has."""

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


class MemeticOptions(Section):
    """The memetic search for microaggregation; ``[termination] time`` ends it early, at the same bytes up to there."""

    move_limit: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Proposals: the search's own budget; 20,000 per record if not given."
    )
    pop_size: Literal[1, 2, 4] | None = Field(
        default=None, description="Partitions side by side; 4 up to 10,000 records, else 1, if not given."
    )

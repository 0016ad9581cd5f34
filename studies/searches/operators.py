"""Operators by name, with options from their signatures, and a first population that begins with baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.mutation import Mutation
from pymoo.core.population import Population
from pymoo.core.sampling import Sampling

from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.studies.study.options import options_model, refused_as
from sdc_problems.studies.study.validation import shown, validated
from sdc_problems.studies.tasks import find_task

KINDS: dict[str, type[Any]] = {"sampling": Sampling, "crossover": Crossover, "mutation": Mutation}


def chosen_operators(section: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Make the operators of a section such as ``crossover = {name = "...", prob = 0.8}``."""
    made = {}
    for kind, given in section.items():
        if kind not in KINDS:
            raise SDCError(
                f"[operators] has no key {shown(kind)}{did_you_mean(kind, KINDS)} (known: {', '.join(KINDS)})"
            )
        if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
            raise SDCError(f'operators.{kind} is a table with a name, such as {{name = "…", prob = 0.5}}')
        known = {name: c for name, c in find_task(task).operator_classes.items() if issubclass(c, KINDS[kind])}
        name = given["name"]
        if name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise SDCError(
                f"operators.{kind}: no {kind} {shown(name)} for {task}{did_you_mean(name, known)} (known: {listed})"
            )
        place = f"operators.{kind}"
        options = validated(options_model(known[name]), {k: v for k, v in given.items() if k != "name"}, place)
        with refused_as(place, list(given)):
            made[kind] = known[name](**options.model_dump(exclude_unset=True))
    return made


class BaselinesFirst(Sampling):
    """Sampling of baselines first, then of another sampling's solutions.

    Parameters
    ----------
    sampling
        The other sampling.
    rows
        Genomes of the baselines.
    """

    def __init__(self, sampling: Sampling, rows: Sequence[NDArray[Any]]) -> None:
        super().__init__()
        self.sampling = sampling
        self.rows = rows

    def _do(
        self, problem: Any, n_samples: int, *args: Any, random_state: np.random.Generator, **kwargs: Any
    ) -> NDArray[Any]:
        others = self.sampling(problem, n_samples, random_state=random_state)
        sampled = others.get("X") if isinstance(others, Population) else np.asarray(others)
        first = np.array(self.rows[:n_samples], dtype=sampled.dtype)
        return np.concatenate([first, sampled[: n_samples - len(first)]])

"""Picture of a generalization: the node's levels, and the objectives of its neighbors in the lattice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.studies.report.picture_types import Lattice, Levels, Neighbour


def pictures(problem: Any, x: NDArray[Any]) -> list[Lattice]:
    """Draw the level of each attribute, with a caption on the suppressed classes."""
    hierarchies = [problem.hierarchies[name] for name in problem.attributes]
    steps = [
        (j, step)
        for step in (1, -1)
        for j, hierarchy in enumerate(hierarchies)
        if 0 <= int(x[j]) + step <= hierarchy.length
    ]
    around = np.repeat(x[None, :], len(steps), axis=0)
    for row, (j, step) in zip(around, steps, strict=True):
        row[j] += step
    values = (
        problem.natural(problem.evaluate(around, return_values_of=["F"])) if steps else np.zeros((0, problem.n_obj))
    )
    threshold = problem.decode(problem.effective(x)[0]).threshold
    goes = f" Classes of fewer than {threshold:,} records are suppressed." if threshold and threshold > 1 else ""
    return [
        Lattice(
            title="How far each attribute is generalized",
            caption="Filled steps are applied; a row without filled steps is released unchanged." + goes,
            across="level of generalization",
            attributes=tuple(
                Levels(name, int(at), tuple(_said(hierarchy.describe(level)) for level in range(hierarchy.n_levels)))
                for name, at, hierarchy in zip(problem.attributes, x, hierarchies, strict=False)
            ),
            neighbours=tuple(
                Neighbour(j, step, tuple(row)) for (j, step), row in zip(steps, values.tolist(), strict=True)
            ),
        )
    ]


def _said(level: str) -> str:
    """Level in words: a column is blanked, or records are suppressed."""
    return "blanked" if level == "suppressed" else level

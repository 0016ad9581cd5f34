"""The picture of each task: attributes grouped, a node's place in the lattice, values that move, sizes of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.problem import SDCProblem
from sdc_problems.studies.web.bars import LEAST, shortened, size_bars

MOST_CATEGORIES = 30


def picture(problem: SDCProblem, x: NDArray[Any]) -> dict[str, Any] | None:
    """The picture of a solution as plain values; None for a task that has none."""
    draw = {
        "PBGProblem": _lattice,
        "GOMMProblem": _groups,
        "MicroaggregationProblem": _clusters,
        "PRAMProblem": _matrices,
        "PRAMEquationProblem": _matrices,
    }.get(type(problem).__name__)
    return None if draw is None else draw(problem, x)


def _groups(problem: Any, x: NDArray[Any]) -> dict[str, Any]:
    grouping = problem.decode(x)
    return {
        "type": "groups",
        "k": grouping.k,
        "groups": [
            {"attributes": [shortened(name) for name in names], "loss": float(f"{loss:.6g}")}
            for names, loss in zip(grouping.groups, problem.group_losses(x), strict=True)
        ],
    }


def _lattice(problem: Any, x: NDArray[Any]) -> dict[str, Any]:
    """Levels of a node, and its neighbours with what they score."""
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
    return {
        "type": "lattice",
        "attributes": [
            {
                "name": shortened(name),
                "level": int(x[j]),
                "levels": [shortened(hierarchies[j].describe(level)) for level in range(hierarchies[j].n_levels)],
            }
            for j, name in enumerate(problem.attributes)
        ],
        "neighbours": [
            {"attribute": j, "step": step, "values": [float(f"{v:.9g}") for v in row]}
            for (j, step), row in zip(steps, values, strict=True)
        ],
    }


def _clusters(problem: Any, x: NDArray[Any]) -> dict[str, Any]:
    sizes = np.bincount(problem.labels(x))
    sizes = sizes[sizes > 0]
    return {"type": "clusters", "clusters": len(sizes), "bars": size_bars(sizes)}


def _matrices(problem: Any, x: NDArray[Any]) -> dict[str, Any]:
    """Transition matrices, and how many records each of their cells is expected to move."""
    matrices = []
    for name, table, counts in zip(problem.attributes, problem.matrices(x), problem.frequencies, strict=True):
        if len(table) > MOST_CATEGORIES:
            continue  # nobody reads it; the sentences say the most important of it
        expected = table * counts[:, None]
        matrices.append(
            {
                "attribute": shortened(name),
                "categories": [shortened(text) for text in problem.data.attribute(name).labels],
                "rows": [[float(f"{p:.3f}") for p in row] for row in table],
                "flows": [[_flow(float(records)) for records in row] for row in expected],
            }
        )
    equation = problem.equation(x) if hasattr(problem, "equation") else ""
    return {"type": "matrices", "equation": equation, "matrices": matrices}


def _flow(records: float) -> int | None:
    """An expected number of records; None for a few."""
    whole = round(records)
    return whole if whole == 0 or whole >= LEAST else None

"""Pictures of transition matrices: where each value goes, how many records move, and the equation that makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.studies.report.picture_types import Formula, Matrix, Picture
from sdc_problems.studies.report.text import number

LARGEST = 200  # categories: a larger matrix is no picture, and the sentences say the most important of it


def pictures(problem: Any, x: NDArray[Any]) -> list[Picture]:
    """Draw the matrix of each attribute."""
    found: list[Picture] = []
    if hasattr(problem, "equation"):
        equation = problem.equation(x)
        found.append(
            Formula(title="The equation of the matrices", caption="Weight of a move from i to j:", text=equation)
        )
    for name, P, counts in zip(problem.attributes, problem.matrices(x), problem.frequencies, strict=True):
        if len(P) <= LARGEST:
            found.append(_matrix(name, P, counts, problem.data.attribute(name).labels))
    return found


def _matrix(name: str, P: NDArray[np.float64], counts: NDArray[np.int64], labels: tuple[str, ...]) -> Matrix:
    low, high = number(float(f"{P.diagonal().min():.3f}")), number(float(f"{P.diagonal().max():.3f}"))
    return Matrix(
        title=f"{name}: where each value goes",
        caption="The cells of a row show the probability that its value is released as each other one. A"
        " value is kept with"
        f" probability {low} to {high}.",
        name=name,
        row_labels=tuple(labels),
        column_labels=tuple(labels),
        shares=tuple(map(tuple, P.tolist())),
        records=tuple(map(tuple, (P * counts[:, None]).tolist())),
        summary=f"kept with probability {low}–{high}",
    )

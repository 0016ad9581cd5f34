"""Pictures of transition matrices: where each value goes, how many records move, and the equation of the matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.studies.report.picture_types import Formula, Matrix, Picture
from sdc_problems.studies.report.text import number

LARGEST = 200  # most categories of a matrix that can be drawn; the sentences describe the main parts of a larger one


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
    ends = [number(float(f"{end:.3f}")) for end in (P.diagonal().min(), P.diagonal().max())]
    ends = list(dict.fromkeys(ends))  # without repetitions
    return Matrix(
        title=f"{name}: where each value goes",
        caption="The cells of a row show the probability that its value is released as each other one. A"
        f" value is kept with probability {' to '.join(ends)}.",
        name=name,
        row_labels=tuple(labels),
        column_labels=tuple(labels),
        shares=tuple(map(tuple, P.tolist())),
        records=tuple(map(tuple, (P * counts[:, None]).tolist())),
        summary=f"kept with probability {'–'.join(ends)}",
    )

"""Values of the unprotected graph: every node a cluster of its own."""

from __future__ import annotations

from typing import Any

import numpy as np


def original(problem: Any) -> dict[str, float]:
    """Natural values of the unprotected graph, for the objectives of the problem."""
    found: dict[str, float] = {}
    names = tuple(o.name for o in problem.measured_objectives if o.name not in ("k", "l"))
    if names:
        alone = np.arange(len(problem.data))
        found = dict(zip(names, problem.engine.measure(alone[None, :], names)[0].tolist(), strict=True))
    codes = problem.data.codes(problem.attributes)
    found["k"] = float(np.unique(codes, axis=0, return_counts=True)[1].min())
    return found

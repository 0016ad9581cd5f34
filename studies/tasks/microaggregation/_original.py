"""Values of the unprotected data: nothing is lost, and each record is linked in proportion to how many are like it."""

from __future__ import annotations

from typing import Any

import numpy as np


def original(problem: Any) -> dict[str, float]:
    """Natural values of the unprotected data."""
    from sdc_problems.evaluators.linkage.distance import distance_linkage

    points, codes = problem.points(), problem.data.codes(problem.attributes)
    smallest = int(np.unique(codes, axis=0, return_counts=True)[1].min())
    linked = distance_linkage(points, points, kinds=problem.kinds)
    return {"sse": 0.0, "il_sse": 0.0, "dbrl": linked, "id_value": 100.0, "k": float(smallest)}

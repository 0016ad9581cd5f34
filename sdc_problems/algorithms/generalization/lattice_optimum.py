"""Optimum of the lattice: the generalization with k that loses least, by measuring every node."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sdc_problems._tables.columns import STAR
from sdc_problems._validation import whole
from sdc_problems.errors import SDCError
from sdc_problems.hierarchy import Hierarchy
from sdc_problems.methods.recoding._generalize import Recoded
from sdc_problems.microdata import Microdata
from sdc_problems.problems.generalization import MAX_SUPPRESSION, PBGProblem


def lattice_optimum(
    data: Microdata,
    hierarchies: Mapping[str, Hierarchy],
    k: int,
    *,
    max_suppression: float = MAX_SUPPRESSION,
    limit: int = 1_000_000,
) -> Recoded:
    """Generalize the quasi-identifiers to the levels that lose least (GLM) of all that are k-anonymous.

    Parameters
    ----------
    data
        The table.
    hierarchies
        A hierarchy for each quasi-identifier, by name.
    k
        Smallest class: 2 … n.
    max_suppression
        How many records may be suppressed: a share in [0, 1), or a whole number.
    limit
        Largest number of nodes to measure.

    Examples
    --------
    >>> import pandas as pd
    >>> data = Microdata.from_frame(pd.DataFrame({"age": [21, 22, 27, 28, 34, 35]}), quasi_identifiers=["age"])
    >>> done = lattice_optimum(data, {"age": Hierarchy.intervals(range(20, 40), [5, 10])}, 2, max_suppression=0)
    >>> done.columns["age"].tolist()
    ['20-29', '20-29', '20-29', '20-29', '30-39', '30-39']
    """
    smallest = whole(k, "k", least=2)
    problem = PBGProblem(data, hierarchies, objectives=("k", "glm"), max_suppression=max_suppression)
    front = problem.enumerate_front(limit=limit)
    values = problem.natural(front.F)
    enough = np.flatnonzero(values[:, 0] >= smallest)
    if not len(enough):
        raise SDCError(
            f"no generalization has k = {smallest} with at most {problem.max_suppressed:,} records suppressed; the"
            f" largest k is {values[:, 0].max():.0f}: allow more suppression, or end each hierarchy in one label"
        )
    x = front.X[enough[np.argmin(values[enough, 1])]]
    frame = problem.release(x, suppressed="star")
    starred = (frame[list(problem.attributes)] == STAR).all(axis=1).to_numpy()
    suppressed = starred if not starred.all() else np.zeros(len(starred), dtype=np.bool_)
    columns = {
        name: frame[name].to_numpy(dtype=object) for name in problem.attributes if problem.decode(x).levels[name]
    }
    return Recoded(columns, problem.describe(x), suppressed)

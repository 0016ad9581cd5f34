"""Picture of a partition: the number of groups of each size, but never who is in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.studies.report.picture_types import Bars


def pictures(problem: Any, x: NDArray[Any]) -> list[Bars]:
    """Draw the sizes of the groups."""
    sizes = np.bincount(problem.labels(x))
    sizes = sizes[sizes > 0]
    return [Bars.of_sizes(sizes, title="Cluster sizes", across="records in the cluster", up="clusters")]

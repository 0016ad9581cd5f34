"""Pictures of a clustering of nodes: cluster sizes, and what an intruder learns who knows links."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.evaluators._codes import dense, row_labels
from sdc_problems.studies.report.picture_types import Bars, Picture
from sdc_problems.studies.report.small_counts import LEAST


def pictures(problem: Any, x: NDArray[Any]) -> list[Picture]:
    """Draw what becomes common, and what links still tell."""
    labels = problem.labels(x)
    sizes = np.bincount(labels)
    return [
        betrayed(problem, labels),
        Bars.of_sizes(sizes[sizes > 0], title="Cluster sizes", across="nodes in the cluster", up="clusters"),
    ]


def betrayed(problem: Any, labels: NDArray[np.int64]) -> Bars:
    """Shares of the nodes that fewer than k look like, by what an intruder knows."""
    n, told = len(labels), problem.exposure
    code, number = problem.engine.values(labels)
    released = row_labels(np.column_stack([code, *(dense(column)[0] for column in number.T)]))[0][labels]
    with_degree = row_labels(np.column_stack([released, dense(problem.engine.degrees)[0]]))[0]

    def rare(numbers: NDArray[np.int64]) -> int:
        return int((np.bincount(numbers)[numbers] < problem.k).sum())

    counts = {
        "released attributes": rare(released),
        "number of links": told.degree,
        "attributes and number of links": rare(with_degree),
        "links, and those among neighbours": told.links,
        **({} if told.ego is None else {"neighbourhood": told.ego}),
    }
    shown = {name: count for name, count in counts.items() if count == 0 or count >= LEAST}
    return Bars(
        title="What an intruder learns",
        caption=f"Share of the {n:,} nodes that fewer than {problem.k} look like, by what the intruder knows. The links"
        " of this release are those of the original; in a release of super-nodes there is none to look at.",
        labels=tuple(shown),
        values=tuple(100.0 * count / n for count in shown.values()),
        across="what the intruder knows",
        up="% of nodes picked out",
        summary=f"{100.0 * counts['attributes and number of links'] / n:.3g} % by attributes and number of links",
    )

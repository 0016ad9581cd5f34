"""Picture of a grouping: attributes that are microaggregated together, and what each group loses."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sdc_problems.studies.report.picture_types import Block, Blocks


def pictures(problem: Any, x: NDArray[Any]) -> list[Blocks]:
    """Draw the groups."""
    groups = zip(problem.decode(x).groups, problem.group_losses(x), strict=True)
    return [
        Blocks(
            title="Attribute groups",
            caption=f"Each block is microaggregated on its own, in clusters of at least {problem.k} records.",
            blocks=tuple(Block(tuple(names), float(loss)) for names, loss in groups),
            items="protected together",
            value="variance lost",
            unit="%",
        )
    ]

"""Picture of a recipe: each column with its method, its settings, and what it loses by itself."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sdc_problems.studies.report.picture_types import Block, Blocks


def pictures(problem: Any, x: NDArray[Any]) -> list[Blocks]:
    """Draw the steps, and the columns that stay as they are."""
    losses = problem.column_losses(x)
    blocks = []
    for step in problem.decode(x).steps:
        how = ", ".join(f"{name} {value}" for name, value in step.options.items())
        items = tuple(f"{name}: {step.method}" + (f" ({how})" if how else "") for name in step.columns)
        blocks.append(Block(items, sum(losses.pop(name) for name in step.columns) / len(step.columns)))
    blocks += [Block((f"{name}: as it is",), loss) for name, loss in losses.items()]
    return [
        Blocks(
            title="Recipe",
            caption="Columns of one block are protected together, from the original values. A column's loss is that of"
            " a file in which it is the only one.",
            blocks=tuple(blocks),
            items="protected together",
            value="information lost by the column alone",
            unit="%",
            noun="step",
        )
    ]

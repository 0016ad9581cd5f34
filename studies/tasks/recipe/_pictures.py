"""Picture of a recipe: a table of its columns, each with its method, its settings, and its cost."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sdc_problems.studies.report.picture_types import Table


def pictures(problem: Any, x: NDArray[Any]) -> list[Table]:
    """List the columns by step, unchanged ones last."""
    costs = problem.column_costs(x)
    lines = []
    recipe = problem.decode(x)
    for step in recipe.steps:
        settings = ", ".join(f"{name} {value}" for name, value in step.options.items())
        for name in step.columns:
            others = ", ".join(other for other in step.columns if other != name)
            lines.append((name, step.method, settings, costs[name], others))
    lines += [(name, "as it is", "", costs[name], "") for name in recipe.unchanged]
    return [
        Table(
            title="Recipe",
            caption="Every column is protected from its original values, by one method alone or together with others."
            " The cost of a column is how much less information would be lost if it stayed unchanged, in percent.",
            head=("column", "method", "settings", "cost, %", "together with"),
            lines=tuple(lines),
        )
    ]

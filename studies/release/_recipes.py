"""Recipes on their way to a file: what each step promises, counted, and what a certificate says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sdc_problems._signature import Parameter
from sdc_problems._tables.columns import STAR
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.wildcards import k_wildcard
from sdc_problems.methods._recipe import Recipe, RecipeStep
from sdc_problems.methods.registry import Method, find
from sdc_problems.studies.release.guarantees import Guarantee, at_least, smallest_class

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.microdata import Microdata


def step_guarantees(recipe: Recipe, frame: pd.DataFrame, within: Sequence[str] = ()) -> list[Guarantee]:
    """Count what each step promises.

    Parameters
    ----------
    recipe
        The recipe.
    frame
        The file's cells.
    within
        Columns that make strata, in each of which a promise is kept.
    """
    found = []
    for step in recipe.steps:
        promise, columns = find(step.method).guarantee, [*within, *step.columns]
        if promise == "k":
            text = f"every combination of what {step.method} protects is shared by at least k records"
            found.append(at_least("k", columns, step.options["k"], smallest_class(frame, columns), text))
        elif promise == "k_wildcard":
            text = "every record matches at least k, itself included; a star matches every value"
            codes = np.column_stack([frame[name].factorize(use_na_sentinel=False)[0] for name in columns])
            matching = int(k_wildcard(codes, (frame[columns] == STAR).to_numpy())) if len(frame) else 0
            found.append(at_least("k_wildcard", columns, step.options["k"], matching, text))
    return found


def with_its_roles(recipe: Recipe, data: Microdata) -> Microdata:
    """Table whose quasi-identifiers are the recipe's columns, and those that were quasi-identifiers before.

    Parameters
    ----------
    recipe
        The recipe.
    data
        The table; a column that is sensitive or a direct identifier cannot be protected.
    """
    if not recipe.steps:
        raise SDCError("the recipe has no step: it protects nothing")
    recipe.check_names(data.names)
    for i, step in enumerate(recipe.steps, 1):
        for name in step.columns:
            for role, names in (("sensitive", data.sensitive), ("a direct identifier", data.identifiers)):
                if name in names:
                    raise SDCError(
                        f"step {i} of the recipe protects column {name!r}, which is said to be {role}: such columns are"
                        " not protected"
                    )
    wanted = list(dict.fromkeys([*data.quasi_identifiers, *recipe.columns, *recipe.unchanged]))
    if wanted == list(data.quasi_identifiers):
        return data
    return data.with_roles(quasi_identifiers=wanted, sensitive=data.sensitive, identifiers=data.identifiers)


@dataclass(frozen=True)
class RecipeMethod(Method):
    """A recipe in the place of a method: what is asked of a method is asked of all its steps.

    Attributes
    ----------
    recipe
        The recipe.
    """

    recipe: Recipe = field(default_factory=lambda: Recipe(()))

    @classmethod
    def of(cls, recipe: Recipe) -> RecipeMethod:
        """Put a recipe in the place of a method."""
        return cls(
            "recipe", "each column by the method that a recipe says", "", "table", recipe=recipe,
            search=not recipe.random, suppresses=any(find(step.method).suppresses for step in recipe.steps),
        )  # fmt: skip

    @property
    def signature(self) -> dict[str, Parameter]:
        """No parameters: all is said in the recipe."""
        return {}

    @property
    def random(self) -> bool:
        """Whether a step draws random numbers."""
        return any(find(step.method).random for step in self.recipe.steps)

    @property
    def promise(self) -> str:
        """Promises of the steps, for a person."""
        return "; ".join(f"{', '.join(step.columns)}: {_promise(step)}" for step in self.recipe.steps)

    def needing_hierarchies(self, data: Microdata) -> Microdata:
        """The table with those columns alone to protect that need hierarchies."""
        steps = [s for s in self.recipe.steps if find(s.method).needs_hierarchies or s.options.get("labels")]
        return data.with_roles(quasi_identifiers=[name for step in steps for name in step.columns])

    def payload(self) -> list[dict[str, Any]]:
        """Steps as a certificate states them."""
        return [_stated(step) for step in self.recipe.steps]


def _stated(step: RecipeStep) -> dict[str, Any]:
    method = find(step.method)
    kept = "from the seed that is kept with the value mapping"
    return {
        "columns": list(step.columns),
        "method": method.name,
        "title": method.title,
        "options": {**method.fixed, **step.options},
        "promise": _promise(step),
        "random_numbers": "none" if not method.random else kept if method.secret_seed else "search",
    }


def _promise(step: RecipeStep) -> str:
    """Promise of a step's method, with its k."""
    said = find(step.method).promise
    return said.replace("k − 1", str(step.options["k"] - 1)) if "k" in step.options else said

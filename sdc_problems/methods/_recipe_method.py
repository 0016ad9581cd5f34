"""Recipe with the interface of a method: each property of a method is derived from all steps of the recipe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sdc_problems._signature import Parameter
from sdc_problems.errors import SDCError
from sdc_problems.methods._recipe import Recipe, RecipeStep
from sdc_problems.methods.registry import Method, find
from sdc_problems.microdata import Microdata


@dataclass(frozen=True)
class RecipeMethod(Method):
    """Recipe with the interface of a method: each property is derived from all its steps.

    Attributes
    ----------
    recipe
        Recipe that is used as a method.
    """

    recipe: Recipe = field(default_factory=lambda: Recipe(()))

    @classmethod
    def of(cls, recipe: Recipe) -> RecipeMethod:
        """Wrap a recipe as a method."""
        return cls(
            "recipe", "each column by the method that a recipe says", "", "table", recipe=recipe,
            search=not recipe.random, suppresses=any(find(step.method).suppresses for step in recipe.steps),
        )  # fmt: skip

    @property
    def signature(self) -> dict[str, Parameter]:
        """Parameters, of which there are none: the recipe contains everything."""
        return {}

    @property
    def random(self) -> bool:
        """Whether a step draws random numbers."""
        return any(find(step.method).random for step in self.recipe.steps)

    def refuse_many(self, n_records: int) -> None:
        """Refuse more records than one of its methods can protect."""
        for step in self.recipe.steps:
            find(step.method).refuse_many(n_records)

    @property
    def promise(self) -> str:
        """Guarantees of the steps, in words."""
        return "; ".join(f"{', '.join(step.columns)}: {_promise(step)}" for step in self.recipe.steps)

    def needing_hierarchies(self, data: Microdata) -> Microdata:
        """Table in which only the columns that need hierarchies are quasi-identifiers."""
        steps = [s for s in self.recipe.steps if find(s.method).needs_hierarchies or s.options.get("labels")]
        return data.with_roles(quasi_identifiers=[name for step in steps for name in step.columns])

    def payload(self) -> dict[str, Any]:
        """Recipe as stated in a certificate."""
        return {"recipe": [_stated(step) for step in self.recipe.steps]}


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
    """Guarantee of the method of a step, with its k."""
    said = find(step.method).promise
    return said.replace("k − 1", str(step.options["k"] - 1)) if "k" in step.options else said


def with_its_roles(recipe: Recipe, data: Microdata) -> Microdata:
    """Table whose quasi-identifiers are the columns of a recipe, in addition to its present quasi-identifiers.

    Parameters
    ----------
    recipe
        Recipe to apply.
    data
        Table; a sensitive column or a direct identifier cannot be protected.
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

"""Options of ``sdc protect`` on recipes: one that is applied, and the search for one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from sdc_problems.errors import SDCError

if TYPE_CHECKING:
    from sdc_problems.methods import Recipe

SAID_BY_A_RECIPE = (
    "method",
    "seconds",
    "max_suppression",
    "suppression_price",
    "importance",
    "allow_perturbed",
    "explain",
)


def for_recipe(ctx: click.Context, path: Path, roles: Mapping[str, Any]) -> tuple[Recipe, dict[str, Any]]:
    """Recipe of a file, and roles of the columns that it knows; what the command line says of them comes first."""
    from sdc_problems.methods import Recipe

    for name in SAID_BY_A_RECIPE:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise SDCError(
                f"--{name.replace('_', '-')} is for a method or a choice, and --recipe says all: leave it out"
            )
    recipe = Recipe.from_file(path)
    columns = dict.fromkeys([*roles["quasi_identifiers"], *recipe.columns, *recipe.unchanged])
    return recipe, {
        **roles,
        "quasi_identifiers": list(columns),
        "kinds": {**recipe.kinds, **roles["kinds"]},
        "orders": {**recipe.orders, **roles["orders"]},
    }


@contextmanager
def naming_recipe(path: Path | None) -> Iterator[None]:
    """Let errors say that it is a recipe that does not fit."""
    try:
        yield
    except SDCError as error:
        if path is None:
            raise
        text = re.sub(r"--kinds names a column (.*?) that is not there", r"column \1 is not in the table", str(error))
        text = text.replace("is not in --order", "is not in the recipe's [orders]")
        raise type(error)(f"{path.name} does not fit: {text}") from error

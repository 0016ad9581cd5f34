"""Options of ``sdc protect`` for recipes: applying one, and searching for one."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from sdc_problems._slices import tell
from sdc_problems.errors import SDCError
from sdc_problems.studies.commands._options import ParamType, names

if TYPE_CHECKING:
    from sdc_problems.algorithms.recipes import RecipeFront
    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.methods import Recipe
    from sdc_problems.microdata import Microdata

SAID_BY_A_RECIPE = (
    "method", "seconds", "max_suppression", "suppression_price", "importance", "allow_perturbed", "explain",
)  # fmt: skip
NOT_SEARCHED_WITH = (
    "method", "l", "entropy_l", "t", "within", "max_suppression", "suppression_price", "importance",
    "allow_perturbed", "explain",
)  # fmt: skip

SECONDS = 60.0

WRITTEN = "knee"


class SearchFor(ParamType):
    """Value of a search for recipes, with all methods or some: ``recipes`` or ``recipes:mdav,pram``."""

    name = "recipes[:METHODS]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Names of the methods to choose from; empty for all."""
        if not isinstance(value, str):
            return value
        what, colon, listed = value.partition(":")
        if what != "recipes" or (colon and not names(listed)):
            self.fail(f"{value!r} is neither 'recipes' nor a list of methods such as 'recipes:mdav,pram'", param, ctx)
        return tuple(names(listed))


F = TypeVar("F", bound=Callable[..., Any])


def recipe_options(function: F) -> F:
    """Options for a method per column, given or searched for."""
    function = click.option("--search", type=SearchFor(), help="Search for the best recipe and apply it.")(function)
    return click.option(
        "--recipe", type=click.Path(path_type=Path), metavar="FILE", help="Recipe: a method for each column."
    )(function)


def for_recipe(ctx: click.Context, path: Path, roles: Mapping[str, Any]) -> tuple[Recipe, dict[str, Any]]:
    """Recipe from a file, and the roles of its columns; roles on the command line take precedence."""
    from sdc_problems.methods import Recipe

    for name in SAID_BY_A_RECIPE:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise SDCError(f"--{name.replace('_', '-')} cannot be used with --recipe, which sets everything: omit it")
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
    """Make errors name a recipe that does not fit."""
    try:
        yield
    except SDCError as error:
        if path is None:
            raise
        text = re.sub(r"--kinds names a column (.*?) that is not there", r"column \1 is not in the table", str(error))
        text = text.replace("is not in --order", "is not in the recipe's [orders]")
        raise type(error)(f"{path.name} does not fit: {text}") from error


@dataclass(frozen=True)
class Searched:
    """Front of recipes, and the three of them that a person chooses from.

    Attributes
    ----------
    front
        The front.
    seconds
        Time limit of the search.
    slow
        Methods that were left out because they take too long.
    """

    front: RecipeFront
    seconds: float
    slow: Mapping[str, float]

    @property
    def three(self) -> dict[str, int]:
        """Points of the front by name, from the safest to the most useful."""
        others = self.front.neighbors()
        order = ("safer", WRITTEN, "more useful")
        return {name: point for name in order if (point := {**others, WRITTEN: self.front.knee}.get(name)) is not None}

    @property
    def recipe(self) -> Recipe:
        """Recipe of the knee."""
        return self.front.recipe(self.front.knee)

    @property
    def seed(self) -> int | None:
        """Seed with which the knee was measured; None if it draws no random numbers."""
        return self.front.problem.seed if self.recipe.random else None

    def payload(self, out: Path) -> dict[str, Any]:
        """Content as plain values for JSON."""
        problem = self.front.problem
        places = places_of(out)
        return {
            "seconds": self.seconds,
            "interrupted": self.front.interrupted,
            "recipes_measured": self.front.measured,
            "points_of_the_front": len(self.front),
            "methods_left_out": list(self.slow),
            "choices": [
                {
                    "name": name,
                    "file": places[name].name,
                    "figures": problem.figures(self.front.X[point]),
                    "steps": [str(step) for step in self.front.recipe(point).steps],
                }
                for name, point in self.three.items()
            ],
        }

    def write(self, out: Path) -> None:
        """Write the recipes beside the protected file."""
        from sdc_problems.studies.store.folder import write_atomically

        for name, point in self.three.items():
            write_atomically(places_of(out)[name], self.front.recipe(point).to_toml())

    def show(self, out: Path) -> None:
        """Print the result, and the cost of each of the three recipes."""
        from sdc_problems.studies.report.terminal import console, plain

        screen, front, problem = console(), self.front, self.front.problem
        stopped = "; the search was interrupted" if front.interrupted else ""
        screen.print(
            f"{front.measured:,} recipes were measured, {front.sweeps:,} of them with one method for all columns. The"
            f" front has {len(front)} recipes{stopped}."
        )
        if self.slow:
            slow = ", ".join(f"{name} ({seconds:.0f} s)" for name, seconds in self.slow.items())
            screen.print(f"Methods left out, because one recipe takes too long: {slow}.")
        n = len(problem.data)
        for name, point in self.three.items():
            figures, recipe = problem.figures(front.X[point]), front.recipe(point)
            found = round(figures["dbrl_protected"] * n / 100)
            screen.print()
            what = f"{name}, written to {out.name}" if name == WRITTEN else f"{name} ({places_of(out)[name].name})"
            screen.print(f"{plain(what, 300)}:", style="bold")
            k = f", k = {int(figures['k'])}" if figures["k"] > 1 else ""
            screen.print(
                f"  loses {figures['il_mixed']:.1f} % of the information; risk {figures['dr_mixed']:.1f} %:"
                f" {figures['id_rank']:.0f} % of the cells are near the original, {found:,} of {n:,} records are"
                f" re-identified{k}"
            )
            for step in recipe.steps:
                screen.print(f"  {plain(str(step), 500)}")
            if recipe.unchanged:
                screen.print(f"  {plain(', '.join(recipe.unchanged), 500)}: unchanged")
        screen.print()

    def last_words(self, file: Path, out: Path) -> None:
        """Print how to apply another of the three."""
        from sdc_problems.studies.report.terminal import console, plain

        places = places_of(out)
        listed = ", ".join(str(places[name]) for name in self.three)
        screen = console()
        screen.print(f"recipes: {plain(listed, 1000)}")
        screen.print(
            f"to apply a recipe, now or next year: sdc protect {plain(str(file), 500)} --recipe FILE.toml --out …"
        )


def places_of(out: Path) -> dict[str, Path]:
    """Files of the three recipes, next to the protected one."""
    words = {"safer": ".safer", WRITTEN: "", "more useful": ".more-useful"}
    return {name: out.with_name(f"{out.name}{word}.recipe.toml") for name, word in words.items()}


def refuse_search(ctx: click.Context, recipe: Path | None, out: Path, file: Path, overwrite: bool) -> None:
    """Refuse options that a search does not support, and existing files, before anything is computed."""
    from sdc_problems.studies.release._transaction import reserve

    if recipe is not None:
        raise SDCError("--recipe cannot be used with --search: omit one of them")
    for name in NOT_SEARCHED_WITH:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise SDCError(f"--{name.replace('_', '-')} cannot be used with --search: omit it")
    reserve(out, overwrite=overwrite, inputs=[file])
    for place in places_of(out).values():
        if place.resolve() == file.resolve():
            raise SDCError(f"{str(place)!r} is an input and would be overwritten: choose another --out")
        if place.exists() and not overwrite:
            raise SDCError(f"{str(place)!r} already exists: choose another --out, or add --overwrite")


def searched(
    data: Microdata,
    methods: Sequence[str],
    *,
    hierarchies: Mapping[str, Hierarchy],
    k: int | None,
    max_risk: float | None,
    seconds: float | None,
    seed: int | None,
) -> Searched:
    """Search for recipes and show the progress on a terminal; Ctrl-C ends the search with its result so far.

    Parameters
    ----------
    data
        The table.
    methods
        Methods to choose from; all if none is named.
    hierarchies
        Hierarchies by column.
    k, max_risk
        Demands on every recipe for all columns together, as in `protect`.
    seconds
        Time limit; 60 by default.
    seed
        Seed of the search and of the methods; by default drawn at random. It is the seed of the file.
    """
    from sdc_problems.algorithms.recipes import search_table
    from sdc_problems.studies.release._demand import Demand

    k = Demand.of(k, max_risk=max_risk).checked(data).k
    seconds = SECONDS if seconds is None else seconds
    seed = secrets.randbits(63) if seed is None else seed

    def told(front: RecipeFront | None, measured: int, done: float) -> None:
        tell("seconds of the search for recipes", min(int(done), int(seconds)), max(int(seconds), 1))

    front, slow = search_table(
        data, seconds=seconds, seed=seed, hierarchies=hierarchies, methods=list(methods) or None, k=k, tell=told
    )
    return Searched(front, seconds, slow)

"""Recipe: which method protects which columns, and how; applied to one file today and to next year's tomorrow."""

from __future__ import annotations

import json
import tomllib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.hierarchy import Hierarchy
from sdc_problems.methods._apply import apply, recoded
from sdc_problems.methods.recoding._generalize import Recoded
from sdc_problems.methods.registry import Method, find
from sdc_problems.microdata import Microdata

SCHEMA = "sdc.recipe/1"


@dataclass(frozen=True)
class RecipeStep:
    """A method and the columns that it protects together.

    Attributes
    ----------
    columns
        Names of the columns.
    method
        Name of a registered method.
    options
        Its options, and ``k`` if it takes one.
    """

    columns: tuple[str, ...]
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        said = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{', '.join(self.columns)}: {self.method}" + (f" ({said})" if said else "")


@dataclass(frozen=True)
class Recipe:
    """Methods for a whole file: each protects some columns, from the original values; no column has two.

    No step looks at what another has done, so their order does not matter. Random numbers of a step come from the seed,
    the method and its columns: a step draws the same whatever the others are.

    Attributes
    ----------
    steps
        The methods with their columns; other columns stay as they are.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20, 60, 21, 61], "town": ["Olot", "Reus", "Vic", "Reus"]})
    >>> data = Microdata.from_frame(frame, quasi_identifiers=["age", "town"])
    >>> recipe = Recipe.from_toml('''
    ... schema = "sdc.recipe/1"
    ... [[step]]
    ... columns = ["age"]
    ... method = "mdav"
    ... k = 2
    ... ''')
    >>> recipe.apply(data).columns["age"].tolist()
    [20.5, 60.5, 20.5, 60.5]
    """

    steps: tuple[RecipeStep, ...]

    def __post_init__(self) -> None:
        taken: dict[str, int] = {}
        for i, step in enumerate(self.steps, 1):
            for name in step.columns:
                if name in taken:
                    raise SDCError(
                        f"step {i} of the recipe protects column {name!r}, and so does step {taken[name]}: each column"
                        " has one method"
                    )
                taken[name] = i

    def __str__(self) -> str:
        return "\n".join(map(str, self.steps)) or "every column stays as it is"

    @property
    def random(self) -> bool:
        """Whether a step draws random numbers that undo the protection for who knows them."""
        return any(find(step.method).secret_seed for step in self.steps)

    def apply(
        self, data: Microdata, *, hierarchies: Mapping[str, Hierarchy] | None = None, seed: int | None = None
    ) -> Recoded:
        """Protect a table.

        Parameters
        ----------
        data
            The table; it is not changed.
        hierarchies
            By column, for methods that need them.
        seed
            For methods that draw random numbers.

        Returns
        -------
        Recoded
            New cells of the protected columns, and a sentence on each step.
        """
        columns: dict[str, Any] = {}
        sentences: list[str] = []
        suppressed = None
        for i, step in enumerate(self.steps, 1):
            for name in step.columns:
                if name not in data.names:
                    raise SDCError(
                        f"step {i} of the recipe protects column {name!r}, which the table does not have"
                        f"{did_you_mean(name, data.names)}"
                    )
            try:
                done = apply_step(step, data, hierarchies=hierarchies, seed=seed)
            except SDCError as error:
                raise type(error)(f"step {i} of the recipe ({step}): {error}") from None
            columns.update(done.columns)
            sentences.extend(done.sentences)
            if done.suppressed is not None:
                suppressed = done.suppressed if suppressed is None else suppressed | done.suppressed
        return Recoded(columns, tuple(sentences), suppressed)

    def to_toml(self) -> str:
        """The recipe as the text of a TOML file."""
        lines = [f'schema = "{SCHEMA}"']
        for step in self.steps:
            lines += ["", "[[step]]", f"columns = {json.dumps(list(step.columns), ensure_ascii=False)}"]
            lines += [f"method = {json.dumps(step.method)}"]
            lines += [f"{name} = {_toml(value)}" for name, value in step.options.items()]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str) -> Recipe:
        """Read a recipe from the text of a TOML file.

        Parameters
        ----------
        text
            The file's text.
        """
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SDCError(f"the recipe is no TOML: {error}") from None
        if found.get("schema") != SCHEMA:
            raise SDCError(f'a recipe begins with schema = "{SCHEMA}"')
        for name in found:
            if name not in ("schema", "step"):
                raise SDCError(f"a recipe has no {name!r}: it has [[step]] tables")
        listed = found.get("step", [])
        if not isinstance(listed, list):
            raise SDCError("the steps of a recipe are [[step]] tables, with two brackets")
        return cls(tuple(_step(i, step) for i, step in enumerate(listed, 1)))


def apply_step(
    step: RecipeStep,
    data: Microdata,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    seed: int | None = None,
) -> Recoded:
    """Protect the columns of one step.

    Parameters
    ----------
    step
        The method, its columns and options.
    data, hierarchies, seed
        As for `Recipe.apply`.
    """
    method = find(step.method)
    return recoded(method, data, found_by(method, step, data, hierarchies, seed), columns=step.columns)


def found_by(
    method: Method,
    step: RecipeStep,
    data: Microdata,
    hierarchies: Mapping[str, Hierarchy] | None,
    seed: int | None,
) -> Any:
    """Result of the method of a step, random numbers drawn for this step alone."""
    if method.random and seed is None:
        raise SDCError(f"method {method.name} draws random numbers: give a seed")
    options = {name: value for name, value in step.options.items() if name != "k"}
    return apply(
        method, data, columns=step.columns, k=step.options.get("k"),
        hierarchies=_of(hierarchies, step.columns) if method.takes("hierarchies") else None,
        rng=None if seed is None else np.random.default_rng([seed, zlib.crc32(str(step).encode())]), options=options,
    )  # fmt: skip


def _of(hierarchies: Mapping[str, Hierarchy] | None, columns: Sequence[str]) -> dict[str, Hierarchy]:
    return {name: h for name, h in (hierarchies or {}).items() if name in columns}


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(name))} = {_toml(each)}" for name, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value.item() if isinstance(value, np.generic) else value, ensure_ascii=False)


def _step(i: int, step: Any) -> RecipeStep:
    where = f"step {i} of the recipe"
    if not isinstance(step, dict) or not isinstance(step.get("method"), str):
        raise SDCError(f'{where} names no method: method = "mdav" and so on')
    names = step.get("columns")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise SDCError(f'{where} names no columns: columns = ["age"] and so on')
    options = {name: value for name, value in step.items() if name not in ("method", "columns")}
    try:
        method = find(step["method"])
        method.arguments({name: value for name, value in options.items() if name != "k"})
        if method.takes_k != ("k" in options):
            raise SDCError(f"method {method.name} {'needs k' if method.takes_k else 'takes no k'}")
    except SDCError as error:
        raise SDCError(f"{where}: {error}") from None
    return RecipeStep(tuple(names), step["method"], options)

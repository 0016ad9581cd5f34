"""Recipe: methods and options for the columns of a file, which can be applied to later files, too."""

from __future__ import annotations

import tomllib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sdc_problems._tables.toml_text import toml_key, toml_value
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.hierarchy import Hierarchy
from sdc_problems.methods._apply import apply, recoded
from sdc_problems.methods.recoding._generalize import Recoded
from sdc_problems.methods.registry import Method, find
from sdc_problems.microdata import Attribute, Kind, Microdata

SCHEMA = "sdc.recipe/1"
_KINDS = tuple(kind.value for kind in Kind)


@dataclass(frozen=True)
class RecipeStep:
    """Step of a recipe: a method and the columns that it protects together.

    Attributes
    ----------
    columns
        Names of the columns.
    method
        Name of a registered method.
    options
        Options of the method, and ``k`` if it takes one.
    """

    columns: tuple[str, ...]
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        said = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{', '.join(self.columns)}: {self.method}" + (f" ({said})" if said else "")


@dataclass(frozen=True)
class Recipe:
    """Recipe for a whole file: methods that each protect some columns, and no column is protected twice.

    Every step starts from the original values, so the order of the steps does not matter. The random numbers of a step
    depend only on the seed, the method and its columns, not on the other steps.

    Attributes
    ----------
    steps
        Methods with their columns; other columns do not change.
    kinds
        Kind of each of these columns in the file that the recipe was made for. A file in which a column has another
        kind gives an error; columns without a kind here are not checked.
    orders
        Categories of the ordinal columns, first to last.
    unchanged
        Further columns that identify but do not change; they are included when records that look alike are counted.

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
    kinds: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    unchanged: tuple[str, ...] = ()

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
        for name in self.unchanged:
            if name in taken:
                raise SDCError(f"the recipe leaves column {name!r} unchanged, and step {taken[name]} protects it")
        for part in ("kinds", "orders"):
            for name in getattr(self, part):
                if name not in taken and name not in self.unchanged:
                    raise SDCError(f"{part} of the recipe names column {name!r}, which no step protects")

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that the recipe protects."""
        return tuple(name for step in self.steps for name in step.columns)

    @classmethod
    def made_for(cls, data: Microdata, steps: Sequence[RecipeStep], columns: Sequence[str] = ()) -> Recipe:
        """Make a recipe that stores the kinds of its columns and the orders of their categories.

        Parameters
        ----------
        data
            Table that the recipe is made for.
        steps
            Methods with their columns.
        columns
            Columns that identify; those that no step protects do not change.
        """
        attributes = [data.attribute(name) for step in steps for name in step.columns]
        unchanged = tuple(name for name in columns if not any(name in step.columns for step in steps))
        return cls(
            tuple(steps),
            {a.name: a.kind.value for a in attributes},
            {a.name: _known_categories(a) for a in attributes if a.kind.value == "ordinal"},
            unchanged,
        )

    def __str__(self) -> str:
        return "\n".join(map(str, self.steps)) or "every column stays as it is"

    @property
    def random(self) -> bool:
        """Whether a step draws random numbers with which the protection could be undone."""
        return any(find(step.method).secret_seed for step in self.steps)

    def apply(
        self, data: Microdata, *, hierarchies: Mapping[str, Hierarchy] | None = None, seed: int | None = None
    ) -> Recoded:
        """Protect a table.

        Parameters
        ----------
        data
            Table to protect; it is not changed.
        hierarchies
            Hierarchies by column, for methods that need them.
        seed
            Seed for methods that draw random numbers.

        Returns
        -------
        Recoded
            New cells of the protected columns, and a sentence on each step.
        """
        columns: dict[str, Any] = {}
        sentences: list[str] = []
        suppressed = None
        self.check_names(data.names)
        for i, step in enumerate(self.steps, 1):
            for name in step.columns:
                self._check_kind(i, data.attribute(name))
            try:
                done = apply_step(step, data, hierarchies=hierarchies, seed=seed)
            except SDCError as error:
                raise type(error)(f"step {i} of the recipe ({step}): {error}") from None
            columns.update(done.columns)
            sentences.extend(done.sentences)
            if done.suppressed is not None:
                suppressed = done.suppressed if suppressed is None else suppressed | done.suppressed
        return Recoded(columns, tuple(sentences), suppressed)

    def check_names(self, names: Sequence[str]) -> None:
        """Raise an error if a table lacks a column of the recipe.

        Parameters
        ----------
        names
            Columns of the table.
        """
        for i, step in enumerate(self.steps, 1):
            for name in step.columns:
                if name not in names:
                    raise SDCError(
                        f"step {i} of the recipe protects column {name!r}, which the table does not have"
                        f"{did_you_mean(name, names)}"
                    )
        for name in self.unchanged:
            if name not in names:
                raise SDCError(
                    f"the recipe leaves column {name!r} unchanged, which the table does not have"
                    f"{did_you_mean(name, names)}"
                )

    def _check_kind(self, i: int, attribute: Attribute) -> None:
        """Raise an error if a column has another kind, or categories that its order does not contain."""
        name, kind = attribute.name, attribute.kind.value
        said = f"step {i} of the recipe protects column {name!r}"
        wanted = self.kinds.get(name, kind)
        if kind != wanted:
            raise SDCError(
                f"{said} as {wanted}, and in this table it is {kind}: declare its kind, or correct its cells"
            )
        if name in self.orders:
            places = {category: place for place, category in enumerate(self.orders[name])}
            found = [places.get(category, -1) for category in _known_categories(attribute)]
            if -1 in found:
                raise SDCError(
                    f"{said}, which has {found.count(-1)} categor{'y' if found.count(-1) == 1 else 'ies'} that the"
                    " recipe's order does not have: add them to it where they belong"
                )
            if found != sorted(found):
                raise SDCError(f"{said}, whose categories are in another order in this table: use the recipe's order")

    def to_toml(self) -> str:
        """Return the recipe as the text of a TOML file."""
        lines = [f'schema = "{SCHEMA}"']
        lines += [f"unchanged = {toml_value(self.unchanged)}"] if self.unchanged else []
        for part in ("kinds", "orders"):
            if getattr(self, part):
                lines += ["", f"[{part}]"]
                lines += [f"{toml_key(name)} = {toml_value(value)}" for name, value in getattr(self, part).items()]
        for step in self.steps:
            lines += ["", "[[step]]", f"columns = {toml_value(step.columns)}"]
            lines += [f"method = {toml_value(step.method)}"]
            lines += [f"{name} = {toml_value(value)}" for name, value in step.options.items()]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str) -> Recipe:
        """Read a recipe from the text of a TOML file.

        Parameters
        ----------
        text
            Text of the file.
        """
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SDCError(f"the recipe is not TOML: {error}") from None
        if found.get("schema") != SCHEMA:
            raise SDCError(f'a recipe begins with schema = "{SCHEMA}"')
        for name in found:
            if name not in ("schema", "unchanged", "kinds", "orders", "step"):
                raise SDCError(f"a recipe has no {name!r}: it has [[step]] tables, unchanged, [kinds] and [orders]")
        listed = found.get("step", [])
        if not isinstance(listed, list):
            raise SDCError("the steps of a recipe are [[step]] tables, with two brackets")
        kinds, orders = found.get("kinds", {}), found.get("orders", {})
        if not isinstance(kinds, dict) or not all(value in _KINDS for value in kinds.values()):
            raise SDCError(
                f'[kinds] of a recipe says of columns which of {", ".join(_KINDS)} each is, as age = "numeric"'
            )
        if not isinstance(orders, dict) or not all(isinstance(value, list) for value in orders.values()):
            raise SDCError('[orders] of a recipe lists the categories of columns, as size = ["small", "large"]')
        unchanged = found.get("unchanged", [])
        if not isinstance(unchanged, list) or not all(isinstance(name, str) for name in unchanged):
            raise SDCError('unchanged columns of a recipe are a list of names, as unchanged = ["sex"]')
        return cls(tuple(_step(i, step) for i, step in enumerate(listed, 1)), kinds, orders, tuple(unchanged))

    @classmethod
    def from_file(cls, path: Path | str) -> Recipe:
        """Read a recipe from a TOML file.

        Parameters
        ----------
        path
            Path of the file.
        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror or "it is no file"
            raise SDCError(f"recipe {str(path)!r} cannot be read: {why}") from None
        try:
            return cls.from_toml(text)
        except SDCError as error:
            raise SDCError(f"{path.name}: {error}") from None


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
        Method, columns and options.
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
    """Result of the method of a step, with random numbers that depend on this step only."""
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


def _known_categories(attribute: Attribute) -> list[Any]:
    """Categories in their order, without that of missing values, as types of TOML."""
    found = list(attribute.categories)[: attribute.n_categories - attribute.has_missing]
    plain = [value.item() if isinstance(value, np.generic) else value for value in found]
    return [value if isinstance(value, (str, int, float)) else str(value) for value in plain]


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

"""Recipes as a problem: for each column its method, the strength, and the columns that are protected with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._validation import whole
from sdc_problems.errors import SDCError
from sdc_problems.methods._recipe import Recipe, RecipeStep
from sdc_problems.objective import Objective
from sdc_problems.operators.recipe import (
    CanonicalRecipes,
    RandomRecipes,
    RecipeCrossover,
    RecipeMutation,
    canonical_recipe,
    parts,
)
from sdc_problems.problem import SDCProblem
from sdc_problems.problems._columns import as_microdata, left_as_they_are, protected_columns
from sdc_problems.problems.recipe._masks import RecipeEngine
from sdc_problems.problems.recipe._objectives import recipe_objectives
from sdc_problems.problems.recipe._offers import KEPT, offers_for

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.microdata import Microdata
    from sdc_problems.requirement import Required

ATTACKED = 1000
"""Number of records to attack if there are more than `ALL_ATTACKED`."""

ALL_ATTACKED = 5000


@dataclass(frozen=True)
class Spread:
    """Spread of a measure over new draws of random numbers."""

    mean: float
    sd: float
    least: float
    most: float


class RecipeProblem(SDCProblem):
    """Choose the methods for a whole file: for each column its method, the strength, and the columns protected with it.

    A row of X has three numbers per column, in three parts: the method (0 leaves the column unchanged), the step of
    the method's settings, and a group label. Columns with the same label and the same method, if it works on several
    columns, are protected together. Each column is protected from its original values, so the order does not matter.

    Parameters
    ----------
    data
        The table.
    columns
        Quasi-identifiers to protect; by default all of them. The others stay unchanged.
    hierarchies
        Hierarchies by column, for methods that need them; such methods are not offered to a column without one.
    methods
        Names of the methods to choose from; by default every registered one that has steps to try.
    objectives
        Any of ``il_mixed`` and ``dr_mixed``, their parts ``pil``, ``il_categorical``, ``ctbil``, ``dbil``, ``ebil``,
        ``id_rank`` and ``dbrl_protected``, and ``k``; or an `Objective` of your own with a function.
    require
        Requirements of a solution, such as ``{"k": 3}``; see `SDCProblem`.
    attacked
        Number of records, drawn at random, that the linkage tries to find among all; by default all if there are up to
        5,000, otherwise 1,000. ``figures`` attacks all of them.
    seed
        Seed of the methods' random numbers and of the choice of attacked records. The same columns, method and step
        draw the same numbers in every recipe, so that recipes are compared by their effect and not by chance.
    memory
        Bytes that the engine may use to remember masked columns.
    threads
        Number of candidates measured at once; by default as many as there are processors. Results do not depend on it.

    Notes
    -----
    A label that is not a value of its column, such as an interval, is measured as the mean of the numbers that it
    stands for, their median category, or the most frequent one.

    Examples
    --------
    >>> import pandas as pd
    >>> from sdc_problems import Microdata
    >>> rng = np.random.default_rng(1)
    >>> frame = pd.DataFrame({"age": rng.integers(18, 90, 60), "town": rng.choice(["Olot", "Reus", "Vic"], 60)})
    >>> data = Microdata.from_frame(frame, quasi_identifiers=["age", "town"])
    >>> problem = RecipeProblem(data, methods=["mdav", "rank-swap", "pram"])
    >>> x = problem.encode([RecipeStep(("age",), "mdav", {"k": 5}), RecipeStep(("town",), "pram", {"stay": 0.8})])
    >>> print(problem.decode(x))
    age: mdav (k=5)
    town: pram (stay=0.8, matrix=frequency)
    """

    def __init__(
        self,
        data: Microdata,
        *,
        columns: Sequence[str] | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        methods: Sequence[str] | None = None,
        objectives: Sequence[str | Objective] = ("il_mixed", "dr_mixed"),
        require: Mapping[str, Required] | None = None,
        attacked: int | None = None,
        seed: int = 0,
        memory: int = 1 << 30,
        threads: int | None = None,
    ) -> None:
        data = as_microdata(data, columns)
        names = protected_columns(data, columns)
        attributes = [data.attribute(name) for name in names]
        numeric = [a.kind.value == "numeric" for a in attributes]
        if len(data) < 2:
            raise SDCError("one record cannot be protected: at least two are needed")
        self.attributes = names
        self.hierarchies = {name: h for name, h in (hierarchies or {}).items() if name in names}
        self.seed = whole(seed, "seed")
        if attacked is None:
            attacked = len(data) if len(data) <= ALL_ATTACKED else ATTACKED
        self.n_attacked = min(whole(attacked, "attacked", least=1), len(data))
        self._memory = whole(memory, "memory", least=1)
        self._threads = None if threads is None else whole(threads, "threads", least=1)
        if isinstance(methods, str):
            raise SDCError(f"methods must be a sequence of names: write methods=[{methods!r}]")
        self.offers, self.space = offers_for(data, names, self.hierarchies, methods)
        if len(self.offers) == 1:
            raise SDCError(f"no method fits any of the columns {', '.join(names)}: name others in methods")
        p = len(names)
        super().__init__(
            data=data,
            objectives=objectives,
            catalogue=recipe_objectives(len(data), numbers=any(numeric), categories=not all(numeric)),
            require=require,
            n_var=3 * p,
            xl=0,
            xu=np.repeat([len(self.offers) - 1, int(self.space.steps.max()) - 1, p - 1], p),
        )

    def _compile(self) -> RecipeEngine:
        return RecipeEngine(
            self.data, self.attributes, self.hierarchies, seed=self.seed, attacked=self._attacked_records(),
            memory=self._memory, threads=self._threads,
        )  # fmt: skip

    def _attacked_records(self) -> NDArray[np.int64] | None:
        if self.n_attacked == len(self.data):
            return None
        drawn = np.random.default_rng([self.seed, 0xA77AC]).choice(len(self.data), self.n_attacked, replace=False)
        return np.sort(drawn)

    def _measure(self, X: NDArray[Any], names: Sequence[str]) -> NDArray[np.float64]:
        engine = self.engine
        files = [engine.file(self._steps(row)) for row in X]
        found: NDArray[np.float64] = engine.mixed.measure(files, names)
        return found

    def _tables(self, x: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Released and original codes: labels that stand for the same value get different codes."""
        n, both = len(self.data), []
        for column, original in zip(self.engine.file(self._steps(self.genome(x))), self.engine.mixed.X.T, strict=True):
            cells = np.column_stack([column.values, column.labels])
            pairs, of = np.unique(cells, axis=0, return_inverse=True)
            beside = np.arange(len(pairs)) - np.searchsorted(pairs[:, 0], pairs[:, 0])
            keys = np.concatenate(
                [np.column_stack([column.values, beside[of]]), np.column_stack([original, original * 0])]
            )
            both.append(np.unique(keys, axis=0, return_inverse=True)[1])
        codes = np.column_stack(both)
        yield codes[:n], codes[n:]

    def _operators(self) -> dict[str, Any]:
        return {
            "sampling": RandomRecipes(self.space),
            "crossover": RecipeCrossover(self.space),
            "mutation": RecipeMutation(self.space),
            "repair": CanonicalRecipes(self.space),
        }

    # -- rows and recipes -----------------------------------------------------------------------------------------

    def _steps(self, row: NDArray[Any]) -> list[RecipeStep]:
        """Steps of a checked row."""
        methods, steps, labels = parts(canonical_recipe(row, self.space))
        found = []
        for label in range(int(labels.max()) + 1):
            members = np.flatnonzero(labels == label)
            offer = self.offers[methods[members[0]]]
            if offer.name != KEPT:
                options = offer.settings[steps[members[0]]]
                found.append(RecipeStep(tuple(self.attributes[j] for j in members), offer.name, options))
        return found

    def decode(self, x: ArrayLike) -> Recipe:
        """Methods, and the columns that each protects."""
        return Recipe.made_for(self.data, self._steps(self.genome(x)), self.attributes)

    def encode(self, recipe: Recipe | Sequence[RecipeStep]) -> NDArray[Any]:
        """Return the row of X for a recipe, whose settings must be among those that the problem tries.

        Parameters
        ----------
        recipe
            Steps; columns that no step names stay unchanged. Options that a step does not name take the mildest value.
        """
        steps = recipe.steps if isinstance(recipe, Recipe) else Recipe(tuple(recipe)).steps
        row = np.zeros(self.n_var, dtype=np.int64)
        methods, chosen, labels = parts(row)
        labels[:] = np.arange(len(labels))
        known = {offer.name: m for m, offer in enumerate(self.offers) if m}
        for step in steps:
            if step.method not in known:
                raise SDCError(f"method {step.method!r} is not among those that are tried: {', '.join(known)}")
            m = known[step.method]
            settings = self.offers[m].settings
            fitting = [i for i, setting in enumerate(settings) if dict(setting).items() >= dict(step.options).items()]
            if not fitting:
                tried = "; ".join(", ".join(f"{n}={v}" for n, v in setting.items()) for setting in settings)
                raise SDCError(f"{step}: these settings are not among those that are tried: {tried}")
            for name in step.columns:
                if name not in self.attributes:
                    raise SDCError(
                        f"column {name!r} is not one of the columns to protect: {', '.join(self.attributes)}"
                    )
                j = self.attributes.index(name)
                if self.space.steps[j, m] <= fitting[0]:
                    raise SDCError(f"{step}: does not fit column {name!r}")
                methods[j], chosen[j], labels[j] = m, fitting[0], self.attributes.index(step.columns[0])
        return canonical_recipe(row, self.space).astype(self.dtype)

    def figures(self, x: ArrayLike) -> dict[str, float]:
        """Measure the recipe: every objective, every record attacked, and ``n_protected``, the columns that change."""
        row = self.genome(x)
        return {**self._exact([row])[0], **self._own_figures(row)}

    def _exact(self, rows: Sequence[NDArray[Any]], seed: int | None = None) -> list[dict[str, float]]:
        """Every measure of each row, with all records attacked."""
        engine, names = self.engine, list(recipe_names(self.catalogue))
        decoded = [self._steps(row) for row in rows]
        files = [engine.file(steps, seed=seed) for steps in decoded]
        values = engine.mixed.measure(files, names, everyone=True)
        return [
            {**dict(zip(names, map(float, row), strict=True)), "n_protected": float(sum(len(s.columns) for s in steps))}
            for row, steps in zip(values, decoded, strict=True)
        ]

    def assess(self, x: ArrayLike, seeds: int | Sequence[int] = 10) -> dict[str, Spread]:
        """Measure the recipe over new draws of its random numbers.

        Parameters
        ----------
        x
            The row.
        seeds
            Number of draws, or the seed of each.
        """
        row = self.genome(x)
        listed = range(1, whole(seeds, "seeds", least=1) + 1) if isinstance(seeds, int) else list(seeds)
        drawn = [self._exact([row], seed=whole(seed, "a seed"))[0] for seed in listed]
        spread = {}
        for name in drawn[0]:
            values = np.array([figures[name] for figures in drawn])
            spread[name] = Spread(*(float(v) for v in (values.mean(), values.std(), values.min(), values.max())))
        return spread

    def column_costs(self, x: ArrayLike) -> dict[str, float]:
        """Cost of each column in this recipe: the decrease of ``il_mixed`` if the column stays unchanged."""
        mixed = self.engine.mixed
        file = self.engine.file(self._steps(self.genome(x)))
        spared = [[*file[:j], mixed.untouched[j], *file[j + 1 :]] for j in range(len(file))]
        values = mixed.measure([file, *spared], ["il_mixed"])[:, 0]
        return {name: float(values[0] - value) for name, value in zip(self.attributes, values[1:], strict=True)}

    def describe(self, x: ArrayLike) -> tuple[str, ...]:
        """Describe in plain sentences what releasing ``x`` would do to the data."""
        from sdc_problems.methods.registry import find

        recipe, figures = self.decode(x), self.figures(x)
        said = [f"{', '.join(s.columns)}: {s.method} ({_settings(s)}), {find(s.method).title}." for s in recipe.steps]
        kept = [name for name in self.attributes if not any(name in step.columns for step in recipe.steps)]
        if kept:
            said.append(f"As they are: {', '.join(kept)}.")
        n, linked = len(self.data), round(figures["dbrl_protected"] * len(self.data) / 100)
        alike = f"In all of these columns together every record looks like at least {int(figures['k']) - 1} others."
        alone = "Some records are alone with what is released of these columns: no k is promised."
        drawn = "What is released draws random numbers anew: its figures differ a little." if recipe.random else ""
        return (
            *said,
            f"{figures['il_mixed']:.1f} % of the information is lost, as the mean over the columns;"
            f" {figures['id_rank']:.1f} % of the cells are near the original. About {linked:,} of {n:,} records"
            f" ({figures['dbrl_protected']:.1f} %) are closest to their own released copy.",
            alike if figures["k"] > 1 else alone,
            *([drawn] if drawn else []),
            *left_as_they_are(self.data, self.attributes),
        )

    def release(self, x: ArrayLike, *, seed: int | None = None) -> pd.DataFrame:
        """Return the table protected by the recipe.

        Parameters
        ----------
        x
            The row.
        seed
            Seed of the random numbers, to be kept secret; by default the problem's own, which gives the measured file.
        """
        done = self.decode(x).apply(self.data, hierarchies=self.hierarchies, seed=self.seed if seed is None else seed)
        frame = self._publishable()
        for name, cells in done.columns.items():
            frame[name] = cells
        return frame

    def baselines(self) -> dict[str, NDArray[Any]]:
        """One method for all columns that it fits, at each of its steps, and the unchanged file."""
        p = len(self.attributes)
        found = {"as it is": self.encode([])}
        for m, offer in enumerate(self.offers[1:], 1):
            for step, setting in enumerate(offer.settings):
                row = np.zeros(self.n_var, dtype=np.int64)
                methods, steps, labels = parts(row)
                fits = self.space.steps[:, m] > (step if self.space.joint[m] else 0)
                if not fits.any():
                    continue
                methods[:] = np.where(fits, m, 0)
                steps[:] = np.where(fits, step, 0)
                labels[:] = np.where(fits, 0, np.arange(p))
                name = f"{offer.name} {', '.join(f'{n} {v}' for n, v in setting.items())}"
                found[name] = canonical_recipe(row, self.space).astype(self.dtype)
        return found


def recipe_names(catalogue: Mapping[str, Objective]) -> Iterator[str]:
    """Names of the measures that the engine computes."""
    return (name for name, objective in catalogue.items() if objective.function is None)


def _settings(step: RecipeStep) -> str:
    return ", ".join(f"{name} {value}" for name, value in step.options.items()) or "no settings"

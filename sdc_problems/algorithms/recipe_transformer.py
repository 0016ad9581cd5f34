"""Transformer in the style of scikit-learn that protects tables by a recipe; scikit-learn itself is not needed."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.frames import is_frame
from sdc_problems._validation import choice
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.methods._recipe import Recipe
from sdc_problems.microdata import Microdata

if TYPE_CHECKING:
    from typing import Self

    from sdc_problems.hierarchy import Hierarchy


class RecipeTransformer:
    """Protect tables by a recipe, in a `Pipeline` of scikit-learn or alone.

    ``fit`` takes the given recipe, or searches for one; ``transform`` applies it to a table. Each table is protected as
    a whole: k holds in every table that comes out, and the records are the same in number and order.

    Parameters
    ----------
    recipe
        The recipe. By default, ``fit`` searches for one of ``quasi_identifiers``.
    quasi_identifiers
        Columns to protect, for a search; by default all.
    methods
        Names of the methods to choose from; by default all.
    k
        Smallest number of records that look alike in all these columns together, in every recipe of the search.
    seconds
        Time of the search.
    hierarchies
        Hierarchies by column, for methods that need them.
    seed
        Seed of the search, and of methods that draw random numbers; keep it secret. A recipe that draws none does not
        need it.

    Attributes
    ----------
    recipe_
        The recipe that ``transform`` applies.
    feature_names_in_, n_features_in_
        Columns of the table that was fitted, and their number.

    Notes
    -----
    For a DataFrame, the result is a DataFrame; for an array of numbers, whose columns are called x0, x1 …, it is an
    array. ``transform`` of the same table with the same seed gives the same cells. A method that leaves records out
    cannot be part of the recipe: ``y`` would no longer fit.

    Examples
    --------
    >>> import pandas as pd
    >>> from sdc_problems.methods import RecipeStep
    >>> frame = pd.DataFrame({"age": [20, 60, 21, 61], "pay": [1.0, 4.0, 2.0, 3.0]})
    >>> protector = RecipeTransformer(Recipe((RecipeStep(("age",), "mdav", {"k": 2}),)))
    >>> protector.fit_transform(frame)["age"].tolist()
    [20.5, 60.5, 20.5, 60.5]
    """

    def __init__(
        self,
        recipe: Recipe | None = None,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
        k: int | None = None,
        seconds: float = 10.0,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        seed: int | None = None,
    ) -> None:
        self.recipe = recipe  # as scikit-learn requires: kept as given, and checked by fit
        self.quasi_identifiers = quasi_identifiers
        self.methods = methods
        self.k = k
        self.seconds = seconds
        self.hierarchies = hierarchies
        self.seed = seed

    def fit(self, X: Any, y: object = None) -> Self:
        """Check that the recipe fits the table, or search for one.

        Parameters
        ----------
        X
            The table.
        y
            Ignored.
        """
        frame, _ = _as_frame(X)
        if self.recipe is None:
            recipe = self._searched(frame)
        else:
            for name in ("quasi_identifiers", "methods", "k"):
                if getattr(self, name) is not None:
                    raise SDCError(f"{name}= is for a search, and a recipe is given: leave one of them out")
            recipe = self.recipe
        _read(frame, recipe)
        if recipe.random and self.seed is None:
            raise SDCError("the recipe draws random numbers: give a seed, and keep it secret")
        self.recipe_ = recipe
        self.feature_names_in_: NDArray[Any] = np.array(list(frame.columns), dtype=object)
        self.n_features_in_ = len(frame.columns)
        return self

    def transform(self, X: Any) -> Any:
        """Protect a table; the argument is not changed.

        Parameters
        ----------
        X
            The table, with the columns of the fitted one.
        """
        if not hasattr(self, "recipe_"):
            raise SDCError("this transformer has no recipe yet: call fit first")
        frame, is_array = _as_frame(X)
        if list(frame.columns) != list(self.feature_names_in_):
            raise SDCError("the columns are not those of the table that was fitted, in the same order")
        done = self.recipe_.apply(_read(frame, self.recipe_), hierarchies=self.hierarchies, seed=self.seed)
        if done.suppressed is not None and np.any(done.suppressed):
            raise SDCError("the recipe leaves records out, and y would no longer fit: use another method")
        found = frame.copy()
        for name, cells in done.columns.items():
            found[name] = np.asarray(cells)
        if is_array and getattr(self, "_output", "default") == "default":
            return found.to_numpy()
        return found

    def fit_transform(self, X: Any, y: object = None) -> Any:
        """Fit to a table and protect it.

        Parameters
        ----------
        X, y
            As for ``fit``.
        """
        return self.fit(X, y).transform(X)

    def _searched(self, frame: Any) -> Recipe:
        from sdc_problems.algorithms.recipes import search_table

        if self.seed is None:
            raise SDCError("a search for a recipe needs a seed")
        names = list(frame.columns) if self.quasi_identifiers is None else list(self.quasi_identifiers)
        data = Microdata.from_frame(frame, quasi_identifiers=names)
        front, _ = search_table(
            data, seconds=self.seconds, seed=self.seed, hierarchies=self.hierarchies, methods=self.methods, k=self.k
        )
        return front.recipe(front.knee)

    # -- required of estimators by scikit-learn ------------------------------------------------------------------

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name.

        Parameters
        ----------
        deep
            No effect: no parameter is an estimator.
        """
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name.

        Parameters
        ----------
        **parameters
            Parameters to change.
        """
        known = self._names()
        for name, value in parameters.items():
            if name not in known:
                raise SDCError(f"there is no parameter {name!r}{did_you_mean(name, known)} (known: {', '.join(known)})")
            setattr(self, name, value)
        return self

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Names of the output columns, which are those of the input.

        Parameters
        ----------
        input_features
            Ignored.
        """
        return self.feature_names_in_

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set the type of the output for an input array.

        Parameters
        ----------
        transform
            "default", an array; "pandas", a DataFrame. None changes nothing.
        """
        if transform is not None:
            choice(transform, "transform", ("default", "pandas"))
            self._output = transform
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "recipe_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags, TransformerTags  # only scikit-learn calls this, so it is installed

        return Tags(
            estimator_type=None, target_tags=TargetTags(required=False), transformer_tags=TransformerTags(),
            requires_fit=True,
        )  # fmt: skip

    def __repr__(self) -> str:
        usual = {name: p.default for name, p in inspect.signature(type(self)).parameters.items()}
        own = {name: value for name, value in self.get_params().items() if name != "seed" and value is not usual[name]}
        said = [f"{n}=<{len(v.steps)} steps>" if isinstance(v, Recipe) else f"{n}={v!r}" for n, v in own.items()]
        return f"{type(self).__name__}({', '.join(said)})"


def _as_frame(X: Any) -> tuple[Any, bool]:
    """Table as a DataFrame of pandas, and whether it was an array."""
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X, False
    if is_frame(X):
        return Microdata.from_frame(X).frame(), False
    array = np.asarray(X)
    if array.ndim != 2:
        raise SDCError("a table is a DataFrame, or an array of records and columns")
    return pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])]), True


def _read(frame: Any, recipe: Recipe) -> Microdata:
    """Table with the recipe's columns as quasi-identifiers, with the kinds that the recipe gives."""
    recipe.check_names([str(name) for name in frame.columns])
    names = [*recipe.columns, *recipe.unchanged]
    kinds = {name: kind for name, kind in recipe.kinds.items() if name in names}
    return Microdata.from_frame(frame[names], quasi_identifiers=recipe.columns, kinds=kinds, orders=recipe.orders)

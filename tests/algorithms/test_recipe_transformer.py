"""Transformer of recipes: as scikit-learn asks it, inside a Pipeline, and without scikit-learn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Hierarchy, Microdata, RecipeTransformer, SDCError
from sdc_problems.methods import Recipe, RecipeStep

RECIPE = Recipe((RecipeStep(("age", "wage"), "mdav", {"k": 3}), RecipeStep(("town",), "pram", {"stay": 0.6})))


def frame(n: int = 60, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    return pd.DataFrame(
        {"age": age, "wage": age / 2 + rng.normal(0, 3, n), "town": rng.choice(["Olot", "Reus"], n), "n": range(n)},
        index=pd.Index(range(100, 100 + n)),
    )


def test_it_does_what_the_recipe_does_and_leaves_the_rest() -> None:
    table = frame()
    before = table.copy()
    found = RecipeTransformer(RECIPE, seed=4).fit_transform(table)
    done = RECIPE.apply(Microdata.from_frame(table, quasi_identifiers=["age", "wage", "town"]), seed=4)
    for name in ("age", "wage", "town"):
        assert found[name].tolist() == list(done.columns[name])
    assert found["n"].tolist() == table["n"].tolist()
    assert found.index.equals(table.index)
    assert found.groupby(["age", "wage"]).size().min() >= 3
    pd.testing.assert_frame_equal(table, before)


def test_next_years_table_is_protected_by_the_same_recipe() -> None:
    protector = RecipeTransformer(RECIPE, seed=4).fit(frame())
    other = protector.transform(frame(45, seed=1))
    assert len(other) == 45
    assert other.groupby(["age", "wage"]).size().min() >= 3


def test_a_pipeline_learns_from_protected_data() -> None:
    pytest.importorskip("sklearn")
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    table = frame(200)
    y = (table["age"] > 50).astype(int)
    encode = make_column_transformer((OneHotEncoder(), ["town"]), (StandardScaler(), ["age", "wage"]))
    line = Pipeline(
        [("protect", RecipeTransformer(RECIPE, seed=1)), ("encode", encode), ("learn", LogisticRegression())]
    )
    assert line.fit(table, y).score(frame(90, seed=5), frame(90, seed=5)["age"] > 50) > 0.8
    assert line.predict(table).shape == (200,)
    assert cross_val_score(line, table, y, cv=3).mean() > 0.8
    line.set_params(protect__seed=2)
    assert line.get_params()["protect__seed"] == 2
    assert "RecipeTransformer" in repr(line)
    assert line[:-2].get_feature_names_out().tolist() == ["age", "wage", "town", "n"]


def test_a_grid_searches_its_parameters() -> None:
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    def by(k: int) -> Recipe:
        return Recipe((RecipeStep(("x0",), "mdav", {"k": k}),))

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    mild, strong = by(2), by(20)
    grid = GridSearchCV(
        make_pipeline(RecipeTransformer(), LinearRegression()), {"recipetransformer__recipe": [strong, mild]}, cv=3
    ).fit(X, X[:, 0] ** 3 + rng.normal(0, 0.1, 120))
    assert grid.best_params_["recipetransformer__recipe"] is mild


def test_it_is_cloned_and_knows_its_parameters() -> None:
    base = pytest.importorskip("sklearn.base")
    protector = RecipeTransformer(RECIPE, seed=7).fit(frame())
    again = base.clone(protector)
    assert again.get_params() == protector.get_params()
    assert again.recipe is not None
    assert not hasattr(again, "recipe_")
    assert protector.set_params(seed=8) is protector
    assert protector.get_params()["seed"] == 8
    assert "7" not in repr(again), "the seed is a secret"
    with pytest.raises(SDCError, match=r"there is no parameter 'sed'; did you mean 'seed'"):
        protector.set_params(sed=1)


def test_an_array_comes_out_as_an_array() -> None:
    X = frame()[["age", "wage"]].to_numpy()
    recipe = Recipe((RecipeStep(("x0",), "mdav", {"k": 3}),))
    protector = RecipeTransformer(recipe)
    found = protector.fit_transform(X)
    assert isinstance(found, np.ndarray)
    assert np.array_equal(found[:, 1], X[:, 1])
    assert np.unique(found[:, 0], return_counts=True)[1].min() >= 3
    framed = protector.set_output(transform="pandas").transform(X)
    assert list(framed.columns) == ["x0", "x1"]
    with pytest.raises(SDCError, match="transform"):
        protector.set_output(transform="arrow")


def test_without_a_recipe_it_searches_for_one() -> None:
    searching = RecipeTransformer(
        quasi_identifiers=["age", "town"], methods=["mdav", "mondrian"], k=3, seconds=0.3, seed=5
    )
    found = searching.fit_transform(frame())
    assert set(searching.recipe_.columns) <= {"age", "town"}
    assert found.groupby(["age", "town"]).size().min() >= 3
    assert searching.transform(frame(50, seed=9)).shape == (50, 4)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RecipeTransformer(RECIPE).fit(frame()), "draws random numbers: give a seed"),
        (lambda: RecipeTransformer().fit(frame()), "needs a seed"),
        (lambda: RecipeTransformer(RECIPE, k=3, seed=1).fit(frame()), r"k= is for a search"),
        (lambda: RecipeTransformer(RECIPE, seed=1).transform(frame()), "call fit first"),
        (lambda: RecipeTransformer(RECIPE, seed=1).fit(frame()[["age"]]), "step 1 .* 'wage', which the table does not"),
        (lambda: RecipeTransformer(RECIPE, seed=1).fit(frame()).transform(frame()[["age", "wage", "town"]]), "columns"),
        (lambda: RecipeTransformer(RECIPE, seed=1).fit(np.zeros(4)), "records and columns"),
        (
            lambda: RecipeTransformer(Recipe((RecipeStep(("age",), "mdav", {"k": 3}),), {"age": "numeric"})).fit(
                frame().assign(age="old")
            ),
            "age",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SDCError, match=words):
        make()


def test_a_recipe_that_leaves_records_out_is_refused() -> None:
    table = pd.DataFrame({"age": [20] * 100 + [30] * 99 + [90]})
    recipe = Recipe((RecipeStep(("age",), "lattice", {"k": 5}),))
    ages = {"age": Hierarchy.intervals(range(10, 100), [5])}
    with pytest.raises(SDCError, match="leaves records out, and y would no longer fit"):
        RecipeTransformer(recipe, hierarchies=ages, seed=1).fit_transform(table)


def test_scikit_learn_is_not_imported() -> None:
    code = "import sys, sdc_problems; sdc_problems.RecipeTransformer(); assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)

"""Recipes as files: written, read, applied to another table, refused with the place where they do not fit."""

from __future__ import annotations

import pandas as pd
import pytest

from sdc_problems import Microdata, SDCError
from sdc_problems.methods import Recipe, RecipeStep

TEXT = """schema = "sdc.recipe/1"

[[step]]
columns = ["age", "pay"]
method = "mdav"
k = 2

[[step]]
columns = ["town"]
method = "pram"
stay = 0.5
matrix = "frequency"
"""


def table(**columns: list[object]) -> Microdata:
    usual: dict[str, list[object]] = {
        "age": [20, 60, 21, 61],
        "pay": [1.5, 9.0, 2.5, 8.0],
        "town": ["a", "b", "a", "c"],
    }
    frame = pd.DataFrame({**usual, **columns})
    return Microdata.from_frame(frame, quasi_identifiers=list(frame))


def test_a_recipe_is_written_and_read_back() -> None:
    recipe = Recipe.from_toml(TEXT)
    assert recipe.to_toml() == TEXT
    assert recipe.steps[0] == RecipeStep(("age", "pay"), "mdav", {"k": 2})
    assert recipe.random
    assert not Recipe(recipe.steps[:1]).random


def test_options_that_are_tables_and_lists_come_back() -> None:
    step = RecipeStep(("town",), "recode-map", {"groups": {"town": [["a", "b"]]}})
    assert Recipe.from_toml(Recipe((step,)).to_toml()).steps == (step,)
    assert Recipe((step,)).apply(table()).columns["town"].tolist() == ["a", "a", "a", "c"]


def test_a_step_draws_the_same_whatever_the_others_are() -> None:
    recipe = Recipe.from_toml(TEXT)
    both, alone = recipe.apply(table(), seed=4), Recipe(recipe.steps[1:]).apply(table(), seed=4)
    assert both.columns["town"].tolist() == alone.columns["town"].tolist()
    assert both.columns["age"].tolist() == [20.5, 60.5, 20.5, 60.5]
    with pytest.raises(SDCError, match=r"step 2 of the recipe .*give a seed"):
        recipe.apply(table())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("sdc.recipe/1", "other"), "begins with schema"),
        (("[[step]]", "[step]"), "not TOML|two brackets"),
        (('["town"]', '["age"]'), "step 2 of the recipe protects column 'age', and so does step 1"),
        (('"pram"', '"prma"'), "step 2 of the recipe: there is no method 'prma'; did you mean 'pram'"),
        (("stay", "leave"), "step 2 of the recipe: method pram has no option 'leave'"),
        (("k = 2", ""), "step 1 of the recipe: method mdav needs k"),
        (('["town"]', "[]"), "step 2 of the recipe names no columns"),
        (("method", "way"), "step 1 of the recipe names no method"),
    ],
)
def test_what_is_no_recipe_is_refused_with_the_place(change: tuple[str, str], words: str) -> None:
    with pytest.raises(SDCError, match=words):
        Recipe.from_toml(TEXT.replace(*change))


def test_next_years_file_may_not_fit() -> None:
    recipe = Recipe.from_toml(TEXT)
    with pytest.raises(SDCError, match=r"step 1 of the recipe \(age, pay: mdav \(k=2\)\): .*too few"):
        recipe.apply(Microdata.from_frame(table().frame().iloc[:3], quasi_identifiers=["age"]), seed=1)
    with pytest.raises(SDCError, match=r"step 2 of the recipe .*'town' is numeric"):
        recipe.apply(table(town=[1.5, 2.5, 3.5, 4.5]), seed=1)
    shorter = Microdata.from_frame(table().frame().drop(columns="town"), quasi_identifiers=["age"])
    with pytest.raises(SDCError, match="step 2 of the recipe protects column 'town', which the table does not have"):
        recipe.apply(shorter, seed=1)

"""``sdc protect --recipe``: a method for each column, counted in the file; what does not fit refused with its place."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from sdc_problems import Microdata, SDCError, protect
from sdc_problems.methods import Recipe, RecipeStep, registry
from sdc_problems.studies.cli import cli

RECIPE = """schema = "sdc.recipe/1"
unchanged = ["town"]

[kinds]
age = "numeric"
school = "ordinal"

[orders]
school = ["none", "some", "all"]

[[step]]
columns = ["age", "wage"]
method = "mdav"
k = 3

[[step]]
columns = ["school"]
method = "pram"
stay = 0.5
"""


def frame(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "age": rng.integers(18, 80, 40),
        "wage": rng.integers(20, 50, 40),
        "school": rng.choice(["none", "some", "all"], 40),
        "town": rng.choice(["Olot", "Reus"], 40),
        "ill": rng.choice(["yes", "no"], 40),
    })  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    frame().to_csv(tmp_path / "in.csv", index=False)
    (tmp_path / "recipe.toml").write_text(RECIPE)
    return tmp_path


def applied(folder: Path, *more: str, recipe: str | None = None) -> Result:
    if recipe is not None:
        (folder / "recipe.toml").write_text(recipe)
    words = ["--recipe", str(folder / "recipe.toml"), "--out", str(folder / "out.csv"), "--sensitive", "ill", *more]
    return CliRunner().invoke(cli, ["protect", str(folder / "in.csv"), *words])


def refusal(result: Result, folder: Path) -> str:
    assert isinstance(result.exception, SDCError), result.output
    assert not (folder / "out.csv").exists()
    text = str(result.exception)
    assert "\n" not in text
    return text


def test_a_recipe_protects_a_file_and_the_certificate_states_it(folder: Path) -> None:
    result = applied(folder, "--seed", "7", "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    certificate = json.loads((folder / "out.csv.certificate.json").read_text())
    assert certificate["method"] == "recipe"
    first, second = certificate["recipe"]
    assert (first["columns"], first["method"], first["options"]) == (["age", "wage"], "mdav", {"k": 3})
    assert "at least 2 others" in first["promise"]
    assert first["random_numbers"] == "none"
    assert second["promise"] == "promises no k"
    assert "seed" in second["random_numbers"]
    assert str(certificate["seed"]).startswith("kept with the value mapping")
    counted = {(g["name"], tuple(g["columns"])): g for g in certificate["guarantees_checked_in_the_file"]}
    assert counted["k", ("age", "wage")]["found"] >= 3
    payload = json.loads(result.stdout)
    assert payload["recipe"] == certificate["recipe"]
    # the same cells as in Python, in another order of the rows
    data = Microdata.from_csv(
        folder / "in.csv", quasi_identifiers=["age", "wage", "school", "town"], sensitive=["ill"],
        orders={"school": ["none", "some", "all"]}, kinds={"school": "ordinal"},
    )  # fmt: skip
    columns = Recipe.from_toml(RECIPE).apply(data, seed=7).columns
    out = pd.read_csv(folder / "out.csv")
    assert sorted(out["age"]) == sorted(columns["age"])
    assert out["school"].value_counts().to_dict() == pd.Series(columns["school"]).value_counts().to_dict()
    assert sorted(out["town"]) == sorted(frame()["town"])


def test_the_same_recipe_protects_next_years_file(folder: Path) -> None:
    frame(1).to_csv(folder / "in.csv", index=False)
    assert applied(folder).exit_code == 0
    assert pd.read_csv(folder / "out.csv").groupby(["age", "wage"]).size().min() >= 3


def test_each_stratum_is_protected_on_its_own_and_draws_for_itself(folder: Path) -> None:
    result = applied(folder, "--within", "ill", "--keep", "ill", "--sensitive", "", "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    assert pd.read_csv(folder / "out.csv").groupby(["ill", "age", "wage"]).size().min() >= 3


def test_what_is_demanded_besides_is_counted_in_all_columns_together(folder: Path) -> None:
    text = refusal(applied(folder, "--k", "3"), folder)
    assert text.startswith("recipe.toml does not fit: the written file does not keep its guarantees (k: 1 where 3")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('"age", "wage"]', '"aeg", "wage"]'), "names column 'age', which no step protects"),
        (("k = 3", "k = 30"), r"does not fit: step 1 of the recipe \(age, wage: mdav \(k=30\)\): .*"),
        (("k = 3", ""), "recipe.toml: step 1 of the recipe: method mdav needs k"),
        (('"mdav"', '"mdva"'), "recipe.toml: step 1 of the recipe: there is no method 'mdva'; did you mean 'mdav'"),
        (("stay = 0.5", "stay = 5.0"), "does not fit: step 2 of the recipe .*stay"),
        (("stay", "leave"), "step 2 of the recipe: method pram has no option 'leave'"),
        (('["school"]', '["scool"]'), "names column 'school', which no step protects"),
        (("k = 3", "k = "), r"recipe.toml: the recipe is not TOML: .*line [0-9]+, column"),
        (('"numeric"', '"number"'), "which of numeric, ordinal, nominal"),
        (('unchanged = ["town"]', 'unchanged = ["wage"]'), "leaves column 'wage' unchanged, and step 1 protects it"),
        (('unchanged = ["town"]', 'unchanged = ["twon"]'), "column 'twon'"),
        (('"some", "all"', '"some"'), r"column 'school', row \d+: the value is not in the recipe's \[orders\]"),
        (('"age", "wage"]', '"age", "wage", "ill"]'), "'ill' is named twice, as quasi-identifier and as sensitive"),
        (('method = "pram"\nstay = 0.5', 'method = "rank-shuffle"'), "is for numeric columns, and 'school' is ordinal"),
        ((RECIPE[RECIPE.index("unchanged") :], ""), "no step"),
    ],
)
def test_a_recipe_that_does_not_fit_is_refused_with_the_place(
    folder: Path, change: tuple[str, str], words: str
) -> None:
    assert change[0] in RECIPE
    text = refusal(applied(folder, recipe=RECIPE.replace(*change)), folder)
    assert pd.Series([text]).str.contains(words, regex=True).all(), text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.rename(columns={"age": "Age"}), "does not fit: column 'age' is not in the table; did you mean"),
        (lambda f: f.drop(columns=["wage"]), "column 'wage'"),
        (lambda f: f.assign(age=["old", *f["age"][1:]]), "column 'age' is declared numeric, but row 1 is not a number"),
        (lambda f: f.assign(school=["other", *f["school"][1:]]), "row 1: the value is not in the recipe's [orders]"),
        (lambda f: f.head(2), "step 1 of the recipe (age, wage: mdav (k=3))"),
    ],
)  # fmt: skip
def test_next_years_file_that_does_not_fit_is_refused_with_the_place(folder: Path, change, words: str) -> None:  # type: ignore[no-untyped-def]
    change(frame()).to_csv(folder / "in.csv", index=False)
    assert words in refusal(applied(folder), folder)


def test_categories_that_a_step_names_must_be_there(folder: Path) -> None:
    step = RecipeStep(("town",), "recode-map", {"groups": {"town": [["Olot", "Vic"]]}})
    text = Recipe((step,)).to_toml()
    said = refusal(applied(folder, recipe=text), folder)
    assert "step 1 of the recipe (town: recode-map" in said
    assert "groups names a category that column 'town' does not have: 'Vic'" in said


@pytest.mark.parametrize(
    "option", [("--method", "mdav"), ("--seconds", "3"), ("--max-suppression", "1%"), ("--explain",)]
)
def test_options_of_a_method_or_a_choice_are_refused(folder: Path, option: tuple[str, ...]) -> None:
    assert f"{option[0]} cannot be used with --recipe" in refusal(applied(folder, *option), folder)


def test_in_python_kinds_and_orders_are_checked_as_well() -> None:
    recipe = Recipe.from_toml(RECIPE)
    data = Microdata.from_frame(
        frame(), quasi_identifiers=["age"], kinds={"school": "ordinal"}, orders={"school": ["all", "none", "some"]}
    )
    with pytest.raises(
        SDCError, match=r"step 2 of the recipe protects column 'school', whose categories are in another order"
    ):
        protect(data, recipe=recipe)
    with pytest.raises(SDCError, match=r"protects column 'school' as ordinal, and in this table it is nominal"):
        protect(frame(), quasi_identifiers=["age"], recipe=recipe)
    strange = frame().assign(school=["other", *frame()["school"][1:]])
    data = Microdata.from_frame(
        strange, kinds={"school": "ordinal"}, orders={"school": ["none", "other", "some", "all"]}
    )
    with pytest.raises(SDCError, match=r"1 category that the recipe's order does not have"):
        protect(data, recipe=recipe)
    with pytest.raises(SDCError, match=r"protects column 'town', which is said to be sensitive"):
        protect(
            Microdata.from_frame(frame(), quasi_identifiers=["age"], sensitive=["town"]),
            recipe=Recipe((RecipeStep(("town",), "pram", {"stay": 0.5}),)),
        )
    with pytest.raises(SDCError, match=r"max_suppression cannot be used with a recipe"):
        protect(
            frame(),
            quasi_identifiers=["age"],
            recipe=Recipe((RecipeStep(("age",), "mdav", {"k": 3}),)),
            max_suppression=3,
        )


def test_a_recipe_that_changes_nothing_is_refused_unless_it_promises() -> None:
    data = Microdata.from_frame(pd.DataFrame({"age": [1, 1, 2, 2], "x": 1}), quasi_identifiers=["age"])
    noop = Recipe((RecipeStep(("age",), "rank-swap", {"percent": 1}),))
    with pytest.raises(SDCError, match="changed no cell"):
        protect(data, recipe=noop, seed=1)
    assert protect(data, recipe=Recipe((RecipeStep(("age",), "mdav", {"k": 2}),))).guarantees[-1].found == 2


def test_a_recipe_made_for_a_table_comes_back_from_its_file() -> None:
    data = Microdata.from_frame(
        frame(),
        quasi_identifiers=["age", "school", "town"],
        kinds={"school": "ordinal"},
        orders={"school": ["none", "some", "all"]},
    )
    made = Recipe.made_for(data, [RecipeStep(("age", "school"), "mdav", {"k": 3})], data.quasi_identifiers)
    assert made.unchanged == ("town",)
    assert made.orders == {"school": ["none", "some", "all"]}
    assert Recipe.from_toml(made.to_toml()) == made


def search(folder: Path, *more: str) -> Result:
    words = [
        "--search",
        "recipes:mdav,rank-swap,recode-rare,pram",
        "--seconds",
        "0.5",
        "--out",
        str(folder / "out.csv"),
    ]
    words += ["--columns", "age,wage,school,town", "--sensitive", "ill", *more]
    return CliRunner().invoke(cli, ["protect", str(folder / "in.csv"), *words])


def test_a_search_writes_the_knee_and_the_recipes_of_three(folder: Path) -> None:
    result = search(folder, "--seed", "5")
    assert result.exit_code == 0, (result.output, result.exception)
    said = " ".join(result.stdout.split())
    assert "recipes were measured" in said
    assert "knee, written to out.csv:" in said
    assert "% of the information; risk" in said
    assert "records are re-identified" in said
    knee = Recipe.from_file(folder / "out.csv.recipe.toml")
    certificate = json.loads((folder / "out.csv.certificate.json").read_text())
    assert [step["columns"] for step in certificate["recipe"]] == [list(step.columns) for step in knee.steps]
    assert {step["method"] for step in certificate["recipe"]} <= {"mdav", "rank-swap", "recode-rare", "pram"}
    others = [path for path in folder.glob("out.csv.*.recipe.toml") if path.name != "out.csv.recipe.toml"]
    assert others
    for other in others:
        words = ["--recipe", str(other), "--out", str(folder / f"{other.name}.csv"), "--sensitive", "ill"]
        applied_too = CliRunner().invoke(cli, ["protect", str(folder / "in.csv"), *words])
        assert applied_too.exit_code == 0, (applied_too.output, applied_too.exception)


def test_a_search_meets_what_is_asked_and_says_it_as_json(folder: Path) -> None:
    result = search(folder, "--k", "3", "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    payload = json.loads(result.stdout)
    choices = {choice["name"]: choice for choice in payload["search"]["choices"]}
    assert all(choice["figures"]["k"] >= 3 for choice in choices.values())
    counted = [g for g in payload["guarantees_checked_in_the_file"] if g["name"] == "k" and len(g["columns"]) == 4]
    assert counted[-1]["found"] == choices["knee"]["figures"]["k"], "the file is the one that was measured"
    for choice in choices.values():
        assert (folder / choice["file"]).is_file()


def test_the_file_of_a_search_is_the_one_that_was_measured(folder: Path) -> None:
    from sdc_problems.studies.commands.files.protect._recipe_options import searched

    data = Microdata.from_csv(folder / "in.csv", quasi_identifiers=["age", "wage", "town"], sensitive=["ill"])
    found = searched(data, ["rank-swap", "pram"], hierarchies={}, k=None, max_risk=None, seconds=0.5, seed=77)
    problem, x = found.front.problem, found.front.X[found.front.knee]
    assert found.seed == 77
    protected = protect(data, recipe=found.recipe, seed=found.seed, keep=[]).frame
    names = list(data.quasi_identifiers)
    pd.testing.assert_frame_equal(protected[names], problem.release(x)[names])


def test_an_interrupted_search_keeps_the_best_so_far(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sdc_problems.studies.commands.files.protect import _recipe_options

    def stop(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_recipe_options, "tell", stop)
    result = search(folder, "--seconds", "3600")
    assert result.exit_code == 0, (result.output, result.exception)
    assert "the search was interrupted" in " ".join(result.stdout.split())
    assert (folder / "out.csv.recipe.toml").is_file()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--method", "mdav"), "--method cannot be used with --search"),
        (("--l", "2"), "--l cannot be used with --search"),
        (("--recipe", "recipe.toml"), "--recipe cannot be used with --search"),
        (("--search", "recipes:mdva"), "there is no method 'mdva'; did you mean 'mdav'"),
        (("--search", "recipes:lattice"), "method 'lattice' cannot be part of a recipe: it is a search"),
        (("--k", "41"), "k = 41 is more than the 40 records of the table"),
    ],
)
def test_a_search_that_cannot_be_is_refused_before_it_begins(folder: Path, more: tuple[str, ...], words: str) -> None:
    monkey = [str(folder / word) if word == "recipe.toml" else word for word in more]
    text = refusal(search(folder, *monkey), folder)
    assert pd.Series([text]).str.contains(words, regex=True).all(), text
    assert not list(folder.glob("out*"))


def test_more_records_than_recipes_are_for_are_refused_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdc_problems.algorithms.recipes.MOST_RECORDS", 39)
    text = refusal(search(folder), folder)
    assert "a search for recipes is for up to 39 records, and the table has 40: search on a part of it" in text
    real = registry.find
    fewer = {name: replace(real(name), most_records=39) for name in ("mdav", "pram")}
    monkeypatch.setattr("sdc_problems.methods._recipe_method.find", lambda name: fewer.get(name, real(name)))
    assert "is for up to 39 records at once, and these are 40" in refusal(applied(folder), folder)


def test_recipes_that_are_there_are_not_replaced(folder: Path) -> None:
    (folder / "out.csv.safer.recipe.toml").write_text("mine")
    assert "out.csv.safer.recipe.toml' already exists" in refusal(search(folder), folder)
    assert search(folder, "--overwrite").exit_code == 0


def test_a_search_for_something_else_is_refused(folder: Path) -> None:
    for what in ("lattice", "recipes:", "recipe"):
        result = search(folder, "--search", what)
        assert result.exit_code == 2
        assert "neither 'recipes' nor a list of methods" in " ".join(result.output.split())

"""RecipeProblem: the contracts, what it offers, and that a recipe does what it was measured to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import Hierarchy, Microdata, RecipeProblem, SDCError
from sdc_problems.evaluators import dr_mixed, il_mixed, k_anonymity
from sdc_problems.methods import Recipe, RecipeStep, available
from sdc_problems.methods._apply import points
from sdc_problems.testing import OperatorContract, ProblemContract

NAMES = ["age", "pay", "town", "sex"]


def table(n: int = 80, seed: int = 0) -> Microdata:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "pay": rng.lognormal(3, 1, n).round(1),
            "town": rng.choice(["Olot", "Reus", "Vic", "Valls", "Salt"], n),
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(["a", "b"], n),
        }
    )
    return Microdata.from_frame(frame, quasi_identifiers=NAMES, sensitive=["job"])


def hierarchies() -> dict[str, Hierarchy]:
    towns = ["Olot", "Reus", "Vic", "Valls", "Salt"]
    return {"age": Hierarchy.intervals(range(18, 90), [10, 30]), "town": Hierarchy.suppression(towns)}


class TestRecipe(ProblemContract):
    def make(self) -> RecipeProblem:
        return RecipeProblem(table(60), methods=["mdav", "rank-swap", "pram", "recode-intervals"], threads=1)

    def check_release(self, problem: Any, x: np.ndarray, released: pd.DataFrame) -> None:
        super().check_release(problem, x, released)
        for name in NAMES:
            if not any(name in step.columns for step in problem.decode(x).steps):
                assert (released[name] == problem.data.frame()[name]).all()


class TestRecipeWithHierarchies(TestRecipe):
    alike = "a method may find the same regions for another k"

    def make(self) -> RecipeProblem:
        methods = ["mondrian", "recode-level", "suppress-cells"]
        return RecipeProblem(table(60), methods=methods, hierarchies=hierarchies(), objectives=("il_mixed", "k"))


class TestOperators(OperatorContract):
    def make(self) -> RecipeProblem:
        return RecipeProblem(table(), hierarchies=hierarchies())


def test_every_method_with_steps_is_offered_where_its_kinds_fit() -> None:
    problem = RecipeProblem(table(), hierarchies=hierarchies())
    with_steps = {method.name for method in available().values() if method.steps}
    assert {offer.name for offer in problem.offers[1:]} == with_steps
    fits = {offer.name: problem.space.steps[:, m] for m, offer in enumerate(problem.offers)}
    assert fits["rank-swap"].tolist() == [9, 9, 0, 0]
    assert fits["pram"].tolist() == [0, 0, 16, 16]
    assert fits["recode-level"].tolist() == [3, 0, 1, 0]  # as many as the hierarchies have
    assert fits["recode-rare"].tolist() == [0, 0, 3, 0]  # one category stays at least
    assert (fits["mdav"] == 10).all()  # k = 50 is more than half of 80 records


def test_measures_are_those_of_the_released_file() -> None:
    data = table()
    problem = RecipeProblem(data, methods=["mdav", "rank-swap", "pram", "add-noise"], seed=3)
    X = problem.operators()["sampling"](problem, 30, random_state=np.random.default_rng(1)).get("X")
    kinds = [data.attribute(name).kind.value for name in NAMES]
    sizes = [max(data.attribute(name).n_categories, 1) for name in NAMES]
    for x, f in zip(X, problem.evaluate(X), strict=True):
        released = Microdata.from_frame(problem.release(x).astype({"age": float}), quasi_identifiers=NAMES)
        before = points(data, NAMES)
        after = points(released, NAMES)
        for j, name in enumerate(NAMES[2:], 2):  # by the codes of the original
            labels = list(data.attribute(name).labels)
            after[:, j] = [labels.index(value) for value in released.frame()[name]]
        expected = [m(before, after, kinds=kinds, n_categories=sizes) for m in (il_mixed, dr_mixed)]
        assert f == pytest.approx(expected, abs=1e-9)


def test_k_is_that_of_the_released_cells() -> None:
    problem = RecipeProblem(table(), hierarchies=hierarchies(), objectives=("il_mixed", "dr_mixed", "k"))
    X = problem.operators()["sampling"](problem, 40, random_state=np.random.default_rng(2)).get("X")
    for x, f in zip(X, problem.evaluate(X), strict=True):
        released = problem.release(x)[NAMES].astype(str)
        codes = np.column_stack([pd.factorize(released[name])[0] for name in NAMES])
        assert problem.natural(f)[2] == k_anonymity(np.unique(codes, axis=0, return_inverse=True)[1].ravel())


def test_a_column_is_masked_alike_in_every_recipe() -> None:
    problem = RecipeProblem(table())
    noise, swap = (
        RecipeStep(("pay",), "add-noise", {"amplitude": 0.2}),
        RecipeStep(("age",), "rank-swap", {"percent": 5}),
    )
    alone, both = problem.release(problem.encode([noise])), problem.release(problem.encode([swap, noise]))
    assert (alone["pay"] == both["pay"]).all()
    assert (problem.release(problem.encode([noise]), seed=7)["pay"] != alone["pay"]).any()


def test_fresh_draws_spread_and_methods_that_draw_nothing_do_not() -> None:
    problem = RecipeProblem(table())
    drawn = problem.assess(problem.encode([RecipeStep(("pay",), "add-noise", {"amplitude": 0.5})]), seeds=4)
    assert drawn["il_mixed"].least < drawn["il_mixed"].mean < drawn["il_mixed"].most
    fixed = problem.assess(problem.encode([RecipeStep(("pay", "age"), "mdav", {"k": 5})]), seeds=[1, 2])
    assert fixed["il_mixed"].sd == 0


def test_a_sample_is_attacked_in_the_search_and_everybody_in_the_figures() -> None:
    problem = RecipeProblem(table(), attacked=20, seed=5)
    x = problem.encode([RecipeStep(("pay", "age"), "mdav", {"k": 5})])
    whole = RecipeProblem(table())
    assert problem.figures(x) == whole.figures(x)
    assert problem.evaluate(x)[1] != whole.evaluate(x)[1]
    assert problem.evaluate(x)[1] == RecipeProblem(table(), attacked=20, seed=5).evaluate(x)[1]


def test_a_search_is_no_worse_than_the_sweeps_it_starts_from() -> None:
    problem = RecipeProblem(table(), threads=1)
    sweeps = np.array(list(problem.baselines().values()))
    algorithm = NSGA2(pop_size=60, **{**problem.operators(), "sampling": sweeps})
    found = minimize(problem, algorithm, ("n_gen", 8), seed=1)
    for f in problem.evaluate(sweeps):
        assert (found.F <= f + 1e-9).all(axis=1).any()


def test_baselines_are_sweeps_of_one_method() -> None:
    problem = RecipeProblem(table())
    found = problem.baselines()
    assert found["as it is"].tolist() == problem.encode([]).tolist()
    assert str(problem.decode(found["mdav k 5"])) == "age, pay, town, sex: mdav (k=5)"
    assert str(problem.decode(found["rank-swap percent 5"])) == "age: rank-swap (percent=5)\npay: rank-swap (percent=5)"
    assert all(len({step.method for step in problem.decode(x).steps}) <= 1 for x in found.values())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"methods": ["mdva"]}, "did you mean 'mdav'"),
        ({"methods": ["memetic"]}, "cannot be part of a recipe"),
        ({"methods": ["recode-level"]}, "fits none of the columns"),
        ({"methods": "mdav"}, r"write methods=\['mdav'\]"),
        ({"attacked": 0}, "attacked"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(options: dict[str, Any], words: str) -> None:
    with pytest.raises(SDCError, match=words):
        RecipeProblem(table(), **options)


def test_settings_that_are_not_tried_are_named() -> None:
    problem = RecipeProblem(table())
    with pytest.raises(SDCError, match="these settings are not among those that are tried: k=2"):
        problem.encode([RecipeStep(("age",), "mdav", {"k": 6})])
    with pytest.raises(SDCError, match="does not fit column 'town'"):
        problem.encode([RecipeStep(("town",), "rank-swap", {"percent": 5})])
    with pytest.raises(SDCError, match="so does step 1"):
        problem.encode(Recipe((RecipeStep(("age",), "mdav", {"k": 3}), RecipeStep(("age",), "mdav", {"k": 3}))))


def test_a_required_k_is_a_constraint() -> None:
    problem = RecipeProblem(table(), methods=["mondrian", "mdav"], require={"k": 4})
    algorithm = NSGA2(pop_size=20, **problem.operators())
    found = minimize(problem, algorithm, ("n_gen", 8), seed=1)
    assert len(found.X)
    assert all(problem.figures(x)["k"] >= 4 for x in found.X)

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Microdata, PRAMEquationProblem, PRAMProblem, SDCError, load
from sdc_problems.evaluators.disclosure_risk import dr_categorical
from sdc_problems.evaluators.information_loss.categorical import il_categorical
from sdc_problems.methods import frequency_matrix, max_entropy_matrix

ATTRIBUTES = ["education", "marital_status"]


@pytest.fixture(scope="module")
def people() -> Microdata:
    return load("people").data


def small(**options: Any) -> Microdata:
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(list("smlsmmss"), categories=list("sml"), ordered=True),
            "colour": list("rgbrrgrr"),
            "tag": ["x", None, "y", "x", "x", "y", None, "x"],
            "wage": [1.5, 2.0, 3.5, 1.0, 2.5, 4.0, 0.5, 9.0],
            "one": ["same"] * 8,
            "flag": [True, False] * 4,
        },
        index=list("abcdefgh"),
    )
    return Microdata.from_frame(frame, missing="category", **options)


@pytest.mark.filterwarnings("ignore::sdc_problems.evaluators.linkage.ConvergenceWarning")
def test_f_is_the_measures_of_the_files_that_are_drawn(people: Microdata) -> None:
    """Sampled F, worked out again with the release's own draw and the plain functions."""
    problem = PRAMProblem(people, columns=ATTRIBUTES, replicates=2)
    x = problem.baselines()["frequency-based, p = 0.8"]
    kinds = ["ordinal", "nominal"]
    sizes = [people.attribute(name).n_categories for name in ATTRIBUTES]
    original = people.codes(ATTRIBUTES)
    files = problem.engine.draw(problem.matrices(x)).protected
    il = np.mean([il_categorical(original, file, kinds=kinds, n_categories=sizes) for file in files])
    dr = np.mean([dr_categorical(original, file, kinds=kinds, n_categories=sizes) for file in files])
    np.testing.assert_allclose(problem.evaluate(x), [il, dr], atol=1e-9)


def test_encode_and_decode_are_inverse_up_to_thousandths(people: Microdata) -> None:
    problem = PRAMProblem(people, columns=ATTRIBUTES)
    given = {
        name: pd.DataFrame(frequency_matrix(t, 0.4)) for name, t in zip(ATTRIBUTES, problem.frequencies, strict=True)
    }
    x = problem.encode(given)
    assert x.dtype == np.int16
    for name, table in problem.decode(x).items():
        np.testing.assert_allclose(table.to_numpy().sum(axis=1), 1.0)
        np.testing.assert_allclose(table.to_numpy(), given[name].to_numpy(), atol=0.006)
        assert list(table.index) == people.attribute(name).labels
        assert list(table.columns) == list(table.index)


def test_a_row_of_zeros_keeps_its_category_and_small_probabilities_do_not_vanish() -> None:
    problem = PRAMProblem(small(), columns=["size"])
    np.testing.assert_array_equal(problem.decode(np.zeros(9))["size"], np.eye(3))
    wide = pd.DataFrame({"code": [f"{i:04d}" for i in range(2100)]})
    many = PRAMProblem(Microdata.from_frame(wide), columns=["code"], evaluation="expected", objectives=("dbil",))
    (P,) = many.matrices(many.encode({"code": max_entropy_matrix(2100, 1 / 2100)}))
    np.testing.assert_allclose(P, 1 / 2100)


def test_release_draws_every_cell_by_its_row_and_keeps_types() -> None:
    data = small(identifiers=["one"])
    problem = PRAMProblem(data, columns=["size", "colour", "tag", "flag"])
    move = {name: np.roll(np.eye(n), 1, axis=1) for name, n in zip(problem.attributes, problem.sizes, strict=True)}
    released = problem.release(problem.encode(move), seed=3)
    original = data.frame()
    for name in problem.attributes:
        assert released[name].dtype == original[name].dtype
    assert released["size"].tolist() == list("mlsmllmm")
    assert released["colour"].tolist() == list("brgbbrbb")
    assert released["flag"].tolist() == [False, True] * 4
    assert released["tag"].isna().sum() == original["tag"].value_counts()["y"], (
        "the missing category is one like others"
    )
    assert (released["one"] == "*").all(), "identifiers are not published"
    assert released["wage"].tolist() == original["wage"].tolist()


def test_release_follows_the_seed(people: Microdata) -> None:
    problem = PRAMProblem(people, columns=ATTRIBUTES)
    x = problem.baselines()["uniform"]
    assert problem.release(x, seed=1).equals(problem.release(x, seed=1))
    assert not problem.release(x, seed=1).equals(problem.release(x, seed=2))
    assert not problem.release(x).equals(problem.release(x)), "fresh entropy without a seed"


def test_expected_and_sampled_agree(people: Microdata) -> None:
    x = PRAMProblem(people, columns=ATTRIBUTES).baselines()["maximum entropy, 0.6"]
    expected = PRAMProblem(people, columns=ATTRIBUTES, evaluation="expected").evaluate(x)
    sampled = PRAMProblem(people, columns=ATTRIBUTES).assess(x, ["il_categorical", "dr_categorical"], files=60)
    np.testing.assert_allclose(expected, list(sampled.values()), atol=0.5)


def test_assessment_uses_other_files(people: Microdata) -> None:
    problem = PRAMProblem(people, columns=ATTRIBUTES, objectives=("score_mean",))
    x = problem.baselines()["uniform"]
    one, again = (problem.assess(x, ["score_mean"], files=5)["score_mean"] for _ in range(2))
    assert one == again
    assert one != problem.evaluate(x)[0]
    with pytest.raises(SDCError, match="choose another"):
        problem.assess(x, ["il_categorical"], seed=0)


def test_invariance_with_a_band_stays_in_the_band() -> None:
    problem = PRAMProblem(small(), columns=["size"], invariant=True, band=2)
    rng = np.random.default_rng(1)
    for x in rng.integers(0, problem.xu.astype(int) + 1, size=(20, 9)):
        (P,) = problem.matrices(x)
        t = problem.frequencies[0]
        np.testing.assert_allclose(t @ P, t)
    banded = PRAMProblem(load("people").data, columns=["education"], invariant=True, band={"education": 4})
    (P,) = banded.matrices(banded.baselines()["uniform"])
    assert (P[np.abs(np.subtract.outer(range(16), range(16))) > 4] == 0).all()


def test_description_says_what_happens(people: Microdata) -> None:
    problem = PRAMProblem(people, columns=["education", "sex"], invariant=True, evaluation="expected")
    words = problem.describe(problem.baselines()["frequency-based, p = 0.8"])
    assert words[0].startswith("education: a value is kept with probability")
    assert words[1].startswith("sex: a value is kept with probability")
    assert any("every category keeps its frequency" in line for line in words)
    assert "information loss" in words[-1]
    assert "expected" in words[-1]
    swap = PRAMProblem(people, columns=["sex"])
    assert any("undo" in line for line in swap.describe(swap.encode({"sex": [[0, 1], [1, 0]]})))
    kept = swap.describe(swap.baselines()["identity"])
    assert kept[0] == "sex: a value is kept with probability 1.00."


def test_equations_are_read_and_make_every_matrix(people: Microdata) -> None:
    problem = PRAMEquationProblem(people, columns=ATTRIBUTES, depth=3)
    x = problem.encode("N freq_i freq_j + -")
    assert problem.equation(x) == "N - (freq_i + freq_j)"
    assert "N - (freq_i + freq_j)" in problem.describe(x)[0]
    for P, t in zip(problem.matrices(x), problem.frequencies, strict=True):
        weights = np.maximum(t.sum() - t[:, None] - t[None, :], 0)  # a negative weight counts as 0
        np.testing.assert_allclose(P, weights / weights.sum(axis=1, keepdims=True))
    with pytest.raises(SDCError, match="depth = 3"):
        problem.encode("N N N N + + +")


def test_equations_keep_to_the_limits(people: Microdata) -> None:
    problem = PRAMEquationProblem(people, columns=["education"], diagonal=(0.6, 0.7), band=3)
    for x in problem.baselines().values():
        (P,) = problem.matrices(x)
        assert (np.abs(np.diag(P) - 0.65) <= 0.05 + 1e-12).all()
        assert (P[np.abs(np.subtract.outer(range(16), range(16))) > 3] == 0).all()


def test_a_pickle_is_the_parameters(people: Microdata) -> None:
    problem = PRAMProblem(people, columns=ATTRIBUTES, band={"education": 5}, diagonal=(0.5, 0.9))
    x = problem.baselines()["uniform"]
    again = pickle.loads(pickle.dumps(problem))
    np.testing.assert_array_equal(again.evaluate(x), problem.evaluate(x))
    np.testing.assert_array_equal(again.xu, problem.xu)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["wage"]}, "'wage' is numeric"),
        ({"columns": ["one"]}, "'one' = 1: an attribute with one category"),
        ({"columns": ["colur"]}, "did you mean 'colour'"),
        ({"columns": "colour"}, r"write columns=\['colour'\]"),
        ({"columns": []}, "empty"),
        ({"columns": ["size", "size"]}, "twice"),
        ({"objectives": ("ill",)}, "unknown objective 'ill'"),
        ({"objectives": ("bivariate",)}, "give against="),
        ({"objectives": ("bivariate",), "against": "size"}, "must stay as it is"),
        ({"objectives": ("bivariate",), "against": "wage"}, "'wage' is numeric"),
        ({"evaluation": "exact"}, "'sampled', 'expected'"),
        ({"replicates": 0}, "replicates"),
        ({"seed": -1}, "seed"),
        ({"diagonal": (0.9, 0.1)}, "cannot be met"),
        ({"diagonal": (0.2, 1.1)}, "high must be in"),
        ({"diagonal": 0.5}, "pair"),
        ({"diagonal": (0.1, 0.3), "invariant": True}, "cannot be met by an invariant matrix"),
        ({"band": 0}, "no category could move"),
        ({"band": 1, "invariant": True}, "moves twice"),
        ({"band": {"colour": 1}, "columns": ["size", "colour"]}, "'colour' is nominal"),
        ({"band": {"tag": 1}}, "not among the attributes"),
        ({"invariant": "yes"}, "invariant must be True or False"),
    ],
)
def test_bad_parameters_are_refused(options: dict[str, Any], message: str) -> None:
    given = {"columns": ["size"], **options}
    for problem in (PRAMProblem, PRAMEquationProblem):
        with pytest.raises(SDCError, match=message):
            problem(small(), **given)


def test_too_many_categories_are_refused() -> None:
    frame = pd.DataFrame({"id": [f"p{i}" for i in range(4097)]})
    with pytest.raises(SDCError, match="limit of 4096"):
        PRAMProblem(Microdata.from_frame(frame), columns=["id"])


def test_matrices_that_are_none_are_refused() -> None:
    problem = PRAMProblem(small(), columns=["size"])
    for matrix, message in (
        ([[0.5, 0.4, 0], [0, 1, 0], [0, 0, 1]], "row 0 of the matrix of 'size'"),
        ([[1.5, -0.5, 0], [0, 1, 0], [0, 0, 1]], "negative"),
        (np.eye(2), "3 categories"),
    ):
        with pytest.raises(SDCError, match=message):
            problem.encode({"size": matrix})
    with pytest.raises(SDCError, match="a matrix for each of"):
        problem.encode({"colour": np.eye(3)})

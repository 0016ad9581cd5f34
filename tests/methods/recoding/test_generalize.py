"""Generalization of named columns, and the optimum of the lattice."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Hierarchy, Microdata, PBGProblem, SDCError, load
from sdc_problems.algorithms.generalization.lattice_optimum import lattice_optimum
from sdc_problems.methods import generalize


@pytest.fixture
def data() -> Microdata:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"age": rng.integers(20, 40, 60), "sex": rng.choice(["f", "m"], 60)})
    return Microdata.from_frame(frame, quasi_identifiers=["age", "sex"])


HIERARCHIES = {"age": Hierarchy.intervals(range(20, 40), [5, 10]), "sex": Hierarchy.suppression(["f", "m"])}


def test_labels_are_those_of_the_level(data: Microdata) -> None:
    done = generalize(data, HIERARCHIES, levels={"age": 1, "sex": 0})
    ages = data.frame()["age"]
    low = ages // 5 * 5
    assert done.columns["age"].tolist() == [f"{a}-{a + 4}" for a in low]
    assert list(done.columns) == ["age"]
    assert done.sentences == ("age in bands of 5 years.", "sex is unchanged.")
    assert done.suppressed is None


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({}, "levels must give"),
        ({"ag": 1}, "did you mean 'age'"),
        ({"age": 9}, "levels 0 to 3"),
        ({"age": 1.5}, "the level of 'age' must be a whole number"),
    ],
)
def test_bad_levels(data: Microdata, levels: dict, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        generalize(data, HIERARCHIES, levels=levels)


def test_a_column_without_hierarchy(data: Microdata) -> None:
    with pytest.raises(SDCError, match="'sex' has no hierarchy"):
        generalize(data, {"age": HIERARCHIES["age"]}, levels={"sex": 1})


@pytest.mark.parametrize(("k", "most"), [(2, 0), (3, 2), (5, 5)])
def test_the_optimum_is_the_best_of_all_nodes(data: Microdata, k: int, most: int) -> None:
    done = lattice_optimum(data, HIERARCHIES, k, max_suppression=most)
    problem = PBGProblem(data, HIERARCHIES, objectives=("k", "glm"), max_suppression=most)
    nodes = np.array(list(itertools.product(range(4), range(2), range(1, most + 2))))
    values = problem.natural(problem.evaluate(nodes))
    best = nodes[np.flatnonzero(values[:, 0] >= k)[values[values[:, 0] >= k, 1].argmin()]]
    expected = problem.release(best, suppressed="star")
    frame = data.frame()
    for name, cells in done.columns.items():
        frame[name] = cells
    assert done.suppressed is not None
    frame.loc[done.suppressed, ["age", "sex"]] = "*"
    pd.testing.assert_frame_equal(frame.astype(object), expected.astype(object), check_dtype=False)
    assert done.suppressed.sum() <= most
    assert frame[~done.suppressed].groupby(["age", "sex"]).size().min() >= k


def test_a_k_that_no_node_has() -> None:
    people = load("people")
    data = people.data.with_roles(quasi_identifiers=["sex"])
    flat = Hierarchy.from_levels([["female", "f"], ["male", "m"]])
    assert lattice_optimum(data, {"sex": flat}, 2, max_suppression=0).columns == {}
    with pytest.raises(SDCError, match=r"no generalization has k = .* the largest k is"):
        lattice_optimum(data, {"sex": flat}, len(data), max_suppression=0)

"""PreclusterProblem: the contract of every problem, its guarantee, and what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import Microdata, PreclusterProblem, SDCError
from sdc_problems.problems.precluster import CLUSTERS, MERGE
from sdc_problems.testing import ProblemContract

DEGREES = ["none", "school", "college", "doctor"]
RENTS = ["low", "mid", "high"]


def people(n: int = 60) -> Microdata:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({
        "degree": pd.Categorical(rng.choice(DEGREES, n), DEGREES, ordered=True),
        "rent": pd.Categorical(rng.choice(RENTS, n), RENTS, ordered=True),
        "job": rng.choice(list("abcde"), n),
        "flu": rng.choice(["yes", "no"], n),
        "name": [f"person {i}" for i in range(n)],
        "wage": rng.integers(10, 30, n),
    })  # fmt: skip
    return Microdata.from_frame(
        frame, quasi_identifiers=["degree", "rent", "job", "wage"], sensitive=["flu"], identifiers=["name"]
    )


class Released(ProblemContract):
    alike = "other settings may find the same groups"

    def check_release(self, problem: Any, x: np.ndarray, released: pd.DataFrame) -> None:
        super().check_release(problem, x, released)
        names = list(problem.attributes)
        assert released.groupby(names, observed=True).size().min() >= problem.decode(x).k
        rest = [name for name in released.columns if name not in names and name not in problem.data.identifiers]
        before = problem.data.frame()
        pd.testing.assert_frame_equal(released[rest], before[rest])
        assert list(released.dtypes[names]) == list(before.dtypes[names])


class TestOrdinal(Released):
    def make(self) -> PreclusterProblem:
        return PreclusterProblem(people(), columns=["degree", "rent"], k_max=20, clusters_max=8, restarts="all")


class TestNominal(Released):
    def make(self) -> PreclusterProblem:
        return PreclusterProblem(
            people(), columns=["degree", "job"], k_max=12, clusters_max=5, objectives=("clustering_loss", "dbrl", "k"),
            restarts=3, seed=5,
        )  # fmt: skip


def test_the_global_median_is_not_offered_for_nominal_columns() -> None:
    assert TestOrdinal().make().xu[0] == 1
    assert TestNominal().make().xu[0] == 0


def test_bounds_follow_the_data() -> None:
    problem = PreclusterProblem(people(), columns=["rent"], k_max=500)
    assert problem.xu.tolist() == [1, 1, 60, 3]
    assert PreclusterProblem(people(), columns=["rent"], clusters_max=1).xu.tolist() == [1, 0, 50, 1]


def test_with_one_cluster_there_is_nothing_to_join() -> None:
    problem = TestOrdinal().make()
    front = problem.enumerate_front(ties=True)
    assert front.n_candidates == problem.operators()["eliminate_duplicates"].n_genomes
    alone = front.X[front.X[:, CLUSTERS] == 1]
    assert (alone[:, MERGE] == 0).all()


def test_a_search_finds_the_exact_front() -> None:
    problem = TestOrdinal().make()
    found = minimize(problem, NSGA2(pop_size=100, **problem.operators()), ("n_gen", 30), seed=1)
    exact = problem.enumerate_front().F
    assert np.unique(found.F, axis=0).tolist() == exact.tolist()


def test_what_it_says_of_a_solution() -> None:
    problem = TestOrdinal().make()
    x = np.array([1, 1, 8, 8])
    assert str(problem.decode(x)) == "global_median, k = 8, in 8 clusters (small ones joined: nearest)"
    assert str(problem.decode([0, 0, 8, 1])) == "mdav, k = 8, without clusters"
    text = " ".join(problem.describe(x))
    figures = problem.figures(x)
    assert f"form {int(figures['clusters'])} clusters" in text
    assert f"after {int(figures['clusters_found'])} of" in text
    assert f"has {int(figures['k'])}." in text
    assert "Quasi-identifiers that stay as they are: job, wage." in text
    assert figures["clustering_loss_least"] <= figures["clustering_loss"] <= figures["clustering_loss_most"]


def test_arguments_that_mean_nothing_are_refused() -> None:
    with pytest.raises(SDCError, match="column 'wage' is numeric"):
        PreclusterProblem(people())
    with pytest.raises(SDCError, match="k_max"):
        PreclusterProblem(people(), columns=["rent"], k_max=1)
    with pytest.raises(SDCError, match="restarts"):
        PreclusterProblem(people(), columns=["rent"], restarts="some")  # type: ignore[arg-type]
    with pytest.raises(SDCError, match="guard must be True or False"):
        PreclusterProblem(people(), columns=["rent"], guard="no")  # type: ignore[arg-type]

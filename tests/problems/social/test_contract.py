"""SocialGraphProblem keeps the contract of every problem."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from sdc_problems import Hierarchy, SocialGraph, SocialGraphProblem
from sdc_problems.testing import ProblemContract

TOWNS = Hierarchy.from_levels(
    {"Olot": ["Girona", "*"], "Vic": ["Girona", "*"], "Reus": ["Tarragona", "*"], "Girona": ["Girona", "*"]}
)

SCHOOLS = ["none", "school", "college"]


def people(n: int = 30, seed: int = 0, *, directed: bool = False) -> SocialGraph:
    rng = np.random.default_rng(seed)
    topics = np.array([rng.permutation(["art", "film", "law", "math", "war"])[:3] for _ in range(n)])
    frame = pd.DataFrame({
        "id": [f"p{i}" for i in range(n)],
        "sex": rng.choice(["f", "m"], n),
        "town": rng.choice(TOWNS.values, n),
        "first": topics[:, 0],
        "second": topics[:, 1],
        "third": np.where(rng.random(n) < 0.2, None, topics[:, 2]),
        "age": rng.integers(20, 60, n),
        "school": pd.Categorical(rng.choice(SCHOOLS, n), SCHOOLS, ordered=True),
        "flu": rng.choice(["yes", "no"], n),
        "club": rng.choice(["red", "blue"], n),
    })  # fmt: skip
    pairs = [(a, b) for a in range(n) for b in range(n) if (a != b if directed else a < b) and rng.random() < 0.15]
    links = pd.DataFrame([(f"p{a}", f"p{b}") for a, b in pairs], columns=["source", "target"])
    return SocialGraph.from_frames(
        frame,
        links,
        directed=directed,
        quasi_identifiers=["sex", "town", "first", "second", "third", "age", "school"],
        sensitive=["flu"],
    )


OPTIONS: dict[str, Any] = {"hierarchies": {"town": TOWNS}, "ranked": [("first", "second", "third")]}


class TestSocialGraph(ProblemContract):
    def make(self) -> SocialGraphProblem:
        return SocialGraphProblem(people(), 3, **OPTIONS)

    def check_release(self, problem: Any, x: np.ndarray, released: pd.DataFrame) -> None:
        super().check_release(problem, x, released)
        names = list(problem.attributes)
        assert released.groupby(names, dropna=False, observed=True).size().min() >= problem.k
        for name in ("flu", "club"):
            pd.testing.assert_series_equal(released[name], problem.data.frame()[name])


class TestManyObjectives(TestSocialGraph):
    def make(self) -> SocialGraphProblem:
        return SocialGraphProblem(people(directed=True), 2, objectives=("il_graph", "nsil", "ego_risk"), **OPTIONS)


class TestFreeSizes(TestSocialGraph):
    def make(self) -> SocialGraphProblem:
        return SocialGraphProblem(people(), 2, objectives=("aamil", "k", "l", "homophily"), k_max=6, **OPTIONS)


class TestOneObjective(TestSocialGraph):
    def make(self) -> SocialGraphProblem:
        return SocialGraphProblem(people(), 3, objectives=("mixing",), **OPTIONS)


class TestFewNodes(TestSocialGraph):
    def make(self) -> SocialGraphProblem:
        return SocialGraphProblem(people(8), 2, objectives=("il_graph", "dr_degree"), **OPTIONS)

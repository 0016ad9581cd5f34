"""Runs of Marés (2013), section 6.5: Algorithm 14 for each K, several draws, on graphs of the printed sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sdc_problems import datasets
from sdc_problems.evaluators import dr_categorical, il_categorical
from sdc_problems.evaluators.graph import ego_matches, structure
from sdc_problems.evaluators.graph.structure import Structure
from sdc_problems.problems.social import SocialGraphProblem

TOPICS = ("topic1", "topic2", "topic3")
LOSSES = ("il_graph", "aamil", "cdil", "dbil_graph")
SETS = {
    "location": ("place",), "topic 1": ("topic1",), "topic 2": ("topic2",), "topic 3": ("topic3",),
    "all topics": TOPICS, "all attributes": ("place", *TOPICS),
}  # fmt: skip


@dataclass(frozen=True)
class Scale:
    """Scale of the study: values of K, draws of each, and candidates of the front."""

    ks: tuple[int, ...]
    draws: int
    evaluations: int


QUICK = Scale((2, 5, 10), 2, 200)
FULL = Scale(tuple(range(2, 21)), 5, 4_000)


@dataclass(frozen=True)
class Case:
    """Graph of the printed size, with the figures that the source prints for it."""

    title: str
    nodes: int
    links: int
    diameter: int
    mean_path: float
    degree: int

    @cached_property
    def dataset(self) -> datasets.Dataset:
        """The dataset that stands in for the source's."""
        return datasets.crawl(self.nodes, self.links)

    @cached_property
    def structure(self) -> Structure:
        """Its structure."""
        assert self.dataset.edges is not None
        return structure(self.dataset.edges, self.nodes)

    def problem(self, k: int, objectives: tuple[str, ...] = LOSSES) -> SocialGraphProblem:
        """The problem for a K."""
        made = self.dataset
        return SocialGraphProblem(made.graph, k, objectives=objectives, hierarchies=made.hierarchies, ranked=[TOPICS])


CASES = (Case("first graph", 306, 342, 17, 7.597, 2), Case("second graph", 1638, 4622, 11, 4.2595, 5))


@dataclass(frozen=True)
class Measured:
    """Means over the draws, by K: each loss, the risk of each set of attributes, and loss and risk of the microdata."""

    ks: tuple[int, ...]
    losses: dict[str, NDArray[np.float64]]
    risks: dict[str, NDArray[np.float64]]
    microdata: dict[str, NDArray[np.float64]]
    errors: dict[str, float]
    """Standard error of a mean of each curve, from the variances at all K."""


def measured(case: Case, k: int, draws: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Losses, risks, and loss and risk of the extracted microdata for one K: a row per draw of Algorithm 14."""
    problem = case.problem(k)
    rows = [x for name, x in problem.baselines().items() if name.startswith("Algorithm 14")][:draws]
    losses = np.array([problem.evaluate(x) for x in rows])
    names = SETS["all attributes"]
    frame = problem.data.frame()
    edges = problem.graph.edges
    risks, tables = [], []
    for x in rows:
        released = problem.release(x)
        before, after = np.empty((2, len(frame), len(names)), dtype=np.int64)
        for j, name in enumerate(names):
            both = np.concatenate([frame[name].astype(str), released[name].astype(str)])
            codes = np.unique(both, return_inverse=True)[1]
            before[:, j], after[:, j] = codes[: len(frame)], codes[len(frame) :]
        sets = [[names.index(name) for name in chosen] for chosen in SETS.values()]
        risks.append([ego_matches(before[:, at], after[:, at], edges).risk for at in sets])
        tables.append([il_categorical(before, after), dr_categorical(before, after)])
    return losses, np.array(risks), np.array(tables)


def gathered(
    ks: tuple[int, ...], found: list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]
) -> Measured:
    """Curves of means from the figures of each K."""
    curves: list[dict[str, NDArray[np.float64]]] = []
    errors: dict[str, float] = {}
    for part, names in enumerate((LOSSES, SETS, ("il_categorical", "dr_categorical"))):
        values = np.array([row[part] for row in found])  # K × draws × curves
        draws = values.shape[1]
        curves.append(dict(zip(names, values.mean(axis=1).T, strict=True)))
        variance = values.var(axis=1, ddof=1).mean(axis=0) if draws > 1 else np.zeros(len(names))
        errors |= dict(zip(names, np.sqrt(variance / draws).tolist(), strict=True))
    losses, risks, microdata = curves
    return Measured(ks, losses, risks, microdata, errors)

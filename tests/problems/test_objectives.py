"""Sentences about objectives: each claim is derived from the objective and held against measured values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdc_problems import (
    GOMMProblem,
    Hierarchy,
    MicroaggregationProblem,
    Microdata,
    Objective,
    PBGProblem,
    PRAMProblem,
    SDCError,
)
from sdc_problems.problem import SDCProblem
from sdc_problems.problems._generalization_objectives import generalization_objectives
from sdc_problems.problems._microaggregation_objectives import grouping_objectives, partition_objectives
from sdc_problems.problems.pram._objectives import CATALOGUE

N = 60
NAMES = {
    "pbg": tuple(generalization_objectives(9, 2, 2)),
    "gomm": tuple(grouping_objectives(2)),
    "microaggregation": tuple(partition_objectives(2, 3)),
    "pram": tuple(CATALOGUE),
}
CLAIMS = ("Number of", "Percent of", "Percent by", "Sum, over", "Mean of", "Larger of", "Largest distance", "Ratio of")
EACH = [(task, name) for task, names in NAMES.items() for name in names]


@cache
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    health = rng.integers(0, 3, N)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 40, N),
            "height": rng.normal(170, 9, N).round(1),
            "wage": rng.lognormal(7, 1, N).round(),
            "rent": rng.lognormal(5, 1, N).round(),
            "town": rng.choice(["n", "o", "r", "s"], N, p=[0.4, 0.3, 0.2, 0.1]),
            "health": np.array(["poor", "fair", "good"])[health],
            "vote": np.array(["a", "b"])[(health + (rng.random(N) < 0.2)) % 2],
        }
    )


@dataclass(frozen=True)
class Case:
    """A problem with all its objectives, on a table and on the same with every record twice."""

    once: SDCProblem
    twice: SDCProblem | None
    solutions: Mapping[str, tuple[Any, Any]]
    untouched: str
    protected: str

    def values(self, solution: str, *, twice: bool = False) -> dict[str, float]:
        problem = self.twice if twice else self.once
        assert problem is not None
        x = problem.genome(self.solutions[solution][twice])
        values = problem.natural(problem.evaluate(x))
        return {o.name: float(v) for o, v in zip(problem.objectives, values, strict=True)}

    def objective(self, name: str) -> Objective:
        return next(o for o in self.once.objectives if o.name == name)


def pbg() -> Case:
    def make(frame: pd.DataFrame, limit: int) -> PBGProblem:
        data = Microdata.from_frame(frame, quasi_identifiers=["age", "town"], sensitive=["health"])
        hierarchies = {"age": Hierarchy.intervals(range(20, 40), [5, 10]), "town": Hierarchy.suppression(list("nors"))}
        return PBGProblem(data, hierarchies, objectives=NAMES["pbg"], class_label="vote", max_suppression=limit)

    nodes = {"nothing": [0, 0, 1], "bands": [1, 1, 1], "everything": [3, 1, 1]}
    frame = table()
    return Case(
        make(frame, 0), make(pd.concat([frame, frame]), 0), {k: (x, x) for k, x in nodes.items()}, "nothing",
        "everything",
    )  # fmt: skip


def gomm() -> Case:
    names = ["age", "height", "wage", "rent"]
    problem = GOMMProblem(Microdata.from_frame(table(), quasi_identifiers=names), 5, objectives=NAMES["gomm"])
    rows = {"univariate": [0, 1, 2, 3], "pairs": [0, 0, 1, 1], "one group": [0, 0, 0, 0]}
    return Case(problem, None, {k: (x, x) for k, x in rows.items()}, "univariate", "one group")


def microaggregation() -> Case:
    names = ["height", "wage", "town", "health"]

    def make(frame: pd.DataFrame, times: int) -> MicroaggregationProblem:
        data = Microdata.from_frame(frame, quasi_identifiers=names)
        return MicroaggregationProblem(data, 2 * times, objectives=NAMES["microaggregation"], k_max=20 * times)

    frame = table()
    once, twice = make(frame, 1), make(pd.concat([frame, frame]), 2)
    found = once.baselines()
    rows = {"fine": found["MDAV"], "coarse": found["MDAV, k = 10"]}
    both = {k: (x, np.concatenate([x, x])) for k, x in rows.items()}
    return Case(once, twice, both, "fine", "coarse")


def pram() -> Case:
    names = ["town", "health"]
    order = {"health": ["poor", "fair", "good"]}

    def make(frame: pd.DataFrame) -> PRAMProblem:
        data = Microdata.from_frame(frame, kinds={"health": "ordinal"}, orders=order)
        return PRAMProblem(data, columns=names, objectives=NAMES["pram"], replicates=1, against="vote")

    frame = table()
    once, twice = make(frame), make(pd.concat([frame, frame]))
    found = once.baselines()
    rows = {k: (found[k], found[k]) for k in ("identity", "maximum entropy, 0.6", "uniform")}
    return Case(once, twice, rows, "identity", "uniform")


MAKERS: dict[str, Callable[[], Case]] = {"pbg": pbg, "gomm": gomm, "microaggregation": microaggregation, "pram": pram}


@cache
def case(task: str) -> Case:
    return MAKERS[task]()


@pytest.mark.parametrize(("task", "name"), EACH)
def test_an_objective_says_what_it_is(task: str, name: str) -> None:
    objective = case(task).objective(name)
    meaning = objective.meaning
    assert meaning.startswith(CLAIMS), f"{meaning!r} begins with none of {CLAIMS}"
    assert meaning.endswith(".")
    assert objective.formula
    assert objective.source
    assert not re.search(r"\b(better|worse|best|worst|good|bad)\b", meaning), "derived from the sense"
    way = {"min": "Smaller is better.", "max": "Larger is better."}[objective.sense]
    assert objective.sentence == f"{meaning} {way}"
    percent = meaning.startswith(("Percent", "Mean of", "Larger of"))
    assert (objective.unit == "%") == percent
    assert (objective.unit == "records") == meaning.startswith("Number of records")
    if percent:
        assert objective.bounds == ((0.0, np.inf) if "can exceed 100" in meaning else (0.0, 100.0))
    if "from 0 to 1" in meaning:
        assert objective.bounds == (0.0, 1.0)


@pytest.mark.parametrize(("task", "name"), EACH)
def test_measured_values_keep_to_the_range(task: str, name: str) -> None:
    objective = case(task).objective(name)
    low, high = objective.bounds
    for solution in case(task).solutions:
        value = case(task).values(solution)[name]
        assert low <= value <= high
        if objective.meaning.startswith("Number of") and "equally frequent" not in objective.meaning:
            assert value == int(value)


@pytest.mark.parametrize(("task", "name"), [(task, name) for task, name in EACH if task != "gomm"])
def test_a_sum_grows_with_the_table_and_a_mean_does_not(task: str, name: str) -> None:
    """Every record twice doubles a sum over records, and a sum of numbers of records twice over."""
    meaning = case(task).objective(name).meaning
    for solution in case(task).solutions:
        once, twice = (case(task).values(solution, twice=is_twice)[name] for is_twice in (False, True))
        if meaning.startswith("Sum"):
            assert twice == pytest.approx((4 if "number of records" in meaning else 2) * once)
        elif meaning.startswith("Number of records"):
            assert twice == pytest.approx(2 * once)
        elif name == "expectation_ratio" and once == N:
            assert twice == 2 * N, "where nobody moves, the number of records counts"
        elif task == "pram" and name not in ("expectation_ratio", "entropy"):
            assert twice <= max(100, 1.5 * once), "files are drawn: only the order can be compared"
        else:
            assert twice == pytest.approx(once / 2 if name == "dbrl" else once, abs=1e-9), "twins share a link"


@pytest.mark.parametrize(("task", "name"), EACH)
def test_the_formula_of_a_mean_or_maximum_gives_the_measured_value(task: str, name: str) -> None:
    objective = case(task).objective(name)
    words = set(re.findall(r"[A-Za-z_]\w*", objective.formula)) - {"max"}
    composed = words <= set(NAMES[task])
    assert composed == objective.meaning.startswith(("Mean of", "Larger of"))
    for solution in case(task).solutions if composed else ():
        values = case(task).values(solution)
        assert eval(objective.formula, {"max": max}, values) == pytest.approx(values[name])  # noqa: S307 -- our own
        assert words >= set(re.findall(r"\b[a-z]+_[a-z]+\b|\bdld\b|\b[a-z]+il\b|\bprl\b", objective.meaning))


@pytest.mark.parametrize(("task", "name"), EACH)
def test_the_sense_is_that_of_a_risk_or_of_a_loss(task: str, name: str) -> None:
    """Protecting more reduces what a risk objective tells and costs what a loss objective counts."""
    tested = case(task)
    concerns = tested.objective(name).concerns
    if not concerns:
        assert name in ("n_groups", "score_mean", "score_max")
        return
    less, more = (tested.values(s)[name] for s in (tested.untouched, tested.protected))
    improved = less - more if tested.objective(name).sense == "min" else more - less
    if name == "suppressed":
        return  # nothing may be suppressed here
    assert improved <= 0 if concerns == "loss" else improved >= 0
    assert less != more or name in ("cm",)


@pytest.mark.parametrize(
    ("task", "name", "solution", "value"),
    [
        ("pbg", "glm", "nothing", 0.0),
        ("pbg", "glm", "everything", 2.0 * N),
        ("pbg", "glm_percent", "nothing", 0.0),
        ("pbg", "glm_percent", "everything", 100.0),
        ("pbg", "t", "everything", 0.0),
        ("pbg", "k", "everything", float(N)),
        ("pbg", "spread_k", "everything", float(N * N)),
        ("pbg", "suppressed", "bands", 0.0),
        ("pram", "entropy", "identity", 0.0),
        ("pram", "entropy", "uniform", 100.0),
        ("pram", "id_rank", "identity", 100.0),
        ("gomm", "dld", "one group", 0.0),
        ("gomm", "n_groups", "pairs", 2.0),
    ],
)
def test_the_ends_of_a_range_are_reached_where_the_sentence_says(
    task: str, name: str, solution: str, value: float
) -> None:
    assert case(task).values(solution)[name] == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    ("task", "former", "now"),
    [
        ("gomm", "il", "il_sse"),
        ("gomm", "id", "id_value"),
        ("gomm", "dr", "dr_linkage"),
        ("gomm", "score", "score_mean"),
        ("microaggregation", "dld", "dbrl"),
        ("microaggregation", "id", "id_value"),
        ("pram", "il", "il_categorical"),
        ("pram", "dr", "dr_categorical"),
        ("pram", "id", "id_rank"),
    ],
)
def test_a_former_name_is_told_the_new_one(task: str, former: str, now: str) -> None:
    data = case(task).once.data
    with pytest.raises(SDCError, match=f"^objective '{former}' is now called '{now}'$"):
        {
            "gomm": lambda: GOMMProblem(data, 5, objectives=(former,)),
            "microaggregation": lambda: MicroaggregationProblem(data, 3, objectives=(former,)),
            "pram": lambda: PRAMProblem(data, columns=["town"], objectives=(former,)),
        }[task]()

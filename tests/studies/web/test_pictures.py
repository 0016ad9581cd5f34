"""The pictures of tasks say what the problems say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdc_problems import load
from sdc_problems.datasets import people
from sdc_problems.problems.generalization import PBGProblem
from sdc_problems.problems.microaggregation import MicroaggregationProblem
from sdc_problems.problems.pram import PRAMEquationProblem, PRAMProblem
from sdc_problems.studies.store.tables import Solutions
from sdc_problems.studies.web.bars import LEAST
from sdc_problems.studies.web.pictures import Detail
from sdc_problems.studies.web.tasks import MOST_CATEGORIES


def described(problem: Any, x: Any) -> dict[str, Any]:
    none = np.zeros(1, dtype=np.int64)
    values = np.zeros((1, problem.n_obj))
    row = np.asarray(x, dtype=problem.dtype)[None, :]
    return Detail(problem).of(Solutions(("1-0",), none, none, values, values, np.ones(1, dtype=bool), row))


@pytest.fixture(scope="module")
def small() -> Any:
    return people(600)


@pytest.mark.parametrize("kind", [PRAMProblem, PRAMEquationProblem])
def test_transition_matrices(small: Any, kind: Any) -> None:
    problem = kind(small.data, ["workclass", "education"], replicates=1)
    x = list(problem.baselines().values())[-1]
    picture = described(problem, x)["picture"]
    assert picture["type"] == "matrices"
    assert bool(picture["equation"]) == (kind is PRAMEquationProblem)
    assert [m["attribute"] for m in picture["matrices"]] == ["workclass", "education"]
    for shown, P, counts in zip(picture["matrices"], problem.matrices(x), problem.frequencies, strict=True):
        np.testing.assert_allclose(shown["rows"], P, atol=5e-4)
        for row, chances, records in zip(shown["flows"], P, counts, strict=True):
            for flow, chance in zip(row, chances, strict=True):
                if flow is None:
                    assert 0 < round(chance * records) < LEAST
                else:
                    assert flow == round(chance * records)
                    assert flow == 0 or flow >= LEAST


def test_a_large_matrix_is_left_out(small: Any) -> None:
    problem = PRAMProblem(small.data, ["birthplace", "sex"], replicates=1)
    assert small.data.attribute("birthplace").n_categories > MOST_CATEGORIES
    picture = described(problem, problem.baselines()["identity"])["picture"]
    assert [m["attribute"] for m in picture["matrices"]] == ["sex"]


def test_cluster_sizes_and_never_their_members(small: Any) -> None:
    data = small.data.with_roles(quasi_identifiers=["age", "hours", "wage"])
    problem = MicroaggregationProblem(data, 3, objectives=("il_sse", "dbrl"), k_max=6)
    x = problem.baselines()["MDAV"]
    found = described(problem, x)
    sizes = np.bincount(problem.labels(x))
    assert found["picture"]["clusters"] == len(sizes)
    assert sum(bar["clusters"] for bar in found["picture"]["bars"]) == len(sizes)
    assert set(found["picture"]) == {"type", "clusters", "bars"}
    facts = {fact["label"]: fact["value"] for fact in found["facts"]}
    assert facts["Smallest group"] >= 3
    assert facts["Records alone"] == 0


def test_suppressed_records_are_left_out_and_the_others_still_compared(small: Any) -> None:
    problem = PBGProblem(small.data, small.hierarchies, max_suppression=0.1)
    x = np.array([h.length for h in problem.hierarchies.values()])
    x[0] = 1  # ages in bands of five: the oldest stand out
    x[5] = 0
    found = described(problem, x)
    released = problem.release(x)
    names = [a.name for a in small.data.attributes]
    after = dict(zip(names, found["after"], strict=True))
    assert after["sex"]["changed"] == 0.0
    assert after["age"]["changed"] == 100.0
    assert after["sex"]["bars"] is None  # as it was, but for the suppressed records: no count gives them away
    assert 0 < len(released) < 600
    exact = released["age"].value_counts()
    shown = dict(zip(after["age"]["bars"]["labels"], after["age"]["bars"]["counts"], strict=True))
    assert shown
    for label, count in shown.items():
        assert count % LEAST == 0
        assert abs(count - exact[label]) < LEAST


def test_bands_come_in_their_order() -> None:
    dataset = load("people")
    problem = PBGProblem(dataset.data, dataset.hierarchies)
    x = np.array([h.length for h in problem.hierarchies.values()])
    x[0] = 2
    labels = described(problem, x)["after"][0]["bars"]["labels"]
    starts = [int(label.split("-")[0]) for label in labels if label[0].isdigit()]
    assert starts == sorted(starts)
    assert len(starts) > 4

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
from sdc_problems.studies.report.small_counts import LEAST
from sdc_problems.studies.store.tables import Solutions
from sdc_problems.studies.tasks import available_tasks, find_task
from sdc_problems.studies.web.pictures import MOST_CATEGORIES, Detail


def described(problem: Any, x: Any) -> dict[str, Any]:
    none = np.zeros(1, dtype=np.int64)
    values = np.zeros((1, problem.n_obj))
    row = np.asarray(x, dtype=problem.dtype)[None, :]
    (task,) = [task for task in available_tasks().values() if task.problem_class is type(problem)]
    return Detail(task, problem).of(Solutions(("1-0",), none, none, values, values, np.ones(1, dtype=bool), row))


@pytest.fixture(scope="module")
def small() -> Any:
    return people(600)


@pytest.mark.parametrize("kind", [PRAMProblem, PRAMEquationProblem])
def test_transition_matrices(small: Any, kind: Any) -> None:
    problem = kind(small.data, columns=["workclass", "education"], replicates=1)
    x = list(problem.baselines().values())[-1]
    drawn = described(problem, x)["pictures"]
    matrices = [picture for picture in drawn if picture["type"] == "matrix"]
    assert [p["type"] for p in drawn if p not in matrices] == ["formula"] * (kind is PRAMEquationProblem)
    assert [m["name"] for m in matrices] == ["workclass", "education"]
    assert described(problem, x)["leaving"][-1] == "The records are counted in one draw; a release is another."
    for shown, P, counts in zip(matrices, problem.matrices(x), problem.frequencies, strict=True):
        np.testing.assert_allclose(shown["shares"], P, atol=5e-4)
        stays = [float(f"{p:.3f}") for p in P.diagonal()]
        said = "–".join(dict.fromkeys([f"{min(stays):.4g}", f"{max(stays):.4g}"]))
        assert shown["rows"] == [[shown["name"], f"kept with probability {said}"]]
        for row, chances, records in zip(shown["records"], P, counts, strict=True):
            for flow, chance in zip(row, chances, strict=True):
                if flow is None:
                    assert 0 < round(chance * records) < LEAST
                else:
                    assert flow == round(chance * records)
                    assert flow == 0 or flow >= LEAST


def test_probabilities_that_are_equal_are_said_once(small: Any) -> None:
    problem = PRAMProblem(small.data, columns=["workclass"], replicates=1)
    half = np.full_like(problem.matrices(list(problem.baselines().values())[-1])[0], 0.0)
    np.fill_diagonal(half, 500)
    half[:, 0] += 500 - half[:, 0]
    drawn = described(problem, problem.genome(half.astype(int).ravel()))["pictures"]
    first = float(problem.matrices(half.astype(int).ravel())[0][0, 0])
    assert drawn[0]["rows"][0][1] == "kept with probability " + ("0.5" if first == 0.5 else f"0.5–{first:.4g}")


def test_a_large_matrix_is_left_out(small: Any) -> None:
    problem = PRAMProblem(small.data, columns=["birthplace", "sex"], replicates=1)
    assert small.data.attribute("birthplace").n_categories > MOST_CATEGORIES
    x = problem.baselines()["identity"]
    assert [m["name"] for m in described(problem, x)["pictures"]] == ["sex"]
    assert len(find_task("pram").pictures(problem, x)) == 2, "a PNG has room for it"


def test_cluster_sizes_and_never_their_members(small: Any) -> None:
    data = small.data.with_roles(quasi_identifiers=["age", "hours", "wage"])
    problem = MicroaggregationProblem(data, 3, objectives=("il_sse", "dbrl"), k_max=6)
    x = problem.baselines()["MDAV"]
    found = described(problem, x)
    sizes = np.bincount(problem.labels(x))
    (picture,) = found["pictures"]
    assert picture["rows"] == [["Cluster sizes", f"{len(sizes)} clusters"]]
    assert sum(picture["values"]) == len(sizes)
    assert min(picture["values"]) >= LEAST
    assert set(picture) == {"type", "title", "caption", "rows", "labels", "values", "across", "up", "summary"}
    facts = {fact["label"]: fact["value"] for fact in found["facts"]}
    assert facts["Smallest group"] >= 3
    assert facts["Records alone"] == 0


def test_suppressed_records_are_left_out_and_the_others_still_compared(small: Any) -> None:
    problem = PBGProblem(small.data, small.hierarchies, max_suppression=0.1)
    x = problem.xu.astype(problem.dtype)
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
    x = problem.xu.astype(problem.dtype)
    x[0] = 2
    labels = described(problem, x)["after"][0]["bars"]["labels"]
    starts = [int(label.split("-")[0]) for label in labels if label[0].isdigit()]
    assert starts == sorted(starts)
    assert len(starts) > 4

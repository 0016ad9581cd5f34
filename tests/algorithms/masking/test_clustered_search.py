"""ClusteredSearch: every cluster searched as if alone, on any number of workers, with the same bytes."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymoo.optimize import minimize

from sdc_problems import MaskingProblem, Microdata, PRAMProblem, SDCError
from sdc_problems.algorithms import CellSearch, ClusteredSearch
from sdc_problems.algorithms.masking import clustered_search as module
from sdc_problems.algorithms.masking._clusters import divided
from sdc_problems.parallel import ParallelEvaluator, ProcessPool


def numbers(n: int = 120, **options: Any) -> MaskingProblem:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.multivariate_normal(np.zeros(3), np.eye(3) + 0.5, size=n).round(2), columns=list("abc"))
    frame["sum"] = (frame["a"] + frame["b"]).round(2)
    frame["few"] = np.where(frame["a"] > 1, 1, 0)  # the same in all records of many a cluster
    data = Microdata.from_frame(frame, quasi_identifiers=list(frame.columns))
    return MaskingProblem(data, **{"edits": ["sum = a + b"], **options})


def categories(n: int = 160, **options: Any) -> MaskingProblem:
    rng = np.random.default_rng(3)
    town = rng.integers(0, 4, n)
    frame = pd.DataFrame({
        "degree": pd.Categorical.from_codes(np.minimum(town, 2), ["none", "school", "college"], ordered=True),
        "town": np.array(list("ORVT"))[town],
        "job": rng.choice(list("abcde"), n),
    })  # fmt: skip
    data = Microdata.from_frame(frame, quasi_identifiers=list(frame.columns))
    return MaskingProblem(data, **{"objectives": ("score_max",), **options})


def search(**options: Any) -> ClusteredSearch:
    return ClusteredSearch(**{"clusters": 4, "smallest": 20, "move_limit": 4000, **options})


@pytest.mark.parametrize("make", [numbers, categories])
def test_a_part_has_the_codes_and_the_domains_of_the_whole(make: Any) -> None:
    problem = make()
    rows = np.array([7, 3, 50, 51, 90, 11, 12])
    part = problem.part(rows)
    assert part.n_var == len(rows) * len(problem.free) == len(part.xl)
    np.testing.assert_array_equal(part.cells(part.untouched), problem.cells(problem.untouched)[rows])
    np.testing.assert_array_equal(part.tops, problem.tops)
    assert part.evaluate(part.untouched, return_values_of=["F"]).shape == (problem.n_obj,)
    assert problem.n_var == len(problem.data) * len(problem.free), "the whole stays as it was"
    if not problem.numeric:
        assert part.data.attribute("job").n_categories == 5


@pytest.mark.parametrize(("make", "weights"), [(numbers, [0.3, 0.7]), (categories, None)])
def test_each_cluster_holds_what_a_search_of_it_alone_finds(make: Any, weights: Any) -> None:
    problem = make()
    result = minimize(problem, search(weights=weights, finish=0.0), seed=1)
    algorithm = result.algorithm
    labels = algorithm.labels
    sizes = np.bincount(labels)
    assert len(sizes) > 1
    assert sizes.min() >= 20
    files = algorithm.pop.get("X")
    np.testing.assert_array_equal(algorithm.pop.get("F"), problem.evaluate(files, return_values_of=["F"]))
    for cluster in range(len(sizes)):
        rows = np.flatnonzero(labels == cluster)
        moves = max(1, round(4000 * len(rows) / len(labels)))
        seed = int(np.random.SeedSequence([algorithm._entropy, cluster]).generate_state(1)[0])
        alone = minimize(problem.part(rows), CellSearch(move_limit=moves, weights=weights), seed=seed).pop.get("X")
        inside = files.reshape(len(files), len(labels), -1)[:, rows]
        np.testing.assert_array_equal(inside.reshape(len(files), -1), alone)


def test_the_end_is_in_the_whole_file() -> None:
    """Clusters of few records crowd a numeric file with copies of each other's records: the end takes them out."""
    problem = numbers(n=200)
    parts, finished = (
        minimize(problem, search(move_limit=60_000, finish=share), seed=1).algorithm for share in (0.0, 0.5)
    )
    assert finished.labels.tolist() == parts.labels.tolist()
    before, after = (float(np.maximum(one.pop.get("G"), 0).sum()) for one in (parts, finished))
    assert after <= before
    assert (finished.pop.get("G") <= 0).all()
    scored = categories()
    one, two = (minimize(scored, search(move_limit=40_000, finish=share), seed=1).F[0] for share in (0.0, 0.5))
    assert two < one


def test_the_same_bytes_with_any_number_of_workers_and_when_one_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = categories()
    monkeypatch.setattr(module, "AT_ONCE", 2)
    alone = minimize(problem, search(), seed=3)
    assert alone.algorithm.n_gen > 2
    with ProcessPool(problem, workers=2) as pool:
        algorithm = search()
        algorithm.setup(problem, seed=3, evaluator=ParallelEvaluator(pool))
        while algorithm.has_next():
            algorithm.next()
            backend = algorithm._workers.backend
            if backend is not None:
                assert isinstance(backend, ProcessPool)
                assert backend.workers == 2, "as many as the evaluator has"
                os.kill(backend.processes()[0], signal.SIGKILL)
        assert algorithm._workers.backend is None, "closed behind the last cluster"
    assert algorithm.pop.get("X").tobytes() == alone.pop.get("X").tobytes()
    assert algorithm.pop.get("F").tobytes() == alone.pop.get("F").tobytes()


def test_the_same_bytes_on_dask() -> None:
    pytest.importorskip("distributed")
    problem = categories()
    alone = minimize(problem, search(), seed=3)
    there = minimize(problem, search(scheduler="local", workers=2), seed=3)
    assert there.X.tobytes() == alone.X.tobytes()
    assert there.pop.get("F").tobytes() == alone.pop.get("F").tobytes()


@pytest.mark.parametrize("make", [numbers, categories])
def test_a_restored_search_goes_on_with_the_same_bytes(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 1)
    problem = make()
    through = minimize(problem, search(), seed=2)
    first = search()
    first.setup(problem, seed=2)
    for _ in range(2):
        first.next()
    state = {name: array.copy() for name, array in first.checkpoint().items()}
    second = search()
    second.setup(problem, seed=99)
    second.next()
    second.restore(state)
    second.pop = first.pop
    assert 0 < second.progress < 1
    while second.has_next():
        second.next()
    assert second.pop.get("X").tobytes() == through.pop.get("X").tobytes()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(1, 9))
def test_large_clusters_are_divided_evenly(cluster: list[int], largest: int) -> None:
    labels = np.unique(cluster, return_inverse=True)[1]
    parts = divided(labels, largest, np.random.default_rng(1))
    sizes = np.bincount(parts)
    assert sizes.max() <= largest
    for one in range(labels.max() + 1):
        inside = sizes[np.unique(parts[labels == one])]
        assert inside.sum() == (labels == one).sum(), "a part lies in one cluster"
        assert len(inside) == -(-inside.sum() // largest)
        assert inside.max() - inside.min() <= 1


def test_clusters_grow_in_number_and_not_in_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PER_CLUSTER", 10)
    result = minimize(categories(n=200), ClusteredSearch(smallest=10, largest=20, move_limit=2000), seed=1)
    assert result.algorithm.labels.max() + 1 >= 10
    assert np.bincount(result.algorithm.labels).max() <= 20
    assert result.algorithm._searches.moves + result.algorithm._finishing == 2000
    with pytest.raises(SDCError, match="largest"):
        ClusteredSearch(smallest=100, largest=150)


def test_start_files_of_large_tables_do_without_mdav(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = categories()
    assert any(name.startswith("MDAV") for name in problem.starts())
    monkeypatch.setattr(MaskingProblem, "_most_grouped", 100)
    assert not any(name.startswith("MDAV") for name in problem.starts())


@pytest.mark.parametrize("guard", [True, False])
@pytest.mark.parametrize(
    "objectives",
    [("score_max",), ("score_mean",), ("il_categorical", "dr_guarded"), ("il_categorical", "dr_categorical")],
)
def test_the_best_start_files_are_those_of_all_measured(objectives: tuple[str, ...], guard: bool) -> None:
    problem = categories(n=60, objectives=objectives, guard=guard)
    algorithm = CellSearch(islands=3)
    algorithm.problem = problem
    algorithm._setup(problem)
    starts = np.stack(list(problem.baselines().values()))
    loss, risk = algorithm._parts()
    values = problem._measure(starts, (loss, risk))
    found = algorithm._best_starts(starts, loss, risk)
    for (wl, wr, larger), three in zip(algorithm._aims, found, strict=True):
        parts = wl * values[:, 0], wr * values[:, 1]
        scores = np.maximum(*parts) if larger else parts[0] + parts[1]
        assert three == np.argsort(scores, kind="stable")[:3].tolist()


def test_what_it_cannot_search_is_refused() -> None:
    with pytest.raises(SDCError, match="CellSearch keeps to a requirement of copies only"):
        minimize(categories(require={"guess": 50}), search(), seed=1)
    with pytest.raises(SDCError, match="ClusteredSearch changes the cells of a MaskingProblem"):
        minimize(PRAMProblem(categories().data), search(), seed=1)
    with pytest.raises(SDCError, match="smallest"):
        ClusteredSearch(smallest=5)

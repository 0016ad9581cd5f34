"""MaskEvolution and CellSearch: what they promise, on small files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pymoo.optimize import minimize

from sdc_problems import MaskingProblem, Microdata, PRAMProblem, SDCError
from sdc_problems.algorithms import CellSearch, MaskEvolution
from sdc_problems.algorithms.masking import cell_search
from sdc_problems.operators.cells import BlockCrossover, CellMutation


def numbers(n: int = 80, **options: Any) -> MaskingProblem:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.multivariate_normal(np.zeros(4), np.eye(4) + 0.5, size=n).round(2), columns=list("abcd"))
    frame["sum"] = (frame["a"] + frame["b"]).round(2)
    data = Microdata.from_frame(frame, quasi_identifiers=list(frame.columns))
    return MaskingProblem(data, **{"objectives": ("score_mean",), **options})


def categories(n: int = 120, **options: Any) -> MaskingProblem:
    rng = np.random.default_rng(3)
    town = rng.integers(0, 4, n)
    frame = pd.DataFrame({
        "degree": pd.Categorical.from_codes(np.minimum(town, 2), ["none", "school", "college"], ordered=True),
        "town": np.array(list("ORVT"))[town],
        "job": rng.choice(list("abcde"), n),
    })  # fmt: skip
    data = Microdata.from_frame(frame, quasi_identifiers=list(frame.columns))
    return MaskingProblem(data, **{"objectives": ("score_max",), **options})


def scores(problem: MaskingProblem, X: Any) -> np.ndarray:
    rows = np.stack(list(X.values())) if isinstance(X, dict) else X
    return np.asarray(problem.evaluate(rows, return_values_of=["F"]))


def run(problem: MaskingProblem, algorithm: Any, generations: int | None = None, seed: int = 1) -> Any:
    termination = () if generations is None else (("n_gen", generations),)
    return minimize(problem, algorithm, *termination, seed=seed)


@pytest.mark.parametrize("make", [numbers, categories])
def test_evolution_improves_its_population_and_measures_exactly(make: Any) -> None:
    problem = make(guard=False)
    before = scores(problem, problem.starts())[:, 0]
    result = run(problem, MaskEvolution(prl="exact"), 300)
    after = result.pop.get("F")[:, 0]
    assert result.algorithm.accepted > 20
    assert (after <= before + 1e-9).all()  # each file is replaced by its own children, and never by a worse one
    assert after.mean() < before.mean() - 0.01
    np.testing.assert_allclose(scores(problem, result.pop.get("X"))[:, 0], after, atol=1e-9)


def test_lagged_linkage_is_exact_for_the_best_file() -> None:
    problem = numbers()
    result = run(problem, MaskEvolution(), 300)
    assert result.F[0] == pytest.approx(scores(problem, result.X)[0], abs=1e-9)
    feasible = result.pop.get("FEAS")[:, 0]
    assert result.F[0] == result.pop.get("F")[feasible].min()
    again = run(problem, MaskEvolution(), 300)
    assert again.pop.get("X").tobytes() == result.pop.get("X").tobytes()
    assert again.pop.get("F").tobytes() == result.pop.get("F").tobytes()
    assert run(problem, MaskEvolution(), 300, seed=2).pop.get("X").tobytes() != result.pop.get("X").tobytes()


def test_one_mutation_or_one_crossover_in_each_generation() -> None:
    problem = categories()
    for prob, children in ((0.0, 1), (1.0, 2)):
        algorithm = MaskEvolution(crossover_prob=prob).setup(problem, termination=("n_gen", 30), seed=1)
        algorithm.next()
        for _ in range(20):
            X = algorithm.pop.get("X")
            infills = algorithm.infill()
            assert len(infills) == children
            for child, parent in zip(infills, algorithm._parents, strict=True):
                changed = np.flatnonzero(child.X != X[parent])
                assert len(changed) <= (1 if children == 1 else len(child.X))
            if children == 2:
                first, second = algorithm._parents
                assert first in np.argsort(algorithm.pop.get("F")[:, 0], kind="stable")[:2]
                total = infills[0].X + infills[1].X
                np.testing.assert_array_equal(total, X[first] + X[second])
            algorithm.evaluator.eval(problem, infills)
            algorithm.advance(infills=infills)
            kept = algorithm.pop.get("X") != X
            assert set(np.flatnonzero(kept.any(axis=1))) <= set(algorithm._parents)


def test_evolution_counts_what_it_measures() -> None:
    problem = categories()
    algorithm = MaskEvolution(crossover_prob=0.0).setup(problem, termination=("n_gen", 11), seed=1)
    while algorithm.has_next():
        algorithm.next()
    assert algorithm.evaluator.n_eval == len(problem.starts()) + 10


def test_evolution_reduces_copies_before_anything_else() -> None:
    base = numbers()
    original = base.original()
    files = {f"shifted by {k}": np.roll(original, k, axis=0) for k in (20, 30, 40)}
    problem = numbers(start=files)
    result = run(problem, MaskEvolution(mutation=CellMutation(n_cells=12), prl="lagged"), 150)
    assert result.X is None  # no file is feasible yet
    assert result.pop.get("CV").max() < 98
    free = numbers(start=files, guard=False)
    kept = run(free, MaskEvolution(mutation=CellMutation(n_cells=12)), 150).pop.get("X")
    assert min(free.figures(x)["copies"] for x in kept) > result.pop.get("CV").min() + 1


def test_evolution_keeps_sums() -> None:
    problem = numbers(edits=["sum = a + b"])
    result = run(problem, MaskEvolution(crossover=BlockCrossover(order="attribute")), 60)
    Y = problem.protected(result.pop.get("X")[0])
    np.testing.assert_allclose(Y[:, 4], Y[:, 0] + Y[:, 1], atol=1e-9)
    np.testing.assert_allclose(scores(problem, result.X), result.F, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"edits": ["sum = a + b"]}, {"guard": False}])
def test_cell_search_on_numbers(options: dict[str, Any]) -> None:
    problem = numbers(**options)
    result = run(problem, CellSearch(move_limit=40_000, islands=2))
    assert result.F[0] == pytest.approx(scores(problem, result.X)[0], abs=1e-9)
    trajectory = result.algorithm.trajectory
    met = [milestone.score for milestone in trajectory]
    assert met == sorted(met, reverse=True)
    assert result.F[0] < 0.7 * trajectory[0].score if np.isfinite(trajectory[0].score) else True
    assert result.F[0] < scores(problem, problem.starts()).min()
    assert result.algorithm.moves == trajectory[-1].moves >= 40_000
    if problem.guard:
        assert problem.figures(result.X)["copies"] <= 1.0
    if problem.edits:
        assert problem.figures(result.X)["sums_broken"] == 0.0


def test_cell_search_on_categories() -> None:
    problem = categories()
    result = run(problem, CellSearch(move_limit=200_000))
    assert result.F[0] == pytest.approx(scores(problem, result.X)[0], abs=1e-9)
    best = scores(problem, problem.baselines()).min()
    assert result.F[0] < best - 3
    assert result.F[0] == pytest.approx(result.algorithm.trajectory[-1].score)


@pytest.mark.parametrize("make", [numbers, categories])
def test_the_same_seed_gives_the_same_bytes_with_any_number_of_threads(make: Any) -> None:
    found = [run(make(), CellSearch(move_limit=20_000, islands=3, threads=threads)).pop for threads in (1, 3)]
    assert found[0].get("X").tobytes() == found[1].get("X").tobytes()
    assert found[0].get("F").tobytes() == found[1].get("F").tobytes()


@pytest.mark.parametrize(
    ("make", "objectives"), [(numbers, ("pil", "dr_numeric")), (categories, ("il_categorical", "dr_guarded"))]
)
def test_weights_give_a_front(make: Any, objectives: tuple[str, str]) -> None:
    problem = make(objectives=objectives)
    result = run(problem, CellSearch(move_limit=900_000, weights=(0.1, 0.5, 0.9)))
    F = result.pop.get("F")
    assert len(F) == 6  # for each weight by the sum, and by the larger of the two
    for by_sum in (0, 1):
        assert F[by_sum, 0] > F[4 + by_sum, 0]
        assert F[by_sum, 1] < F[4 + by_sum, 1]
    starts = scores(problem, problem.starts())
    assert any((f < s).all() for f in F for s in starts)
    np.testing.assert_allclose(scores(problem, result.pop.get("X")), F, atol=1e-9)


def test_a_time_limit_ends_the_search_anytime(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def tick() -> float:
        now[0] += 0.05
        return now[0]

    monkeypatch.setattr(cell_search.time, "perf_counter", tick)
    problem = categories()
    result = run(problem, CellSearch(time_limit=10.0, threads=1))
    assert result.algorithm.progress == 1.0
    assert result.F[0] == pytest.approx(scores(problem, result.X)[0], abs=1e-9)
    assert run(problem, CellSearch(time_limit=0.0, threads=1), None).X is not None


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: run(numbers(objectives=("pil", "dr_numeric")), MaskEvolution()), "compares one number"),
        (lambda: run(numbers(start={"one": numbers().original()}), MaskEvolution()), "fewer than two"),
        (lambda: run(numbers(objectives=("pil",)), CellSearch()), "lowers score_mean"),
        (lambda: run(numbers(require={"pil": 3}), CellSearch()), "not of 'pil'"),
        (lambda: run(numbers(), CellSearch(weights=(0.5,))), "for two objectives"),
        (lambda: MaskEvolution(prl="never"), "prl"),
        (lambda: MaskEvolution(leaders=0), "leaders"),
        (lambda: CellSearch(move_limit=0), "move_limit"),
        (lambda: CellSearch(weights=(2.0,)), "weights"),
        (lambda: run(PRAMProblem(categories().data), CellSearch()), "not of a PRAMProblem"),
    ],
)
def test_what_cannot_be_searched_is_refused(make: Any, says: str) -> None:
    with pytest.raises(SDCError, match=says):
        make()

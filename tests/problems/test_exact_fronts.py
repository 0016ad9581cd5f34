"""Exact fronts by programs equal those by measuring all, and those of plain Python."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sdc_problems import GOMMProblem, MicroaggregationProblem, PRAMEquationProblem, PRAMProblem, SDCError, SDCProblem
from sdc_problems.datasets import firms, people
from sdc_problems.front import Front, minimal
from sdc_problems.microdata import Microdata
from sdc_problems.operators.matrix import on_grid
from sdc_problems.operators.tree import every_tree
from sdc_problems.problems._subset_front import subset_front
from sdc_problems.problems._univariate_front import limited_cut


def partitions(members: list[int]) -> list[list[list[int]]]:
    """All ways to cut a list into groups."""
    if not members:
        return [[]]
    first, rest = members[0], members[1:]
    found = []
    for others in itertools.chain.from_iterable(itertools.combinations(rest, r) for r in range(len(rest) + 1)):
        left = [member for member in rest if member not in others]
        found += [[[first, *others], *more] for more in partitions(left)]
    return found


def nondominated(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Front of rows that are minimized, each once, by comparing all with all."""
    values = np.unique(values, axis=0)
    worse = [((values <= v).all(axis=1) & (values < v).any(axis=1)).any() for v in values]
    return values[~np.array(worse)]


def measured(problem: SDCProblem) -> Front:
    """Front by measuring every solution."""
    return minimal(problem.enumerate_parts(limit=10_000_000))


# -- subsets ----------------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 2**32 - 1), st.booleans())
def test_the_subset_programme_is_the_front_of_all_partitions(m: int, d: int, seed: int, some: bool) -> None:
    rng = np.random.default_rng(seed)
    groups = np.arange(1, 1 << m)
    if some:
        groups = groups[rng.random(len(groups)) < 0.7]
    costs = rng.integers(0, 9, size=(len(groups), d)).astype(float)
    cost = {int(group): row for group, row in zip(groups, costs, strict=True)}
    masks = [[sum(1 << i for i in group) for group in cut] for cut in partitions(list(range(m)))]
    sums = [sum(cost[mask] for mask in cut) for cut in masks if all(mask in cost for mask in cut)]
    rows = subset_front(m, groups, costs, limit=10_000)
    found = [sum(cost[int((1 << np.flatnonzero(row == g)).sum())] for g in range(row.max() + 1)) for row in rows]
    if not sums:
        assert len(rows) == 0
    else:
        np.testing.assert_array_equal(np.array(found), nondominated(np.array(sums)))
    with pytest.raises(SDCError, match="more than limit=0"):
        subset_front(m, np.arange(1, 1 << m), np.ones(((1 << m) - 1, d)), limit=0)


@pytest.mark.parametrize(
    ("m", "objectives"), [(8, ("il_sse", "id_value")), (7, ("id_value", "n_groups", "il_sse")), (6, ("il_sse",))]
)
def test_groupings_by_subsets_are_those_of_measuring_all(m: int, objectives: tuple[str, ...]) -> None:
    data = firms().data.take(range(200))
    problem = GOMMProblem(data, 5, columns=data.names[::2][:m], objectives=objectives, threads=1)
    told: list[tuple[int, int]] = []
    front, all_of_them = problem.enumerate_front(lambda done, n: told.append((done, n))), measured(problem)
    np.testing.assert_array_equal(front.F, all_of_them.F)
    assert front.n_candidates == all_of_them.n_candidates == problem.n_candidates
    assert told[-1] == (problem.n_candidates, problem.n_candidates)
    assert problem.evaluate(front.X).tobytes() == front.F.tobytes()
    with pytest.raises(SDCError, match=r"steps, more than limit=20: raise the limit"):
        problem.enumerate_front(limit=20)


@pytest.mark.parametrize("objectives", [("il_sse", "id_value"), ("id_value", "sse"), ("sse",)])
def test_partitions_of_records_by_subsets_are_those_of_measuring_all(objectives: tuple[str, ...]) -> None:
    data = firms().data.take(range(11))
    problem = MicroaggregationProblem(data, 3, columns=["gas", "debt", "water"], objectives=objectives, threads=1)
    front, all_of_them = problem.enumerate_front(), measured(problem)
    np.testing.assert_allclose(front.F, all_of_them.F, rtol=1e-12)
    assert front.n_candidates == all_of_them.n_candidates
    with pytest.raises(SDCError, match=r"groups to make them of, more than limit=99"):
        problem.enumerate_front(limit=99)


def test_partitions_of_mixed_kinds_by_subsets() -> None:
    frame = pd.DataFrame(
        {"age": [31, 52, 47, 33, 29, 60, 41, 38, 55], "town": list("abcabacca"), "school": list("hlmmlhhlm")}
    )
    names = list(frame)
    data = Microdata.from_frame(frame, quasi_identifiers=names, orders={"school": list("lmh")})
    problem = MicroaggregationProblem(data, 2, objectives=("sse", "id_value"), k_max=3, threads=1)
    np.testing.assert_allclose(problem.enumerate_front().F, measured(problem).F, rtol=1e-12)


def test_all_solutions_with_equal_values_are_found_by_measuring_all() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3, 4, 5, 6], "b": [1, 2, 3, 4, 5, 6], "c": [6, 5, 4, 3, 2, 1]})
    problem = GOMMProblem(Microdata.from_frame(frame, quasi_identifiers=list(frame)), 3, objectives=("n_groups",))
    assert len(problem.enumerate_front().X) == 1
    two = GOMMProblem(problem.data, 3, objectives=("il_sse",))
    assert len(two.enumerate_front(ties=True).X) >= len(two.enumerate_front().X) == 1


# -- one attribute ----------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=4, max_size=9), st.integers(2, 3), st.integers(0, 3))
def test_cuts_for_every_k_are_the_front_of_all_partitions(values: list[int], k: int, more: int) -> None:
    if len(set(values)) < 2 or len(values) < 2 * k:
        return
    k_max = min(k + more, len(values) // 2)
    data = Microdata.from_frame(pd.DataFrame({"x": values}), quasi_identifiers=["x"], kinds={"x": "numeric"})
    problem = MicroaggregationProblem(data, k, objectives=("sse", "k"), k_max=k_max, threads=1)
    front, all_of_them = problem.enumerate_front(), measured(problem)
    np.testing.assert_allclose(front.F, all_of_them.F, rtol=1e-9, atol=1e-9)


def test_cuts_within_limits_are_the_best_of_all_cuts() -> None:
    x = np.sort(np.random.default_rng(4).normal(size=17))
    for smallest, largest in ((2, 3), (3, 4), (4, 9), (8, 9), (7, 7), (9, 16)):
        best: tuple[float, list[int]] | None = None
        for m in range(1, 9):
            for sizes in itertools.product(range(smallest, largest + 1), repeat=m):
                if sum(sizes) == len(x):
                    runs = np.split(x, np.cumsum(sizes)[:-1])
                    loss = sum(float(((run - run.mean()) ** 2).sum()) for run in runs)
                    best = min(best or (np.inf, []), (loss, list(sizes)))
            if (smallest + largest) * m > 4 * len(x):
                break
        found = limited_cut(x, smallest, largest)
        assert found == (None if best is None else best[1])


def test_a_front_of_cuts_costs_more_than_its_limit() -> None:
    problem = MicroaggregationProblem(firms().data, 2, columns=["debt"], objectives=("il_sse", "k"), k_max=5)
    with pytest.raises(SDCError, match=r"8,000 steps, more than limit=7,999"):
        problem.enumerate_front(limit=7999)
    with pytest.raises(SDCError, match="more than limit=1,000,000"):
        problem.enumerate_front(ties=True)


# -- PRAM -------------------------------------------------------------------------------------------------------------


def test_a_grid_of_matrices_is_its_own_search_space() -> None:
    problem = PRAMProblem(people(300).data, columns=["sex"], evaluation="expected", resolution=12)
    front = problem.enumerate_front()
    assert front.n_candidates == problem.n_candidates == 13**2
    P = [np.array([[a, 12 - a], [12 - b, b]]) / 12 for a in range(13) for b in range(13)]
    values = problem.engine.measure([[p] for p in P], ("il_categorical", "dr_categorical"), evaluation="expected")
    np.testing.assert_allclose(front.F, nondominated(values))
    two = PRAMProblem(people(300).data, columns=["ethnicity", "sex"], evaluation="expected", resolution=3)
    assert two.n_candidates == 35**5 * 4**2
    with pytest.raises(SDCError, match=r"candidates, more than limit=1,000,000"):
        two.enumerate_front()
    with pytest.raises(SDCError, match=r"resolution= makes the weights coarser"):
        PRAMProblem(people(300).data, columns=["ethnicity"]).enumerate_front()
    with pytest.raises(SDCError, match="resolution must be at most 1000"):
        PRAMProblem(people(300).data, columns=["sex"], resolution=2000)


def test_a_grid_keeps_to_a_band() -> None:
    data = people(300).data
    problem = PRAMProblem(data, columns=["education"], band=1, resolution=1)
    assert problem.n_candidates == 2 * 2 * 3**14
    x = problem.genomes(np.random.default_rng(1).integers(0, problem.xu.astype(int) + 1, size=(1, problem.n_var)))[0]
    (P,) = problem.matrices(x)
    assert (np.triu(P, 2) == 0).all()
    assert (np.tril(P, -2) == 0).all()
    assert set(np.unique(P)) <= {0.0, 1.0}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 1000), min_size=9, max_size=9), st.integers(1, 40))
def test_rows_on_the_grid_are_the_nearest(weights: list[int], resolution: int) -> None:
    (found,) = on_grid(np.array([weights]), [3], resolution)
    np.testing.assert_array_equal(on_grid(found[None], [3], resolution)[0], found)
    for i in range(3):
        row, near = np.array(weights[3 * i : 3 * i + 3], dtype=float), found[3 * i : 3 * i + 3]
        assert near.sum() == resolution
        if row.sum() == 0:
            assert near[i] == resolution
            continue
        assert (near[row == 0] == 0).all()
        away = np.abs(near - resolution * row / row.sum()).max()
        others = [c for c in itertools.product(range(resolution + 1), repeat=3) if sum(c) == resolution]
        least = np.abs(np.array(others) - resolution * row / row.sum()).max(axis=1).min()
        assert away <= least + 1e-9


def test_every_equation_once() -> None:
    problem = PRAMEquationProblem(people(200).data, columns=["sex", "income"], evaluation="expected", depth=2)
    rows = np.concatenate(list(problem._candidates()))
    assert len(np.unique(rows, axis=0)) == len(rows) == problem.n_candidates == 105
    assert {tuple(row[row >= 0]) for row in rows} == {tuple(tokens) for tokens in every_tree(problem.grammar)}
    front = problem.enumerate_front(ties=True)
    each = np.array([problem.evaluate(row) for row in rows])
    np.testing.assert_array_equal(np.unique(front.F, axis=0), nondominated(each))
    assert len(front.F) == sum((row == nondominated(each)).all(axis=1).any() for row in each)
    with pytest.raises(SDCError, match="7,781,004,105 candidates, more than limit"):
        PRAMEquationProblem(people(200).data, columns=["sex"], depth=4).enumerate_front()

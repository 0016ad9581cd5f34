"""Exact fronts of lattices by boxes equal those by measuring every node, whatever the objectives."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sdc_problems import Hierarchy, Microdata, PBGProblem, SDCError
from sdc_problems.evaluators.lattice import LOSSES, MEASURES, NEED_SENSITIVE
from sdc_problems.front import Front, minimal
from sdc_problems.problems._lattice_front import BoxSearch, spare
from sdc_problems.requirement import Required

SUPPRESSION = ("free", "budget")
EVERY_PAIR = list(itertools.combinations(MEASURES, 2))


def random_problem(
    seed: int,
    objectives: tuple[str, ...],
    *,
    require: dict[str, Required] | None = None,
    suppression: str = "free",
    n: int = 40,
    budget: int | None = None,
    several: bool = False,
) -> PBGProblem:
    """Problem on a random table with random hierarchies of one to four levels."""
    rng = np.random.default_rng(seed)
    columns, hierarchies = {}, {}
    for a in range(int(rng.integers(1, 5))):
        groups = np.arange(int(rng.integers(2, 9)))
        columns[f"a{a}"] = np.floor(rng.random(n) ** 2 * len(groups)).astype(int)
        levels = []
        for _ in range(int(rng.integers(1, 5))):
            groups = rng.integers(0, groups.max() + 1, groups.max() + 1)[groups]
            levels.append(groups)
        values = range(len(groups))
        hierarchies[f"a{a}"] = Hierarchy.from_levels({v: [f"{i}:{g[v]}" for i, g in enumerate(levels)] for v in values})
    columns |= {"illness": rng.integers(0, 4, n).astype(str), "class": rng.integers(0, 3, n).astype(str)}
    secrets = ["illness"]
    if several:
        columns |= {"faith": rng.integers(0, 6, n).astype(str)}
        secrets.append("faith")
    data = Microdata.from_frame(pd.DataFrame(columns), quasi_identifiers=list(hierarchies), sensitive=secrets)
    return PBGProblem(
        data, hierarchies, objectives=objectives, require=require, class_label="class", threads=1, sensitive=secrets,
        suppression=suppression, max_suppression=int(rng.choice([0, 1, 4, 10])) if budget is None else budget,
    )  # fmt: skip


def assert_same(tested: PBGProblem) -> BoxSearch:
    """Every solution of the front, ties included, is what measuring all nodes finds."""
    search = BoxSearch(tested, limit=10**9)
    found, every = search.run(None), minimal(tested.enumerate_parts(), ties=True)
    assert isinstance(found, Front)
    np.testing.assert_array_equal(found.F, every.F)
    np.testing.assert_array_equal(found.X, every.X)
    return search


@given(st.integers(0, 10**6), st.sampled_from(EVERY_PAIR), st.sampled_from(SUPPRESSION))
@example(227, ("entropy_l", "spread_l"), "budget")  # without the worst of its records, a class is mixed better
@settings(max_examples=60, deadline=None)
def test_boxes_find_the_front_of_every_pair_of_objectives(seed: int, pair: tuple[str, str], suppression: str) -> None:
    assert_same(random_problem(seed, pair, suppression=suppression))


@given(st.integers(0, 10**6), st.sampled_from(sorted(NEED_SENSITIVE)), st.sampled_from(SUPPRESSION))
@settings(max_examples=25, deadline=None)
def test_boxes_find_the_front_with_several_sensitive_columns(seed: int, name: str, suppression: str) -> None:
    assert_same(random_problem(seed, (name, "k", "glm"), suppression=suppression, several=True))


@given(
    st.integers(0, 10**6),
    st.lists(st.sampled_from(MEASURES), min_size=1, max_size=4, unique=True),
    st.sampled_from(SUPPRESSION),
    st.dictionaries(
        st.sampled_from(["k", "l", "glm_percent", "discernibility", "t"]),
        st.sampled_from([0.4, 2, 3, 30, {"min": 0.2, "max": 4}, {"min": 2, "max": 500}]),
        max_size=2,
    ),
)
@settings(max_examples=40, deadline=None)
def test_boxes_find_the_front_under_requirements(
    seed: int, names: list[str], suppression: str, require: dict[str, Required]
) -> None:
    assert_same(random_problem(seed, tuple(names), suppression=suppression, require=require))


@given(st.integers(0, 10**6), st.sampled_from([0, 3, 12]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_no_node_of_a_box_is_better_than_the_bound_of_its_corners(seed: int, budget: int, several: bool) -> None:
    """Each node with each threshold is, in all measures at once, no better than one step of its box's coarsest node."""
    engine = random_problem(seed, MEASURES, budget=budget, several=several).engine
    nodes, rng = np.indices(engine.n_levels).reshape(len(engine.n_levels), -1).T, np.random.default_rng(seed)
    low, high = np.sort(nodes[rng.integers(0, len(nodes), 2)], axis=0).astype(np.int64)
    finest, coarsest = engine.corners([low, high])
    loss = np.array([name in LOSSES for name in engine.measures])
    smaller = loss | (np.array(engine.measures) == "t")
    bounds = np.where(loss, finest.values[0] + coarsest.finer, coarsest.finer)
    inside = nodes[((nodes >= low) & (nodes <= high)).all(axis=1)]
    for _, values in engine.steps(inside):
        for measured in values:
            better = np.where(smaller, measured < bounds, measured > bounds)
            assert not better.any(axis=1).all()


def large_problem() -> PBGProblem:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(np.floor(rng.random((300, 6)) ** 2 * 32).astype(int), columns=[f"a{i}" for i in range(6)])
    data = Microdata.from_frame(frame, quasi_identifiers=list(frame))
    bands = Hierarchy.intervals(range(32), [2, 4, 8, 16])
    return PBGProblem(data, dict.fromkeys(frame, bands), objectives=("k", "glm"), max_suppression=0)


def test_how_long_a_large_lattice_takes_is_told_by_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    tested = large_problem()
    monkeypatch.setattr(type(tested.engine), "estimated_seconds", lambda self: 1e9)  # of measuring every node
    monkeypatch.setattr("sdc_problems.problems.generalization.PROBED", np.inf)
    seconds = tested.seconds_to_enumerate()
    assert seconds is not None
    assert 0 < seconds < np.inf
    search = BoxSearch(tested, limit=10**9)
    assert search.seconds(-1.0) == np.inf
    assert search.n_measured == 0
    monkeypatch.setattr(type(tested.engine), "estimated_seconds", lambda self: 1e-9)
    assert tested.seconds_to_enumerate() == 2e-9
    tested.__dict__["_seconds_by_boxes"] = np.inf
    monkeypatch.setattr(type(tested.engine), "estimated_seconds", lambda self: 1e9)
    assert tested.seconds_to_enumerate() is None


def test_all_nodes_are_measured_where_boxes_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdc_problems.problems.generalization.SMALL", 0)
    tested = random_problem(5, ("t", "k", "glm"), budget=10)
    by_boxes = tested.enumerate_front()
    assert by_boxes.n_measured is not None
    monkeypatch.setattr(type(tested.engine), "estimated_seconds", lambda self: 0.0)
    every = tested.enumerate_front()
    assert every.n_measured == tested.n_nodes
    np.testing.assert_array_equal(every.F, by_boxes.F)
    np.testing.assert_array_equal(every.X, by_boxes.X)
    with pytest.raises(SDCError, match="more than limit=2"):
        tested.enumerate_front(limit=2)


def test_a_large_lattice_is_settled_by_measuring_a_small_share_of_it() -> None:
    tested = large_problem()
    told: list[tuple[int, int]] = []
    front = tested.enumerate_front(lambda done, n: told.append((done, n)))
    every = minimal(tested.enumerate_parts())
    np.testing.assert_array_equal(front.F, every.F)
    np.testing.assert_array_equal(front.X, every.X)
    assert front.n_candidates == tested.n_nodes == 6**6
    assert front.n_measured is not None
    assert front.n_measured < 0.1 * tested.n_nodes
    assert told == sorted(told)
    assert told[-1] == (tested.n_nodes, tested.n_nodes)
    with pytest.raises(SDCError, match=r"46,656 nodes.*settles.*takes measuring (about|many).*more than limit=100"):
        tested.enumerate_front(limit=100)


@given(st.integers(0, 10**6), st.integers(1, 4), st.booleans())
@settings(max_examples=40, deadline=None)
def test_spare_is_what_a_plain_loop_finds(seed: int, n_obj: int, pivoted: bool) -> None:
    rng = np.random.default_rng(seed)
    bounds, front = (rng.integers(0, 4, (int(rng.integers(1, 9)), n_obj)).astype(float) for _ in range(2))
    pivot = int(rng.integers(n_obj)) if pivoted else None
    for bound, most in zip(bounds, spare(bounds, front, pivot), strict=True):
        better = [(row <= bound).all() and (row < bound).any() for row in front]
        if any(better):
            assert most < 0
        elif pivot is None:
            assert most == np.inf
        else:
            others = [j for j in range(n_obj) if j != pivot]
            reach = [row[pivot] - bound[pivot] for row in front if (row[others] <= bound[others]).all()]
            assert most == min(reach, default=np.inf)

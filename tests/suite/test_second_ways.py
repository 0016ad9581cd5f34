"""Exact fronts by a second, independent way: plain numpy over all solutions, of the instance or one like it."""

from __future__ import annotations

import itertools
from typing import Any

import moocore
import numpy as np
import pytest
from numpy.typing import NDArray

from sdc_problems import GOMMProblem, MicroaggregationProblem, PBGProblem
from sdc_problems.datasets import firms, load
from sdc_problems.evaluators.anonymity import equivalence_classes, suppress_small_classes
from sdc_problems.evaluators.disclosure_risk import dr_linkage
from sdc_problems.front import minimal
from sdc_problems.methods import mdav
from sdc_problems.problems._univariate_front import limited_cut
from sdc_problems.suite import instance, instances

PBG = [found.id for found in instances("core") if found.task == "pbg"]


def nondominated(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Front of rows that are minimized, each once, rounding apart."""
    rounded = values.round(9)
    kept: NDArray[np.float64] = values[moocore.is_nondominated(rounded, keep_weakly=False)]
    return kept


def same(front: NDArray[np.float64], values: NDArray[np.float64]) -> None:
    plain, front = nondominated(values), nondominated(front)
    order = np.lexsort(front.round(9).T[::-1])
    np.testing.assert_allclose(front[order], plain[np.lexsort(plain.round(9).T[::-1])], rtol=1e-9, atol=1e-9)


def plain_node(problem: PBGProblem, node: tuple[int, ...], threshold: int | None) -> dict[str, float]:
    """Objectives of one node, from the records."""
    codes, n = problem.data.codes(problem.attributes), len(problem.data)
    ladders = [h.table(problem.data.categories(name), attribute=name) for name, h in problem.hierarchies.items()]
    groups = np.column_stack(
        [ladder[level][codes[:, j]] for j, (ladder, level) in enumerate(zip(ladders, node, strict=True))]
    )
    lost = suppress_small_classes(equivalence_classes(groups), limit=problem.max_suppressed, threshold=threshold).mask
    loss = 0.0
    for j, (hierarchy, level) in enumerate(zip(problem.hierarchies.values(), node, strict=True)):
        leaves = hierarchy.leaves(level)[groups[~lost, j]]
        loss += float((leaves - 1).sum()) / (hierarchy.n_values - 1) + lost.sum()
    left, sensitive = groups[~lost], problem.data.codes(problem.sensitive[:1])[:, 0][~lost]
    _, classes, sizes = np.unique(left, axis=0, return_inverse=True, return_counts=True)
    classes = classes.ravel()  # numpy 2.0.0 gives a column
    members = [sensitive[classes == c] for c in range(len(sizes))]
    n_values = problem.data.attribute(problem.sensitive[0]).n_categories
    share = np.bincount(problem.data.codes(problem.sensitive[:1])[:, 0], minlength=n_values) / n
    return {
        "k": float(sizes.min()),
        "l": float(min(len(np.unique(of)) for of in members)),
        "spread_k": float((sizes.astype(float) ** 2).sum()),
        "t": max(np.abs(np.bincount(of, minlength=n_values) / len(of) - share).sum() / 2 for of in members),
        "glm": loss,
    }


@pytest.mark.parametrize("name", [*(pytest.param(name, marks=pytest.mark.slow) for name in PBG[:-1]), PBG[-1]])
def test_generalization_by_plain_counts(name: str) -> None:
    """Objectives and suppression of the instance, on 400 records and four attributes."""
    options: dict[str, Any] = instance(name).parameters
    people = load("people")
    data = people.data.take(range(400))
    columns = ["age", "marital_status", "sex", "income"]
    problem = PBGProblem(data, people.hierarchies, columns=columns, threads=1, **options)
    sizes = [hierarchy.n_levels for hierarchy in problem.hierarchies.values()]
    every = [None] if options["suppression"] == "budget" else range(1, problem.max_suppressed + 2)
    found = [
        plain_node(problem, node, threshold) for node in itertools.product(*map(range, sizes)) for threshold in every
    ]
    values = problem.minimized([[figures[key] for key in options["objectives"]] for figures in found])
    same(problem.enumerate_front().F, values)


@pytest.mark.parametrize("name", ["gomm-firms9-il-dr", "gomm-firms9-il-id-dld"])
def test_groupings_by_plain_distances(name: str) -> None:
    """Objectives of the instance, on 80 records and four attributes: fifteen groupings, linked by brute force."""
    columns = instance(name).parameters["columns"][:4]
    data = firms().data.take(range(80))
    problem = GOMMProblem(data, 5, columns=columns, objectives=instance(name).objectives, threads=1)
    Z = data.z_scores(columns)
    rows = [
        row
        for row in itertools.product(range(4), repeat=4)
        if all(v <= max((-1, *row[:i])) + 1 for i, v in enumerate(row))
    ]
    values = []
    for row in rows:
        protected = np.empty_like(Z)
        for g in set(row):
            mine = [j for j in range(4) if row[j] == g]
            labels = mdav(Z[:, mine], 5, standardize=False)
            for c in np.unique(labels):
                protected[np.ix_(labels == c, mine)] = Z[np.ix_(labels == c, mine)].mean(axis=0)
        apart = ((Z[:, None, :] - protected[None]) ** 2).sum(axis=2)
        own = np.diag(apart).copy()
        np.fill_diagonal(apart, np.inf)
        figures = {
            "il_sse": 100 * ((Z - protected) ** 2).sum() / (Z**2).sum(),
            "id_value": 100 * (np.abs(Z - protected) <= 0.1 * np.abs(Z)).mean(),
            "dld": 100 * (own < apart.min(axis=1) - 1e-10).mean(),
        }
        figures["dr_linkage"] = (figures["id_value"] + figures["dld"]) / 2
        assert figures["dr_linkage"] == pytest.approx(dr_linkage(Z, protected))
        values.append([figures[key] for key in problem_names(problem)])
    assert len(rows) == 15
    same(problem.enumerate_front().F, np.array(values))


def problem_names(problem: GOMMProblem | MicroaggregationProblem) -> list[str]:
    return [objective.name for objective in problem.objectives]


@pytest.mark.slow
def test_groupings_by_subsets_are_those_of_measuring_all() -> None:
    """The whole instance: 115,975 groupings."""
    found = instance("gomm-firms10-il-id")
    np.testing.assert_allclose(minimal(found.problem().enumerate_parts()).F, found.front, rtol=1e-12)


@pytest.mark.parametrize("name", ["micro-firms12-il-dbrl", "micro-firms12-il-dbrl-id"])
def test_partitions_by_plain_distances(name: str) -> None:
    """Objectives of the instance, on its first eight records: 91 partitions."""
    options = {**instance(name).parameters, "k": 3}
    data = firms().data.take(range(8))
    problem = MicroaggregationProblem(data, threads=1, **options)
    Z = data.z_scores(options["columns"])
    values = []
    for first in itertools.chain.from_iterable(itertools.combinations(range(8), size) for size in (3, 4, 5)):
        if 0 not in first:
            continue
        protected, other = np.empty_like(Z), [i for i in range(8) if i not in first]
        protected[list(first)], protected[other] = Z[list(first)].mean(axis=0), Z[other].mean(axis=0)
        apart = np.sqrt(((Z[:, None, :] - protected[None]) ** 2).sum(axis=2))
        nearest = apart <= apart.min(axis=1, keepdims=True) + 1e-9
        figures = {
            "il_sse": 100 * ((Z - protected) ** 2).sum() / ((Z - Z.mean(axis=0)) ** 2).sum(),
            "dbrl": 100 * (np.diag(nearest) / nearest.sum(axis=1)).mean(),
            "id_value": 100 * (np.abs(Z - protected) <= 0.1 * np.abs(Z)).mean(),
        }
        values.append([figures[key] for key in options["objectives"]])
    assert len(values) == problem.n_candidates == 91
    same(problem.enumerate_front().F, np.array(values))


@pytest.mark.parametrize(
    "name",
    ["micro-firms200-il-k", pytest.param("micro-firms1000-il-k", marks=pytest.mark.slow)],
)
def test_cuts_by_a_plain_programme(name: str) -> None:
    """The whole instance: for each k the cheapest runs of k values up to the largest size that is allowed."""
    found = instance(name)
    problem = found.problem()
    assert isinstance(problem, MicroaggregationProblem)
    x = np.sort(problem.points()[:, 0])
    total, values = float(((x - x.mean()) ** 2).sum()), []
    for k in range(problem.smallest, problem.largest + 1):
        sizes = limited_cut(x, k, problem.largest)
        if sizes is not None:
            runs = np.split(x, np.cumsum(sizes)[:-1])
            loss = sum(float(((run - run.mean()) ** 2).sum()) for run in runs)
            values.append([100 * loss / total, -float(min(sizes))])
    same(found.front, np.array(values))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pram-people-sex-100", "pram-people-income-100", "pram-people-sex-income-10"])
def test_grids_by_all_their_matrices(name: str) -> None:
    """The whole instance: every pair of probabilities, or two of them."""
    found = instance(name)
    problem, r = found.problem(), found.parameters["resolution"]
    steps = np.arange(r + 1) / r
    one = [np.array([[a, 1 - a], [1 - b, b]]) for a in steps for b in steps]
    every = itertools.product(one, repeat=len(found.parameters["columns"]))
    values = problem.engine.measure(map(list, every), list(found.objectives), evaluation="expected")
    same(found.front, values)


def plain_equations(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Transition matrices of every equation of up to three levels, for an attribute with such frequencies."""
    n = len(counts)
    here, there = np.meshgrid(counts.astype(float), counts.astype(float), indexing="ij")
    leaves = np.stack([np.full((n, n), float(v)) for v in (counts.sum(), counts.max(), counts.min())] + [here, there])
    trees = leaves
    for _ in range(2):
        a, b = trees[:, None], trees[None, :]
        quotient = np.where(b == 0, 1.0, a / np.where(b == 0, 1.0, b))
        joined = np.stack([a + b, a - b, a * b, quotient]).reshape(-1, n, n)
        trees = np.concatenate([leaves, joined])
    weights = np.where(np.isfinite(trees) & (trees > 0), trees, 0.0)
    sums = weights.sum(axis=2, keepdims=True)
    stays = np.broadcast_to(np.eye(n), trees.shape)
    return np.where(sums > 0, weights / np.where(sums > 0, sums, 1.0), stays)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["equations-people2-il-dr", "equations-people2-ctbil-dbrl-id", "equations-people3-il-dr"]
)
def test_equations_by_arrays_of_all_of_them(name: str) -> None:
    """The whole instance: 44,105 equations as arrays, without rows, trees or a parser; equal matrices once."""
    found = instance(name)
    problem = found.problem()
    codes = problem.data.codes(problem.attributes)
    each = [plain_equations(np.bincount(column, minlength=n)) for column, n in zip(codes.T, problem.sizes, strict=True)]
    assert {len(matrices) for matrices in each} == {found.space}
    flat = np.concatenate([matrices.reshape(found.space, -1) for matrices in each], axis=1)
    kept = np.sort(np.unique(flat.round(12), axis=0, return_index=True)[1])
    every = ([matrices[i] for matrices in each] for i in kept)
    values = problem.engine.measure(every, list(found.objectives), evaluation="expected")
    same(found.front, values)

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems.errors import SDCError
from sdc_problems.evaluators.anonymity import (
    distinct_l,
    entropy_l,
    equivalence_classes,
    k_anonymity,
    spread_k,
    spread_l,
    suppress_small_classes,
    t_closeness,
)
from sdc_problems.evaluators.information_loss import cm, discernibility, glm
from sdc_problems.evaluators.lattice import MEASURES, LatticeEngine

Case = dict[str, Any]


def random_levels(rng: np.random.Generator, n_categories: int, n_levels: int) -> np.ndarray:
    """A hierarchy: each level merges groups of the one before at random; group numbers are shuffled."""
    rows = [rng.permutation(n_categories)]
    for _ in range(n_levels - 1):
        n_groups = rng.integers(1, rows[-1].max() + 2)
        rows.append(rng.integers(0, n_groups, rows[-1].max() + 1)[rows[-1]])
    return np.array(rows)


def random_case(
    seed: int,
    *,
    n: int = 40,
    attributes: int | None = None,
    categories: int = 6,
    levels: int = 3,
    values: int = 4,
    skew: float = 2.0,
) -> Case:
    rng = np.random.default_rng(seed)
    p = attributes or int(rng.integers(1, 5))
    sizes = rng.integers(1, categories + 1, size=p)
    # Skewed values make classes of all sizes, so that suppression has something to do.
    codes = np.column_stack([np.floor(rng.random(n) ** skew * size) for size in sizes]).astype(np.int32)
    tables = [random_levels(rng, int(size), int(rng.integers(1, levels + 1))) for size in sizes]
    return {
        "codes": codes,
        "tables": tables,
        "sensitive": rng.integers(0, values, n),
        "labels": rng.integers(0, 3, n),
        "max_suppressed": int(rng.integers(0, max(1, n // 3))),
    }


def plain(case: Case, node: tuple[int, ...], threshold: int | None = None) -> dict[str, float]:
    """One node by pandas: group the records, suppress, and add up what the definitions say."""
    codes, tables = case["codes"], case["tables"]
    n = len(codes)
    frame = pd.DataFrame({a: tables[a][level][codes[:, a]] for a, level in enumerate(node)})
    names = list(frame.columns)
    frame["s"], frame["y"] = case["sensitive"], case["labels"]
    size = frame.groupby(names)["s"].transform("size")
    limit = max(j for j in range(n) if (size <= j).sum() <= case["max_suppressed"])
    limit = limit if threshold is None else min(limit, threshold - 1)
    left, lost = frame[size > limit], int((size <= limit).sum())
    groups = left.groupby(names)
    share = frame["s"].value_counts(normalize=True)
    entropy, distance, majority = [], [], 0
    for _, group in groups:
        p = group["s"].value_counts(normalize=True)
        entropy.append(float(-(p * np.log(p)).sum()))
        distance.append(float(p.sub(share, fill_value=0).abs().sum() / 2))
        majority += int(group["y"].value_counts().max())
    loss = 0.0
    for a, level in enumerate(node):
        domain = tables[a].shape[1]
        if domain > 1:
            leaves = np.bincount(tables[a][level])[left[a]]
            loss += ((leaves - 1) / (domain - 1)).sum() + lost
    sizes = groups.size()
    return {
        "k": sizes.min(),
        "l": groups["s"].nunique().min(),
        "entropy_l": np.exp(min(entropy)),
        "t": max(distance),
        "spread_k": (sizes**2).sum(),
        "spread_l": (left.groupby([*names, "s"]).size() ** 2).sum(),
        "glm": loss,
        "cm": n - majority,
        "discernibility": (sizes**2).sum() + lost * n,
        "suppressed": lost,
        "glm_percent": 100 * loss / codes.size,
    }


def assert_figures(got: np.ndarray, expected: dict[str, float], where: object) -> None:
    for name, value in zip(MEASURES, got, strict=True):
        if name in ("entropy_l", "t", "glm", "glm_percent"):
            assert value == pytest.approx(expected[name], rel=1e-9, abs=2e-9), (name, where)
        else:
            assert value == expected[name], (name, where)


def all_nodes(engine: LatticeEngine) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(n) for n in engine.n_levels)))


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_every_node_of_small_lattices_equals_pandas(seed: int) -> None:
    case = random_case(seed)
    engine = LatticeEngine(**case, threads=1)
    nodes = all_nodes(engine)
    np.testing.assert_array_equal(engine.nodes(), nodes)
    for node, got in zip(nodes, engine.evaluate_all(), strict=True):
        assert_figures(got, plain(case, node), (seed, node))


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_batches_in_any_order_equal_the_walk(seed: int) -> None:
    case = random_case(seed, n=200)
    expected = LatticeEngine(**case, threads=1).evaluate_all()
    rng = np.random.default_rng(seed)
    for memory in (0, 3000, 1 << 26):
        engine = LatticeEngine(**case, threads=int(rng.integers(1, 3)), memory=memory)
        nodes = engine.nodes()
        order = rng.permutation(np.repeat(np.arange(len(nodes)), 2))
        for part in np.array_split(order, 5):
            assert engine.evaluate(nodes[part]).tobytes() == expected[part].tobytes()


@given(st.integers(0, 10**6))
@settings(max_examples=5)
def test_every_threshold_of_small_lattices_equals_pandas(seed: int) -> None:
    case = random_case(seed)
    engine = LatticeEngine(**case, threads=1)
    budget = case["max_suppressed"]
    rng = np.random.default_rng(seed)
    for node, (thresholds, values) in zip(all_nodes(engine), engine.steps(engine.nodes()), strict=True):
        # Whatever the threshold, the figures are those of the step that suppresses the same records.
        for asked in {1, budget + 1, int(rng.integers(1, budget + 2))}:
            step = int(np.searchsorted(thresholds, asked, side="right")) - 1
            assert_figures(values[step], plain(case, node, asked), (seed, node, asked))
            assert engine.effective([node], [asked]).tolist() == [thresholds[step]]
            assert engine.evaluate([node], [asked]).tobytes() == values[step].tobytes()
            assert list(engine.figures(node, asked).values()) == values[step].tolist()
        suppressed = values[:, MEASURES.index("suppressed")]
        assert thresholds[0] == 1
        assert suppressed[0] == 0
        assert (np.diff(suppressed) > 0).all()
        assert len(thresholds) <= 1 + np.sqrt(2 * budget)


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_the_walk_meets_every_threshold_that_makes_a_difference(seed: int) -> None:
    case = random_case(seed, n=200)
    engine = LatticeEngine(**case, threads=int(seed % 2) + 1)
    met = [np.concatenate(parts) for parts in zip(*engine.every_step(), strict=True)]
    order = np.lexsort((met[1], met[0]))
    steps = LatticeEngine(**case, threads=1).steps(engine.nodes())
    assert met[0][order].tolist() == [i for i, (thresholds, _) in enumerate(steps) for _ in thresholds]
    assert met[1][order].tolist() == [t for thresholds, _ in steps for t in thresholds]
    assert met[2][order].tobytes() == np.concatenate([values for _, values in steps]).tobytes()
    # The last one of a node is the rule that suppresses as much as the budget allows.
    assert np.array([values[-1] for _, values in steps]).tobytes() == engine.evaluate_all().tobytes()


def test_parts_of_a_large_walk_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = LatticeEngine(**random_case(3, n=500, attributes=5, categories=9, levels=4), threads=1)
    (whole,) = engine.every_step()
    monkeypatch.setattr("sdc_problems.evaluators.lattice.engine.LARGEST_WALK", 10)
    parts = list(engine.every_step())
    assert len(parts) > 5
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order, other = np.lexsort((joined[1], joined[0])), np.lexsort((whole[1], whole[0]))
    for one, two in zip(joined, whole, strict=True):
        assert one[order].tobytes() == two[other].tobytes()


def test_another_threshold_of_a_node_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    case = random_case(4, n=200, attributes=3)
    engine = LatticeEngine(**case, threads=1)
    grouped: list[int] = []
    inner = engine._grouped
    monkeypatch.setattr(engine, "_grouped", lambda X: (grouped.append(len(X)), inner(X))[1])
    nodes = engine.nodes()
    for threshold in (1, 2, 5):
        engine.evaluate(np.repeat(nodes, 2, axis=0), np.full(2 * len(nodes), threshold))
    assert sum(grouped) == len(nodes)
    # With no memory at all the figures are the same.
    forgetful = LatticeEngine(**case, threads=1, memory=0)
    for _ in range(2):
        expected = engine.evaluate(nodes, np.full(len(nodes), 2))
        assert forgetful.evaluate(nodes, np.full(len(nodes), 2)).tobytes() == expected.tobytes()
    assert len(forgetful._steps._known) == 0


@pytest.mark.parametrize("thresholds", [[0], [1, 1], [1.5], 1])
def test_bad_thresholds(thresholds: Any) -> None:
    with pytest.raises(SDCError, match="thresholds must be whole numbers from 1, one for each of the 1 nodes"):
        LatticeEngine([[0], [1]], [[[0, 1], [0, 0]]], measures=("k",)).evaluate([[0]], thresholds)


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_agrees_with_the_measures_of_records(seed: int) -> None:
    case = random_case(seed, n=60)
    engine = LatticeEngine(**case, threads=1)
    node = engine.nodes()[np.random.default_rng(seed).integers(engine.n_nodes)]
    figures = engine.figures(node)
    codes = np.column_stack([table[level][column] for table, level, column in zip(
        case["tables"], node, case["codes"].T, strict=True
    )])  # fmt: skip
    classes = equivalence_classes(codes)
    mask = suppress_small_classes(classes, limit=case["max_suppressed"]).mask
    left, sensitive = equivalence_classes(codes[~mask]), case["sensitive"][~mask]
    assert figures["k"] == k_anonymity(left)
    assert figures["suppressed"] == mask.sum()
    assert figures["l"] == distinct_l(left, sensitive)
    assert figures["entropy_l"] == pytest.approx(entropy_l(left, sensitive), abs=1e-9)
    assert figures["spread_k"] == spread_k(left)
    assert figures["spread_l"] == spread_l(left, sensitive)
    assert figures["discernibility"] == discernibility(classes, suppressed=mask)
    assert figures["cm"] == cm(classes, case["labels"], suppressed=mask)
    if not mask.any():
        assert figures["t"] == pytest.approx(t_closeness(classes, case["sensitive"]), abs=1e-12)
    sizes = [table.shape[1] for table in case["tables"]]
    if min(sizes) > 1:
        leaves = [
            np.bincount(table[level])[column]
            for table, level, column in zip(case["tables"], node, codes.T, strict=True)
        ]
        assert figures["glm"] == pytest.approx(glm(np.column_stack(leaves), sizes, suppressed=mask), rel=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_do_not_change_a_byte(threads: int) -> None:
    case = random_case(3, n=500, attributes=5, categories=9, levels=4)
    expected = LatticeEngine(**case, threads=1)
    engine = LatticeEngine(**case, threads=threads)
    steps: list[tuple[int, int]] = []
    assert engine.evaluate_all(lambda *step: steps.append(step)).tobytes() == expected.evaluate_all().tobytes()
    assert steps[-1] == (engine.n_nodes, engine.n_nodes)
    assert [done for done, _ in steps] == sorted({done for done, _ in steps})


def test_a_domain_beyond_64_bits(rng: np.random.Generator) -> None:
    n, p = 300, 14
    case = {
        "codes": np.minimum(rng.integers(0, 1000, (n, p)), rng.integers(0, 2, (n, p)) * 999),
        "tables": [
            np.array([np.arange(1000), np.arange(1000) // 500, np.zeros(1000, int)]) for _ in range(p)
        ],
        "sensitive": rng.integers(0, 5, n),
        "labels": rng.integers(0, 2, n),
        "max_suppressed": 60,
    }  # fmt: skip
    engine = LatticeEngine(**case, threads=1)
    assert engine.n_nodes == 3**p
    nodes = rng.integers(0, 3, (8, p))
    nodes[:4, 3:] = 2
    nodes = np.concatenate([nodes, nodes])  # the second half is grouped from tables of the first
    for node, got in zip(nodes, engine.evaluate(nodes), strict=True):
        assert_figures(got, plain(case, tuple(node)), node)
    # A lattice of the same attributes that is small enough to walk, with keys of several words.
    case["tables"] = [
        table if a < 4 else table[[0, 2]] if a < 7 else table[[0]] for a, table in enumerate(case["tables"])
    ]
    engine = LatticeEngine(**case, threads=1)
    got = engine.evaluate_all()
    for i in rng.integers(0, engine.n_nodes, 8):
        assert_figures(got[i], plain(case, tuple(engine.nodes()[i])), i)


def test_a_thousand_sensitive_values(rng: np.random.Generator) -> None:
    case = random_case(8, n=3000, attributes=3, categories=5)
    case["sensitive"], case["max_suppressed"] = rng.integers(0, 1000, 3000), 30
    engine = LatticeEngine(**case, threads=1)
    got = engine.evaluate_all()
    for i in range(0, engine.n_nodes, 3):
        assert_figures(got[i], plain(case, tuple(engine.nodes()[i])), i)


def test_reading_in_pieces_equals_reading_at_once() -> None:
    case = random_case(11, n=700, attributes=3)
    expected = LatticeEngine(**case, threads=1).evaluate_all()
    codes, sensitive, labels = case.pop("codes"), case.pop("sensitive"), case.pop("labels")
    pieces = ((codes[i : i + 90], sensitive[i : i + 90], labels[i : i + 90]) for i in range(0, 700, 90))
    engine = LatticeEngine.from_chunks(pieces, **case, has_sensitive=True, has_labels=True, threads=1)
    assert engine.n_records == 700
    assert engine.evaluate_all().tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "measures", [("k", "glm"), ("cm", "k"), ("entropy_l",), ("spread_k", "spread_l", "glm"), MEASURES]
)
def test_only_the_measures_asked_for(measures: tuple[str, ...]) -> None:
    case = random_case(5, n=150, attributes=3)
    everything = LatticeEngine(**case, threads=1).evaluate_all()
    engine = LatticeEngine(**case, threads=1, measures=measures)
    got = engine.evaluate_all()
    np.testing.assert_array_equal(got, everything[:, [MEASURES.index(m) for m in measures]])
    assert list(engine.figures(engine.nodes()[-1]).values()) == everything[-1].tolist()
    needless = {name: case[name] for name in ("codes", "tables", "max_suppressed")}
    engine = LatticeEngine(**needless, threads=1, measures=("k",))
    assert list(engine.figures([0, 0, 0])) == ["k", "spread_k", "glm", "discernibility", "suppressed", "glm_percent"]


def test_leaves_count_the_whole_domain() -> None:
    # Two of five values occur; under the first group of level 1 there are three of the five.
    levels = [[0, 1], [0, 1], [0, 0]]
    leaves = [[[1, 1, 1, 1, 1], [3, 2], [5]]]
    engine = LatticeEngine([[0], [0], [1]], [levels], leaves=leaves, measures=("glm",))
    np.testing.assert_allclose(engine.evaluate_all()[:, 0], [0, (2 + 2 + 1) / 4, 3])


def test_equal_distributions_tie() -> None:
    codes = np.repeat([0, 1], [6, 600])[:, None]
    sensitive = np.concatenate([np.tile([0, 1, 2], 2), np.tile([3, 4, 5], 200)])
    engine = LatticeEngine(codes, [[[0, 1]]], sensitive=sensitive, measures=("entropy_l", "l"))
    assert engine.evaluate([[0]]).tolist() == [[3.0, 3.0]]


def test_arguments_are_not_modified(unchanged: Any) -> None:
    case = random_case(2)
    codes, sensitive, labels = case["codes"], case["sensitive"], case["labels"]
    unchanged(
        lambda c, s, y: LatticeEngine(c, case["tables"], sensitive=s, labels=y).evaluate_all(), codes, sensitive, labels
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"codes": np.zeros((0, 1), int), "sensitive": [], "labels": []}, "no records"),
        ({"codes": [[0], [9]]}, "record 1 has code 9 of attribute 0"),
        ({"codes": [[0], [-1]]}, "negative code"),
        ({"codes": [[0, 1], [0, 1]]}, "2 attributes, tables are given for 1"),
        ({"codes": [[0.5], [1]]}, "whole numbers"),
        ({"tables": []}, "tables is empty"),
        ({"tables": [[[0, 0], [0, 1]]]}, "level 1 of attribute 0 splits a group of level 0"),
        ({"leaves": [[[1, 1]]]}, r"leaves\[0\]"),
        ({"leaves": [[[1, 1], [3]]]}, r"leaves\[0\]"),
        ({"sensitive": None, "measures": ("k", "l")}, "l cannot be measured without sensitive values"),
        ({"labels": None, "measures": ("cm",)}, "cm cannot be measured without class labels"),
        ({"sensitive": [0]}, "sensitive must have one value for each of the 2 records"),
        ({"max_suppressed": 2}, "less than the number of records"),
        ({"max_suppressed": -1}, "max_suppressed"),
        ({"measures": ("kk",)}, "measures must be one of 'k'"),
        ({"threads": 0}, "threads"),
    ],
)
def test_bad_input(changes: Case, message: str) -> None:
    good: Case = {"codes": [[0], [1]], "tables": [[[0, 1], [0, 0]]], "sensitive": [0, 1], "labels": [0, 0]}
    LatticeEngine(**good)
    with pytest.raises(SDCError, match=message):
        LatticeEngine(**{**good, **changes})


@pytest.mark.parametrize("nodes", [[[2]], [[-1]], [[0, 0]], [[0.5]], [0]])
def test_bad_nodes(nodes: list[Any]) -> None:
    with pytest.raises(SDCError, match="node"):
        LatticeEngine([[0], [1]], [[[0, 1], [0, 0]]], measures=("k",)).evaluate(nodes)

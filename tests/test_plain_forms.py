"""Kernels whose small work is left to a plain form: both forms give the same bytes, and who is asked when."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems._kernel import Kernel, Tiered
from sdc_problems.evaluators import attacks
from sdc_problems.evaluators.lattice import LatticeEngine, _kernels
from sdc_problems.evaluators.linkage import _agreement, _boxes, _nearest, _same_rows, _transport
from sdc_problems.evaluators.partition import engine
from sdc_problems.methods import mhm, microaggregate_univariate, v_mdav
from sdc_problems.methods._kernels import kd_tree, mdav, mondrian, walk
from sdc_problems.methods.recoding import _agglomerate, _classes
from sdc_problems.operators import partition


def same(kernel: Any, *args: Any) -> None:
    """Both forms return and leave behind the same, to the byte."""
    mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
    for plain, compiled in zip(_flat((kernel.plain(*mine), mine)), _flat((kernel.outer(*theirs), theirs)), strict=True):
        if isinstance(plain, np.ndarray):
            assert plain.dtype == compiled.dtype
            np.testing.assert_array_equal(plain, compiled)
        else:
            assert plain == compiled


def _flat(value: Any) -> list[Any]:
    if hasattr(value, "_asdict"):
        value = tuple(value)
    return [part for inner in value for part in _flat(inner)] if isinstance(value, tuple) else [value]


SEEDS = st.integers(0, 2**32 - 1)


def table(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    """Numbers, of which many are equal."""
    values = rng.normal(size=(n, p)) if rng.random() < 0.5 else rng.integers(0, 4, (n, p)).astype(float)
    return np.ascontiguousarray(values[rng.integers(0, n, n)] if rng.random() < 0.3 else values)


@given(seed=SEEDS, n=st.integers(2, 40), p=st.integers(1, 4), k=st.integers(1, 6))
def test_mdav(seed: int, n: int, p: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    Z = table(rng, n, p)
    same(mdav._columns, Z)
    P, total = mdav._columns.outer(Z)
    labels, ids = np.full(n, -1, dtype=np.int32), np.arange(n, dtype=np.int32)
    plain, compiled = ((labels.copy(), ids.copy(), np.array([n, 0]), total.copy()) for _ in range(2))
    mdav._scan_groups.plain(P.copy(), plain[1], np.empty(n), plain[3], plain[0], plain[2], k, 10**9)
    mdav._scan_groups.outer(P.copy(), compiled[1], np.empty(n), compiled[3], compiled[0], compiled[2], k, 10**9)
    for number in (0, 2, 3):
        np.testing.assert_array_equal(plain[number], compiled[number])
    m = plain[2][0]
    assert set(plain[1][:m]) == set(compiled[1][:m])
    numbered = rng.permutation(n)[rng.integers(0, n, n)].astype(np.int32)
    same(mdav.first_use, numbered, n)


@given(seed=SEEDS, n=st.integers(1, 20), m=st.integers(1, 20), p=st.integers(1, 5), share=st.integers(0, 25))
def test_ties(seed: int, n: int, m: int, p: int, share: int) -> None:
    rng = np.random.default_rng(seed)
    a = share % (p + 1)
    b = a + share // 5 % (p - a + 1)
    A, B = table(rng, n, p), table(rng, m, p)
    for values in (A, B):
        values[:, a:] = np.abs(np.rint(values[:, a:]))
    w, unit = rng.choice([0.0, 1.0, 3.0, 1.7], p), float(rng.choice([1.0, 6.0]))
    w[a:] = np.rint(w[a:])
    chosen = B[rng.integers(0, m, n)]
    same(_nearest.own_distances, A, chosen, w, a, b, unit)
    radius = _nearest.own_distances(A, chosen, w, a, b, unit)
    # One block of one target each: what compiled code says of its distance.
    for i in range(n):
        one = _nearest.in_blocks(chosen[i : i + 1], np.ones(1, dtype=np.int64), 1)
        alone = np.empty(1, dtype=np.int64)
        _nearest.brute_ties.outer(A[i : i + 1], radius[i : i + 1], one, w, a, b, unit, alone, 0, 1)
        assert alone[0] == 1
    blocks = _nearest.in_blocks(B, rng.integers(1, 4, m), 7)
    same(_nearest.brute_ties, A, radius, blocks, w, a, b, unit, np.empty(n, dtype=np.int64), 0, 10**9)
    same(_agreement.agreement_patterns, A, B, rng.choice([0.0, 0.5, np.inf], p))


@given(seed=SEEDS, n=st.integers(2, 60), p=st.integers(1, 4), k=st.integers(1, 6))
def test_mdav_of_any_kind(seed: int, n: int, p: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    V, weights, sizes = rng.integers(0, 4, (n, p)).astype(float), rng.random(p), np.full(p, 4)
    kinds = rng.choice([mdav.NUMERIC, mdav.ORDINAL, mdav.NOMINAL], p)
    V[:, kinds == mdav.NUMERIC] *= 0.7
    found = []
    for plain in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Tiered, "is_plain_for", lambda *_, plain=plain: plain)
            found.append(mdav.mixed_mdav_kernel(V, k, kinds, sizes, weights=weights))
    np.testing.assert_array_equal(*found)


@given(seed=SEEDS, n=st.integers(1, 400), p=st.integers(1, 4), share=st.floats(0.5, 1.0))
def test_trees_of_records(seed: int, n: int, p: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    Z = table(rng, n, p)
    some = np.sort(rng.choice(n, max(1, int(share * n)), replace=False)).astype(np.int32)
    found = []
    for plain in (True, False):
        place = np.zeros(n, dtype=np.int32)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Tiered, "is_plain_for", lambda *_, plain=plain: plain)
            L, ids, count, box, lowest = kd_tree.tree_of(Z, some, place)
        filled = np.arange(kd_tree.LEAF) < count[:, None]
        assert sorted(ids[filled]) == list(some)
        np.testing.assert_array_equal(L.transpose(0, 2, 1)[filled], Z[ids[filled]])
        np.testing.assert_array_equal(ids.ravel()[place[some]], some)
        assert lowest[0] == some[0]
        np.testing.assert_array_equal(box[0], [Z[some].min(axis=0), Z[some].max(axis=0)])
        for leaf, numbers in enumerate(ids):
            own = Z[numbers[: count[leaf]]]
            np.testing.assert_array_equal(box[len(count) - 1 + leaf], [own.min(axis=0), own.max(axis=0)])
        found.append((np.where(filled, ids, -1), box, lowest, place))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@given(seed=SEEDS, n=st.integers(2, 300), p=st.integers(1, 4), percent=st.floats(0.0, 100.0))
def test_attacks(seed: int, n: int, p: int, percent: float) -> None:
    rng = np.random.default_rng(seed)
    X, Y = table(rng, n, p), table(rng, n, p)
    Y = np.where(rng.random((n, 1)) < 0.5, X[rng.permutation(n)], Y)
    w, begin = attacks.inverse_scale(X), int(rng.integers(0, n))
    same(attacks._look_for_others, X, w, np.full(n, np.inf), begin, int(rng.integers(begin, n)) + 1)
    apart = attacks.nearest_others(X, w)
    same(attacks._count_copies, Y, X, w, apart, float(rng.random()))
    asked: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attacks, "_rank_links", lambda *args: asked.append(args))
        assert attacks.rsrl(X, Y, percent=percent) == 0.0
    for arguments in asked:  # none where no record is within ranks of its own
        same(attacks._rank_links, *arguments)


@given(seed=SEEDS, m=st.integers(0, 5), n=st.integers(1, 40), groups=st.integers(1, 50))
def test_groups(seed: int, m: int, n: int, groups: int) -> None:
    rng = np.random.default_rng(seed)
    same(engine.smallest_groups, rng.integers(0, groups, (m, n)).astype(np.int16), groups)
    most = int(rng.integers(1, 6))
    same(partition._with_room, rng.random(n), -(-n // most) + 1, most)


@given(seed=SEEDS, n=st.integers(1, 60), m=st.integers(1, 300), p=st.integers(1, 4))
def test_boxes_around_points(seed: int, n: int, m: int, p: int) -> None:
    rng = np.random.default_rng(seed)
    low, points = rng.integers(0, 9, (n, p)), rng.integers(0, 12, (m, p))
    high = low + rng.integers(0, 4, (n, p))
    order, tree = _boxes.box_tree(low, high, 4)
    same(_boxes.boxes_around, points, low[order], high[order], rng.integers(1, 5, n)[order], tree)


@given(seed=SEEDS, n=st.integers(1, 40), p=st.integers(1, 4))
def test_equal_rows(seed: int, n: int, p: int) -> None:
    rng = np.random.default_rng(seed)
    words = np.ascontiguousarray(table(rng, n, p) + 0.0).view(np.uint64)
    found = []
    for form in (_same_rows._group.plain, _same_rows._group.outer):
        who, first, count = (np.empty(n, dtype=np.int64) for _ in range(3))
        groups = form(words, np.full(128, -1, dtype=np.int32), who, first, count)
        found.append((who.tolist(), first[:groups].tolist(), count[:groups].tolist()))
    assert found[0] == found[1]
    same(_same_rows.smallest_of, rng.integers(0, 5, n).astype(float), rng.integers(0, 3, n), 3)


@given(seed=SEEDS, k=st.integers(1, 12), p=st.integers(1, 5))
def test_em(seed: int, k: int, p: int) -> None:
    rng = np.random.default_rng(seed)
    agrees, count = rng.random((k, p)) < 0.5, rng.integers(1, 1000, k).astype(float)
    old = np.clip(rng.random(2 * p) ** rng.choice([1.0, 20.0]), 1e-9, 1 - 1e-9)
    same(_agreement._em_step, agrees, count, float(rng.choice([0.5, 1e-4])), old, np.empty(2 * p))


@given(seed=SEEDS, n=st.integers(1, 9), m=st.integers(1, 9), top=st.integers(0, 50))
def test_transport(seed: int, n: int, m: int, top: int) -> None:
    rng = np.random.default_rng(seed)
    total = max(n, m) + int(rng.integers(0, 20))
    supply, demand = (1 + rng.multinomial(total - size, np.full(size, 1 / size)) for size in (n, m))
    flow, potentials = np.zeros((n, m), dtype=np.int64), (np.zeros(n, dtype=np.int64), np.zeros(m, dtype=np.int64))
    same(
        _transport.shortest_paths, rng.integers(-top, top + 1, (n, m)), flow, supply, demand, *potentials, 0, 10**9
    )  # fmt: skip


@given(seed=SEEDS, n=st.integers(1, 60), p=st.integers(1, 4), wide=st.booleans())
def test_nodes_of_a_lattice(seed: int, n: int, p: int, wide: bool) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 2000 if wide else 6, p)
    codes = np.column_stack([rng.integers(0, size, n) for size in sizes])
    tables = []
    for size in sizes:
        level = [np.arange(size)]
        for _ in range(rng.integers(0, 3)):
            merged = rng.integers(0, max(1, level[-1].max()), level[-1].max() + 1)
            level.append(np.unique(merged[level[-1]], return_inverse=True)[1])
        tables.append(np.array(level))
    followed = {"sensitive": rng.integers(0, 5, n), "labels": rng.integers(0, 2, n)}
    kept = {name: values for name, values in followed.items() if rng.random() < 0.6}
    engine = LatticeEngine(
        codes, tables, max_suppressed=int(rng.integers(0, n)), measures=("k", "glm"), threads=1, **kept
    )
    if engine._full.pairs is not None:
        same(_kernels.fill_stats, engine._full, engine._full_lattice)
    zero = np.zeros(p, dtype=np.int64)
    halfway, levels = (np.array([rng.integers(low, len(t)) for low, t in zip(zero, tables, strict=True)]) for _ in "ab")
    levels = np.maximum(halfway, levels)
    table = _kernels.measure_from.outer(engine._full, zero, halfway, engine._full_lattice)[0]
    for source, of in ((engine._full, zero), (table, halfway)):
        mine = _kernels.measure_from.plain(source, of, levels, engine._full_lattice)
        theirs = _kernels.measure_from.outer(source, of, levels, engine._full_lattice)
        for a, b in zip(mine[1:], theirs[1:], strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        assert classes(mine[0]) == classes(theirs[0])
    order = rng.permutation(p)
    rooms = np.tile([len(engine._full.sizes), engine._full.n_pairs], (p, 1))
    columns = rng.permutation(10)[:4]
    for every in (False, True):
        found = []
        for plain in (True, False):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Kernel, "spares", lambda *_, plain=plain: plain)
                found.append(_kernels.walk(engine._full, zero, order, rooms, engine._full_lattice, columns, every))
        for a, b in zip(*found, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


def hierarchies(rng: np.random.Generator, p: int, top: int) -> list[np.ndarray]:
    """Level tables whose levels join groups of the level below."""
    tables = []
    for size in rng.integers(1, top, p):
        level = [np.arange(size)]
        for _ in range(rng.integers(0, 4)):
            merged = rng.integers(0, max(1, level[-1].max()), level[-1].max() + 1)
            level.append(np.unique(merged[level[-1]], return_inverse=True)[1])
        tables.append(np.array(level))
    return tables


@given(seed=SEEDS, n=st.integers(1, 80), p=st.integers(1, 4), k=st.integers(1, 5))
def test_agglomeration(seed: int, n: int, p: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    tables = hierarchies(rng, p, int(rng.choice([3, 30])))
    codes = np.column_stack([rng.integers(0, table.shape[1], n) for table in tables])
    trees = _classes.Trees.of(tables, None, list(rng.choice([1.0, 1.001, 2.0], p)))
    asked: dict[str, list[Any]] = {"_merge": [], "_move": []}
    with pytest.MonkeyPatch.context() as patch:
        for name, calls in asked.items():
            form = getattr(_agglomerate, name).outer
            patch.setattr(
                _agglomerate, name, lambda *a, form=form, calls=calls: (calls.append(copy.deepcopy(a)), form(*a))[1]
            )
        _classes.alike(codes, min(k, n), trees, _classes.Mix.of(None, n, None, None, None))
    for name, calls in asked.items():
        for args in calls:
            assert np.isfinite(getattr(_agglomerate, name)._cost(*args))
            same(getattr(_agglomerate, name), *args)


def test_agglomeration_where_levels_part_groups_again_is_compiled() -> None:
    table = np.array([[0, 1, 2], [0, 0, 1], [0, 1, 1], [0, 0, 0]])
    starts, sizes, flat, _ = _classes.Trees.of([table], None, None).flat()
    assert not _agglomerate.is_nested(starts, sizes, flat, 1)
    assert _agglomerate.is_nested(starts, sizes, flat[[0, 1, 2, 3, 4, 5, 9, 10, 11]], 1)


@given(seed=SEEDS, n=st.integers(1, 120), p=st.integers(1, 4), k=st.integers(1, 5), strict=st.booleans())
def test_mondrian(seed: int, n: int, p: int, k: int, strict: bool) -> None:
    rng = np.random.default_rng(seed)
    tables = [table if rng.random() < 0.5 else table[:0] for table in hierarchies(rng, p, 30)]
    sizes = [table.shape[1] for table in tables]
    P = np.stack([rng.integers(0, size, n) for size in sizes]).astype(np.int32)
    offsets = np.cumsum([0, *sizes])
    values = np.concatenate([np.sort(rng.normal(size=size)) for size in sizes])
    starts = np.cumsum([0, *(table.size for table in tables)])[:-1]
    stack = np.zeros((n // k + 1, 2), dtype=np.int64)
    stack[0] = 0, n
    spans = rng.choice([0.0, 1.0, 2.0], p, p=[0.1, 0.6, 0.3])
    flat = np.concatenate([table.ravel() for table in tables]).astype(np.int32)
    levels = np.array([len(table) for table in tables])
    forms = []
    for form in (mondrian._cut_regions.plain, mondrian._cut_regions.outer):
        labels, state, budget = np.empty(n, dtype=np.int32), np.array([1, 0]), int(rng.choice([300, 10**9]))
        mine = P.copy(), np.arange(n, dtype=np.int32), stack.copy()
        while state[0]:
            form(
                mine[0], values, offsets, spans, flat, starts, levels, k, strict, mine[1], labels, mine[2], state,
                budget,
            )  # fmt: skip
        forms.append((mine[0], mine[1], labels, state))
    for plain, compiled in zip(*forms, strict=True):
        np.testing.assert_array_equal(plain, compiled)


def classes(table: Any) -> list[Any]:
    """Content of a table of classes in one order."""
    assert table.keys.shape == (len(table.sizes), table.keys.shape[1])
    if table.start is None:
        return sorted(zip(table.keys.tolist(), table.sizes.tolist(), strict=True))
    pairs = [sorted(table.pairs[a:b].tolist()) for a, b in zip(table.start[:-1], table.start[1:], strict=True)]
    return sorted(zip(table.keys.tolist(), table.sizes.tolist(), pairs, table.stats.tolist(), strict=True))


PARTITIONS = {
    "v_mdav": lambda Z, k: v_mdav(Z, k, gamma=0.2),
    "mhm": lambda Z, k: mhm(Z, k),
    "mhm nearest": lambda Z, k: mhm(Z, k, order="nearest"),
    "univariate": lambda Z, k: microaggregate_univariate(Z[:, 0], k),
}


@given(seed=SEEDS, n=st.integers(4, 120), p=st.integers(1, 3), k=st.integers(2, 5))
@pytest.mark.parametrize("name", PARTITIONS)
def test_partitions(name: str, seed: int, n: int, p: int, k: int) -> None:
    Z = table(np.random.default_rng(seed), n, p)
    found = []
    for patience in (0.0, np.inf):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Kernel, "patience", (patience, patience))
            patch.setattr(Tiered, "is_plain_for", lambda *_, plain=patience > 0.0: plain)
            found.append(PARTITIONS[name](Z, min(k, n // 2)))
    np.testing.assert_array_equal(*found)


def test_an_interpreted_kernel_calls_no_compiled_one() -> None:
    kernel = walk._walk.plain
    called = {name: kernel.__globals__[name] for name in ("nearest", "farthest", "take")}
    assert not any(isinstance(function, Kernel) for function in called.values())
    assert not isinstance(called["nearest"].__globals__["leaf_distances"], Kernel)


def test_plain_until_it_has_taken_as_long_as_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def work(seconds: float) -> str:
        asked.append(seconds)
        return "plain"

    kernel = Tiered(work, parallel=False, cost=lambda seconds: seconds, plain=work)
    monkeypatch.setattr(Kernel, "patience", (0.5, 2.0))
    monkeypatch.setattr(Kernel, "spent", 0.0)
    kernel.__dict__["_is_compiled"] = True
    assert [kernel.is_plain_for(s) for s in (0.4, 0.6)] == [True, False]
    assert kernel(0.4) == "plain"
    kernel.__dict__["_is_compiled"] = False
    assert [kernel.is_plain_for(s) for s in (1.9, 2.1)] == [True, False]
    Kernel.spent = 1.9
    assert not kernel.is_plain_for(0.2)
    dear = Tiered(work, parallel=False, compiling=1.5, cost=lambda seconds: seconds, plain=work)
    dear.__dict__["_is_compiled"] = False
    assert [dear.is_plain_for(s) for s in (2.9, 3.1)] == [True, False]
    dear.spend(2.8)
    assert not dear.is_plain_for(0.3)
    assert Kernel.spent == 1.9
    kernel.__dict__["outer"] = lambda seconds: "compiled"
    assert kernel(0.0) == "compiled"
    assert asked == [0.4]

"""Operators of cells: Gray-coded bits, other categories, blocks, exchanges."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.operators.cells import (
    BlockCrossover,
    CellBounds,
    CellMixture,
    CellMutation,
    RecordCrossover,
    StartFiles,
    block,
    flipped_bit,
    genome,
    other_category,
)

ORIGINAL = [[1, 3, 1, 5, 9], [5, 2, 2, 6, 7], [4, 8, 3, 4, 9], [1, 6, 5, 8, 2], [4, 7, 2, 1, 2]]
PROTECTED = [[1, 2, 1, 5, 7], [9, 1, 2, 3, 5], [4, 1, 9, 8, 9], [1, 6, 7, 9, 1], [3, 1, 2, 7, 2]]
GENOMES = [
    "0000 0001 0000 0000 1001",
    "1010 0010 0000 0111 0011",
    "0000 1101 1111 1010 0000",
    "0000 0000 0011 0001 0010",
    "0100 0101 0000 0101 0000",
]


def file_problem(numeric: bool, tops: list[int], n: int, starts: list[Any] | None = None) -> Any:
    upper = np.tile(tops, n)
    names = {f"start {i}": row for i, row in enumerate(starts or [np.zeros_like(upper)])}
    return SimpleNamespace(
        numeric=numeric, tops=np.array(tops), xl=np.zeros(len(upper)), xu=upper, dtype=np.dtype(np.int16),
        baselines=lambda: names, untouched=np.zeros_like(upper),
    )  # fmt: skip


def test_genomes_of_figure_3_1_and_table_3_1() -> None:
    """Marés (2013); the last two rows of Table 3.1 are shifted there: both genomes are 1110."""
    said = [[format(int(g), "04b") for g in row] for row in genome(PROTECTED, ORIGINAL)]
    assert said == [row.split() for row in GENOMES]
    assert [format(int(g), "b") for g in genome([1500, 1500, 12, 7], [1000, 1900, 7, 12])] == [
        "10100101110", "1111101000", "1110", "1110",
    ]  # fmt: skip


@given(st.integers(0, 5000), st.integers(0, 5000), st.integers(0, 5000), st.integers(0, 99))
def test_flipping_a_bit_of_the_genome_is_flipping_it_in_the_code(top: int, a: int, b: int, seed: int) -> None:
    code, original = a % (top + 1), b % (top + 1)
    rng = np.random.default_rng(seed)
    flipped = flipped_bit(code, top, rng)
    assert 0 <= flipped <= top
    if top:
        changed = int(genome([flipped], [original])[0]) ^ int(genome([code], [original])[0])
        assert changed.bit_count() == 1
    literal = flipped_bit(code, top, rng, original=original)
    before, after = (int(genome([c], [original])[0]) for c in (code, literal))
    assert after.bit_length() <= before.bit_length()
    assert (before ^ after).bit_count() == (0 if code == literal else 1)


def test_every_flip_in_range_is_drawn() -> None:
    rng = np.random.default_rng(1)
    assert {flipped_bit(5, 9, rng) for _ in range(200)} == {4, 6, 2}  # 10 is out of range
    assert {other_category(2, 3, rng) for _ in range(200)} == {0, 1, 3}
    assert other_category(0, 0, rng) == 0


@pytest.mark.parametrize("numeric", [True, False])
def test_mutation_changes_as_many_cells_and_no_constant_column(numeric: bool, rng: np.random.Generator) -> None:
    problem = file_problem(numeric, [5, 0, 900], 20)
    X = rng.integers(0, problem.xu + 1, size=(50, 60)).astype(np.int16)
    changed = (CellMutation()._do(problem, X, random_state=rng) != X).sum(axis=1)
    assert (changed == 1).all()
    more = CellMutation(n_cells=5)._do(problem, X, random_state=rng) != X
    assert more.sum(axis=1).max() <= 5
    assert not more[:, 1::3].any()
    still = file_problem(numeric, [0, 0], 3)
    np.testing.assert_array_equal(CellMutation()._do(still, X[:, :6] * 0, random_state=rng), X[:, :6] * 0)


def test_the_literal_width_leaves_untouched_cells_stuck(rng: np.random.Generator) -> None:
    problem = file_problem(True, [900], 20)
    X = np.zeros((30, 20), dtype=np.int16)
    np.testing.assert_array_equal(CellMutation(width="genome")._do(problem, X, random_state=rng), X)
    assert (CellMutation()._do(problem, X, random_state=rng) != X).any()


def test_blocks_are_exchanged_in_either_order(rng: np.random.Generator) -> None:
    problem = file_problem(False, [9, 9, 9], 8)
    X = np.stack([np.zeros((200, 24)), np.ones((200, 24))]).astype(np.int16)
    for order in ("record", "attribute"):
        children = BlockCrossover(order=order)._do(problem, X, random_state=rng)
        np.testing.assert_array_equal(children[0] + children[1], np.ones((200, 24)))
        rows = children[0].reshape(200, 8, 3)
        flat = (rows if order == "record" else rows.transpose(0, 2, 1)).reshape(200, 24)
        for row in flat:
            at = np.flatnonzero(row)
            assert len(at) == at[-1] - at[0] + 1  # one run
    assert {block(4, 2, rng)[0] for _ in range(300)} == set(range(8))


def test_records_are_exchanged_whole(rng: np.random.Generator) -> None:
    problem = file_problem(False, [9, 9, 9], 8)
    X = np.stack([np.zeros((50, 24)), np.ones((50, 24))]).astype(np.int16)
    rows = RecordCrossover(share=0.3)._do(problem, X, random_state=rng)[0].reshape(50, 8, 3)
    assert (rows.min(axis=2) == rows.max(axis=2)).all()
    assert 0.15 < rows.mean() < 0.45


def test_exchanges_keep_the_values_of_a_column(rng: np.random.Generator) -> None:
    problem = file_problem(True, [9, 99], 15)
    X = rng.integers(0, problem.xu + 1, size=(30, 30)).astype(np.int16)
    out = CellMixture(exchanges=1.0, neighbors=0.0)._do(problem, X, random_state=rng)
    assert (out != X).any()
    for before, after in zip(X.reshape(30, 15, 2), out.reshape(30, 15, 2), strict=True):
        np.testing.assert_array_equal(np.sort(before, axis=0), np.sort(after, axis=0))
    copied = CellMixture(exchanges=0.0, neighbors=1.0)._do(problem, X, random_state=rng)
    for before, after in zip(X.reshape(30, 15, 2), copied.reshape(30, 15, 2), strict=True):
        assert all(set(after[:, j]) <= set(before[:, j]) for j in range(2))


def test_start_files_come_first_and_are_mixed(rng: np.random.Generator) -> None:
    starts = [np.full(20, v, dtype=np.int16) for v in (0, 4, 7)]
    problem = file_problem(False, [9, 9], 10, starts)
    X = StartFiles()._do(problem, 8, random_state=rng)
    np.testing.assert_array_equal(X[:3], starts)
    assert all(np.isin(row, [0, 4, 7]).sum() >= 16 for row in X[3:])
    assert len(StartFiles()._do(problem, 2, random_state=rng)) == 2
    wild = np.array([[-3.4, 12.0] * 10])
    np.testing.assert_array_equal(CellBounds()._do(problem, wild), [[0, 9] * 10])


@pytest.mark.parametrize(
    "make",
    [
        lambda: CellMutation(n_cells=0),
        lambda: CellMutation(width="bits"),
        lambda: BlockCrossover(order="rows"),
        lambda: RecordCrossover(share=2),
        lambda: CellMixture(exchanges=0.8, neighbors=0.3),
        lambda: CellMixture(most=0),
    ],
)
def test_options_that_mean_nothing_are_refused(make: Any) -> None:
    with pytest.raises(SDCError):
        make()

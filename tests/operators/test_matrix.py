from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sdc_problems import SDCError
from sdc_problems.operators.matrix import (
    BITS,
    GrayBitMutation,
    MatrixCrossover,
    MatrixMutation,
    concentrate_row,
    flip_gray_bits,
    gray_decode,
    gray_encode,
    row_starts,
    swap_ranges,
)

SIZES = (3, 2)
genomes = hnp.arrays(np.int16, st.tuples(st.integers(1, 6), st.just(13)), elements=st.integers(0, 1000))
seeds = st.integers(0, 2**32 - 1)
ZERO, TOP = np.zeros(13), np.full(13, 1000.0)


def test_golden_gray_codes() -> None:
    """Marés (2013), Table 3.1 and Figure 4.1."""
    code = gray_encode(np.array([1500, 1000]))
    assert [format(c, "b") for c in code] == ["11100110010", "1000011100"]
    assert format(code[0] ^ code[1], "b") == "10100101110"
    figure = np.array([185, 283, 532, 609, 89, 302, 2, 277, 721])
    assert [format(c, "010b") for c in gray_encode(figure)] == [
        "0011100101", "0110010110", "1100011110",
        "1101010001", "0001110101", "0110111001",
        "0000000011", "0110011111", "1110111001",
    ]  # fmt: skip


def plain_gray(value: int) -> int:
    """From the right: a bit is turned over when the one to its left is set."""
    bits = [int(b) for b in format(value, "012b")]
    return int("".join(str(b ^ left) for b, left in zip(bits, [0, *bits], strict=False)), 2)


@given(st.integers(0, 2047))
def test_gray_codes_are_the_plain_ones_and_neighbours_differ_in_one_bit(value: int) -> None:
    code = int(gray_encode(np.array([value]))[0])
    assert code == plain_gray(value)
    assert int(gray_decode(np.array([code]))[0]) == value
    assert (code ^ int(gray_encode(np.array([value + 1]))[0])).bit_count() == 1


@given(genomes, seeds)
def test_a_flip_changes_one_bit_of_one_gene(X: np.ndarray, seed: int) -> None:
    upper = TOP.copy()
    upper[4] = 0  # outside a band
    X[:, 4] = 0
    Y = flip_gray_bits(X, ZERO, upper, np.random.default_rng(seed))
    for before, after in zip(X, Y, strict=True):
        (gene,) = np.flatnonzero(before != after)
        assert gene != 4
        assert (int(gray_encode(before[gene])) ^ int(gray_encode(after[gene]))).bit_count() == 1
        assert 0 <= after[gene] <= 1000


def test_every_allowed_flip_occurs() -> None:
    X = np.full((4000, 1), 1000, dtype=np.int16)
    seen = set(flip_gray_bits(X, np.zeros(1), np.full(1, 1000.0), np.random.default_rng(1)).ravel().tolist())
    code = int(gray_encode(np.array([1000]))[0])
    possible = {int(gray_decode(np.array([code ^ (1 << b)]))[0]) for b in range(BITS)}
    assert seen == {v for v in possible if v <= 1000}


@given(genomes, seeds)
def test_swapped_ranges_are_those_of_one_matrix(X: np.ndarray, seed: int) -> None:
    Y = swap_ranges(X, SIZES, TOP, np.random.default_rng(seed))
    for before, after in zip(X, Y, strict=True):
        moved = np.flatnonzero(before != after)
        if len(moved):
            assert (moved < 9).all() or (moved >= 9).all()
        for part in (slice(0, 9), slice(9, 13)):
            assert sorted(before[part]) == sorted(after[part])


def test_a_swap_is_two_equal_disjoint_ranges() -> None:
    X = np.arange(9, dtype=np.int16)[None, :]
    for seed in range(200):
        Y = swap_ranges(X, (3,), np.full(9, 1000.0), np.random.default_rng(seed))[0]
        moved = np.flatnonzero(Y != X[0])
        length = len(moved) // 2
        first, second = moved[:length], moved[length:]
        assert (np.diff(first) == 1).all()
        assert (np.diff(second) == 1).all()
        np.testing.assert_array_equal(Y[first], second)
        np.testing.assert_array_equal(Y[second], first)


@given(genomes, seeds)
def test_concentration_raises_one_entry_of_one_row(X: np.ndarray, seed: int) -> None:
    Y = concentrate_row(X, SIZES, TOP, np.random.default_rng(seed))
    of_row, _ = row_starts(SIZES)
    for before, after in zip(X, Y, strict=True):
        changed = np.flatnonzero(before != after)
        assert len(set(of_row[changed])) <= 1
        higher = changed[after[changed] > before[changed]]
        assert len(higher) <= 1
        assert (after[higher] == 1000).all()


@given(st.integers(1, 5), seeds)
def test_crossover_exchanges_rows_or_blends_them(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 1001, size=(2, n, 13)).astype(np.int16)
    before = X.copy()
    problem = SimpleNamespace(sizes=SIZES)
    exchanged = MatrixCrossover(blend=0.0)._do(problem, X, random_state=np.random.default_rng(seed))
    of_row, _ = row_starts(SIZES)
    for m in range(n):
        for row in range(5):
            genes = of_row == row
            kept = (exchanged[0, m, genes] == X[0, m, genes]).all() and (exchanged[1, m, genes] == X[1, m, genes]).all()
            swapped = (exchanged[0, m, genes] == X[1, m, genes]).all() and (
                exchanged[1, m, genes] == X[0, m, genes]
            ).all()
            assert kept or swapped
    blended = MatrixCrossover(blend=1.0)._do(problem, X, random_state=np.random.default_rng(seed))
    assert (blended >= X.min(axis=0)).all()
    assert (blended <= X.max(axis=0)).all()
    assert (np.abs(blended.astype(int).sum(axis=0) - X.astype(int).sum(axis=0)) <= 1).all()
    np.testing.assert_array_equal(X, before)
    assert exchanged.dtype == blended.dtype == np.int16


@given(genomes, seeds)
def test_mutation_keeps_bounds_dtype_and_parents(X: np.ndarray, seed: int) -> None:
    upper = TOP.copy()
    upper[[1, 10]] = 0
    X[:, [1, 10]] = 0
    before = X.copy()
    problem = SimpleNamespace(sizes=SIZES, xl=ZERO, xu=upper)
    for mutation in (MatrixMutation(), MatrixMutation(flips=0, swaps=0), GrayBitMutation(n_bits=3)):
        Y = mutation._do(problem, X, random_state=np.random.default_rng(seed))
        assert Y.dtype == np.int16
        assert (Y >= 0).all()
        assert (Y <= upper).all()
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize(
    "call",
    [lambda: GrayBitMutation(n_bits=0), lambda: MatrixCrossover(blend=2), lambda: MatrixMutation(flips=0.9, swaps=0.2)],
)
def test_bad_input_is_refused(call) -> None:
    with pytest.raises(SDCError):
        call()

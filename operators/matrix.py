"""Operators for transition matrices: integer entries 0..1000, all matrices of a candidate row by row in one array.

An entry of 250 in a row that sums to 1000 means probability 0.25. Rows are normalized when they are decoded, so every
array is a set of matrices. Genes that must stay 0 (outside a band) have upper bound 0. The operators use the bounds of
the problem and its ``sizes``, the number of categories of each attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.mutation import Mutation
from pymoo.core.repair import Repair
from pymoo.core.sampling import Sampling

from sdc_problems.errors import SDCError

SCALE = 1000
BITS = 10


def gray_encode(values: NDArray[Any]) -> NDArray[Any]:
    """Reflected binary (Gray) code of non-negative integers: neighbors differ in one bit.

    Examples
    --------
    >>> [format(g, "b") for g in gray_encode(np.array([1000, 1500]))]
    ['1000011100', '11100110010']
    """
    values = np.asarray(values)
    coded: NDArray[Any] = values ^ (values >> 1)
    return coded


def gray_decode(codes: NDArray[Any]) -> NDArray[Any]:
    """Inverse of ``gray_encode``.

    Examples
    --------
    >>> gray_decode(gray_encode(np.array([0, 1, 999, 1500])))
    array([   0,    1,  999, 1500])
    """
    values = np.array(codes, copy=True)
    shift = 1
    while shift < 8 * values.itemsize:  # prefix xor by doubling
        values ^= values >> shift
        shift *= 2
    return values


def flip_gray_bits(
    X: NDArray[Any], lower: NDArray[Any], upper: NDArray[Any], rng: np.random.Generator, n_bits: ArrayLike = 1
) -> NDArray[Any]:
    """Flip one random bit of the Gray code of one random gene per row, ``n_bits`` times (a number for each row).

    Only flips that stay within the bounds are drawn (1000 needs ten bits, which reach 1023), and only in genes whose
    bounds leave room, so every flip changes its gene.
    """
    out = X.copy()
    movable = np.flatnonzero(upper > lower)
    if len(movable) == 0:
        return out
    rows = np.arange(len(X))
    times = np.broadcast_to(np.asarray(n_bits), len(X))
    for turn in range(int(times.max(initial=0))):
        genes = movable[rng.integers(len(movable), size=len(X))]
        codes = gray_encode(out[rows, genes].astype(np.int64))
        flipped = gray_decode(codes[:, None] ^ (1 << np.arange(BITS))[None, :])
        inside = (flipped >= lower[genes, None]) & (flipped <= upper[genes, None])
        pick = np.argmax(np.where(inside, rng.random(flipped.shape), -1.0), axis=1)
        ok = inside[rows, pick] & (turn < times)
        out[rows[ok], genes[ok]] = flipped[rows[ok], pick[ok]]
    return out


def swap_ranges(X: NDArray[Any], sizes: Sequence[int], upper: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Swap two ranges of entries within one matrix of each row: the crossover of Marés (2013), §4.1.2.

    A matrix is drawn with probability proportional to its number of entries, then two different positions in it, and a
    length up to the distance between them and up to the end of the matrix.
    """
    out = X.copy()
    cells = np.array([n * n for n in sizes])
    offsets = np.concatenate([[0], np.cumsum(cells)[:-1]])
    for row, a in enumerate(rng.choice(len(cells), size=len(X), p=cells / cells.sum())):
        first, second = np.sort(rng.choice(cells[a], size=2, replace=False))
        length = int(rng.integers(1, min(second - first, cells[a] - second) + 1))
        one = slice(offsets[a] + first, offsets[a] + first + length)
        two = slice(offsets[a] + second, offsets[a] + second + length)
        out[row, one], out[row, two] = X[row, two], X[row, one]
    bounded: NDArray[Any] = np.minimum(out, upper.astype(X.dtype))
    return bounded


def row_starts(sizes: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Matrix row of each gene, counted over all matrices, and first gene of each matrix row."""
    widths = np.repeat(np.asarray(sizes), sizes)
    return np.repeat(np.arange(len(widths)), widths), np.concatenate([[0], np.cumsum(widths)[:-1]])


def on_grid(X: NDArray[Any], sizes: Sequence[int], resolution: int) -> NDArray[Any]:
    """Round rows of matrices so that their entries sum to the resolution, by largest remainders, ties to the left.

    A row of zeros becomes that of an unchanged category; an entry of 0 stays 0.

    Examples
    --------
    >>> on_grid(np.array([[1, 2, 0, 0], [3, 1, 10, 10]]), [2], 10).tolist()
    [[3, 7, 0, 10], [8, 2, 5, 5]]
    """
    out = np.asarray(X).astype(np.int64)
    _, first_genes = row_starts(sizes)
    categories = np.concatenate([np.arange(n) for n in sizes])
    for place, (first, width) in enumerate(zip(first_genes, np.repeat(np.asarray(sizes), sizes), strict=True)):
        genes = out[:, first : first + width]
        genes[genes.sum(axis=1) == 0, categories[place]] = resolution
        weight = genes.sum(axis=1, keepdims=True)
        part, rest = np.divmod(genes * resolution, weight)
        order = np.argsort(-rest, axis=1, kind="stable")
        more = np.arange(width) < resolution - part.sum(axis=1, keepdims=True)
        np.put_along_axis(part, order, np.take_along_axis(part, order, axis=1) + more, axis=1)
        out[:, first : first + width] = part
    return out.astype(X.dtype)


class GrayBitMutation(Mutation):
    """Mutation that flips one Gray-coded bit of one entry (Marés 2013, §4.1.2).

    Parameters
    ----------
    n_bits
        Number of flips per candidate.
    """

    def __init__(self, *, n_bits: int = 1) -> None:
        super().__init__()
        if n_bits < 1:
            raise SDCError(f"n_bits must be at least 1, not {n_bits}")
        self.n_bits = n_bits

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        return flip_gray_bits(X, problem.xl, problem.xu, random_state, self.n_bits)


class RangeSwapCrossover(Crossover):
    """Crossover of Marés (2013), with one parent and one child: swaps two ranges of entries within a candidate."""

    def __init__(self) -> None:
        super().__init__(n_parents=1, n_offsprings=1, prob=1.0)

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        return swap_ranges(X[0], problem.sizes, problem.xu, random_state)[None]


class MatrixCrossover(Crossover):
    """Crossover of two parents to two children that exchanges or blends matrix rows.

    Parameters
    ----------
    blend
        Share of matings that blend: the rows of the children are ``λ a + (1 − λ) b`` and ``λ b + (1 − λ) a``, with a
        new λ for each row. All other matings exchange each row with probability one half.
    """

    def __init__(self, *, blend: float = 0.5) -> None:
        super().__init__(n_parents=2, n_offsprings=2, prob=1.0)
        if not 0 <= blend <= 1:
            raise SDCError(f"blend must be in [0, 1], not {blend}")
        self.blend = blend

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        row_of_gene, first_genes = row_starts(problem.sizes)
        n_matings, n_rows = X.shape[1], len(first_genes)
        weight = random_state.random((n_matings, n_rows))
        exchange = random_state.random(n_matings) >= self.blend
        weight[exchange] = np.round(weight[exchange])
        lam = weight[:, row_of_gene]
        first, second = X[0].astype(np.float64), X[1].astype(np.float64)
        children = np.stack([lam * first + (1 - lam) * second, lam * second + (1 - lam) * first])
        whole: NDArray[Any] = np.rint(children).astype(X.dtype)
        return whole


class MatrixMutation(Mutation):
    """Mutation for populations: flips a few Gray-coded bits, swaps two ranges, or concentrates a row.

    Parameters
    ----------
    flips, swaps
        Shares of the first two. The remaining mutations concentrate a row: one entry is set to its upper bound, and the
        others shrink by a random factor, so that one step can reach a nearly deterministic row.
    """

    def __init__(self, *, flips: float = 0.5, swaps: float = 0.2) -> None:
        super().__init__()
        if min(flips, swaps) < 0 or flips + swaps > 1:
            raise SDCError(f"flips and swaps are shares that sum to at most 1, not {flips} and {swaps}")
        self.flips, self.swaps = flips, swaps

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        draw = random_state.random(len(X))
        n_bits = random_state.integers(1, 5, size=len(X))
        flipped = flip_gray_bits(X, problem.xl, problem.xu, random_state, n_bits)
        swapped = swap_ranges(X, problem.sizes, problem.xu, random_state)
        sharp = concentrate_row(X, problem.sizes, problem.xu, random_state)
        choice = np.digitize(draw, [self.flips, self.flips + self.swaps])[:, None]
        return np.where(choice == 0, flipped, np.where(choice == 1, swapped, sharp)).astype(X.dtype)


def concentrate_row(
    X: NDArray[Any], sizes: Sequence[int], upper: NDArray[Any], rng: np.random.Generator
) -> NDArray[Any]:
    """Concentrate one random row of each candidate: raise one entry to its bound, shrink the others by a factor."""
    out = X.copy()
    first_genes = row_starts(sizes)[1]
    widths = np.repeat(np.asarray(sizes), sizes)
    for i, row in enumerate(rng.integers(len(first_genes), size=len(X))):
        genes = np.arange(first_genes[row], first_genes[row] + widths[row])
        free = genes[upper[genes] > 0]
        if len(free) == 0:
            continue
        out[i, genes] = np.rint(out[i, genes] * rng.random()).astype(X.dtype)
        target = free[rng.integers(len(free))]
        out[i, target] = upper[target]
    return out


class MatrixSampling(Sampling):
    """Sampling of the baselines of the problem; further candidates are row-wise mixtures of two, with flipped bits."""

    def _do(
        self, problem: Any, n_samples: int, *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        rng = random_state
        starts = np.stack(list(problem.baselines().values()))
        more = max(n_samples - len(starts), 0)
        pairs = starts[rng.integers(len(starts), size=(2, more))]
        row_of_gene, first_genes = row_starts(problem.sizes)
        lam = rng.random((more, len(first_genes)))[:, row_of_gene]
        mixed = np.rint(lam * pairs[0] + (1 - lam) * pairs[1]).astype(starts.dtype)
        shaken = flip_gray_bits(mixed, problem.xl, problem.xu, rng, n_bits=max(1, len(first_genes) // 4))
        return np.concatenate([starts[:n_samples], shaken])


class MatrixBounds(Repair):
    """Repair that clips entries to their bounds, and rounds rows to the grid of the problem if it has one."""

    def _do(self, problem: Any, X: NDArray[Any], *args: object, **kwargs: object) -> NDArray[Any]:
        bounded: NDArray[Any] = np.clip(np.rint(X), problem.xl, problem.xu).astype(problem.dtype)
        resolution = getattr(problem, "resolution", None)
        return bounded if resolution is None else on_grid(bounded, problem.sizes, resolution)

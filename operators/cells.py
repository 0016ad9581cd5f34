"""Operators for protected files: all cells of a table as codes, record after record, in one array.

The operators use two attributes of the problem: ``tops``, the largest code of each column, and ``numeric``, whether
codes are whole units of a number, whose Gray-coded bits are flipped, or categories, which are drawn at random.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.mutation import Mutation
from pymoo.core.repair import Repair
from pymoo.core.sampling import Sampling

from sdc_problems._validation import choice, number, whole
from sdc_problems.errors import SDCError
from sdc_problems.operators.matrix import gray_decode, gray_encode

ORDERS = ("record", "attribute")


def flipped_bit(code: int, top: int, rng: np.random.Generator, *, original: int | None = None) -> int:
    """Flip one random bit of the Gray code of a code; all flips that stay within 0 … top are equally likely.

    With ``original``, only bits up to the leading one of ``gray(code) xor gray(original)`` are flipped, as in Marés
    (2013) §3.3: a perturbation never becomes longer, and an unchanged cell stays unchanged.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> sorted({flipped_bit(4, 6, rng) for _ in range(50)})
    [3, 5]
    >>> flipped_bit(4, 6, rng, original=4)
    4
    """
    gray = code ^ (code >> 1)
    width = int(top).bit_length()
    if original is not None:
        width = int(genome([code], [original])[0]).bit_length()
    flips = gray_decode(gray ^ (1 << np.arange(width, dtype=np.int64)))
    offered = flips[flips <= top]
    return int(rng.choice(offered)) if len(offered) else code


def other_category(code: int, top: int, rng: np.random.Generator) -> int:
    """Draw one of the other categories 0 … top, all equally likely.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> sorted({other_category(1, 3, rng) for _ in range(50)})
    [0, 2, 3]
    """
    drawn = int(rng.integers(top)) if top else code
    return drawn + (drawn >= code) if top else code


def genome(code: object, original: object) -> NDArray[np.int64]:
    """Genome of a cell as in Marés (2013, Eq. 3.1): Gray code of the protected value xor that of the original value.

    Flipping a bit of it flips that bit of the Gray code of the protected value, so the operators need not encode it.

    Examples
    --------
    >>> [format(int(g), "b") for g in genome([1500, 1500, 12, 7], [1000, 1900, 7, 12])]
    ['10100101110', '1111101000', '1110', '1110']
    """
    coded: NDArray[np.int64] = gray_encode(np.asarray(code, dtype=np.int64)) ^ gray_encode(
        np.asarray(original, dtype=np.int64)
    )
    return coded


def block(n_records: int, n_columns: int, rng: np.random.Generator, order: str = "record") -> NDArray[np.int64]:
    """Positions exchanged by a two-point crossover: from a uniform s to a uniform r between s and the end.

    Examples
    --------
    >>> block(2, 3, np.random.default_rng(3))
    array([4])
    """
    cells = n_records * n_columns
    first = int(rng.integers(cells))
    positions = np.arange(first, int(rng.integers(first, cells)) + 1)
    if order == "attribute":
        positions = (positions % n_records) * n_columns + positions // n_records
    return positions


class CellMutation(Mutation):
    """Mutation that changes the value of one random cell (Marés 2013, §3.3).

    In a number, one random bit of its Gray code is flipped; a category becomes another one. (Marés may also draw the
    old category, which wastes a step.)

    Parameters
    ----------
    n_cells
        Number of cells changed in each candidate.
    width
        "column" draws among the bits of the largest code of the column; "genome" among those up to the leading bit of
        the perturbation, as in Marés, so that an unchanged cell can never change.
    """

    def __init__(self, *, n_cells: int = 1, width: str = "column") -> None:
        super().__init__()
        self.n_cells = whole(n_cells, "n_cells", least=1)
        self.width = choice(width, "width", ("column", "genome"))

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        out = X.copy()
        movable = np.flatnonzero(problem.tops > 0)
        if len(movable) == 0:
            return out
        columns = len(problem.tops)
        records = X.shape[1] // columns
        original = problem.untouched if self.width == "genome" and problem.numeric else None
        for row in out:
            for _ in range(self.n_cells):
                j = int(movable[random_state.integers(len(movable))])
                at = int(random_state.integers(records)) * columns + j
                if problem.numeric:
                    before = None if original is None else int(original[at])
                    row[at] = flipped_bit(int(row[at]), int(problem.tops[j]), random_state, original=before)
                else:
                    row[at] = other_category(int(row[at]), int(problem.tops[j]), random_state)
        return out


class BlockCrossover(Crossover):
    """Crossover in which two files exchange the cells between two random positions (Marés 2013, §3.3).

    Parameters
    ----------
    order
        "record" counts positions along the records, as in Marés; "attribute" counts them along the columns, so that
        mostly whole columns are exchanged.
    """

    def __init__(self, *, order: str = "record") -> None:
        super().__init__(n_parents=2, n_offsprings=2, prob=1.0)
        self.order = choice(order, "order", ORDERS)

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        children = X.copy()
        columns = len(problem.tops)
        for m in range(X.shape[1]):
            cells = block(X.shape[2] // columns, columns, random_state, self.order)
            children[0, m, cells], children[1, m, cells] = X[1, m, cells], X[0, m, cells]
        return children


class RecordCrossover(Crossover):
    """Crossover in which two files exchange whole records, each with the same probability.

    Parameters
    ----------
    share
        Probability that a record is exchanged.
    """

    def __init__(self, *, share: float = 0.5) -> None:
        super().__init__(n_parents=2, n_offsprings=2, prob=1.0)
        self.share = number(share, "share", low=0.0, high=1.0)

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        columns = len(problem.tops)
        exchanged = random_state.random((X.shape[1], X.shape[2] // columns)) < self.share
        cells = np.repeat(exchanged, columns, axis=1)
        return np.stack([np.where(cells, X[1], X[0]), np.where(cells, X[0], X[1])])


class CellMixture(Mutation):
    """Mutation for populations: new values, exchanges within a column, and values of other records.

    Parameters
    ----------
    exchanges, neighbors
        Share of changes that exchange two cells of a column, so that it keeps its values, and share of changes that
        copy the cell of another record; all others are those of `CellMutation`.
    most
        Largest number of changes per candidate; the number is drawn uniformly.
    """

    def __init__(self, *, exchanges: float = 0.5, neighbors: float = 0.2, most: int = 8) -> None:
        super().__init__()
        if min(exchanges, neighbors) < 0 or exchanges + neighbors > 1:
            raise SDCError(f"exchanges and neighbors are shares that sum to at most 1, not {exchanges} and {neighbors}")
        self.exchanges, self.neighbors = exchanges, neighbors
        self.most = whole(most, "most", least=1)
        self._single = CellMutation()

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        rng = random_state
        out = X.copy()
        columns = len(problem.tops)
        records = X.shape[1] // columns
        for row in out:
            for _ in range(int(rng.integers(1, self.most + 1))):
                kind, j = rng.random(), int(rng.integers(columns))
                i, k = rng.integers(records, size=2) * columns + j
                if kind < self.exchanges:
                    row[i], row[k] = row[k], row[i]
                elif kind < self.exchanges + self.neighbors:
                    row[i] = row[k]
                else:
                    row[:] = self._single._do(problem, row[None, :], random_state=rng)[0]
        return out


class StartFiles(Sampling):
    """Sampling of the baselines of the problem; further files mix two of them and change a few cells."""

    def _do(
        self, problem: Any, n_samples: int, *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        starts = np.stack(list(problem.baselines().values()))
        more = max(n_samples - len(starts), 0)
        if more == 0:
            return starts[np.sort(random_state.choice(len(starts), size=n_samples, replace=False))]
        pairs = starts[random_state.integers(len(starts), size=(2, more))]
        mixed = RecordCrossover()._do(problem, pairs, random_state=random_state)[0]
        return np.concatenate([starts, CellMutation(n_cells=4)._do(problem, mixed, random_state=random_state)])


class CellBounds(Repair):
    """Repair that clips codes to their bounds, so that any array becomes a file."""

    def _do(self, problem: Any, X: NDArray[Any], *args: object, **kwargs: object) -> NDArray[Any]:
        bounded: NDArray[Any] = np.clip(np.rint(X), problem.xl, problem.xu).astype(problem.dtype)
        return bounded

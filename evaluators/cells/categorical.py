"""Engine for categorical files that change cell by cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._validation import FloatArray, IntArray, code_table, domain_sizes, number, whole
from sdc_problems._validation import kinds as check_kinds
from sdc_problems.evaluators._codes import unique_rows
from sdc_problems.evaluators.cells import _categorical as kernels
from sdc_problems.evaluators.cells._engine import CellEngine, Values, linkage_of_halves
from sdc_problems.evaluators.cells._state import BLOCK, State, cells_of
from sdc_problems.evaluators.information_loss.categorical import CATEGORICAL_KINDS
from sdc_problems.evaluators.linkage.distance import distance_linkage
from sdc_problems.evaluators.linkage.probabilistic import probabilistic_linkage

FOLLOWED = ("ctbil", "dbil", "ebil", "id_rank", "guess", "dbrl")
MOST_COMBINATIONS = 4_000_000  # of categories; up to so many, a table holds the nearest originals of each
_WHOLE = 2**53


class CategoricalCells(CellEngine):
    """Engine for categorical files that updates measures with each changed cell.

    Parameters
    ----------
    X
        Original category codes, records × attributes.
    kinds
        ``"ordinal"`` or ``"nominal"``, for all attributes or one per attribute.
    n_categories
        Domain sizes; by default, the largest code plus one.
    K
        Largest number of attributes crossed in the contingency tables.
    percent
        Half width of the rank interval.
    guard
        Whether the scores use the risk that detects renamed categories (``dr_guarded``) or ``dr_categorical``.

    Notes
    -----
    Updated with each change: ``ctbil``, ``dbil``, ``ebil``, ``id_rank``, ``guess``, and ``dbrl`` from the protected to
    the original records. A change of one cell costs O(p^K + categories · categories passed), for any number of records.

    Examples
    --------
    >>> X = np.array([[0, 0], [1, 1], [2, 0], [0, 1]])
    >>> state = CategoricalCells(X).open(X)
    >>> state.propose([[2, 0]], [0])["dbil"], state.measures["dbil"]
    (12.5, 0.0)
    >>> state.propose([[2, 0]], [0]) == state.commit(), state.codes[2].tolist()
    (True, [0, 0])
    """

    FOLLOWED = FOLLOWED

    def __init__(
        self,
        X: object,
        *,
        kinds: object = "nominal",
        n_categories: object = None,
        K: int = 2,
        percent: float = 10.0,
        guard: bool = True,
    ) -> None:
        original = np.ascontiguousarray(code_table(X, "X"))
        n, p = original.shape
        self.X = original
        self.guard = guard
        self.kinds = check_kinds(kinds, p, CATEGORICAL_KINDS)
        self.sizes = domain_sizes(n_categories, original)
        self.percent = number(percent, "percent", low=0.0, high=100.0)
        sizes = self.sizes
        ordinal = np.array([kind == "ordinal" for kind in self.kinds])
        begin = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        first = np.concatenate([[0], np.cumsum(sizes * sizes)[:-1]])
        rank = np.zeros(int(sizes.sum()), dtype=np.int64)
        for j in range(p):
            count = np.bincount(original[:, j], minlength=sizes[j])
            rank[begin[j] : begin[j] + sizes[j]] = 2 * (np.cumsum(count) - count) + count + 1
        crossed = [
            attributes
            for width in range(1, min(whole(K, "K", least=1), p) + 1)
            for attributes in combinations(range(p), width)
        ]
        stride = np.zeros((len(crossed), p), dtype=np.int64)
        start = np.zeros(len(crossed), dtype=np.int64)
        cells = 0
        for t, attributes in enumerate(crossed):
            start[t] = cells
            width = 1
            for j in attributes:
                stride[t, j] = width
                width *= int(sizes[j])
            cells += width
        having = [[t for t, attributes in enumerate(crossed) if j in attributes] for j in range(p)]
        tables = np.full((p, max(map(len, having))), -1, dtype=np.int64)
        for j, these in enumerate(having):
            tables[j, : len(these)] = these
        whole_numbers = np.arange(n + 2, dtype=np.float64)
        logs = whole_numbers * np.log(np.maximum(whole_numbers, 1.0))
        unit, exact = _distance_units(sizes, ordinal)
        order = np.concatenate([np.flatnonzero(ordinal), np.flatnonzero(~ordinal)])
        rows, _, records = unique_rows(original)
        combination = np.zeros(0, dtype=np.int64)
        nearest, nearest_ties = np.zeros(0), np.zeros(0, dtype=np.int64)
        if exact and math.prod(int(size) for size in sizes) <= MOST_COMBINATIONS:
            combination = np.concatenate([np.cumprod(sizes[::-1])[::-1][1:], [1]])
            nearest, nearest_ties = _nearest_originals(rows, records, sizes, ordinal, unit)
        divisor = np.where(sizes > 1, n * np.log(np.maximum(sizes, 2)) * p, np.inf)
        self.fixed = kernels.Fixed(
            original,
            sizes,
            ordinal,
            first,
            begin,
            rank,
            self.percent * n,
            tables,
            stride,
            start,
            unit,
            order,
            combination,
            nearest,
            nearest_ties,
            np.ascontiguousarray(rows),
            records,
            logs,
            100.0 / divisor,
            100.0 / (np.where(ordinal, sizes, 1) * n * p),
        )
        empty = np.zeros(cells, dtype=np.int64)
        for t in range(len(crossed)):
            np.subtract.at(empty, start[t] + original @ stride[t], 1)
        self._empty = empty

    def open(self, codes: NDArray[Any]) -> CategoricalState:
        """Return a file whose cells can be changed one by one."""
        return CategoricalState(self, self._file(codes, None))

    def values(self, codes: NDArray[Any]) -> IntArray:
        """Return the codes, which are the categories."""
        return codes.reshape(self.X.shape).astype(np.int64)

    @property
    def made_of(self) -> Mapping[str, tuple[str, ...]]:
        """Composite measures, each with the measures that it is computed from."""
        both = ("il_categorical", "dr_guarded" if self.guard else "dr_categorical")
        return {
            "il_categorical": ("ctbil", "dbil", "ebil"),
            "dr_categorical": ("id_rank", "dbrl", "prl"),
            "dr_guarded": ("id_rank", "guess", "dbrl", "prl"),
            "score_mean": both,
            "score_max": both,
        }

    def combine(self, values: Values) -> dict[str, float]:
        """Add loss, risks and scores."""
        made = dict(values)
        if "ctbil" in made:
            made["il_categorical"] = (made["ctbil"] + made["dbil"] + made["ebil"]) / 3.0
        if "prl" in made and "dbrl" in made:
            linked = max(made["dbrl"], made["prl"])
            made["dr_categorical"] = (made["id_rank"] + linked) / 2.0
            made["dr_guarded"] = (max(made["id_rank"], made["guess"]) + linked) / 2.0
            risk = made["dr_guarded" if self.guard else "dr_categorical"]
            made["score_mean"] = (made["il_categorical"] + risk) / 2.0
            made["score_max"] = max(made["il_categorical"], risk)
        return made

    def _prl(self, Y: IntArray) -> float:
        return probabilistic_linkage(self.X, Y, kinds=self.kinds)

    OF_FILES: ClassVar[Mapping[str, Callable[[Any, NDArray[Any]], float]]] = {
        "dbrl_protected": lambda engine, Y: distance_linkage(
            engine.X, Y, kinds=engine.kinds, n_categories=engine.sizes
        ),
        "dbrl_half": lambda engine, Y: linkage_of_halves(engine.X, Y, engine.kinds, engine.sizes),
    }

    def _file(self, codes: NDArray[Any], near: kernels.File | None) -> kernels.File:
        """Compile a file; the links of records that it shares with ``near`` are reused."""
        n, p = self.X.shape
        Y = np.ascontiguousarray(codes.reshape(n, p).astype(np.int64))
        file = kernels.File(
            Y,
            np.zeros(int((self.sizes * self.sizes).sum()), dtype=np.int64),
            np.zeros(int(self.sizes.sum()), dtype=np.int64),
            np.zeros(int(self.sizes.sum()), dtype=np.int64),
            np.zeros(int(self.sizes.sum()), dtype=np.int64),
            self._empty.copy(),
            np.zeros(p, dtype=np.int64),
            np.zeros(p, dtype=np.int64),
            np.zeros(p),
            np.zeros(n, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
            np.zeros(1),
        )
        changed = np.ones(n, dtype=bool)
        if near is not None:
            changed = (near.Y != Y).any(axis=1)
            file.tie[:] = near.tie
        kernels.count_all(self.fixed, file)
        kernels.link_all(self.fixed, file, changed)
        return file


def _distance_units(sizes: IntArray, ordinal: NDArray[np.bool_]) -> tuple[FloatArray, bool]:
    """Distance of one step (nominal: of a change) per attribute, in whole numbers if they fit, as in linkage."""
    common = math.lcm(*(int(size) for size in sizes[ordinal]))
    if common * 2 * len(sizes) < _WHOLE:
        return np.where(ordinal, common // sizes, common).astype(np.float64), True
    return np.where(ordinal, 1.0 / sizes, 1.0), False


def _nearest_originals(
    rows: IntArray, records: IntArray, sizes: IntArray, ordinal: NDArray[np.bool_], unit: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Distance of every combination of categories to the nearest originals, and the number of these.

    A distance is a sum over attributes, so the minimum is taken over the categories of one attribute after the other,
    and the number of records is carried along.
    """
    distance = np.full(tuple(sizes), np.inf)
    ties = np.zeros(tuple(sizes), dtype=np.int64)
    distance[tuple(rows.T)] = 0.0
    ties[tuple(rows.T)] = records
    for j, size in enumerate(sizes.tolist()):
        old_distance, old_ties = np.moveaxis(distance, j, 0), np.moveaxis(ties, j, 0)
        new_distance, new_ties = np.empty_like(old_distance), np.zeros_like(old_ties)
        for v in range(size):
            gap = np.abs(np.arange(size) - v)
            step = np.where(gap > 0, (gap + 1.0) * unit[j] if ordinal[j] else unit[j], 0.0)
            new_distance[v] = np.min([old_distance[x] + step[x] for x in range(size)], axis=0)
            for x in range(size):
                new_ties[v] += np.where(old_distance[x] + step[x] == new_distance[v], old_ties[x], 0)
        distance, ties = np.moveaxis(new_distance, 0, j), np.moveaxis(new_ties, 0, j)
    return np.ascontiguousarray(distance).ravel(), np.ascontiguousarray(ties).ravel()


class CategoricalState(State):
    """State of one categorical file: ``propose`` measures changed cells, ``commit`` makes the change."""

    engine: CategoricalCells

    def __init__(self, engine: CategoricalCells, file: kernels.File) -> None:
        super().__init__(engine)
        self.file = file
        self._block: kernels.File | None = None
        self._undo: list[tuple[int, int, int]] = []
        self._links: list[tuple[int, int]] = []
        self._sums: tuple[Any, ...] = ()

    @property
    def codes(self) -> IntArray:
        """Codes of the committed file, records × attributes; a copy."""
        self.discard()
        copy: IntArray = self.file.Y.copy()
        return copy

    def _measures(self) -> dict[str, float]:
        out = np.empty(len(FOLLOWED))
        kernels.measures(self.engine.fixed, self.file if self._block is None else self._block, out)
        return dict(zip(FOLLOWED, out.tolist(), strict=True))

    def measure_moves(self, cells: ArrayLike, codes: ArrayLike) -> dict[str, FloatArray]:
        """Measures after each of many single moves from the current file; the same as separate calls of ``propose``."""
        self.discard()
        where, what = cells_of(cells, codes, self.shape)
        out = np.empty((len(where), len(FOLLOWED)))
        kernels.measure_moves(self.engine.fixed, self.file, where, what, out)
        return dict(zip(FOLLOWED, out.T, strict=True))

    def _apply(self, cells: IntArray, codes: IntArray) -> None:
        fixed, file = self.engine.fixed, self.file
        if len(cells) > BLOCK:
            changed = file.Y.copy()
            changed[cells[:, 0], cells[:, 1]] = codes
            self._block = self.engine._file(changed, file)
            return
        self._sums = (file.entropy.copy(), float(file.links[0]))
        for (i, j), code in zip(cells.tolist(), codes.tolist(), strict=True):
            self._undo.append((i, j, int(file.Y[i, j])))
            kernels.move(fixed, file, i, j, code)
        for i in dict.fromkeys(cells[:, 0].tolist()):
            self._links.append((i, int(file.tie[i])))
            kernels.link_row(fixed, file, i)

    def _revert(self) -> None:
        if self._block is not None:
            self._block = None
            return
        for i, j, code in reversed(self._undo):
            kernels.move(self.engine.fixed, self.file, i, j, code)
        for i, tie in self._links:
            self.file.tie[i] = tie
        self.file.entropy[:], self.file.links[0] = self._sums
        self._undo, self._links = [], []

    def _keep(self) -> None:
        if self._block is not None:
            self.file, self._block = self._block, None
        self._undo, self._links = [], []

    def _rebuild(self) -> None:
        kernels.total_entropy(self.engine.fixed, self.file)
        kernels.total_links(self.file)

    def walk(
        self, moves: int, *, aim: FloatArray, guard: bool, hot: float, cold: float, seed: NDArray[np.uint64]
    ) -> float:
        """Anneal the file cell by cell, keep the best file found (`_categorical.walk`) and return its score.

        Parameters
        ----------
        moves
            Number of moves, each of one cell.
        aim
            Weights of loss and risk, 1 for the larger of the two (0: sum), and the probabilistic linkage in percent.
        guard
            Whether the larger of ID and ``guess`` replaces ID.
        hot, cold
            First and last temperature in points of the score; with 0, a worse file is never accepted.
        seed
            State of the random generator, one word; it is changed.
        """
        self.discard()
        best = np.empty_like(self.file.Y)
        score, _ = kernels.walk(self.engine.fixed, self.file, aim, guard, moves, hot, cold, seed, best)
        self.file = self.engine._file(best, self.file)
        return float(score)

"""Engine for numeric files that change cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._validation import FloatArray, IntArray, table
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import ranks
from sdc_problems.evaluators.attacks import PERCENTS, copies, inverse_scale, nearest_others, rsrl
from sdc_problems.evaluators.cells import _numeric as kernels
from sdc_problems.evaluators.cells._engine import CellEngine, Values, linkage_of_halves
from sdc_problems.evaluators.cells._state import BLOCK, State, cells_of
from sdc_problems.evaluators.information_loss.probabilistic import QUANTILES, pil_reference
from sdc_problems.evaluators.information_loss.records import record_change, regression_change
from sdc_problems.evaluators.linkage.distance import distance_linkage
from sdc_problems.evaluators.linkage.probabilistic import probabilistic_linkage

RSRL_PERCENTS = (5, 10, 15, 20)
"""Differences of ranks, in percent, at which the rank swapping linkage is computed; the largest result counts."""

LARGEST = 2**31 - 1  # units that a column may span


def decimals_of(column: FloatArray, most: int = 9) -> int:
    """Number of decimals with which a column is written, limited so that its range fits 31 bits."""
    span = float(column.max() - column.min())
    for decimals in range(most + 1):
        if span * 10.0 ** (decimals + 1) > LARGEST:
            return decimals
        if (np.rint(column * 10.0**decimals) / 10.0**decimals == column).all():
            return decimals
    return most


class NumericCells(CellEngine):
    """Engine for numeric files that updates measures with each changed cell.

    Parameters
    ----------
    X
        Original values, records × attributes.
    low
        Value that code 0 of each column stands for, in whole units (10^-decimals).
    decimals
        Number of decimals of each column.

    Notes
    -----
    Updated with each change: ``pil``; ``id_rank``, the mean over 1, 2, … 10 %; ``dbrl`` from the protected to the
    original records. A change of one cell costs O(p) for the statistics, as many steps as ranks change for quantiles
    and ranks, and O(p), seldom O(n·p), for the links. An exchange of two cells of a column costs O(p).

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [2.0, 4.0], [3.0, 9.0], [4.0, 1.0]])
    >>> engine = NumericCells(X, low=[0, 0], decimals=[0, 0])
    >>> state = engine.open(X.astype(int))
    >>> state.measures["pil"], state.propose([[0, 1]], [9])["pil"] > 0
    (0.0, True)
    >>> state.codes[0].tolist()
    [1, 5]
    >>> state.propose([[0, 1]], [9]) == state.commit()
    True
    >>> state.codes[0].tolist()
    [1, 9]
    """

    FOLLOWED = ("pil", "id_rank", "dbrl")

    def __init__(self, X: object, *, low: Iterable[int], decimals: Iterable[int]) -> None:
        values = table(X, "X")
        n = len(values)
        if n < 2:
            raise SDCError("a file of one record cannot be protected cell by cell: it needs at least two")
        self.X = values
        self.low = np.asarray(list(low), dtype=np.int64)
        scale = 10.0 ** np.asarray(list(decimals), dtype=np.float64)
        reference = pil_reference(values)
        at = QUANTILES * (n - 1)
        position = np.floor(at).astype(np.int64)
        weight = inverse_scale(values)
        rank = np.rint(2.0 * np.column_stack([ranks(column) for column in values.T])).astype(np.int64)
        gap = np.arange(2 * n + 1)
        disclosed = sum((50 * gap <= percent * n).astype(np.int64) for percent in PERCENTS)
        self.fixed = kernels.Fixed(
            np.ascontiguousarray(values),
            np.rint(values.mean(axis=0) * scale).astype(np.int64),
            scale,
            reference.means,
            np.ascontiguousarray(reference.covariances),
            np.ascontiguousarray(reference.correlations),
            np.ascontiguousarray(reference.quantiles),
            reference.mean_deviations,
            reference.variance_deviations,
            np.ascontiguousarray(reference.covariance_deviations),
            np.ascontiguousarray(reference.correlation_deviations),
            np.ascontiguousarray(reference.quantile_deviations),
            position,
            at - position,
            weight,
            nearest_others(values, weight),
            rank,
            np.asarray(disclosed, dtype=np.int64),
        )

    def values(self, codes: NDArray[Any]) -> FloatArray:
        """Numbers that the codes stand for, each the double nearest to its decimal fraction."""
        numbers: FloatArray = (self.low + codes.astype(np.int64)) / self.fixed.scale
        return numbers

    def codes(self, values: FloatArray) -> IntArray:
        """Codes of numbers, rounded to the decimals of their column."""
        codes: IntArray = np.rint(values * self.fixed.scale).astype(np.int64) - self.low
        return codes

    def open(self, codes: NDArray[Any]) -> NumericState:
        """Return a file whose cells can be changed one by one."""
        return NumericState(self, self._file(codes, None))

    @property
    def made_of(self) -> Mapping[str, tuple[str, ...]]:
        """Composite measures, each with the measures that it is computed from."""
        return {
            "dr_numeric": ("id_rank", "dbrl", "prl"),
            "score_mean": ("pil", "dr_numeric"),
            "score_max": ("pil", "dr_numeric"),
        }

    def combine(self, values: Values) -> dict[str, float]:
        """Add risk and scores."""
        made = dict(values)
        if "prl" in made and "dbrl" in made:
            made["dr_numeric"] = 0.5 * made["id_rank"] + 0.25 * made["dbrl"] + 0.25 * made["prl"]
            made["score_mean"] = (made["pil"] + made["dr_numeric"]) / 2.0
            made["score_max"] = max(made["pil"], made["dr_numeric"])
        return made

    def _prl(self, Y: FloatArray) -> float:
        return probabilistic_linkage(self.X, Y, kinds="numeric")

    OF_FILES: ClassVar[Mapping[str, Callable[[Any, NDArray[Any]], float]]] = {
        "copies": lambda engine, Y: copies(engine.X, Y),
        "rsrl": lambda engine, Y: max(rsrl(engine.X, Y, percent=percent) for percent in RSRL_PERCENTS),
        "dbrl_protected": lambda engine, Y: distance_linkage(engine.X, Y),
        "dbrl_half": lambda engine, Y: linkage_of_halves(engine.X, Y, ("numeric",) * Y.shape[1]),
        "record_change": lambda engine, Y: record_change(engine.X, Y),
        "regression_change": lambda engine, Y: regression_change(engine.X, Y),
    }

    def _file(self, codes: NDArray[Any], near: kernels.File | None, smooth: bool = False) -> kernels.File:
        """Compile a file; the links of records that it shares with ``near`` are reused."""
        n, p = self.X.shape
        units = np.ascontiguousarray(codes.reshape(n, p).astype(np.int64) + self.low - self.fixed.center)
        record = np.ascontiguousarray(np.argsort(units, axis=0, kind="stable").T)
        file = kernels.File(
            units,
            np.ascontiguousarray((units + self.fixed.center) / self.fixed.scale),
            np.ascontiguousarray(np.take_along_axis(units.T, record, axis=1)),
            record,
            np.empty((n, p), dtype=np.int64),
            np.empty((p, n), dtype=np.int64),
            np.empty((p, n), dtype=np.int64),
            np.zeros(p),
            np.zeros((p, p)),
            np.zeros(p),
            np.zeros(p),
            np.zeros(p),
            np.zeros((p, p)),
            np.zeros((p, p)),
            np.zeros((p, len(QUANTILES))),
            np.zeros(n, dtype=np.int64),
            np.full(n, -1, dtype=np.int64),
            np.full(n, -1, dtype=np.int64),
            np.zeros(6),
            np.zeros(2, dtype=np.int64),
        )
        changed = np.ones(n, dtype=bool)
        if near is not None:
            changed = (near.U != units).any(axis=1)
            file.tie[:], file.witness[:] = near.tie, near.witness
            file.copied[~changed] = near.copied[~changed]
        kernels.rank_all(self.fixed, file)
        kernels.restate(self.fixed, file, smooth)
        kernels.link_all(self.fixed, file, changed)
        file.count[kernels.COPIED] = np.count_nonzero(file.copied == 1)
        return file


class NumericState(State):
    """State of one numeric file: ``propose`` measures changed cells, ``commit`` makes the change."""

    engine: NumericCells

    def __init__(self, engine: NumericCells, file: kernels.File) -> None:
        super().__init__(engine)
        self.file = file
        self._block: kernels.File | None = None
        self._undo: list[tuple[int, int, int]] = []
        self._links: list[tuple[int, int, int]] = []
        self._sums: tuple[Any, ...] = ()

    @property
    def codes(self) -> IntArray:
        """Codes of the committed file, records × attributes; a copy."""
        self.discard()
        codes: IntArray = self.file.U + self.engine.fixed.center - self.engine.low
        return codes

    @property
    def values(self) -> FloatArray:
        """Numbers of the committed file; a copy."""
        self.discard()
        copy: FloatArray = self.file.V.copy()
        return copy

    def _measures(self) -> dict[str, float]:
        file = self.file if self._block is None else self._block
        return {
            "pil": kernels.loss_of(file),
            "id_rank": kernels.interval_of(self.engine.fixed, file),
            "dbrl": float(100.0 * file.total[kernels.LINKS] / len(file.U)),
        }

    def copies(self) -> float:
        """Percent of the committed records that nearly repeat an original (`copies`); searches changed records only."""
        self.discard()
        fixed, file = self.engine.fixed, self.file
        for i in np.flatnonzero(file.copied < 0):
            file.copied[i] = 0
            kernels.copy_row(fixed, file, int(i))
        return 100.0 * float(file.count[kernels.COPIED]) / len(file.U)

    def measure_moves(self, cells: ArrayLike, codes: ArrayLike) -> dict[str, FloatArray]:
        """Measures after each of many single moves from the current file; the same as separate calls of ``propose``."""
        self.discard()
        where, what = cells_of(cells, codes, self.shape)
        out = np.empty((len(where), 3))
        units = what + self.engine.low[where[:, 1]] - self.engine.fixed.center[where[:, 1]]
        kernels.measure_moves(self.engine.fixed, self.file, where, units, out)
        return dict(zip(("pil", "id_rank", "dbrl"), out.T, strict=True))

    def _apply(self, cells: IntArray, codes: IntArray) -> None:
        fixed, file, engine = self.engine.fixed, self.file, self.engine
        units = codes + engine.low[cells[:, 1]] - fixed.center[cells[:, 1]]
        if len(cells) > BLOCK:
            changed = file.U.copy()
            changed[cells[:, 0], cells[:, 1]] = units
            self._block = engine._file(changed + fixed.center - engine.low, file)
            return
        self._sums = (file.S1.copy(), file.S2.copy(), file.total.copy())
        for (i, j), unit in zip(cells.tolist(), units.tolist(), strict=True):
            self._undo.append((i, j, int(file.U[i, j])))
            kernels.move(fixed, file, i, j, unit, False)
        for i in dict.fromkeys(cells[:, 0].tolist()):
            self._links.append((i, int(file.tie[i]), int(file.witness[i])))
            kernels.link_row(fixed, file, i)

    def _revert(self) -> None:
        if self._block is not None:
            self._block = None
            return
        fixed, file = self.engine.fixed, self.file
        for i, j, unit in reversed(self._undo):
            kernels.move(fixed, file, i, j, unit, False)
        for i, tie, witness in self._links:
            file.tie[i], file.witness[i] = tie, witness
        file.S1[:], file.S2[:], file.total[:] = self._sums
        self._undo, self._links = [], []

    def _keep(self) -> None:
        if self._block is not None:
            self.file, self._block = self._block, None
            return
        file = self.file
        for i, _, _ in self._links:
            if file.copied[i] == 1:
                file.count[kernels.COPIED] -= 1
            file.copied[i] = -1
        self._undo, self._links = [], []

    def _rebuild(self) -> None:
        kernels.restate(self.engine.fixed, self.file, False)
        kernels.retotal_links(self.file)

    def walk(
        self,
        moves: int,
        *,
        columns: IntArray,
        sums: Mapping[int, tuple[int, int]],
        aim: FloatArray,
        most_copies: int,
        smooth: bool,
        temperature: float,
        seed: IntArray,
    ) -> int:
        """Exchange values within columns, keep what does not raise the score (`_numeric.walk`), return the number kept.

        Parameters
        ----------
        moves
            Number of exchanges to try.
        columns
            Columns in which values are exchanged.
        sums
            For a column that is part of a sum: the column of the sum, and its factor there in whole units.
        aim
            Weights of loss and risk, 1 for the larger of the two (0: sum), and the probabilistic linkage in percent.
        most_copies
            Number of records that may nearly repeat an original.
        smooth
            Whether the walk uses a loss that still has a slope where PIL is flat; `finish` restores PIL.
        temperature
            Temperature in points of the score; with 0, a worse file is never accepted.
        seed
            State of the random generator, one word; it is changed.
        """
        self.discard()
        self.copies()
        into = np.full(self.file.U.shape[1], -1, dtype=np.int64)
        sign = np.zeros_like(into)
        for j, (left, factor) in sums.items():
            into[j], sign[j] = left, factor
        kernels.restate(self.engine.fixed, self.file, smooth)
        kernels.retotal_links(self.file)
        taken: int = kernels.walk(
            self.engine.fixed, self.file, columns, into, sign, aim, most_copies, smooth, moves, temperature, seed
        )
        self.finish()
        return taken

    def finish(self) -> None:
        """Recompute losses as PIL counts them, and running sums."""
        self._rebuild()

"""PRAM by entries: a search for the transition matrix of each attribute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._validation import whole
from sdc_problems.errors import SDCError
from sdc_problems.methods.perturbation._pram import (
    diagonal_by_frequency_matrix,
    frequency_matrix,
    identity_matrix,
    max_entropy_matrix,
    normalize_rows,
    transition_matrix,
)
from sdc_problems.objective import Objective
from sdc_problems.operators.matrix import (
    SCALE,
    MatrixBounds,
    MatrixCrossover,
    MatrixMutation,
    MatrixSampling,
    on_grid,
    row_starts,
)
from sdc_problems.problem import AT_ONCE
from sdc_problems.problems.pram.base import Matrix, TransitionProblem

if TYPE_CHECKING:
    from sdc_problems.microdata import Microdata
    from sdc_problems.requirement import Required


class PRAMProblem(TransitionProblem):
    """Search for the transition matrix of each attribute, entry by entry.

    A row of X holds all matrices, row after row; each entry is a weight 0..1000. Rows are divided by their sums, and a
    row of zeros keeps its category.

    Parameters
    ----------
    data
        The table.
    columns
        Quasi-identifiers to protect, nominal or ordinal, with 2 to 4,096 categories; by default all of them. If the
        table declares none, any columns.
    objectives
        Any of ``il_categorical``, ``dr_categorical``, ``score_mean``, ``score_max``, ``ctbil``, ``dbil``, ``ebil``,
        ``id_rank``, ``dbrl``, ``prl``, ``bivariate``, ``chi2``, ``expectation_ratio``, ``entropy``; or an `Objective`
        of your own with a function, whose value is the mean over the replicate files.
    require
        Requirements of a solution, such as ``{"dr_categorical": 30}``; see `SDCProblem`.
    replicates
        Number of protected files over which a sampled score is averaged.
    invariant
        Whether matrices are made invariant: they keep the frequencies in expectation. A diagonal below 0.51 is first
        raised to it, then the two-stage construction is applied.
    diagonal
        Range (low, high) for every diagonal probability; with ``invariant``, it is applied before that step, as in
        the paper, so that the invariant matrix itself may leave it.
    band
        Largest number of places that a category of an ordinal attribute may move: one number, or one by attribute.
    evaluation
        ``"sampled"``: mean over files drawn with the same uniform numbers for all candidates. ``"expected"``: mean over
        all files that could be drawn, without drawing; it is exact for ``dbil``, ``ebil``, ``ctbil``, ``bivariate``,
        ``dbrl`` and the ``id_rank`` of nominal attributes, and a close approximation for other ``id_rank``, ``chi2``
        and the scores; ``prl`` is still measured on drawn files.
    against
        Unprotected attribute with which ``bivariate`` and ``chi2`` cross the protected ones.
    seed
        Seed of the uniform numbers that all candidates share.
    resolution
        Largest weight, instead of 1000. A row is read as the nearest one whose weights sum to it: 100 gives
        probabilities in steps of 0.01. The matrices on this grid are the search space, which is small enough for
        ``enumerate_front`` if there are few categories.

    Notes
    -----
    Marés (2013), chapter 4. ``il_categorical`` is Eq. 4.9 and ``dr_categorical`` Eq. 4.10 with every measure in percent
    of its maximum.

    Examples
    --------
    >>> import pandas as pd
    >>> from sdc_problems import Microdata
    >>> frame = pd.DataFrame({"sex": list("fmfm") * 5, "town": list("ooorr") * 4})
    >>> problem = PRAMProblem(Microdata.from_frame(frame), columns=["sex", "town"], evaluation="expected")
    >>> x = problem.encode({"sex": [[0.5, 0.5], [0.5, 0.5]], "town": [[1, 0], [0, 1]]})
    >>> problem.evaluate(x).round(2)
    array([26.68, 42.5 ])
    >>> problem.decode(x)["town"].to_numpy()
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(
        self,
        data: Microdata,
        *,
        columns: Sequence[str] | None = None,
        objectives: Sequence[str | Objective] = ("il_categorical", "dr_categorical"),
        require: Mapping[str, Required] | None = None,
        replicates: int = 5,
        invariant: bool = False,
        diagonal: tuple[float, float] | None = None,
        band: int | Mapping[str, int] | None = None,
        evaluation: Literal["sampled", "expected"] = "sampled",
        against: str | None = None,
        seed: int = 0,
        resolution: int | None = None,
    ) -> None:
        self.resolution = None if resolution is None else whole(resolution, "resolution", least=1)
        if self.resolution is not None and self.resolution > SCALE:
            raise SDCError(f"resolution must be at most {SCALE}, not {self.resolution}")
        super().__init__(
            data,
            columns=columns,
            objectives=objectives,
            require=require,
            replicates=replicates,
            invariant=invariant,
            diagonal=diagonal,
            band=band,
            evaluation=evaluation,
            against=against,
            seed=seed,
            n_var=None,
            bounds=(0, SCALE if self.resolution is None else self.resolution),
        )

    def _raw_matrices(self, x: NDArray[Any]) -> list[Matrix]:
        cells = np.cumsum([n * n for n in self.sizes])[:-1]
        if self.resolution is not None:
            x = on_grid(x[None, :], self.sizes, self.resolution)[0]
        return [normalize_rows(part.reshape(n, n)) for part, n in zip(np.split(x, cells), self.sizes, strict=True)]

    def encode(self, matrices: Mapping[str, ArrayLike]) -> NDArray[Any]:
        """Return the row of X for one transition matrix per attribute (arrays or DataFrames), in thousandths or steps.

        Entries outside a band are cut; limits are applied when the row is decoded.
        """
        unknown = sorted(set(matrices) - set(self.attributes))
        if unknown or len(matrices) < len(self.attributes):
            raise SDCError(f"encode needs a matrix for each of {self.attributes}, not {tuple(matrices)}")
        parts = []
        for name, n in zip(self.attributes, self.sizes, strict=True):
            P = transition_matrix(np.asarray(matrices[name], dtype=float), n, name=f"the matrix of {name!r}")
            whole_weights = np.rint(SCALE * P)
            # Many equal probabilities in thousandths round to 0: such a row is scaled up instead.
            lost = whole_weights.sum(axis=1) == 0
            whole_weights[lost] = np.rint(SCALE * P[lost] / P[lost].max(axis=1, keepdims=True))
            parts.append(whole_weights.ravel())
        weights = np.concatenate(parts)
        if self.resolution is not None:
            inside = np.where(self.xu > 0, weights, 0).astype(np.int64)
            weights = on_grid(inside[None, :], self.sizes, self.resolution)[0]
        row: NDArray[Any] = np.minimum(weights, self.xu).astype(self.dtype)
        return row

    @property
    def _choices(self) -> list[NDArray[np.int64]]:
        """Cells that may be used, for each row of the matrices."""
        cells = np.split(np.arange(self.n_var), row_starts(self.sizes)[1][1:])
        return [row[self.xu[row] > 0] for row in cells]

    @property
    def n_candidates(self) -> int:
        """Number of sets of matrices on the grid, or of weights without a grid."""
        if self.resolution is None:
            return super().n_candidates
        return prod(comb(self.resolution + len(row) - 1, len(row) - 1) for row in self._choices)

    def _size_in_words(self) -> str:
        way_out = "" if self.resolution is not None else " (resolution= makes the weights coarser)"
        return super()._size_in_words() + way_out

    def _candidates(self) -> Iterator[NDArray[Any]]:
        """Every set of matrices on the grid once."""
        if self.resolution is None:
            yield from super()._candidates()
            return
        rows = [compositions(self.resolution, len(cells)) for cells in self._choices]
        for start in range(0, self.n_candidates, AT_ONCE):
            numbers = np.arange(start, min(start + AT_ONCE, self.n_candidates))
            X = np.zeros((len(numbers), self.n_var), dtype=self.dtype)
            places = np.unravel_index(numbers, [len(row) for row in rows])
            for cells, row, place in zip(self._choices, rows, places, strict=True):
                X[:, cells] = row[place]
            yield X

    def _operators(self) -> dict[str, Any]:
        """Return operators for populations; the paper's own are in ``operators.matrix`` (used by ``ElitistEA``)."""
        return {
            "sampling": MatrixSampling(),
            "crossover": MatrixCrossover(),
            "mutation": MatrixMutation(),
            "repair": MatrixBounds(),
        }

    def baselines(self) -> dict[str, NDArray[Any]]:
        """Matrices of the literature, the paper's starting point first."""
        made = {
            "frequency-based, p = 0.5": [frequency_matrix(t, 0.5) for t in self.frequencies],
            "frequency-based, p = 0.8": [frequency_matrix(t, 0.8) for t in self.frequencies],
            "diagonal by frequency, θ = 0.5": [diagonal_by_frequency_matrix(t, 0.5) for t in self.frequencies],
            "diagonal by frequency, θ = 1": [diagonal_by_frequency_matrix(t, 1.0) for t in self.frequencies],
            "maximum entropy, 0.6": [max_entropy_matrix(n, 0.6) for n in self.sizes],
            "uniform": [max_entropy_matrix(n, 1 / n) for n in self.sizes],
            "identity": [identity_matrix(n) for n in self.sizes],
        }
        return {name: self.encode(dict(zip(self.attributes, P, strict=True))) for name, P in made.items()}


def compositions(total: int, parts: int) -> NDArray[np.int64]:
    """All ways to write a number as an ordered sum of so many numbers ≥ 0, one per row.

    Examples
    --------
    >>> compositions(2, 2).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    bars = np.array(list(combinations(range(total + parts - 1), parts - 1)), dtype=np.int64).reshape(-1, parts - 1)
    ends = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), total + parts - 1)])
    found: NDArray[np.int64] = np.diff(ends, axis=1)[::-1] - 1
    return found

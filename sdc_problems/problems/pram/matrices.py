"""PRAM by entries: each attribute's transition matrix is searched for itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
from sdc_problems.operators.matrix import SCALE, MatrixBounds, MatrixCrossover, MatrixMutation, MatrixSampling
from sdc_problems.problems.pram.base import Matrix, TransitionProblem

if TYPE_CHECKING:
    from sdc_problems.microdata import Microdata
    from sdc_problems.requirement import Required


class PRAMProblem(TransitionProblem):
    """Choose the transition matrix of each attribute, entry by entry.

    A row of X holds all matrices, row after row, each entry a weight 0..1000; rows are divided by their sums, and a
    row of zeros keeps its category.

    Parameters
    ----------
    data
        The table.
    columns
        Some of the quasi-identifiers, nominal or ordinal, with 2 to 4,096 categories; all of them if not given. Of a
        table that declares none, any columns.
    objectives
        Any of ``il_categorical``, ``dr_categorical``, ``score_mean``, ``score_max``, ``ctbil``, ``dbil``, ``ebil``,
        ``id_rank``, ``dbrl``, ``prl``, ``bivariate``, ``chi2``, ``expectation_ratio``, ``entropy``; or an `Objective`
        of one's own with a function, whose mean over the replicate files counts.
    require
        What a solution must meet, such as ``{"dr_categorical": 30}``; see `SDCProblem`.
    replicates
        Protected files that a sampled score is the mean of.
    invariant
        Whether matrices are made invariant: they keep the frequencies in expectation. Their diagonal is raised to 0.51
        where it is below, then the two-stage construction is applied.
    diagonal
        Range (low, high) that every diagonal probability is brought into; with ``invariant``, before that step, as in
        the paper: the invariant matrix itself may leave it.
    band
        How many places a category of an ordinal attribute may move: one number, or one per attribute named.
    evaluation
        ``"sampled"``: mean over files drawn with the same uniform numbers for all candidates. ``"expected"``: mean over
        all files that could be drawn, without drawing; see ``evaluators.transition`` for what is exact.
    against
        Attribute that stays as it is, which ``bivariate`` and ``chi2`` cross the protected ones with.
    seed
        Of the uniform numbers that all candidates share.

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
    ) -> None:
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
            bounds=(0, SCALE),
        )

    def _raw_matrices(self, x: NDArray[Any]) -> list[Matrix]:
        cells = np.cumsum([n * n for n in self.sizes])[:-1]
        return [normalize_rows(part.reshape(n, n)) for part, n in zip(np.split(x, cells), self.sizes, strict=True)]

    def encode(self, matrices: Mapping[str, ArrayLike]) -> NDArray[Any]:
        """Return the row of X for one transition matrix per attribute (arrays or DataFrames), in thousandths.

        Entries outside a band are cut; limits are applied when the row is decoded.
        """
        unknown = sorted(set(matrices) - set(self.attributes))
        if unknown or len(matrices) < len(self.attributes):
            raise SDCError(f"encode needs a matrix for each of {self.attributes}, not {tuple(matrices)}")
        parts = []
        for name, n in zip(self.attributes, self.sizes, strict=True):
            P = transition_matrix(np.asarray(matrices[name], dtype=float), n, name=f"the matrix of {name!r}")
            whole_weights = np.rint(SCALE * P)
            # Thousandths of many equal probabilities vanish: such a row is scaled up instead.
            lost = whole_weights.sum(axis=1) == 0
            whole_weights[lost] = np.rint(SCALE * P[lost] / P[lost].max(axis=1, keepdims=True))
            parts.append(whole_weights.ravel())
        row: NDArray[Any] = np.minimum(np.concatenate(parts), self.xu).astype(self.dtype)
        return row

    def _operators(self) -> dict[str, Any]:
        """Return operators for populations; the paper's own are in ``operators.matrix`` (``ElitistEA`` uses them)."""
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

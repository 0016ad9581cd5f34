"""Engine for PRAM: measures sets of transition matrices on one table, which is compiled once.

There are two evaluations. *Sampled*: the mean over several protected files that are drawn, as in the literature, but
with the same uniform numbers for every candidate, so that a score is a deterministic function of the matrices and
candidates can be compared without noise. *Expected*: the mean over all possible files, without drawing any. Of the
expected measures, DBIL, EBIL, CTBIL, the bivariate difference, DBRL and the ID of nominal attributes are exact; the ID
of ordinal attributes, chi2, DR and the scores are close approximations; PRL is that of the sampled files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from sdc_problems._validation import FloatArray, choice, whole
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.evaluators.transition._data import Matrices, TransitionData
from sdc_problems.evaluators.transition._expected import EXPECTED
from sdc_problems.evaluators.transition._sampled import SAMPLED, Drawn, draw

OF_THE_MATRICES = ("expectation_ratio", "entropy")
MADE_OF: dict[str, tuple[str, ...]] = {
    "il_categorical": ("ctbil", "dbil", "ebil"),
    "dr_categorical": ("id_rank", "dbrl", "prl"),
    "score_mean": ("il_categorical", "dr_categorical"),
    "score_max": ("il_categorical", "dr_categorical"),
}
MEASURES = (*MADE_OF, *SAMPLED, *OF_THE_MATRICES)
"""Measures of the engine, all in percent except the expectation ratio."""

CROSSED = ("bivariate", "chi2")
"""Measures that need an unprotected attribute."""

_CELLS_AT_ONCE = 2**22  # of newly drawn files in memory


def parts_of(names: Iterable[str]) -> set[str]:
    """Return the named measures and all measures that they are computed from.

    Examples
    --------
    >>> sorted(parts_of(["il_categorical"]))
    ['ctbil', 'dbil', 'ebil', 'il_categorical']
    """
    needed: set[str] = set()
    for name in names:
        if name not in MEASURES:
            raise SDCError(f"unknown measure {name!r}{did_you_mean(name, MEASURES)} (known: {', '.join(MEASURES)})")
        needed |= {name} | parts_of(MADE_OF.get(name, ()))
    return needed


def _combine(values: dict[str, FloatArray], needed: set[str]) -> dict[str, FloatArray]:
    """Add the sums and maxima of Marés (2013) Eq. 4.9 to 4.12."""
    if "il_categorical" in needed:
        values["il_categorical"] = (values["ctbil"] + values["dbil"] + values["ebil"]) / 3.0
    if "dr_categorical" in needed:
        values["dr_categorical"] = (values["id_rank"] + np.maximum(values["dbrl"], values["prl"])) / 2.0
    if "score_mean" in needed:
        values["score_mean"] = (values["il_categorical"] + values["dr_categorical"]) / 2.0
    if "score_max" in needed:
        values["score_max"] = np.maximum(values["il_categorical"], values["dr_categorical"])
    return values


class TransitionEngine:
    """Engine that measures transition matrices on one table.

    Parameters
    ----------
    codes
        Records × attributes: category codes of the attributes to protect.
    n_categories
        Domain size per attribute; by default, the largest code plus one.
    kinds
        ``"ordinal"`` or ``"nominal"``, for all attributes or one per attribute.
    against
        Codes of an unprotected attribute, for ``bivariate`` and ``chi2``.
    replicates
        Number of protected files per candidate.
    seed
        Seed of the uniform numbers that all candidates share.
    percent
        Half width of the interval of ``id_rank``, in percent of the records.

    Notes
    -----
    Contingency tables are counted without sorting, linkage works on distinct combinations, and the nearest originals of
    a protected combination are searched once. O(replicates · records · attributes²) per candidate, plus the
    probabilistic linkage of each file if it is needed (for ``prl``, ``dr_categorical`` and the scores).

    Examples
    --------
    >>> engine = TransitionEngine([[0, 1], [1, 0], [1, 1]], kinds="nominal", replicates=2)
    >>> values = engine.sampled([np.eye(2), np.eye(2)], ["il_categorical", "id_rank"])
    >>> values["il_categorical"], values["id_rank"]
    (array([0., 0.]), array([100., 100.]))
    >>> engine.expected([np.full((2, 2), 0.5)] * 2, ["dbil"])
    {'dbil': 50.0}
    """

    def __init__(
        self,
        codes: npt.ArrayLike,
        *,
        n_categories: object = None,
        kinds: object = "nominal",
        against: npt.ArrayLike | None = None,
        replicates: int = 5,
        seed: int = 0,
        percent: float = 10.0,
    ) -> None:
        self.data = TransitionData(codes, n_categories=n_categories, kinds=kinds, against=against, percent=percent)
        shape = (whole(replicates, "replicates", least=1), self.data.p, self.data.n)
        self.measures = tuple(name for name in MEASURES if against is not None or name not in CROSSED)
        self.uniforms = np.random.default_rng(whole(seed, "seed")).random(shape)

    @property
    def replicates(self) -> int:
        """Number of protected files per candidate."""
        return len(self.uniforms)

    def measure(
        self,
        candidates: Iterable[Matrices],
        names: Sequence[str] | None = None,
        *,
        evaluation: Literal["sampled", "expected"] = "sampled",
    ) -> FloatArray:
        """Measure candidates, each with one matrix per attribute: one row per candidate, one column per name.

        Parameters
        ----------
        candidates
            Sets of matrices whose rows sum to 1 (not checked).
        names
            Some of ``measures``; by default, all of them.
        evaluation
            ``"sampled"``: means over the replicate files; ``"expected"``: means over all possible files.
        """
        choice(evaluation, "evaluation", ("sampled", "expected"))
        wanted = [choice(name, "a measure", self.measures) for name in names or self.measures]
        rows = []
        for matrices in candidates:
            found = self.sampled(matrices, wanted) if evaluation == "sampled" else self.expected(matrices, wanted)
            rows.append([float(np.mean(found[name])) for name in wanted])
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(wanted))

    def draw(self, matrices: Matrices) -> Drawn:
        """Draw the protected files of a candidate, and count changes between categories."""
        return draw(self.data, matrices, self.uniforms)

    def sampled(self, matrices: Matrices, names: Iterable[str]) -> dict[str, FloatArray]:
        """Measures of each of the replicate files, by name, including those that the named ones are computed from.

        The rows of the matrices, one matrix per attribute, must sum to 1 (not checked).
        """
        return self._measured(matrices, parts_of(names), self.uniforms)

    def _measured(self, matrices: Matrices, needed: set[str], uniforms: FloatArray) -> dict[str, FloatArray]:
        values: dict[str, FloatArray] = {}
        of_files = [name for name in SAMPLED if name in needed]
        if of_files:
            drawn = draw(self.data, matrices, uniforms)
            values = {name: SAMPLED[name](self.data, drawn) for name in of_files}
        for name, value in self._of_the_matrices(matrices, needed).items():
            values[name] = np.full(len(uniforms), value)
        return _combine(values, needed)

    def fresh(
        self, matrices: Matrices, names: Iterable[str], *, files: int, seed: int
    ) -> Iterator[dict[str, FloatArray]]:
        """Measures of further files, drawn with other uniform numbers, some files at a time."""
        needed = parts_of(names)
        rng = np.random.default_rng(seed)
        at_once = max(1, _CELLS_AT_ONCE // (self.data.p * self.data.n))
        for start in range(0, files, at_once):
            yield self._measured(matrices, needed, rng.random((min(at_once, files - start), self.data.p, self.data.n)))

    def expected(self, matrices: Matrices, names: Iterable[str]) -> dict[str, float]:
        """Means of the measures over all possible files, by name; otherwise like :meth:`sampled`."""
        asked = set(names)
        needed = parts_of(asked)
        values = {name: np.array(EXPECTED[name](self.data, matrices)) for name in EXPECTED if name in needed}
        if "prl" in needed:
            values["prl"] = np.array(0.0)  # dr: DBRL replaces max(DBRL, PRL), whatever else is requested
        for name, value in self._of_the_matrices(matrices, needed).items():
            values[name] = np.array(value)
        combined = _combine(values, needed)
        if "prl" in asked:
            combined["prl"] = SAMPLED["prl"](self.data, self.draw(matrices)).mean()
        return {name: float(value) for name, value in combined.items() if name != "prl" or "prl" in asked}

    def _of_the_matrices(self, matrices: Matrices, needed: set[str]) -> dict[str, float]:
        values = {}
        if "expectation_ratio" in needed:
            values["expectation_ratio"] = self.data.mean_expectation_ratio(matrices)
        if "entropy" in needed:
            values["entropy"] = self.data.mean_entropy(matrices)
        return values

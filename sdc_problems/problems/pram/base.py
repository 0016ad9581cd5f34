"""Base of the PRAM problems: attributes, limits on the matrices, measuring, reading and releasing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._validation import choice, whole
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.transition import CROSSED, TransitionEngine, parts_of
from sdc_problems.methods.perturbation._pram import category_count, randomize_with, transition_matrix
from sdc_problems.methods.perturbation._pram_limits import (
    band_mask,
    diagonal_range,
    lower_diagonal,
    make_invariant,
    raise_diagonal,
)
from sdc_problems.microdata import Kind
from sdc_problems.objective import Objective
from sdc_problems.problem import SDCProblem, choose_objectives
from sdc_problems.problems._columns import as_microdata, left_as_they_are, protected_columns
from sdc_problems.problems.pram._objectives import CATALOGUE

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.microdata import Microdata
    from sdc_problems.requirement import Required

Matrix = NDArray[np.float64]
DOMINANT = 0.51
"""Diagonal to which a row is raised before the matrix is made invariant, so that it keeps more than it moves."""
RECODED = 0.95
"""A category that moves to one other with at least this probability counts as recoded rather than perturbed."""


@dataclass(frozen=True)
class Limits:
    """Limits on every matrix of a problem.

    ``widths`` says, per attribute, how many places a category may move in the end (None: anywhere).
    """

    invariant: bool
    diagonal: tuple[float, float] | None
    widths: tuple[int | None, ...]

    def first_width(self, a: int) -> int | None:
        """Band of the matrix itself: an invariant matrix is made of two moves, each of half the width."""
        width = self.widths[a]
        return width if width is None or not self.invariant else width // 2

    def allowed(self, a: int, n: int) -> NDArray[np.bool_]:
        """Cells of attribute a's matrix that may be used."""
        width = self.first_width(a)
        return np.ones((n, n), dtype=bool) if width is None else band_mask(n, width)

    def keep(self, P: Matrix, a: int, frequencies: NDArray[np.int64]) -> Matrix:
        """Change a matrix of attribute a, already within its band, to meet the other limits."""
        if self.diagonal is not None:
            low, high = self.diagonal
            P = lower_diagonal(raise_diagonal(P, low), high, self.allowed(a, len(P)))
        if self.invariant:
            P = make_invariant(raise_diagonal(P, DOMINANT), frequencies)
            P = P / P.sum(axis=1, keepdims=True)
        return P


class TransitionProblem(SDCProblem):
    """Protect categorical attributes by one transition matrix each; a subclass defines how a row of X makes them."""

    def __init__(
        self,
        data: Microdata,
        *,
        columns: Sequence[str] | None,
        objectives: Sequence[str | Objective],
        require: Mapping[str, Required] | None,
        replicates: int,
        invariant: bool,
        diagonal: tuple[float, float] | None,
        band: int | Mapping[str, int] | None,
        evaluation: Literal["sampled", "expected"],
        against: str | None,
        seed: int,
        n_var: int | None,
        bounds: tuple[int, int],
    ) -> None:
        data = as_microdata(data, columns)
        self.attributes = _categorical(data, protected_columns(data, columns))
        self.sizes = tuple(data.attribute(name).n_categories for name in self.attributes)
        self.limits = _limits(data, self.attributes, invariant, diagonal, band)
        self.replicates = whole(replicates, "replicates", least=1)
        self.evaluation = choice(evaluation, "evaluation", ("sampled", "expected"))
        self.against = against
        self.seed = whole(seed, "seed")
        self._frequencies: list[NDArray[np.int64]] | None = None
        if against is not None:
            _categorical(data, [against])
            if against in self.attributes:
                raise SDCError(f"against = {against!r} is one of the protected attributes: it must stay as it is")
        cells = sum(n * n for n in self.sizes)
        low, high = bounds
        upper: ArrayLike = high
        if n_var is None:
            masks = [self.limits.allowed(a, n).ravel() for a, n in enumerate(self.sizes)]
            upper = np.where(np.concatenate(masks), high, low)
        super().__init__(
            data=data,
            objectives=objectives,
            catalogue=CATALOGUE,
            require=require,
            n_var=cells if n_var is None else n_var,
            xl=low,
            xu=upper,
        )

    def _check_objective(self, objective: Objective) -> None:
        """Refuse an objective that needs an unprotected attribute if none is named."""
        if objective.name in CROSSED and self.against is None:
            raise SDCError(f"objective {objective.name!r} compares with an unprotected attribute: give against=")

    # -- what a subclass provides -------------------------------------------------------------------------------------

    @abstractmethod
    def _raw_matrices(self, x: NDArray[Any]) -> list[Matrix]:
        """Matrices of a checked row, before the limits (but within the bands)."""

    # -- measuring ----------------------------------------------------------------------------------------------------

    def _compile(self) -> TransitionEngine:
        kinds = ["ordinal" if self.data.attribute(a).kind is Kind.ORDINAL else "nominal" for a in self.attributes]
        return TransitionEngine(
            self.data.codes(self.attributes),
            n_categories=self.sizes,
            kinds=kinds,
            against=None if self.against is None else self.data.codes([self.against])[:, 0],
            replicates=self.replicates,
            seed=self.seed,
        )

    @property
    def frequencies(self) -> list[NDArray[np.int64]]:
        """Number of records in each category, per attribute."""
        if self._frequencies is None:
            codes = self.data.codes(self.attributes)
            self._frequencies = [
                np.bincount(column, minlength=n) for column, n in zip(codes.T, self.sizes, strict=True)
            ]
        return self._frequencies

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_frequencies": None}

    def matrices(self, x: ArrayLike) -> tuple[Matrix, ...]:
        """Transition matrices of a row of X, one per attribute: rows sum to 1."""
        raw = self._raw_matrices(self.genome(x))
        return tuple(self.limits.keep(P, a, self.frequencies[a]) for a, P in enumerate(raw))

    def _measure(self, X: NDArray[Any], names: Sequence[str]) -> NDArray[np.float64]:
        values: NDArray[np.float64] = self.engine.measure(map(self.matrices, X), names, evaluation=self.evaluation)
        return values

    def _tables(self, x: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Each replicate file with the original, also with ``evaluation="expected"``."""
        for released in self.engine.draw(self.matrices(x)).protected:
            yield released, self.data.codes(self.attributes)

    def assess(self, x: ArrayLike, names: Sequence[str], *, files: int = 200, seed: int = 1) -> dict[str, float]:
        """Return means of measures over new files, drawn with random numbers that no search has used.

        A search that scores with few files adapts slightly to their random numbers: this shows by how much.

        Parameters
        ----------
        x
            A row of X.
        names
            Measures, as in ``objectives``.
        files
            Number of files to draw.
        seed
            Seed of their uniform numbers, other than the problem's.
        """
        if seed == self.seed:
            raise SDCError(f"seed = {seed} is the one the problem scores with: choose another one for fresh files")
        names = [objective.name for objective in choose_objectives(names, CATALOGUE)]
        total = dict.fromkeys(names, 0.0)
        fresh = whole(files, "files", least=1)
        matrices = self.matrices(x)
        for values in self.engine.fresh(matrices, names, files=fresh, seed=whole(seed, "seed")):
            for name in names:
                total[name] += float(values[name].sum())
        return {name: value / fresh for name, value in total.items()}

    # -- reading and releasing ----------------------------------------------------------------------------------------

    def decode(self, x: ArrayLike) -> dict[str, pd.DataFrame]:
        """Transition matrix of each attribute, with categories as labels: rows are original, columns protected."""
        import pandas as pd

        tables = {}
        for name, P in zip(self.attributes, self.matrices(x), strict=True):
            labels = self.data.attribute(name).labels
            tables[name] = pd.DataFrame(
                P, index=pd.Index(labels, name="original"), columns=pd.Index(labels, name="protected")
            )
        return tables

    def figures(self, x: ArrayLike) -> dict[str, float]:
        """Measure the matrices: the objectives, and the measures that they are computed from."""
        names = [objective.name for objective in self.measured_objectives if objective.function is None]
        names += sorted(parts_of(names) - set(names))
        row = self.genome(x)
        if not names:
            return self._own_figures(row)
        values = self.engine.measure([self.matrices(row)], names, evaluation=self.evaluation)[0]
        return {**dict(zip(names, map(float, values), strict=True)), **self._own_figures(row)}

    def describe(self, x: ArrayLike) -> tuple[str, ...]:
        """Describe in plain sentences what releasing ``x`` would do to the data."""
        matrices = self.matrices(x)
        sentences = [
            self._sentence(name, P, counts)
            for name, P, counts in zip(self.attributes, matrices, self.frequencies, strict=True)
        ]
        recoded = [
            name for name, P, n in zip(self.attributes, matrices, self.frequencies, strict=True) if _is_recoded(P, n)
        ]
        if recoded:
            sentences.append(
                f"Most values of {', '.join(recoded)} go to one other category almost always: that recodes more than"
                " it perturbs, and whoever learns the matrix can undo it. diagonal=(0.55, 0.75), say, prevents it."
            )
        if self.limits.invariant:
            sentences.append("In expectation every category keeps its frequency (invariant matrices).")
        figures = self.figures(x)
        how = "expected" if self.evaluation == "expected" else f"mean of {self.replicates} files"
        said = [f"{o.label} {figures[o.name]:.2f}{' ' * bool(o.unit)}{o.unit}" for o in self.objectives]
        sentences += left_as_they_are(self.data, self.attributes)
        sentences.append(f"Measured ({how}): {'; '.join(said)}.")
        return tuple(sentences)

    def _sentence(self, name: str, P: Matrix, counts: NDArray[np.int64]) -> str:
        labels = self.data.attribute(name).labels
        present = np.flatnonzero(counts)
        stay = np.diag(P)
        kept = float((stay * counts).sum() / counts.sum())
        least, most = present[np.argmin(stay[present])], present[np.argmax(stay[present])]
        flows = P * counts[:, None]
        np.fill_diagonal(flows, 0.0)
        text = f"{name}: a value is kept with probability {kept:.2f}"
        ends = f"{stay[least]:.2f}", f"{stay[most]:.2f}"
        if ends[0] != ends[1]:  # if both are written alike, once is enough
            text += f" ({ends[0]} for {labels[least]} to {ends[1]} for {labels[most]})"
        if flows.sum() <= 0:
            return text + "."
        arrivals = flows.sum(axis=0)
        i, j = np.unravel_index(int(np.argmax(flows)), flows.shape)
        target = int(np.argmax(arrivals))
        share = 100 * arrivals[target] / flows.sum()
        return (
            f"{text}; values that move become {labels[target]} most ({share:.0f} % of them), and the most common move"
            f" is from {labels[int(i)]} to {labels[int(j)]}."
        )

    def release(self, x: ArrayLike, *, seed: int | None = None) -> pd.DataFrame:
        """Draw the protected table: each cell of the protected attributes changes with its own probability.

        Parameters
        ----------
        x
            A row of X.
        seed
            Seed of the draw; by default new entropy. Whoever knows it can undo the protection: keep it secret.
        """
        matrices = [transition_matrix(P, name=name) for name, P in zip(self.attributes, self.matrices(x), strict=True)]
        codes = self.data.codes(self.attributes).astype(np.int64)
        uniforms = np.random.default_rng(seed).random((len(self.attributes), len(self.data)))
        protected = randomize_with(codes, matrices, uniforms)
        frame = self._publishable()
        for a, name in enumerate(self.attributes):
            frame[name] = self.data.attribute(name).cells(protected[:, a])
        return frame


def _is_recoded(P: Matrix, counts: NDArray[np.int64]) -> bool:
    off = P.copy()
    np.fill_diagonal(off, 0.0)
    return bool(counts[off.max(axis=1) >= RECODED].sum() > counts.sum() / 2)


def _categorical(data: Microdata, names: Sequence[str]) -> tuple[str, ...]:
    """Check that the attributes exist, are categorical, and have at least two categories but not too many."""
    for name in names:
        attribute = data.attribute(name)
        if attribute.kind is Kind.NUMERIC:
            raise SDCError(
                f"attribute {name!r} is numeric: PRAM moves categories; declare kinds={{{name!r}: 'ordinal'}} if it has"
                " few values, recode it to intervals, or remove it from columns="
            )
        category_count(attribute.n_categories, f"the number of categories of {name!r}")
    return tuple(names)


def _limits(
    data: Microdata,
    names: tuple[str, ...],
    invariant: bool,
    diagonal: tuple[float, float] | None,
    band: int | Mapping[str, int] | None,
) -> Limits:
    if not isinstance(invariant, bool):
        raise SDCError(f"invariant must be True or False, not {invariant!r}")
    limits = None
    if diagonal is not None:
        if isinstance(diagonal, (str, bytes)) or np.shape(diagonal) != (2,):
            raise SDCError(f"diagonal must be a pair (low, high), not {diagonal!r}")
        limits = diagonal_range(*diagonal)
        if invariant and limits[1] < DOMINANT:
            raise SDCError(
                f"the diagonal range [{limits[0]:g}, {limits[1]:g}] cannot be met by an invariant matrix: its diagonal"
                f" is raised to {DOMINANT} first"
            )
    widths: list[int | None] = [None] * len(names)
    if band is not None:
        given = band if isinstance(band, Mapping) else dict.fromkeys(names, band)
        for name, width in given.items():
            if name not in names:
                raise SDCError(f"band names {name!r}, which is not among the attributes {names}")
            if data.attribute(name).kind is not Kind.ORDINAL:
                raise SDCError(
                    f"a band needs an order, and {name!r} is nominal: declare its order, or give band={{...}} for the"
                    " ordinal attributes only"
                )
            least = 2 if invariant else 1
            if whole(width, f"band of {name!r}") < least:
                why = "an invariant matrix moves twice" if invariant else "no category could move"
                raise SDCError(f"band of {name!r} must be at least {least}, not {width}: {why}")
            widths[names.index(name)] = int(width)
    return Limits(invariant, limits, tuple(widths))

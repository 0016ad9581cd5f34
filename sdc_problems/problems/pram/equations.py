"""PRAM by equations: one formula makes the transition matrices of all attributes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._validation import whole
from sdc_problems.errors import SDCError
from sdc_problems.front import Part, batched
from sdc_problems.methods.perturbation._pram import normalize_rows
from sdc_problems.methods.perturbation._pram_equations import FUNCTIONS, TERMINALS, equation_matrices, infix, postfix
from sdc_problems.objective import Objective
from sdc_problems.operators.tree import (
    Grammar,
    SubtreeCrossover,
    TreeMutation,
    TreeSampling,
    ValidTrees,
    every_tree,
    repaired,
)
from sdc_problems.problem import AT_ONCE
from sdc_problems.problems.pram.base import Matrix, TransitionProblem

if TYPE_CHECKING:
    from sdc_problems.microdata import Microdata
    from sdc_problems.requirement import Required


class PRAMEquationProblem(TransitionProblem):
    """Search for the equation that gives each cell of every transition matrix its weight.

    A row of X is an equation in postfix order: token ids of the terminals N, freq_max, freq_min, freq_i, freq_j and
    the functions +, -, ×, ÷ (with ``x ÷ 0 = 1``), padded with -1. The equation is applied to each attribute with its
    own frequencies. Weights that are negative or not finite count as 0, rows are divided by their sums, and a row
    without weight keeps its category. An incomplete equation is repaired (see ``operators.tree.repaired``).

    Parameters
    ----------
    data, columns, objectives, require, replicates, invariant, diagonal, band, evaluation, against, seed
        As for :class:`~sdc_problems.problems.pram.matrices.PRAMProblem`.
    depth
        Largest number of levels of an equation's tree; a row of X has ``2**depth - 1`` places.

    Notes
    -----
    Marés (2013) §4.2.

    Examples
    --------
    >>> import pandas as pd
    >>> from sdc_problems import Microdata
    >>> data = Microdata.from_frame(pd.DataFrame({"town": list("ooor")}))
    >>> problem = PRAMEquationProblem(data, columns=["town"], objectives=("score_max",), depth=3)
    >>> x = problem.encode("N freq_j -")
    >>> problem.equation(x)
    'N - freq_j'
    >>> problem.decode(x)["town"].to_numpy()
    array([[0.25, 0.75],
           [0.25, 0.75]])
    """

    def __init__(
        self,
        data: Microdata,
        *,
        columns: Sequence[str] | None = None,
        objectives: Sequence[str | Objective] = ("il_categorical", "dr_categorical"),
        require: Mapping[str, Required] | None = None,
        depth: int = 5,
        replicates: int = 5,
        invariant: bool = False,
        diagonal: tuple[float, float] | None = None,
        band: int | Mapping[str, int] | None = None,
        evaluation: Literal["sampled", "expected"] = "sampled",
        against: str | None = None,
        seed: int = 0,
    ) -> None:
        self.grammar = Grammar(len(TERMINALS), len(FUNCTIONS), whole(depth, "depth", least=1))
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
            n_var=self.grammar.length,
            bounds=(-1, len(TERMINALS) + len(FUNCTIONS) - 1),
        )

    def _tokens(self, x: ArrayLike) -> NDArray[Any]:
        return self.grammar.row(repaired(self.genome(x), self.grammar), self.dtype)

    def _raw_matrices(self, x: NDArray[Any]) -> list[Matrix]:
        tokens = self._tokens(x)
        return [
            normalize_rows(equation_matrices(tokens, t)[0] * self.limits.allowed(a, len(t)))
            for a, t in enumerate(self.frequencies)
        ]

    def encode(self, equation: str | Sequence[str]) -> NDArray[Any]:
        """Return the row of X for an equation in postfix order, such as ``"N freq_i freq_j + -"``."""
        tokens = postfix(equation)
        if repaired(tokens, self.grammar) != tokens.tolist():
            raise SDCError(f"the equation has more than depth = {self.grammar.depth} levels")
        return self.grammar.row(tokens.tolist(), self.dtype)

    def equation(self, x: ArrayLike) -> str:
        """Equation of a row in infix notation, simplified."""
        return infix(self._tokens(x))

    def describe(self, x: ArrayLike) -> tuple[str, ...]:
        """Describe in plain sentences what releasing ``x`` would do to the data."""
        return (f"Weight of moving from category i to category j: {self.equation(x)}.", *super().describe(x))

    def _operators(self) -> dict[str, Any]:
        """Return ramped half-and-half, subtree crossover, and all five mutations (subtree mutation most often)."""
        weights = {"subtree": 0.6, "point": 0.2, "hoist": 0.05, "collapse": 0.05, "expansion": 0.1}
        return {
            "sampling": TreeSampling(),
            "crossover": SubtreeCrossover(),
            "mutation": TreeMutation(weights),
            "repair": ValidTrees(),
        }

    @property
    def n_candidates(self) -> int:
        """Number of equations: 5 with one level, 105 with up to two, 44,105 with up to three."""
        n = 0
        for _ in range(self.grammar.depth):
            n = self.grammar.n_terminals + self.grammar.n_functions * n * n
        return n

    def _candidates(self) -> Iterator[NDArray[Any]]:
        """Every equation once, those with fewer levels first."""
        for trees in batched(every_tree(self.grammar), AT_ONCE):
            yield np.stack([self.grammar.row(list(tokens), self.dtype) for tokens in trees])

    def _enumerated(self, progress: Callable[[int, int], object] | None, n: int) -> Iterator[Part]:
        """Every equation with its F; of those that make the same matrices, only one is measured."""
        known: dict[bytes, NDArray[np.float64]] = {}
        done = 0
        for X in self._candidates():
            keys = [hashlib.sha256(b"".join((P + 0.0).tobytes() for P in self.matrices(x))).digest() for x in X]
            fresh = {key: i for i, key in reversed(list(enumerate(keys))) if key not in known}
            if fresh:
                known.update(zip(fresh, self._values(X[list(fresh.values())]), strict=True))
            yield self._part(X, np.stack([known[key] for key in keys]))
            done += len(X)
            if progress is not None:
                progress(done, n)

    def baselines(self) -> dict[str, NDArray[Any]]:
        """Simple equations, as a person would write them."""
        named = {"uniform: N": "N", "by frequency: freq_j": "freq_j", "rare first: N - freq_j": "N freq_j -"}
        if self.grammar.depth == 1:
            del named["rare first: N - freq_j"]
        return {name: self.encode(words) for name, words in named.items()}

"""Memo of measured solutions: an evaluator for pymoo that measures none twice and counts actual measurements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.evaluator import Evaluator
from pymoo.core.population import Population

from sdc_problems._genomes import first_unknown
from sdc_problems._validation import whole


class MemoEvaluator(Evaluator):
    """Evaluator that looks up a genome before measuring it.

    Genomes are compared by bytes, which suits canonical integer rows. ``n_eval`` counts individuals as every pymoo
    evaluator does, so that terminations work as usual; ``n_unique`` counts the actual measurements.

    Parameters
    ----------
    capacity
        Number of genomes to remember; above it, those measured first are forgotten.
    inner
        The evaluator that measures, for instance a ``ParallelEvaluator``; by default pymoo's own.

    Attributes
    ----------
    n_unique
        Number of measurements. As long as nothing was forgotten, this is the number of different genomes.

    Notes
    -----
    A remembered genome costs its own bytes, those of its objectives, and about 200 more.

    Examples
    --------
    >>> from pymoo.core.population import Population
    >>> from pymoo.problems import get_problem
    >>> evaluator = MemoEvaluator()
    >>> for _ in range(2):
    ...     pop = evaluator.eval(get_problem("zdt1", n_var=2), Population.new(X=np.array([[0.0, 1.0], [1.0, 0.0]])))
    >>> evaluator.n_eval, evaluator.n_unique
    (4, 2)
    """

    def __init__(self, *, capacity: int = 1_000_000, inner: Evaluator | None = None) -> None:
        super().__init__()
        self.capacity = whole(capacity, "capacity", least=1)
        self.inner = Evaluator() if inner is None else inner
        self.n_unique = 0
        self._known: dict[bytes, dict[str, NDArray[Any]]] = {}

    def _eval(self, problem: Any, pop: Any, evaluate_values_of: Sequence[str], **kwargs: Any) -> None:
        keys = [np.ascontiguousarray(individual.X).tobytes() for individual in pop]
        first = first_unknown(keys, self._known)
        fresh: dict[bytes, dict[str, NDArray[Any]]] = {}
        if first:
            # New individuals: those remembered must not change with those of the algorithm.
            measured = Population.new(X=np.array([pop[i].X for i in first.values()]))
            self.inner.eval(problem, measured, evaluate_values_of=evaluate_values_of, **kwargs)
            for key, individual in zip(first, measured, strict=True):
                fresh[key] = {name: np.array(individual.get(name)) for name in evaluate_values_of}
                form = np.ascontiguousarray(individual.X)
                if form.tobytes() != key:  # measuring has shown which solution the row really is
                    fresh[key]["X"] = form
                    fresh.setdefault(form.tobytes(), {n: v for n, v in fresh[key].items() if n != "X"})
            self.n_unique += len(first)
        for individual, key in zip(pop, keys, strict=True):
            for name, value in (fresh.get(key) or self._known[key]).items():
                individual.set(name, value.copy())
            individual.evaluated.update(evaluate_values_of)
        self._known.update(fresh)
        while len(self._known) > self.capacity:
            del self._known[next(iter(self._known))]

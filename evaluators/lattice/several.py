"""Engine for a lattice whose table has several sensitive columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._validation import choice
from sdc_problems.evaluators.lattice._corners import Corner
from sdc_problems.evaluators.lattice._kernels import Floats, Ints
from sdc_problems.evaluators.lattice.engine import MEASURES, NEED_SENSITIVE, LatticeEngine, Progress


class SeveralSensitive:
    """Engine for a table with several sensitive columns: each measure of them is that of the worst protected one.

    Which records a node suppresses depends on the sizes of its classes alone, so all columns are measured at the same
    thresholds, and what bounds the worst column at a threshold bounds all of them.

    Parameters
    ----------
    codes, tables, leaves, labels, max_suppressed, measures, threads, memory
        As for `LatticeEngine`.
    sensitive
        Sensitive values: records × columns.

    Examples
    --------
    >>> codes, sensitive = [[0], [0], [1], [1]], [[0, 0], [1, 0], [0, 0], [1, 1]]
    >>> levels = [[0, 1], [0, 0]]
    >>> engine = SeveralSensitive(codes, [levels], sensitive=np.array(sensitive), measures=("k", "l"))
    >>> engine.measure([[0], [1]])
    array([[2., 1.],
           [4., 2.]])
    """

    def __init__(
        self,
        codes: ArrayLike,
        tables: Sequence[ArrayLike],
        *,
        sensitive: NDArray[np.integer],
        leaves: Sequence[Sequence[ArrayLike]] | None = None,
        labels: ArrayLike | None = None,
        max_suppressed: int = 0,
        measures: Sequence[str] = MEASURES,
        threads: int | None = None,
        memory: int = 1 << 26,
    ) -> None:
        of_values = [name for name in measures if name in NEED_SENSITIVE]
        engine = partial(
            LatticeEngine, codes, tables, leaves=leaves, max_suppressed=max_suppressed, threads=threads, memory=memory
        )
        first, *others = sensitive.T
        self._first = engine(sensitive=first, labels=labels, measures=measures)
        self._others = [engine(sensitive=column, measures=of_values or ["k"]) for column in others]
        self._columns = [self._first.measures.index(name) for name in of_values]
        self._worst = [np.maximum if name == "t" else np.minimum for name in of_values]

    # -- what it is -----------------------------------------------------------------------------------------------

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures, the columns of results."""
        return self._first.measures

    @property
    def n_levels(self) -> Ints:
        """Number of levels of each attribute, the values themselves included."""
        return self._first.n_levels

    @property
    def n_nodes(self) -> int:
        """Number of nodes of the lattice."""
        return self._first.n_nodes

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self._first.n_records

    def level_losses(self) -> list[Floats]:
        """Loss at each level of each attribute; see `LatticeEngine.level_losses`."""
        return self._first.level_losses()

    def effective(self, nodes: ArrayLike, thresholds: ArrayLike) -> Ints:
        """Smallest threshold that suppresses the same records; see `LatticeEngine.effective`."""
        return self._first.effective(nodes, thresholds)

    def estimated_seconds(self) -> float:
        """Estimate the seconds that ``evaluate_all`` takes."""
        return sum(engine.estimated_seconds() for engine in (self._first, *self._others))

    # -- measuring ------------------------------------------------------------------------------------------------

    def measure(
        self, nodes: ArrayLike, names: Sequence[str] | None = None, *, thresholds: ArrayLike | None = None
    ) -> Floats:
        """Measure nodes: one column per name, each one of ``measures``; all of them by default."""
        found = self._first.evaluate(nodes, thresholds)
        for engine in self._others:
            self._join(found, engine.evaluate(nodes, thresholds))
        columns = [self.measures.index(choice(name, "a measure", self.measures)) for name in names or self.measures]
        return found[:, columns]

    def steps(self, nodes: ArrayLike) -> list[tuple[Ints, Floats]]:
        """Thresholds of each node that make a difference, and their measures; see `LatticeEngine.steps`."""
        found = self._first.steps(nodes)
        for engine in self._others:
            for (_, values), (_, further) in zip(found, engine.steps(nodes), strict=True):
                self._join(values, further)
        return found

    def corners(self, nodes: ArrayLike) -> list[Corner]:
        """Measures of each node, and bounds on those of finer nodes; see `LatticeEngine.corners`."""
        found = self._first.corners(nodes)
        for engine in self._others:
            for corner, further in zip(found, engine.corners(nodes), strict=True):
                self._join(corner.values, further.values)
                self._join(corner.finer, further.finer)
        return found

    def figures(self, node: ArrayLike, threshold: int | None = None) -> dict[str, float]:
        """All measures of one node that can be computed from the data, by name."""
        found = self._first.figures(node, threshold)
        for engine in self._others:
            further = engine.figures(node, threshold)
            for name in NEED_SENSITIVE:
                found[name] = (max if name == "t" else min)(found[name], further[name])
        return found

    def evaluate_all(self, progress: Progress | None = None) -> Floats:
        """Measure every node at the largest threshold that ``max_suppressed`` allows, in the order of their numbers."""
        found = self._first.evaluate_all(progress)
        for engine in self._others:
            self._join(found, engine.evaluate_all())
        return found

    def every_step(self, progress: Progress | None = None) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Measure every node at every threshold that makes a difference; see `LatticeEngine.every_step`."""
        order = self._first.walking_order()
        walks = [engine.every_step(order=order) for engine in self._others]
        for numbers, thresholds, values in self._first.every_step(progress, order=order):
            for walk in walks:
                self._join(values, next(walk)[2])
            yield numbers, thresholds, values

    def _join(self, values: Floats, further: Floats) -> None:
        """Put the worse of two columns' measures into the first table."""
        for j, (column, worst) in enumerate(zip(self._columns, self._worst, strict=True)):
            worst(values[:, column], further[:, j], out=values[:, column])

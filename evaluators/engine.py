"""Engine of a task: data compiled once, candidates measured many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class Engine(Protocol):
    """Protocol of the engines: made from arrays, without pymoo; equal candidates always get equal values.

    What a candidate is, the package says: levels (`lattice.LatticeEngine`), group labels of attributes
    (`grouping.GroupingEngine`) or of records (`partition.PartitionEngine`), transition matrices
    (`transition.TransitionEngine`). A candidate measures the same alone and among others, in any order, with any number
    of threads.

    Examples
    --------
    >>> from sdc_problems.evaluators.partition import PartitionEngine
    >>> engine = PartitionEngine([[0.0], [1.0], [10.0], [11.0]])
    >>> isinstance(engine, Engine)
    True
    >>> engine.measure([[0, 0, 1, 1], [0, 1, 0, 1]], ("k", "sse")).round(2)
    array([[2.  , 0.04],
           [2.  , 3.96]])
    """

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of what it can measure, in the order of the columns if none are named."""
        ...

    def measure(self, candidates: Any, names: Sequence[str] = ..., /) -> NDArray[np.float64]:
        """Measure candidates: one row for each, one column per name, in the measures' own units."""
        ...

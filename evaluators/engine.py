"""Protocol of engines: data is compiled once, candidates are measured many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class Engine(Protocol):
    """Protocol of engines, which are built from arrays, without pymoo; equal candidates always get equal values.

    A candidate is a row of levels (`lattice.LatticeEngine`), of group labels of attributes
    (`grouping.GroupingEngine`) or of records (`partition.PartitionEngine`), or of transition matrices
    (`transition.TransitionEngine`). Its measures do not depend on the other candidates, their order or the number of
    threads.

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
        """Names of all measures, in the order of the columns when `measure` is called without names."""
        ...

    def measure(self, candidates: Any, names: Sequence[str] = ..., /) -> NDArray[np.float64]:
        """Measure candidates: one row per candidate, one column per name, in the unit of each measure."""
        ...

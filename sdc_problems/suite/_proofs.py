"""Fronts of instances by enumeration, lower bounds, or searches; each also says what is known then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import moocore
import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError
from sdc_problems.front import minimal
from sdc_problems.operators.canonical import restricted_growth
from sdc_problems.suite._files import Points

if TYPE_CHECKING:
    from sdc_problems.problem import SDCProblem
    from sdc_problems.problems.microaggregation import MicroaggregationProblem

STARTS, MOVES = 30, 100_000  # of the annealing for each k
COOLING = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0)  # temperatures, as shares of a record's mean error

Progress = Callable[[int, int], object]
Proof = Callable[["SDCProblem", Mapping[str, Any], Progress | None], tuple[str, Points]]


def _enumeration(problem: SDCProblem, said: Mapping[str, Any], progress: Progress | None) -> tuple[str, Points]:
    """Exact front, by measuring every solution or by an equivalent algorithm."""
    front = problem.enumerate_front(progress, limit=said["proof"].get("limit", 1_000_000))
    kept = apart(front.F)
    return "exact", Points(problem.natural(front.F[kept]), front.X[kept], None)


def apart(F: NDArray[np.float64]) -> NDArray[np.int64]:
    """Points of a front without those that differ by rounding only (by 10⁻¹¹ of the range), of which one is kept.

    Examples
    --------
    >>> apart(np.array([[0.0, 1.0], [0.5, 0.5], [0.5 + 1e-16, 0.5 - 1e-16], [1.0, 0.0]])).tolist()
    [0, 1, 3]
    """
    width = np.ptp(F, axis=0)
    rounded = np.rint(F / np.where(width > 0, width, 1.0) * 1e11)
    kept: NDArray[np.int64] = np.flatnonzero(moocore.is_nondominated(rounded, keep_weakly=False))
    return kept


def _lower_bound(problem: SDCProblem, said: Mapping[str, Any], progress: Progress | None) -> tuple[str, Points]:
    """Bracketed front of loss against the smallest group: annealed partitions, and a proven bound for each k.

    A bound for k also holds for every larger smallest group: if a bound is not proven, or is lower, it is used instead.
    """
    from sdc_problems.methods import lower_bound, mdav
    from sdc_problems.problems.microaggregation import MicroaggregationProblem

    if not isinstance(problem, MicroaggregationProblem) or [o.name for o in problem.objectives] != ["il_sse", "k"]:
        raise SDCError("proof.by = 'lower_bound' is for MicroaggregationProblem with the objectives il_sse and k")
    points, engine = problem.points(), problem.engine
    ks = range(problem.smallest, problem.largest + 1)
    annealed = (_annealed(problem, mdav(points, k), k) for k in ks)
    found = np.stack([row for row in annealed if row is not None])
    front = minimal([problem._part(found, problem._values(found))])
    values, bounds, reached = problem.natural(front.F), np.empty(len(front.F)), 0.0
    for j in np.argsort(values[:, 1]):
        k = int(values[j, 1])
        at_most = said["proof"].get("steps", 200_000_000)
        bound = lower_bound(points, k, labels=front.X[j], steps=at_most)
        reached = max(reached, 100 * bound.sse / engine.sst if bound.proven else 0.0)
        bounds[j] = reached
        if progress is not None:
            progress(k, int(values[:, 1].max()))
    return "bracketed", Points(values, front.X, np.column_stack([bounds, values[:, 1]]))


def _annealed(problem: MicroaggregationProblem, labels: NDArray[Any], k: int) -> NDArray[Any] | None:
    """Best of several annealed partitions into groups of at least k, within the problem's sizes; None if none."""
    from sdc_problems.methods._kernels.anneal import anneal

    best, V = None, problem.engine.V
    unit = problem.engine.sst / len(V)
    for seed in range(STARTS):
        row = labels.astype(np.int32)
        for share in COOLING:
            anneal(V, row, k, problem.neighbours, share * unit, MOVES, np.uint64(2 * seed + 1))
        sizes = np.bincount(row)
        sizes = sizes[sizes > 0]
        if sizes.min() >= problem.smallest and sizes.max() <= problem.largest:
            canonical = restricted_growth(row).astype(problem.dtype)
            loss = float(problem.engine.measure(canonical[None, :], ("sse",))[0, 0])
            if best is None or loss < best[0]:
                best = loss, canonical
    return None if best is None else best[1]


PROOFS: dict[str, Proof] = {"enumeration": _enumeration, "lower_bound": _lower_bound}

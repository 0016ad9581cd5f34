"""Fronts of instances: by enumeration, by lower bounds, or by searches; each says what is known then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sdc_problems.suite._files import Points

if TYPE_CHECKING:
    from sdc_problems.problem import SDCProblem

Progress = Callable[[int, int], object]
Proof = Callable[["SDCProblem", Mapping[str, Any], Progress | None], tuple[str, Points]]


def _enumeration(problem: SDCProblem, said: Mapping[str, Any], progress: Progress | None) -> tuple[str, Points]:
    """Exact front: every solution, or a programme that is as good."""
    front = problem.enumerate_front(progress, limit=said["proof"].get("limit", 1_000_000))
    return "exact", Points(problem.natural(front.F), front.X, None)


PROOFS: dict[str, Proof] = {"enumeration": _enumeration}

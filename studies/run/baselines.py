"""Baselines of a run; finding them may only cost a share of the search's budget."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sdc_problems.algorithms import ExactFront
from sdc_problems.studies.run.limits import Limits
from sdc_problems.studies.study.schema import Plan

SHARE = 0.1
"""Cost that is allowed for finding the best solution for each objective, as a share of the search's budget."""

SHORT = 2.0
"""Seconds that are always allowed."""

SEARCHING = 0.001
"""Seconds that a search takes at least for each solution that it measures."""


def baselines_of(plan: Plan, *, exact: bool | None = None) -> tuple[dict[str, NDArray[Any]], str]:
    """Baselines of a problem by name, and a note about those that are left out (empty if there are none).

    The best solution for each objective is included if all solutions can be measured within a share of the budget:
    of the evaluations, if these are limited (also by generations times population), and of the seconds, if they are.
    A search without either limit may be shorter than that, so they are left out.

    Parameters
    ----------
    plan
        The problem, the search and its limits.
    exact
        True: find the best solution for each objective, whatever it costs; False: leave them out without a note. By
        default, as the budget allows.
    """
    problem = plan.problem
    found = problem.baselines()
    if exact is False:
        return found, ""
    seconds = problem.seconds_to_enumerate()
    if seconds is None:
        return found, ""
    if exact if exact is not None else affordable(plan.limits, plan.algorithm, problem.n_candidates, seconds):
        return {**found, **problem.best_of_each()}, ""
    return found, (
        f"the best solution for each objective is not among the baselines: finding it among all"
        f" {problem.n_candidates:,} candidates takes about {max(seconds, 1):,.0f} s, and the baselines may cost"
        f" {SHARE:.0%} of the search's budget; `sdc run --exact-baselines` finds it whatever it costs, and the"
        " algorithm ExactFront the whole exact front"
    )


def enumeration(plan: Plan) -> str:
    """Note that the exact front takes no longer than the search; empty if it does, or if that is unknown."""
    problem = plan.problem
    seconds = None if isinstance(plan.algorithm, ExactFront) else problem.seconds_to_enumerate()
    n = _evaluations(plan.limits, plan.algorithm)
    searching = [SHORT, plan.limits.seconds, None if n is None else n * SEARCHING]
    if seconds is None or seconds > max(value for value in searching if value is not None):
        return ""
    return (
        f"the exact front of all {problem.n_candidates:,} solutions takes about {max(seconds, 1):,.0f} s, no longer"
        ' than this search: name = "ExactFront" in [algorithm] finds it'
    )


def affordable(limits: Limits, algorithm: Any, n: int, seconds: float) -> bool:
    """Whether measuring ``n`` candidates, which takes this many seconds, is within the share of a search's budget."""
    least = _evaluations(limits, algorithm)
    if least is None and limits.seconds is None:
        return False
    return (least is None or n <= SHARE * least) and (limits.seconds is None or seconds <= SHARE * limits.seconds)


def _evaluations(limits: Limits, algorithm: Any) -> int | None:
    """Largest number of solutions that a search measures, if that is limited."""
    evaluations = [limits.evaluations, getattr(algorithm, "max_evaluations", None)]
    pop_size = getattr(algorithm, "pop_size", None)
    if limits.generations is not None and pop_size is not None:
        evaluations.append(limits.generations * int(pop_size))
    return min((count for count in evaluations if count is not None), default=None)

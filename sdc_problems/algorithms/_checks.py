"""Checks that a problem fits a search."""

from __future__ import annotations

from typing import Any

from sdc_problems.errors import SDCError


def unconstrained(problem: Any, name: str) -> None:
    """Refuse a problem with constraints, and say what to do instead."""
    if problem.n_constr:
        raise SDCError(
            f"{name} searches problems without constraints: omit require= and choose among what it finds, or use"
            " an algorithm of pymoo, such as NSGA-II, which keeps to them"
        )


def single_objective(problem: Any, name: str) -> None:
    """Refuse a problem with several objectives or with constraints, and say what to do instead."""
    if problem.n_obj != 1:
        raise SDCError(
            f"{name} compares one number, but the problem has {problem.n_obj} objectives: choose one, such as"
            " objectives=('score_mean',), or search the front with NSGA-II"
        )
    unconstrained(problem, name)

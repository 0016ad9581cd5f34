"""Nodes of a lattice as solutions: a node that the search has not measured can be shown and released as well."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.store.tables import Solutions

if TYPE_CHECKING:
    from sdc_problems.problem import SDCProblem
    from sdc_problems.studies.tasks import Task

NODE = "node:"
"""Beginning of a node's id, which is followed by its row, as in ``node:1,0,2``."""
WALKED = "The search has not measured this node of the lattice: it was chosen by hand, and measured for the release."
_ROW = re.compile(r"[0-9]{1,9}(,[0-9]{1,9}){0,499}")


def solution_of(run: Run, task: Task | None, problem: SDCProblem | None, ident: str) -> Solutions:
    """One solution with its genome: one of the run by its id, or a node of the lattice by its row.

    Parameters
    ----------
    run, task, problem
        The run, and its task and problem if the data are at hand.
    ident
        ``1-17``, ``baseline-<name>``, or ``node:1,0,2``. A node that the run has measured is the run's solution.

    Returns
    -------
    Solutions
        One row; a node that the run has not measured keeps its id and has seed and generation -1.
    """
    if not ident.startswith(NODE):
        return run.solution(ident)
    if task is None or problem is None:
        raise SDCError("a node is measured where the data of the run are at hand")
    x = row_of(task, problem, ident.removeprefix(NODE))
    key = node_keys(problem, x[None, :])[0]
    x = problem.genome(np.frombuffer(key, dtype=np.int64))  # equal releases have the same id
    known = measured_nodes(run, problem).get(key)
    if known is not None:
        return run.solution(known)
    out = problem.evaluate(x[None, :], return_as_dictionary=True)
    return Solutions(
        ids=(node_id(x),),
        seeds=np.array([-1]),
        generations=np.array([-1]),
        F=np.asarray(out["F"], dtype=np.float64),
        values=problem.natural(out["F"]),
        feasible=np.array([bool((np.asarray(out.get("G", 0.0)) <= 0).all())]),
        X=x[None, :],
    )


def row_of(task: Task, problem: SDCProblem, text: str) -> NDArray[Any]:
    """Row of a node: a level for each quasi-identifier, and the suppression threshold if there is one."""
    if not task.lattice:
        raise SDCError(f"solutions of {task.title!r} are not nodes of a lattice")
    if not _ROW.fullmatch(text):
        raise SDCError(f"a node is a row of {problem.n_var} levels with commas between, such as {NODE}1,0,2")
    return problem.genome([int(level) for level in text.split(",")])


def node_id(x: NDArray[Any]) -> str:
    """Id of a node.

    Examples
    --------
    >>> node_id(np.array([1, 0, 2]))
    'node:1,0,2'
    """
    return NODE + ",".join(str(int(level)) for level in x)


def measured_nodes(run: Run, problem: SDCProblem) -> dict[bytes, str]:
    """Ids of the run's solutions by node; for equal ones, the first."""
    known: dict[bytes, str] = {}
    for solutions in (run.solutions(genomes=True), run.baselines()):
        if solutions.X is not None and len(solutions):
            for key, ident in zip(node_keys(problem, solutions.X), solutions.ids, strict=True):
                known.setdefault(key, ident)
    return known


def node_keys(problem: Any, X: NDArray[Any]) -> list[bytes]:
    """Rows as bytes; equal releases become equal rows if the problem can tell."""
    effective = getattr(problem, "effective", None)
    rows = np.asarray(X if effective is None else effective(X)).astype(np.int64)
    return [row.tobytes() for row in rows]

"""Walk through a lattice on the live page: any node, measured by the run or now, with its neighbors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sdc_problems.errors import SDCError
from sdc_problems.studies.report.picture_types import Lattice
from sdc_problems.studies.web.payload import Source, number
from sdc_problems.studies.web.pictures import described

if TYPE_CHECKING:
    from sdc_problems.studies.web.server import Explorer

_ROW = re.compile(r"[0-9]{1,9}(,[0-9]{1,9}){0,499}")


def routes(explorer: Explorer) -> list[Route]:
    """Route of a node: ``?run=0&id=1-17`` where a walk begins, ``?run=0&x=1,0,2`` where it goes on."""

    async def node(request: Request) -> Response:
        _, source = explorer._source(request.query_params.get("run"))
        ident, row = (str(request.query_params.get(name, ""))[:6_000] for name in ("id", "x"))
        return JSONResponse(await run_in_threadpool(node_of, source, ident, row))

    return [Route("/api/node", node)]


def node_of(source: Source, ident: str, row: str = "") -> dict[str, Any]:
    """Measure a node and its neighbors.

    Parameters
    ----------
    source
        The run with its problem.
    ident
        The solution at which the walk begins, or nothing.
    row
        The node as numbers with commas between, if no solution is named.
    """
    task, problem = source.task, source.problem
    if task is None or problem is None:
        raise SDCError(f"a node is measured where the data of the run are at hand: {source.closed}")
    if ident:
        found = source.run.solution(ident).X
        assert found is not None
        x = problem.genome(found[0])
    elif _ROW.fullmatch(row):
        x = problem.genome([int(level) for level in row.split(",")])
    else:
        raise SDCError("a node is a row of levels with commas between")
    lattice = [picture for picture in task.pictures(problem, x) if isinstance(picture, Lattice)]
    if not lattice:
        raise SDCError(f"solutions of {task.title} are no nodes of a lattice")
    values = problem.natural(problem.evaluate(x[None, :], return_values_of=["F"]))[0]
    return {
        "x": [int(level) for level in x],
        "id": _measured(source).get(_key(problem, x[None, :])[0], ""),
        "values": [number(value) for value in values],
        "sentences": described(problem, x),
        "picture": lattice[0].as_dict(),
    }


def _measured(source: Source) -> dict[bytes, str]:
    """Ids of the run's solutions by their node; read again when there are more."""
    many = sum(state.solutions for state in source.run.progress())
    if source.nodes is None or source.nodes[0] != many:
        known: dict[bytes, str] = {}
        for solutions in (source.run.solutions(genomes=True), source.run.baselines()):
            if solutions.X is not None and len(solutions):
                for key, ident in zip(_key(source.problem, solutions.X), solutions.ids, strict=True):
                    known.setdefault(key, ident)
        source.nodes = (many, known)
    return source.nodes[1]


def _key(problem: Any, X: NDArray[Any]) -> list[bytes]:
    """Rows as bytes; equal releases are equal rows where the problem knows which are."""
    effective = getattr(problem, "effective", None)
    rows = np.asarray(X if effective is None else effective(X)).astype(np.int64)
    return [row.tobytes() for row in rows]

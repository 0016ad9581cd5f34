"""Walk through a lattice on the live page: any node, measured by the run or on request, with its neighbors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sdc_problems.errors import SDCError
from sdc_problems.studies.report.picture_types import Lattice
from sdc_problems.studies.run.nodes import measured_nodes, node_id, node_keys, row_of
from sdc_problems.studies.web.payload import Source, number
from sdc_problems.studies.web.pictures import described

if TYPE_CHECKING:
    from sdc_problems.studies.web.server import Explorer


def routes(explorer: Explorer) -> list[Route]:
    """Route of a node: ``?run=0&id=1-17`` to begin a walk, ``?run=0&x=1,0,2`` to continue it."""

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
        The solution at which the walk begins, or empty.
    row
        The node as numbers separated by commas, if no solution is named.
    """
    task, problem = source.task, source.problem
    if task is None or problem is None:
        raise SDCError(f"a node is measured where the data of the run are at hand: {source.closed}")
    if ident:
        found = source.run.solution(ident).X
        assert found is not None
        x = problem.genome(found[0])
    else:
        x = row_of(task, problem, row)
    lattice = [picture for picture in task.pictures(problem, x) if isinstance(picture, Lattice)]
    if not lattice:
        raise SDCError(f"solutions of {task.title!r} are not nodes of a lattice")
    values = problem.natural(problem.evaluate(x[None, :], return_values_of=["F"]))[0]
    return {
        "x": [int(level) for level in x],
        "id": _measured(source).get(node_keys(problem, x[None, :])[0], ""),
        "node": node_id(x),
        "values": [number(value) for value in values],
        "sentences": described(problem, x),
        "picture": lattice[0].as_dict(),
    }


def _measured(source: Source) -> dict[bytes, str]:
    """Ids of the run's solutions by node; read again if there are more."""
    assert source.problem is not None
    many = sum(state.solutions for state in source.run.progress())
    if source.nodes is None or source.nodes[0] != many:
        source.nodes = (many, measured_nodes(source.run, source.problem))
    return source.nodes[1]

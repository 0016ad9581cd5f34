"""Freezing of an instance: its front is proven or found, rows are measured, digests are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import moocore
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._files import resolved
from sdc_problems.errors import SDCError
from sdc_problems.suite._catalogue import forget, read_index, write_index
from sdc_problems.suite._files import (
    FROZEN,
    Points,
    beside,
    drawn_rows,
    read_toml,
    sha256,
    write_points,
    write_values,
)
from sdc_problems.suite._instance import Instance, build_problem, load_data, order_along
from sdc_problems.suite._proofs import PROOFS

if TYPE_CHECKING:
    from sdc_problems.problem import SDCProblem


def freeze(
    path: str | Path, *, index: str | Path | None = None, progress: Callable[[int, int], object] | None = None
) -> Instance:
    """Freeze an instance: prove or find its front, measure rows, and write all of it beside the TOML file.

    The file says ``id``, ``suite``, ``task``, ``title``, ``what_is_hard``, ``problem`` (as ``module:Class``),
    ``[table]``, ``[options]`` of the problem, ``[budgets]`` and ``[proof]``: ``by`` is ``enumeration`` (with
    ``limit``), ``lower_bound`` or ``searches``, ``how`` the sentence that people read. Below it are written the digests
    of the table and of the other two files, and what is known.

    Parameters
    ----------
    path
        The TOML file, named ``<id>.toml``; what was frozen in it before is written anew.
    index
        The folder whose ``index.json`` lists it; its own folder if not given.
    progress
        Called with the candidates done and in all, now and then.
    """
    file = resolved(Path(path))
    said, _ = read_toml(file)
    said.pop("frozen", None)
    problem = build_problem(said, file.parent)
    by = said["proof"].get("by", "enumeration")
    if by not in PROOFS:
        raise SDCError(f"{file.name}: proof.by must be one of {', '.join(PROOFS)}, not {by!r}")
    known, points = PROOFS[by](problem, said, progress)
    return write_frozen(file, said, problem, known, points, file.parent if index is None else Path(index))


def prove(found: Instance, *, progress: Callable[[int, int], object] | None = None) -> None:
    """Prove the front of an instance again, and compare it with the one that is stored; nothing is written.

    Of a front that is not exact, what is found again must not be better than the bounds that are stored.

    Parameters
    ----------
    found
        The instance.
    progress
        Called with the candidates done and in all, now and then.

    Raises
    ------
    SDCError
        If an exact front differs by more than a part in 10⁹, or a bound is undercut.
    """
    said, _ = read_toml(found.path)
    problem = found.problem()
    _, points = PROOFS[said["proof"].get("by", "enumeration")](problem, said, progress)
    F = problem.minimized(points.values)
    if found.known != "exact":
        bound = found.bound
        above = None if bound is None else np.all(bound[None] <= F[:, None] + 1e-9, axis=2)
        if above is not None and not np.all(np.any(above, axis=1)):
            raise SDCError(f"{found.id}: what was found now is better than the bounds that are stored")
        return
    if F.shape != found.front.shape or not np.allclose(F, found.front, rtol=1e-9, atol=1e-9):
        raise SDCError(f"{found.id}: the front that was found now differs from the one that is stored")


def write_frozen(
    file: Path, said: Mapping[str, Any], problem: SDCProblem, known: str, points: Points, index: Path
) -> Instance:
    """Write the front, the measured rows, and the part of the TOML file that is not written by hand."""
    names = [objective.name for objective in problem.objectives]
    F = problem.minimized(points.values)
    if len(F) < 2 or not moocore.is_nondominated(F, keep_weakly=False).all():
        raise SDCError(
            f"{file.name}: a front needs at least two points, and none may be as good as another in all objectives"
        )
    data = load_data(said, file.parent)[0]
    along = said["table"].get("along")
    front = write_points(points, names, None if along is None else order_along(data, along))
    rows = drawn_rows(said["id"], problem.xl, problem.xu)
    values = write_values(problem.natural(problem.evaluate(rows)), names)
    for what, text in (("csv", front), ("rows.csv", values)):
        beside(file, what).write_text(text, encoding="utf-8", newline="\n")
    lines = [
        "[frozen]",
        f'known = "{known}"',
        f"space = {_solutions(problem)}",
        "senses = [" + ", ".join(f'"{objective.sense}"' for objective in problem.objectives) + "]",
        f"ideal = {_numbers(F.min(axis=0))}",
        f"nadir = {_numbers(F.max(axis=0))}",
        f"xl = {_packed(problem.xl)}",
        f"xu = {_packed(problem.xu)}",
        f'table = "{data.digest}"',
        f'front = "{sha256(front.encode())}"',
        f'rows = "{sha256(values.encode())}"',
    ]
    head = file.read_text(encoding="utf-8").partition(FROZEN)[0].rstrip()
    file.write_text(f"{head}\n\n{FROZEN}" + "\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    listed = read_index(index)
    listed[file.relative_to(resolved(index)).as_posix()] = sha256(file.read_bytes())
    write_index(index, listed)
    forget()
    return Instance(file)


def _solutions(problem: SDCProblem) -> str:
    """Number of different solutions as a TOML file says it: the number, or its power of ten."""
    n = problem.n_candidates
    return str(n) if n < 10**15 else f'"10^{math.log10(n):.0f}"'


def _numbers(values: NDArray[np.float64]) -> str:
    return "[" + ", ".join(repr(float(value) + 0.0) for value in values) + "]"


def _packed(bounds: ArrayLike) -> str:
    """Bounds as pairs: how many variables, and their bound."""
    runs = [(len(list(run)), value) for value, run in groupby(np.asarray(bounds).astype(int).tolist())]
    return "[" + ", ".join(f"[{times}, {value}]" for times, value in runs) + "]"

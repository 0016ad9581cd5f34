"""Summary of a run, as printed by the commands: a table for people, versioned JSON for programs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError
from sdc_problems.requirement import Requirement
from sdc_problems.studies.store.folder import inside, write_atomically
from sdc_problems.studies.store.lock import is_worked_on
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.store.tables import SeedState, Solutions, objective_facts

RUN_SCHEMA = "sdc.run/1"
FRONT_LINES = 12  # most lines of the front in the terminal; front.csv has all of them


def meets(run: Run, solutions: Solutions) -> NDArray[np.bool_]:
    """Mask of the solutions that meet the study's [require]."""
    mask = solutions.feasible.copy()
    names = [axis.name for axis in run.axes]
    for name, wanted in run.study.get("require", {}).items():
        if name not in names:
            raise SDCError(f"{run.name!r} requires something of {name!r}, which is not an objective of it")
        column = names.index(name)
        mask &= Requirement.read(run.axes[column], wanted, what="[require]").meets(solutions.values[:, column])
    return mask


def account(run: Run) -> dict[str, Any]:
    """Content of ``sdc status --json``."""
    front = run.front()
    good = meets(run, front)
    box = run.box()
    progress = run.progress()
    whole = status(run)
    return {
        "schema": RUN_SCHEMA,
        "folder": str(run.path),
        "title": run.label,
        "task": run.study["problem"]["task"],
        "algorithm": run.study["algorithm"]["name"],
        "status": whole,
        "fingerprint": run.fingerprint(),
        "created": run.meta["created"],
        "versions": run.meta["versions"],
        "data": run.meta["data"],
        "objectives": [objective_facts(axis) for axis in run.axes],
        "seeds": [
            {
                "seed": s.seed,
                "status": seed_status(s, whole),
                "reason": s.reason,
                "generations": s.generations,
                "evaluated": s.evaluated,
                "solutions": s.solutions,
                "seconds": round(s.seconds, 3),
                "hypervolume": _hypervolume(run, s.seed, box),
                "updated": s.updated,
            }
            for s in progress
        ],
        "hypervolume": None if box is None else round(box.share(front.F), 6),
        "front": [
            # Both ways: an objective of the same name ("id" in version 0.1.0) must not hide these columns.
            {"id": ident, "feasible": bool(ok)} | _by_name(run, row) | {"id": ident, "feasible": bool(ok)}
            for ident, row, ok in zip(front.ids, front.values, good, strict=True)
        ],
        "sessions": run.sessions(),
    }


def _by_name(run: Run, values: NDArray[np.float64]) -> dict[str, Any]:
    return {axis.name: float(value) for axis, value in zip(run.axes, values, strict=True)}


def status(run: Run) -> str:
    """``finished``, ``working`` (a process works on it), or ``unfinished`` (continue with ``sdc resume``)."""
    if run.finished:
        return "finished"
    return "working" if is_worked_on(run.path) else "unfinished"


def seed_status(seed: SeedState, run: str) -> str:
    """Status of a seed in a run with this status: ``stopped`` instead of ``running`` if no process works on it."""
    return "stopped" if seed.status == "running" and run == "unfinished" else seed.status


def _hypervolume(run: Run, seed: int, box: Any) -> float | None:
    history = run.history(seed, box)
    return round(float(history.hypervolume[-1]), 6) if len(history.hypervolume) else None


def write_results(run: Run, *, pictures: bool = True) -> None:
    """Write the results of a finished session into the run folder, next to its record.

    Parameters
    ----------
    run
        The run.
    pictures
        Whether to draw pictures.
    """
    write_atomically(inside(run.path, "front.csv"), front_csv(run))
    if pictures:
        from sdc_problems.studies.report.plots import draw_run

        draw_run(run)


def front_csv(run: Run) -> str:
    """Return the front as CSV: ids and natural values, which are numbers and cannot be formulas."""
    front = run.front()
    good = meets(run, front)
    lines = [",".join(["id", "seed", *(axis.name for axis in run.axes), "meets_requirements"])]
    for i, ident in enumerate(front.ids):
        values = ",".join(repr(float(v)) for v in front.values[i])
        lines.append(f"{ident},{front.seeds[i]},{values},{'yes' if good[i] else 'no'}")
    return "\n".join(lines) + "\n"

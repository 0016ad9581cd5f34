"""Payload of the page: runs as one JSON document with objectives, progress and aggregates, but no record or genome.

The document's ``schema`` is ``sdc-explorer/1``; a page refuses another major version. Numbers are in natural units.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems import __version__
from sdc_problems.errors import SDCError
from sdc_problems.problem import SDCProblem
from sdc_problems.studies.report.compare import common_box
from sdc_problems.studies.report.kept_records import kept_of
from sdc_problems.studies.report.picture_types import too_many
from sdc_problems.studies.report.repeat import repeat_run
from sdc_problems.studies.report.small_counts import LEAST
from sdc_problems.studies.report.summary import seed_status, status
from sdc_problems.studies.searches.catalogue import find_search
from sdc_problems.studies.store.hypervolume import Box, nondominated
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.store.tables import Axis, History, Solutions
from sdc_problems.studies.tasks import Task, find_task
from sdc_problems.studies.web.pictures import Detail, attributes, described, leaving

if TYPE_CHECKING:
    from sdc_problems.studies.study.schema import Study

SCHEMA = "sdc-explorer/1"
SHORTLIST = "shortlist.json"
MOST_POINTS = 5_000  # most dominated points that are sent, for all runs together
_MOST_GENERATIONS = 400

DOMINATED, OWN_FRONT, FRONT, BASELINE, ORIGINAL = range(5)


@dataclass
class Source:
    """A run, and its problem if the data can be read.

    Attributes
    ----------
    run
        The run.
    task, problem
        The task and the problem; None if the study cannot be built here.
    closed
        Reason why it cannot be built; empty if it can.
    keep
        Columns without a role that may be released, as given in the study.
    study
        The study; None if it cannot be built here.
    """

    run: Run
    task: Task | None
    problem: SDCProblem | None
    closed: str
    keep: Sequence[str] | None = None
    study: Study | None = None

    def __post_init__(self) -> None:
        self._lock = RLock()
        self._detail: Detail | None = None
        self.nodes: tuple[int, dict[bytes, str]] | None = None  # for a lattice, see walk.py

    @classmethod
    def open(cls, folder: str | Path, *, data: Path | None = None) -> Source:
        """Open a run folder; without its data, points can still be shown, but not their pictures."""
        from sdc_problems.studies.run.start import Untrue, reopen

        run = Run(folder)
        run.verify()
        many = too_many(run.meta["data"].get("records", 0))
        if many:
            return cls(run, None, None, many)
        try:
            study, built, _ = reopen(run.path, data=data, search=False)
            return cls(run, find_task(study.task), built.problem, "", study.sections.data.keep, study)
        except Untrue:
            raise
        except SDCError as error:
            return cls(run, None, None, str(error))

    def solution(self, ident: str) -> Solutions:
        """One solution of the run, or a node of its lattice."""
        from sdc_problems.studies.run.nodes import solution_of

        with self._lock:
            return solution_of(self.run, self.task, self.problem, ident)

    def brief(self, ident: str) -> list[str]:
        """Sentences on one solution."""
        solution = self.solution(ident)
        if self.problem is None or solution.X is None:
            return []
        with self._lock:
            return described(self.problem, self.problem.genome(solution.X[0]))

    def detail(self, ident: str) -> dict[str, Any]:
        """Content of a solution's page."""
        with self._lock:
            solution = self.solution(ident)
            return {
                "measures": [
                    {"name": axis.name, "value": number(value)}
                    for axis, value in zip(self.run.axes, solution.values[0], strict=True)
                ],
                **(self.pictures.of(solution) if self.pictures is not None else _closed(self.closed)),
            }

    @property
    def pictures(self) -> Detail | None:
        """Pictures of this run's solutions."""
        if self._detail is None and self.task is not None and self.problem is not None:
            self._detail = Detail(self.task, self.problem, self.keep)
        return self._detail


def _closed(why: str) -> dict[str, Any]:
    return {"sentences": [], "closed": why, "pictures": [], "after": [], "facts": [], "exposure": None, "leaving": []}


def overview(sources: Sequence[Source], *, points: int = MOST_POINTS) -> dict[str, Any]:
    """The document without the solutions' pictures: the part that changes during a run.

    Parameters
    ----------
    sources
        Runs with the same objectives.
    points
        Most dominated points to send; they are picked evenly in the order of measurement.
    """
    if not sources:
        raise SDCError("no run was given")
    axes = sources[0].run.axes
    for source in sources[1:]:
        if [(a.name, a.sense) for a in source.run.axes] != [(a.name, a.sense) for a in axes]:
            raise SDCError(
                f"{source.run.name!r} optimizes {_names(source.run.axes)}, {sources[0].run.name!r} {_names(axes)}:"
                " only runs with the same objectives fit into one map"
            )
    one_table = len({str(source.run.meta["data"]["digest"]) for source in sources}) == 1
    joint = [range(len(sources))] if one_table else [[i] for i in range(len(sources))]
    tables: dict[int, tuple[dict[str, list[Any]], int]] = {}
    boxes: dict[int, Box | None] = {}
    for group in joint:  # runs on the same data have a common front and box, as in `sdc compare`
        fronts = _Fronts([sources[i].run for i in group])
        box = common_box([sources[i].run for i in group])
        tables.update({i: _points(sources[i], i, points // len(sources), fronts) for i in group})
        boxes.update(dict.fromkeys(group, box))
    called = _called([source.run for source in sources])
    return {
        "schema": SCHEMA,
        "made_with": __version__,
        "axes": [_axis(axis, sources[0].problem) for axis in axes],
        "one_table": one_table,
        "runs": [{**_run(source, tables[i][1], boxes[i]), "called": called[i]} for i, source in enumerate(sources)],
        "points": {key: [value for i in range(len(sources)) for value in tables[i][0][key]] for key in COLUMNS},
    }


def _called(runs: Sequence[Run]) -> list[str]:
    """A unique name for each run: its title or folder, whichever differ."""
    for names in (
        [run.label for run in runs],
        [run.name for run in runs],
        [f"{run.path.parent.name}/{run.name}" for run in runs],
    ):
        if len(set(names)) == len(runs):
            return names
    return [f"{run.name} ({i})" for i, run in enumerate(runs, 1)]


def _names(axes: Sequence[Axis]) -> str:
    return ", ".join(axis.name for axis in axes)


def _axis(axis: Axis, problem: SDCProblem | None) -> dict[str, Any]:
    # Runs of earlier versions do not store what an objective concerns; if the study can be built, it is known.
    known = {} if problem is None else {o.name: o.concerns for o in problem.objectives}
    return {
        "name": axis.name,
        "label": axis.label,
        "sense": axis.sense,
        "unit": axis.unit,
        "bounds": [number(bound) for bound in axis.bounds],
        "sentence": axis.sentence,
        "concerns": axis.concerns or known.get(axis.name, ""),
    }


def _run(source: Source, total: int, box: Box | None) -> dict[str, Any]:
    run = source.run
    study = run.study
    whole = status(run)
    task = str(study.get("problem", {}).get("task", ""))
    algorithm = str(study.get("algorithm", {}).get("name", ""))
    aggregates = run.aggregates(box)
    states = run.progress()
    return {
        "name": run.name,
        "label": run.label,
        "task": task,
        "task_title": _title(find_task, task),
        "algorithm": algorithm,
        "algorithm_title": _title(find_search, algorithm),
        "seeds": list(run.seeds),
        "finished": run.finished,
        "status": whole,
        "found": total,
        "fingerprint": run.fingerprint(),
        "created": str(run.meta.get("created", "")),
        "versions": {str(k): str(v) for k, v in dict(run.meta.get("versions", {})).items()},
        "records": run.meta.get("data", {}).get("records"),
        "kept": _kept(run.meta["data"]),
        "data_digest": str(run.meta.get("data", {}).get("digest", "")),
        "require": study.get("require", {}),
        "states": [
            {
                "seed": s.seed,
                "status": seed_status(s, whole),
                "reason": s.reason,
                "generations": s.generations,
                "evaluated": s.evaluated,
                "solutions": s.solutions,
                "seconds": number(s.seconds),
            }
            for s in states
        ],
        "history": [_history(run.history(seed, box)) for seed in run.seeds] if box is not None else [],
        "band": {
            "evaluated": aggregates.evaluated.tolist(),
            "quantiles": [[number(v) for v in row] for row in aggregates.quantiles],
            "seeds": aggregates.seeds,
        },
        "attributes": attributes(source.problem),
        "closed": source.closed,
        "leaving": [] if source.problem is None else list(leaving(source.problem, source.keep)),
        "repeat": repeat_run(run.path),
        "shortlist": read_shortlist(run),
    }


def _kept(data: Mapping[str, Any]) -> str:
    """Denominator of the run's shares, in words."""
    kept = int(data["records"])
    return kept_of(kept, int(data.get("dropped", 0)), least=LEAST) or f"{kept:,} records"


def _history(history: History) -> dict[str, Any]:
    kept = np.unique(np.linspace(0, len(history.generation) - 1, _MOST_GENERATIONS).astype(np.int64))
    kept = kept[: len(history.generation)]
    seconds = np.cumsum(history.seconds)
    return {
        "seed": history.seed,
        "generation": history.generation[kept].tolist(),
        "evaluated": history.evaluated[kept].tolist(),
        "front": history.front_size[kept].tolist(),
        "hypervolume": [number(v) for v in history.hypervolume[kept]],
        "seconds": [number(v) for v in seconds[kept]],
    }


def _title(find: Callable[[str], Any], name: str) -> str:
    """Title of a task or a search; its name if it is unknown here."""
    try:
        return str(find(name).title)
    except SDCError:
        return name


class _Fronts:
    """Fronts of runs on the same data: the non-dominated solutions, and the number of seeds that found each."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.seeds = sum(len(run.seeds) for run in runs)
        self._found: Counter[bytes] = Counter()
        self._best: set[tuple[Path, str]] = set()
        self._values: set[bytes] = set()
        owners: list[tuple[Path, str]] = []
        F: list[NDArray[np.float64]] = []
        for run in runs:
            for seed in run.seeds:
                front = run.front(seed)
                self._found.update({row.tobytes() for row in front.F + 0.0})
                owners += [(run.path, ident) for ident in front.ids]
                F.append(front.F + 0.0)
        stacked = np.vstack(F) if F else np.zeros((0, 1))
        for i in np.flatnonzero(nondominated(stacked)):
            self._best.add(owners[i])
            self._values.add(stacked[i].tobytes())

    def holds(self, run: Run, ident: str) -> bool:
        """Whether a solution is on the front; of equal ones, only the first is."""
        return (run.path, ident) in self._best

    def found(self, F: NDArray[np.float64]) -> int:
        """Number of seeds that found these values, if they are on the front."""
        key = (F + 0.0).tobytes()
        return self._found[key] if key in self._values else 0


COLUMNS = ("id", "run", "seed", "generation", "kind", "feasible", "found", "values")


def _points(source: Source, which: int, most: int, fronts: _Fronts) -> tuple[dict[str, list[Any]], int]:
    """Points of a run as columns, and the number of solutions it has measured."""
    run = source.run
    everything = run.solutions()
    own = Solutions.concatenate([run.front(seed) for seed in run.seeds], len(run.axes))
    own = own.take(np.argsort(own.F[:, 0], kind="stable"))
    members = set(own.ids)
    others = np.array([i for i, ident in enumerate(everything.ids) if ident not in members], dtype=np.int64)
    if len(others) > most:
        others = others[np.unique(np.linspace(0, len(others) - 1, most).astype(np.int64))]
    baselines = run.baselines(genomes=False)
    table: dict[str, list[Any]] = {k: [] for k in COLUMNS}
    kinds = np.array([FRONT if fronts.holds(run, ident) else OWN_FRONT for ident in own.ids], dtype=np.int64)
    _add(table, which, everything.take(others), np.full(len(others), DOMINATED))
    _add(table, which, own, kinds, [fronts.found(F) for F in own.F])
    _add(table, which, baselines, np.full(len(baselines), BASELINE))
    untouched = run.original
    if untouched is not None:
        values = {"id": "original", "run": which, "seed": -1, "generation": -1, "kind": ORIGINAL, "feasible": 1}
        for key, value in {**values, "found": 0, "values": [number(v) for v in untouched]}.items():
            table[key].append(value)
    return table, len(everything)


def _add(
    table: dict[str, list[Any]], which: int, points: Solutions, kinds: NDArray[Any], found: Sequence[int] = ()
) -> None:
    table["id"] += points.ids
    table["run"] += [which] * len(points)
    table["seed"] += points.seeds.tolist()
    table["generation"] += points.generations.tolist()
    table["kind"] += kinds.tolist()
    table["feasible"] += points.feasible.astype(int).tolist()
    table["found"] += found or [0] * len(points)
    table["values"] += [[number(v) for v in row] for row in points.values]


def number(value: float) -> float | int | None:
    """A number for JSON: nine digits are enough for a screen, and a value that is not finite becomes null.

    Examples
    --------
    >>> number(1 / 3), number(2.0), number(float("inf"))
    (0.333333333, 2, None)
    """
    value = float(value)
    if not math.isfinite(value):
        return None
    if abs(value) < 1e-12:  # rounding error of a difference
        return 0
    short = float(f"{value:.9g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def read_shortlist(run: Run) -> list[dict[str, str]]:
    """The shortlist in a run folder; an invalid file, perhaps from a stranger, gives an empty list."""
    path = run.path / SHORTLIST
    if path.is_symlink() or not path.is_file() or path.stat().st_size > 1_000_000:
        return []
    try:
        return check_shortlist(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, RecursionError):  # includes invalid UTF-8, invalid JSON, and SDCError
        return []


def check_shortlist(entries: Any) -> list[dict[str, str]]:
    """Entries of a shortlist: each an ``id`` and a ``note``, nothing else."""
    if not isinstance(entries, list) or len(entries) > 200:
        raise SDCError("a shortlist is a list of at most 200 entries")
    checked = []
    for entry in entries:
        if not isinstance(entry, dict) or set(entry) != {"id", "note"}:
            raise SDCError("an entry of a shortlist has an id and a note")
        if not all(isinstance(entry[key], str) for key in ("id", "note")):
            raise SDCError("the id and the note of a shortlist's entry are text")
        if len(entry["id"]) > 300 or len(entry["note"]) > 2_000:
            raise SDCError("a note has at most 2,000 characters")
        checked.append({"id": entry["id"], "note": entry["note"]})
    return checked

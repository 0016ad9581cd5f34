"""Export of records to the formats of other tools: IOHanalyzer, ParetoBench, moocore and its relatives."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from sdc_problems.errors import SDCError
from sdc_problems.studies.benchmark.tables import Entry
from sdc_problems.studies.store.folder import write_atomically
from sdc_problems.suite import Record

FORMATS = ("ioh", "moocore", "paretobench")
REPORTS = 20
"""Moments of a run whose archives go to ParetoBench."""


def export(entries: Sequence[Entry], kind: str, folder: Path) -> list[Path]:
    """Write records in another tool's format; returns the files.

    Parameters
    ----------
    entries
        The runs.
    kind
        ``ioh``: one folder for each algorithm, with the gap as ``raw_y`` (IOHanalyzer, IOHinspector); ``moocore``: one
        text file for each instance and algorithm, a set of points for each seed (also R's eaf and moocore packages);
        ``paretobench``: one HDF5 file for each algorithm, a history of archives for each run.
    folder
        Where to write.
    """
    if kind not in FORMATS:
        raise SDCError(f"format must be {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, not {kind!r}")
    if kind == "paretobench":
        return _paretobench(folder, entries)
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.label, entry.record.instance), []).append(entry)
    written = []
    ids = sorted({name for _, name in groups})
    for (label, name), runs in groups.items():
        place = folder / _safe(label)
        place.mkdir(parents=True, exist_ok=True)
        written += _ioh(place, label, ids.index(name) + 1, runs) if kind == "ioh" else [_moocore(place, runs)]
    return written


def _safe(label: str) -> str:
    return re.sub(r"[^\w.-]", ".", label)


def _ioh(place: Path, label: str, number: int, runs: Sequence[Entry]) -> list[Path]:
    """Write runs on one instance as IOHexperimenter does: a description in JSON, and a table for all runs."""
    name = runs[0].instance.id
    dimension = runs[0].record.X.shape[1]
    data = Path(f"data_f{number}_{name}") / f"IOHprofiler_f{number}_DIM{dimension}.dat"
    lines, described = [], []
    for entry in runs:
        curve, record = entry.curve, entry.record
        better = np.flatnonzero(np.diff(curve.gap, prepend=np.inf) < 0)
        lines.append("evaluations raw_y")
        lines += [f"{curve.at[i]} {curve.gap[i]:.10g}" for i in better]
        if not len(better) or curve.at[better[-1]] != record.evaluations:
            lines.append(f"{record.evaluations} {curve.gap[-1] if len(curve.gap) else 1.0:.10g}")
        last = int(better[-1]) if len(better) else None
        described.append(
            {
                "instance": record.seed,
                "evals": record.evaluations,
                "best": {
                    "evals": record.evaluations if last is None else int(curve.at[last]),
                    "y": 1.0 if last is None else float(curve.gap[last]),
                    "x": [] if last is None else record.X[last].tolist(),
                },
            }
        )
    said = {
        "version": "0.3.22",
        "suite": runs[0].instance.suite,
        "function_id": number,
        "function_name": name,
        "maximization": False,
        "algorithm": {"name": label, "info": "gap to the front's hypervolume, by archives without bound"},
        "attributes": ["evaluations", "raw_y"],
        "scenarios": [{"dimension": dimension, "path": data.as_posix(), "runs": described}],
    }
    (place / data.parent).mkdir(exist_ok=True)
    write_atomically(place / data, "\n".join(lines) + "\n")
    described_in = place / f"IOHprofiler_f{number}_{name}.json"
    write_atomically(described_in, json.dumps(said, indent="\t") + "\n")
    return [described_in, place / data]


def _moocore(place: Path, runs: Sequence[Entry]) -> Path:
    """Write the archives that runs ended with, minimized, an empty line between two."""
    blocks = []
    for entry in runs:
        F = entry.record.F[entry.record.front()]
        blocks.append("\n".join(" ".join(f"{value:.17g}" for value in row) for row in F))
    path = place / f"{runs[0].instance.id}.dat"
    write_atomically(path, "\n\n".join(block for block in blocks if block) + "\n")
    return path


def _paretobench(folder: Path, entries: Sequence[Entry]) -> list[Path]:
    """Write an experiment of ParetoBench for each algorithm (file format 1.1.0): the archives over each run."""
    try:
        import h5py
    except ModuleNotFoundError:
        raise SDCError("the format paretobench needs h5py: pip install h5py") from None
    folder.mkdir(parents=True, exist_ok=True)
    experiments: dict[str, list[Entry]] = {}
    for entry in entries:
        experiments.setdefault(entry.label, []).append(entry)
    written = []
    for label, runs in experiments.items():
        content = BytesIO()
        with h5py.File(content, "w") as file:
            file.attrs.update(
                name=label, author="", software="sdc-problems",
                software_version=runs[0].record.versions.get("sdc-problems", ""),
                comment=f"Archives without bound at {REPORTS} moments of each run; all objectives are minimized.",
                creation_time=datetime.now(UTC).isoformat(), file_version="1.1.0",
                file_format="ParetoBench Multi-Objective Optimization Data",
            )  # fmt: skip
            for number, entry in enumerate(runs):
                _history(file.create_group(f"run_{number:06d}"), entry.record)
        path = folder / f"{_safe(label)}.h5"
        write_atomically(path, content.getvalue())
        written.append(path)
    return written


def _history(group: Any, record: Record) -> None:
    """Write a run: its archives under each other, and how many rows each of them has."""
    moments = np.unique(np.ceil(record.budget * np.arange(1, REPORTS + 1) / REPORTS).astype(int))
    archives = [np.flatnonzero(record.front(int(moment))) for moment in moments]
    rows = np.concatenate(archives)
    group.attrs["problem"] = record.instance
    group.attrs["pop_sizes"] = [len(archive) for archive in archives]
    group.attrs["fevals"] = np.minimum(moments, record.evaluations)
    kept = ("digest", "seed", "budget", "evaluations", "different", "seconds_measuring", "seconds_algorithm")
    said = group.create_group("metadata").attrs
    said.update({key: value for key in kept if (value := record.head[key]) is not None})
    for key, values in (
        ("x", record.X[rows].astype(np.float64)),
        ("f", record.F[rows]),
        ("g", np.empty((len(rows), 0))),
    ):
        packed = {"compression": "gzip", "shuffle": True} if values.size else {}
        group.create_dataset(key, data=values, **packed)
    group["f"].attrs["names"] = list(record.objectives)
    group["f"].attrs["directions"] = "-" * record.F.shape[1]

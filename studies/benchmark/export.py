"""Export of records to the formats of other tools: IOHanalyzer, and the data sets of moocore and its relatives."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sdc_problems.errors import SDCError
from sdc_problems.studies.benchmark.tables import Entry
from sdc_problems.studies.store.folder import write_atomically

FORMATS = ("ioh", "moocore")


def export(entries: Sequence[Entry], kind: str, folder: Path) -> list[Path]:
    """Write records in another tool's format; returns the files.

    Parameters
    ----------
    entries
        The runs.
    kind
        ``ioh``: one folder for each algorithm, with the gap as ``raw_y`` (IOHanalyzer, IOHinspector); ``moocore``: one
        text file for each instance and algorithm, a set of points for each seed (also R's eaf and moocore packages).
    folder
        Where to write.
    """
    if kind not in FORMATS:
        raise SDCError(f"format must be {' or '.join(FORMATS)}, not {kind!r}")
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.label, entry.record.instance), []).append(entry)
    written = []
    ids = sorted({name for _, name in groups})
    for (label, name), runs in groups.items():
        place = folder / re.sub(r"[^\w.-]", ".", label)
        place.mkdir(parents=True, exist_ok=True)
        written += _ioh(place, label, ids.index(name) + 1, runs) if kind == "ioh" else [_moocore(place, runs)]
    return written


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
    """Write the archives that runs ended with, minimised, an empty line between two."""
    blocks = []
    for entry in runs:
        F = entry.record.F[entry.record.front()]
        blocks.append("\n".join(" ".join(f"{value:.17g}" for value in row) for row in F))
    path = place / f"{runs[0].instance.id}.dat"
    write_atomically(path, "\n\n".join(block for block in blocks if block) + "\n")
    return path

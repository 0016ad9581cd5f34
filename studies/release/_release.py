"""Release of a solution: the protected file, its value mapping, and a certificate that was checked.

The file is written beside its place under another name, read back as text, and every promise is counted again in it.
Only when all of them hold does it get its name. The certificate may be published with the file; the value mapping and
the seed of a random protection may not: with them the original values come back.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.studies.release.csv_text import guarded, read_text, to_csv
from sdc_problems.studies.release.value_mapping import measured_in_file, record_by_record, value_mapping
from sdc_problems.studies.run.runner import file_digest, reopen, versions
from sdc_problems.studies.store.folder import STUDY, check_folder, write_atomically
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.tasks import find_task

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.problem import SDCProblem

CERTIFICATE_SCHEMA = "sdc.certificate/1"


@dataclass(frozen=True)
class Released:
    """The files of a release."""

    file: Path
    certificate: Path
    mapping: Path
    content: dict[str, Any]


def release(
    folder: Path,
    solution: str,
    out: Path,
    *,
    seed: int | None = None,
    suppressed: Literal["drop", "star"] = "drop",
    data: Path | None = None,
    formula_guard: bool = False,
    overwrite: bool = False,
) -> Released:
    """Write the protected file of a solution, its value mapping and its certificate.

    Parameters
    ----------
    folder, solution
        The run folder and the solution's id.
    out
        The protected CSV file. Beside it come ``<out>.certificate.json`` and ``<out>.mapping.csv`` (private).
    seed
        For a protection that draws random numbers; drawn and kept in the private mapping file if not given.
    suppressed
        Whether suppressed records are left out, or stay with stars for their quasi-identifiers.
    data
        Where the original CSV file is now, if it was moved.
    formula_guard
        Put an apostrophe before text that a spreadsheet would take for a formula (it changes such values).
    overwrite
        Whether files that exist already may be replaced.
    """
    folder, out = check_folder(folder), Path(out)
    certificate, mapping = _beside(out, "certificate.json"), _beside(out, "mapping.csv")
    if not out.parent.is_dir():
        raise SDCError(f"there is no folder {str(out.parent)!r} to write into")
    for path in (out, certificate, mapping):
        if path.exists() and not overwrite:
            raise SDCError(f"{str(path)!r} exists already: choose another --out, or give --overwrite")
    study, built, meta = reopen(folder, data=data)
    if out.resolve() == built.table.file:
        raise SDCError("--out is the original file itself: nothing is written")
    problem, task = built.problem, find_task(study.task)
    with Run(folder) as run:
        found = run.solution(solution)
        fingerprint = run.fingerprint()
    assert found.X is not None
    x = problem.genome(found.X[0])
    measured = problem.evaluate(x[None, :])[0]
    if measured.tobytes() != found.F[0].tobytes():
        raise SDCError(f"solution {solution} is measured differently now than when it was found: nothing is written")
    if seed is None and task.random:
        seed = secrets.randbits(63)
    if suppressed == "star" and not task.suppresses:
        raise SDCError(f"the task {study.task} suppresses no records: leave --suppressed out")
    frame = without_identifiers(task.release(problem, x, seed=seed, suppressed=suppressed), problem)
    text = to_csv(frame, formula_guard=formula_guard)
    with temporary_beside(out) as temporary:
        temporary.write_bytes(text)
        written = read_back(temporary, frame, formula_guard)
        guarantees = task.guarantees(problem, x, written)
        broken = [g for g in guarantees if not g.holds]
        if broken:
            raise SDCFailure(
                "the written file does not keep what was promised ("
                + "; ".join(f"{g.name}: {g.found:g} where {g.promised:g} was promised" for g in broken)
                + "): nothing is released"
            )
        aligned, lost = record_by_record(task, problem, x, written)
        content = {
            "schema": CERTIFICATE_SCHEMA,
            "title": study.title,
            "solution": solution,
            "task": study.task,
            "what_was_done": list(problem.describe(x)),
            "measures": {
                objective.name: {
                    "label": objective.label,
                    "unit": objective.unit,
                    "better": objective.sense,
                    "value": float(value),
                    "meaning": objective.meaning,
                    "formula": objective.formula,
                    "source": objective.source,
                }
                for objective, value in zip(problem.objectives, problem.natural(measured), strict=True)
            },
            "guarantees_checked_in_the_file": [g.as_dict() for g in guarantees],
            "measured_in_the_file": measured_in_file(problem, aligned),
            "input": {
                "source": _name_of(built.table.file, study.sections.data.name),
                "sha256": None if built.table.file is None else file_digest(built.table.file),
                "content_digest": built.table.digest,
                "records": len(problem.data),
            },
            "output": {
                "file": out.name,
                "sha256": hashlib.sha256(text).hexdigest(),
                "records": len(frame),
                "suppressed_records": "starred" if suppressed == "star" else "left out",
                "columns": list(frame.columns),
                "identifiers_left_out": list(problem.data.identifiers),
                "formula_guard": formula_guard,
            },
            "run_fingerprint": fingerprint,
            "study_sha256": file_digest(folder / STUDY),
            "reproduce": _reproduce(folder, solution, out, seed, task.random, formula_guard, suppressed),
            "seed": "kept with the value mapping: who has it can undo the protection" if task.random else None,
            "versions": {"run": meta["versions"], "release": versions()},
        }
        # The data comes last: it never stands there without its certificate.
        write_atomically(mapping, value_mapping(problem, aligned, lost, seed if task.random else None), private=True)
        write_atomically(certificate, json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False) + "\n")
        temporary.replace(out)
    return Released(out, certificate, mapping, content)


def read_back(path: Path, frame: pd.DataFrame, formula_guard: bool) -> pd.DataFrame:
    """Read the written file under the names that the columns had before the guard."""
    written = read_text(path)
    expected = [guarded(name) if formula_guard else name for name in frame.columns]
    if list(written.columns) != expected or len(written) != len(frame):
        raise SDCFailure("the written file cannot be read back as it was meant: nothing is released")
    return written.set_axis(list(frame.columns), axis=1)


def _beside(out: Path, ending: str) -> Path:
    return out.with_name(f"{out.name}.{ending}")


def _name_of(file: Path | None, name: str | None) -> str:
    return str(name) if file is None else file.name


def without_identifiers(frame: pd.DataFrame, problem: SDCProblem) -> pd.DataFrame:
    """Direct identifiers have no place in a protected file, whatever the problem does with them."""
    return frame.drop(columns=[name for name in problem.data.identifiers if name in frame.columns])


def _reproduce(
    folder: Path, solution: str, out: Path, seed: int | None, random: bool, guard: bool, suppressed: str
) -> list[str]:
    run = ["sdc", "run", STUDY, "--out", folder.name]
    take = ["sdc", "release", folder.name, "--solution", solution, "--out", out.name]
    if random:
        take += ["--seed", "SEED"]
    elif seed is not None:
        take += ["--seed", str(seed)]
    if guard:
        take.append("--formula-guard")
    if suppressed == "star":
        take += ["--suppressed", "star"]
    return [shlex.join(run), shlex.join(take)]


@contextmanager
def temporary_beside(out: Path) -> Iterator[Path]:
    """Make a private file beside ``out``; gone afterwards unless it was renamed."""
    try:
        descriptor, name = tempfile.mkstemp(dir=out.parent, prefix=".sdc-release-")
    except OSError as error:
        raise SDCFailure(f"cannot write in {str(out.parent)!r}: {error.strerror}") from None
    os.close(descriptor)
    temporary = Path(name)
    try:
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        yield temporary
    except OSError as error:
        raise SDCFailure(f"cannot write {str(out)!r}: {error.strerror}; nothing is released") from None
    finally:
        temporary.unlink(missing_ok=True)

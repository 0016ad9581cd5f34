"""Start and reopening of a run: its study and data must be those with which it was begun."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sdc_problems._files import input_file, resolved
from sdc_problems.errors import SDCError
from sdc_problems.problem import SDCProblem
from sdc_problems.studies.store.folder import STUDY, check_folder, create_folder
from sdc_problems.studies.store.lock import RunLock
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.store.schema import FORMAT
from sdc_problems.studies.store.seal import SEALED
from sdc_problems.studies.store.tables import objective_facts
from sdc_problems.studies.store.versions import file_digest, versions
from sdc_problems.studies.store.writer import now
from sdc_problems.studies.study.schema import LARGEST_FILE, Built, Study
from sdc_problems.studies.tasks import find_task

CHANGEABLE = ("title", "termination", "require", "run")
"""Sections that may change in an unfinished run, because they do not change any generation."""

CONTINUABLE = (0, 2)
"""Oldest version whose runs can be continued: before it, objectives and options had other names."""


class Untrue(SDCError):
    """Contradiction between a run and its study or data, after which nothing of the run is shown."""


def start(study: Study, text: str, folder: Path) -> Built:
    """Build the study, to be sure that this works, and make its run folder."""
    if Path(folder).exists():
        raise SDCError(f"{str(folder)!r} already exists: continue it with `sdc resume`, or choose another --out")
    built = study.build()
    problem = built.problem
    meta = {
        "format": list(FORMAT),
        "created": now(),
        "versions": versions(),
        "study": study.values(),
        "given": _decisive(tomllib.loads(text)),
        "folder": str(study.folder),
        "data": {
            "digest": built.table.digest,
            **_data_facts(built),
            "file": None if built.table.file is None else str(built.table.file),
            "sha256": None if built.table.file is None else file_digest(built.table.file),
        },
        "problem": {
            **_problem_facts(problem),
            "original": find_task(study.task).unprotected(problem),
        },
    }
    create_folder(Path(folder), text, meta, study.sections.run.numbers)
    return built


@contextmanager
def removed_unless_begun(folder: Path) -> Iterator[None]:
    """Remove a run folder that was just made if the rest fails before a generation is stored.

    It is empty, and would be in the way of the corrected study.
    """
    try:
        yield
    except Exception:
        with suppress(SDCError), RunLock(folder), Run(folder) as run:  # not if another process works on it
            begun = any(state.generations for state in run.progress())
            if not begun:
                shutil.rmtree(folder, ignore_errors=True)
        raise


def again(folder: Path) -> tuple[Study, str]:
    """Study of a run folder, to repeat the run: relative paths start in the same folder as when the run was made."""
    folder = check_folder(folder)
    with Run(folder) as run:
        home = Path(run.meta["folder"])
    try:
        text = input_file(folder / STUDY, largest=LARGEST_FILE).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise SDCError(f"{STUDY} in {str(folder)!r} cannot be read: {error}") from None
    return Study.from_text(text, folder=home, name=f"{STUDY} in {str(folder)!r}"), text


def reopen(folder: Path, *, data: Path | None = None, search: bool = True) -> tuple[Study, Built, Mapping[str, Any]]:
    """Build the study of a run folder again, and refuse a changed study or changed data.

    Parameters
    ----------
    folder
        The run folder.
    data
        Current path of its file, if it was moved; that of the links is next to it.
    search
        Whether the search will be continued; to read the run only, it need not be built.
    """
    folder = check_folder(folder)
    with Run(folder) as run:
        meta, seeds = dict(run.meta), run.seeds
        check_continuable(meta, folder)
        run.verify()
    try:
        text = input_file(folder / STUDY, largest=LARGEST_FILE).read_text(encoding="utf-8-sig")
        given = _decisive(tomllib.loads(text))
    except (OSError, ValueError, RecursionError) as error:
        raise SDCError(f"{STUDY} in {str(folder)!r} cannot be read: {error}") from None
    difference = _difference(_decisive(meta["given"]), given)
    if difference:
        raise SDCError(
            f"{STUDY} in {str(folder)!r} was changed after the run began ({difference}); restore it, or start a new"
            " run with it"
        )
    values = tomllib.loads(text)
    if data is not None:
        section = {**values["data"], "file": str(resolved(data))}
        if section.get("edges") is not None:  # links are moved with the records
            section["edges"] = str(resolved(data).parent / Path(section["edges"]).name)
        values = {**values, "data": section}
    study = Study.from_values(values, folder=Path(meta["folder"]))
    gone = [seed for seed in seeds if seed not in study.sections.run.numbers]
    if gone:
        raise SDCError(
            f"{STUDY} in {str(folder)!r} no longer has seed {gone[0]}, which has begun: you can add seeds,"
            " but not remove any"
        )
    try:
        built = study.build(search=search)
    except (SDCError, OSError) as error:
        raise SDCError(f"the study of {str(folder)!r} cannot be built again: {error}") from None
    if built.table.digest != meta["data"]["digest"]:
        raise SDCError(
            f"the data of {str(folder)!r} changed after the run began: {_where(built)} had SHA-256"
            f" {meta['data']['digest'][:12]}…, now {built.table.digest[:12]}… ({meta['data']['records']} records then,"
            f" {built.table.data.n_records} now). Restore the old file, or start a new run"
        )
    _check_facts(built, meta, folder)
    return study, built, meta


def _check_facts(built: Built, meta: Mapping[str, Any], folder: Path) -> None:
    """Refuse a run whose facts about its data or objectives are not true: its numbers would be misread."""
    counted, made = _data_facts(built), _problem_facts(built.problem)
    said = {
        **{name: meta["data"].get(name) for name in counted},
        **{name: meta["problem"].get(name) for name in ("n_var", "dtype")},
        **_read_as(meta["problem"]["objectives"]),
    }
    true = {**counted, **{name: made[name] for name in ("n_var", "dtype")}, **_read_as(made["objectives"])}
    difference = _difference(said, true)
    if difference:
        raise Untrue(
            f"the contents of {str(folder)!r} do not agree with its study and data ({difference}); the run's database"
            " was changed, or made by another version: nothing is read from it"
        )


def _read_as(objectives: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sense and unit of each objective, by name."""
    return {f"{o['name']}, objective {i + 1}": f"{o['sense']} {o['unit']}".strip() for i, o in enumerate(objectives)}


def _data_facts(built: Built) -> dict[str, Any]:
    """Counts of the table, in the form stored in a run."""
    data = built.table.data
    return {"records": data.n_records, "dropped": data.n_dropped, "columns": len(data.names)}


def _problem_facts(problem: SDCProblem) -> dict[str, Any]:
    """Facts about the problem that determine how its numbers are read."""
    return {
        "class": type(problem).__name__,
        "n_var": int(problem.n_var),
        "dtype": str(problem.dtype),
        "objectives": [objective_facts(objective) for objective in problem.objectives],
    }


def check_continuable(meta: Mapping[str, Any], folder: Path) -> None:
    """Refuse to continue a run of a version with other names; it can still be read under these."""
    version = str(meta["versions"].get("sdc-problems"))
    numbers = re.fullmatch(r"(\d+)\.(\d+)[\w.+]{0,30}", version)  # nothing else of a stranger's folder is printed
    if numbers and tuple(map(int, numbers.groups())) >= CONTINUABLE and tuple(meta["format"]) >= SEALED:
        return
    made = f"sdc-problems {version}" if numbers else "another version"
    raise SDCError(
        f"{str(folder)!r} was made by {made}, whose objectives and options had other names. This version can show what"
        f" the run has found. To continue it, to draw a solution or to release one, use that version"
        + (f" (pip install sdc-problems=={version})" if numbers else "")
    )


def _where(built: Built) -> str:
    return "the table" if built.table.file is None else str(built.table.file)


def _decisive(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a study that determines every generation, in the form that JSON keeps."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps({k: v for k, v in given.items() if k not in CHANGEABLE}))
    except TypeError as error:
        raise SDCError(f"a study cannot contain dates and times: {error}") from None
    return plain


def _difference(before: Any, after: Any, place: str = "") -> str:
    """First difference between two nested tables, in words; empty if there is none."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(k for k in after if k not in before)]:
            where = f"{place}.{key}" if place else str(key)
            if key not in after:
                return f"{where} is gone"
            if key not in before:
                return f"{where} is new"
            found = _difference(before[key], after[key], where)
            if found:
                return found
        return ""
    same = type(before) is type(after) and before == after
    return "" if same else f"{place} was {json.dumps(before)}, is {json.dumps(after)}"

"""Run folder: making it, checking one that a stranger may have made, and writing files in it.

The folder holds ``study.toml`` (the study as given), ``run.sqlite`` (everything that was computed) and the
pictures and tables made from it. Nothing in it is ever executed or unpickled, and no link in it is
followed, because a link could redirect a write to a place outside the folder.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from sdc_problems._files import resolved
from sdc_problems.errors import SDCError, SDCFailure, did_you_mean
from sdc_problems.studies.store.schema import DATABASE, SCHEMA, connection, guarded
from sdc_problems.studies.store.seal import seal_baselines, seal_facts, seal_seed

STUDY = "study.toml"
LOCK = "run.lock"
OWN = (STUDY, LOCK, DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal")
"""Files that make up a run: no other file is ever written over them."""


def check_folder(path: Path) -> Path:
    """Resolve a run folder; refuse a link, or a file that sdc never writes there, before anything is opened."""
    folder = resolved(path)
    if not folder.is_dir():
        near = [p.name for p in folder.parent.iterdir() if p.is_dir()] if folder.parent.is_dir() else []
        raise SDCError(f"there is no run folder {str(path)!r}{did_you_mean(folder.name, near)}")
    for name in OWN:
        inside = folder / name
        if inside.is_symlink():
            raise SDCError(f"{name} in {str(path)!r} is a link, and a run folder contains no links: it is not opened")
        if inside.exists() and not inside.is_file():
            raise SDCError(f"{name} in {str(path)!r} is not a regular file")
    if (folder / f"{DATABASE}-journal").exists():
        # SQLite acts on such a file when it opens the database, and may even delete files that it names.
        raise SDCError(
            f"{str(path)!r} contains {DATABASE}-journal, which sdc never writes: remove it if you trust the folder"
        )
    if not (folder / DATABASE).is_file():
        raise SDCError(f"{str(path)!r} is not a run folder: it has no {DATABASE}")
    return folder


def inside(folder: Path, name: str) -> Path:
    """Return the path of a file to be written in the folder: one plain name, never through a link."""
    if not name or name in {".", ".."} or any(c in name for c in "/\\\0") or Path(name).is_absolute():
        raise SDCError(f"{name!r} is not a plain file name")
    return resolved(folder) / name


def refuse_own(path: Path) -> None:
    """Refuse to overwrite a file that makes up a run."""
    if path.name in OWN and (path.parent / DATABASE).is_file():
        raise SDCError(f"{str(path)!r} is a file of the run itself: choose another name")


def refuse_run(folder: Path) -> None:
    """Refuse to write other files into a run folder: its content belongs to the run."""
    there = folder.absolute()
    for place in (there, *there.parents):
        if (place / DATABASE).is_file():
            raise SDCError(f"{str(place)!r} is a run folder, and only the run writes there: choose another --out")


def write_atomically(path: Path, content: bytes | str, *, private: bool = False) -> None:
    """Write a file so that readers find the old or the new content, never a part; a link is replaced.

    Parameters
    ----------
    path
        The file.
    content
        Its content.
    private
        Whether only this user may read it.
    """
    refuse_own(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".sdc-")
    except OSError as error:
        raise SDCFailure(f"cannot write in {str(path.parent)!r}: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if not private:  # mkstemp makes private files; others get the permissions of an ordinary new file
            mask = os.umask(0)
            os.umask(mask)
            Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise SDCFailure(f"cannot write {str(path)!r}: {error.strerror}; nothing was changed") from None
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def create_folder(path: Path, study: str, meta: dict[str, Any], seeds: list[int]) -> Path:
    """Make a new run folder in one step: it appears complete or not at all."""
    path = Path(path).absolute()
    if path.exists() or path.is_symlink():
        raise SDCError(f"{str(path)!r} already exists: continue it with `sdc resume`, or choose another --out")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(dir=path.parent, prefix=".sdc-run-"))
    except OSError as error:
        raise SDCFailure(f"cannot make a run folder in {str(path.parent)!r}: {error.strerror}") from None
    try:
        (building / STUDY).write_text(study, encoding="utf-8")
        with connection(building / DATABASE, write=True) as db, guarded("the new run folder"):
            for sql in SCHEMA.values():
                db.execute(sql)
            db.executemany("INSERT INTO meta VALUES (?, ?)", [(k, json.dumps(v)) for k, v in meta.items()])
            db.executemany(
                "INSERT INTO seeds VALUES (?, ?, 'waiting', '')", [(seed, i) for i, seed in enumerate(seeds)]
            )
            seal_facts(db)
            seal_baselines(db)
            for seed in seeds:
                seal_seed(db, seed)
            db.commit()
        mask = os.umask(0)
        os.umask(mask)
        building.chmod(0o777 & ~mask)
        building.rename(path)
    except OSError as error:
        shutil.rmtree(building, ignore_errors=True)
        raise SDCFailure(f"cannot make the run folder {str(path)!r}: {error.strerror}") from None
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    return path

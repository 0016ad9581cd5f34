"""Public files: found on this machine or downloaded from their publisher, and verified by their digest."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import urllib.parse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sdc_problems._sources.catalogue import Source
from sdc_problems._sources.download import Progress, fetch, terminal_progress
from sdc_problems._sources.parsers import Table, read_csv
from sdc_problems.errors import SDCError, SDCFailure


def cache_home() -> Path:
    """Return the folder of downloaded files.

    ``$XDG_CACHE_HOME/sdc-problems`` or ``~/.cache/sdc-problems``; on macOS ``~/Library/Caches/sdc-problems``; on
    Windows ``%LOCALAPPDATA%\\sdc-problems\\Cache``.
    """
    try:
        user = Path.home()
    except RuntimeError as error:
        raise SDCError("this user has no home folder: set SDC_DATA_HOME to a folder with the data files") from error
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else user / "AppData" / "Local") / "sdc-problems" / "Cache"
    if sys.platform == "darwin":
        return user / "Library" / "Caches" / "sdc-problems"
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(xdg) if os.path.isabs(xdg) else user / ".cache") / "sdc-problems"


def _homes() -> list[Path]:
    """Folders to look in, best first."""
    given = os.environ.get("SDC_DATA_HOME")
    if not given:
        return [cache_home()]
    if not Path(given).is_dir():
        raise SDCError(f"SDC_DATA_HOME is set to {given}, which is not a folder")
    return [Path(given), cache_home()]


def find(source: Source) -> Path | None:
    """Return the (first) file of the first folder that has all of them, in this package's or the publisher's format."""
    for home in _homes():
        for files in (source.files, source.raw):
            if files and all((home / file).is_file() for file in files):
                return home / files[0]
    return None


def _by_hand(source: Source) -> str:
    """Sentence on how a person can put the file in place."""
    where = f"put it into {cache_home()} or into a folder that SDC_DATA_HOME names"
    if source.url:
        addresses = " and ".join(f"{source.url}/{file}" for file in source.raw)
        return f"get {addresses} on a machine that is online and {where}, under the same name"
    return f"{source.by_hand}; {where} as {' and '.join(source.files)}"


def verified_table(source: Source, *, download: bool, progress: Progress | None) -> Table:
    """Return the table, from this machine or from the publisher, after checking the digest of the catalogue."""
    found = find(source)
    if found is not None:
        table = _read(source, found)
        wrong = _what_differs(source, table)
        if wrong:
            raise SDCError(f"{found} is not the published file: {wrong}; remove it, then {_by_hand(source)}")
        return table
    if not source.url:
        raise SDCError(
            f"the dataset {source.name!r} is not on this machine and cannot be downloaded: {_by_hand(source)}"
        )
    if not download:
        raise SDCError(
            f"the dataset {source.name!r} is not on this machine; load it with download=True, or {_by_hand(source)}"
        )
    return _download(source, progress)


def _read(source: Source, found: Path) -> Table:
    if found.name != source.csv:
        return source.parse([found.parent / file for file in source.raw], source.columns)
    return read_csv(found, source.columns)


def _what_differs(source: Source, table: Table) -> str:
    if len(table.rows) != source.rows:
        return f"it has {len(table.rows)} records instead of {source.rows}"
    digest = table.digest()
    return "" if digest == source.digest else f"its digest is {digest[:12]}…, expected {source.digest[:12]}…"


def _download(source: Source, progress: Progress | None) -> Table:
    """Download the publisher's files, check their table, and keep it in the cache."""
    host = urllib.parse.urlsplit(source.url).netloc
    home = cache_home()
    folder = home / "downloads" / source.name
    paths = []
    for file in source.raw:
        path = folder / file
        if not path.is_file():
            show = progress if progress is not None else terminal_progress(file)
            fetch(f"{source.url}/{file}", path, by_hand=_by_hand(source), progress=show)
        paths.append(path)
    try:
        table = source.parse(paths, source.columns)
        wrong = _what_differs(source, table)
    except SDCError as error:
        wrong = f"it cannot be read ({error})"
    if wrong:
        shutil.rmtree(folder, ignore_errors=True)
        if find(source) is not None:  # another process was first, and has removed the part
            return verified_table(source, download=False, progress=None)
        raise SDCFailure(
            f"what {host} sent for {source.name!r} is not the published file: {wrong}; it was not kept; "
            f"{_by_hand(source)}"
        )
    _write_atomically(home / source.csv, table.to_csv())
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):  # another download is under way in it
        folder.parent.rmdir()
    return table


def _write_atomically(path: Path, text: str) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise SDCFailure(f"cannot write {path} ({error.strerror})") from error


def verified_edges(source: Source) -> NDArray[np.int64]:
    """Return the edges of a graph whose vertices are at hand, as positions from 0."""
    found = find(source)
    assert found is not None
    assert source.edges is not None
    file, digest, count, first = source.edges
    edges = read_csv(found.parent / file, ("source", "target"))
    if edges.digest() != digest:
        raise SDCError(
            f"{found.parent / file} is not the published file: {len(edges.rows)} edges, {count} expected, or in "
            f"another order; {source.by_hand}"
        )
    pairs: NDArray[np.int64] = np.array(edges.rows, dtype=np.int64) - first
    pairs.setflags(write=False)
    return pairs

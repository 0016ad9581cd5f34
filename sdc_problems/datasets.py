"""Tables to start from: an embedded synthetic one, and the public ones of the literature.

``load("people")`` needs nothing. The public files are looked for in the folder ``$SDC_DATA_HOME``, then in the user's
cache (:func:`cache_home`); what UCI publishes under a stable address is downloaded into that cache, and for the others
the error message says where a person gets the file and where it belongs. Every table must have the digest that the
catalogue lists, wherever it came from.

The parsers of UCI's own formats are tested on files in those formats; the download is tested on a local server. Neither
is tested against the live site.
"""

from __future__ import annotations

import contextlib
import importlib.resources
import os
import shutil
import sys
import tempfile
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems import _people
from sdc_problems._catalogue import SOURCES, Source
from sdc_problems._download import Progress, fetch, terminal_progress
from sdc_problems._parsers import Table, read_csv
from sdc_problems.errors import SDCError, SDCFailure, did_you_mean

if TYPE_CHECKING:
    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.microdata import Microdata

__all__ = ["Dataset", "Listing", "Progress", "cache_home", "catalogue", "ensure", "load", "names", "people"]


@dataclass(frozen=True)
class Dataset:
    """A table with its roles, the hierarchies of its quasi-identifiers, and where it comes from.

    Attributes
    ----------
    data
        The microdata; for a graph, one record per vertex.
    hierarchies
        Attribute to its generalization hierarchy; empty for files whose attributes have none.
    about
        Origin, licence or citation, size and treatment of missing values, as one paragraph.
    edges
        For a graph: pairs of record positions (from 0), as published; None for a table.
    """

    data: Microdata
    hierarchies: Mapping[str, Hierarchy]
    about: str
    edges: NDArray[np.int64] | None = None


class Listing(NamedTuple):
    """One line of the catalogue: what the table is, and where it is now (None: not on this machine)."""

    name: str
    title: str
    records: int
    columns: int
    place: Path | None
    downloadable: bool


def names() -> tuple[str, ...]:
    """Return the names that :func:`load` knows.

    Examples
    --------
    >>> names()[:3]
    ('people', 'adult', 'adult_test')
    """
    return ("people", *SOURCES)


def load(name: str, *, download: bool = True, progress: Progress | None = None) -> Dataset:
    """Load a table by name.

    Parameters
    ----------
    name
        One of :func:`names`.
    download
        Whether a file that is not on this machine may be fetched from its publisher.
    progress
        Called with the bytes received and expected while a file is fetched; without it a bar is shown on stderr where
        that is a terminal.

    Raises
    ------
    SDCError
        For an unknown name, or for a file that is missing and has no stable address, or is not the published one; the
        message says where to get it and where to put it. Failing downloads are an ``SDCFailure``.

    Examples
    --------
    >>> people = load("people")
    >>> len(people.data), sorted(people.hierarchies)[:3]
    (5000, ['age', 'birthplace', 'education'])
    """
    if name == "people":
        return people()
    source = _source(name)
    table = _table(source, download=download, progress=progress)
    hierarchies = _hierarchies(source.hierarchies, source.quasi_identifiers) if source.hierarchies else {}
    edges = None
    if source.edges is not None:
        file, _, _, first = source.edges
        pairs = read_csv(_home_of(source) / file, ("source", "target"))
        edges = np.array(pairs.rows, dtype=np.int64) - first
        edges.setflags(write=False)
    return Dataset(_microdata(source, table), hierarchies, _about(source), edges)


def people(records: int = _people.RECORDS, *, seed: int = _people.SEED) -> Dataset:
    """Draw the embedded table: synthetic census-like records of people who do not exist.

    Parameters
    ----------
    records
        Number of records, at least 50; the first records of a larger table are the smaller one.
    seed
        The same seed gives the same records on every platform.

    Notes
    -----
    Eight quasi-identifiers of the kinds of the Adult census file (age, workclass, education, marital status,
    ethnicity, sex, birthplace, income) with hierarchies of the lengths 6, 3, 3, 3, 1, 1, 4, 1; occupation and diagnosis
    are sensitive; hours, wage and savings are numeric. The attributes depend on each other as they do in a census:
    marital status and schooling on age, income on schooling, age, hours and occupation, diagnosis on age and sex.

    Examples
    --------
    >>> len(people(100).data)
    100
    """
    from sdc_problems.microdata import Microdata

    if isinstance(records, bool) or not isinstance(records, int) or records < _people.FEWEST:
        raise SDCError(f"records must be a whole number, at least {_people.FEWEST}, not {records!r}")
    data = Microdata.from_frame(
        _people.draw(records, seed),
        quasi_identifiers=_people.QUASI_IDENTIFIERS,
        sensitive=_people.SENSITIVE,
        kinds={
            "age": "numeric",
            **dict.fromkeys(_people.NUMERIC, "numeric"),
            **dict.fromkeys(_people.ORDERS, "ordinal"),
        },
        orders=_people.ORDERS,
    )
    about = (
        f"Synthetic census-like records of people who do not exist, drawn by this package with seed {seed}: {records} "
        "records × 13 columns, no missing values. Part of this package and under its licence."
    )
    return Dataset(data, _hierarchies("people", _people.QUASI_IDENTIFIERS), about)


def catalogue() -> list[Listing]:
    """List every table, and where its file is now."""
    embedded = Listing("people", "Synthetic census-like people (embedded)", _people.RECORDS, 13, None, False)
    return [
        embedded,
        *(
            Listing(s.name, s.title, s.rows, len(s.columns), _find(s), bool(s.url))
            for s in SOURCES.values()
        ),
    ]  # fmt: skip


def ensure(name: str, *, progress: Progress | None = None) -> Path:
    """Make sure that a public file is on this machine and is the published one; return its path.

    Parameters
    ----------
    name
        One of :func:`names`, except ``"people"``, which needs no file.
    progress
        As for :func:`load`.
    """
    if name == "people":
        raise SDCError("the table 'people' is embedded: there is no file to fetch")
    source = _source(name)
    _table(source, download=True, progress=progress)
    found = _find(source)
    assert found is not None
    return found


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


# ---------------------------------------------------------------------------------------------- finding a file


def _source(name: str) -> Source:
    if name not in SOURCES:
        raise SDCError(f"unknown dataset {name!r}{did_you_mean(name, names())}; there are: {', '.join(names())}")
    return SOURCES[name]


def _homes() -> list[Path]:
    """Folders to look in, best first."""
    given = os.environ.get("SDC_DATA_HOME")
    if not given:
        return [cache_home()]
    if not Path(given).is_dir():
        raise SDCError(f"SDC_DATA_HOME is set to {given}, which is not a folder")
    return [Path(given), cache_home()]


def _find(source: Source) -> Path | None:
    """Return the (first) file of the first folder that has all of them, in our format or in the publisher's."""
    for home in _homes():
        for files in (source.files, source.raw):
            if files and all((home / file).is_file() for file in files):
                return home / files[0]
    return None


def _home_of(source: Source) -> Path:
    found = _find(source)
    assert found is not None
    return found.parent


def _by_hand(source: Source) -> str:
    """Say how a person puts the file in place."""
    where = f"put it into {cache_home()} or into a folder that SDC_DATA_HOME names"
    if source.url:
        addresses = " and ".join(f"{source.url}/{file}" for file in source.raw)
        return f"get {addresses} on a machine that is online and {where}, under the same name"
    return f"{source.by_hand}; {where} as {' and '.join(source.files)}"


def _table(source: Source, *, download: bool, progress: Progress | None) -> Table:
    """Return the verified table, from this machine or from the publisher."""
    found = _find(source)
    if found is not None:
        table = _read(source, found)
        wrong = _what_differs(source, table)
        if wrong:
            raise SDCError(f"{found} is not the published file: {wrong}; remove it, then {_by_hand(source)}")
        return table
    if not source.url:
        raise SDCError(
            f"the dataset {source.name!r} is not on this machine and has no stable address: {_by_hand(source)}"
        )
    if not download:
        raise SDCError(
            f"the dataset {source.name!r} is not on this machine; load it with download=True, or {_by_hand(source)}"
        )
    return _download(source, progress)


def _read(source: Source, found: Path) -> Table:
    if found.name != source.csv:
        return source.parse([found.parent / file for file in source.raw], source.columns)
    if source.edges is not None:
        file, digest, count, _ = source.edges
        edges = read_csv(found.parent / file, ("source", "target"))
        if edges.digest() != digest:
            raise SDCError(
                f"{found.parent / file} is not the published file: {len(edges.rows)} edges, {count} expected, or in "
                f"another order; {source.by_hand}"
            )
    return read_csv(found, source.columns)


def _what_differs(source: Source, table: Table) -> str:
    if len(table.rows) != source.rows:
        return f"it has {len(table.rows)} records instead of {source.rows}"
    digest = table.digest()
    return "" if digest == source.digest else f"its digest is {digest[:12]}…, expected {source.digest[:12]}…"


def _download(source: Source, progress: Progress | None) -> Table:
    """Fetch the publisher's files, check the table they hold, and keep that table in the cache."""
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
        shutil.rmtree(folder)
        raise SDCFailure(
            f"what {host} sent for {source.name!r} is not the published file: {wrong}; it was not kept; "
            f"{_by_hand(source)}"
        )
    _write_atomically(home / source.csv, table.to_csv())
    shutil.rmtree(folder)
    with contextlib.suppress(OSError):  # another download is under way in it
        folder.parent.rmdir()
    return table


def _write_atomically(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise SDCFailure(f"cannot write {path} ({error.strerror})") from error


# ------------------------------------------------------------------------------------- from text to microdata


def _microdata(source: Source, table: Table) -> Microdata:
    import pandas as pd

    from sdc_problems.microdata import Microdata

    columns: dict[str, object] = {}
    for position, name in enumerate(table.columns):
        if name in source.dropped:
            continue
        cells = [row[position] or None for row in table.rows]
        columns[name] = pd.to_numeric(pd.Series(cells)) if name in source.numeric else pd.Series(cells, dtype=object)
    kinds = {name: "numeric" if name in source.numeric else "nominal" for name in columns}
    kinds.update(dict.fromkeys(source.orders, "ordinal"))
    return Microdata.from_frame(
        pd.DataFrame(columns),
        quasi_identifiers=source.quasi_identifiers,
        sensitive=source.sensitive,
        identifiers=source.identifiers,
        kinds=kinds,
        orders=source.orders,
        missing="drop" if source.incomplete else "error",
    )


def _hierarchies(folder: str, attributes: tuple[str, ...]) -> dict[str, Hierarchy]:
    """Read the hierarchies that ship with the package."""
    from sdc_problems.hierarchy import Hierarchy

    found = {}
    for attribute in attributes:
        resource = importlib.resources.files("sdc_problems") / "data" / folder / f"{attribute}.csv"
        with importlib.resources.as_file(resource) as path:
            found[attribute] = Hierarchy.from_csv(path, name=attribute)
    return found


def _about(source: Source) -> str:
    parts = [f"{source.title}: {source.rows} records × {len(source.columns)} columns. {source.origin}."]
    if source.edges is not None:
        parts.append(f"{source.edges[2]} edges.")
    if source.incomplete:
        parts.append(f"Records with a missing value are dropped: {source.complete} are left.")
    if source.dropped:
        parts.append(f"Left out: {', '.join(source.dropped)}.")
    return " ".join(parts)

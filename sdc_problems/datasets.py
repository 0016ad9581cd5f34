"""Datasets: embedded synthetic tables and a social graph, and public tables of the literature.

``load("people")``, ``load("firms")`` and ``load("crawl")`` need no files. Public files are looked for in the folder
``$SDC_DATA_HOME``, then in the user's cache (:func:`cache_home`). Files that UCI publishes at a stable address are
downloaded into that cache; for the others, the error message says where to get the file and where to put it.
Every table must have the digest that the catalogue lists, wherever it came from.

The parsers of UCI's own formats are tested on files in those formats; the download is tested on a local server. Neither
is tested against the live site.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._sources import crawl as _crawl
from sdc_problems._sources import firms as _firms
from sdc_problems._sources import people as _people
from sdc_problems._sources.catalogue import SOURCES, Source
from sdc_problems._sources.download import Progress
from sdc_problems._sources.files import cache_home, find, verified_edges, verified_table
from sdc_problems._sources.parsers import Table
from sdc_problems.errors import SDCError, did_you_mean

if TYPE_CHECKING:
    from sdc_problems.graph import SocialGraph
    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.microdata import Microdata

__all__ = [
    "Dataset",
    "Listing",
    "Progress",
    "cache_home",
    "catalogue",
    "crawl",
    "ensure",
    "firms",
    "load",
    "names",
    "people",
]

EMBEDDED = ("people", "crawl", "firms")
"""Tables that are part of the package."""


@dataclass(frozen=True)
class Dataset:
    """A table with its roles, the hierarchies of its quasi-identifiers, and where it comes from.

    Attributes
    ----------
    data
        The microdata; for a graph, one record per vertex.
    hierarchies
        Generalization hierarchy of each attribute; empty for files whose attributes have none.
    about
        Origin, license or citation, size and treatment of missing values, as one paragraph.
    edges
        For a graph: pairs of record positions (from 0), as published; None for a table.
    """

    data: Microdata
    hierarchies: Mapping[str, Hierarchy]
    about: str
    edges: NDArray[np.int64] | None = None

    @property
    def graph(self) -> SocialGraph:
        """The records and their links as a `SocialGraph`.

        Examples
        --------
        >>> crawl(100).graph
        SocialGraph(100 nodes, 112 undirected links)
        """
        from sdc_problems.graph import SocialGraph

        if self.edges is None:
            raise SDCError("this dataset is a table: it has no links")
        return SocialGraph(self.data, self.edges)


class Listing(NamedTuple):
    """Line of the catalogue: a table and the path of its file (None if it is not on this machine)."""

    name: str
    title: str
    records: int
    columns: int
    place: Path | None
    downloadable: bool


def names() -> tuple[str, ...]:
    """Return the names that :func:`load` accepts.

    Examples
    --------
    >>> names()[:4]
    ('people', 'crawl', 'firms', 'adult')
    """
    return (*EMBEDDED, *SOURCES)


def load(name: str, *, download: bool = True, progress: Progress | None = None) -> Dataset:
    """Load a table by name.

    Parameters
    ----------
    name
        One of :func:`names`.
    download
        Whether a file that is not on this machine may be downloaded from its publisher.
    progress
        Called with the bytes received and the bytes expected during a download; without it, a progress bar is shown if
        stderr is a terminal.

    Raises
    ------
    SDCError
        For an unknown name, or for a file that is not the published one, or is missing and has no stable address; the
        message says where to get it and where to put it. A failed download is an ``SDCFailure``.

    Examples
    --------
    >>> people = load("people")
    >>> len(people.data), sorted(people.hierarchies)[:3]
    (5000, ['age', 'birthplace', 'education'])
    """
    if name in EMBEDDED:
        return people() if name == "people" else crawl() if name == "crawl" else firms()
    source = _source(name)
    table = verified_table(source, download=download, progress=progress)
    hierarchies = _hierarchies(source.hierarchies, source.quasi_identifiers) if source.hierarchies else {}
    edges = None if source.edges is None else verified_edges(source)
    return Dataset(_microdata(source, table), hierarchies, _about(source), edges)


def people(records: int = _people.RECORDS, *, seed: int = _people.SEED) -> Dataset:
    """Draw the embedded table: synthetic, census-like records of invented persons.

    Parameters
    ----------
    records
        Number of records, at least 50; a smaller table is the beginning of a larger one.
    seed
        The same seed gives the same records on every platform.

    Notes
    -----
    Eight quasi-identifiers like those of the Adult census file (age, workclass, education, marital status,
    ethnicity, sex, birthplace, income) with hierarchies of 6, 3, 3, 3, 1, 1, 4 and 1 levels; occupation and diagnosis
    are sensitive; hours, wage and savings are numeric. The attributes depend on each other as in a census:
    marital status and schooling on age; income on schooling, age, hours and occupation; diagnosis on age and sex.

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
        "records × 13 columns, no missing values. Part of this package and under its license."
    )
    return Dataset(data, _hierarchies("people", _people.QUASI_IDENTIFIERS), about)


def crawl(n: int = _crawl.NODES, m: int | None = None, *, seed: int = _crawl.SEED) -> Dataset:
    """Draw a social graph like those that Marés (2013) crawled, in size and kind: places, topics, links.

    Parameters
    ----------
    n
        Number of nodes, at least 20.
    m
        Number of links, n − 1 to n(n − 1)/8; by default as many per node as in the smaller crawl, 342 for 306. The
        larger one had 1,638 nodes and 4,622 links.
    seed
        The same seed gives the same graph on every platform.

    Notes
    -----
    Every node but the first links to an earlier one, drawn uniformly, and copies its place and its topics with
    probability 0.4 each. Otherwise a place is drawn from 336 by Zipf's law with exponent 0.9, and three of 18 topics
    with exponent 0.8. Further links are uniform pairs, kept with probability 0.2, plus 0.4 if the first topic is the
    same and 0.4 if the country is the same.

    Examples
    --------
    >>> small = crawl(100)
    >>> len(small.data), len(small.edges), small.hierarchies["place"].n_levels
    (100, 112, 8)
    """
    from sdc_problems._validation import whole
    from sdc_problems.microdata import Microdata

    n = whole(n, "n", least=_crawl.FEWEST)
    m = max(n - 1, round(n * _crawl.LINKS / _crawl.NODES)) if m is None else whole(m, "m", least=n - 1)
    if m > n * (n - 1) // 8:
        raise SDCError(f"m = {m} links are too many for {n} nodes: at most {n * (n - 1) // 8}")
    frame, edges = _crawl.draw(n, m, seed)
    kinds = dict.fromkeys(frame.columns, "nominal")
    quasi = _crawl.QUASI_IDENTIFIERS
    data = Microdata.from_frame(frame, quasi_identifiers=quasi, identifiers=["id"], kinds=kinds)
    about = (
        f"Synthetic social graph of people who do not exist, drawn by this package with seed {seed} after the graphs "
        f"of Marés (2013), section 6.5: {n} records × {len(frame.columns)} columns, no missing values. {m} edges. Part "
        "of this package and under its license."
    )
    return Dataset(data, {"place": _crawl.hierarchy()}, about, edges)


def firms() -> Dataset:
    """Load the embedded numeric table: invented firms, for grouping and microaggregation.

    Notes
    -----
    Sixteen positive whole numbers in four blocks (size, capital, energy, trade): each column's logarithm is normal,
    with a part that all columns share and a part that the columns of its block share.

    Examples
    --------
    >>> table = firms().data
    >>> len(table), len(table.quasi_identifiers)
    (1000, 16)
    """
    from sdc_problems.microdata import Microdata

    resource = importlib.resources.files("sdc_problems") / "data" / "firms" / "firms.csv"
    with importlib.resources.as_file(resource) as path:
        data = Microdata.from_csv(
            path, quasi_identifiers=_firms.COLUMNS, kinds=dict.fromkeys(_firms.COLUMNS, "numeric")
        )
    about = (
        f"Synthetic firms that do not exist, drawn by this package with seed {_firms.SEED}: {len(data)} records × "
        f"{len(_firms.COLUMNS)} numeric columns in four correlated blocks, no missing values. Part of this package and "
        "under its license."
    )
    return Dataset(data, {}, about)


def catalogue() -> list[Listing]:
    """List every table with the path of its file."""
    embedded = Listing("people", "Synthetic census-like people (embedded)", _people.RECORDS, 13, None, False)
    graph = Listing("crawl", "Synthetic social graph with places and topics (embedded)", _crawl.NODES, 5, None, False)
    numbers = Listing(
        "firms", "Synthetic firms, numbers in blocks (embedded)", _firms.RECORDS, len(_firms.COLUMNS), None, False
    )
    return [
        embedded,
        graph,
        numbers,
        *(
            Listing(s.name, s.title, s.rows, len(s.columns), find(s), bool(s.url))
            for s in SOURCES.values()
        ),
    ]  # fmt: skip


def ensure(name: str, *, progress: Progress | None = None) -> Path:
    """Make sure that a public file is on this machine and is the published one, and return its path.

    Parameters
    ----------
    name
        One of :func:`names`, except the embedded ones, which need no file.
    progress
        As for :func:`load`.
    """
    if name in EMBEDDED:
        raise SDCError(f"the table {name!r} is embedded: there is no file to fetch")
    source = _source(name)
    verified_table(source, download=True, progress=progress)
    if source.edges is not None:
        verified_edges(source)
    found = find(source)
    assert found is not None
    return found


def _source(name: str) -> Source:
    if name not in SOURCES:
        raise SDCError(f"unknown dataset {name!r}{did_you_mean(name, names())}; there are: {', '.join(names())}")
    return SOURCES[name]


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

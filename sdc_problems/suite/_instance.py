"""Instance of the suite: a problem with a permanent name, and its front, as far as it is known."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems.errors import SDCError
from sdc_problems.suite._files import (
    Points,
    beside,
    drawn_rows,
    read_points,
    read_toml,
    read_values,
    verified,
)

if TYPE_CHECKING:
    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.microdata import Microdata
    from sdc_problems.problem import SDCProblem

CHECKED = 20  # frozen rows that a problem measures to check that it is the instance's
KNOWN = ("exact", "bracketed", "best")
HIERARCHIES = ("intervals", "suppression")
NEEDED = ("id", "suite", "task", "title", "what_is_hard", "problem", "table", "options", "budgets", "proof", "frozen")


class Instance:
    """Named problem with its front, reference point and budgets; a version such as ``@1`` never changes.

    Returned by `instance` and `instances`, or made from the TOML file of another package.

    Parameters
    ----------
    path
        Its TOML file.

    Attributes
    ----------
    id
        Name with version, such as ``pbg-people-k-glm@1``.
    digest
        SHA-256 of its TOML file, which holds those of the table, of the front and of the measured rows.
    suite, task, title, what_is_hard
        The suite it belongs to, what the task decides, and why it is not an easy problem.
    objectives
        Names of the objectives, in the order of the columns of ``front``.
    budgets
        Evaluations of each budget: ``short`` and ``long``.
    known
        Standing of the front: ``exact`` (proven), ``bracketed`` (the best found, and a proven bound of each
        point), ``best`` (the best found).
    proof
        How the front is known, as a sentence.
    replaces
        Reason for another version, if this one replaces one or was replaced; otherwise empty.

    Examples
    --------
    >>> from sdc_problems.suite import instance
    >>> found = instance("pbg-people-k-glm@1")
    >>> found.known, found.front.shape, found.budgets["short"]
    ('exact', (29, 2), 500)
    >>> found.problem().pareto_front().shape
    (29, 2)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        said, self.digest = read_toml(self.path)
        missing = [name for name in NEEDED if name not in said]
        if missing:
            way_out = (
                ": `sdc benchmark freeze` (in Python sdc_problems.suite.freeze) writes it"
                if missing == ["frozen"]
                else ""
            )
            raise SDCError(f"{self.path.name} lacks {', '.join(missing)}{way_out}")
        self._said, frozen = said, said["frozen"]
        self.id: str = said["id"]
        if f"{self.id}.toml" != self.path.name:
            raise SDCError(f"the instance {self.id} must stand in a file {self.id}.toml, not {self.path.name}")
        self.suite: str = said["suite"]
        self.task: str = said["task"]
        self.title: str = said["title"]
        self.what_is_hard: str = said["what_is_hard"]
        self.replaces: str = said.get("replaces", "")
        self.objectives: tuple[str, ...] = tuple(said["options"]["objectives"])
        self.budgets: dict[str, int] = dict(said["budgets"])
        self.known: str = frozen["known"]
        self.proof: str = said["proof"]["how"]
        self._space: int | str = frozen["space"]
        if self.known not in KNOWN:
            raise SDCError(f"{self.id}: known must be one of {', '.join(KNOWN)}, not {self.known!r}")

    @property
    def n_objectives(self) -> int:
        """Number of objectives."""
        return len(self.objectives)

    @property
    def space(self) -> int | float:
        """Number of different solutions; from 10^15 on the nearest power of ten, infinite if too large for a float."""
        if isinstance(self._space, int):
            return self._space
        power = int(self._space.removeprefix("10^"))
        return 10.0**power if power <= 300 else np.inf

    @property
    def space_in_words(self) -> str:
        """Number of different solutions in words, such as ``17,920`` or ``about 10^5,731``."""
        if isinstance(self._space, int):
            return f"{self._space:,}"
        return f"about 10^{int(self._space.removeprefix('10^')):,}"

    @property
    def parameters(self) -> dict[str, Any]:
        """Options of the problem's constructor, as in the file."""
        return dict(self._said["options"])

    @property
    def stored(self) -> bool:
        """Whether proving the front takes so long that it is proven again only if the instance is named."""
        return bool(self._said["proof"].get("stored", False))

    @property
    def table(self) -> dict[str, Any]:
        """Table as described in the file: name, records, roles, digest."""
        return dict(self._said["table"])

    # -- what is known --------------------------------------------------------------------------------------------

    @functools.cached_property
    def _points(self) -> Points:
        along = self._said["table"].get("along")
        order = None if along is None else order_along(load_data(self._said, self.path.parent)[0], along)
        text = verified(beside(self.path, "csv"), self._said["frozen"]["front"])
        return read_points(text, self.objectives, order)

    @functools.cached_property
    def n_points(self) -> int:
        """Number of points of the front; the table need not be on this machine."""
        return len(verified(beside(self.path, "csv"), self._said["frozen"]["front"]).splitlines()) - 1

    @functools.cached_property
    def _signs(self) -> NDArray[np.float64]:
        return np.array([1.0 if sense == "min" else -1.0 for sense in self._said["frozen"]["senses"]])

    @property
    def senses(self) -> tuple[str, ...]:
        """``min`` or ``max`` for each objective, in natural units."""
        return tuple(self._said["frozen"]["senses"])

    @property
    def front(self) -> NDArray[np.float64]:
        """Points of the front, minimized as in ``problem.evaluate``, sorted, without dominated ones."""
        return self._points.values * self._signs + 0.0

    @property
    def front_x(self) -> NDArray[Any]:
        """Solution of each point of the front."""
        return self._points.X

    @property
    def bound(self) -> NDArray[np.float64] | None:
        """For a bracketed front: a bound for each of its points, such that no solution is better than all of them."""
        bound = self._points.bound
        return None if bound is None else bound * self._signs + 0.0

    @property
    def ideal(self) -> NDArray[np.float64]:
        """Best value of each objective on the front, minimized."""
        return np.array(self._said["frozen"]["ideal"], dtype=float)

    @property
    def nadir(self) -> NDArray[np.float64]:
        """Worst value of each objective on the front, minimized."""
        return np.array(self._said["frozen"]["nadir"], dtype=float)

    @property
    def reference(self) -> NDArray[np.float64]:
        """Reference point of hypervolumes: the nadir plus a tenth of the range."""
        return self.nadir + 0.1 * (self.nadir - self.ideal)

    def scaled(self, F: ArrayLike) -> NDArray[np.float64]:
        """Values with the ideal at 0 and the nadir at 1; the reference point is at 1.1."""
        values: NDArray[np.float64] = (np.asarray(F, dtype=float) - self.ideal) / (self.nadir - self.ideal)
        return values

    def natural(self, F: ArrayLike) -> NDArray[np.float64]:
        """Values in natural units; maximized objectives are stored negated."""
        values: NDArray[np.float64] = np.asarray(F, dtype=float) * self._signs
        return values

    def measured(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Rows drawn when the instance was frozen, and their values, minimized: no later version may change them."""
        frozen = self._said["frozen"]
        values = read_values(verified(beside(self.path, "rows.csv"), frozen["rows"]), self.objectives)
        rows = drawn_rows(self.id, _unpacked(frozen["xl"]), _unpacked(frozen["xu"]), len(values))
        return rows, values * self._signs + 0.0

    # -- the problem ----------------------------------------------------------------------------------------------

    @property
    def available(self) -> bool:
        """Whether its table is on this machine: embedded, or a public file that has been downloaded."""
        from sdc_problems import datasets

        name = self._said["table"].get("name")
        return name is None or any(
            listing.name == name and (name in datasets.EMBEDDED or listing.place is not None)
            for listing in datasets.catalogue()
        )

    def problem(self, *, threads: int | None = None) -> SDCProblem:
        """Make its problem, whose ``pareto_front()`` is the front of the instance.

        Parameters
        ----------
        threads
            Number of candidates measured at once; by default as many as there are processors. Results do not depend on
            it.
        """
        made = build_problem(self._said, self.path.parent, threads=threads)
        made.known_front = self.front
        return made

    def check(self, problem: SDCProblem) -> None:
        """Refuse a problem that is not this instance's.

        Parameters
        ----------
        problem
            It must have the same objectives in the same order and the same bounds, and give the frozen rows' values.
        """
        names = tuple(objective.name for objective in problem.objectives)
        if names != self.objectives:
            raise SDCError(f"{self.id} has the objectives {', '.join(self.objectives)}, not {', '.join(names)}")
        frozen = self._said["frozen"]
        bounds = (_unpacked(frozen["xl"]), problem.xl), (_unpacked(frozen["xu"]), problem.xu)
        rows, F = (array[:CHECKED] for array in self.measured())
        if not all(np.array_equal(*pair) for pair in bounds) or not np.allclose(
            problem.evaluate(problem.genomes(rows), return_values_of=["F"]), F, rtol=1e-9, atol=1e-9
        ):
            raise SDCError(
                f"this is not the problem of {self.id}: its table, columns or options are others"
                f" (`sdc benchmark show {self.id}` lists them)"
            )

    def __repr__(self) -> str:
        return f"<Instance {self.id}: {', '.join(self.objectives)}; {len(self.front)} points, {self.known}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instance) and (self.id, self.digest) == (other.id, other.digest)

    def __hash__(self) -> int:
        return hash((self.id, self.digest))


def _unpacked(bounds: list[list[int]]) -> NDArray[np.int64]:
    """Bounds that are written as pairs of a number of variables and their bound."""
    return np.repeat([value for _, value in bounds], [times for times, _ in bounds])


def order_along(data: Microdata, column: str) -> NDArray[np.int64]:
    """Records in the order of a numeric column, ties in the order of the file."""
    return np.argsort(data.values(column)[:, 0], kind="stable").astype(np.int64)


def problem_class(said: Mapping[str, Any]) -> type[SDCProblem]:
    """Class of the problem, given in the file as ``module:Class``."""
    from sdc_problems.problem import SDCProblem

    module, _, name = said["problem"].partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SDCError(f"{said['id']}: the problem {said['problem']} cannot be imported: {error}") from error
    if not (isinstance(found, type) and issubclass(found, SDCProblem)):
        raise SDCError(f"{said['id']}: {said['problem']} is not a problem of this package's kind")
    return found


def build_problem(said: Mapping[str, Any], folder: Path, *, threads: int | None = None) -> SDCProblem:
    """Make the problem that a file describes."""
    problem: Any = problem_class(said)
    known = inspect.signature(problem).parameters
    data, hierarchies = load_data(said, folder)
    options = dict(said["options"])
    if "diagonal" in options:
        options["diagonal"] = tuple(options["diagonal"])
    if "hierarchies" in known:
        options["hierarchies"] = {name: hierarchies[name] for name in data.quasi_identifiers}
    if "threads" in known:
        options["threads"] = threads
    try:
        made: SDCProblem = problem(data, **options)
    except TypeError as error:
        raise SDCError(f"{said['id']}: options of the problem: {error}") from error
    return made


_TABLES: dict[str, tuple[Microdata, dict[str, Hierarchy]]] = {}


def load_data(said: Mapping[str, Any], folder: Path) -> tuple[Microdata, dict[str, Hierarchy]]:
    """Table and hierarchies that a file describes; the table of a frozen instance must have its digest."""
    table, levels = said["table"], said.get("hierarchies", {})
    key = repr((sorted(table.items()), sorted(levels.items()), folder if "file" in table else None))
    if key not in _TABLES:
        found = _loaded(said, folder)
        if len(_TABLES) >= 8:  # only a few at a time: public tables are large
            _TABLES.pop(next(iter(_TABLES)))
        _TABLES[key] = found
    data, hierarchies = _TABLES[key]
    frozen = said.get("frozen", {}).get("table")
    if frozen is not None and data.digest != frozen:
        raise SDCError(f"{said['id']}: the table is not the one that the instance was frozen with: its SHA-256 differs")
    return data, hierarchies


def _loaded(said: Mapping[str, Any], folder: Path) -> tuple[Microdata, dict[str, Hierarchy]]:
    from sdc_problems import datasets
    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.microdata import Microdata

    table = said["table"]
    roles = {name: table[name] for name in ("quasi_identifiers", "sensitive", "identifiers") if name in table}
    if "file" in table:
        reading = {name: table[name] for name in ("kinds", "orders", "missing") if name in table}
        data, hierarchies = Microdata.from_file(folder / table["file"], **roles, **reading), {}
    else:
        dataset = datasets.load(table["name"], download=False)
        data, hierarchies = dataset.data, dict(dataset.hierarchies)
        if roles:
            data = data.with_roles(**roles)
    if "records" in table:
        data = data.take(range(table["records"]))
    for name, how in said.get("hierarchies", {}).items():
        if len(how) != 1 or next(iter(how)) not in HIERARCHIES:
            raise SDCError(f"{said['id']}: the hierarchy of {name!r} must be one of {', '.join(HIERARCHIES)}")
        if "intervals" in how:
            hierarchies[name] = Hierarchy.intervals(data.categories(name), how["intervals"], name=name)
        else:
            hierarchies[name] = Hierarchy.suppression(data.attribute(name).labels, name=name)
    return data, hierarchies

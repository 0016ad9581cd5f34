"""Engine for generalization lattices: every node is measured on tables of classes instead of records."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from threading import Lock
from typing import Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._validation import choice, whole
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.lattice._class_tables import Chunk, Domain, chunked, class_table, collect, follow
from sdc_problems.evaluators.lattice._corners import DECIMALS, Corner, corner
from sdc_problems.evaluators.lattice._kernels import (
    N_FIGURES,
    ClassTable,
    Floats,
    Ints,
    Lattice,
    fill_stats,
    measure_from,
    walk,
)
from sdc_problems.evaluators.lattice._stored_tables import StoredSteps, StoredTables, size_of
from sdc_problems.parallel._process import thread_count

MEASURES = (
    "k", "l", "entropy_l", "t", "spread_k", "spread_l", "glm", "cm", "discernibility", "suppressed", "glm_percent",
)  # fmt: skip
NEED_SENSITIVE = frozenset({"l", "entropy_l", "t", "spread_l"})
NEED_LABELS = frozenset({"cm"})

Progress: TypeAlias = Callable[[int, int], object]
T = TypeVar("T")

_FIGURE = {name: i for i, name in enumerate(MEASURES[:N_FIGURES])} | {"glm_percent": MEASURES.index("glm")}
"""Figure of the kernels from which each measure is computed."""

LARGEST_WALK = 20_000  # nodes whose figures at every threshold are held before they are yielded

_FASTER = 10.0  # compiled code measures a node so many times faster than plain code


class LatticeEngine:
    """Measures of any node of a generalization lattice.

    A node gives the level to which each attribute is generalized; records that then agree in all attributes form a
    class. Classes with fewer records than a threshold are suppressed. The threshold is the largest that suppresses at
    most ``max_suppressed`` records (Dewri et al. 2010, §6), or a smaller one that is given with the node. Measures of
    the remaining records:

    ===============  ==================================================================================
    ``k``            size of the smallest class
    ``l``            smallest number of distinct sensitive values in a class
    ``entropy_l``    ``exp`` of the smallest entropy of the sensitive values of a class, to 9 decimals
    ``t``            largest distance :math:`\\frac12 \\sum_s |p_s - q_s|` of the shares of sensitive values in a
                     class from those in the whole table, suppressed records included
    ``spread_k``     sum over the records of the size of their class
    ``spread_l``     sum over the records of the count of their sensitive value in their class
    ``glm``          sum over records and attributes of (leaves under the value - 1)/(domain - 1); a suppressed
                     record loses 1 per attribute; an attribute of one value loses nothing
    ``glm_percent``  100 · ``glm`` / (records · attributes)
    ``cm``           records that are suppressed or do not have the most frequent label of their class
    ``discernibility``  ``spread_k``, plus the number of all records for each suppressed one
    ``suppressed``   number of suppressed records
    ===============  ==================================================================================

    A suppressed record is in no class and adds nothing to the spreads. ``max_suppressed`` is less than the number of
    records, so at least one class always remains.

    Parameters
    ----------
    codes
        Records × attributes: category codes.
    tables
        Per attribute, levels × categories: group of each category at each level, finest level first; each level
        coarsens the one before.
    leaves
        Per attribute and level, the number of values of the domain in each group; by default, the number of categories.
    sensitive, labels
        Sensitive value and class label of each record, for the measures that need them.
    max_suppressed
        Largest number of records that may be suppressed.
    measures
        Names of the measures, the columns of results.
    threads
        Number of nodes measured at once; by default, all processors. Results do not depend on it.
    memory
        Bytes for tables of measured nodes, from which coarser nodes are grouped.

    Notes
    -----
    Records are read once, into classes of the finest node with their counts of sensitive values and labels. Any
    other node is grouped from the smallest stored table of a finer node, in time linear in that table. All sums are of
    whole numbers, so the figures of a node do not depend on the table from which it was grouped. All thresholds of a
    node are measured in one pass over its classes. The thresholds that make a difference are 1 and one more than each
    of the smallest class sizes; with a budget of *b* records there are at most :math:`1 + \\sqrt{2b}`. Dewri et al.
    (2010), §4-7; loss metrics of Iyengar (2002); discernibility of Bayardo and Agrawal (2005); entropy diversity of
    Machanavajjhala et al. (2006); t-closeness of Li et al. (2007).

    Examples
    --------
    >>> codes = [[0], [0], [1], [2], [3], [3]]
    >>> levels = [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
    >>> engine = LatticeEngine(codes, [levels], measures=("k", "glm"))
    >>> engine.evaluate([[0], [1], [2]])
    array([[1., 0.],
           [3., 2.],
           [6., 6.]])
    >>> engine.n_nodes
    3

    If one record may be suppressed, the node of level 0 has a second threshold besides 1, which suppresses nothing:

    >>> engine = LatticeEngine([[0], [0], [1], [2], [2]], [levels], max_suppressed=1, measures=("k", "suppressed"))
    >>> engine.steps([[0]])
    [(array([1, 2]), array([[1., 0.],
           [2., 1.]]))]
    >>> engine.evaluate([[0], [0]], [1, 2])
    array([[1., 0.],
           [2., 1.]])
    """

    def __init__(
        self,
        codes: ArrayLike,
        tables: Sequence[ArrayLike],
        *,
        leaves: Sequence[Sequence[ArrayLike]] | None = None,
        sensitive: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        max_suppressed: int = 0,
        measures: Sequence[str] = MEASURES,
        threads: int | None = None,
        memory: int = 1 << 26,
    ) -> None:
        self._build(
            chunked(codes, sensitive, labels), tables, leaves, sensitive is not None, labels is not None,
            max_suppressed, measures, threads, memory,
        )  # fmt: skip

    @classmethod
    def from_chunks(
        cls,
        chunks: Iterable[Chunk],
        tables: Sequence[ArrayLike],
        *,
        leaves: Sequence[Sequence[ArrayLike]] | None = None,
        has_sensitive: bool = False,
        has_labels: bool = False,
        max_suppressed: int = 0,
        measures: Sequence[str] = MEASURES,
        threads: int | None = None,
        memory: int = 1 << 26,
    ) -> Self:
        """Build an engine from a table that is read in chunks and never held as a whole.

        Parameters
        ----------
        chunks
            Tuples ``(codes, sensitive, labels)`` of some records each; the last two are ``None`` if there are none.
        has_sensitive, has_labels
            Whether the chunks contain sensitive values and labels.
        tables, leaves, max_suppressed, measures, threads, memory
            As for the constructor.

        Examples
        --------
        >>> pieces = [(np.array([[0], [0], [1]]), None, None), (np.array([[2], [3], [3]]), None, None)]
        >>> levels = [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
        >>> LatticeEngine.from_chunks(pieces, [levels], measures=("k",)).evaluate([[1]])
        array([[3.]])
        """
        engine = cls.__new__(cls)
        engine._build(
            chunks, tables, leaves, has_sensitive, has_labels, max_suppressed, measures, threads, memory
        )  # fmt: skip
        return engine

    def _build(
        self,
        chunks: Iterable[Chunk],
        tables: Sequence[ArrayLike],
        leaves: Sequence[Sequence[ArrayLike]] | None,
        has_sensitive: bool,
        has_labels: bool,
        max_suppressed: int,
        measures: Sequence[str],
        threads: int | None,
        memory: int,
    ) -> None:
        self.measures = tuple(choice(name, "measures", MEASURES) for name in measures)
        for needed, present, what in (
            (NEED_SENSITIVE, has_sensitive, "sensitive values"), (NEED_LABELS, has_labels, "class labels"),
        ):  # fmt: skip
            lacking = needed.intersection(self.measures)
            if lacking and not present:
                raise SDCError(f"{', '.join(sorted(lacking))} cannot be measured without {what}")
        domain = Domain.of(tables, leaves)
        rows = collect(domain, chunks, has_sensitive, has_labels)
        n_records = int(rows.n.sum())
        self.max_suppressed = whole(max_suppressed, "max_suppressed")
        if self.max_suppressed >= n_records:
            raise SDCError(f"max_suppressed must be less than the number of records ({n_records})")
        self.n_records = n_records
        self.threads = thread_count(threads)
        n_sensitive = 1 + int(rows.sensitive.max()) if has_sensitive else 0
        n_labels = 1 + int(rows.labels.max()) if has_labels else 0
        # All counts are kept for `figures`; elsewhere, only the counts that the measures need are used.
        self._full_lattice: Lattice = domain.lattice(
            rows, n_sensitive=n_sensitive, n_labels=n_labels, max_suppressed=self.max_suppressed
        )
        self._full = class_table(rows, n_sensitive=n_sensitive, n_labels=n_labels)
        if self._full.pairs is not None:
            fill_stats(self._full, self._full_lattice)
        self._lattice, self._base = follow(
            self._full_lattice,
            self._full,
            sensitive=not NEED_SENSITIVE.isdisjoint(self.measures),
            labels=not NEED_LABELS.isdisjoint(self.measures),
        )
        self._columns = np.array([_FIGURE[name] for name in self.measures], dtype=np.int64)
        self._stored = StoredTables(self._base, len(self.n_levels), memory)
        self._steps = StoredSteps(memory // 4)
        self._lock = Lock()

    # -- what it is -----------------------------------------------------------------------------------------------

    @property
    def n_levels(self) -> Ints:
        """Number of levels of each attribute, the values themselves included."""
        return self._lattice.n_levels

    @property
    def n_nodes(self) -> int:
        """Number of nodes of the lattice."""
        return int(np.prod(self.n_levels.astype(object)))

    @property
    def n_classes(self) -> int:
        """Number of classes of the finest node: distinct records by their attributes."""
        return len(self._base.sizes)

    # -- measuring ------------------------------------------------------------------------------------------------

    def evaluate(self, nodes: ArrayLike, thresholds: ArrayLike | None = None) -> Floats:
        """Measure nodes.

        Parameters
        ----------
        nodes
            Nodes × attributes: levels.
        thresholds
            Per node, the size below which classes are suppressed; 1 suppresses none. A threshold above what
            ``max_suppressed`` allows at its node counts as the largest allowed, which is also the default.

        Returns
        -------
        ndarray of float64
            Nodes × measures.

        Notes
        -----
        Finer nodes come first, each grouped from the smallest stored table of a finer node. A table that is at most
        half the size of the one from which it was grouped is kept for later nodes, within ``memory`` bytes; the least
        recently used are dropped first. If thresholds are given, the figures of all thresholds of a node are cached.
        """
        X = self._nodes(nodes)
        out = np.empty((len(X), len(self.measures)))
        if thresholds is None:
            for row, _, _, figures in self._grouped(X):
                out[row] = figures[-1, self._columns]
            return self._finished(out, self.measures)
        limits = self._limits(thresholds, len(X))
        for row, (found, values) in enumerate(self._known_steps(X)):
            out[row] = values[_step(found, limits[row])]
        return out

    def measure(
        self, nodes: ArrayLike, names: Sequence[str] | None = None, *, thresholds: ArrayLike | None = None
    ) -> Floats:
        """Measure nodes: one column per name, each one of ``measures``; all of them by default."""
        columns = [self.measures.index(choice(name, "a measure", self.measures)) for name in names or self.measures]
        return self.evaluate(nodes, thresholds)[:, columns]

    def steps(self, nodes: ArrayLike) -> list[tuple[Ints, Floats]]:
        """Thresholds of each node that make a difference, from 1 (nothing is suppressed) on, and their measures."""
        return [(limits + 1, values.copy()) for limits, values in self._known_steps(self._nodes(nodes))]

    def effective(self, nodes: ArrayLike, thresholds: ArrayLike) -> Ints:
        """Smallest threshold that suppresses the same records: one more than the largest suppressed class of each node.

        A threshold above what ``max_suppressed`` allows at its node counts as the largest allowed.

        Examples
        --------
        >>> engine = LatticeEngine([[0], [1], [1], [1]], [[[0, 1], [0, 0]]], max_suppressed=1, measures=("k",))
        >>> engine.effective([[0], [0], [0], [1]], [1, 2, 3, 2])
        array([1, 2, 2, 1])
        """
        X = self._nodes(nodes)
        limits = self._limits(thresholds, len(X))
        found = [at[_step(at, limit)] for (at, _), limit in zip(self._known_steps(X), limits, strict=True)]
        return np.array(found, dtype=np.int64) + 1

    def corners(self, nodes: ArrayLike) -> list[Corner]:
        """Measures of each node at every threshold that makes a difference, and bounds on those of finer nodes.

        For a box of nodes from ``low`` to ``high``, and for any node in it at any threshold, some step of the corner of
        ``high`` bounds every measure of that node. The bound on a measure of protection is ``finer`` at that step; the
        bound on a loss is ``finer`` there plus the loss of ``low`` without suppression.

        Examples
        --------
        >>> engine = LatticeEngine([[0], [1], [1]], [[[0, 1], [0, 0]]], measures=("k", "glm"))
        >>> engine.corners([[1]])[0].finer
        array([[3., 0.]])
        """
        X = self._nodes(nodes)
        found: list[Corner | None] = [None] * len(X)
        for row, table, limits, figures in self._grouped(X):
            values = self._finished(figures[:, self._columns], self.measures)
            found[row] = corner(table, limits, values, self.measures, self._lattice)
        return [made for made in found if made is not None]

    def level_losses(self) -> list[Floats]:
        """Loss (``glm``) of all records at each level of each attribute, without suppression."""
        lattice = self._lattice
        return [
            losses[:n] / span if span > 0 else np.zeros(n)
            for losses, n, span in zip(lattice.level_loss, self.n_levels.tolist(), lattice.span.tolist(), strict=True)
        ]

    def figures(self, node: ArrayLike, threshold: int | None = None) -> dict[str, float]:
        """All measures of one node that can be computed from the data, by name; ``threshold`` as for ``evaluate``."""
        levels = self._nodes(np.asarray(node)[None, :])[0]
        _, limits, figures = measure_from(self._full, np.zeros_like(levels), levels, self._full_lattice)
        step = -1 if threshold is None else _step(limits, int(self._limits([threshold], 1)[0]))
        lacking: frozenset[str] = frozenset()
        if self._full_lattice.n_sensitive == 0:
            lacking |= NEED_SENSITIVE
        if self._full_lattice.n_followed == self._full_lattice.n_sensitive:
            lacking |= NEED_LABELS
        names = [name for name in MEASURES if name not in lacking]
        values = self._finished(figures[[step]][:, [_FIGURE[name] for name in names]], names)[0]
        return dict(zip(names, map(float, values), strict=True))

    def evaluate_all(self, progress: Progress | None = None) -> Floats:
        """Measure every node of the lattice at the largest threshold that ``max_suppressed`` allows.

        Parameters
        ----------
        progress
            Called as ``progress(nodes done, nodes in all)`` from time to time.

        Returns
        -------
        ndarray of float64
            Nodes × measures, in the order of ``nodes()``.

        Notes
        -----
        The lattice is walked like a counter, and every node but the finest is grouped from a direct predecessor.
        Besides the result, each thread holds two tables per attribute, each at most as large as the table of the node
        that generalizes only this attribute by one level.
        """
        out = np.empty((self.n_nodes, len(self.measures)))
        for numbers, _, values in self._walks(every=False, progress=progress):
            out[numbers] = values
        return out

    def every_step(
        self, progress: Progress | None = None, *, order: Ints | None = None
    ) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Measure every node of the lattice at every threshold that makes a difference, part by part.

        Parameters
        ----------
        progress
            Called as ``progress(nodes done, nodes in all)`` from time to time.
        order
            Attributes with more than one level, from the slowest to the fastest changing; by default the quickest
            order. Engines of the same lattice and number of threads yield the same parts in the same order.

        Yields
        ------
        tuple
            Numbers of nodes in ``nodes()``, thresholds, and rows × measures.

        Notes
        -----
        The lattice is walked as in ``evaluate_all``; all thresholds of a node are measured in the same pass.
        """
        for numbers, limits, values in self._walks(every=True, progress=progress, order=order):
            yield numbers, limits + 1, values

    def nodes(self) -> NDArray[np.int16]:
        """All nodes of the lattice in lexicographic order, one row each."""
        grid = np.indices(self.n_levels.tolist(), dtype=np.int16)
        return np.ascontiguousarray(grid.reshape(len(self.n_levels), -1).T)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _nodes(self, nodes: ArrayLike) -> Ints:
        X = np.asarray(nodes)
        if X.ndim != 2 or X.shape[1] != len(self.n_levels) or X.dtype.kind not in "iu":
            raise SDCError(f"nodes must be whole-numbered levels of {len(self.n_levels)} attributes, one row per node")
        if ((X < 0) | (X >= self.n_levels)).any():
            row, a = (int(i) for i in np.argwhere((X < 0) | (X >= self.n_levels))[0])
            raise SDCError(f"node {row} has level {X[row, a]} of attribute {a}, which has 0 to {self.n_levels[a] - 1}")
        return X.astype(np.int64)

    def _limits(self, thresholds: ArrayLike, n: int) -> Ints:
        """Largest size that is suppressed at each of ``n`` thresholds."""
        given = np.asarray(thresholds)
        if given.shape != (n,) or given.dtype.kind not in "iu" or (n and given.min() < 1):
            raise SDCError(f"thresholds must be whole numbers from 1, one for each of the {n} nodes")
        return given.astype(np.int64) - 1

    def _grouped(self, X: Ints) -> Iterator[tuple[int, ClassTable, Ints, Floats]]:
        """Row and table of each node, and limits and figures of its steps; finer nodes first."""
        order = np.argsort(X.sum(axis=1), kind="stable")
        step = 32 * self.threads
        for i in range(0, len(order), step):
            part = order[i : i + step]
            with self._lock:
                sources = [self._stored.nearest(X[row]) for row in part]
            tasks = [(table, of, X[row], self._lattice) for (of, table), row in zip(sources, part, strict=True)]
            made = list(self._map(measure_from, tasks))
            with self._lock:
                for source, row, (table, _, _) in zip(sources, part, made, strict=True):
                    self._stored.offer(X[row], table, source[1])
            for row, (table, limits, figures) in zip(part.tolist(), made, strict=True):
                yield row, table, limits, figures

    def _known_steps(self, X: Ints) -> list[tuple[Ints, Floats]]:
        """Limits and measures of every step of each node, from the cache or measured."""
        keys = [row.tobytes() for row in X]
        with self._lock:
            known = {key: found for key in set(keys) if (found := self._steps.get(key)) is not None}
        rows = list({key: row for row, key in enumerate(keys) if key not in known}.values())
        for row, _, limits, figures in self._grouped(X[rows]):
            known[keys[rows[row]]] = limits, self._finished(figures[:, self._columns], self.measures)
        with self._lock:
            for key in dict.fromkeys(keys):
                self._steps.keep(key, known[key])
        return [known[key] for key in keys]

    def _walks(
        self, *, every: bool, progress: Progress | None, order: Ints | None = None
    ) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Walk the lattice part by part: numbers of nodes, limits, and measures."""
        order = self.walking_order() if order is None else order
        rooms = np.array([self._shrinkage[a][1] for a in order], dtype=np.int64).reshape(-1, 2)
        # Each task fixes the levels of the attributes that change slowest. There are enough tasks to keep all threads
        # busy, and none has more nodes than should be held at a time.
        n_fixed, n_tasks = 0, 1
        while n_fixed < len(order) and (
            (self.threads > 1 and n_tasks < 8 * self.threads) or (every and self.n_nodes // n_tasks > LARGEST_WALK)
        ):
            n_tasks *= int(self.n_levels[order[n_fixed]])
            n_fixed += 1
        starts = np.zeros((n_tasks, len(self.n_levels)), dtype=np.int64)
        fixed = order[:n_fixed]
        starts[:, fixed] = np.indices(self.n_levels[fixed].tolist()).reshape(n_fixed, n_tasks).T
        done = 0
        tasks = [(start, order[n_fixed:], rooms[n_fixed:], every) for start in starts]
        for numbers, limits, values in self._map(self._walked, tasks):
            done += self.n_nodes // n_tasks
            if progress is not None:
                progress(done, self.n_nodes)
            yield numbers, limits, self._finished(values, self.measures)

    def _walked(self, start: Ints, order: Ints, rooms: Ints, every: bool) -> tuple[Ints, Ints, Floats]:
        table, zero = self._base, np.zeros_like(start)
        if start.any():
            table = measure_from(table, zero, start, self._lattice)[0]
        return walk(table, start, order, rooms, self._lattice, self._columns, every)

    def walking_order(self) -> Ints:
        """Attributes with more than one level, from the slowest to the fastest changing in a walk of all nodes.

        If generalizing an attribute shrank every table by the same factors r(1), r(2), … as it shrinks the base
        table, the walk would take the least work with the attributes in descending order of
        (1 + r(1) + … - r(top)) / (r(1) + r(2) + …), by an exchange argument.
        """

        def worth(a: int) -> float:
            shares = self._shrinkage[a][0]
            return (sum(shares) - shares[-1]) / (sum(shares) - 1)

        turning = sorted((a for a in self._shrinkage if self.n_levels[a] > 1), key=lambda a: (-worth(a), a))
        return np.array(turning, dtype=np.int64)

    @cached_property
    def _shrinkage(self) -> dict[int, tuple[list[float], tuple[int, int]]]:
        """Per attribute: relative sizes of the base table if it alone is generalized, and classes and pairs at level 1.

        No table of a node that generalizes the attribute is larger than that at level 1.
        """
        found = {}
        for a, n in enumerate(self.n_levels.tolist()):
            of, table = np.zeros(len(self.n_levels), dtype=np.int64), self._base
            shares, room = [1.0], (0, 0)
            for level in range(1, n):
                levels = of.copy()
                levels[a] = level
                table = measure_from(table, of, levels, self._lattice)[0]
                of = levels
                shares.append(size_of(table) / size_of(self._base))
                if level == 1:
                    room = (len(table.sizes), table.n_pairs)
            found[a] = shares, room
        return found

    def estimated_seconds(self) -> float:
        """Estimate the seconds that ``evaluate_all`` takes: work as in ``walking_order``, timed on one grouping."""
        turning = self.walking_order()
        work, tables = 1.0, 1.0
        for a in turning.tolist():
            shares = self._shrinkage[a][0]
            work += tables * (sum(shares) - shares[-1])
            tables *= sum(shares)
        levels = np.minimum(1, self.n_levels - 1)
        node = (self._base, np.zeros_like(levels), levels, self._lattice)
        faster = _FASTER if measure_from.is_plain_for(*node) else 1.0  # type: ignore[attr-defined]
        start = time.perf_counter()
        measure_from(*node)
        # Each node has a fixed cost, however small its table: about a microsecond.
        return ((time.perf_counter() - start) / faster * work + 2e-6 * self.n_nodes) / self.threads

    def _map(self, function: Callable[..., T], tasks: Sequence[tuple[object, ...]]) -> Iterator[T]:
        """Apply a function in threads (kernels release the GIL), results in order; a pool per call survives a fork."""
        if self.threads == 1 or len(tasks) == 1:
            yield from (function(*task) for task in tasks)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            yield from pool.map(lambda task: function(*task), tasks)

    def _finished(self, out: Floats, names: Sequence[str]) -> Floats:
        for i, name in enumerate(names):
            if name == "entropy_l":
                out[:, i] = np.round(np.exp(out[:, i]), DECIMALS)
            elif name == "glm_percent":
                out[:, i] = 100.0 * (out[:, i] / (self.n_records * len(self.n_levels)))
        return out


def _step(limits: Ints, limit: int) -> int:
    """Last step that suppresses no class larger than ``limit``."""
    return int(np.searchsorted(limits, limit, side="right")) - 1

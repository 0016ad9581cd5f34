"""Engine for clusters of nodes: loss and disclosure if the nodes of each cluster get common values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems._slices import slices
from sdc_problems._validation import choice
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import dense, row_labels
from sdc_problems.evaluators.disclosure_risk import score_max, score_mean
from sdc_problems.evaluators.graph._egos import Egos, egos
from sdc_problems.evaluators.graph._kernels import (
    assortativity_kernel,
    changed_along_links,
    changed_at_both_ends,
    profiles,
    structure_loss,
)
from sdc_problems.evaluators.graph._links import Arcs
from sdc_problems.evaluators.graph.risk import matches
from sdc_problems.evaluators.node_clusters._moves import Links
from sdc_problems.evaluators.node_clusters.table import (
    Column,
    NodeTable,
    cluster_values,
    distance,
    members,
    node_distances,
    node_table,
)
from sdc_problems.evaluators.partition.engine import smallest_groups
from sdc_problems.parallel._process import thread_count

MEASURES = (
    "il_graph", "aamil", "mixing", "cdil", "dbil_graph", "homophily", "ego_risk", "ego_risk_single", "ego_risk_right",
    "dr_degree", "nsil", "ngil", "k", "l", "score_mean", "score_max",
)  # fmt: skip
NEIGHBOURS = 16
WINDOW = 8  # positions to each side that are compared, in each of a few sorted orders, above ALL_PAIRS nodes
ORDERS = 6
ALL_PAIRS = 20_000  # nodes up to which all pairs are compared
_GAP = 8  # elementary steps of a distance between two nodes, per attribute
_WORTH_A_THREAD = 1 << 14  # arcs times attributes times candidates

_LOSSES = {"aamil", "cdil", "dbil_graph", "il_graph", "score_mean", "score_max"}
_EGO = {"ego_risk", "ego_risk_right", "score_mean", "score_max"}


class Profiles:
    """Profiles: number of neighbors of each node by category, for all attributes."""

    def __init__(self, table: NodeTable, arcs: Arcs) -> None:
        found = [profiles(arcs.in_ptr, arcs.into, table.codes[j], table.size[j]) for j in range(len(table.codes))]
        self.start = np.empty((len(found), arcs.n + 1), dtype=np.int64)
        used = 0
        for j, (pointer, _, _) in enumerate(found):
            self.start[j] = pointer + used
            used += int(pointer[-1])
        self.category = np.concatenate([category for _, category, _ in found])
        self.count = np.concatenate([count for _, _, count in found])


@kernel(allocates=False)
def _loss_row(
    t: NodeTable,
    start: NDArray[np.int64],
    category: NDArray[np.int32],
    count: NDArray[np.int32],
    labels: NDArray[np.int64],
    code: NDArray[np.int32],
    number: NDArray[np.float64],
    out: NDArray[np.float64],
    head: NDArray[np.int64],
    cells: NDArray[np.int64],
    change: NDArray[np.int64],
    following: NDArray[np.int64],
    released: NDArray[np.int32],
) -> None:
    """Sums of the three losses of each attribute: 3 × attributes.

    ``head`` holds −1, and ``cells`` and ``change`` 0 for each category; the last two are work arrays, with two entries
    and one per node.
    """
    p, n = t.codes.shape
    for j in range(p):
        original = t.codes[j]
        row = t.number[j]
        away = 0.0
        for v in range(n):
            c = labels[v]
            m = code[c, j]
            released[v] = m
            if row >= 0:
                away += distance(t, j, original[v], t.values[row, v], m, number[c, row])
            elif m != original[v]:
                away += distance(t, j, original[v], 0.0, m, 0.0)
            change[original[v]] += 1
            change[m] -= 1
        moved = 0
        for v in range(n):
            moved += abs(change[original[v]])
            change[original[v]] = 0
            moved += abs(change[released[v]])
            change[released[v]] = 0
        out[0, j] = changed_along_links(start[j], category, count, original, released, head, following, cells)
        out[1, j] = moved
        out[2, j] = away


@kernel(allocates=False)
def _nearest(
    t: NodeTable,
    rivals: NDArray[np.int32],
    low: int,
    high: int,
    every: NDArray[np.float64],
    best: NDArray[np.float64],
    out: NDArray[np.int32],
) -> None:
    """Nearest of each node's candidates (all nodes if none are given), ties to the earlier; for a range of nodes.

    ``every`` and ``best`` are work arrays, with an entry per node and per column of ``out``.
    """
    n, wanted = t.codes.shape[1], len(best)
    for v in range(low, high):
        for a in range(wanted):
            best[a] = np.inf
        number = rivals.shape[1]
        if number == 0:
            node_distances(t, v, every)
            number = n
        for a in range(number):
            u = a
            if rivals.shape[1]:
                u = rivals[v, a]
                if u < 0:
                    continue
                far = 0.0
                for j in range(len(t.rule)):
                    row = t.number[j]
                    x, y = (t.values[row, u], t.values[row, v]) if row >= 0 else (0.0, 0.0)
                    far += distance(t, j, t.codes[j, u], x, t.codes[j, v], y)
            else:
                far = every[u]
            if u == v or far >= best[wanted - 1]:
                continue
            at = wanted - 1
            while at > 0 and best[at - 1] > far:
                best[at] = best[at - 1]
                out[v, at] = out[v, at - 1]
                at -= 1
            best[at] = far
            out[v, at] = u


class NodeClusterEngine:
    """Measures of clusterings of a graph's nodes, many at a time.

    Parameters
    ----------
    columns
        Attributes of the nodes.
    arcs
        Links of the graph.
    sensitive
        Codes of the sensitive attributes, nodes × attributes, for ``l``.
    threads
        Number of clusterings measured at once; by default, all processors. The result does not depend on it.

    Notes
    -----
    A candidate costs O(np) for the values of its clusters, and Σ |profile| over the changed cells for ``aamil``, where
    the profile of a node is its neighbors by category; ``mixing`` and ``homophily`` cost O(p · arcs), ``nsil`` O(arcs).
    Memory is O(p · arcs) at worst.

    Examples
    --------
    >>> from sdc_problems.evaluators.graph._links import arcs
    >>> columns = [Column(np.array([0, 0, 1, 1], dtype=np.int32), 2)]
    >>> engine = NodeClusterEngine(columns, arcs([[0, 1], [1, 2], [2, 3]], 4))
    >>> engine.measure([[0, 0, 1, 1], [0, 1, 0, 1]], ("il_graph", "dr_degree", "k")).round(3)
    array([[0. , 1. , 2. ],
           [0.5, 0.5, 2. ]])
    """

    def __init__(
        self,
        columns: Sequence[Column],
        arcs: Arcs,
        *,
        sensitive: NDArray[np.int32] | None = None,
        threads: int | None = None,
    ) -> None:
        self.columns = tuple(columns)
        self.table = node_table(columns)
        self.arcs = arcs
        self.p, self.n = self.table.codes.shape
        if self.n != arcs.n:
            raise SDCError(f"there are {self.n} records of nodes and links between {arcs.n} nodes")
        self.sensitive = sensitive
        self.threads = thread_count(threads)
        self.degrees = arcs.degrees

    # -- computed when first needed --------------------------------------------------------------------------------

    @cached_property
    def profiles(self) -> Profiles:
        """Number of neighbors of each node by category."""
        return Profiles(self.table, self.arcs)

    @cached_property
    def originals(self) -> NDArray[np.int64]:
        """Original cells as codes (attributes × nodes), equal for equal cells."""
        out = self.table.codes.astype(np.int64)
        for j, row in enumerate(self.table.number):
            if row >= 0:
                out[j] = np.unique(self.table.values[row], return_inverse=True)[1]
        return out

    @cached_property
    def links(self) -> Links:
        """Links and profiles for moves."""
        a, found = self.arcs, self.profiles
        return Links(
            a.out_ptr, a.out, a.in_ptr, a.into, a.directed, self.degrees, found.start, found.category, found.count
        )

    @cached_property
    def egos(self) -> Egos:
        """Egos of all nodes."""
        return egos(self.arcs)

    @cached_property
    def homophily_before(self) -> NDArray[np.float64]:
        """Assortativity of each attribute of the original."""
        return self._assortativity(self.table.codes)

    @cached_property
    def neighbours(self) -> NDArray[np.int32]:
        """Nearest other nodes of each node by attributes, nearest first; approximate above 20,000 nodes."""
        wanted = min(NEIGHBOURS, self.n - 1)
        if self.n <= ALL_PAIRS:
            return self._nearest_of(np.empty((self.n, 0), dtype=np.int32), wanted)
        rivals = np.full((self.n, ORDERS * 2 * WINDOW), -1, dtype=np.int32)
        rng = np.random.default_rng(0)
        fill = 0
        for _ in range(ORDERS):
            chosen = rng.permutation(self.p)
            order = np.lexsort(self.table.codes[chosen])
            for step in (*range(-WINDOW, 0), *range(1, WINDOW + 1)):
                rivals[order, fill] = np.roll(order, step)
                fill += 1
        ordered = np.sort(rivals, axis=1)
        ordered[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = -1
        return self._nearest_of(ordered, wanted)

    def _nearest_of(self, rivals: NDArray[np.int32], wanted: int) -> NDArray[np.int32]:
        out = np.empty((self.n, wanted), dtype=np.int32)
        every, best = np.empty(self.n), np.empty(wanted)
        for low, high in slices(self.n, steps=_GAP * self.p * (rivals.shape[1] or self.n), what="nodes near to each"):
            _nearest(self.table, rivals, low, high, every, best, out)
        return out

    def distances(self, v: int) -> NDArray[np.float64]:
        """Mean distance over the attributes from one node to every node."""
        out = np.empty(self.n)
        node_distances(self.table, v, out)
        return out

    # -- one candidate ---------------------------------------------------------------------------------------------

    def values(self, labels: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Common values of each cluster: codes (clusters × attributes) and numbers (clusters × numeric attributes)."""
        wide = labels.astype(np.int64)
        return cluster_values(self.table, *members(wide, int(wide.max()) + 1))

    def losses(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """Losses aamil, cdil and dbil (rows) of each attribute (columns)."""
        wide = labels.astype(np.int64)
        return self._losses(wide, *self.values(wide))

    def _losses(
        self, labels: NDArray[np.int64], code: NDArray[np.int32], number: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        out, found = np.empty((3, self.p)), self.profiles
        largest = self.table.size.max()
        head, cells, change = np.full(largest, -1), np.zeros(largest, np.int64), np.zeros(largest, np.int64)
        following, released = np.empty(2 * self.n, np.int64), np.empty(self.n, np.int32)
        _loss_row(
            self.table, found.start, found.category, found.count, labels, code, number, out, head, cells, change,
            following, released,
        )  # fmt: skip
        out[0] /= 2.0 * self.arcs.n_arcs
        out[1] /= 2.0 * self.n
        out[2] /= self.n
        return out

    def _assortativity(self, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        links, size = self.arcs, self.table.size
        return np.array([assortativity_kernel(links.in_ptr, links.into, row, size[j]) for j, row in enumerate(rows)])

    def homophily_after(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """Assortativity of each attribute in the release."""
        return self._assortativity(np.ascontiguousarray(self.values(labels)[0][labels].T))

    def _exact(self, code: NDArray[np.int32], number: NDArray[np.float64]) -> NDArray[np.int64]:
        """Codes of released values (clusters × attributes), equal exactly where the values are equal."""
        out = code.astype(np.int64)
        for j, row in enumerate(self.table.number):
            if row >= 0:
                out[:, j] = np.unique(number[:, row], return_inverse=True)[1]
        return out

    def _labels_of_egos(
        self, labels: NDArray[np.int64], code: NDArray[np.int32], number: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Codes of the cells of original and release (attributes × 2 × nodes), equal for equal cells."""
        out = np.empty((self.p, 2, self.n), dtype=np.int64)
        for j, row in enumerate(self.table.number):
            if row >= 0:
                both = np.concatenate([self.table.values[row], number[labels, row]])
                out[j] = np.unique(both, return_inverse=True)[1].reshape(2, self.n)
            else:
                out[j] = self.table.codes[j], code[labels, j]
        return out

    def cells(self, labels: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Original and released cells as codes (nodes × attributes), equal for equal cells, in the order of values."""
        wide = labels.astype(np.int64)
        both = self._labels_of_egos(wide, *self.values(wide))
        return np.ascontiguousarray(both[:, 0].T), np.ascontiguousarray(both[:, 1].T)

    def ego_matches(self, labels: NDArray[Any], attributes: Sequence[int] | None = None) -> Any:
        """Nodes found by their neighborhood with some attributes (by default all), as `EgoMatches`."""
        wide = labels.astype(np.int64)
        cells = self._labels_of_egos(wide, *self.values(wide))
        chosen = cells[list(range(self.p)) if attributes is None else list(attributes)]
        numbers = row_labels(chosen.reshape(len(chosen), -1).T)[0]
        return matches(self.egos, numbers.reshape(2, self.n))

    def structure_loss(self, labels: NDArray[Any]) -> float:
        """Structural loss of super-nodes (``nsil``)."""
        links = self.arcs
        return float(structure_loss(links.out_ptr, links.out, labels.astype(np.int64), links.directed))

    def generalization_loss(self, labels: NDArray[Any]) -> float:
        """Share of cells whose cluster has several values; for places, the relative level of their common place."""
        wide = labels.astype(np.int64)
        start, nodes = members(wide, int(wide.max()) + 1)
        sizes = np.diff(start)
        code = self.values(wide)[0]
        total = 0.0
        for j in range(self.p):
            cells = self.table.values[self.table.number[j]] if self.table.number[j] >= 0 else self.table.codes[j]
            ordered = cells[nodes]
            mixed = np.maximum.reduceat(ordered, start[:-1]) != np.minimum.reduceat(ordered, start[:-1])
            weight = np.ones(len(sizes))
            column = self.columns[j]
            if column.rule == "generalize" and column.levels is not None:
                weight = np.asarray(column.levels)[code[:, j]] / self.table.height[j]
            total += float((mixed * weight * sizes).sum())
        return total / float(self.n * self.p)

    def _diversity(self, labels: NDArray[np.int64]) -> float:
        """Smallest number of different sensitive values in a cluster."""
        if self.sensitive is None or not self.sensitive.size:
            raise SDCError("l needs a sensitive attribute: give sensitive= when the table is made")
        least = self.n
        for column in self.sensitive.T:
            pairs = row_labels(np.column_stack([labels, column.astype(np.int64)]))[0]
            first = np.unique(pairs, return_index=True)[1]
            least = min(least, int(np.bincount(labels[first]).min()))
        return float(least)

    def figures(self, labels: NDArray[Any], names: Sequence[str]) -> dict[str, float]:
        """Measures of one clustering by name."""
        wide = np.ascontiguousarray(labels, dtype=np.int64)
        code, number = self.values(wide)
        asked, out = set(names), dict[str, float]()
        if asked & _LOSSES:
            out.update(zip(("aamil", "cdil", "dbil_graph"), self._losses(wide, code, number).mean(axis=1), strict=True))
            out["il_graph"] = (out["aamil"] + out["cdil"] + out["dbil_graph"]) / 3.0
        if asked & {"mixing", "homophily"}:
            released = np.ascontiguousarray(code[wide].T)
        if "mixing" in asked:
            links, t = self.arcs, self.table
            lost = [
                changed_at_both_ends(links.in_ptr, links.into, t.codes[j], released[j], t.size[j])
                for j in range(self.p)
            ]
            out["mixing"] = float(np.mean(lost) / (2.0 * links.n_arcs))
        if "homophily" in asked:
            out["homophily"] = float(np.abs(self.homophily_before - self._assortativity(released)).mean())
        if asked & _EGO:
            found = self.ego_matches(wide)
            out["ego_risk"], out["ego_risk_right"] = found.risk, found.risk_right
        if "ego_risk_single" in asked:
            out["ego_risk_single"] = float(np.mean([self.ego_matches(wide, [j]).risk for j in range(self.p)]))
        if "dr_degree" in asked:
            clusters = row_labels(self._exact(code, number))[0]
            out["dr_degree"] = row_labels(np.column_stack([clusters[wide], dense(self.degrees)[0]]))[1] / self.n
        if "nsil" in asked:
            out["nsil"] = self.structure_loss(wide)
        if "ngil" in asked:
            out["ngil"] = self.generalization_loss(wide)
        if "k" in asked:
            out["k"] = float(smallest_groups(wide[None, :], self.n)[0])
        if "l" in asked:
            out["l"] = self._diversity(wide)
        if asked & {"score_mean", "score_max"}:
            out["score_mean"] = score_mean(out["il_graph"], out["ego_risk"])
            out["score_max"] = score_max(out["il_graph"], out["ego_risk"])
        return {name: float(out[name]) for name in names}

    # -- many candidates -------------------------------------------------------------------------------------------

    def measure(self, rows: object, names: Sequence[str] = MEASURES) -> NDArray[np.float64]:
        """Measures of each row of labels (0, 1, … in any order, without gaps), one column per name."""
        labels = np.ascontiguousarray(rows)
        if labels.ndim != 2 or labels.shape[1] != self.n or labels.dtype.kind not in "iu":
            raise SDCError(
                f"rows must be whole numbers, clusterings × {self.n} nodes, not {labels.dtype} of shape {labels.shape}"
            )
        if labels.size and (labels.min() < 0 or labels.max() >= self.n):
            raise SDCError(f"labels must be between 0 and {self.n - 1}")
        for name in names:
            choice(name, "a measure", MEASURES)

        def one(row: NDArray[Any]) -> Mapping[str, float]:
            return self.figures(row, names)

        if set(names) & _LOSSES:
            self.profiles  # noqa: B018 -- computed before threads need it
        if set(names) & (_EGO | {"ego_risk_single"}):
            self.egos  # noqa: B018
        found = self._map(one, [dense(row.astype(np.int64))[0] for row in labels])
        return np.array([[row[name] for name in names] for row in found], dtype=np.float64).reshape(-1, len(names))

    def _map(self, function: Callable[[Any], Any], items: list[Any]) -> list[Any]:
        """Apply a function, in threads if that is worth it (kernels release the GIL)."""
        if self.threads == 1 or len(items) < 2 or self.arcs.n_arcs * self.p * len(items) < _WORTH_A_THREAD:
            return [function(item) for item in items]
        with ThreadPoolExecutor(min(self.threads, len(items))) as pool:
            return list(pool.map(function, items))

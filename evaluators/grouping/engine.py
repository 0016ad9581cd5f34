"""Engine for attribute groupings: every group of attributes is microaggregated once and cached."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import SLICE
from sdc_problems._validation import choice, number, table, whole
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.grouping._kernels import (
    centroids,
    count_links,
    count_links_directly,
    errors,
    fill_block,
    members,
)
from sdc_problems.methods._kernels.mdav import first_use, mdav_kernel
from sdc_problems.parallel._process import thread_count

TIE = 1e-10
"""Tolerance, absolute plus relative, within which distances between z-scored records count as equal."""

ROWS_REMEMBERED = 100_000

MEASURES = ("il_sse", "id_value", "dld")

T = TypeVar("T")
R = TypeVar("R")


@dataclass
class CacheStats:
    """Hits and misses of an engine's cache."""

    rows: int = 0
    rows_found: int = 0
    groups: int = 0
    groups_found: int = 0
    blocks: int = 0
    blocks_found: int = 0

    def __str__(self) -> str:
        lines = []
        for name, what in (("rows", "groupings"), ("groups", "attribute groups"), ("blocks", "distance blocks")):
            asked, found = getattr(self, name), getattr(self, name + "_found")
            rate = f"{100 * found / asked:.1f} %" if asked else "-"
            lines.append(f"{what}: {found} of {asked} found ({rate})")
        return "; ".join(lines)


@dataclass(frozen=True, eq=False)
class GroupMeasure:
    """Clusters and measures of one group of attributes, microaggregated on its own."""

    columns: NDArray[np.int64]
    labels: NDArray[np.int32]
    sse: float
    disclosed: int


class _Blocks:
    """Fixed number of distance blocks in one piece of memory; the least recently used block is replaced."""

    def __init__(self, n_slots: int, n: int, n_clusters: int) -> None:
        self.D = np.empty((n_slots, n, n_clusters))
        self.nearest = np.empty((n_slots, n))
        self.L = np.empty((n_slots, n), dtype=np.int32)
        self.order = np.empty((n_slots, n), dtype=np.int32)
        self.start = np.empty((n_slots, n_clusters + 1), dtype=np.int32)
        self.n_slots = n_slots
        self._slot: OrderedDict[bytes, int] = OrderedDict()

    def place(self, keys: Iterable[bytes]) -> tuple[dict[bytes, int], list[bytes]]:
        """Slots of all the keys (at most n_slots), and the keys whose slots must be filled."""
        keys = list(keys)
        missing = []
        for key in keys:
            if key in self._slot:
                self._slot.move_to_end(key)
            else:
                missing.append(key)
        for key in missing:
            free = len(self._slot) if len(self._slot) < self.n_slots else self._slot.popitem(last=False)[1]
            self._slot[key] = free
        return {key: self._slot[key] for key in keys}, missing


class GroupingEngine:
    """Information loss and disclosure risk of attribute groupings, each group microaggregated by MDAV.

    Parameters
    ----------
    Z
        Records × attributes, z-scored; a copy is kept.
    k
        Smallest cluster of each microaggregation, 2 … n/2.
    percent
        Half-width of the disclosure interval, in percent of the original value.
    memory
        Bytes for distance blocks; half as many more are used for the clusters of the groups. Tables whose blocks do not
        fit are measured without stored distances.
    threads
        Number of candidates measured at once; by default all processors (``NUMBA_NUM_THREADS`` limits them). The result
        does not depend on it.

    Notes
    -----
    Let P_g be the MDAV partition of group g. SSE and disclosed cells are sums over groups, and so is the squared
    distance between an original record i and a protected record j: Σ_g d²(i, cluster of j in P_g). A group is therefore
    microaggregated once, whatever groupings it occurs in, and its distances are kept as a block of n × (n/k) numbers.
    Record i is linked if its own protected record is strictly closer than every other one (Balasch-Masoliver 2010,
    §3.3); distances that differ by less than ``TIE``, absolutely or relatively, are equal. A new group costs O(n²p/k),
    a grouping at most O(n²) additions and typically O(n²/k).

    Examples
    --------
    >>> Z = np.random.default_rng(0).normal(size=(40, 3))
    >>> engine = GroupingEngine((Z - Z.mean(axis=0)) / Z.std(axis=0), 4)
    >>> engine.measure([[0, 0, 0], [0, 1, 2]]).round(2)
    array([[20.11, 10.  ,  0.  ],
           [ 2.08, 42.5 , 95.  ]])
    """

    def __init__(
        self, Z: object, k: int, *, percent: float = 10.0, memory: int = 1 << 28, threads: int | None = None
    ) -> None:
        self.Z = np.array(table(Z, "Z"), order="C")
        self.n, self.p = self.Z.shape
        self.k = whole(k, "k", least=2)
        if self.k > self.n // 2:
            raise SDCError(f"k = {self.k} is too large for {self.n} records: at most {self.n // 2} gives two clusters")
        self.percent = number(percent, "percent", low=0.0, high=100.0)
        memory = whole(memory, "memory", least=1)
        self.threads = thread_count(threads)
        self.sst = float((self.Z**2).sum())
        if self.sst == 0:
            raise SDCError("every attribute is constant: there is nothing to protect")
        self.n_clusters = self.n // self.k
        block = 8 * self.n * self.n_clusters + 16 * self.n
        n_slots = min(memory // block, 1 << 16)
        self._blocks = _Blocks(n_slots, self.n, self.n_clusters) if n_slots >= self.p else None
        self._groups: OrderedDict[bytes, GroupMeasure] = OrderedDict()
        self._groups_kept = max(2 * self.p, memory // 2 // (4 * self.n + 500))
        self._rows: OrderedDict[bytes, tuple[float, int, int]] = OrderedDict()
        self.measures = MEASURES
        self.stats = CacheStats()
        self._lock = Lock()  # one caller at a time: a second would replace blocks that the first still needs

    def measure(self, labels: object, names: Sequence[str] = MEASURES) -> NDArray[np.float64]:
        """Measures of each row, in percent, one column per name.

        Parameters
        ----------
        labels
            Groupings × attributes: a group number per attribute, in any numbering.
        names
            ``il_sse`` (100·SSE/SST), ``id_value`` (share of disclosed cells) and ``dld`` (share of linked records).
            Distances are only computed if ``dld`` is named.
        """
        columns = [MEASURES.index(choice(name, "a measure", MEASURES)) for name in names]
        linkage = "dld" in names
        rows = self._canonical(labels)
        with self._lock:
            found = self._find(rows, linkage)
        out = np.empty((len(rows), 3))
        for r, (sse, disclosed, links) in enumerate(found):
            out[r, 0] = 100.0 * sse / self.sst
            out[r, 1] = 100.0 * disclosed / (self.n * self.p)
            out[r, 2] = 100.0 * links / self.n
        return out[:, columns]

    def groups(self, row: object) -> tuple[GroupMeasure, ...]:
        """Clusters, SSE and disclosed cells of each group of one row, in order of first use."""
        canonical = self._canonical(np.asarray(row)[None, ...])[0]
        keys = _group_keys(canonical)
        with self._lock:
            self._need(keys)
            return tuple(self._groups[key] for key in keys)

    # -- the steps ------------------------------------------------------------------------------------------------

    def _find(self, rows: NDArray[np.int32], linkage: bool) -> list[tuple[float, int, int]]:
        """SSE, disclosed cells and linked records of each row, from the cache or measured."""
        keys = [row.tobytes() for row in rows]
        wanted: dict[bytes, NDArray[np.int32]] = {}
        for key, row in zip(keys, rows, strict=True):
            known = self._rows.get(key)
            if known is None or (linkage and known[2] < 0):
                wanted.setdefault(key, row)
        self.stats.rows += len(rows)
        self.stats.rows_found += len(rows) - len(wanted)
        found = {key: self._rows[key] for key in keys if key in self._rows}
        found.update(zip(wanted, self._measure(list(wanted.values()), linkage), strict=True))
        for key in keys:
            self._rows[key] = found[key]
            self._rows.move_to_end(key)
        while len(self._rows) > ROWS_REMEMBERED:
            self._rows.popitem(last=False)
        return [found[key] for key in keys]

    def _canonical(self, labels: object) -> NDArray[np.int32]:
        rows = np.asarray(labels)
        if rows.ndim != 2 or rows.shape[1] != self.p or rows.dtype.kind not in "iu":
            raise SDCError(f"labels must be whole numbers, groupings × {self.p} attributes, not {_what(rows)}")
        if rows.size and (rows.min() < 0 or rows.max() >= self.p):
            raise SDCError(f"labels must be between 0 and {self.p - 1}")
        out = np.array(rows, dtype=np.int32, order="C")
        for row in out:
            first_use(row, self.p)
        return out

    def _measure(self, rows: Sequence[NDArray[np.int32]], linkage: bool) -> list[tuple[float, int, int]]:
        """Sums over groups, for a part of the rows at a time, so that everything the part needs fits the cache."""
        keys = [_group_keys(row) for row in rows]
        limit = self._groups_kept if self._blocks is None else min(self._groups_kept, self._blocks.n_slots)
        out: list[tuple[float, int, int]] = []
        for part in _parts(keys, limit):
            self._need(key for groups in part for key in groups)
            links = self._links(part) if linkage else np.full(len(part), -1)
            for groups, linked in zip(part, links, strict=True):
                sse, disclosed = 0.0, 0
                for key in groups:
                    group = self._groups[key]
                    sse += group.sse
                    disclosed += group.disclosed
                out.append((sse, disclosed, int(linked)))
        return out

    def _need(self, keys: Iterable[bytes]) -> None:
        """Microaggregate the groups that are not in the cache."""
        keys = list(keys)
        unique = dict.fromkeys(keys)
        missing = [key for key in unique if key not in self._groups]
        self.stats.groups += len(keys)
        self.stats.groups_found += len(keys) - len(missing)
        fresh = dict(zip(missing, self._map(self._microaggregate, missing), strict=True))
        for key in unique:
            self._groups[key] = fresh[key] if key in fresh else self._groups[key]
            self._groups.move_to_end(key)
        while len(self._groups) > self._groups_kept:
            self._groups.popitem(last=False)

    def _microaggregate(self, key: bytes) -> GroupMeasure:
        columns = _columns(key, self.p)
        labels = mdav_kernel(np.ascontiguousarray(self.Z[:, columns]), self.k)
        means = centroids(self.Z, columns, labels, self.n_clusters)
        sse, disclosed = errors(self.Z, columns, labels, means, self.percent)
        return GroupMeasure(columns, labels, sse, disclosed)

    def _links(self, rows: Sequence[tuple[bytes, ...]]) -> NDArray[np.int64]:
        """Number of linked records of each row; 0 for a single group, where all records of a cluster are equal."""
        links = np.zeros(len(rows), dtype=np.int64)
        split = [r for r, keys in enumerate(rows) if len(keys) > 1]
        if not split:
            return links
        if self._blocks is None:
            for r in split:
                links[r] = self._link_directly(rows[r])
            return links
        keys = dict.fromkeys(key for r in split for key in rows[r])
        slot, missing = self._blocks.place(keys)
        self.stats.blocks += sum(len(rows[r]) for r in split)
        self.stats.blocks_found += sum(len(rows[r]) for r in split) - len(missing)
        self._map(lambda key: self._fill(key, slot[key]), missing)
        n_groups = np.array([len(rows[r]) for r in split])
        slots = np.zeros((len(split), n_groups.max()), dtype=np.int64)
        widest = np.empty(len(split), dtype=np.int64)
        for a, r in enumerate(split):
            slots[a, : n_groups[a]] = [slot[key] for key in rows[r]]
            widest[a] = slots[a, self._widest(rows[r])]
        counts = np.empty(len(split), dtype=np.int64)
        B = self._blocks

        def count(piece: slice) -> None:
            count_links(
                B.D, B.nearest, B.L, B.order, B.start,
                slots[piece], n_groups[piece], widest[piece], TIE, counts[piece], np.empty(slots.shape[1] + 1),
            )  # fmt: skip

        self._map(count, self._pieces(len(split), self.n * self.n_clusters))
        links[split] = counts
        return links

    def _fill(self, key: bytes, slot: int) -> None:
        B, group = self._blocks, self._groups[key]
        assert B is not None
        means = centroids(self.Z, group.columns, group.labels, self.n_clusters)
        fill_block(self.Z, group.columns, means, B.D[slot], B.nearest[slot])
        B.L[slot] = group.labels
        members(group.labels, B.order[slot], B.start[slot])

    def _link_directly(self, keys: tuple[bytes, ...]) -> int:
        groups = [self._groups[key] for key in keys]
        columns = np.concatenate([group.columns for group in groups])
        first = np.cumsum([0] + [len(group.columns) for group in groups])
        means = np.concatenate([centroids(self.Z, g.columns, g.labels, self.n_clusters) for g in groups])
        L = np.stack([group.labels for group in groups])
        order, start = np.empty_like(L), np.empty((len(groups), self.n_clusters + 1), dtype=np.int32)
        for g in range(len(groups)):
            members(L[g], order[g], start[g])

        def count(piece: slice) -> int:
            return count_links_directly(
                self.Z, columns, first, means, L, order, start, self._widest(keys), piece.start, piece.stop, TIE
            )

        return sum(self._map(count, self._pieces(self.n, self.n_clusters * self.Z.shape[1])))

    def _widest(self, keys: tuple[bytes, ...]) -> int:
        return int(np.argmax([len(self._groups[key].columns) for key in keys]))

    def _pieces(self, n: int, steps: int) -> list[slice]:
        """Cut 0 … n - 1 into a few slices per thread, or more if a slice would run too long to react to Ctrl-C."""
        size = max(1, min(-(-n // (4 * self.threads)), SLICE // steps))
        return [slice(low, min(low + size, n)) for low in range(0, n, size)]

    def _map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Apply a function in threads (kernels release the GIL), in a pool per call: threads do not survive a fork."""
        if self.threads == 1 or len(items) < 2:
            return [function(item) for item in items]
        with ThreadPoolExecutor(min(self.threads, len(items))) as pool:
            return list(pool.map(function, items))


def _group_keys(row: NDArray[np.int32]) -> tuple[bytes, ...]:
    """Bit masks of the groups of a canonical row."""
    masks = np.packbits(row == np.arange(row.max() + 1, dtype=np.int32)[:, None], axis=1)
    return tuple(mask.tobytes() for mask in masks)


def _columns(key: bytes, p: int) -> NDArray[np.int64]:
    return np.flatnonzero(np.unpackbits(np.frombuffer(key, dtype=np.uint8), count=p))


def _parts(rows: Sequence[tuple[bytes, ...]], limit: int) -> Iterable[list[tuple[bytes, ...]]]:
    """Consecutive rows that together have at most ``limit`` different groups."""
    part: list[tuple[bytes, ...]] = []
    seen: set[bytes] = set()
    for keys in rows:
        if part and len(seen.union(keys)) > limit:
            yield part
            part, seen = [], set()
        part.append(keys)
        seen.update(keys)
    if part:
        yield part


def _what(array: NDArray[Any]) -> str:
    return f"{array.dtype} of shape {array.shape}"

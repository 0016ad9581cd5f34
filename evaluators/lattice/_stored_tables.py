"""Cache of measured nodes: tables from which coarser nodes are grouped, and figures of every threshold."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from sdc_problems.evaluators.lattice._kernels import ClassTable, Floats, Ints

_NOWHERE = np.iinfo(np.int16).max


def size_of(table: ClassTable) -> int:
    """Number of rows that are read when the table is grouped."""
    return len(table.sizes) + table.n_pairs


def bytes_of(table: ClassTable) -> int:
    """Memory of the table in bytes."""
    return sum(array.nbytes for array in table if array is not None)


class StoredTables:
    """Base table, and, within a limit of bytes, the most recently used tables of other nodes.

    A table is kept if it is at most half the size of the table from which it was grouped, so that grouping from it
    takes at most half the time.
    """

    def __init__(self, base: ClassTable, n_attributes: int, memory: int) -> None:
        self._base = (np.zeros(n_attributes, dtype=np.int64), base)
        self._memory = memory
        self._used = 0
        self._tables: OrderedDict[bytes, tuple[int, ClassTable]] = OrderedDict()
        # Levels and sizes by slot; no node generalizes a free slot. A search over boxes asks some thousand times a
        # second, so there must be no Python loop over all tables.
        self._levels = np.full((16, n_attributes), _NOWHERE, dtype=np.int16)
        self._sizes: Ints = np.zeros(16, dtype=np.int64)
        self._keys: list[bytes] = [b""] * 16
        self._free = list(range(16))

    def nearest(self, levels: Ints) -> tuple[Ints, ClassTable]:
        """Smallest table of a node that this one generalizes, and that node."""
        refining = np.flatnonzero((self._levels <= levels.astype(np.int16)).all(axis=1))
        if len(refining) == 0:
            return self._base
        place = refining[np.argmin(self._sizes[refining])]
        key = self._keys[place]
        self._tables.move_to_end(key)
        return self._levels[place].astype(np.int64), self._tables[key][1]

    def offer(self, levels: Ints, table: ClassTable, source: ClassTable) -> None:
        """Keep the table of a node if it is small enough."""
        key, room = levels.tobytes(), bytes_of(table)
        if 2 * size_of(table) > size_of(source) or room > self._memory or key in self._tables:
            return
        if not self._free:
            self._grow()
        place = self._free.pop()
        self._tables[key] = (place, table)
        self._levels[place], self._sizes[place], self._keys[place] = levels, size_of(table), key
        self._used += room
        while self._used > self._memory:
            _, (place, dropped) = self._tables.popitem(last=False)
            self._used -= bytes_of(dropped)
            self._levels[place] = _NOWHERE
            self._free.append(place)

    def _grow(self) -> None:
        n = len(self._keys)
        self._levels = np.concatenate([self._levels, np.full_like(self._levels, _NOWHERE)])
        self._sizes = np.concatenate([self._sizes, np.zeros_like(self._sizes)])
        self._keys += [b""] * n
        self._free = list(range(n, 2 * n))


class StoredSteps:
    """Cache of the limits and measures of each node's steps, within a limit of bytes; the oldest are dropped first."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._used = 0
        self._known: OrderedDict[bytes, tuple[Ints, Floats]] = OrderedDict()

    def get(self, key: bytes) -> tuple[Ints, Floats] | None:
        """Figures of every threshold of a node, if they are in the cache."""
        return self._known.get(key)

    def keep(self, key: bytes, steps: tuple[Ints, Floats]) -> None:
        """Store a node; a node that is stored again becomes the newest."""
        if key not in self._known:
            self._known[key] = steps
            self._used += _room_of(key, steps)
        self._known.move_to_end(key)
        while self._used > self._memory and self._known:
            dropped, of_it = self._known.popitem(last=False)
            self._used -= _room_of(dropped, of_it)


def _room_of(key: bytes, steps: tuple[Ints, Floats]) -> int:
    return len(key) + sum(array.nbytes for array in steps) + 300  # overhead of the Python objects around them

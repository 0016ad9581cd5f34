"""Base table of a lattice, read in pieces: records that agree in everything become one row."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._validation import code_table, labels
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.lattice._kernels import (
    COUNT_BITS,
    N_STATS,
    ClassTable,
    Ints,
    Lattice,
    fill_stats,
)

WORD_BITS = 63  # keys are signed
CHUNK = 1 << 20  # records that are packed and sorted at a time
LOG_TABLE = 1 << 16


@dataclass(frozen=True)
class KeyLayout:
    """Layout of a key of one or more 64-bit words: position of each attribute's code, which never spans two words."""

    word: Ints
    shift: Ints
    mask: Ints

    @classmethod
    def for_codes(cls, n_codes: Iterable[int]) -> KeyLayout:
        """Lay out attributes with the given numbers of codes, as many per word as fit.

        Examples
        --------
        >>> layout = KeyLayout.for_codes([100, 2**40, 2**30])
        >>> layout.word.tolist(), layout.shift.tolist()
        ([0, 0, 1], [0, 7, 0])
        """
        words, shifts, masks = [], [], []
        word, used = 0, 0
        for n in n_codes:
            bits = max(1, (n - 1).bit_length())
            if used + bits > WORD_BITS:
                word, used = word + 1, 0
            words.append(word)
            shifts.append(used)
            masks.append((1 << bits) - 1)
            used += bits
        return cls(*(np.array(column, dtype=np.int64) for column in (words, shifts, masks)))

    @property
    def n_words(self) -> int:
        """Number of words per key."""
        return int(self.word.max()) + 1

    def pack(self, codes: NDArray[np.integer]) -> Ints:
        """Pack rows of codes into keys (rows × words)."""
        keys = np.zeros((len(codes), self.n_words), dtype=np.int64)
        for a, (word, shift) in enumerate(zip(self.word, self.shift, strict=True)):
            keys[:, word] |= codes[:, a].astype(np.int64) << shift
        return keys


@dataclass(frozen=True)
class Distinct:
    """Distinct rows of key, sensitive value and label, and the number of records of each."""

    keys: Ints
    sensitive: Ints
    labels: Ints
    n: Ints

    @classmethod
    def of(cls, keys: Ints, sensitive: Ints, labels: Ints, n: Ints) -> Distinct:
        """Merge equal rows and add up their records; the result is sorted."""
        _, row, first = number_rows(np.column_stack([keys, sensitive, labels]))
        totals = np.zeros(len(first), dtype=np.int64)
        np.add.at(totals, row, n)
        return cls(keys[first], sensitive[first], labels[first], totals)

    @classmethod
    def joined(cls, parts: list[Distinct]) -> Distinct:
        """Merge several tables."""
        if len(parts) == 1:
            return parts[0]
        return cls.of(
            np.concatenate([p.keys for p in parts]),
            np.concatenate([p.sensitive for p in parts]),
            np.concatenate([p.labels for p in parts]),
            np.concatenate([p.n for p in parts]),
        )


def number_rows(columns: Ints) -> tuple[int, Ints, Ints]:
    """Number the distinct rows in lexicographic order; returns how many, the number of each row, a row of each number.

    Works for any number and range of columns: ranks are combined column by column, so that each product of ranks fits
    64 bits.
    """
    number = np.zeros(len(columns), dtype=np.int64)
    n_distinct = 1
    for column in columns.T:
        low = int(column.min())
        room = int(column.max()) - low + 1
        if n_distinct * room >= 2**63:
            values, rank = np.unique(column, return_inverse=True)
            joined, room = rank.astype(np.int64), len(values)
        else:
            joined = column - low
        number = number * room + joined
        # Renumber only if another column would not fit beside the product so far, because sorting is expensive.
        n_distinct *= room
        if n_distinct > 2**31:
            distinct, number = np.unique(number, return_inverse=True)
            n_distinct = len(distinct)
    _, first, number = np.unique(number, return_index=True, return_inverse=True)
    return len(first), number.astype(np.int64), first.astype(np.int64)


Chunk: TypeAlias = tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any] | None]


@dataclass(frozen=True)
class Domain:
    """Level tables of all attributes, checked, and the positions of their codes in a key."""

    tables: tuple[Ints, ...]
    leaves: tuple[tuple[Ints, ...], ...]
    layout: KeyLayout

    @classmethod
    def of(cls, tables: Sequence[ArrayLike], leaves: Sequence[Sequence[ArrayLike]] | None) -> Domain:
        """Check that each level coarsens the one before, and that leaves match the groups."""
        if len(tables) == 0:
            raise SDCError("tables is empty: a lattice needs at least one attribute")
        if leaves is not None and len(leaves) != len(tables):
            raise SDCError(f"leaves are given for {len(leaves)} attributes, tables for {len(tables)}")
        checked = [code_table(table, f"tables[{a}]") for a, table in enumerate(tables)]
        counts: list[tuple[Ints, ...]] = []
        for a, table in enumerate(checked):
            for level in range(1, len(table)):
                if not np.array_equal(_lift(table[level - 1], table[level])[table[level - 1]], table[level]):
                    raise SDCError(f"level {level} of attribute {a} splits a group of level {level - 1}")
            if leaves is None:
                counts.append(tuple(np.bincount(row) for row in table))
            else:
                counts.append(tuple(labels(row, None, f"leaves[{a}]") for row in leaves[a]))
                if len(counts[a]) != len(table) or any(
                    len(n) <= row.max() or n.sum() != counts[a][0].sum()
                    for n, row in zip(counts[a], table, strict=True)
                ):
                    raise SDCError(f"leaves[{a}] must count the same domain at each of the {len(table)} levels")
        layout = KeyLayout.for_codes(int(table.max()) + 1 for table in checked)
        return cls(tuple(checked), tuple(counts), layout)

    def lattice(self, rows: Distinct, *, n_sensitive: int, n_labels: int, max_suppressed: int) -> Lattice:
        """Constants for the kernels, for the given numbers of sensitive values and labels."""
        n_levels = np.array([len(table) for table in self.tables], dtype=np.int64)
        # A lattice too large to number is never walked, so strides that overflow do no harm.
        stride = np.append(np.cumprod(n_levels[:0:-1])[::-1], 1).astype(np.int64)
        size = int(n_levels.max())
        lift, relief = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
        lift_at = np.zeros((len(n_levels), size, size), dtype=np.int64)
        relief_at = np.zeros((len(n_levels), size), dtype=np.int64)
        level_loss = np.zeros((len(n_levels), size), dtype=np.int64)
        span = np.array([int(counts[0].sum()) - 1 for counts in self.leaves], dtype=np.int64)
        for a, (table, leaves) in enumerate(zip(self.tables, self.leaves, strict=True)):
            codes = (rows.keys[:, self.layout.word[a]] >> self.layout.shift[a]) & self.layout.mask[a]
            records = np.zeros(int(table[0].max()) + 1, dtype=np.int64)
            np.add.at(records, codes, rows.n)
            for level in range(len(table)):
                relief_at[a, level] = sum(map(len, relief))
                relief.append(span[a] + 1 - leaves[level])
                up = _lift(table[0], table[level])
                level_loss[a, level] = (records * (leaves[level][up] - 1)).sum()
                for to in range(level + 1, len(table)):
                    lift_at[a, level, to] = sum(map(len, lift))
                    lift.append(_lift(table[level], table[to]).astype(np.int32))
        n_records = int(rows.n.sum())
        # The sum of x·log x over a class is at most n·log n; leave room for it in 62 bits.
        scale = 2.0 ** min(40, 61 - math.ceil(math.log2(max(n_records * math.log(n_records + 1), 2.0))))
        x = np.arange(min(n_records + 1, LOG_TABLE), dtype=float)
        x_log_x = x * np.log(np.maximum(x, 1.0))
        reference = np.zeros(int(rows.sensitive.max()) + 1, dtype=np.int64)
        np.add.at(reference, rows.sensitive, rows.n)
        return Lattice(
            n_levels=n_levels,
            stride=stride,
            word=self.layout.word,
            shift=self.layout.shift,
            mask=self.layout.mask,
            span=span,
            lift=np.concatenate(lift),
            lift_at=lift_at,
            relief=np.concatenate(relief),
            relief_at=relief_at,
            level_loss=level_loss,
            n_sensitive=n_sensitive,
            n_followed=n_sensitive + n_labels,
            reference=reference,
            log_table=np.rint(x_log_x * scale).astype(np.int64),
            log_scale=scale,
            n_records=n_records,
            max_suppressed=max_suppressed,
        )


def _lift(fine: Ints, coarse: Ints) -> Ints:
    """Coarse group of each fine group (0 for groups that do not occur)."""
    lift = np.zeros(int(fine.max()) + 1, dtype=np.int64)
    lift[fine] = coarse
    return lift


def chunked(codes: ArrayLike, sensitive: ArrayLike | None, labels_: ArrayLike | None) -> Iterator[Chunk]:
    """Split one table into chunks."""
    records = np.asarray(codes)
    columns = [None if c is None else np.asarray(c) for c in (sensitive, labels_)]
    for name, column in zip(("sensitive", "labels"), columns, strict=True):
        if column is not None and (column.ndim != 1 or len(column) != len(records)):
            raise SDCError(f"{name} must have one value for each of the {len(records)} records")
    for i in range(0, len(records), CHUNK):
        part = [None if c is None else c[i : i + CHUNK] for c in columns]
        yield records[i : i + CHUNK], part[0], part[1]


def collect(domain: Domain, chunks: Iterable[Chunk], has_sensitive: bool, has_labels: bool) -> Distinct:
    """Reduce chunks of records to distinct rows.

    Chunks are merged whenever as many new rows have accumulated as there are distinct rows, so that memory stays within
    a small multiple of the distinct rows and one chunk.
    """
    parts: list[Distinct] = []
    gathered = n_read = 0
    for codes, sensitive, classes in chunks:
        part = _reduced(domain, codes, sensitive if has_sensitive else None, classes if has_labels else None, n_read)
        n_read += len(codes)
        parts.append(part)
        gathered += len(part.n)
        if len(parts) > 1 and gathered > max(len(parts[0].n), CHUNK):
            parts, gathered = [Distinct.joined(parts)], 0
    if not parts:
        raise SDCError("the table has no records")
    if n_read >= 1 << COUNT_BITS:
        raise SDCError(f"{n_read} records are more than the {1 << COUNT_BITS} that can be counted")
    return Distinct.joined(parts)


def _reduced(
    domain: Domain, codes: NDArray[Any], sensitive: NDArray[Any] | None, classes: NDArray[Any] | None, offset: int
) -> Distinct:
    records = code_table(codes, "codes")
    n = len(records)
    if records.shape[1] != len(domain.tables):
        raise SDCError(f"codes have {records.shape[1]} attributes, tables are given for {len(domain.tables)}")
    finest = np.empty_like(records)
    for a, table in enumerate(domain.tables):
        if records[:, a].max() >= table.shape[1]:
            row = int(np.argmax(records[:, a] >= table.shape[1]))
            raise SDCError(
                f"record {offset + row} has code {records[row, a]} of attribute {a}, whose table has {table.shape[1]}"
            )
        finest[:, a] = table[0][records[:, a]]
    nothing = np.zeros(n, dtype=np.int64)
    return Distinct.of(
        domain.layout.pack(finest),
        nothing if sensitive is None else labels(sensitive, n, "sensitive"),
        nothing if classes is None else labels(classes, n, "labels"),
        np.ones(n, dtype=np.int64),
    )


def class_table(rows: Distinct, *, n_sensitive: int, n_labels: int) -> ClassTable:
    """Classes of the base node with their counts of sensitive values and labels; ``fill_stats`` adds the stats."""
    n_classes, number, first = number_rows(rows.keys)
    sizes = np.zeros(n_classes, dtype=np.int64)
    np.add.at(sizes, number, rows.n)
    keys = np.ascontiguousarray(rows.keys[first])
    parts = [rows.sensitive] * (n_sensitive > 0) + [rows.labels + n_sensitive] * (n_labels > 0)
    if not parts:
        return ClassTable(keys, sizes, None, None, None)
    of, values = np.tile(number, len(parts)), np.concatenate(parts)
    _, pair, row = number_rows(np.column_stack([of, values]))
    counts = np.zeros(len(row), dtype=np.int64)
    np.add.at(counts, pair, np.tile(rows.n, len(parts)))
    start = np.searchsorted(of[row], np.arange(n_classes + 1)).astype(np.int64)
    pairs = (values[row] << COUNT_BITS) | counts
    return ClassTable(keys, sizes, start, pairs, np.zeros((n_classes, N_STATS), dtype=np.int64))


def follow(lattice: Lattice, table: ClassTable, *, sensitive: bool, labels: bool) -> tuple[Lattice, ClassTable]:
    """Same lattice and classes with only the requested counts."""
    n_sensitive = lattice.n_sensitive if sensitive else 0
    n_labels = lattice.n_followed - lattice.n_sensitive if labels else 0
    if n_sensitive + n_labels == lattice.n_followed or table.start is None or table.pairs is None:
        return lattice, table
    value, skipped = table.pairs >> COUNT_BITS, lattice.n_sensitive
    kept = np.flatnonzero((value < n_sensitive) | ((value >= skipped) & (n_labels > 0)))
    lattice = lattice._replace(n_sensitive=n_sensitive, n_followed=n_sensitive + n_labels)
    if len(kept) == 0:
        return lattice, table._replace(start=None, pairs=None, stats=None)
    pairs = table.pairs[kept]
    if n_sensitive == 0:
        pairs -= skipped << COUNT_BITS
    table = table._replace(
        start=np.searchsorted(kept, table.start).astype(np.int64),
        pairs=pairs,
        stats=np.zeros((len(table.sizes), N_STATS), np.int64),
    )
    fill_stats(table, lattice)
    return lattice, table

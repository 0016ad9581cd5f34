"""Views of the original under stars and local recodings: what an intruder compares with each protected record.

A star is compatible with every value, so its attribute discloses nothing about that record. A label may stand for
several values, and equal values may be released under different labels ("21" in one record, "20-29" in another).
Therefore, the labels of an attribute are sorted into kinds such that each value has at most one label of a kind. A
protected record is compared with the labels that the original values have among labels of *its* kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sdc_problems._validation import BoolArray, FloatArray, IntArray
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import row_labels, starts


class Recoding(NamedTuple):
    """Recoding of an attribute in which equal values may have different labels."""

    tables: IntArray
    """Kinds of labels × values: the label of each value among the labels of a kind, -1 if it has none."""
    kind: IntArray
    """Kind of the label of each protected record."""

    @classmethod
    def of(cls, sets: Sequence[IntArray | range], labels: IntArray, n_values: int) -> Recoding:
        """Build a recoding from the values that each label may stand for and the label of each protected record.

        Labels are assigned in order of size, the smallest first, each to the first kind in which none of its values has
        a label, so that labels of one level of a hierarchy form a kind. A label of -1 is a star; its kind does not
        matter.

        Examples
        --------
        >>> Recoding.of([np.array([0]), np.array([0, 1])], np.array([0, 1, 1]), 2).tables.tolist()
        [[0, -1], [1, 1]]
        """
        tables: list[IntArray] = []
        kind_of = np.zeros(len(sets) + 1, dtype=np.int64)
        shown = np.unique(labels[labels >= 0]).tolist()
        for label in sorted(shown, key=lambda label: (len(sets[label]), label)):
            values = sets[label]
            values = slice(values.start, values.stop) if isinstance(values, range) else values
            kind = next((i for i, table in enumerate(tables) if (table[values] < 0).all()), len(tables))
            if kind == len(tables):
                tables.append(np.full(n_values, -1, dtype=np.int64))
            tables[kind][values] = label
            kind_of[label] = kind
        none = np.full((1, n_values), -1, dtype=np.int64)
        return cls(np.stack(tables) if tables else none, kind_of[labels])

    def among(self, records: IntArray | BoolArray) -> Recoding:
        """Recoding of some of the protected records."""
        return Recoding(self.tables, self.kind[records])


@dataclass(frozen=True)
class View:
    """Protected records with the same pattern of stars and kinds of labels, and the view of the original for them."""

    records: IntArray
    starred: BoolArray
    tables: Mapping[int, IntArray]

    def of(self, original: FloatArray) -> FloatArray:
        """Rows of the original with the labels that these records would show for them."""
        if not self.tables:
            return original
        seen = original.copy()
        for column, table in self.tables.items():
            seen[:, column] = table[original[:, column].astype(np.int64)]
        return seen


def all_views(stars: BoolArray, recodings: Mapping[int, Recoding], order: Sequence[int]) -> Iterator[View]:
    """Views that together cover all protected records; columns are those of the tables in the given order."""
    columns = [stars.astype(np.int64)]
    columns += [np.where(stars[:, j], 0, r.kind)[:, None] for j, r in recodings.items()]
    group, _ = row_labels(np.concatenate(columns, axis=1))
    by_group = np.argsort(group, kind="stable")
    place = {j: position for position, j in enumerate(order)}
    for records in np.split(by_group, starts(group[by_group])[1:]):
        starred = stars[records[0]]
        tables = {place[j]: r.tables[r.kind[records[0]]] for j, r in recodings.items() if not starred[j]}
        yield View(records, starred[list(order)], tables)


def check_recodings(
    recodings: Mapping[int, Recoding] | None, X: FloatArray, kinds: Sequence[str]
) -> Mapping[int, Recoding]:
    """Raise an error if recodings do not fit the tables."""
    for j, recoding in (recodings or {}).items():
        if not 0 <= j < X.shape[1] or kinds[j] != "nominal":
            raise SDCError(f"recodings names attribute {j}, which is not a nominal attribute of the tables")
        if len(recoding.kind) != len(X) or X[:, j].max() >= recoding.tables.shape[1]:
            raise SDCError(f"the recoding of attribute {j} does not have this table's records and values")
    return recodings or {}

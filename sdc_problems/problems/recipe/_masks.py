"""Masked columns of recipes: each method is applied only once to the same columns, and the result is kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from sdc_problems.evaluators.mixed.engine import MaskedColumn, MixedEngine, cell_labels
from sdc_problems.hierarchy import Hierarchy
from sdc_problems.methods._apply import points, recoded
from sdc_problems.methods._recipe import RecipeStep, found_by
from sdc_problems.methods.partition._centroids import microaggregate
from sdc_problems.methods.recoding._generalize import Recoded
from sdc_problems.methods.registry import Method, find
from sdc_problems.microdata import Attribute, Microdata


class RecipeEngine:
    """Engine that masks columns by the steps of recipes, measures the resulting files, and remembers both.

    Parameters
    ----------
    data, columns, hierarchies
        The table, its protected columns, and hierarchies by column.
    seed
        Seed of the random numbers: a step draws the same ones in every recipe.
    attacked
        Records that the linkage tries to find; by default all.
    memory
        Bytes for remembered columns.
    threads
        Number of files compared at once.

    Notes
    -----
        A new label, which is not among the column's values, is measured as what an analyst would put in its place: the
    mean of the numbers that it stands for in this file, their median category, or the most frequent one.
    """

    def __init__(
        self,
        data: Microdata,
        columns: Sequence[str],
        hierarchies: Mapping[str, Hierarchy],
        *,
        seed: int,
        attacked: NDArray[np.int64] | None,
        memory: int,
        threads: int | None,
    ) -> None:
        self.data, self.columns, self.hierarchies, self.seed = data, tuple(columns), hierarchies, seed
        self.attributes = [data.attribute(name) for name in columns]
        self.mixed = MixedEngine(
            points(data, columns), [a.kind.value for a in self.attributes],
            [max(a.n_categories, 1) for a in self.attributes], attacked=attacked, threads=threads,
        )  # fmt: skip
        self._place = {name: j for j, name in enumerate(self.columns)}
        self._kept: OrderedDict[tuple[int, str], tuple[MaskedColumn, ...]] = OrderedDict()
        self._most = max(64, memory // (16 * max(len(data), 1)))  # columns of a number and a label per record
        self._n_kept = 0
        self._lock = Lock()

    def file(self, steps: Sequence[RecipeStep], *, seed: int | None = None) -> list[MaskedColumn]:
        """Columns of the file that the steps make.

        Parameters
        ----------
        steps
            Methods and their columns; other columns stay unchanged.
        seed
            Seed of the random numbers, if it is not the usual one.
        """
        file = list(self.mixed.untouched)
        for step in steps:
            for name, column in zip(step.columns, self._masked(step, self.seed if seed is None else seed), strict=True):
                file[self._place[name]] = column
        return file

    def _masked(self, step: RecipeStep, seed: int) -> tuple[MaskedColumn, ...]:
        method = find(step.method)
        key = (seed if method.random else 0, str(step))
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            made = self._kept[key] = self._mask(method, step, key, seed)
            self._n_kept += len(made)
            while self._n_kept > self._most and len(self._kept) > 1:
                self._n_kept -= len(self._kept.popitem(last=False)[1])
            return made

    def _mask(self, method: Method, step: RecipeStep, key: tuple[int, str], seed: int) -> tuple[MaskedColumn, ...]:
        found = found_by(method, step, self.data, self.hierarchies, seed)
        kinds = [self.attributes[self._place[name]].kind.value for name in step.columns]
        if method.form == "partition":
            values = microaggregate(points(self.data, step.columns), cell_labels(np.asarray(found)), kinds=tuple(kinds))
            return tuple(_as_values(key, name, values[:, j]) for j, name in enumerate(step.columns))
        if method.form == "cells" and ("numeric" in kinds or np.min(found, initial=0) >= 0):  # -1 would be a star
            values = np.asarray(found, dtype=np.float64)
            return tuple(_as_values(key, name, values[:, j]) for j, name in enumerate(step.columns))
        done = found if isinstance(found, Recoded) else recoded(method, self.data, found, columns=step.columns)
        made = []
        for name in step.columns:
            attribute = self.attributes[self._place[name]]
            untouched = self.mixed.untouched[self._place[name]]
            made.append(
                _as_labels((key, name), attribute, done.columns[name], untouched.values)
                if name in done.columns
                else untouched
            )
        return tuple(made)


def _as_values(key: tuple[int, str], name: str, values: NDArray[np.float64]) -> MaskedColumn:
    return MaskedColumn((key, name), np.ascontiguousarray(values, dtype=np.float64), cell_labels(values))


def _as_labels(
    key: object, attribute: Attribute, cells: NDArray[np.generic], original: NDArray[np.float64]
) -> MaskedColumn:
    """Cells as they are published: the column's own values as themselves, others as the values they stand for."""
    numeric = attribute.kind.value == "numeric"
    if numeric and cells.dtype.kind in "iuf":
        values = cells.astype(np.float64)
        return MaskedColumn(key, values, cell_labels(values))
    import pandas as pd

    labels, names = pd.factorize(cells)
    labels = labels.astype(np.int64)
    stands_for = np.empty(len(names))
    known = {} if numeric else {str(label): code for code, label in enumerate(attribute.labels)}
    order = np.argsort(labels, kind="stable")
    members = np.split(original[order], np.cumsum(np.bincount(labels, minlength=len(names)))[:-1])
    for i, (name, values) in enumerate(zip(names, members, strict=True)):
        code = known.get(str(name))
        stands_for[i] = code if code is not None else _typical(values, attribute.kind.value)
    return MaskedColumn(key, stands_for[labels], labels)


def _typical(values: NDArray[np.float64], kind: str) -> float:
    """Mean of numbers, lower median of ordered categories, most frequent of others (if tied, the smallest code)."""
    if kind == "numeric":
        return float(values.mean())
    if kind == "ordinal":
        return float(np.sort(values)[(len(values) - 1) // 2])
    return float(np.bincount(values.astype(np.int64)).argmax())

"""Effect of a solution on the table: sentences, the task's picture, distributions before and after, facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sdc_problems._tables.columns import label
from sdc_problems.errors import SDCError
from sdc_problems.microdata import Attribute, Kind, Role
from sdc_problems.problem import SDCProblem
from sdc_problems.studies.release._columns import columns_that_leave, protected_columns, sentences, singled_out
from sdc_problems.studies.report.exposure import exposure
from sdc_problems.studies.report.kept_records import kept_of, left_out, with_records_kept
from sdc_problems.studies.report.picture_types import Matrix
from sdc_problems.studies.report.small_counts import LEAST, bin_bars, label_bars, nice_edges, rounded, shortened
from sdc_problems.studies.store.tables import Solutions
from sdc_problems.studies.tasks import Task

DRAW = 1  # seed of the single release that pictures of a random method show
MOST_CATEGORIES = 30  # most rows or columns of a matrix for which a page has room


def shown_attributes(problem: SDCProblem) -> list[Attribute]:
    """Attributes whose distribution is shown: no direct identifiers, and no numbers with gaps."""
    kept = [a for a in problem.data.attributes if a.role is not Role.IDENTIFIER]
    return [a for a in kept if not (a.kind is Kind.NUMERIC and a.has_missing)]  # gaps only without a role


def attributes(problem: SDCProblem | None) -> list[dict[str, Any]]:
    """Each attribute with its distribution in the original table."""
    if problem is None:
        return []
    listed = []
    for attribute in shown_attributes(problem):
        codes = problem.data.codes(attribute.name)[:, 0]
        if attribute.kind is Kind.NUMERIC:
            values = problem.data.values(attribute.name)[:, 0]
            bars = bin_bars(values, nice_edges(values))
        else:
            counts = np.bincount(codes, minlength=attribute.n_categories)
            order = np.arange(len(counts)) if attribute.kind is Kind.ORDINAL else np.argsort(-counts, kind="stable")
            labels = attribute.labels
            bars = label_bars([labels[i] for i in order], counts[order])
        listed.append(
            {
                "name": shortened(attribute.name),
                "role": attribute.role.value,
                "kind": attribute.kind.value,
                "before": bars,
            }
        )
    return listed


def leaving(problem: SDCProblem, keep: Sequence[str] | None, released: pd.DataFrame | None = None) -> tuple[str, ...]:
    """Sentences on what a release leaves unchanged, or why it would be refused.

    Parameters
    ----------
    problem, keep
        The problem, and the columns without a role that may be released.
    released
        A protected table, in which the singled-out records are counted.
    """
    try:
        columns = columns_that_leave(problem.data, protected_columns(problem), keep)
    except SDCError as error:
        return (f"This would not be released: {error}.",)
    said = sentences(columns, None if released is None else singled_out(released, columns), least=LEAST)
    return tuple(with_records_kept(said, len(problem.data), problem.data.n_dropped, least=LEAST))


def described(problem: SDCProblem, x: NDArray[Any]) -> list[str]:
    """Sentences on a solution, beginning with the records that none of its figures counts."""
    counts = len(problem.data), problem.data.n_dropped
    return [*left_out(*counts, least=LEAST), *with_records_kept(map(str, problem.describe(x)), *counts, least=LEAST)]


class Detail:
    """Pictures of a problem's solutions; what does not depend on the solution is computed once."""

    def __init__(self, task: Task, problem: SDCProblem, keep: Sequence[str] | None = None) -> None:
        self.task = task
        self.problem = problem
        self.keep = keep
        self.shown = shown_attributes(problem)
        self._codes = problem.data.codes([a.name for a in self.shown])
        self._edges = [
            nice_edges(problem.data.values(a.name)[:, 0]) if a.kind is Kind.NUMERIC else None for a in self.shown
        ]
        self._texts = [np.array(a.labels, dtype=object) for a in self.shown]

    def of(self, solution: Solutions) -> dict[str, Any]:
        """Describe one solution (with its genome)."""
        assert solution.X is not None
        x = self.problem.genome(solution.X[0])
        found: dict[str, Any] = {
            "sentences": described(self.problem, x),
            "closed": "",
            "pictures": self._pictures(x),
            "after": [],
            "facts": [],
            "exposure": None,
            "leaving": list(leaving(self.problem, self.keep)),
        }
        try:
            released = self.task.release(self.problem, x, seed=DRAW)
        except SDCError as error:
            found["closed"] = str(error)
            return found
        found["after"], found["facts"] = self._compare(x, released)
        found["exposure"] = self._exposure(x, released)
        found["leaving"] = list(leaving(self.problem, self.keep, released))
        if self.task.random:
            found["leaving"].append("The records are counted in one draw; a release is another.")
        return found

    def _pictures(self, x: NDArray[Any]) -> list[dict[str, Any]]:
        drawn = self.task.pictures(self.problem, x)
        return [
            picture.as_dict()
            for picture in drawn
            if not (
                isinstance(picture, Matrix)
                and max(len(picture.row_labels), len(picture.column_labels)) > MOST_CATEGORIES
            )
        ]

    def _exposure(self, x: NDArray[Any], released: pd.DataFrame) -> dict[str, Any] | None:
        """People who can still be found; None if an intruder knows no column."""
        columns = protected_columns(self.problem)
        if not columns:
            return None
        whole = len(released) == len(self._codes)
        starred = released if whole else self.task.release(self.problem, x, seed=DRAW, suppressed="star")
        return exposure(self.problem.data, released, starred, columns)

    def _compare(self, x: NDArray[Any], released: pd.DataFrame) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        kept = self._kept(x, released)
        after: list[dict[str, Any]] = []
        texts: dict[str, NDArray[np.int64]] = {}
        changed_cells = cells = 0
        complete = len(released) == len(self._codes)
        for position, attribute in enumerate(self.shown):
            if attribute.name not in released.columns:
                after.append({"changed": 100.0, "bars": None})
                continue
            column = released[attribute.name]
            codes, values = _factorised(column)
            now = np.array([label(v) for v in values], dtype=object)
            texts[attribute.name] = codes
            changed = None
            if kept is not None:
                before = self._texts[position][self._codes[kept, position]]
                same = now[codes] == before
                changed = 100.0 * float(1 - same.mean()) if len(same) else 0.0
                if attribute.role is Role.QUASI_IDENTIFIER:
                    changed_cells += int((~same).sum())
                    cells += len(same)
            if changed == 0:
                after.append({"changed": 0.0, "bars": None})
                continue
            edges = self._edges[position]
            if edges is not None and pd.api.types.is_numeric_dtype(column):
                bars = bin_bars(column.to_numpy(dtype=float), edges)
            else:
                counts = np.bincount(codes, minlength=len(now))
                order = self._order(position, codes, counts, kept)
                bars = label_bars([str(now[i]) for i in order], counts[order])
            after.append({"changed": changed, "bars": bars if complete else rounded(bars)})
        return after, self._facts(released, texts, changed_cells, cells)

    def _kept(self, x: NDArray[Any], released: pd.DataFrame) -> NDArray[np.int64] | None:
        """Original record of each released one; None if it is unknown."""
        n = len(self._codes)
        if len(released) == n:
            return np.arange(n)
        if self.task.suppressed_rows is None:
            return None
        # Released rows keep their order; the suppressed ones are starred by the same release with suppressed="star".
        starred = self.task.release(self.problem, x, seed=DRAW, suppressed="star")
        left = np.flatnonzero(~self.task.suppressed_rows(self.problem, x, starred))
        return left if len(left) == len(released) else None

    def _order(
        self, position: int, codes: NDArray[Any], counts: NDArray[Any], kept: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        """Order of the bars: nominal labels by frequency, others by the original values that they stand for."""
        if kept is None or self.shown[position].kind is Kind.NOMINAL:
            return np.argsort(-counts, kind="stable")
        means = np.bincount(codes, weights=self._codes[kept, position], minlength=len(counts)) / np.maximum(counts, 1)
        return np.argsort(means, kind="stable")

    def _facts(
        self, released: pd.DataFrame, texts: dict[str, NDArray[Any]], changed: int, cells: int
    ) -> list[dict[str, Any]]:
        dropped = self.problem.data.n_dropped
        total = len(self._codes) + dropped
        why = f", of which {dropped:,} are left out for missing values" if dropped >= LEAST else ""
        whole = kept_of(len(self._codes), dropped, least=LEAST)
        of = f"; {whole}" if whole else ""
        facts = [_fact("Records released", len(released), "", f"of {total:,} in the original{why}")]
        if cells:
            facts.append(
                _fact(
                    "Changed cells",
                    100.0 * changed / cells,
                    "%",
                    f"of the quasi-identifiers' values{of}",
                )
            )
        quasi = [texts[name] for name in self.problem.data.quasi_identifiers if name in texts]
        if quasi and len(released):
            sizes = np.unique(np.column_stack(quasi), axis=0, return_counts=True)[1]
            alone = int((sizes == 1).sum())
            facts.append(
                _fact("Smallest group", int(sizes.min()), "records", "that share all their quasi-identifiers' values")
            )
            if alone == 0 or alone >= LEAST:
                facts.append(
                    _fact(
                        "Records alone",
                        100.0 * alone / len(released),
                        "%",
                        f"share them with nobody{of}",
                    )
                )
            facts.append(_fact("Groups", len(sizes), "", "of records that share them"))
        return facts


def _fact(name: str, value: float, unit: str, sentence: str) -> dict[str, Any]:
    return {"label": name, "value": float(f"{value:.6g}"), "unit": unit, "sentence": sentence}


def _factorised(column: pd.Series[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    codes, values = pd.factorize(column, use_na_sentinel=True)
    codes = codes.astype(np.int64)
    listed = list(values)
    if (codes < 0).any():
        codes[codes < 0] = len(listed)
        listed.append("?")
    return codes, listed

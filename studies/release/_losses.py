"""Loss of detail of any protected table in one measure: the share of the other values that a cell may stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.coded import held_cells, placed_cells
from sdc_problems._tables.columns import STAR
from sdc_problems.evaluators._codes import dense, pair_counts
from sdc_problems.hierarchy import Hierarchy
from sdc_problems.methods._importance import weights_of
from sdc_problems.methods.recoding._generalize import Recoded
from sdc_problems.methods.recoding._mondrian import Stretches
from sdc_problems.microdata import Attribute, Microdata


def glm_percent_of(
    data: Microdata,
    hierarchies: Mapping[str, Hierarchy],
    done: Recoded,
    groups: NDArray[Any] | None = None,
    *,
    labels: bool = False,
    importance: Mapping[str, float] | None = None,
) -> float:
    """General loss metric of a protected table, in percent (Iyengar 2002): the weighted mean of its columns.

    Parameters
    ----------
    data
        The original; its quasi-identifiers count.
    hierarchies
        By column: how many values there are, and how many each label stands for.
    done
        The protected table. A star and a suppressed record count 1.
    groups
        Group of each record, where what is published stands for all the values of its group: between the smallest and
        the largest of numbers and ordered categories, those that occur of others.
    labels
        Whether nominal columns have labels of their hierarchies all the same.
    importance
        Weights by column; 1 if not said.
    """
    lost = np.zeros(len(data))
    stretches = None
    weights = weights_of(data.quasi_identifiers, importance)
    for name, weight in zip(data.quasi_identifiers, weights, strict=True):
        if name not in done.columns:
            continue
        attribute, hierarchy = data.attribute(name), hierarchies[name]
        if groups is not None and not (labels and attribute.kind.value == "nominal"):
            if stretches is None:
                groups = dense(groups.astype(np.int64, copy=False))[0]
                stretches = Stretches.of(groups)
            lost += weight * _range(attribute, hierarchy, groups, stretches)
            continue
        code, cells = placed_cells(held_cells(done.columns, name))
        texts = [str(cell) for cell in cells]
        leaves = _leaves(hierarchy)
        total = max(hierarchy.n_values - 1, 1)
        lost += weight * np.array([1.0 if text == STAR else (leaves.get(text, 1) - 1) / total for text in texts])[code]
    if done.suppressed is not None:
        lost[np.asarray(done.suppressed, dtype=bool)] = weights.sum()
    return 100 * float(lost.sum()) / (len(data) * float(weights.sum()))


def _leaves(hierarchy: Hierarchy) -> dict[str, int]:
    """Values under each label; under one of several levels those of the highest."""
    found: dict[str, int] = {}
    for level in range(hierarchy.n_levels):
        found.update(zip(hierarchy.labels(level), hierarchy.leaves(level).tolist(), strict=True))
    return found


def _range(
    attribute: Attribute, hierarchy: Hierarchy, groups: NDArray[np.int64], stretches: Stretches
) -> NDArray[np.float64]:
    """Share of the other values that the range of each record's group covers."""
    kind, codes = attribute.kind.value, attribute.codes
    if kind == "nominal":
        pairs = pair_counts(groups, codes).first
        return ((np.bincount(pairs) - 1) / max(hierarchy.n_values - 1, 1))[groups]
    place: NDArray[Any] = codes
    total = attribute.n_categories
    if kind == "numeric":
        numbers = _numbers(hierarchy)
        if numbers is not None:
            place, total = np.searchsorted(numbers, attribute.numbers)[codes], len(numbers)
    least, largest = stretches.ends(place)
    span: NDArray[np.float64] = (largest - least) / max(total - 1, 1)
    return span[groups]


def _numbers(hierarchy: Hierarchy) -> NDArray[np.float64] | None:
    """The hierarchy's values in order, if they are numbers."""
    try:
        return np.unique(np.array(hierarchy.values, dtype=np.float64))
    except ValueError:
        return None

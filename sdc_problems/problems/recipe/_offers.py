"""Offers to a recipe: the methods, the settings of each, and the columns that each fits."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.hierarchy import Hierarchy
from sdc_problems.methods.registry import Method, available
from sdc_problems.microdata import Attribute, Microdata
from sdc_problems.operators.recipe import RecipeSpace

KEPT = "as it is"
"""Name of the first offer, which leaves a column unchanged."""


@dataclass(frozen=True)
class Offer:
    """A method with the settings that a recipe tries, from the mildest to the strongest.

    Attributes
    ----------
    name
        The method's name; the first offer leaves a column unchanged.
    settings
        Options, such as ``k``, at each step.
    """

    name: str
    settings: tuple[dict[str, Any], ...]


def offers_for(
    data: Microdata, columns: Sequence[str], hierarchies: Mapping[str, Hierarchy], methods: Sequence[str] | None
) -> tuple[tuple[Offer, ...], RecipeSpace]:
    """Offers that fit at least one column (the first leaves it unchanged), and the number of steps of each per column.

    Parameters
    ----------
    data, columns
        The table, and the columns to protect.
    hierarchies
        Hierarchies by column, for methods that need them.
    methods
        Names of the methods to choose from; by default every registered one.
    """
    known = available()
    for name in methods or ():
        if name not in known:
            raise SDCError(f"there is no method {name!r}{did_you_mean(name, known)} (known: {', '.join(known)})")
        if not known[name].steps or known[name].search:
            why = "is a search" if known[name].search else "has no steps to try"
            raise SDCError(f"method {name!r} cannot be part of a recipe: it {why}")
    attributes = [data.attribute(name) for name in columns]
    offers, joint = [Offer(KEPT, ({},))], [False]
    rows = [np.ones(len(columns), dtype=np.int64)]
    for method in known.values():
        if not method.steps or method.search or (methods is not None and method.name not in methods):
            continue
        crossed = itertools.product(*method.steps.values())
        settings = tuple(dict(zip(method.steps, values, strict=True)) for values in crossed)
        fitting = np.array([_fitting(method, settings, a, data, hierarchies) for a in attributes])
        if fitting.any():
            offers.append(Offer(method.name, settings[: int(fitting.max())]))
            joint.append(method.joint)
            rows.append(fitting)
        elif methods is not None:
            raise SDCError(f"method {method.name!r} fits none of the columns {', '.join(columns)}")
    return tuple(offers), RecipeSpace(np.column_stack(rows), np.array(joint))


def _fitting(
    method: Method,
    settings: Sequence[Mapping[str, Any]],
    attribute: Attribute,
    data: Microdata,
    hierarchies: Mapping[str, Hierarchy],
) -> int:
    """Number of settings, counted from the first, that are possible for a column."""
    kinds = method.kinds if method.step_kinds is None else method.step_kinds
    if attribute.kind.value not in kinds or (method.needs_hierarchies and attribute.name not in hierarchies):
        return 0
    most = {"k": len(data) // 2, "categories": attribute.n_categories - 1 - attribute.has_missing}
    if attribute.name in hierarchies:
        most["level"] = hierarchies[attribute.name].n_levels - 1
    possible = [all(setting[name] <= most[name] for name in most if name in setting) for setting in settings]
    return possible.index(False) if False in possible else len(possible)

"""Hierarchies of a table: those that were given, and made ones for the columns that have none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sdc_problems.hierarchy import Hierarchy, suggest
from sdc_problems.microdata import Microdata


class Completed(NamedTuple):
    """Hierarchies of all quasi-identifiers, and sentences on those that were made."""

    hierarchies: dict[str, Hierarchy]
    sentences: tuple[str, ...]


def completed(data: Microdata, given: Mapping[str, Hierarchy] | None) -> Completed:
    """Add a suggested hierarchy for each quasi-identifier that has none.

    Parameters
    ----------
    data
        The table.
    given
        Hierarchies by column.
    """
    found, said = dict(given or {}), []
    for name in data.quasi_identifiers:
        if name not in found:
            made = suggest(data, name)
            found[name] = made.hierarchy
            said.append(f"{name} ({made.reason})")
    if not said:
        return Completed(found, ())
    sentence = f"Hierarchies made from the values, because none were given: {'; '.join(said)}."
    return Completed(found, (sentence,))

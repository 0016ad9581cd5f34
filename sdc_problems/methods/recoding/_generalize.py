"""Generalization: the values of a column are replaced by the labels of a level of its hierarchy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray

from sdc_problems._tables.coded import CodedColumns, coded_texts
from sdc_problems._validation import BoolArray, whole
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.hierarchy import Hierarchy
from sdc_problems.microdata import Microdata

MAX_SUPPRESSION = 0.01
"""Default share of the records that a method, problem or search may suppress."""


class Recoded(NamedTuple):
    """Recoded columns of a table: new cells, sentences on what was done, and suppressed records."""

    columns: Mapping[str, NDArray[Any]]
    """New cells of the columns that change, one per record."""
    sentences: tuple[str, ...] = ()
    """Sentences that describe what was done."""
    suppressed: BoolArray | None = None
    """Mask of the suppressed records; None if there are none."""


def generalize(data: Microdata, hierarchies: Mapping[str, Hierarchy], *, levels: Mapping[str, int]) -> Recoded:
    """Generalize columns to levels of their hierarchies.

    Parameters
    ----------
    data
        Table to protect.
    hierarchies
        Hierarchy of each column to generalize, by name.
    levels
        Level of each column, by name: 0 is the values themselves, and each further level is more general.

    Returns
    -------
    Recoded
        New cells of the columns, and sentences on what was done.

    Examples
    --------
    >>> import pandas as pd
    >>> data = Microdata.from_frame(pd.DataFrame({"age": [21, 28, 34]}), quasi_identifiers=["age"])
    >>> done = generalize(data, {"age": Hierarchy.intervals(range(20, 40), [5, 10])}, levels={"age": 2})
    >>> done.columns["age"].tolist(), done.sentences
    (['20-29', '20-29', '30-39'], ('age in bands of 10 years.',))
    """
    if not isinstance(levels, Mapping) or not levels:
        raise SDCError("levels must give the level of each column by name, such as levels={'age': 2}")
    columns = {}
    sentences = []
    for name, level in levels.items():
        attribute = data.attribute(name)
        if name not in hierarchies:
            raise SDCError(f"column {name!r} has no hierarchy{did_you_mean(name, hierarchies)}: add it to hierarchies")
        hierarchy = hierarchies[name]
        height = whole(level, f"the level of {name!r}")
        sentences.append(f"{name} {level_phrase(name, hierarchy.describe(height))}.")
        if height > 0:
            groups = hierarchy.table(attribute.categories, attribute=name)[height]
            columns[name] = coded_texts(groups[attribute.codes], hierarchy.labels(height))
    return Recoded(CodedColumns(columns), tuple(sentences))


def level_phrase(name: str, what: str) -> str:
    """Phrase that describes a level of a column, to follow the name of the column in a sentence.

    Examples
    --------
    >>> level_phrase("age", "bands of 5"), level_phrase("zip", "suppressed")
    ('in bands of 5 years', 'is blanked')
    """
    if what == "suppressed":  # columns are blanked, because "suppressed" is the word for records
        return "is blanked"
    if what == "unchanged":
        return "is unchanged"
    if what.endswith(("hidden", "shown")):
        return f"with {what}"
    years = what.startswith("bands of ") and "age" in name.lower().replace("_", " ").replace("-", " ").split()
    return f"in {what}" + " years" * years

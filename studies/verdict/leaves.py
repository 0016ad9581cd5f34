"""Leaves of hierarchies under published labels, which the general loss metric counts.

They come from hierarchies, or from the certificate of a release, which has the counts for the published labels.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdc_problems.errors import SDCError
from sdc_problems.studies.verdict.beside import certificate_of
from sdc_problems.studies.verdict.labels import SUPPRESSED

if TYPE_CHECKING:
    from sdc_problems.hierarchy import Hierarchy

_LARGEST = 2**53


@dataclass(frozen=True)
class Leaves:
    """Leaves of a column's hierarchy: their number, and the number under each label.

    Attributes
    ----------
    total
        Number of leaves of the hierarchy.
    labels
        Number of leaves under each published label; a value that is not listed covers only itself.
    """

    total: int
    labels: Mapping[str, int]

    @classmethod
    def of(cls, hierarchy: Hierarchy, published: Iterable[str]) -> Leaves:
        """Count the leaves under the labels with which a column was published.

        They are read at the lowest level that has them all. If they are from different levels, a label of several
        levels is read at the highest.

        Examples
        --------
        >>> from sdc_problems import Hierarchy
        >>> ages = Hierarchy.intervals(range(20, 40), [5, 10])
        >>> Leaves.of(ages, ["20-29", "30-39", "*"])
        Leaves(total=20, labels={'20-29': 10, '30-39': 10})
        """
        shown = {text for text in published if text not in SUPPRESSED}
        counts: list[dict[str, int]] = [
            dict(zip(hierarchy.labels(level), hierarchy.leaves(level).tolist(), strict=True))
            for level in range(hierarchy.n_levels)
        ]
        known = next((level for level in counts if shown <= level.keys()), None)
        if known is None:
            known = {text: level[text] for level in counts for text in shown & level.keys()}
        return cls(hierarchy.n_values, {text: known[text] for text in sorted(shown & known.keys()) if known[text] > 1})

    def payload(self) -> dict[str, Any]:
        """The counts in the form stored in a certificate."""
        return {"leaves": self.total, "labels": dict(self.labels)}


def leaf_counts(hierarchies: Mapping[str, Hierarchy], published: Mapping[str, Iterable[str]]) -> dict[str, Leaves]:
    """Leaves of each column that has a hierarchy, for the labels published in it."""
    return {name: Leaves.of(hierarchies[name], texts) for name, texts in published.items() if name in hierarchies}


def certified(protected: str | os.PathLike[str]) -> dict[str, Leaves] | None:
    """Leaf counts in the certificate next to a protected file; None if there is no certificate for exactly this file.

    A certificate may come from a stranger: anything in it that is not a count is an error.
    """
    given = (certificate_of(protected) or {}).get("leaf_counts")
    if given is None:
        return None
    try:
        return {str(name): _read(entry) for name, entry in given.items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise SDCError(
            f"{Path(protected).name}.certificate.json has invalid leaf counts: use the certificate as it was written"
        ) from None


def _read(entry: Mapping[str, Any]) -> Leaves:
    total, labels = entry["leaves"], {str(text): count for text, count in entry["labels"].items()}
    for count in (total, *labels.values()):
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= min(total, _LARGEST):
            raise ValueError(count)
    return Leaves(total, labels)

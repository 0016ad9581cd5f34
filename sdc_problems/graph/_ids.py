"""Identifiers of nodes, compared as text: 7, 7.0 and "7" are one node."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sdc_problems._slices import slices
from sdc_problems._tables.columns import label
from sdc_problems.errors import SDCError

_END = 500  # elementary steps to find a node by its name
_WHOLE_FLOAT = re.compile(r"-?\d+\.0+")


def id_text(value: object) -> str:
    """Text of an identifier.

    Examples
    --------
    >>> id_text(7), id_text(7.0), id_text(" 7.0 "), id_text("007")
    ('7', '7', '7', '007')
    """
    text = label(value).strip() if value is not None and value == value else ""
    return text.partition(".")[0] if _WHOLE_FLOAT.fullmatch(text) else text


def positions_of(
    ids: Sequence[str], sources: Sequence[object], targets: Sequence[object], where: Callable[[int], str]
) -> NDArray[np.int64]:
    """Pairs of positions for the ends of links; an error about an unknown or blank end names its place.

    Parameters
    ----------
    ids
        Text of each node's identifier, in order.
    sources, targets
        Ends of the links, of any type.
    where
        Gives the place of a link, for errors.
    """
    position: dict[object, int] = {}
    for i, own in enumerate(ids):
        if not own:
            raise SDCError(f"node {i + 1} has a blank identifier: every node needs its own")
        if position.setdefault(own, i) != i:
            raise SDCError(f"node {i + 1} has the identifier of node {position[own] + 1}: every node needs its own")
    known = dict(position)
    pairs = np.empty((len(sources), 2), dtype=np.int64)
    for side, ends in enumerate((sources, targets)):
        for low, high in slices(len(ends), steps=_END, what=f"{('sources', 'targets')[side]} found"):
            column = []
            for name in ends[low:high]:
                at = known.get(name, -2)
                if at == -2:
                    text = id_text(name)
                    at = position.get(text, -1) if text else -3
                    known[name] = at
                column.append(at)
            pairs[low:high, side] = column
    blank = np.flatnonzero((pairs == -3).any(axis=1))
    if len(blank):
        end = "source" if pairs[blank[0], 0] == -3 else "target"
        raise SDCError(f"{len(blank)} link(s) have a blank end, the first is the {end} at {where(int(blank[0]))}")
    unknown = np.flatnonzero((pairs == -1).any(axis=1))
    if len(unknown):
        end = "source" if pairs[unknown[0], 0] == -1 else "target"
        raise SDCError(
            f"{len(unknown)} link(s) have an end that is not a node, the first is the {end} at "
            f"{where(int(unknown[0]))}: add the nodes, or remove these links"
        )
    return pairs

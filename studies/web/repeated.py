"""Repeated parts of a report, which are written once and referred to where they occur."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

NAME = "$"
"""Key of a reference: ``{"$": 3}`` is the part with index 3 in the list, counted from 0."""
LEAST = 24
"""Number of characters from which on a part is written separately."""


def without_repeats(content: Any) -> tuple[Any, list[Any]]:
    """Take repeated parts out of plain values.

    Parameters
    ----------
    content
        Dictionaries, lists and plain values; no dictionary has the single key ``$``.

    Returns
    -------
    tuple
        The content with references in place of repeated parts, and the parts; a part refers only to those before it.

    Examples
    --------
    >>> same = ["a sentence of some length"]
    >>> without_repeats({"1-1": same, "1-2": same})
    ({'1-1': {'$': 0}, '1-2': {'$': 0}}, [['a sentence of some length']])
    """
    seen: Counter[str] = Counter()

    def count(part: Any) -> None:
        text = _text(part)
        if text is not None:
            seen[text] += 1
        if text is None or seen[text] == 1:  # parts of a repeated part are repeated as well
            for inner in _inside(part):
                count(inner)

    places: dict[str, int] = {}
    parts: list[Any] = []

    def named(part: Any) -> Any:
        text = _text(part)
        if text is None or seen[text] == 1:
            return rebuilt(part)
        if text not in places:
            made = rebuilt(part)
            places[text] = len(parts)
            parts.append(made)
        return {NAME: places[text]}

    def rebuilt(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: named(value) for key, value in part.items()}
        return [named(value) for value in part] if isinstance(part, list) else part

    count(content)
    return named(content), parts


def _inside(part: Any) -> Iterable[Any]:
    if isinstance(part, dict):
        return part.values()
    return part if isinstance(part, list) else ()


def _text(part: Any) -> str | None:
    """A part as text, if it is long enough to be written separately."""
    if not isinstance(part, (dict, list, str)):
        return None
    text = json.dumps(part, separators=(",", ":"))
    return text if len(text) >= LEAST else None

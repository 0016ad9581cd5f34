"""Repeated parts of a report: what several solutions have in common is written once, and named where it stands."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

NAME = "$"
"""Key of a part that stands elsewhere: ``{"$": 3}`` is the third part of the list, counted from 0."""
LEAST = 24
"""Characters from which on a part is worth a name."""


def without_repeats(content: Any) -> tuple[Any, list[Any]]:
    """Take repeated parts out of plain values.

    Parameters
    ----------
    content
        Dictionaries, lists and plain values; no dictionary has the single key ``$``.

    Returns
    -------
    tuple
        The content with names in place of repeated parts, and the parts; a part names only those before it.

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
        if text is None or seen[text] == 1:  # what is in a repeated part is repeated as well
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
    """A part as text, if it is long enough to be named."""
    if not isinstance(part, (dict, list, str)):
        return None
    text = json.dumps(part, separators=(",", ":"))
    return text if len(text) >= LEAST else None

"""Labels of numeric intervals, as used in hierarchies and protected files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
_PLAIN = re.compile(_NUMBER)
_BAND = re.compile(rf"\s*([\[(]?)\s*{_NUMBER}\s*(?:,|;|-|–|to|\.\.+)\s*{_NUMBER}\s*([\])]?)\s*")
_BOUND = re.compile(rf"\s*(<=|>=|<|>|≤|≥)\s*{_NUMBER}\s*|\s*{_NUMBER}\s*(\+)\s*")
_SIGNS = {
    "under": "<", "below": "<", "less than": "<", "younger than": "<", "up to": "<=", "at most": "<=",
    "over": ">", "above": ">", "more than": ">", "older than": ">", "at least": ">=", "from": ">=",
}  # fmt: skip
_SAID = re.compile(rf"\s*({'|'.join(_SIGNS)})\s+{_NUMBER}\s*", re.IGNORECASE)
_OPEN = re.compile(
    rf"\s*{_NUMBER}\s+(?:and|or)\s+(?:(over|above|more|older|up)|under|below|less|younger)\s*", re.IGNORECASE
)


@dataclass(frozen=True)
class Interval:
    """Numbers between two ends, each included or not."""

    low: float
    high: float
    low_in: bool
    high_in: bool

    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Mask of the values in the interval."""
        above = values >= self.low if self.low_in else values > self.low
        inside: NDArray[np.bool_] = above & (values <= self.high if self.high_in else values < self.high)
        return inside

    def range_of(self, ascending: NDArray[Any]) -> range:
        """Positions of the values in the interval, among values in ascending order.

        Examples
        --------
        >>> Interval(20, 30, True, False).range_of(np.array([10, 20, 25, 30]))
        range(1, 3)
        """
        first = int(np.searchsorted(ascending, self.low, side="left" if self.low_in else "right"))
        last = int(np.searchsorted(ascending, self.high, side="right" if self.high_in else "left"))
        return range(first, max(first, last))


def parse_interval(text: str) -> Interval | None:
    """Read a label such as "20-29", "[2.5, 5.0)", ">=65", "65+", "under 20" or "60 and over"; None for any other.

    Examples
    --------
    >>> parse_interval("20-29")
    Interval(low=20.0, high=29.0, low_in=True, high_in=True)
    >>> parse_interval("[2.5, 5.0)").high_in, parse_interval("<18").high, parse_interval("young")
    (False, 18.0, None)
    >>> parse_interval("under 20") == parse_interval("<20"), parse_interval("60 and over") == parse_interval("60+")
    (True, True)
    """
    if band := _BAND.fullmatch(text):
        opened, low, high, closed = band.groups()
        return Interval(float(low), float(high), opened != "(", closed != ")")
    if said := _SAID.fullmatch(text):
        text = _SIGNS[said[1].lower()] + said[2]
    elif said := _OPEN.fullmatch(text):
        text = (">=" if said[2] else "<=") + said[1]
    if bound := _BOUND.fullmatch(text):
        sign, number, open_number, _ = bound.groups()
        if open_number is not None:
            return Interval(float(open_number), np.inf, True, True)
        if sign in (">", ">=", "≥"):
            return Interval(float(number), np.inf, sign != ">", True)
        return Interval(-np.inf, float(number), True, sign != "<")
    return None


def with_mark(text: str, mark: str) -> str:
    """Text of a number or of a numeric interval with another decimal mark than the point; other text is unchanged.

    Examples
    --------
    >>> with_mark("[2.5, 5.0)", ","), with_mark("<18.5", ","), with_mark("2.5", ","), with_mark("v. 2.5", ",")
    ('[2,5; 5,0)', '<18,5', '2,5', 'v. 2.5')
    """
    if "." not in text or ".." in text or (_PLAIN.fullmatch(text) is None and parse_interval(text) is None):
        return text
    return (text.replace(",", ";") if mark == "," else text).replace(".", mark)


def without_mark(text: str, mark: str) -> str:
    """Inverse of `with_mark`; other text is unchanged.

    Examples
    --------
    >>> without_mark("[2,5; 5,0)", ","), without_mark("<18,5", ","), without_mark("20,5-30", ",")
    ('[2.5, 5.0)', '<18.5', '20.5-30')
    >>> without_mark("[2, 5)", ","), without_mark("A,5", ",")
    ('[2, 5)', 'A,5')
    """
    if mark not in text:
        return text
    found = text.replace(mark, ".")
    found = found.replace(";", ",") if mark == "," else found
    return found if with_mark(found, mark) == text else text


def outside(values: NDArray[np.float64], labels: Sequence[str], codes: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Mask of the values outside the interval that their label names; False for NaN and for other labels."""
    everything = Interval(-np.inf, np.inf, True, True)
    intervals = [parse_interval(text) or everything for text in labels]
    low, high = (np.array([getattr(i, end) for i in intervals])[codes] for end in ("low", "high"))
    low_in, high_in = (np.array([getattr(i, end) for i in intervals])[codes] for end in ("low_in", "high_in"))
    found: NDArray[np.bool_] = (
        (values < low) | (values > high) | (~low_in & (values == low)) | (~high_in & (values == high))
    )
    return found

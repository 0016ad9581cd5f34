"""Rows of a hierarchy (a value and its labels, most general last): made, checked and converted to codes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.columns import MISSING, NA_VALUES, STAR, label, parse_numbers
from sdc_problems._tables.intervals import outside, parse_interval
from sdc_problems.errors import SDCError

#: Label of the group of all values, which tells as little as a suppressed cell.
TOP = STAR
_LARGEST = 2**53  # from here on, not every integer is a float
_WHOLE_BAND = re.compile(r"(-?\d{1,18})(?:-| to )(-?\d{1,18})")

Rows = list[list[str]]


def coded_levels(rows: Sequence[Sequence[str]], what: str) -> tuple[NDArray[np.int32], list[list[str]]]:
    """Group of each value at each level and the labels of the groups, after checking that the levels nest."""
    if not rows:
        raise SDCError(f"{what} has no values")
    n_levels = len(rows[0])
    if n_levels < 2:
        raise SDCError(f"{what} has no level above the values: row 1 needs a value and at least one label")
    for number, row in enumerate(rows, 1):
        if len(row) != n_levels:
            raise SDCError(f"{what}: row {number} (value {row[0]!r}) has {len(row)} entries, row 1 has {n_levels}")
    codes = np.empty((n_levels, len(rows)), dtype=np.int32)
    labels = []
    for level in range(n_levels):
        found: dict[str, int] = {}
        codes[level] = [found.setdefault(row[level], len(found)) for row in rows]
        labels.append(list(found))
    if len(labels[0]) < len(rows):
        second = int(np.argmax(codes[0] != np.arange(len(rows))))
        raise SDCError(
            f"{what}: value {rows[second][0]!r} stands in row {codes[0, second] + 1} and again in row {second + 1}"
        )
    for level in range(1, n_levels):
        if "" in labels[level]:
            empty = int(np.argmax(codes[level] == labels[level].index("")))
            raise SDCError(
                f"{what}: row {empty + 1} (value {rows[empty][0]!r}) has an empty label at level {level}: name the"
                " group, or take the delimiter at the end of the line away"
            )
        _check_coarser(codes[level - 1], codes[level], rows, level, what)
        _check_labels(codes, labels, level, what)
    return codes, labels


def _check_labels(codes: NDArray[np.int32], labels: Sequence[Sequence[str]], level: int, what: str) -> None:
    """Refuse a level that only exchanges values, or shows values again that the level before had replaced."""
    values, place = labels[0], set(labels[0])
    if place.isdisjoint(labels[level]):
        return
    if len(labels[level]) == len(values):
        for value, code in zip(values, codes[level].tolist(), strict=True):
            shown = labels[level][code]
            if shown != value and shown in place:
                raise SDCError(
                    f"{what}: level {level} merges nothing and shows value {value!r} as {shown!r}, which is another"
                    " value: a level makes values more general, it does not exchange them"
                )
    alone = np.bincount(codes[level], minlength=len(labels[level])) == 1
    for code in np.flatnonzero(alone[codes[level]]).tolist():
        before, now = labels[level - 1][codes[level - 1][code]], labels[level][codes[level][code]]
        if now == values[code] != before:
            raise SDCError(
                f"{what}: level {level} shows value {now!r} (row {code + 1}) again, which level {level - 1} had"
                f" replaced by {before!r}: a level is never more detailed than the one before"
            )


def misplaced(codes: NDArray[np.int32], labels: Sequence[Sequence[str]]) -> tuple[str, str, int] | None:
    """A value whose label is a numeric interval that does not contain it, its label, and the number of such values."""
    together = parse_numbers(labels[0])
    each = [parse_numbers([text]) for text in labels[0]] if together is None else np.split(together, len(together))
    values = np.array([np.nan if number is None else float(number[0]) for number in each])
    if np.isnan(values).all():
        return None
    first, count = None, 0
    for level in range(1, len(labels)):
        wrong = np.flatnonzero(outside(values, labels[level], codes[level]))
        count += len(wrong)
        if len(wrong) and first is None:
            first = labels[0][wrong[0]], labels[level][codes[level][wrong[0]]]
    return None if first is None else (*first, count)


def refuse_header(rows: Sequence[Sequence[str]], name: str, what: str) -> None:
    """Refuse a first line with the names of the levels, which would be read as a value."""
    if len(rows) < 3:
        return
    first = rows[0][0]
    numbers = parse_numbers([row[0] for row in rows[1:]]) is not None
    word = first not in (*NA_VALUES, STAR) and parse_numbers([first]) is None and parse_interval(first) is None
    if first.casefold() == name.casefold() or (numbers and word and not any(c.isdigit() for c in first)):
        raise SDCError(
            f"{what}: the first line ({first!r}) looks like names of levels, but each line must be a value with its"
            " labels: remove it"
        )


def _check_coarser(
    finer: NDArray[np.int32], coarser: NDArray[np.int32], rows: Sequence[Sequence[str]], level: int, what: str
) -> None:
    """Check that values in one group share a group on the next level; the error names a value that does not."""
    first = np.unique(finer, return_index=True)[1]
    broken = np.flatnonzero(coarser[first][finer] != coarser)
    if len(broken):
        row = rows[broken[0]]
        other = rows[first[finer[broken[0]]]]
        raise SDCError(
            f"{what} does not nest: value {row[0]!r} (row {broken[0] + 1}) is {row[level - 1]!r} at level "
            f"{level - 1} like {other[0]!r}, but {row[level]!r} and not {other[level]!r} at level {level}"
        )


def text_row(number: int, row: object, what: str) -> list[str]:
    """One row as text."""
    if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray):
        raise SDCError(f"{what}: row {number} must be a list of a value and its labels, not {type(row).__name__}")
    return [label(entry).strip() for entry in row]


def mapping_rows(levels: Mapping[Any, Sequence[object]], what: str) -> Rows:
    """Rows from a mapping of each value to its labels."""
    rows = []
    for number, (value, labels) in enumerate(levels.items(), 1):
        if isinstance(labels, str):
            raise SDCError(f"{what}: value {label(value)!r} needs a list of labels, one for each level, not a text")
        rows.append([label(value).strip(), *text_row(number, labels, what)])
    return rows


def distinct_texts(values: Iterable[object], what: str) -> list[str]:
    """Distinct values as text, in the order of first use."""
    if isinstance(values, str):
        raise SDCError(f"{what} needs a list of values, not a text")
    texts = list(dict.fromkeys(label(value).strip() for value in values))
    if not texts:
        raise SDCError(f"{what} has no values")
    return texts


def masked_rows(texts: list[str], mark: str, levels: int | None, what: str) -> tuple[Rows, list[str]]:
    """Rows that hide one more trailing character at each level; a missing value is kept, except at a top "*"."""
    if len(mark) != 1:
        raise SDCError(f"mark must be one character, not {mark!r}")
    known = [text for text in texts if text != MISSING]  # a missing value has no characters to hide
    width = max(1, *map(len, known), 0)
    depth = width if levels is None else levels
    if not 1 <= depth <= width:
        raise SDCError(f"{what}: levels must be between 1 and {width}, the length of the longest value, not {depth}")
    shown = range(width - 1, width - depth - 1, -1)
    rows = [[text, *(text[:keep].ljust(width, mark) for keep in shown)] for text in known]
    if len(known) < len(texts):
        rows.append([MISSING] * depth + [mark * width if depth == width else MISSING])
    if _one_length(texts):
        phrases = [_hidden(i) for i in range(1, depth + 1)]
    else:  # shorter values have fewer hidden characters, so the number of shown ones describes the level
        phrases = [_shown(keep) for keep in shown]
    if depth == width:
        phrases[-1] = "suppressed"
    return rows, phrases


def interval_rows(
    values: Iterable[object], widths: Sequence[object], origin: float, *, top: bool, what: str
) -> tuple[Rows, list[str]]:
    """Rows of bands, with decimals taken exactly as written (0.3 is on the border of bands of 0.1)."""
    if not len(widths) and not top:
        raise SDCError(f"{what} needs at least one width, or top=True")
    numbers = _numbers(values, what)
    exact = [_exact(width, what) for width in widths]
    start = _exact(origin, what)
    if abs(start) >= _LARGEST:
        raise SDCError(f"{what}: origin {origin!r} is not below 2**53")
    for i, width in enumerate(exact):
        if width <= 0:
            raise SDCError(f"{what}: width {widths[i]!r} is not positive")
        if max(width, width / exact[0]) >= _LARGEST:
            raise SDCError(f"{what}: width {widths[i]!r} is not below 2**53 and 2**53 times the first")
        if i and (width <= exact[i - 1] or (width / exact[i - 1]).denominator != 1):
            raise SDCError(
                f"{what}: width {widths[i]!r} is not a multiple (2 or more times) of {widths[i - 1]!r}: "
                "bands of one would cut through bands of the other"
            )
    whole = numbers.dtype.kind == "i" and all(number.denominator == 1 for number in (*exact, start))
    columns = [[label(number) for number in numbers.tolist()]]
    if exact:
        first = bands_of(numbers, start, exact[0])
        for width in exact:
            bands = first // int(width / exact[0])
            distinct, where = np.unique(bands, return_inverse=True)
            names = np.array([_band(start + band * width, width, whole) for band in distinct.tolist()], dtype=object)
            columns.append(names[where].tolist())
    phrases = [f"bands of {_plain(width)}" for width in exact]
    if top:
        columns.append([TOP] * len(numbers))
        phrases.append("suppressed")
    return [list(row) for row in zip(*columns, strict=True)], phrases


def phrase(labels: Sequence[str], values: Sequence[str]) -> str:
    """Short phrase for a level, from its labels and the values under them.

    Examples
    --------
    >>> phrase(["20-29", "30-39"], ["20", "31"]), phrase(["*"], ["a", "b"]), phrase(["north", "south"], ["a", "b", "c"])
    ('bands of 10', 'suppressed', '2 groups')
    >>> phrase(["430**", "432**"], ["43001", "43203"]), phrase(["430**", "432**"], ["43001", "4320"])
    ('last 2 characters hidden', 'first 3 characters shown')
    """
    if len(labels) == 1:
        return "suppressed" if set(labels[0]) == {TOP} else f"all as {labels[0]!r}"
    ends = [_WHOLE_BAND.fullmatch(text) for text in labels]
    widths = {int(end[2]) - int(end[1]) + 1 for end in ends if end}
    if len(widths) == 1 and None not in ends:
        return f"bands of {widths.pop()}"
    hidden = {len(text) - len(text.rstrip(TOP)) for text in labels}
    shown = {len(text.rstrip(TOP)) for text in labels}
    if len(hidden) == len(shown) == 1 and hidden != {0}:
        n, keep = hidden.pop(), shown.pop()
        return _hidden(n) if _one_length(values) and len(values[0]) == n + keep else _shown(keep)
    return f"{len(labels)} groups"


def _one_length(values: Sequence[str]) -> bool:
    """Whether all values have the same number of characters, not counting missing ones."""
    return len({len(text) for text in values if text not in (MISSING, TOP)}) <= 1


def _hidden(n: int) -> str:
    return f"last {n} characters hidden" if n > 1 else "last character hidden"


def _shown(n: int) -> str:
    return f"first {n} characters shown" if n != 1 else "first character shown"


def _numbers(values: Iterable[object], what: str) -> NDArray[Any]:
    """Distinct numbers in ascending order; int64 when all are whole."""
    array = np.unique(np.asarray(values)) if isinstance(values, np.ndarray) and values.dtype.kind in "iuf" else None
    if array is None:
        array = np.array(sorted({_float(value, what) for value in values}), dtype=np.float64)
    if not len(array):
        raise SDCError(f"{what} has no values")
    if not np.isfinite(array).all():
        raise SDCError(f"{what}: intervals need finite numbers")
    if np.abs(array.astype(np.float64)).max() >= _LARGEST:
        raise SDCError(f"{what}: intervals count numbers below 2**53")
    if (array == np.floor(array)).all():
        return array.astype(np.int64)
    return array.astype(np.float64)


def bands_of(numbers: NDArray[Any], start: Fraction, width: Fraction) -> NDArray[np.int64]:
    """Number of the band of each value, exact on borders."""
    if numbers.dtype.kind == "i" and start.denominator == width.denominator == 1:
        return (numbers - start.numerator) // width.numerator
    ratio = (numbers - float(start)) / float(width)
    if np.abs(ratio).max() >= 2**52:
        raise SDCError(f"bands of {_plain(width)} are too narrow for values this large")
    bands = np.floor(ratio).astype(np.int64)
    slack = 1e-14 * (1 + (np.abs(numbers) + abs(float(start))) / float(width))
    for i in np.flatnonzero(np.abs(ratio - np.rint(ratio)) <= slack):
        # So near to a border that rounding would decide: count in fractions.
        bands[i] = (_exact(numbers[i], "") - start) // width
    return bands


def _float(value: object, what: str) -> float:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
        raise SDCError(f"{what}: intervals need numbers, not {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        return math.inf  # which the caller refuses


def _exact(value: object, what: str) -> Fraction:
    """The exact number as written."""
    number = _float(value, what)
    if not math.isfinite(number):
        raise SDCError(f"{what}: intervals need finite numbers")
    return Fraction(repr(number))


def _band(low: Fraction, width: Fraction, whole: bool) -> str:
    high = low + width
    if not whole:
        return f"[{float(low)}, {float(high)})"
    if width == 1:
        return str(low)
    return f"{low}-{high - 1}" if low >= 0 else f"{low} to {high - 1}"


def _plain(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else str(float(number))

"""Suggested hierarchies: intervals of numbers, calendar levels of dates, prefixes of codes, "other" values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.columns import MISSING
from sdc_problems._tables.dates import date_rows
from sdc_problems._tables.levels import TOP, bands_of, interval_rows, masked_rows
from sdc_problems._tables.texts import Dates, code_stems, looks_like_codes, looks_like_postal_codes, read_dates
from sdc_problems.errors import SDCError
from sdc_problems.hierarchy._hierarchy import Hierarchy
from sdc_problems.microdata import Attribute, Kind, Microdata

_CALENDAR = ("month", "quarter", "year", "decade")
_MOST_BANDS = 20  # at the finest level
_TAIL = 0.01  # share of the records at each end that may get one band
_SKEWED = 4  # times the interquartile range: values beyond it do not widen the bands
_OTHER = ("other", "(other)", "all others")


@dataclass(frozen=True)
class Suggestion:
    """Hierarchy that was made for a column, and the reason for its form.

    Attributes
    ----------
    column
        The column.
    hierarchy
        Its hierarchy.
    reason
        One phrase on what the column was taken for and what its levels are.
    """

    column: str
    hierarchy: Hierarchy
    reason: str


def suggest(data: Microdata, column: str) -> Suggestion:
    """Make a hierarchy for a column from its values and their frequencies.

    Parameters
    ----------
    data
        The table.
    column
        The column.

    Notes
    -----
    Numbers get nested bands with round borders, and one band at each end for values beyond the bulk of the records;
    dates get month, quarter, year and decade; postal codes hide digits from the right; codes such as those of diagnoses
    or industries are cut to shorter and shorter prefixes; an ordinal column joins neighbors; any other column keeps its
    frequent values and calls the rest "other". The last level is always "*". A missing value is kept below that level.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": range(18, 90), "zip": [f"0{i:04d}" for i in range(72)]})
    >>> data = Microdata.from_frame(frame, quasi_identifiers=["age", "zip"])
    >>> suggest(data, "age").reason
    'numbers: bands of 5, 10, 20, 40'
    >>> suggest(data, "zip").hierarchy.labels(1)[:2]
    ('0000*', '0001*')
    """
    attribute = data.attribute(column)
    if attribute.n_categories - attribute.has_missing < 1:
        raise SDCError(f"column {column!r} has no values to make a hierarchy of")
    counts = np.bincount(data.codes(column)[:, 0], minlength=attribute.n_categories)
    hierarchy, reason = _made(attribute, counts)
    return Suggestion(column, hierarchy, reason)


def _made(attribute: Attribute, counts: NDArray[np.int64]) -> tuple[Hierarchy, str]:
    name, what = attribute.name, f"hierarchy {attribute.name!r}"
    texts = attribute.labels[: len(counts) - attribute.has_missing]
    counts = counts[: len(texts)]
    postal = looks_like_postal_codes(texts, name)
    if len(texts) == 1:
        taken, rows, phrases = "one value", [[texts[0], TOP]], ["suppressed"]
    elif attribute.kind is Kind.NUMERIC and not postal:
        taken, (rows, phrases) = "numbers", _bands(attribute.numbers[: len(texts)], counts, what)
    elif (dates := read_dates(texts)) is not None:
        taken, (rows, phrases) = "dates", _dates(texts, dates, what)
    elif postal:
        taken, (rows, phrases) = "postal codes", masked_rows(texts, TOP, None, what)
    elif attribute.kind is Kind.NOMINAL and looks_like_codes(texts):
        taken, (rows, phrases) = "codes", _beginnings(texts)
    elif attribute.kind is Kind.ORDINAL:
        taken, (rows, phrases) = "ordered categories", _neighbors(texts)
    else:
        taken, (rows, phrases) = "categories", _frequent(texts, counts)
    rows, phrases = _merging(rows, phrases)
    if attribute.has_missing:
        rows.append([MISSING] * len(phrases) + [TOP])
    said = ", ".join(phrases[:-1]).replace(", bands of ", ", ") or "shown or suppressed"
    return Hierarchy._from_rows(rows, name, phrases), f"{taken}: {said}"


def _merging(rows: list[list[str]], phrases: list[str]) -> tuple[list[list[str]], list[str]]:
    """Leave out levels that merge nothing, or that have one group for all values below the top."""
    sizes = [len({row[level] for row in rows}) for level in range(len(phrases) + 1)]
    kept = [0]
    for level in range(1, len(phrases)):
        if 1 < sizes[level] < sizes[kept[-1]]:
            kept.append(level)
    kept.append(len(phrases))
    return [[*(row[level] for level in kept[:-1]), TOP] for row in rows], [phrases[level - 1] for level in kept[1:]]


# ---------------------------------------------------------------------- numbers


def _bands(numbers: NDArray[np.float64], counts: NDArray[np.int64], what: str) -> tuple[list[list[str]], list[str]]:
    """Bands of growing width, and a band at each end for values beyond the bulk of the records."""
    share = np.cumsum(counts) / counts.sum()
    at = np.searchsorted(share, [_TAIL, 0.25, 0.75, 1 - _TAIL]).clip(max=len(numbers) - 1)
    low, lower, upper, high = numbers[at].tolist()
    if low == high:
        low, high = numbers[[0, -1]].tolist()
    spread = min(high - low, _SKEWED * (upper - lower)) if upper > lower else high - low
    whole = bool((numbers == np.floor(numbers)).all())
    widths = _widths(max(spread / _MOST_BANDS, 2 * float(np.median(np.diff(numbers)))), high - low)
    first = _exact(widths[0])
    below = math.floor(_exact(low) / first) * first
    above = (math.floor(_exact(high) / first) + 1) * first
    tails = numbers < float(below - first), numbers >= float(above + first)  # one extra band is not worth a name
    ends = [(math.ceil(below / w) * w, math.floor(above / w) * w) for w in map(_exact, widths)]
    if tails[0].any() or tails[1].any():
        widths = [width for width, (begin, end) in zip(widths, ends, strict=True) if begin < end]
    rows, phrases = interval_rows(numbers, widths, 0, top=True, what=what)
    place = bands_of(numbers, Fraction(0), first)
    for level, (begin, end) in enumerate(ends[: len(widths)], 1):
        if tails[0].any():
            for i in np.flatnonzero(place < int(begin / first)).tolist():
                rows[i][level] = f"<{_shown(begin, whole)}"
        if tails[1].any():
            for i in np.flatnonzero(place >= int(end / first)).tolist():
                rows[i][level] = f">={_shown(end, whole)}"
    return rows, phrases


def _widths(least: float, extent: float) -> list[float]:
    """Widths of 1, 2 or 5 times a power of ten, from the smallest on, and multiples until few bands are left."""
    power = math.floor(math.log10(least))
    ladder = [Decimal(f) * Decimal(10) ** power for f in ("1", "2", "5", "10")]
    first = next(width for width in ladder if width >= Decimal(least * (1 - 1e-9)))
    widths = [first]
    while Decimal(extent) / widths[-1] > 3:
        # 1, 2, 10, 20, 100 and 5, 10, 20, 100 are easier to read than powers of two.
        leading = widths[-1].normalize().as_tuple().digits
        widths.append(widths[-1] * (5 if leading == (2,) and Decimal(extent) / widths[-1] > 10 else 2))
    return [float(width) for width in widths]


def _exact(number: float) -> Fraction:
    return Fraction(repr(float(number)))


def _shown(number: Fraction, whole: bool) -> str:
    return str(number.numerator) if whole and number.denominator == 1 else str(float(number))


# ---------------------------------------------------------------------- dates


def _dates(texts: Sequence[str], dates: Dates, what: str) -> tuple[list[list[str]], list[str]]:
    """Calendar levels; if day and month cannot be told apart, only those of the year are certain."""
    rows, phrases = date_rows(dates.days, _CALENDAR if dates.certain else _CALENDAR[2:], 0, top=True, what=what)
    labels = {row[0]: row[1:] for row in rows}
    return [[text, *labels[day]] for text, day in zip(texts, dates.days, strict=True)], phrases


# ---------------------------------------------------------------------- categories


def _beginnings(texts: Sequence[str]) -> tuple[list[list[str]], list[str]]:
    """Cut codes to shorter and shorter prefixes."""
    stems = code_stems(texts)
    rows = [[text, *(level[i] for level in stems), TOP] for i, text in enumerate(texts)]
    return rows, [*(f"{len(set(level)):,} beginnings" for level in stems), "suppressed"]


def _neighbors(texts: Sequence[str]) -> tuple[list[list[str]], list[str]]:
    """Join 2, 4, 8, … neighbors as long as more than one group is left."""
    rows, phrases = [[text] for text in texts], []
    size = 2
    while size < len(texts):
        for i, row in enumerate(rows):
            begin = i // size * size
            end = min(begin + size, len(texts)) - 1
            row.append(texts[begin] if begin == end else f"{texts[begin]} to {texts[end]}")
        phrases.append(f"{size} neighbors joined")
        size *= 2
    return [[*row, TOP] for row in rows], [*phrases, "suppressed"]


def _frequent(texts: Sequence[str], counts: NDArray[np.int64]) -> tuple[list[list[str]], list[str]]:
    """Keep the values that make up 95, 80 and 50 % of the records by name, and call the rest "other"."""
    order = np.argsort(-counts, kind="stable")
    share = np.cumsum(counts[order]) / counts.sum()
    rank = np.empty(len(texts), dtype=np.int64)
    rank[order] = np.arange(len(texts))
    other = next((text for text in _OTHER if text not in texts), None)
    kept, before = [], len(texts) - 1
    for part in (0.95, 0.8, 0.5):
        n = min(int(np.searchsorted(share, part)) + 1, before - 1)
        if n < 1 or other is None:
            break
        kept.append(n)
        before = n
    rows = [[text, *(text if rank[i] < n else str(other) for n in kept), TOP] for i, text in enumerate(texts)]
    phrases = [f'{n} most frequent, the rest "{other}"' for n in kept]
    return rows, [*phrases, "suppressed"]

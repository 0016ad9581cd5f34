"""Bands of dates: weeks, months, quarters, years and multiples of them, as rows of a hierarchy."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.columns import MISSING, STAR, label
from sdc_problems.errors import SDCError

_WIDTH = re.compile(r"(?:([1-9]\d{0,3}) )?(day|week|month|quarter|year|decade)s?")
_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ].*)?")
NO_DATE = "is not a date such as 2024-12-31: bands of dates need such values"
_MONDAY = -3  # in days from 1970-01-01


def are_dates(values: Iterable[object], widths: Sequence[object]) -> bool:
    """Whether bands of dates are wanted: the values are dates, or a width names a unit of the calendar."""
    if any(isinstance(width, str) and any(c.isalpha() for c in width) for width in widths):
        return True
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return bool(values.dtype.kind == "M")
    return any(isinstance(value, (datetime.date, np.datetime64)) for value in values)


def date_rows(
    values: Iterable[object], widths: Sequence[object], origin: float, *, top: bool, what: str
) -> tuple[list[list[str]], list[str]]:
    """Rows of calendar bands; a missing value is kept below the top."""
    if origin:
        raise SDCError(f"{what}: bands of dates begin with the calendar: omit origin")
    if not len(widths) and not top:
        raise SDCError(f"{what} needs at least one width, or top=True")
    texts = list(dict.fromkeys(label(value).strip() for value in values))
    if not texts:
        raise SDCError(f"{what} has no values")
    shown = [text for text in texts if text != MISSING]
    if (odd := no_date(texts)) is not None:
        raise SDCError(f"{what}: value {odd + 1} of {len(texts)} (not shown: it is data) {NO_DATE}")
    days = np.array([_day(text) for text in shown], dtype="datetime64[D]")
    columns = [texts]
    before: tuple[int, int] | None = None
    for width in widths:
        size = _size(width, what)
        if before is not None and not _nests(before, size):
            raise SDCError(
                f"{what}: width {width!r} does not hold whole bands of the one before: bands of one would cut"
                " through bands of the other"
            )
        before = size
        named = dict(zip(shown, _names(days, *size), strict=True))
        columns.append([named.get(text, MISSING) for text in texts])
    phrases = [f"bands of {width}" for width in widths]
    if top:
        columns.append([STAR] * len(texts))
        phrases.append("suppressed")
    return [list(row) for row in zip(*columns, strict=True)], phrases


def _size(width: object, what: str) -> tuple[int, int]:
    """Months and days of a width; one of them is 0."""
    match = _WIDTH.fullmatch(width) if isinstance(width, str) else None
    if match is None:
        raise SDCError(
            f"{what}: width {width!r} of dates must be day, week, month, quarter, year or decade, or several such as"
            " '2 weeks' or '5 years'"
        )
    n = int(match[1] or 1)
    return n * _MONTHS.get(match[2], 0), n * _DAYS.get(match[2], 0)


def _nests(finer: tuple[int, int], coarser: tuple[int, int]) -> bool:
    """Whether bands of the finer width are parts of those of the coarser one."""
    if finer == (0, 1):
        return coarser != finer
    (months, days), (more_months, more_days) = finer, coarser
    if months:
        return more_months > months and more_months % months == 0
    return more_days > days and more_days % days == 0


def no_date(texts: Sequence[str]) -> int | None:
    """Index of the first text that bands of dates cannot read; None if they can read all."""
    return next((i for i, text in enumerate(texts) if text != MISSING and _day(text) is None), None)


def _day(text: str) -> np.datetime64 | None:
    try:
        return np.datetime64(text[:10], "D") if _ISO.fullmatch(text) else None
    except ValueError:
        return None


def _names(days: NDArray[np.datetime64], months: int, n_days: int) -> list[str]:
    """Label of each day's band."""
    if n_days:
        first = (days.astype(np.int64) - _MONDAY) // n_days * n_days + _MONDAY
        low, high = (end.astype("datetime64[D]").astype(str) for end in (first, first + n_days - 1))
        return days.astype(str).tolist() if n_days == 1 else _ranges(low, high)
    first = (days.astype("datetime64[M]").astype(np.int64) + 1970 * 12) // months * months - 1970 * 12
    low, high = (end.astype("datetime64[M]").astype(str) for end in (first, first + months - 1))
    if months == 1:
        return [str(text) for text in low]
    if months == 3:
        return [f"{text[:4]}-Q{int(text[5:]) // 3 + 1}" for text in low.tolist()]
    if months % 12:
        return _ranges(low, high)
    years = zip(low.tolist(), high.tolist(), strict=True)
    return [begin[:4] if months == 12 else f"{begin[:4]}-{end[:4]}" for begin, end in years]


def _ranges(low: NDArray[np.str_], high: NDArray[np.str_]) -> list[str]:
    return [f"{begin} to {end}" for begin, end in zip(low.tolist(), high.tolist(), strict=True)]

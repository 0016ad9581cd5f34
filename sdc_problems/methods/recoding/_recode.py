"""Global recoding: merging categories, and replacing values by labels of a hierarchy or numbers by intervals."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import choice, code_table, vector, whole
from sdc_problems.errors import SDCError
from sdc_problems.methods._amounts import code_vector, one_of
from sdc_problems.methods._amounts import missing_codes as check_missing

if TYPE_CHECKING:
    from sdc_problems.hierarchy import Hierarchy

METHODS = ("equal_width", "equal_count", "log_width")
SHOW = ("interval", "midpoint", "median")


class Intervals(NamedTuple):
    """Result of `recode_intervals`.

    Attributes
    ----------
    values
        Replacement of each value: the interval as text, or a number.
    breaks
        Ends of the intervals.
    counts
        Number of values in each interval; it may be 0.
    """

    values: NDArray[Any]
    breaks: NDArray[np.float64]
    counts: NDArray[np.int64]


def recode_rare(
    codes: object,
    *,
    categories: int,
    missing_codes: Sequence[int | None] | int | None = None,
    missing: str = "keep",
) -> NDArray[np.int64]:
    """Global recoding of rare categories: the least frequent categories are merged into one.

    Parameters
    ----------
    codes
        Category codes: a vector or records × attributes.
    categories
        Number of categories to merge, of those that occur; of equally frequent ones, the lower code first.
    missing_codes
        Code of the missing value of each attribute, None if there is none.
    missing
        "keep" never merges the missing value; "value" treats it like any other.

    Returns
    -------
    ndarray of int64
        Codes in the given shape; the merged category has the code of its most frequent member.

    Notes
    -----
    Marés (2013), section 2.3.5. O(pn).

    Examples
    --------
    >>> recode_rare([0, 0, 0, 1, 2, 2], categories=2).tolist()
    [0, 0, 0, 2, 2, 2]
    """
    table = code_table(codes, "codes")
    p = table.shape[1]
    count = whole(categories, "categories", least=1)
    skip = check_missing(missing_codes, p, missing)
    out = table.copy()
    for j in range(p):
        frequency = np.bincount(table[:, j])
        occurring = np.flatnonzero(frequency)
        occurring = occurring[occurring != skip[j]]
        if len(occurring) <= 1:
            continue
        if count > len(occurring):
            raise SDCError(f"categories = {count}, but column {j} of codes has {len(occurring)}")
        rare = occurring[np.argsort(frequency[occurring], kind="stable")][:count]
        out[np.isin(table[:, j], rare), j] = rare[np.argmax(frequency[rare])]
    return out[:, 0] if np.ndim(codes) == 1 else out  # type: ignore[arg-type]


def recode_map(codes: object, groups: Iterable[Sequence[int]]) -> NDArray[np.int64]:
    """Global recoding of one attribute: the categories of each group are merged into one.

    Parameters
    ----------
    codes
        Category codes, a vector.
    groups
        Groups of codes; codes in no group stay as they are.

    Returns
    -------
    ndarray of int64
        Codes; a merged category has the code of its most frequent member, or the lowest of equally frequent ones.

    Examples
    --------
    >>> recode_map([0, 1, 1, 2, 3], [[0, 1], [2, 3]]).tolist()
    [1, 1, 1, 2, 2]
    """
    column = code_vector(codes)
    frequency = np.bincount(column)
    new = np.arange(len(frequency))
    seen: set[int] = set()
    for g, group in enumerate(groups):
        members = sorted({whole(code, f"groups[{g}]") for code in group})
        if not members:
            raise SDCError(f"groups[{g}] is empty")
        twice = seen.intersection(members)
        if twice:
            raise SDCError(f"code {min(twice)} stands in two groups")
        seen.update(members)
        here = np.array([code for code in members if code < len(frequency)], dtype=np.int64)
        if len(here) and frequency[here].any():
            new[here] = here[np.argmax(frequency[here])]
    return new[column]


def recode_level(column: Iterable[object], hierarchy: Hierarchy, level: int) -> NDArray[Any]:
    """Global recoding by a hierarchy: each value is replaced by its label at one level.

    Parameters
    ----------
    column
        Values of one attribute (text or numbers).
    hierarchy
        Source of the labels.
    level
        Level of the labels; 0 keeps the values (as text).

    Returns
    -------
    ndarray of object
        One label per record.

    Examples
    --------
    >>> from sdc_problems import Hierarchy
    >>> recode_level([21, 34, 29], Hierarchy.intervals(range(20, 40), [10]), 1).tolist()
    ['20-29', '30-39', '20-29']
    """
    given = np.asarray(list(column), dtype=object)
    if given.ndim != 1 or len(given) == 0:
        raise SDCError("column must hold the values of one attribute, at least one")
    position: dict[Any, int] = {}
    where = np.array([position.setdefault(value, len(position)) for value in given.tolist()])
    labels = np.array(hierarchy.labels(level), dtype=object)
    found: NDArray[Any] = labels[hierarchy.table(list(position))[level]][where]
    return found


def recode_intervals(
    x: object,
    *,
    breaks: Sequence[float] | None = None,
    bins: int | None = None,
    method: str = "equal_width",
    show: str = "interval",
) -> Intervals:
    """Global recoding of numbers: each value is replaced by its interval.

    Parameters
    ----------
    x
        Numbers, a vector.
    breaks
        Ends of the intervals, ascending; they must cover all values.
    bins
        Number of intervals, instead of ``breaks``; they are made by ``method``.
    method
        "equal_width"; "equal_count" (between quantiles); "log_width" (equal width on a logarithmic scale, x > 0).
    show
        "interval" gives text such as "[20, 30)"; "midpoint" and "median" (of the values inside) give numbers.

    Returns
    -------
    Intervals
        Values, ends and counts. Intervals are closed on the left, the last one on both sides. Empty intervals are kept,
        with count 0.

    Examples
    --------
    >>> recode_intervals([1, 2, 9], breaks=[0, 5, 10]).values.tolist()
    ['[0, 5)', '[0, 5)', '[5, 10]']
    >>> recode_intervals([1, 2, 10], bins=2, show="midpoint").values.tolist()
    [3.25, 3.25, 7.75]
    """
    values = vector(x, "x")
    choice(method, "method", METHODS)
    choice(show, "show", SHOW)
    if one_of(breaks=breaks, bins=bins) == "breaks":
        ends = vector(breaks, "breaks")
        if len(ends) < 2 or (np.diff(ends) <= 0).any():
            raise SDCError("breaks must rise, and be at least two")
        outside = np.flatnonzero((values < ends[0]) | (values > ends[-1]))
        if len(outside):
            raise SDCError(
                f"breaks go from {ends[0]:g} to {ends[-1]:g}, but {len(outside)} value(s) of x lie outside, the first "
                f"at position {outside[0]}"
            )
    else:
        ends = _ends(values, whole(bins, "bins", least=1), method)
    at = np.clip(np.searchsorted(ends, values, side="right") - 1, 0, len(ends) - 2)
    counts = np.bincount(at, minlength=len(ends) - 1)
    if show == "interval":
        marks = [f"[{_text(a)}, {_text(b)})" for a, b in itertools.pairwise(ends)]
        marks[-1] = marks[-1][:-1] + "]"
        return Intervals(np.array(marks, dtype=object)[at], ends, counts)
    if show == "midpoint":
        return Intervals((ends[:-1] / 2 + ends[1:] / 2)[at], ends, counts)
    medians = np.array([np.median(values[at == b]) if counts[b] else np.nan for b in range(len(counts))])
    return Intervals(medians[at], ends, counts)


def _ends(values: NDArray[np.float64], bins: int, method: str) -> NDArray[np.float64]:
    low, high = values.min(), values.max()
    if method == "log_width" and low <= 0:
        where = int(np.argmax(values <= 0))
        raise SDCError(f"log_width needs positive values, but x is {values[where]:g} at position {where}")
    if low == high:
        return np.array([low, high])
    if method == "equal_count":
        return np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)))
    if method == "log_width":
        ends = np.geomspace(low, high, bins + 1)
    else:
        ends = np.linspace(low, high, bins + 1)
    ends[0], ends[-1] = low, high
    return ends


def _text(value: float) -> str:
    return f"{value:.12g}"

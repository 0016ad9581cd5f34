"""Candidates of a record: protected records that may be its own, given everything that is published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sdc_problems._slices import slices
from sdc_problems._validation import BoolArray, IntArray, cell_mask, code_pair
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import row_labels, starts, unique_rows
from sdc_problems.evaluators.linkage._boxes import box_tree, boxes_around

Values = IntArray | range

_LEAF = 16
_MOST_BOXES = 2**25  # times attributes


class ManyRangesError(SDCError):
    """Error: labels stand for so many separate ranges of values that candidates cannot be counted as boxes."""


def candidate_counts(
    X: object, Y: object, sets: Sequence[Sequence[Values] | None], *, stars: object = None
) -> IntArray:
    """Number of candidates of each original record: protected records whose labels may all stand for its values.

    A star may stand for every value, a label for the values in its set. An intruder who knows the values of a record
    with 1 candidate finds it for certain; with 4 candidates, in one case of four. Values must not have been replaced
    by other values; for such files see :func:`~sdc_problems.evaluators.linkage.link_ties`.

    Parameters
    ----------
    X
        Codes of the original values, records × attributes.
    Y
        Codes of the published labels, in the same shape; row i of Y protects row i of X.
    sets
        For each attribute, the values that each label may stand for (codes, or a range of codes); None if each label
        stands for the value with the same code.
    stars
        True for each cell of Y that is starred or missing.

    Returns
    -------
    ndarray of int64
        In [0, n]; at least 1 if each label of the record may stand for the value that it protects.

    Raises
    ------
    ManyRangesError
        If sets overlap so much that no order turns them into ranges; ``link_ties`` with recodings can count them.

    Notes
    -----
    Values are sorted so that the sets of one hierarchy are ranges; any other set becomes several ranges.
    O((r + b)·p·log b) for r distinct records and b distinct combinations of ranges, times the number of different
    patterns of stars, if the ranges of different combinations overlap little.

    Examples
    --------
    >>> ages = [[20], [25], [31]]
    >>> codes, labels = [[0], [1], [2]], [[0], [0], [1]]
    >>> candidate_counts(codes, labels, [[range(0, 2), range(2, 3)]])
    array([2, 2, 1])
    >>> candidate_counts(codes, labels, [[range(0, 2), range(2, 3)]], stars=[[False], [False], [True]])
    array([3, 3, 1])
    """
    original, labels = code_pair(X, Y)
    open_cells = cell_mask(stars, original.shape, "stars")
    p = original.shape[1]
    if len(sets) != p:
        raise SDCError(f"sets needs one entry per attribute ({p}), not {len(sets)}")
    points, who, _ = unique_rows(original)
    return candidates_of(points, labels, sets, open_cells, np.ones(len(labels), dtype=np.int64))[who]


def candidates_of(
    original: IntArray, labels: IntArray, sets: Sequence[Sequence[Values] | None], stars: BoolArray, records: IntArray
) -> IntArray:
    """`candidate_counts` of some original records, among published records that occur several times each.

    Parameters
    ----------
    original
        Codes of different original records.
    labels, stars
        Labels and stars of published records.
    sets
        As for `candidate_counts`.
    records
        Number of records with each row of labels and stars.
    """
    p = original.shape[1]
    shown = np.where(stars, 0, labels)
    places, runs = [], []
    for j in range(p):
        place, ranges = _ranges(sets[j], shown[:, j], stars[:, j], int(original[:, j].max()) + 1)
        places.append(place[original[:, j]])
        runs.append(ranges)
    points = np.stack(places, axis=1)
    counts = np.zeros(len(points), dtype=np.int64)
    for columns, rows, n_records in _patterns(shown, stars, records):
        if not len(columns):
            counts += int(n_records.sum())
            continue
        low, high, of_row = _boxes(rows, [runs[j] for j in columns])
        if not len(low):  # labels that stand for no value are candidates of no record
            continue
        order, tree = box_tree(low, high, _LEAF)
        inside = np.ascontiguousarray(points[:, columns])
        ordered = low[order], high[order], n_records[of_row][order]
        for begin, end in slices(len(inside), steps=len(low) * len(columns), what="records compared"):
            counts[begin:end] += boxes_around(inside[begin:end], *ordered, tree)
    return counts


def _patterns(shown: IntArray, stars: BoolArray, n: IntArray) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """For each pattern of stars: attributes without star, their distinct rows of labels, and numbers of records."""
    group, _ = row_labels(stars.astype(np.int64))
    by_group = np.argsort(group, kind="stable")
    for records in np.split(by_group, starts(group[by_group])[1:]):
        columns = np.flatnonzero(~stars[records[0]])
        if len(columns):
            rows, which, _ = unique_rows(shown[records][:, columns])
            count = np.zeros(len(rows), dtype=np.int64)
            np.add.at(count, which, n[records])
            yield columns, rows, count
        else:
            yield columns, np.zeros((1, 0), dtype=np.int64), np.array([n[records].sum()])


Runs = tuple[IntArray, IntArray, IntArray]
"""Ranges of values, label after label: start of the ranges of each label, and the ends of each range."""


def _ranges(sets: Sequence[Values] | None, labels: IntArray, starred: BoolArray, size: int) -> tuple[IntArray, Runs]:
    """Position of each value in an order that turns sets into ranges, and the ranges of every label."""
    if sets is None:
        every = np.arange(max(int(labels.max()) + 1, size))
        return np.arange(size), (np.arange(len(every) + 1), every, every)
    used = np.unique(labels[~starred]).tolist()
    if used and used[-1] >= len(sets):
        raise SDCError(f"sets says nothing of label {used[-1]}")
    ends = [_ends(sets[label]) for label in used if len(sets[label])]
    if any(first < 0 for first, _ in ends):
        raise SDCError("sets must hold codes of values, which are ≥ 0")
    size = max([size, *(last + 1 for _, last in ends)])
    place = np.arange(size)
    found = _runs(sets, used, place)
    if len(found[0]) > len(ends):  # if sets are not ranges in the order of values, another order may be better
        nested = _order([sets[label] for label in used], size)
        other = _runs(sets, used, nested)
        if len(other[0]) < len(found[0]):
            place, found = nested, other
    owner, first, last = found
    return place, (np.append(0, np.cumsum(np.bincount(owner, minlength=len(sets)))), first, last)


def _runs(sets: Sequence[Values], used: Sequence[int], place: IntArray) -> Runs:
    """Ranges of positions, label after label: the label of each range, and its ends."""
    natural = bool((place[1:] > place[:-1]).all())
    spans = {label: values for label in used if isinstance(values := sets[label], range) and natural and len(values)}
    rest = [label for label in used if label not in spans]
    listed = [np.asarray(sets[label], dtype=np.int64) for label in rest]
    of = np.repeat(np.array(rest, dtype=np.int64), [len(found) for found in listed])
    at = place[np.concatenate([np.zeros(0, dtype=np.int64), *listed])]
    by_label = np.lexsort((at, of))
    of, at = of[by_label], at[by_label]
    starting = np.append(True, (np.diff(of) > 0) | (np.diff(at) > 1))[: len(at)]
    ending = np.append(starting[1:], True)[: len(at)]
    owner = np.concatenate([np.array(list(spans), dtype=np.int64), of[starting]])
    first = np.concatenate([np.array([span.start for span in spans.values()], dtype=np.int64), at[starting]])
    last = np.concatenate([np.array([span.stop - 1 for span in spans.values()], dtype=np.int64), at[ending]])
    by_owner = np.argsort(owner, kind="stable")
    return owner[by_owner], first[by_owner], last[by_owner]


def _order(sets: Sequence[Values], size: int) -> IntArray:
    """Position of each value in an order that turns nested sets into ranges.

    From the largest set to the smallest, the members of a set move to the front of each block of values so far.
    """
    block, sizes, before = [0] * size, [size], [-1]
    for values in sorted(sets, key=lambda values: -len(values)):
        if not 1 < len(values) < size:
            continue
        parts: dict[int, list[int]] = {}
        for value in values if isinstance(values, range) else values.tolist():
            parts.setdefault(block[value], []).append(value)
        for old, members in parts.items():
            if len(members) < sizes[old]:
                new = len(sizes)
                sizes.append(len(members))
                before.append(before[old])
                sizes[old] -= len(members)
                before[old] = new
                for value in members:
                    block[value] = new
    rank, last = np.empty(len(sizes), dtype=np.int64), 0
    for position in range(len(sizes) - 1, -1, -1):  # the first block has become the last
        rank[last] = position
        last = before[last]
    place = np.empty(size, dtype=np.int64)
    place[np.argsort(rank[block], kind="stable")] = np.arange(size)
    return place


def _ends(values: Values) -> tuple[int, int]:
    """Smallest and largest code of a set."""
    return (values.start, values.stop - 1) if isinstance(values, range) else (int(values.min()), int(values.max()))


def _boxes(rows: IntArray, runs: Sequence[Runs]) -> tuple[IntArray, IntArray, IntArray]:
    """Boxes of the rows of labels, one for each combination of ranges, and the row of each box."""
    of_row = np.arange(len(rows))
    low = np.empty((len(rows), 0), dtype=np.int64)
    high = low
    for j, (begin, first, last) in enumerate(runs):
        label = rows[of_row, j]
        n_ranges = begin[label + 1] - begin[label]
        if int(n_ranges.sum()) * len(runs) > _MOST_BOXES:
            raise ManyRangesError(f"the labels of attribute {j + 1} stand for too many separate ranges of values")
        again = np.repeat(np.arange(len(label)), n_ranges)
        which = np.arange(len(again)) - np.repeat(np.cumsum(n_ranges) - n_ranges, n_ranges) + begin[label][again]
        low = np.concatenate([low[again], first[which][:, None]], axis=1)
        high = np.concatenate([high[again], last[which][:, None]], axis=1)
        of_row = of_row[again]
    return low, high, of_row

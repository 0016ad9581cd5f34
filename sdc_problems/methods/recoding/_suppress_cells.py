"""Local suppression: as few cells as possible are replaced by stars, so that at least k records look alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.coded import CodedColumns, coded_texts
from sdc_problems._tables.columns import STAR
from sdc_problems._validation import IntArray, choice, code_table, whole
from sdc_problems.errors import SDCError
from sdc_problems.methods._importance import column_weights, weights_of
from sdc_problems.methods.recoding._classes import Mix, Trees, alike
from sdc_problems.methods.recoding._generalize import Recoded
from sdc_problems.methods.recoding._wildcard_stars import wildcard_stars
from sdc_problems.microdata import Microdata

READINGS = ("own", "wildcard")
ATTEMPTS = 12  # attempts to keep within the most stars of an attribute, each with a higher price of its stars


def suppress_cells(
    codes: object,
    k: int,
    *,
    importance: Sequence[int] | None = None,
    reading: str = "own",
    max_per_attribute: int | Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
    sensitive: object = None,
    l: int | None = None,
    entropy_l: float | None = None,
    t: float | None = None,
) -> IntArray:
    """Local suppression: replace cells by stars until each record looks like at least k − 1 others.

    Parameters
    ----------
    codes
        Records × attributes: category codes.
    k
        Smallest number of records that look alike, 1 … n.
    importance
        Rank of each attribute, 1 for the last to be starred; decides between equal numbers of stars.
    reading
        "own": a star is a value of its own, as everywhere else where k is counted. "wildcard": a star matches every
        value, on both sides. This needs fewer stars and protects less: an intruder who knows that a cell was starred
        because its value is rare learns something.
    max_per_attribute
        Largest number of stars of an attribute: one number for all, or one for each.
    weights
        Weight of a star of each attribute; by default, 1. Only with "own".
    sensitive, l, entropy_l, t
        Requirements on the sensitive values of records that look alike, as for ``local_recoding``. Only with "own".

    Returns
    -------
    ndarray of int64
        Codes, -1 for a star.

    Notes
    -----
    "own": rows with fewer than k records are merged by agglomeration, and cells that are not equal in a class are
    starred. "wildcard": the fewest cells that suffice are starred in the record with the fewest matches, until each
    record has k matches; then every star that is not needed is removed. O(m² p) for m distinct rows; for "wildcard",
    2^p more for up to 12 attributes.

    Examples
    --------
    >>> suppress_cells([[0, 0], [0, 0], [0, 1], [1, 1]], 2).tolist()
    [[0, 0], [0, 0], [-1, 1], [-1, 1]]
    """
    table = code_table(codes, "codes")
    n, p = table.shape
    size = whole(k, "k", least=1)
    if size > n:
        raise SDCError(f"k = {size} is larger than the number of records, {n}")
    choice(reading, "reading", READINGS)
    ranks = _per_attribute(importance, p, "importance", 1, least=1)
    most = _per_attribute(max_per_attribute, p, "max_per_attribute", n, least=0)
    counted = column_weights(weights, p)
    if reading == "wildcard":
        if weights is not None:
            raise SDCError("stars that match every value are counted, not weighted: use own, or importance")
        if not (l is None and entropy_l is None and t is None):
            raise SDCError("ℓ and t need classes of records, which stars that match every value do not make: use own")
        return _wildcard(table, size, ranks, most)
    mix = Mix.of(sensitive, n, l, entropy_l, t)
    tables = [np.stack([np.arange(m + 1), np.zeros(m + 1, dtype=np.int64)]) for m in table.max(axis=0)]
    dearer = counted * (1 + 1e-3 * (1 - ranks / ranks.max()))
    for _ in range(ATTEMPTS):
        trees = Trees.of(tables, [[np.ones(t.shape[1]), np.array([t.shape[1]])] for t in tables], list(dearer))
        _, levels = alike(table, size, trees, mix)
        over = levels.sum(axis=0) > most
        if not over.any():
            return np.where(levels > 0, -1, table)
        dearer = np.where(over, 2 * dearer, dearer)
    raise _too_few(int(np.argmax(over)))


def _wildcard(table: IntArray, k: int, ranks: IntArray, most: IntArray) -> IntArray:
    distinct, row, counts = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    row = row.ravel()
    alone = np.flatnonzero(counts[row] < k)
    common = np.flatnonzero(counts >= k)
    values = np.concatenate([distinct[common], table[alone]]).astype(np.int32)
    weights = np.concatenate([counts[common], np.ones(len(alone), dtype=np.int64)]).astype(np.int64)
    found = wildcard_stars(values, weights, k, ranks, most)
    if not len(found):
        raise _too_few(None)
    out = table.copy()
    out[alone] = found[len(common) :]
    return out


def _per_attribute(given: object, p: int, name: str, otherwise: int, *, least: int) -> IntArray:
    if given is None:
        return np.full(p, otherwise, dtype=np.int64)
    several = [given] * p if isinstance(given, int | np.integer) else given
    if not isinstance(several, Sequence | np.ndarray) or isinstance(several, str) or len(several) != p:
        raise SDCError(f"{name} must be a whole number for each of {p} attributes")
    return np.array([whole(value, f"{name}[{j}]", least=least) for j, value in enumerate(several)], dtype=np.int64)


def _too_few(column: int | None) -> SDCError:
    where = "" if column is None else f" (column {column} of codes needs more)"
    return SDCError(f"no way was found to have k with so few stars in each attribute{where}: allow more of them")


def suppress_table(
    data: Microdata,
    k: int,
    *,
    l: int | None = None,
    entropy_l: float | None = None,
    t: float | None = None,
    importance: Mapping[str, float] | None = None,
    max_per_attribute: int | None = None,
) -> Recoded:
    """Local suppression in the quasi-identifiers, with as few stars as possible, each a value of its own.

    Parameters
    ----------
    data
        The table.
    k
        Smallest number of records that look alike.
    l, entropy_l, t
        Requirements on the sensitive columns among these records.
    importance
        Weight of a star of each column; by default, 1.
    max_per_attribute
        Largest number of stars of a column.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20, 20, 60, 61], "town": ["Olot", "Olot", "Reus", "Reus"]})
    >>> suppress_table(Microdata.from_frame(frame, quasi_identifiers=["age", "town"]), 2).columns["age"].tolist()
    ['20', '20', '*', '*']
    """
    found = suppress_cells(
        data.codes(),
        k,
        max_per_attribute=max_per_attribute,
        weights=weights_of(data.quasi_identifiers, importance).tolist(),
        sensitive=data.codes(data.sensitive) if data.sensitive else None,
        l=l,
        entropy_l=entropy_l,
        t=t,
    )
    return _starred(data, found)


def suppress_table_wildcard(data: Microdata, k: int, *, max_per_attribute: int | None = None) -> Recoded:
    """Local suppression in the quasi-identifiers, with stars that match every value.

    Parameters
    ----------
    data
        The table.
    k
        Smallest number of records that each record matches.
    max_per_attribute
        Largest number of stars of a column.
    """
    return _starred(data, suppress_cells(data.codes(), k, reading="wildcard", max_per_attribute=max_per_attribute))


def _starred(data: Microdata, found: IntArray) -> Recoded:
    names = data.quasi_identifiers
    stars: NDArray[np.int64] = (found < 0).sum(axis=0)
    columns = {}
    for j, name in enumerate(names):
        if stars[j]:
            labels = [*data.attribute(name).labels, STAR]
            columns[name] = coded_texts(np.where(found[:, j] < 0, len(labels) - 1, found[:, j]), labels)
    each = ", ".join(f"{name} {int(count):,}" for name, count in zip(names, stars, strict=True))
    sentence = f"{int(stars.sum()):,} of {found.size:,} cells are suppressed ({100 * stars.sum() / found.size:.3g} %)"
    return Recoded(CodedColumns(columns), (f"{sentence}: {each}.",))

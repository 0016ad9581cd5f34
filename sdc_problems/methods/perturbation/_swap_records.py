"""Data swapping: pairs of records exchange some attributes and agree on others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import code_table, whole
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import row_labels
from sdc_problems.methods._amounts import generator, percentage
from sdc_problems.methods._amounts import missing_codes as check_missing
from sdc_problems.methods._kernels.swap_records import record_partners_kernel


class SwappedRecords(NamedTuple):
    """Result of `swap_records`.

    Attributes
    ----------
    values
        Protected codes in the shape of the data.
    partner
        Partner of each record; itself if it has none.
    without_partner
        Number of records that looked for a partner and found none.
    """

    values: NDArray[np.int64]
    partner: NDArray[np.int64]
    without_partner: int


def swap_records(
    data: object,
    attributes: Sequence[int],
    *,
    within: Sequence[int] = (),
    percent: float,
    rng: np.random.Generator | None = None,
    targeted: bool = False,
    quasi_identifiers: Sequence[int] | None = None,
    missing_codes: Sequence[int | None] | int | None = None,
    missing: str = "keep",
) -> SwappedRecords:
    """Data swapping: pairs of records that agree on some attributes exchange others.

    Tables of ``attributes`` × ``within`` do not change.

    Parameters
    ----------
    data
        Records × attributes as category codes.
    attributes
        Columns that are exchanged, all together.
    within
        Columns on which the records of a pair agree.
    percent
        Largest percentage of the records that take part in an exchange.
    rng
        Source of the random draws.
    targeted
        Whether records that are rare in the quasi-identifiers get a partner first.
    quasi_identifiers
        Columns by which records are rare; by default, all columns.
    missing_codes
        Code of the missing value of each column, None if there is none.
    missing
        "keep": records with a missing value in ``attributes`` are not exchanged; "value": it is a value like any other.

    Returns
    -------
    SwappedRecords
        Protected codes, partners, and number of records without a partner.

    Notes
    -----
    Dalenius and Reiss (1978). A record draws its partner uniformly from the free records of its cell that differ from
    it in ``attributes``. O(n log n).

    Examples
    --------
    >>> data = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> swap_records(data, [1], within=[0], percent=100, rng=np.random.default_rng(1)).values.tolist()
    [[0, 1], [0, 0], [1, 1], [1, 0]]
    """
    codes = code_table(data, "data")
    n, p = codes.shape
    moved, fixed = _columns(attributes, p, "attributes"), _columns(within, p, "within")
    if not moved:
        raise SDCError("attributes names no column: nothing would be exchanged")
    both = set(moved) & set(fixed)
    if both:
        raise SDCError(f"column {min(both)} stands in attributes and in within: a pair cannot agree and differ on it")
    wanted = int(np.floor(percentage(percent) * n / 100))
    random = generator(rng)
    skip = check_missing(missing_codes, p, missing)
    usable = np.flatnonzero((codes[:, moved] != skip[moved]).all(axis=1))
    order = random.permutation(n)
    if targeted:
        seen = _columns(range(p) if quasi_identifiers is None else quasi_identifiers, p, "quasi_identifiers")
        classes = _classes(codes, seen)
        order = order[np.argsort(np.bincount(classes)[classes[order]], kind="stable")]
    state = random.integers(1, 2**63, size=1).astype(np.uint64)
    partner, alone = np.arange(n), 0
    if len(usable) > 1:
        position = np.full(n, -1, dtype=np.int64)
        position[usable] = np.arange(len(usable))
        queue = position[order]
        cell = _classes(codes[usable], fixed)
        own = _classes(codes[usable], [*fixed, *moved])
        found, alone = record_partners_kernel(queue[queue >= 0], cell, own, wanted, state)
        partner[usable] = usable[found]
    values = codes.copy()
    values[:, moved] = codes[partner][:, moved]
    return SwappedRecords(values, partner, int(alone))


def _columns(given: Sequence[int], p: int, name: str) -> list[int]:
    chosen = [whole(j, f"{name}[{i}]") for i, j in enumerate(given)]
    for j in chosen:
        if j >= p:
            raise SDCError(f"{name} names column {j}, but the data has columns 0 to {p - 1}")
    if len(set(chosen)) < len(chosen):
        raise SDCError(f"{name} names a column twice: {chosen}")
    return chosen


def _classes(codes: NDArray[np.int64], columns: Sequence[int]) -> NDArray[np.int64]:
    """Number of the combination of values of each record in some columns."""
    return row_labels(codes[:, list(columns)])[0] if columns else np.zeros(len(codes), dtype=np.int64)

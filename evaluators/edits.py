"""Edit rules, sums that hold in every record of a table: finding them, and counting records that break them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sdc_problems._validation import FloatArray, table
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.information_loss.numeric import location_and_scale

_RANK = 1e-9  # with singular values below this share of the largest, attributes are linearly dependent
_EXACT = 1e-9  # share of the largest number in the sum that adding decimal fractions may leave as a difference


class Edit(NamedTuple):
    """Edit rule: one attribute as a sum of others, given by their positions and signs."""

    left: int
    right: tuple[int, ...]
    signs: tuple[int, ...]

    def total(self, X: FloatArray) -> FloatArray:
        """Right-hand side for every record."""
        values: FloatArray = X[:, list(self.right)] @ np.asarray(self.signs, dtype=np.float64)
        return values

    def text(self, names: Sequence[str]) -> str:
        """Return the sum in readable form.

        Examples
        --------
        >>> Edit(0, (1, 2), (1, -1)).text(["net", "gross", "tax"])
        'net = gross - tax'
        """
        said = f"{names[self.left]} ="
        for at, (j, sign) in enumerate(zip(self.right, self.signs, strict=True)):
            mark = "-" if sign < 0 else "+" if at else ""
            said += f" {mark} {names[j]}" if mark else f" {names[j]}"
        return said


def parse_edit(text: str, names: Sequence[str]) -> Edit:
    """Parse a sum such as ``"total = wages + other - tax"``; names must not contain `` + ``, `` - `` or ``=``.

    Examples
    --------
    >>> parse_edit("net = gross - tax", ["gross", "tax", "net"])
    Edit(left=2, right=(0, 1), signs=(1, -1))
    """
    left, equals, right = text.partition("=")
    words = right.split()
    if not equals or not words or not left.strip():
        raise SDCError(f"edit {text!r} must read 'TOTAL = A + B - C'")
    if words[0] not in ("+", "-"):
        words.insert(0, "+")
    signs, terms = words[::2], words[1::2]
    if len(signs) != len(terms) or any(sign not in ("+", "-") for sign in signs):
        raise SDCError(f"edit {text!r} must read 'TOTAL = A + B - C', with blanks around the signs")
    for name in (left.strip(), *terms):
        if name not in names:
            raise SDCError(f"edit {text!r}: {name!r} is not among {', '.join(names)}")
    places = [names.index(name) for name in (left.strip(), *terms)]
    if len(set(places)) < len(places):
        raise SDCError(f"edit {text!r} names an attribute twice")
    return Edit(places[0], tuple(places[1:]), tuple(1 if sign == "+" else -1 for sign in signs))


def _holds(X: FloatArray, edit: Edit) -> np.ndarray:
    total = edit.total(X)
    size = np.maximum(np.abs(X[:, list(edit.right)]).max(axis=1), np.abs(X[:, edit.left]))
    holds: np.ndarray = np.abs(X[:, edit.left] - total) <= _EXACT * np.maximum(size, 1e-300)
    return holds


def find_edits(X: object) -> tuple[Edit, ...]:
    """Find sums of attributes that hold exactly in every record.

    The covariance matrix of such a table is rank-deficient. Its null space is brought to reduced row echelon form, and
    relations whose coefficients are all 1 or -1 are checked on every record.

    Parameters
    ----------
    X
        Records × attributes, numeric.

    Returns
    -------
    tuple of Edit
        Empty if there are none, and if there are fewer records than attributes, where any relation would seem to hold.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> parts = rng.integers(0, 99, size=(30, 2))
    >>> find_edits(np.column_stack([parts[:, 0], parts.sum(axis=1), parts[:, 1]]))
    (Edit(left=1, right=(0, 2), signs=(1, 1)),)
    """
    values = table(X, "X")
    n, p = values.shape
    scale = location_and_scale(values)[1]
    used = np.flatnonzero(scale > 0)
    if n <= p or len(used) < 2:
        return ()
    z = (values[:, used] - values[:, used].mean(axis=0)) / scale[used]
    _, singular, directions = np.linalg.svd(z, full_matrices=False)
    null = directions[singular <= _RANK * singular[0]] / scale[used]
    found = []
    for relation in _reduced(null):
        terms = np.flatnonzero(np.abs(relation) > 1e-6 * np.abs(relation).max())
        coefficients = relation[terms] / np.abs(relation[terms[0]])
        signs = np.rint(coefficients).astype(int)
        if len(terms) < 2 or np.abs(coefficients - signs).max() > 1e-6 or set(np.abs(signs)) != {1}:
            continue
        alone = 1 if np.count_nonzero(signs > 0) == 1 else -1 if np.count_nonzero(signs < 0) == 1 else signs[0]
        left = int(np.flatnonzero(signs == alone)[0])
        right = [e for e in range(len(terms)) if e != left]
        edit = Edit(
            int(used[terms[left]]),
            tuple(int(used[terms[e]]) for e in right),
            tuple(int(-signs[e] * signs[left]) for e in right),
        )
        if _holds(values, edit).all():
            found.append(edit)
    return tuple(sorted(found))


def _reduced(rows: FloatArray) -> FloatArray:
    """Reduced row echelon form, with the largest entries as pivots."""
    rows = rows.copy()
    for r in range(len(rows)):
        i, j = divmod(int(np.argmax(np.abs(rows[r:]))), rows.shape[1])
        rows[[r, r + i]] = rows[[r + i, r]]
        rows[r] /= rows[r, j]
        for other in range(len(rows)):
            if other != r:
                rows[other] -= rows[other, j] * rows[r]
    return rows


def broken_edits(Y: object, edits: Sequence[Edit]) -> float:
    """Share of records in which at least one of the sums does not hold.

    Parameters
    ----------
    Y
        Records × attributes, numeric.
    edits
        Sums, from :func:`find_edits` or given.

    Returns
    -------
    float
        Percent of the records, in [0, 100].

    Examples
    --------
    >>> broken_edits([[3.0, 1.0, 2.0], [5.0, 1.0, 2.0]], [Edit(0, (1, 2), (1, 1))])
    50.0
    """
    values = table(Y, "Y")
    holds = np.ones(len(values), dtype=bool)
    for edit in edits:
        if max(edit.left, *edit.right) >= values.shape[1]:
            raise SDCError(f"edit {tuple(edit)} names an attribute beyond the {values.shape[1]} of Y")
        holds &= _holds(values, edit)
    return 100.0 * float(np.count_nonzero(~holds)) / len(values)

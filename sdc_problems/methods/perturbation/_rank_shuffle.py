"""Rank shuffling: new records from the original values, with given correlations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import choice, table
from sdc_problems.evaluators._codes import ranks
from sdc_problems.methods._amounts import generator, shape_like
from sdc_problems.methods.perturbation._noise import _root

TARGETS = ("pearson", "spearman")
_ROUNDS = 6  # corrections of the target; more do not help


def rank_shuffle(X: object, *, target: str = "pearson", rng: np.random.Generator | None = None) -> NDArray[np.float64]:
    """Rank shuffling: new records from the original values of each attribute, with the correlations of the file.

    The result is a synthetic file. Each attribute keeps exactly its values, and pairs of attributes nearly keep their
    correlation, but a record no longer belongs to a person, so single records must not be interpreted.

    Parameters
    ----------
    X
        Records × attributes, numeric (or one attribute as a vector).
    target
        Correlations to keep: "pearson" of the values or "spearman" of the ranks.
    rng
        Source of the random scores.

    Returns
    -------
    ndarray
        Shuffled values in the shape of X.

    Notes
    -----
    Iman and Conover (1982): normal scores with the required correlations are drawn, and each attribute is put in the
    order of its scores. The correlation of the scores is corrected a few times by the deviation found, and the best
    result is used. O(p · n log n + n p²).

    Examples
    --------
    >>> sorted(rank_shuffle([3.0, 1.0, 2.0], rng=np.random.default_rng(1)).tolist())
    [1.0, 2.0, 3.0]
    """
    from scipy.special import ndtri

    values = table(X, "X")
    n, p = values.shape
    choice(target, "target", TARGETS)
    random = generator(rng)
    scores = ndtri(np.arange(1, n + 1) / (n + 1))
    S = np.column_stack([scores[random.permutation(n)] for _ in range(p)])
    varies = np.flatnonzero(values.min(axis=0) < values.max(axis=0))
    out = values.copy()
    if n < 3 or len(varies) == 0:
        return shape_like(out, X)
    V, S = values[:, varies], S[:, varies]
    ordered = np.sort(V, axis=0)
    wanted = _correlation(V, target)
    # Independent scores are not exactly uncorrelated, so they are whitened first.
    S = S @ np.linalg.pinv(_root(np.atleast_2d(np.corrcoef(S, rowvar=False))), hermitian=True)
    aim, best, found = wanted.copy(), np.inf, V
    for _ in range(_ROUNDS):
        mixed = S @ _root(_valid(aim))
        places = np.empty_like(mixed, dtype=np.int64)
        np.put_along_axis(places, np.argsort(mixed, axis=0, kind="stable"), np.arange(n)[:, None], axis=0)
        made = np.take_along_axis(ordered, places, axis=0)
        off = wanted - _correlation(made, target)
        if np.abs(off).max() < best:
            best, found = float(np.abs(off).max()), made
        aim = np.clip(aim + off, -1.0, 1.0)
        np.fill_diagonal(aim, 1.0)
    out[:, varies] = found
    return shape_like(out, X)


def _correlation(V: NDArray[np.float64], target: str) -> NDArray[np.float64]:
    if target == "spearman":
        V = np.column_stack([ranks(column) for column in V.T])
    # Differences from the first record, so that large values with small differences keep their digits.
    return np.atleast_2d(np.corrcoef(V - V[0], rowvar=False))


def _valid(C: NDArray[np.float64]) -> NDArray[np.float64]:
    """Valid correlation matrix near a given one: negative eigenvalues are set to 0, the diagonal to 1."""
    eigenvalues, vectors = np.linalg.eigh(C)
    cut = (vectors * np.maximum(eigenvalues, 0)) @ vectors.T
    scale = np.sqrt(np.maximum(np.diag(cut), 1e-300))
    valid: NDArray[np.float64] = cut / np.outer(scale, scale)
    return valid

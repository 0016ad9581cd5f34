"""Measures of protected files that were drawn with shared uniform numbers: one value per file."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdc_problems._validation import FloatArray, IntArray
from sdc_problems.evaluators._codes import unique_rows
from sdc_problems.evaluators.information_loss.categorical import ctbil
from sdc_problems.evaluators.linkage.distance import distance_linkage
from sdc_problems.evaluators.linkage.probabilistic import Rows, link_rows
from sdc_problems.evaluators.transition._data import (
    Matrices,
    TransitionData,
    chi2,
    double_ranks,
    relative_change,
    x_log_x,
)
from sdc_problems.evaluators.transition._kernels import crossed_counts, draw_and_count, linked_ties, table_differences
from sdc_problems.methods.perturbation._pram import draw_thresholds

_EM_ITERATIONS = 5000
_LINK_LIMIT = 5000


@dataclass(frozen=True)
class Drawn:
    """Protected codes (files × records × attributes), and counts of changes between categories per attribute."""

    protected: npt.NDArray[np.int32]
    moves: list[IntArray]


def draw(data: TransitionData, matrices: Matrices, uniforms: FloatArray) -> Drawn:
    """Draw one file per slice of the uniform numbers (files × attributes × records)."""
    thresholds = np.concatenate([draw_thresholds(P).ravel() for P in matrices])
    joint = np.zeros((len(uniforms), len(thresholds)), dtype=np.int64)
    protected = draw_and_count(data.codes, uniforms, thresholds, data.starts, data.sizes, joint)
    moves = [
        joint[:, start : start + size * size].reshape(len(uniforms), size, size)
        for start, size in zip(data.starts, data.sizes, strict=True)
    ]
    return Drawn(protected, moves)


def _ctbil(data: TransitionData, drawn: Drawn) -> FloatArray:
    if not data.dense_tables:
        return np.array([ctbil(data.codes, file) for file in drawn.protected])
    total = np.zeros(len(drawn.protected), dtype=np.int64)
    for counts, frequency in zip(drawn.moves, data.frequencies, strict=True):
        total += np.abs(counts.sum(axis=1) - frequency).sum(axis=1)
    if data.pairs:
        first, second = np.array(data.pairs).T
        total += table_differences(drawn.protected, first, second, data.sizes[second], data.offsets, data.tables)
    loss: FloatArray = 100.0 * total / (2 * data.n * data.n_tables)
    return loss


def _dbil(data: TransitionData, drawn: Drawn) -> FloatArray:
    total = np.zeros(len(drawn.protected))
    for counts, distance in zip(drawn.moves, data.distances, strict=True):
        total += (counts * distance).sum(axis=(1, 2))
    loss: FloatArray = 100.0 * total / (data.n * data.p)
    return loss


def _ebil(data: TransitionData, drawn: Drawn) -> FloatArray:
    total = np.zeros(len(drawn.protected))
    for counts, size in zip(drawn.moves, data.sizes, strict=True):
        if size > 1:
            spread = x_log_x(counts.sum(axis=1)).sum(axis=1) - x_log_x(counts).sum(axis=(1, 2))
            total += np.maximum(spread, 0.0) / (data.n * math.log(size))
    loss: FloatArray = 100.0 * total / data.p
    return loss


def _id(data: TransitionData, drawn: Drawn) -> FloatArray:
    disclosed = np.zeros(len(drawn.protected), dtype=np.int64)
    for counts, frequency, ordinal in zip(drawn.moves, data.frequencies, data.ordinal, strict=True):
        if ordinal:
            gap = double_ranks(frequency)[None, :, None] - double_ranks(counts.sum(axis=1))[:, None, :]
            disclosed += (counts * (100.0 * (np.abs(gap) / 2.0) <= data.percent * data.n)).sum(axis=(1, 2))
        else:
            disclosed += np.trace(counts, axis1=1, axis2=2)
    share: FloatArray = 100.0 * disclosed / (data.n * data.p)
    return share


def _dbrl(data: TransitionData, drawn: Drawn) -> FloatArray:
    shares = np.empty(len(drawn.protected))
    for r, file in enumerate(drawn.protected):
        if data.dense_combinations:
            data.find_nearest(np.unique(data.keys(file)))
            near = linked_ties(data.codes, file, data.sizes, data.units, data.ordinal, data.nearest, data.ties)
            tied = np.bincount(near)[1:]
            shares[r] = 100.0 * math.fsum(tied / np.arange(1, len(tied) + 1)) / data.n
        else:
            shares[r] = distance_linkage(
                data.codes, file, direction="to_original", kinds=data.kinds, n_categories=data.sizes
            )
    return shares


def _prl(data: TransitionData, drawn: Drawn) -> FloatArray:
    exact = np.zeros(data.p)
    return np.array(
        [
            link_rows(
                data.rows,
                Rows(*unique_rows(file.astype(np.float64))),
                exact,
                max_iterations=_EM_ITERATIONS,
                limit=_LINK_LIMIT,
            ).share
            for file in drawn.protected
        ]
    )


def _crossed(data: TransitionData, drawn: Drawn) -> list[tuple[IntArray, IntArray]]:
    return [
        (crossed_counts(drawn.protected, a, data.against, data.n_against, int(data.sizes[a])), original)
        for a, original in enumerate(data.crossed_originals())
    ]


def _bivariate(data: TransitionData, drawn: Drawn) -> FloatArray:
    total = np.zeros(len(drawn.protected))
    for counts, original in _crossed(data, drawn):
        total += np.abs(counts - original).sum(axis=(1, 2))
    difference: FloatArray = 100.0 * total / (2 * data.n * data.p)
    return difference


def _chi2(data: TransitionData, drawn: Drawn) -> FloatArray:
    total = np.zeros(len(drawn.protected))
    for counts, original in _crossed(data, drawn):
        total += relative_change(chi2(counts), float(chi2(original)))
    change: FloatArray = total / data.p
    return change


SAMPLED: dict[str, Callable[[TransitionData, Drawn], FloatArray]] = {
    "ctbil": _ctbil,
    "dbil": _dbil,
    "ebil": _ebil,
    "id_rank": _id,
    "dbrl": _dbrl,
    "prl": _prl,
    "bivariate": _bivariate,
    "chi2": _chi2,
}

"""Sensitivity of a search to its settings: analysis of variance, Tukey's and Scheffé's tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from sdc_problems.errors import SDCError

LEVEL = 0.05


@dataclass(frozen=True)
class Anova:
    """Main effects on one response.

    Attributes
    ----------
    p
        Significance of each factor; 1 if the response does not vary at all.
    mean_square, freedom
        Mean square and degrees of freedom of the residuals, for the comparisons that follow.
    """

    p: Mapping[str, float]
    mean_square: float
    freedom: float

    def significant(self, level: float = LEVEL) -> tuple[str, ...]:
        """Factors with a significant effect."""
        return tuple(name for name, p in self.p.items() if p < level)


def anova(runs: pd.DataFrame, response: str, factors: Sequence[str]) -> Anova:
    """Analysis of variance with main effects only, each adjusted for the others (type II).

    Parameters
    ----------
    runs
        One row per run.
    response
        Column of the response.
    factors
        Columns of the settings; one with a single value is left out.

    Notes
    -----
    A factor's sum of squares is the decrease of the residual sum when the factor is added to the others; its mean
    square, divided by that of the residuals of the whole model, is compared with the F distribution.

    Examples
    --------
    >>> runs = pd.DataFrame({"rate": [0, 0, 0, 1, 1, 1], "sse": [5.0, 5.1, 4.9, 2.0, 2.1, 1.9]})
    >>> anova(runs, "sse", ["rate"]).significant()
    ('rate',)
    """
    if len(runs) == 0:
        raise SDCError("there are no runs to analyze")
    varied = [name for name in factors if len(runs[name].unique()) > 1]
    y = runs[response].to_numpy(dtype=float)
    if not varied or np.ptp(y) <= 1e-9 * max(np.abs(y).max(), 1.0):
        return Anova(dict.fromkeys(factors, 1.0), 0.0, max(len(runs) - 1.0, 1.0))
    blocks = {name: _indicators(runs[name].to_numpy()) for name in varied}
    residual, rank = _least_squares(y, list(blocks.values()))
    freedom = float(len(y) - rank)
    p = dict.fromkeys(factors, 1.0)
    for name in varied:
        without, fewer = _least_squares(y, [block for other, block in blocks.items() if other != name])
        if rank > fewer and freedom > 0:
            ratio = (without - residual) / (rank - fewer) / (residual / freedom) if residual > 0 else np.inf
            p[name] = float(stats.f.sf(ratio, rank - fewer, freedom))
    return Anova(p, residual / freedom if freedom > 0 else 0.0, freedom)


def _indicators(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """One indicator column for each value but the first."""
    return np.asarray(values[:, None] == np.unique(values)[None, 1:], dtype=float)


def _least_squares(y: NDArray[np.float64], blocks: Sequence[NDArray[np.float64]]) -> tuple[float, int]:
    """Sum of squared residuals of a linear model with an intercept, and the rank of its columns."""
    design = np.hstack([np.ones((len(y), 1)), *blocks])
    solution, _, rank, _ = np.linalg.lstsq(design, y, rcond=None)
    return float(((y - design @ solution) ** 2).sum()), int(rank)


def best_values(runs: pd.DataFrame, response: str, factor: str, found: Anova) -> tuple[float, ...]:
    """Values of a factor whose mean response differs from the smallest one neither by Tukey's nor by Scheffé's test.

    Parameters
    ----------
    runs, response, factor
        As for ``anova``.
    found
        The analysis of variance, from which both tests take their error.

    Notes
    -----
    Two means differ if ``|a − b| / s`` exceeds ``q(0.95; g, df) / √2`` (Tukey and Kramer) or ``√((g − 1) F(0.95; g − 1,
    df))`` (Scheffé), where s² = MS·(1/n₁ + 1/n₂) and g is the number of values. Scheffé's limit is the larger one, so a
    value is in the group of the best as soon as Tukey's test puts it there; both are computed, and a value is dropped
    only if they agree.

    Examples
    --------
    >>> runs = pd.DataFrame({"rate": [0, 0, 0, 1, 1, 1, 2, 2, 2], "sse": [5, 5.1, 4.9, 2, 2.1, 1.9, 2.1, 2, 2]})
    >>> best_values(runs, "sse", "rate", anova(runs, "sse", ["rate"]))
    (1.0, 2.0)
    """
    groups = runs.groupby(factor)[response]
    means, counts = groups.mean(), groups.size()
    g = len(means)
    values = tuple(float(v) for v in means.index)
    if g < 2 or found.mean_square <= 0:
        return values
    best = means.to_numpy().argmin()
    spread = np.sqrt(found.mean_square * (1 / counts.to_numpy() + 1 / counts.to_numpy()[best]))
    away: NDArray[np.float64] = (means.to_numpy() - means.to_numpy()[best]) / spread
    tukey = stats.studentized_range.ppf(1 - LEVEL, g, found.freedom) / np.sqrt(2)
    scheffe = np.sqrt((g - 1) * stats.f.ppf(1 - LEVEL, g - 1, found.freedom))
    kept = (away <= tukey) | (away <= scheffe)
    return tuple(v for v, keep in zip(values, kept, strict=True) if keep)


def recommended(runs: pd.DataFrame, *, loss: str, effort: str, factors: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Values of each factor that give the smallest loss and, among these, the least effort.

    The four steps of Solanas et al. (2006), §IV: analysis of variance of the loss, best values of the significant
    factors, analysis of the effort of the runs with these values, best values of the factors that are significant then.
    A factor that is significant for neither keeps all its values.

    Examples
    --------
    >>> runs = pd.DataFrame({"rate": [0, 0, 0, 1, 1, 1], "sse": [5, 5.1, 4.9, 2, 2.1, 1.9], "epochs": range(6)})
    >>> recommended(runs, loss="sse", effort="epochs", factors=["rate"])
    {'rate': (1.0,)}
    """
    left = {name: tuple(float(v) for v in sorted(runs[name].unique())) for name in factors}
    for response in (loss, effort):
        found = anova(runs, response, factors)
        better = {name: best_values(runs, response, name, found) for name in found.significant()}
        left.update(better)
        for name, values in better.items():
            chosen = runs[runs[name].isin(values)]
            runs = chosen if len(chosen) else runs
    return left

"""Pictures of a masked file: what changed, values before and after, and which intruders find records in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.studies.report.picture_types import Bars, Line, Lines, Matrix, Picture
from sdc_problems.studies.report.small_counts import LEAST
from sdc_problems.studies.report.text import number

LARGEST = 60  # most categories of a matrix that can be drawn
SINGLE = 6  # most columns that get a separate curve
DISTANCES = tuple(float(d) for d in np.arange(0.0, 3.01, 0.25))
DEALT = 200_000  # pairs of records that show how far shuffled values would be apart


def pictures(problem: Any, x: NDArray[Any]) -> list[Picture]:
    """Draw the changed cells, values before and after, and the records found again by each attack."""
    figures = problem.figures(x)
    before, after = problem.original(), problem.protected(x)
    found: list[Picture] = [_changed(problem, x, len(before))]
    if problem.numeric:
        found.append(_moved(problem.attributes, before, after))
        found += _distribution(problem.attributes, before, after)
        found.append(_families(before, after))
        if len(problem.attributes) > 1:
            found.append(_correlations(problem.attributes, before, after))
    else:
        columns = [
            (name, problem.data.attribute(name).labels, before[:, j], after[:, j])
            for j, name in enumerate(problem.attributes)
        ]
        found += [_transitions(*column) for column in columns if len(column[1]) <= LARGEST]
    return [*found, _attacks(problem, figures)]


def _changed(problem: Any, x: NDArray[Any], n: int) -> Bars:
    """Percentage of changed cells per column; columns with one to four are named, not drawn."""
    changed = problem.decode(x).changed
    few = [name for name, count in changed if 0 < count < LEAST]
    drawn = [(name, 100.0 * count / n) for name, count in changed if name not in few]
    caption = "Percent of the records whose value differs from the original."
    if few:
        caption += f" Fewer than {LEAST} values are changed in {', '.join(few)}."
    share = 100.0 * sum(count for _, count in changed if not 0 < count < LEAST) / (n * len(changed))
    return Bars(
        title="Cells changed",
        caption=caption,
        labels=tuple(name for name, _ in drawn),
        values=tuple(float(f"{value:.3g}") for _, value in drawn),
        across="column",
        up="% of the cells",
        summary=f"{number(float(f'{share:.3g}'))} %",
    )


def _attacks(problem: Any, figures: Any) -> Bars:
    """Percentage of records found again by each intruder, including those that no score counts."""
    named = [(name, how) for name, how in problem.attacks.items() if name in figures]
    cells = " Guessing counts cells, not records." if "guess" in figures else ""
    return Bars(
        title="Risk by attack",
        caption="Percent that an intruder gets right by the nearest record, by agreement and so on."
        f"{cells} Scores include only some of these attacks.",
        labels=tuple(how for _, how in named),
        values=tuple(float(f"{figures[name]:.3g}") for name, _ in named),
        across="attack",
        up="% found again",
        summary=f"at most {number(float(f'{max(figures[name] for name, _ in named):.3g}'))} %",
    )


# -- numbers ----------------------------------------------------------------------------------------------------------


def _scale(before: NDArray[np.float64]) -> NDArray[np.float64]:
    scale = before.std(axis=0)
    return np.where(scale > 0, scale, 1.0)


def _within(distances: NDArray[np.float64]) -> tuple[float, ...]:
    """Percentage of values that moved at most so far; small numbers of values are not told apart from none, or all."""
    n = len(distances)
    counts = [int((distances <= d).sum()) for d in DISTANCES]
    return tuple(0.0 if c < LEAST else 100.0 if n - c < LEAST else round(100.0 * c / n, 1) for c in counts)


def _moved(names: Iterable[str], before: NDArray[np.float64], after: NDArray[np.float64]) -> Lines:
    """Distance of values from their record's original ones, beside that of shuffled values."""
    scale = _scale(before)
    apart = np.abs(after - before) / scale
    rng = np.random.default_rng(0)
    pairs = rng.integers(len(before), size=(2, max(1, DEALT // before.shape[1])))
    dealt = np.abs(before[pairs[0]] - before[pairs[1]]) / scale
    named = list(names)
    each = [Line(name, _within(apart[:, j])) for j, name in enumerate(named)] if len(named) <= SINGLE else []
    return Lines(
        title="How far values moved",
        caption="Percent of the values within so many standard deviations of the original value of their record. A file"
        " whose curves follow the last one reveals nothing about single records: it is synthetic.",
        places=DISTANCES,
        lines=(
            *(each or [Line("all columns", _within(apart.ravel()))]),
            Line("assigned at random", _within(dealt.ravel())),
        ),
        across="standard deviations",
        up="% of the values",
    )


def _distribution(names: Iterable[str], before: NDArray[np.float64], after: NDArray[np.float64]) -> list[Lines]:
    """Quantiles before and after of the column whose quantiles changed most, in standard deviations from its mean."""
    percents = [5 * step for step in range(1, 20)] if len(before) >= 20 * LEAST else [10, 25, 50, 75, 90]
    scale, mean = _scale(before), before.mean(axis=0)
    old, new = (np.percentile((table - mean) / scale, percents, axis=0) for table in (before, after))
    j = int(np.abs(new - old).max(axis=0).argmax())
    if np.abs(new - old).max() < 0.005:
        return []
    return [
        Lines(
            title=f"{list(names)[j]}: before and after",
            caption="Quantiles of the column whose distribution changed most, in standard deviations from its mean.",
            places=tuple(float(percent) for percent in percents),
            lines=tuple(
                Line(name, tuple(round(float(value), 2) for value in table[:, j]))
                for name, table in (("original", old), ("protected", new))
            ),
            across="% of the records",
            up="standard deviations",
        )
    ]


def _families(before: NDArray[np.float64], after: NDArray[np.float64]) -> Bars:
    """Probabilistic loss for each family of statistics."""
    from sdc_problems.evaluators import pil_components

    parts = pil_components(before, after)
    named = [(name, value) for name, value in zip(parts._fields, parts, strict=True) if value is not None]
    return Bars(
        title="Statistics lost",
        caption="How improbable the statistics of the file would be for another sample: 0 % is as good as"
        " the original, 100 %"
        " is the worst.",
        labels=tuple(name for name, _ in named),
        values=tuple(float(f"{value:.3g}") for _, value in named),
        across="family",
        up="PIL, %",
        summary=f"PIL {number(float(f'{parts.percent:.3g}'))} %",
    )


def _correlations(names: Iterable[str], before: NDArray[np.float64], after: NDArray[np.float64]) -> Matrix:
    """Change of each correlation."""
    named = tuple(names)
    change = np.zeros((len(named), len(named)))
    vary = (before.std(axis=0) > 0) & (after.std(axis=0) > 0)
    where = np.ix_(vary, vary)
    old, new = (np.atleast_2d(np.corrcoef(table[:, vary], rowvar=False)) for table in (before, after))
    change[where] = np.minimum(np.abs(new - old), 1.0)
    return Matrix(
        title="Correlations: how far they changed",
        caption=f"Distance of the protected file's correlations from the original's: {change.max():.3f} at most.",
        name="correlations",
        row_labels=named,
        column_labels=named,
        shares=tuple(map(tuple, change.tolist())),
        down="column",
        across="column",
        measure="change",
        summary=f"change by {change.max():.3f} at most",
    )


# -- categories -------------------------------------------------------------------------------------------------------


def _guarded(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts, with those of one to four set to zero."""
    return np.where(counts < LEAST, 0, counts)


def _transitions(name: str, labels: tuple[str, ...], before: NDArray[np.int64], after: NDArray[np.int64]) -> Matrix:
    """Matrix of where the records of each category went, in whole percent; fewer than five are not drawn."""
    m = len(labels)
    counts = np.bincount(before * m + after, minlength=m * m).reshape(m, m)
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    kept = 100.0 * float((before == after).mean())
    return Matrix(
        title=f"{name}: where each category went",
        caption="The cells of a row show the share of its records that is released as each other category."
        f" {kept:.0f} % of the"
        f" values are kept. Fewer than {LEAST} records are not drawn.",
        name=name,
        row_labels=tuple(labels),
        column_labels=tuple(labels),
        shares=tuple(map(tuple, np.round(_guarded(counts) / total, 2).tolist())),
        records=tuple(map(tuple, counts.tolist())),
        measure="share",
        summary=f"{kept:.0f} % of the values are kept",
    )

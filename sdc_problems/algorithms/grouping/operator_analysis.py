"""Operators' efficiency as tables (Balasch-Masoliver 2010, chapter 4).

The genealogy of a run becomes one row per child, and these become one row per generation and operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.operators.portfolio import efficiency

if TYPE_CHECKING:
    import pandas as pd

LOG_COLUMNS = (
    "generation", "operator", "created", "evaluated", "survived", "used",
    "improved", "worsened", "clones", "lifetime", "efficiency",
)  # fmt: skip


def children_table(
    genealogy: Mapping[str, NDArray[Any]], operators: Sequence[str], objectives: Sequence[str] = ()
) -> pd.DataFrame:
    """One row per child that an operator made.

    Parameters
    ----------
    genealogy
        Columns of :meth:`sdc_problems.operators.portfolio.Genealogy.table`.
    operators
        Names of the operators, by the numbers that the genealogy uses.
    objectives
        Names of the costs.

    Notes
    -----
    A child has ``improved`` if it is no worse in every cost, and better in one, than its parent (the mean of its
    parents), and ``worsened`` in the opposite case. A clone of a parent has done neither.
    """
    import pandas as pd

    child = np.flatnonzero(genealogy["operator"] >= 0)
    F = genealogy["F"]
    names = list(objectives) or [f"f{j}" for j in range(F.shape[1])]
    parents = genealogy["parents"][child]
    costs = np.where((parents >= 0)[:, :, None], F[parents], np.nan)
    reference = np.nanmean(costs, axis=1) if len(child) else costs[:, 0]
    clone = genealogy["clone"][child]
    better = (F[child] <= reference).all(axis=1) & (F[child] < reference).any(axis=1)
    worse = (F[child] >= reference).all(axis=1) & (F[child] > reference).any(axis=1)
    columns: dict[str, Any] = {
        "number": child,
        "generation": genealogy["generation"][child],
        "operator": np.array(operators, dtype=object)[genealogy["operator"][child]],
        **{f"parent_{j + 1}": parents[:, j] for j in range(parents.shape[1])},
        **{name: F[child, j] for j, name in enumerate(names)},
        "evaluated": genealogy["evaluated"][child],
        "clone": clone,
        "improved": better & ~clone,
        "worsened": worse & ~clone,
        "survived": genealogy["survived"][child],
        "used": genealogy["used"][child],
        "lifetime": genealogy["lifetime"][child],
        "efficiency": efficiency(F[child], costs) if len(child) else np.empty(0),
    }
    return pd.DataFrame(columns)


def summarize(children: pd.DataFrame) -> pd.DataFrame:
    """One row per generation and operator: counts, mean lifetime and mean efficiency (chapter 4 of the paper)."""
    import pandas as pd

    grouped = children.groupby(["generation", "operator"], sort=False)
    log = pd.DataFrame(
        {
            "created": grouped.size(),
            **{name: grouped[name].sum() for name in ("evaluated", "survived", "used", "improved", "worsened")},
            "clones": grouped["clone"].sum(),
            "lifetime": grouped["lifetime"].mean(),
            "efficiency": grouped["efficiency"].mean(),
        }
    )
    return log.reset_index().loc[:, list(LOG_COLUMNS)]


def efficiency_ranges(children: pd.DataFrame) -> pd.DataFrame:
    """One row per generation and operator: best, mean positive, mean negative and worst efficiency (§4.5)."""
    import pandas as pd

    keys = ["generation", "operator"]
    gains = children["efficiency"].where(children["efficiency"] > 0)
    losses = children["efficiency"].where(children["efficiency"] < 0)
    table = children[keys].assign(gain=gains, loss=losses, efficiency=children["efficiency"])
    grouped = table.groupby(keys, sort=False)
    return pd.DataFrame(
        {
            "best": grouped["efficiency"].max().clip(lower=0.0),
            "mean_improvement": grouped["gain"].mean().fillna(0.0),
            "mean_worsening": grouped["loss"].mean().fillna(0.0),
            "worst": grouped["efficiency"].min().clip(upper=0.0),
        }
    ).reset_index()


def unused_share(log: pd.DataFrame) -> pd.Series:
    """Percentage of children that were discarded without ever being a parent (§4.2), row by row of an operator log."""
    return 100.0 * (1.0 - log["used"] / log["created"])

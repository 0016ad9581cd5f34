"""Assessment of records: a table of their indicators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sdc_problems.suite._indicators import Measured, indicators
from sdc_problems.suite._record import Record

if TYPE_CHECKING:
    import pandas as pd


def assess(records: Record | Iterable[Record], instance: Measured, *, at: Sequence[int] | None = None) -> pd.DataFrame:
    """Indicators of runs on an instance, one row for each run (and each number of evaluations).

    Parameters
    ----------
    records
        A record, or several.
    instance
        The instance they ran on.
    at
        Numbers of evaluations; by default each run's budget. The archive after that many evaluations is assessed.

    Returns
    -------
    pandas.DataFrame
        Columns ``gap`` (share of the front's hypervolume that is missing), ``gap_bound`` (the same to the proven
        bound), ``found`` (share of the front's points), ``epsilon``, ``igd_plus``, ``area`` over the anytime curve,
        ``targets`` (of 51), and the record's data on the run.
    """
    import pandas as pd

    chosen = [records] if isinstance(records, Record) else list(records)
    frame = pd.DataFrame([row for record in chosen for row in indicators(record, instance, at)])
    if len(frame):
        measures = ["gap", "gap_bound", "found", "epsilon", "igd_plus", "area"]
        frame[measures] = frame[measures].astype(float)
    return frame

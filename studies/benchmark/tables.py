"""Tables of benchmarks: the records of folders, their indicators, and which differences are more than luck."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError
from sdc_problems.suite import Instance, Record, instance
from sdc_problems.suite._citation import SUITE_VERSION
from sdc_problems.suite._indicators import Curve, anytime, expected_runtimes, found_at, indicators, runtimes
from sdc_problems.suite._statistics import Pair, Samples, pairs_by_instance

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

LEVEL = 0.05
BY_SEED = ("gaps", "shares")
"""Columns of a summary that hold a value for each seed: ``gap`` and ``found``."""
INDICATORS = ("gap", "area", "epsilon", "igd_plus")
"""Indicators that tests compare; of each less is better."""


@dataclass(frozen=True)
class Entry:
    """Run with the name that tables give its algorithm."""

    label: str
    record: Record
    instance: Instance

    @functools.cached_property
    def curve(self) -> Curve:
        """Gap over the run."""
        return anytime(self.record, self.instance)

    @functools.cached_property
    def times(self) -> FloatArray:
        """Evaluations to each target."""
        return runtimes(self.record, self.instance, self.curve, self.when)

    @functools.cached_property
    def when(self) -> FloatArray:
        """Evaluation that found each point of the front."""
        return found_at(self.record, self.instance)


def record_files(folder: Path) -> list[Path]:
    """Records in a folder of a benchmark, in order.

    Parameters
    ----------
    folder
        The folder.
    """
    if not folder.is_dir():
        raise SDCError(f"{str(folder)!r} is not a folder of a benchmark")
    found = sorted(path for path in folder.rglob("*.npz") if path.is_file())
    if not found:
        raise SDCError(f"{str(folder)!r} holds no records: make some by `sdc benchmark run --out`")
    return found


def read_entries(folders: Sequence[Path], names: Iterable[str] = ()) -> list[Entry]:
    """Read the records of folders; where two hold the same algorithm, it is named with its folder.

    Parameters
    ----------
    folders
        The folders.
    names
        Ids of instances; all if none are given.
    """
    wanted = {instance(name).id for name in names}
    by_folder = [[Record.load(path) for path in record_files(folder)] for folder in folders]
    held = Counter(name for records in by_folder for name in {record.algorithm for record in records})
    found: list[Entry] = []
    seen = set()
    for folder, records in zip(folders, by_folder, strict=True):
        for record in records:
            if wanted and record.instance not in wanted:
                continue
            several = held[record.algorithm] > 1
            label = f"{folder.name}/{record.algorithm}" if several else record.algorithm
            key = (label, record.instance, record.seed, record.budget)
            if key in seen:
                raise SDCError(f"{label} has two records of seed {record.seed} on {record.instance}")
            seen.add(key)
            found.append(Entry(label, record, instance(record.instance)))
    if not found:
        raise SDCError(f"there are no records of {', '.join(sorted(wanted))}")
    return found


def looks(entry: Entry, budget: str | int) -> int | None:
    """Evaluations after which a run is looked at; None if it had fewer.

    Parameters
    ----------
    entry
        The run.
    budget
        Name of one of its instance's budgets, or a number.
    """
    evaluations = budget if isinstance(budget, int) else entry.instance.budgets.get(budget)
    return evaluations if evaluations is not None and evaluations <= entry.record.budget else None


def assessed(entries: Sequence[Entry], budget: str | int) -> pd.DataFrame:
    """Indicators of runs after a budget, a row each; runs that had a smaller one are left out.

    Parameters
    ----------
    entries
        The runs.
    budget
        Name of one of the instances' budgets, or a number of evaluations.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for entry in entries:
        evaluations = looks(entry, budget)
        if evaluations is not None:
            found = indicators(entry.record, entry.instance, [evaluations], curve=entry.curve, when=entry.when)
            rows += [{**row, "algorithm": entry.label} for row in found]
    frame = pd.DataFrame(rows)
    if not len(frame):
        raise SDCError(f"no run had the budget {budget!r}: give a smaller one by --budget")
    measures = ["gap", "gap_bound", "found", "epsilon", "igd_plus", "area"]
    frame[measures] = frame[measures].astype(float)
    return frame


def samples(frame: pd.DataFrame, indicator: str = "gap") -> Samples:
    """Values of an indicator by instance and algorithm.

    Parameters
    ----------
    frame
        As from ``assessed``.
    indicator
        Its name.
    """
    if indicator not in INDICATORS:
        raise SDCError(f"indicator must be {', '.join(INDICATORS)}, not {indicator!r}")
    values = frame[indicator].fillna(np.inf)  # nothing was found: worse than all
    found: dict[str, dict[str, list[float]]] = {}
    for name, algorithm, value in zip(frame["instance"], frame["algorithm"], values, strict=True):
        found.setdefault(name, {}).setdefault(algorithm, []).append(float(value))
    return found


def summary(entries: Sequence[Entry], budget: str | int) -> pd.DataFrame:
    """Indicators of each algorithm on each instance: medians and quartiles of its seeds, and expected runtimes.

    Parameters
    ----------
    entries
        The runs.
    budget
        As for ``assessed``.

    Returns
    -------
    pandas.DataFrame
        ``solved`` counts the seeds that reached the last target, the whole front; ``ert_0.1``, ``ert_0.01`` and
        ``ert_front`` are expected runtimes to these gaps and to the whole front.
    """
    import pandas as pd

    frame = assessed(entries, budget)
    ran_on = {entry.record.instance: entry.instance for entry in entries}
    times: dict[tuple[str, str], list[tuple[FloatArray, int]]] = {}
    for entry in entries:
        evaluations = looks(entry, budget)
        if evaluations is not None:
            reached = np.where(entry.times <= evaluations, entry.times, np.inf)
            spent = min(entry.record.evaluations, evaluations)
            times.setdefault((entry.record.instance, entry.label), []).append((reached, spent))
    rows = []
    for (name, algorithm), group in frame.groupby(["instance", "algorithm"], sort=False):
        runs = times[str(name), str(algorithm)]
        table = np.array([reached for reached, _ in runs])
        expected = expected_runtimes(table, [spent for _, spent in runs])
        group = group.sort_values("seed", kind="stable")
        rows.append(
            {
                "instance": name,
                "suite": f"{ran_on[str(name)].suite}@{SUITE_VERSION}",
                "digest": ran_on[str(name)].digest,
                "algorithm": algorithm,
                "budget": int(group["budget"].iloc[0]),
                "seeds": len(group),
                "gap_q1": group["gap"].quantile(0.25),
                "gap": group["gap"].median(),
                "gap_q3": group["gap"].quantile(0.75),
                "gap_bound": group["gap_bound"].median(),
                **{key: group[key].median() for key in ("found", "epsilon", "igd_plus", "area", "targets")},
                "solved": int(np.isfinite(table[:, -1]).sum()),
                "ert_0.1": expected[9],
                "ert_0.01": expected[19],
                "ert_front": expected[-1],
                **{
                    key: pd.to_numeric(group[key]).median()
                    for key in ("different", "seconds_measuring", "seconds_algorithm")
                },
                "gaps": group["gap"].tolist(),
                "shares": group["found"].dropna().tolist(),
            }
        )
    return pd.DataFrame(rows).sort_values(["instance", "budget"], kind="stable", ignore_index=True)


def best_of(values: Samples, pairs: Sequence[Pair] | None = None) -> dict[str, dict[str, str]]:
    """Marks of the algorithms on each instance: ``*`` of the best median, ``~`` where tests do not tell it from that.

    Parameters
    ----------
    values
        As from ``samples``.
    pairs
        Tests, as from ``pairs_by_instance``; made if not given.
    """
    tests = pairs_by_instance(values) if pairs is None else pairs
    alike = {(pair.instance, frozenset((pair.first, pair.second))) for pair in tests if pair.p_holm >= LEVEL}
    found: dict[str, dict[str, str]] = {}
    for name, by_algorithm in values.items():
        medians = {algorithm: float(np.median(sample)) for algorithm, sample in by_algorithm.items()}
        least = min(medians.values())
        best = [algorithm for algorithm in medians if medians[algorithm] == least]
        found[name] = {
            algorithm: "*"
            if algorithm in best
            else "~" * any((name, frozenset((other, algorithm))) in alike for other in best)
            for algorithm in medians
        }
    return found


def every_budget(entries: Sequence[Entry]) -> pd.DataFrame:
    """Summary after each budget that the instances name and some run had.

    Parameters
    ----------
    entries
        The runs.
    """
    import pandas as pd

    names = dict.fromkeys(name for entry in entries for name in entry.instance.budgets)
    had = [name for name in names if any(looks(entry, name) is not None for entry in entries)]
    if not had:
        raise SDCError("no run had one of its instance's budgets: give another one by --budget")
    frame = pd.concat([summary(entries, name) for name in had])
    return frame.sort_values(["instance", "budget"], kind="stable", ignore_index=True)


def written(frame: pd.DataFrame) -> str:
    """Table as CSV text, with numbers that are the same on every machine: six significant digits.

    Parameters
    ----------
    frame
        As from ``summary``.
    """
    said = frame.assign(**{key: [" ".join(f"{v:.6g}" for v in row) for row in frame[key]] for key in BY_SEED})
    return said.to_csv(index=False, float_format="%.6g", lineterminator="\n")

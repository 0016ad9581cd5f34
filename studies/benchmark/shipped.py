"""Results that come with the suite: their table, and the plan of the runs behind it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sdc_problems import suite
from sdc_problems._files import input_file
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.studies.benchmark.runs import Job, jobs
from sdc_problems.studies.benchmark.tables import BY_SEED
from sdc_problems.suite import Instance, instance
from sdc_problems.suite._citation import SUITE_VERSION
from sdc_problems.suite._statistics import Samples

if TYPE_CHECKING:
    import pandas as pd

RESULTS = Path(str(suite.__file__)).parent / "results" / str(SUITE_VERSION)
PLAN = RESULTS / "plan.toml"
TABLE = RESULTS / "table.csv"
LARGEST = 10_000_000
"""Bytes that a table may have."""


def planned(
    chosen: Sequence[Instance],
    algorithms: Collection[str] = (),
    *,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Job]:
    """List the runs behind the results that come with the suite, the most telling first, seed by seed.

    Parameters
    ----------
    chosen
        Instances to run on.
    algorithms
        Algorithms of the plan; all if none are given.
    tell
        Takes a line about what is left out.
    """
    groups = tomllib.loads(PLAN.read_text(encoding="utf-8"))["runs"]
    known = [name for group in groups for name in group["algorithms"]]
    for name in algorithms:
        if name not in known:
            raise SDCError(f"no results of {name!r} come with the suite{did_you_mean(name, known)}")
    made: list[Job] = []
    for group in groups:
        wanted = [name for name in group["algorithms"] if not algorithms or name in algorithms]
        without, only = group.get("without", ()), group.get("only")
        on = [one for one in chosen if one.id not in without and (only is None or one.id in only)]
        found = jobs(on, wanted, seeds=group["seeds"], tell=tell, some=True)
        made += sorted(found, key=lambda job: job.seed)  # what is interrupted has as many seeds of each
    return made


def shipped(names: Iterable[str] = (), budget: str | int | None = None) -> pd.DataFrame:
    """Results that come with this version of the suite, as ``every_budget`` gives them.

    Parameters
    ----------
    names
        Ids of instances; all if none are given.
    budget
        Name of one of the instances' budgets, or a number of evaluations; every one if not given.
    """
    frame = read_table(TABLE)
    wanted = {instance(name).id for name in names} or set(frame["instance"])
    kept = frame["instance"].isin(wanted)
    if budget is not None:
        after = {name: budget if isinstance(budget, int) else instance(name).budgets.get(budget) for name in wanted}
        kept &= frame["budget"] == frame["instance"].map(after)
    if not kept.any():
        raise SDCError(f"no results of {', '.join(sorted(wanted)[:5])} come with the suite for that budget")
    return frame[kept].reset_index(drop=True)


def with_shipped(frame: pd.DataFrame) -> pd.DataFrame:
    """Put the results that come with the suite beside others, of the same instances after as many evaluations.

    Parameters
    ----------
    frame
        As from ``summary``.
    """
    import pandas as pd

    table = read_table(TABLE)
    after = set(zip(frame["instance"], frame["budget"], strict=True))
    table = table[[key in after for key in zip(table["instance"], table["budget"], strict=True)]]
    if not len(table):
        raise SDCError("no results of these instances, after as many evaluations, come with the suite")
    table = table.assign(algorithm="shipped/" + table["algorithm"])
    both = pd.concat([frame, table], ignore_index=True)
    return both.sort_values(["instance", "budget"], kind="stable", ignore_index=True)


def read_table(path: Path) -> pd.DataFrame:
    """Read a table that ``written`` made, of the instances as they are here.

    Parameters
    ----------
    path
        The file.
    """
    import pandas as pd

    try:
        frame = pd.read_csv(
            input_file(path, largest=LARGEST),
            converters={key: lambda text: [float(v) for v in text.split()] for key in BY_SEED},
        )
        ran_on = dict(zip(frame["instance"], zip(frame["suite"], frame["digest"], strict=True), strict=True))
        frame[["algorithm", "budget", "seeds", *BY_SEED]]
    except (OSError, ValueError, KeyError) as error:
        raise SDCError(f"{path.name} is not a table of `sdc benchmark table --csv`: {str(error)[:200]}") from None
    for name, (version, digest) in ran_on.items():
        found = instance(str(name))
        if digest != found.digest:
            raise SDCError(f"{path.name} has results of another {name}: the digest differs")
        if version != f"{found.suite}@{SUITE_VERSION}":
            raise SDCError(f"{path.name} has results of {name} in {version}, not in {found.suite}@{SUITE_VERSION}")
    return frame


def differences(table: pd.DataFrame, records: pd.DataFrame) -> Iterator[str]:
    """Sentences on where a table is not what the records behind it say; seconds may differ.

    Parameters
    ----------
    table
        As from ``read_table``.
    records
        As from ``every_budget``.
    """
    keys = ["instance", "algorithm", "budget"]
    theirs, ours = table.set_index(keys), records.set_index(keys)
    for kind, rows in (("are no records of", theirs.index.difference(ours.index)),
                       ("is no row of", ours.index.difference(theirs.index))):  # fmt: skip
        if len(rows):
            name, algorithm, budget = rows[0]
            yield f"there {kind} {algorithm} on {name} after {budget} (the first of {len(rows)})"
    if theirs.index.has_duplicates:
        yield "it has a row twice"
        return
    for column in ours.columns:
        if column not in theirs.columns:
            yield f"it has no column {column}"
        elif not column.startswith("seconds"):
            for key in theirs.index.intersection(ours.index):
                if not _same(theirs.loc[key, column], ours.loc[key, column]):
                    yield f"{column} of {key[1]} on {key[0]} after {key[2]} is not what the records say"
                    break


def _same(one: Any, other: Any) -> bool:
    if isinstance(other, str):
        return bool(one == other)
    a, b = (np.atleast_1d(np.asarray(value, dtype=float)) for value in (one, other))
    return a.shape == b.shape and bool(np.isclose(a, b, rtol=1e-5, atol=1e-12, equal_nan=True).all())


def samples_of(frame: pd.DataFrame, indicator: str = "gap") -> Samples:
    """Values of the seeds by instance and algorithm, of which less is better, for tests.

    Parameters
    ----------
    frame
        As from ``shipped``, for one budget.
    indicator
        ``gap``, or ``missing``: the share of the front's points that was not found (proven fronts only).
    """
    if indicator not in ("gap", "missing"):
        raise SDCError(f"indicator must be gap or missing: a table has no other of each seed, not {indicator!r}")
    found: dict[str, dict[str, list[float]]] = {}
    for row in frame.to_dict("records"):
        values = row["gaps"] if indicator == "gap" else [1.0 - share for share in row["shares"]]
        if values:
            found.setdefault(row["instance"], {})[row["algorithm"]] = values
    return found

"""Submissions: the description of a folder of records, and the check of its values against its solutions.

Nothing in a submission is executed or unpickled, and no link in it is followed.
"""

from __future__ import annotations

import functools
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from sdc_problems._files import input_file
from sdc_problems.errors import SDCError
from sdc_problems.studies.benchmark.shipped import differences, planned, read_table, shipped
from sdc_problems.studies.benchmark.tables import every_budget, read_entries, record_files
from sdc_problems.studies.study.validation import Section, validated
from sdc_problems.suite import Record, instance, instances

SUBMISSION = "submission.toml"
TABLE = "table.csv"
"""Table of a submission, which it may leave out."""
LARGEST = 100_000
"""Bytes that a submission's text may have."""
TOLERANCE = 1e-9
"""Relative difference of objective values that machines may make."""
AT_ONCE = 500

_Line = Annotated[str, Field(min_length=1, max_length=500)]


class Submission(Section):
    """Description of a submission."""

    algorithm: _Line = Field(description="Name of the algorithm.")
    version: _Line = Field(description="Its version.")
    source: _Line = Field(description="Address of its source, or where it is published.")
    license: _Line = Field(description="License of its source.")
    authors: list[_Line] = Field(min_length=1, max_length=50, description="Who made it.")
    machine: _Line = Field(description="What the runs were made on.")
    tuned: _Line = Field(description="What was tuned, and on what; nothing, if nothing was.")
    tuned_on_suite: bool = Field(description="Whether anything was tuned on instances of the suite.")


@dataclass(frozen=True)
class Report:
    """Report on a submission.

    Attributes
    ----------
    submission
        What it says of itself; None if that cannot be read.
    records, solutions
        How many were checked.
    problems
        Sentences on what is wrong; none if all is as it should be.
    notes
        Sentences on what a reader may want to know.
    """

    submission: Submission | None
    records: int
    solutions: int
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_submission(folder: Path) -> Submission:
    """Read the description of a submission.

    Parameters
    ----------
    folder
        The folder with ``submission.toml``.
    """
    path = folder / SUBMISSION
    try:
        values = tomllib.loads(input_file(path, largest=LARGEST).read_text(encoding="utf-8"))
    except SDCError:
        raise
    except OSError as error:
        raise SDCError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise SDCError(f"{str(path)!r} is not TOML: {error}") from None
    return validated(Submission, values, SUBMISSION)


def check(folder: Path, *, tell: Callable[[str], None] = lambda line: None) -> Report:
    """Check a submission: digests, budgets, and every archived F against its X, measured again.

    Parameters
    ----------
    folder
        The folder.
    tell
        Takes a line about each record.
    """
    problems: list[str] = []
    notes: list[str] = []
    said = None
    try:
        said = read_submission(folder)
    except SDCError as error:
        problems.append(str(error))
    seen: Counter[tuple[Any, ...]] = Counter()
    solutions = 0
    paths = record_files(folder)
    for path in paths:
        name = str(path.relative_to(folder))
        if any(part.is_symlink() for part in (path, *path.parents) if part.is_relative_to(folder) and part != folder):
            problems.append(f"{name} is a link, or lies behind one")
            continue
        try:
            record = Record.load(path)
            found = list(_problems(record))
        except SDCError as error:
            problems.append(f"{name}: {str(error).removeprefix(f'{path} ')}")
            continue
        problems += [f"{name}: {sentence}" for sentence in found]
        solutions += len(record)
        seen[record.algorithm, record.instance, record.seed, record.budget] += 1
        tell(f"{name}: {len(record)} solutions, {'measured with the same values' if not found else found[0]}")
    problems += [f"{key[1]}: seed {key[2]} of {key[0]} is there {n} times" for key, n in seen.items() if n > 1]
    if paths and (folder / TABLE).exists():
        problems += [f"{TABLE}: {sentence}" for sentence in _table_problems(folder)]
    seeds = Counter((key[0], key[1], key[3]) for key in seen)
    if seeds and min(seeds.values()) < 3:
        notes.append("fewer than three seeds of some: no test will compare them")
    notes.append("that the evaluations are counted truly cannot be seen from records: only the author can vouch for it")
    return Report(said, len(paths), solutions, problems, notes)


def check_shipped() -> Report:
    """Check the results that come with the suite: they are of the instances, budgets and plan that are here."""
    try:
        table = shipped()
    except SDCError as error:
        return Report(None, 0, 0, [str(error)])
    problems = []
    planned_seeds = Counter((job.algorithm, job.instance) for job in planned(instances("core")))
    for row in table.to_dict("records"):
        what = f"{row['algorithm']} on {row['instance']} after {row['budget']}"
        if row["budget"] not in instance(row["instance"]).budgets.values():
            problems.append(f"{what}: no budget of the instance")
        if not row["seeds"] == len(row["gaps"]) <= planned_seeds[row["algorithm"], row["instance"]]:
            problems.append(f"{what}: {row['seeds']} seeds are not as planned")
    return Report(None, int(table.groupby(["instance", "algorithm"])["seeds"].max().sum()), 0, problems)


def _table_problems(folder: Path) -> Iterator[str]:
    """Sentences on a submission's own table."""
    if (folder / TABLE).is_symlink():
        yield "is a link"
        return
    try:
        yield from differences(read_table(folder / TABLE), every_budget(read_entries([folder])))
    except SDCError as error:
        yield str(error).removeprefix(f"{TABLE} ")


@functools.cache
def _problem(name: str) -> Any:
    return instance(name).problem()


def _problems(record: Record) -> Iterator[str]:
    """Sentences on what is wrong with a record."""
    found = instance(record.instance)  # an unknown one is an error
    if record.digest != found.digest:
        yield f"it is of another {found.id}: the digest differs"
        return
    if not found.available:
        yield f"the table of {found.id} is not on this machine, so nothing can be measured"
        return
    if record.objectives != found.objectives:
        yield f"its objectives are {', '.join(record.objectives)}, not {', '.join(found.objectives)}"
        return
    if record.budget not in found.budgets.values():
        yield f"its budget of {record.budget:,} is none of {found.id} ({', '.join(map(str, found.budgets.values()))})"
    if record.seed is None:
        yield "it names no seed"
    problem = _problem(found.id)
    if len(record) == 0:
        return
    X = problem.genomes(record.X)  # whole numbers within bounds, or an error says where
    measured = np.vstack(
        [problem.evaluate(X[i : i + AT_ONCE], return_values_of=["F"]) for i in range(0, len(X), AT_ONCE)]
    )
    wrong = np.abs(measured - record.F) > TOLERANCE * np.maximum(np.abs(measured), 1.0)
    if wrong.any():
        row = int(np.flatnonzero(wrong.any(axis=1))[0])
        yield f"{int(wrong.any(axis=1).sum())} solutions measure otherwise, the first at evaluation {record.at[row]}"
    F = record.F
    for i in range(1, len(F)):
        if (F[:i] <= F[i]).all(axis=1).any():
            yield f"the solution of evaluation {record.at[i]} is not better in anything than an earlier one"
            return

"""Adapter to other languages: a candidate on each line of stdin, its objectives on a line of stdout.

The protocol is that of external problems of the MOEA Framework: numbers separated by white space. The answer has the
objectives, all minimized, then one number for each requirement, 0 if it is met. An empty line or the end of the file
ends it. Lines that begin with a word are an extension: ``names``, ``objectives``, ``lower``, ``upper``, ``sample 100``,
``canonical x…``, ``mutate x…`` and ``cross x… y…``. The answer has one line for each row, two for ``cross``, with tabs
between numbers.
"""

import sys
from typing import Any, TextIO

import numpy as np

from sdc_problems.errors import SDCError
from sdc_problems.suite._recorder import BudgetSpent
from sdc_problems.suite.adapters._base import Adapted, Source


def answer(task: Adapted, line: str) -> Any:
    """Rows for the answer to a line.

    Parameters
    ----------
    task, line
        The task, and the line.
    """
    word, *rest = line.split()
    told = {"names": task.names, "objectives": task.labels, "lower": task.low, "upper": task.high}
    made: dict[str, Any] = {
        "mutate": task.vary.mutate,
        "canonical": task.vary.canonical,
        "sample": lambda n: task.vary.sample(int(n[0])),
    }
    if word in told and not rest:
        return [told[word]]
    try:
        given = np.array(rest if word in {*made, "cross"} else line.split(), dtype=float)
        A, *B = np.split(given, 2) if word == "cross" else [given]
        found = np.concatenate(task.vary.cross(A, *B)) if B else made[word](A) if word in made else None
    except SDCError:
        raise
    except (ValueError, IndexError):
        known = ", ".join([*told, *made, "cross"])
        raise SDCError(f"a line is {task.n_var} numbers, or begins with one of {known}: {line[:60]!r}") from None
    return (np.hstack(task.measure(A)[1:]) if found is None else found).tolist()


def serve(
    source: Source, rng: np.random.Generator, *, stdin: TextIO | None = None, stdout: TextIO | None = None
) -> None:
    """Answer lines until there are no more, or the budget is used up.

    Parameters
    ----------
    source, rng
        A problem or a recorder of one, and the source of the operators' random numbers.
    stdin, stdout
        Source and destination of the lines; by default those of the process.
    """
    task, asked, told = Adapted(source, rng), stdin or sys.stdin, stdout or sys.stdout
    for line in iter(lambda: asked.readline().strip(), ""):
        try:
            told.writelines("\t".join(map(str, row)) + "\n" for row in answer(task, line))
        except BudgetSpent:
            return
        told.flush()

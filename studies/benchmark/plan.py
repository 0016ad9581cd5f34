"""Plan of the results that come with the suite: which algorithms, with how many seeds, on what."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Sequence

from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.studies.benchmark.runs import Job, jobs
from sdc_problems.studies.benchmark.tables import RESULTS
from sdc_problems.suite import Instance

PLAN = RESULTS / "plan.toml"


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

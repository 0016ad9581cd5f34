"""Runs side by side: what each found, measured with one box, and whether the difference is more than luck."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sdc_problems.errors import SDCError
from sdc_problems.studies.store.hypervolume import Box, nondominated

if TYPE_CHECKING:
    from sdc_problems.studies.store.reader import Run

COMPARE_SCHEMA = "sdc.compare/1"


def common_box(runs: Sequence[Run]) -> Box | None:
    """Box around what any of the runs started from and found."""
    boxes = [box for run in runs if (box := run.box()) is not None]
    if not boxes:
        return None
    return Box(np.min([b.ideal for b in boxes], axis=0), np.max([b.reference for b in boxes], axis=0))


def compare(runs: Sequence[Run]) -> dict[str, Any]:
    """Compare runs of the same problem on the same data.

    Returns
    -------
    dict
        Per run and seed: hypervolume (share of the common box), size of the front, additive epsilon and IGD+ to the
        common front, and the share of the common front that the run found; for two or more runs with several seeds,
        the two-sided Mann-Whitney test of each pair's hypervolumes, and their effect size (the probability that a seed
        of the first is better than one of the second).
    """
    import moocore

    from sdc_problems.studies.report.plots import same_axes

    if len(runs) < 2:
        raise SDCError("name at least two run folders to compare")
    same_axes(runs)
    for run in runs[1:]:
        if run.meta["data"]["digest"] != runs[0].meta["data"]["digest"]:
            raise SDCError(f"{run.name!r} and {runs[0].name!r} are on different data: their numbers cannot be compared")
    box = common_box(runs)
    if box is None:
        raise SDCError("none of these runs has measured anything yet")
    F = np.vstack([run.front().F for run in runs])
    best = F[nondominated(F)]
    width = np.where(box.reference > box.ideal, box.reference - box.ideal, 1.0)
    scaled = (best - box.ideal) / width
    rows: list[dict[str, Any]] = []
    shares: list[list[float]] = []
    for run in runs:
        per_seed = [run.front(seed) for seed in run.seeds]
        per_seed = [front for front in per_seed if len(front)]
        values = [box.share(front.F) for front in per_seed]
        shares.append(values)
        together = run.front()
        own = (together.F - box.ideal) / width
        found = {f.tobytes() for f in together.F}
        rows.append(
            {
                "run": run.name,
                "folder": str(run.path),
                "title": run.label,
                "task": run.study["problem"]["task"],
                "algorithm": run.study["algorithm"]["name"],
                "finished": run.finished,
                "seeds": len(per_seed),
                "evaluated": sum(s.evaluated for s in run.progress()),
                "seconds": round(sum(s.seconds for s in run.progress()), 3),
                "front": len(together),
                "hypervolume": _spread(values),
                "hypervolume_together": box.share(together.F),
                "epsilon_additive": float(moocore.epsilon_additive(own, ref=scaled)) if len(own) else None,
                "igd_plus": float(moocore.igd_plus(own, ref=scaled)) if len(own) else None,
                "share_of_common_front": float(np.mean([f.tobytes() in found for f in best])),
            }
        )
    return {
        "schema": COMPARE_SCHEMA,
        "objectives": [axis.name for axis in runs[0].axes],
        "box": {"ideal": box.ideal.tolist(), "reference": box.reference.tolist()},
        "common_front": len(best),
        "runs": rows,
        "tests": _tests(runs, shares),
    }


def _spread(values: Sequence[float]) -> dict[str, float | None]:
    if not values:
        return {"mean": None, "sd": None, "min": None, "median": None, "max": None}
    return {
        "mean": float(np.mean(values)),
        "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        "min": float(np.min(values)),
        "median": float(np.median(values)),
        "max": float(np.max(values)),
    }


def _tests(runs: Sequence[Run], shares: Sequence[Sequence[float]]) -> list[dict[str, Any]]:
    from scipy.stats import mannwhitneyu

    found = []
    for i in range(len(runs)):
        for j in range(i + 1, len(runs)):
            if min(len(shares[i]), len(shares[j])) < 3:  # no p-value of so few would mean anything
                continue
            test = mannwhitneyu(shares[i], shares[j], alternative="two-sided")
            found.append(
                {
                    "first": runs[i].name,
                    "second": runs[j].name,
                    "p": float(test.pvalue),
                    "first_better": float(test.statistic) / (len(shares[i]) * len(shares[j])),
                }
            )
    return found

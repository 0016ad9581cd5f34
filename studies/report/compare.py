"""Comparison of runs: indicators within a common box, and tests of the differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError
from sdc_problems.studies.store.hypervolume import Box, nondominated

if TYPE_CHECKING:
    from sdc_problems.studies.store.reader import Run
    from sdc_problems.suite import Instance

COMPARE_SCHEMA = "sdc.compare/1"


def common_box(runs: Sequence[Run]) -> Box | None:
    """Box around everything that the runs started from and found."""
    boxes = [box for run in runs if (box := run.box()) is not None]
    if not boxes:
        return None
    return Box(np.min([b.ideal for b in boxes], axis=0), np.max([b.reference for b in boxes], axis=0))


def check_instance(runs: Sequence[Run], instance: Instance) -> None:
    """Refuse runs of another problem: their solutions must have the same measures on the instance.

    Parameters
    ----------
    runs
        Runs with the same objectives.
    instance
        The instance.
    """
    axes = [(axis.name, axis.sense) for axis in runs[0].axes]
    if axes != list(zip(instance.objectives, instance.senses, strict=True)):
        names = ", ".join(name for name, _ in axes)
        raise SDCError(f"{instance.id} has the objectives {', '.join(instance.objectives)}, the runs {names}")
    problem = instance.problem()
    for run in runs:
        found = run.front(genomes=True)
        if not len(found):
            continue
        chosen = np.unique(np.linspace(0, len(found) - 1, 200).astype(int))
        try:
            assert found.X is not None
            F = problem.evaluate(problem.genomes(found.X[chosen]), return_values_of=["F"])
        except SDCError as error:
            raise SDCError(f"{run.name!r} is not a run on {instance.id}: {error}") from None
        if not np.allclose(F, found.F[chosen], rtol=1e-9, atol=1e-9):
            raise SDCError(f"{run.name!r} is not a run on {instance.id}: its solutions have other values there")


def compare(runs: Sequence[Run], instance: Instance | None = None) -> dict[str, Any]:
    """Compare runs of the same problem on the same data.

    Parameters
    ----------
    runs
        The runs.
    instance
        Instance of the suite that they all ran on: its box and its front are then used for the indicators.

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
            raise SDCError(f"{run.name!r} and {runs[0].name!r} have different data, so they cannot be compared")
    box = common_box(runs)
    if box is None:
        raise SDCError("none of these runs has a measured solution yet")
    F = np.vstack([run.front().F for run in runs])
    best = F[nondominated(F)]
    if instance is not None:
        check_instance(runs, instance)
        box, best = Box(instance.ideal, instance.reference), instance.front
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
                "share_of_common_front": float(np.mean([_holds(together.F, f, width) for f in best])),
            }
        )
    return {
        "schema": COMPARE_SCHEMA,
        "objectives": [axis.name for axis in runs[0].axes],
        "box": {"ideal": box.ideal.tolist(), "reference": box.reference.tolist()},
        "common_front": len(best),
        "instance": None
        if instance is None
        else {"id": instance.id, "digest": instance.digest, "known": instance.known},
        "runs": rows,
        "tests": _tests(runs, shares),
    }


def _holds(F: NDArray[np.float64], point: NDArray[np.float64], width: NDArray[np.float64]) -> bool:
    """Whether a point is among others, up to rounding differences between machines."""
    return bool((np.abs(F - point) <= 1e-9 * width).all(axis=1).any())


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
            if min(len(shares[i]), len(shares[j])) < 3:  # with so few, a p-value means nothing
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

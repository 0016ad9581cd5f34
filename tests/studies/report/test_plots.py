"""Pictures: of every run and of every task's solutions, the same bytes each time, with whatever text they are given."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PathCollection

from sdc_problems import SDCError
from sdc_problems.studies.report.compare import compare
from sdc_problems.studies.report.pictures import picture
from sdc_problems.studies.report.plots import convergence, draw_run, rendered, ru_map
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.study.schema import Study
from sdc_problems.studies.tasks import available_tasks

Sdc = Callable[..., Any]
Opened = Callable[[Path], Run]

EXAMPLES = [task.example for task in available_tasks().values()]
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def runs(workshop: Any, opened: Opened) -> list[Run]:
    """Two runs of two seeds."""
    found = []
    for name, seeds in (("first", (1, 2)), ("second", (3, 4))):
        folder = workshop.create(name, seeds=seeds)
        for seed in seeds:
            workshop.work(folder, seed=seed)
        found.append(opened(folder))
    return found


def drawn(panel: Any, label: str) -> np.ndarray[Any, Any]:
    for collection in panel.collections:
        if isinstance(collection, PathCollection) and str(collection.get_label()).startswith(label):
            return np.asarray(collection.get_offsets())
    raise AssertionError(f"nothing labeled {label!r}")


def test_the_map_shows_the_front_and_what_it_dominates(runs: list[Run]) -> None:
    run = runs[0]
    panel = ru_map([run]).axes[0]
    front = run.front()
    np.testing.assert_array_equal(drawn(panel, f"front ({len(front)}"), front.values)
    others = np.unique(run.solutions().values, axis=0)
    np.testing.assert_array_equal(drawn(panel, "dominated"), others)
    assert "value of the items" in panel.get_xlabel()
    assert "more is better" in panel.get_xlabel()
    assert "less is better" in panel.get_ylabel()


def test_the_steps_run_through_the_front_and_never_inside_it(runs: list[Run]) -> None:
    run = runs[0]
    line = ru_map([run]).axes[0].lines[0]
    F = np.column_stack([-np.asarray(line.get_xdata()), np.asarray(line.get_ydata())])
    front = run.front().F
    for corner in F:  # minimized: on the border of what is dominated
        assert (front <= corner + 1e-12).all(axis=1).any()
        assert not (front < corner - 1e-12).all(axis=1).any()
    assert {tuple(f) for f in front} <= {tuple(f) for f in F}


def test_convergence_has_a_line_per_seed_and_a_band_per_run(runs: list[Run]) -> None:
    panel = convergence(runs).axes[0]
    assert len(panel.lines) == 2 * (2 + 1)
    assert len(panel.collections) == 2 * 2
    for line in panel.lines:
        assert (np.diff(np.asarray(line.get_ydata())) >= -1e-12).all()


def test_with_one_objective_its_best_value_is_drawn(sdc: Sdc, tmp_path: Path, opened: Opened) -> None:
    (tmp_path / "study.toml").write_text(
        '[data]\nname = "people"\nrecords = 100\nquasi_identifiers = ["age", "wage"]\n[problem]\n'
        'task = "microaggregation"\nk = 3\n[algorithm]\nname = "GA"\npop_size = 10\nstart = "baselines"\n'
        "[termination]\ngenerations = 6\n[run]\nseeds = 2\n"
    )
    sdc("run", tmp_path / "study.toml", "--out", tmp_path / "run")
    run = opened(tmp_path / "run")
    panel = convergence([run]).axes[0]
    for seed, line in zip(run.seeds, panel.lines, strict=False):
        found = run.solutions([seed])
        best = [found.values[found.generations <= g].min() for g in range(1, 7)]
        np.testing.assert_allclose(np.asarray(line.get_ydata()), best)
    assert panel.get_ylabel() == "best within-group sum of squares"
    assert not (tmp_path / "run" / "pictures" / "ru-map.png").exists()
    with pytest.raises(SDCError, match="two objectives"):
        ru_map([run])


def test_a_run_draws_the_same_bytes_each_time(runs: list[Run]) -> None:
    for figure in (ru_map, convergence):
        for kind in ("png", "svg"):
            first, second = rendered(figure(runs), kind), rendered(figure(runs), kind)  # type: ignore[arg-type]
            assert first == second
            assert first.startswith(PNG if kind == "png" else b"<?xml")
    for path in draw_run(runs[0], ("png", "svg")):
        assert path.parent == runs[0].path / "pictures"
        assert path.stat().st_size > 1000


def test_the_command_says_where_they_are(runs: list[Run], sdc: Sdc) -> None:
    folder = runs[0].path
    lines = sdc("plot", folder, "--format", "png").out.splitlines()
    assert [Path(line).name for line in lines] == ["convergence.png", "ru-map.png"]
    payload = json.loads(sdc("plot", folder, "--format", "png", "--json").out)
    assert payload == {"schema": "sdc.pictures/1", "pictures": lines}


def test_a_run_without_anything_yet(workshop: Any, opened: Opened) -> None:
    run = opened(workshop.create("empty"))
    for path in draw_run(run):
        assert path.read_bytes().startswith(PNG)


def test_text_is_never_taken_for_a_formula(workshop: Any, opened: Opened) -> None:
    hostile = "$\\frac{1}{$ \u202e" + "x" * 5000
    problem = {
        "n_var": 12,
        "dtype": "int16",
        "objectives": [
            {"name": hostile, "label": hostile, "sense": "max", "bounds": [0, None], "unit": hostile},
            {"name": "weight", "label": "<b>&", "sense": "min", "bounds": [0, None], "unit": ""},
        ],
    }
    folder = workshop.create("run", problem=problem, study={"title": hostile, "algorithm": {"name": hostile}})
    workshop.work(folder)
    for path in draw_run(opened(folder), ("png", "svg")):
        text = path.read_bytes()
        assert b"<b>" not in text
        assert b"xxxxxxxxxx" * 12 not in text


def test_runs_are_compared_with_one_box(runs: list[Run], sdc: Sdc, tmp_path: Path) -> None:
    payload = compare(runs)
    json.dumps(payload, allow_nan=False)
    assert payload["schema"] == "sdc.compare/1"
    alone = compare([runs[0], runs[0]])
    assert alone["runs"][0]["hypervolume"] == alone["runs"][1]["hypervolume"]
    assert alone["runs"][0]["share_of_common_front"] == 1
    assert alone["runs"][0]["epsilon_additive"] == 0
    assert sum(row["share_of_common_front"] for row in payload["runs"]) >= 1
    assert payload["tests"] == [], "two seeds are too few for a test"
    said = sdc("compare", runs[0].path, runs[1].path, "--out", tmp_path / "pictures")
    assert "fewer than three seeds" in said.out
    assert sorted(p.name for p in (tmp_path / "pictures").iterdir()) == ["convergence.png", "ru-map.png"]
    with pytest.raises(SDCError, match="at least two"):
        compare(runs[:1])


def test_enough_seeds_are_tested(workshop: Any, opened: Opened) -> None:
    folders = [workshop.create(name, seeds=(1, 2, 3, 4)) for name in ("short", "long")]
    from sdc_problems.studies.run.limits import Limits

    for folder, generations in zip(folders, (1, 12), strict=True):
        for seed in (1, 2, 3, 4):
            workshop.work(folder, seed=seed, limits=Limits(generations=generations))
    (test,) = compare([opened(f) for f in folders])["tests"]
    assert test["first_better"] == 0
    assert test["p"] < 0.05


def test_runs_of_other_problems_are_not_compared(workshop: Any, opened: Opened) -> None:
    first = workshop.create("first", data={"digest": "a"})
    second = workshop.create("second", data={"digest": "b"})
    with pytest.raises(SDCError, match="different data"):
        compare([opened(first), opened(second)])
    other = {"name": "cost", "label": "cost of the items", "sense": "min", "bounds": [0, None], "unit": ""}
    third = workshop.create("third", problem={"objectives": [other]})
    with pytest.raises(SDCError, match="different objectives"):
        compare([opened(first), opened(third)])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_every_task_has_a_picture_of_its_solutions(path: Path) -> None:
    study, _ = Study.from_file(path)
    built = study.build()
    for name, x in list(built.problem.baselines().items())[:3]:
        figure = picture(study.task, built.problem, x, title=name)
        assert rendered(figure, "png").startswith(PNG)
        assert rendered(figure, "svg") == rendered(picture(study.task, built.problem, x, title=name), "svg")

"""Promises of every task: its example, its options, the original's values, the guarantees of a released file."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from sdc_problems import SDCError
from sdc_problems.studies.cli import cli
from sdc_problems.studies.release.csv_text import as_written
from sdc_problems.studies.study.schema import Study
from sdc_problems.studies.tasks import Task, available_tasks, find_task
from sdc_problems.studies.tasks._registry import BUILT_IN
from sdc_problems.studies.tasks._task import GIVEN

NAMES = list(available_tasks())


@pytest.fixture(scope="module", params=NAMES)
def task(request: pytest.FixtureRequest) -> Task:
    return find_task(request.param)


@pytest.fixture(scope="module")
def problem(task: Task) -> Any:
    study, _ = Study.from_file(task.example)
    assert study.task == task.name
    return study.build().problem


def solutions(problem: Any) -> list[Any]:
    return list(problem.baselines().values())


def test_a_task_is_registered_under_its_name(task: Task) -> None:
    assert available_tasks()[task.name] is task
    assert BUILT_IN[task.name].partition(":")[0] == f"sdc_problems.studies.tasks.{task.example.parent.name}"


def test_options_are_the_constructors(task: Task) -> None:
    """Every option is an argument of the problem's own constructor, with the same default and a description."""
    parameters = inspect.signature(task.problem_class).parameters
    assert set(task.options.model_fields) == set(parameters) - {*GIVEN, "threads", "memory", "require"}
    for name, field in task.options.model_fields.items():
        default = parameters[name].default
        assert field.description, name
        if field.is_required():
            assert default is inspect.Parameter.empty
        else:
            given = tuple(field.default) if isinstance(field.default, list) else field.default
            assert given == default, name


def test_operators_fit_the_encoding(task: Task, problem: Any) -> None:
    modules = {value.__module__ for value in task.operator_classes.values()}
    assert modules >= set(task.operators)
    assert type(problem.operators()["sampling"]).__name__ in task.operator_classes


def test_the_original_is_measured_in_the_problems_objectives(task: Task, problem: Any) -> None:
    values = task.unprotected(problem)
    assert len(values) == problem.n_obj
    assert any(value is not None for value in values)


def test_guarantees_are_counted_in_the_released_file(task: Task, problem: Any) -> None:
    for x in solutions(problem):
        frame = as_written(task.release(problem, x, seed=1))
        found = task.guarantees(problem, x, frame)
        assert found
        assert [g.name for g in found if not g.holds] == []
        assert all(g.sentence and set(g.columns) <= set(frame.columns) for g in found)
    torn = as_written(task.release(problem, x, seed=1)).iloc[1:]
    assert any(not g.holds for g in task.guarantees(problem, x, torn)), "a record less is not found out"


def test_suppressed_records_are_those_that_are_starred(task: Task, problem: Any) -> None:
    lost = 0
    for x in solutions(problem):
        dropped = task.release(problem, x, seed=1, suppressed="drop")
        if task.suppressed_rows is None:
            assert len(dropped) == len(problem.data)
            continue
        starred = as_written(task.release(problem, x, seed=1, suppressed="star")).astype(object)
        assert len(starred) == len(problem.data)
        mask = np.asarray(task.suppressed_rows(problem, x, starred))
        assert starred[~mask].reset_index(drop=True).equals(as_written(dropped).astype(object).reset_index(drop=True))
        lost += int(mask.sum())
    assert (lost > 0) == task.suppresses


def test_a_release_is_random_only_where_the_task_says_so(task: Task, problem: Any) -> None:
    frames = [[task.release(problem, x, seed=seed) for x in solutions(problem)] for seed in (1, 2)]
    assert all(a.equals(b) for a, b in zip(*frames, strict=True)) != task.random


def test_pictures_are_of_known_types(task: Task, problem: Any) -> None:
    from sdc_problems.studies.report.picture_types import TYPES

    for x in solutions(problem):
        drawn = task.pictures(problem, x)
        assert drawn
        for picture in drawn:
            assert TYPES[picture.type] is type(picture)
            json.dumps(picture.as_dict(), allow_nan=False)


def test_own_searches_are_for_this_task(task: Task) -> None:
    from sdc_problems.studies.searches.catalogue import find_search

    for search in task.searches:
        assert find_search(search.name).tasks == (task.name,)
        assert search.load()


def test_a_study_to_start_from_is_printed(task: Task) -> None:
    printed = CliRunner().invoke(cli, ["schema", "--example", task.name])
    assert printed.exit_code == 0
    assert printed.stdout == task.example.read_text()


def test_the_examples_folder_shows_the_tasks_own() -> None:
    shown = sorted((Path(__file__).parents[3] / "examples").glob("*.toml"))
    assert len(shown) >= 5
    assert {path.resolve() for path in shown} <= {find_task(name).example.resolve() for name in BUILT_IN}


def test_what_a_constructor_refuses_is_said_with_its_place() -> None:
    text = find_task("gomm").example.read_text().replace("k = 5 ", "k = 600 ")
    study = Study.from_text(text, folder=Path())
    with pytest.raises(SDCError, match=r"^problem\.k = 600 is too large for 1000 records"):
        study.build()


def test_an_unknown_task_is_answered_with_the_known_ones() -> None:
    with pytest.raises(SDCError, match=r"task 'pgb' is unknown; did you mean 'pbg'\? \(known: pbg: how far"):
        find_task("pgb")


def test_more_records_than_a_search_can_hold_are_refused_at_once() -> None:
    task = replace(find_task("masking"), most_records=10)
    table: Any = SimpleNamespace(data=range(11))
    with pytest.raises(
        SDCError, match="the task masking is for up to 10 records, and the table has 11: use the task pbg"
    ):
        task.build(table, task.options())

"""The public API, walked: every name has a docstring, types and keyword-only options, and one word for each thing."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOMS = [
    "sdc_problems",
    "sdc_problems.algorithms",
    "sdc_problems.evaluators",
    "sdc_problems.methods",
    "sdc_problems.operators",
    "sdc_problems.parallel",
    "sdc_problems.studies.release",
    "sdc_problems.studies.tasks",
    "sdc_problems.studies.verdict",
    "sdc_problems.testing",
]
# DESIGN's table of words, and American spelling in names.
OTHER_WORDS = {
    r"(^|_)(crossover|mutation)_(rate|probability)$": "crossover_prob, mutation_prob",
    r"^(rate|probability)$": "prob, or prob_var for each variable",
    r"(normal|standard|general|random|minim|maxim|optim|summar|organ)is(e|es|ed|ing|er|ation)(_|$)": "-ize",
    r"^(il|dr|score)$": "the name of one measure",
    r"^(n_jobs|jobs|n_workers|n_threads|n_processes|cores)$": "workers (processes) or threads",
    r"^force$": "overwrite",
    r"^(quasi|qi|qis|cols|column_names)$": "columns",
}


def public(room: str) -> list[tuple[str, Any]]:
    module = importlib.import_module(room)
    return [(f"{room}.{name}", getattr(module, name)) for name in module.__all__]


def functions(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Function, or constructor and public methods of a class, with what each is called."""
    if inspect.isfunction(value):
        yield name, value
    if not inspect.isclass(value):
        return
    if inspect.isfunction(vars(value).get("__init__")) and not getattr(value, "_is_protocol", False):
        yield name, vars(value)["__init__"]
    for attribute, member in vars(value).items():
        function = getattr(member, "__func__", None) or getattr(member, "fget", None) or member
        if not attribute.startswith("_") and inspect.isfunction(function) and ours(function):
            yield f"{name}.{attribute}", function


def ours(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).startswith("sdc_problems")


def is_test(name: str) -> bool:
    return name.rpartition(".")[2].startswith("test_")  # the names of a contract's tests are their sentences


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_documented(room: str) -> None:
    missing = []
    for name, value in public(room):
        named = [(name, value)] if callable(value) else []
        members = [(called, function) for called, function in functions(name, value) if called != name]
        missing += [called for called, one in named + members if not inspect.getdoc(one) and not is_test(called)]
    assert not missing


@pytest.mark.parametrize("room", ROOMS)
def test_every_parameter_has_a_type(room: str) -> None:
    missing = []
    for name, value in public(room):
        for called, function in functions(name, value):
            signature = inspect.signature(function)
            missing += [
                f"{called}({parameter.name})"
                for parameter in signature.parameters.values()
                if parameter.annotation is parameter.empty and parameter.name not in ("self", "cls")
            ]
            if signature.return_annotation is signature.empty and not generated(value, function):
                missing.append(f"{called} ->")
    assert not missing


def generated(value: Any, function: Any) -> bool:
    return dataclasses.is_dataclass(value) and function.__name__ == "__init__"


@pytest.mark.parametrize("room", ROOMS)
def test_options_are_keyword_only(room: str) -> None:
    """What has a default is an option; one, the obvious one, may be given by its place."""
    wrong = []
    for name, value in public(room):
        for called, function in functions(name, value):
            if generated(value, function):
                continue  # fields of a record
            placed = [
                parameter.name
                for parameter in inspect.signature(function).parameters.values()
                if parameter.default is not parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
            ]
            if len(placed) > 1:
                wrong.append(f"{called}: {', '.join(placed[1:])} after {placed[0]}")
    assert not wrong


@pytest.mark.parametrize("room", ROOMS)
def test_one_word_for_each_thing(room: str) -> None:
    found = []
    for name, value in public(room):
        for called, function in functions(name, value):
            names = [*inspect.signature(function).parameters, called.rpartition(".")[2]]
            found += [
                f"{called}: {given} (say {instead})"
                for given in names
                for pattern, instead in OTHER_WORDS.items()
                if re.search(pattern, given) and not (given == called.rpartition(".")[2] and is_test(called))
            ]
    assert not found


@pytest.mark.parametrize("word", ["crossover_rate", "mutation_probability", "standardise", "minimised", "il", "n_jobs"])
def test_the_former_words_would_be_found(word: str) -> None:
    assert any(re.search(pattern, word) for pattern in OTHER_WORDS)


def test_no_problem_takes_attributes() -> None:
    problems = [value for name, value in public("sdc_problems") if name.endswith("Problem")]
    assert len(problems) > 5
    for problem in problems:
        assert "attributes" not in inspect.signature(problem.__init__).parameters, problem.__name__


def test_every_operator_is_exported() -> None:
    from pymoo.core.crossover import Crossover
    from pymoo.core.duplicate import DuplicateElimination
    from pymoo.core.mutation import Mutation
    from pymoo.core.repair import Repair
    from pymoo.core.sampling import Sampling

    from sdc_problems import operators

    package = importlib.import_module("sdc_problems.operators")
    assert package.__file__ is not None
    exported = {getattr(operators, name) for name in operators.__all__}
    for path in sorted(Path(package.__file__).parent.glob("[a-z]*.py")):
        module = importlib.import_module(f"sdc_problems.operators.{path.stem}")
        for value in vars(module).values():
            mine = inspect.isclass(value) and value.__module__ == module.__name__ and value.__name__[0] != "_"
            if mine and issubclass(value, (Crossover, DuplicateElimination, Mutation, Repair, Sampling)):
                assert value in exported, value.__name__

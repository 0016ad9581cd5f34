"""Searches as a study can name them: their options are their constructors'."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdc_problems import SDCError
from sdc_problems._signature import REQUIRED, parameters
from sdc_problems.studies.searches.catalogue import available_searches
from sdc_problems.studies.searches.search import STUDY_OPTIONS
from sdc_problems.studies.study.schema import Study

STUDY = """
[data]
name = "people"
records = 100
quasi_identifiers = ["age", "hours", "wage"]
[problem]
task = "{task}"
[algorithm]
name = "{name}"
{options}
[termination]
generations = 1
"""


SEARCHES = available_searches()


@pytest.mark.parametrize("name", SEARCHES)
def test_defaults_are_the_constructors(name: str) -> None:
    """pymoo's NSDE crosses over with 0.7, GDE3 with 0.5: nobody copies such a number correctly for long."""
    search = SEARCHES[name]
    known = parameters(search.load())
    for option, field in search.options.model_fields.items():
        if option in STUDY_OPTIONS:
            continue
        assert field.description, option
        if known[option].default is REQUIRED:
            assert field.default == search.defaults[option]
        else:
            assert field.default == known[option].default, option


def test_defaults_that_were_copied_wrong_before() -> None:
    assert SEARCHES["NSDE"].options.model_fields["CR"].default == 0.7
    assert SEARCHES["NSDER"].options.model_fields["CR"].default == 0.7
    assert SEARCHES["NSDER"].options.model_fields["pop_size"].default is None
    assert SEARCHES["GDE3"].options.model_fields["CR"].default == 0.5


@pytest.mark.parametrize(
    ("name", "task", "options", "says"),
    [
        ("GOMM", 'gomm"\nk = "3', "", "problem.k: input should be a valid integer, not '3'"),
        ("GOMM", 'gomm"\nk = 3\nx = "', "pop_size = 1", "[problem] has no key 'x'"),
        ("GOMM", "gomm", "pop_size = 1", "problem.k is missing"),
        ("NSGA2", "pbg", "pop_size = 1", "algorithm.pop_size: input should be greater than or equal to 2, not 1"),
        ("PBGEA", "pbg", "epsilon = [0.0, 1.0]", "algorithm.epsilon"),
        ("PBGEA", "pbg", "pop_size = 0", "algorithm.pop_size must be a whole number ≥ 2, not 0"),
        ("PBGSearch", "pbg", 'batch_size = "x"', "algorithm.batch_size: input should be a valid integer, not 'x'"),
    ],
)
def test_what_a_constructor_refuses_is_said_with_its_place(name: str, task: str, options: str, says: str) -> None:
    text = STUDY.format(task=task, name=name, options=options)
    if task == "pbg":
        text = text.replace('"hours", "wage"]', '"education", "sex"]')
    with pytest.raises(SDCError) as error:
        Study.from_text(text, folder=Path()).build()
    assert says in str(error.value)
    assert str(error.value).count("algorithm") <= 1

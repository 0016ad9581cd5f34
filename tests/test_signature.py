"""Parameters are what the signature and the docstring say, also where a class hands its keywords on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest
from pymoo.algorithms.moo.nsder import NSDER
from pymoo.algorithms.moo.unsga3 import UNSGA3

from sdc_problems import GOMMProblem, MicroaggregationProblem, PBGProblem, PRAMEquationProblem, PRAMProblem
from sdc_problems._signature import REQUIRED, UNKNOWN, parameters

if TYPE_CHECKING:
    from decimal import Decimal


class Parent:
    """A parent.

    Parameters
    ----------
    size : int
        How ``large``.

        Up to ten.
    shape
        Its shape.

    Notes
    -----
    shape
        is said here too, but not of a parameter.
    """

    def __init__(self, size: int = 3, *, shape: Literal["round", "flat"] = "round") -> None: ...


class Child(Parent):
    """A child, which hands on what it does not know.

    Parameters
    ----------
    size
        As for :class:`Parent`.
    age
        In years.
    """

    def __init__(self, age: Decimal | None = None, *rest: Any, size: int = 4, **kwargs: Any) -> None: ...


def test_of_a_class_and_of_its_parent() -> None:
    found = parameters(Parent)
    assert list(found) == ["size", "shape"]
    assert (found["size"].hint, found["size"].default, found["size"].help) == (int, 3, "How `large`. Up to ten.")
    assert found["shape"].hint == Literal["round", "flat"]
    assert found["shape"].help == "Its shape."


def test_of_a_class_that_hands_its_keywords_on() -> None:
    found = parameters(Child)
    assert list(found) == ["age", "size", "shape"]
    assert found["age"].hint is UNKNOWN
    assert found["age"].help == "In years."
    assert found["size"].default == 4
    assert found["size"].help == "How `large`. Up to ten."
    assert found["shape"].default == "round"


def test_of_pymoos_algorithms() -> None:
    assert parameters(UNSGA3)["pop_size"].default is None
    assert parameters(UNSGA3)["ref_dirs"].default is REQUIRED
    assert parameters(NSDER)["CR"].default == 0.7


@pytest.mark.parametrize(
    "problem", [GOMMProblem, MicroaggregationProblem, PBGProblem, PRAMProblem, PRAMEquationProblem]
)
def test_every_parameter_of_a_problem_is_described(problem: type[Any]) -> None:
    for parameter in parameters(problem).values():
        assert parameter.help, parameter.name
        assert "As for" not in parameter.help
        assert parameter.help.endswith(".")

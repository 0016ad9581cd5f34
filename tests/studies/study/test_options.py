"""Options derived from a constructor: what a study file can say, and what is not for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import pytest
from numpy.typing import ArrayLike, NDArray

from sdc_problems import Objective, SDCError
from sdc_problems.errors import SDCFailure
from sdc_problems.studies.study.options import Argument, given, option_type, options_model, refused_as
from sdc_problems.studies.study.validation import Section, validated


class Thing:
    """A thing

    with more to say.

    Parameters
    ----------
    k
        Smallest.
    names
        Any of ``a`` and ``b``.
    """

    def __init__(
        self,
        data: NDArray[Any],
        k: int,
        *,
        names: Sequence[str | Objective] = ("a", "b"),
        span: tuple[float, float] | None = None,
        how: Literal["fast", "slow"] = "slow",
        rates: Mapping[str, int] | float = 0.5,
        weights: ArrayLike | None = None,
        made_by: Callable[[], int] | None = None,
        guess=None,  # type: ignore[no-untyped-def]
        require: Mapping[str, float] | None = None,
        threads: int | None = None,
    ) -> None: ...


THING = options_model(Thing, without=("data",), arguments={"guess": Argument(int, "A guess.")})


def test_what_a_study_file_can_say() -> None:
    assert list(THING.model_fields) == ["k", "names", "span", "how", "rates", "guess"]
    assert THING.__name__ == "Thing"
    schema = THING.model_json_schema()
    assert schema["description"] == "A thing"
    assert schema["required"] == ["k"]
    fields = schema["properties"]
    assert fields["names"] == {
        "default": ["a", "b"], "description": "Any of `a` and `b`.", "items": {"type": "string"}, "title": "Names",
        "type": "array",
    }  # fmt: skip
    assert fields["span"]["anyOf"][0] == {"items": {"type": "number"}, "maxItems": 2, "minItems": 2, "type": "array"}
    assert fields["how"]["enum"] == ["fast", "slow"]
    assert fields["guess"]["description"] == "A guess."


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"k": 2.5}, "problem.k: input should be a valid integer, not 2.5"),
        ({"k": True}, "problem.k"),
        ({"k": 2, "how": "somehow"}, "problem.how: input should be 'fast' or 'slow', not 'somehow'"),
        ({"k": 2, "span": [1.0]}, "problem.span"),
        ({"k": 2, "threads": 3}, "[problem] has no key 'threads'"),
        ({"k": 2, "require": {}}, "[problem] has no key 'require'"),
        ({}, "problem.k is missing"),
    ],
)
def test_what_it_cannot_say(values: dict[str, Any], says: str) -> None:
    with pytest.raises(SDCError) as error:
        validated(THING, values, "problem")
    assert says in str(error.value)


def test_given_are_keyword_arguments() -> None:
    options = validated(THING, {"k": 2, "span": [0.1, 1]}, "problem")
    assert given(options, without=("how",)) == {"k": 2, "names": ["a", "b"], "span": [0.1, 1.0], "rates": 0.5}


def test_a_required_argument_that_no_file_can_say_is_a_mistake_of_its_author() -> None:
    with pytest.raises(SDCError, match=r"Thing: 'data' cannot be in a study file"):
        options_model(Thing)
    with pytest.raises(SDCError, match=r"Thing: 'weights' cannot be in a study file"):
        options_model(Thing, only=("weights",))


def test_more_fields_on_top() -> None:
    class Extra(Section):
        start: int = 3

    assert list(options_model(Thing, only=("k",), more=(Extra,)).model_fields) == ["start", "k"]


def test_arrays_stand_beside_what_a_file_can_say() -> None:
    assert option_type(float | Sequence[float] | NDArray[Any]) == float | list[float]
    assert option_type(ArrayLike) is None
    assert option_type(Any) is None
    assert option_type(tuple[int, ...]) == list[int]
    assert option_type(tuple[int, str]) is None


def test_a_failure_stays_a_failure_and_says_its_place() -> None:
    with pytest.raises(SDCFailure, match=r"^problem: the disk is full$"), refused_as("problem", ["k"]):
        raise SDCFailure("the disk is full")

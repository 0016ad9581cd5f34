"""The base class of all problems: what a subclass must bring, and what pymoo users hand to a constructor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdc_problems import GOMMProblem, Microdata, Objective, SDCError, SDCProblem
from sdc_problems.requirement import Requirement


class Incomplete(SDCProblem):
    """Has all but ``release`` and ``baselines``."""

    def __init__(self) -> None:
        data = Microdata.from_frame(pd.DataFrame({"a": ["x", "y", "x"]}), quasi_identifiers=["a"])
        super().__init__(data=data, objectives=[Objective("k", "k", "max")], n_var=1, xl=0, xu=1)

    def _compile(self) -> Any:
        return None

    def _measure(self, X: Any, names: Any) -> Any:
        return np.zeros((len(X), 1))

    def _operators(self) -> dict[str, Any]:
        return {}

    def decode(self, x: Any) -> Any:
        return int(x[0])

    def figures(self, x: Any) -> dict[str, float]:
        return {"k": 0.0}

    def describe(self, x: Any) -> tuple[str, ...]:
        return ("nothing",)


def test_a_problem_that_cannot_release_cannot_be_made() -> None:
    with pytest.raises(TypeError, match=r"Incomplete.*baselines.*release"):
        Incomplete()


@pytest.mark.parametrize(
    ("argument", "instead"),
    [("n_ieq_constr", "require="), ("elementwise_runner", "ParallelEvaluator"), ("n_obj", "objectives=")],
)
def test_arguments_of_pymoos_own_problems_are_refused_with_what_to_write_instead(argument: str, instead: str) -> None:
    data = Microdata.from_frame(pd.DataFrame({"a": range(9), "b": range(9)}), quasi_identifiers=["a", "b"])
    options: dict[str, Any] = {argument: 1}
    with pytest.raises(TypeError, match=rf"GOMMProblem takes no {argument}=: .*{instead}"):
        GOMMProblem(data, 3, **options)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        GOMMProblem(data, 3, colour="blue")  # type: ignore[call-arg]


def test_a_problem_without_released_codes_takes_no_objective_of_ones_own() -> None:
    class Complete(Incomplete):
        def release(self, x: Any, *, seed: int | None = None) -> pd.DataFrame:
            return self._publishable()

        def baselines(self) -> dict[str, Any]:
            return {}

    own = Objective("mine", "mine", "min", function=lambda released, original: 0.0)
    with pytest.raises(SDCError, match=r"Complete does not provide: it lacks _tables"):
        Complete().with_objectives([own])


@pytest.mark.parametrize("sense", ["min", "max"])
def test_a_number_that_is_required_is_the_worst_that_will_do(sense: Any) -> None:
    quantity = Objective("quantity", "quantity", sense)
    values = [1.0, 2.0, 3.0, float("nan")]
    met = Requirement.read(quantity, 2).meets(values).tolist()
    assert met == ([True, True, False, False] if sense == "min" else [False, True, True, False])
    both = Requirement.read(quantity, {"min": 2, "max": 2.5})
    assert both.violations(values[:3]).tolist() == [[1.0, -1.5], [0.0, -0.5], [-1.0, 0.5]]
    assert str(both) == "2 <= quantity <= 2.5"
    with pytest.raises(SDCError, match="must be a finite number"):
        Requirement.read(quantity, True)

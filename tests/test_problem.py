"""The base class of all problems: what a subclass must bring, and what pymoo users hand to a constructor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Microdata, Objective, SDCProblem


class Incomplete(SDCProblem):
    """Has all but ``release`` and ``baselines``."""

    def __init__(self) -> None:
        data = Microdata.from_frame(pd.DataFrame({"a": ["x", "y", "x"]}), quasi_identifiers=["a"])
        super().__init__(data=data, objectives=[Objective("k", "k", "max")], n_var=1, xl=0, xu=1)

    def _compile(self) -> Any:
        return None

    def _measure(self, X: Any) -> Any:
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

"""Objectives: what each says of itself, former names, and objectives of one's own."""

from __future__ import annotations

import pytest

from sdc_problems import Objective, SDCError
from sdc_problems.objective import by_name, choose_objectives, find_objective

K = Objective("k", "smallest class", "max", (1, 100), "records", meaning="Records in the smallest class.")
LOSS = Objective("il_sse", "loss", "min", (0, 100), "%", meaning="Percent of the variation lost.", formerly=("il",))
CATALOGUE = by_name(K, LOSS)


def test_the_sentence_says_which_way_is_better() -> None:
    assert K.sentence == "Records in the smallest class. Larger is better."
    assert LOSS.sentence.endswith(" Smaller is better.")
    assert Objective("x", "x", "min").sentence == "Smaller is better."


def test_a_former_name_is_told_the_new_one() -> None:
    with pytest.raises(SDCError, match=r"^objective 'il' is now called 'il_sse'$"):
        choose_objectives(("k", "il"), CATALOGUE)
    with pytest.raises(SDCError, match=r"unknown objective 'il_ss'; did you mean 'il_sse'\? \(known: k, il_sse\)"):
        find_objective("il_ss", CATALOGUE)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("k", r"write objectives=\('k',\)"),
        (K, r"write objectives=\(k,\)"),
        ({"k", "il_sse"}, "must be a list or tuple, not set"),
        ((), "objectives is empty; choose from k, il_sse"),
        (("k", "k"), "named twice"),
        ((3,), "unknown objective 3"),
    ],
)
def test_what_is_no_list_of_objectives_is_refused(given: object, said: str) -> None:
    with pytest.raises(SDCError, match=said):
        choose_objectives(given, CATALOGUE)  # type: ignore[arg-type]


def test_an_objective_of_ones_own_needs_a_function_and_a_name_of_its_own() -> None:
    own = Objective("zeros", "zeros", "min", function=lambda released, original: float((released == 0).sum()))
    assert choose_objectives(("k", own), CATALOGUE) == (K, own)
    assert choose_objectives((K,), CATALOGUE) == (K,)
    with pytest.raises(SDCError, match="'zeros' is not one of this problem's and has no function"):
        choose_objectives((Objective("zeros", "zeros", "min"),), CATALOGUE)
    for name in ("id", "feasible", "two words"):
        with pytest.raises(SDCError, match=f"'{name}' is not a name for an objective"):
            choose_objectives((Objective(name, "mine", "min", function=own.function),), CATALOGUE)
    with pytest.raises(SDCError, match="'k' is one of this problem's: give yours another name"):
        choose_objectives((Objective("k", "mine", "min", function=own.function),), CATALOGUE)


def test_an_objective_is_checked() -> None:
    with pytest.raises(SDCError, match="sense must be 'min' or 'max', not 'up'"):
        Objective("x", "x", "up")  # type: ignore[arg-type]
    with pytest.raises(SDCError, match="bounds"):
        Objective("x", "x", "min", (1.0, 0.0))

"""Special uniques against a search of all combinations of each record by itself."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.evaluators import special_uniques


def plain(table: list[list[int]], largest: int) -> tuple[list[float], list[float]]:
    """Scores and attributes' shares, by sets."""
    p = len(table[0])
    largest = min(largest, max(p - 1, 1))
    scores, by_attribute = [], [0.0] * p
    for row in table:
        minimal: list[set[int]] = []
        score = 0.0
        for m in range(1, largest + 1):
            for chosen in combinations(range(p), m):
                alone = sum(all(other[j] == row[j] for j in chosen) for other in table) == 1
                if alone and not any(found <= set(chosen) for found in minimal):
                    minimal.append(set(chosen))
                    weight = prod(max(p - i, 1) for i in range(m, largest + 1))
                    score += weight
                    for j in chosen:
                        by_attribute[j] += weight
        scores.append(score)
    return scores, by_attribute


@given(st.integers(1, 5), st.integers(1, 4), st.data())
def test_equal_to_the_definition(p: int, largest: int, data: st.DataObject) -> None:
    table = data.draw(st.lists(st.lists(st.integers(0, 2), min_size=p, max_size=p), min_size=2, max_size=15))
    found = special_uniques(np.array(table), largest=largest)
    scores, by_attribute = plain(table, largest)
    assert found.scores.tolist() == scores
    total = sum(scores)
    assert found.contributions == pytest.approx([100 * b / total if total else 0.0 for b in by_attribute])
    assert ((found.sizes > 0) == (found.scores > 0)).all()


def test_fewer_attributes_count_for_more() -> None:
    # Record 1 is alone by its first attribute; the last two only by two together.
    table = [[9, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0], [0, 1, 1, 0]]
    found = special_uniques(np.array(table), largest=2)
    assert found.scores[0] == 3 * 2
    assert found.scores[6] == 2
    assert found.sizes.tolist() == [1, 0, 0, 0, 0, 0, 2]


def test_too_many_combinations_are_refused_at_once() -> None:
    with pytest.raises(SDCError, match="lower largest"):
        special_uniques(np.zeros((10_000, 60), dtype=np.int64), largest=5)

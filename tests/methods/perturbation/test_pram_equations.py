from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.methods.perturbation._pram import transition_matrix
from sdc_problems.methods.perturbation._pram_equations import (
    FUNCTIONS,
    TERMINALS,
    TOKENS,
    check_postfix,
    equation_matrices,
    equation_values,
    infix,
    postfix,
    simplify,
    weights_to_matrices,
)
from sdc_problems.operators.tree import Grammar

GRAMMAR = Grammar(len(TERMINALS), len(FUNCTIONS), 5)
trees = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 5), st.booleans())
frequencies = st.lists(st.integers(0, 60), min_size=2, max_size=5).filter(any)


def tree(recipe: tuple[int, int, bool]) -> np.ndarray:
    seed, levels, full = recipe
    rng = np.random.default_rng(seed)
    return GRAMMAR.row((GRAMMAR.full if full else GRAMMAR.grow)(levels, rng))


def plain_value(tokens: list[int], t: list[float], i: int, j: int) -> float:
    """The stack of Marés (2013), Algorithm 8, for one cell."""
    stack = []
    for token in tokens:
        word = TOKENS[token]
        if word in TERMINALS:
            stack.append({"N": sum(t), "freq_max": max(t), "freq_min": min(t), "freq_i": t[i], "freq_j": t[j]}[word])
        else:
            b, a = stack.pop(), stack.pop()
            stack.append({"+": a + b, "-": a - b, "×": a * b, "÷": a / b if b != 0 else 1.0}[word])
    (value,) = stack
    return value


@given(trees, frequencies)
def test_kernel_is_the_stack_machine(recipe: tuple[int, int, bool], t: list[int]) -> None:
    row = tree(recipe)
    tokens = row[row >= 0].tolist()
    values = equation_values(row, t)[0]
    for i in range(len(t)):
        for j in range(len(t)):
            plain = plain_value(tokens, [float(x) for x in t], i, j)
            assert values[i, j] == plain or (math.isnan(values[i, j]) and math.isnan(plain))


@given(st.lists(trees, min_size=1, max_size=4), frequencies)
def test_a_batch_is_its_equations_one_by_one(recipes: list[tuple[int, int, bool]], t: list[int]) -> None:
    rows = np.array([tree(recipe) for recipe in recipes])
    batch = equation_matrices(rows, t)
    for row, matrix in zip(rows, batch, strict=True):
        np.testing.assert_array_equal(equation_matrices(row, t)[0], matrix)
        transition_matrix(matrix)


def value_of(written: object, t: list[float], i: int, j: int) -> float:
    if isinstance(written, float):
        return written
    if isinstance(written, str):
        return plain_value([TOKENS.index(written)], t, i, j)
    function, a, b = written
    x, y = value_of(a, t, i, j), value_of(b, t, i, j)
    return {"+": x + y, "-": x - y, "×": x * y, "÷": x / y if y != 0 else 1.0}[function]


@given(trees, frequencies)
def test_simplification_keeps_every_value(recipe: tuple[int, int, bool], t: list[int]) -> None:
    row = tree(recipe)
    values = equation_values(row, t)[0]
    simple = simplify(row)
    for i in range(len(t)):
        for j in range(len(t)):
            assert value_of(simple, [float(x) for x in t], i, j) == pytest.approx(values[i, j], rel=1e-12, abs=1e-9)


class _Exact:
    """Evaluates written text with Python's own precedence: division protected, as in the equations."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __add__(self, other: object) -> _Exact:
        return _Exact(self.value + _number(other))

    def __sub__(self, other: object) -> _Exact:
        return _Exact(self.value - _number(other))

    def __mul__(self, other: object) -> _Exact:
        return _Exact(self.value * _number(other))

    def __truediv__(self, other: object) -> _Exact:
        return _Exact(self.value / _number(other) if _number(other) != 0 else 1.0)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: object) -> _Exact:
        return _Exact(_number(other) - self.value)

    def __rtruediv__(self, other: object) -> _Exact:
        return _Exact(_number(other) / self.value if self.value != 0 else 1.0)


def _number(x: object) -> float:
    return x.value if isinstance(x, _Exact) else float(x)  # type: ignore[arg-type]


@given(trees)
def test_what_is_written_means_the_equation(recipe: tuple[int, int, bool]) -> None:
    row, t = tree(recipe), [7.0, 3.0, 11.0]
    names = {"N": 21.0, "freq_max": 11.0, "freq_min": 3.0, "freq_i": 7.0, "freq_j": 3.0}
    text = infix(row).replace("×", "*").replace("÷", "/")
    got = eval(text, {}, {name: _Exact(value) for name, value in names.items()})  # noqa: S307 -- our own text
    assert _number(got) == pytest.approx(equation_values(row, t)[0][0, 1], rel=1e-12, abs=1e-9)


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("N", "N"),
        ("freq_i freq_i -", "0"),
        ("freq_i freq_i ÷", "1"),
        ("N N N - ÷", "1"),
        ("freq_i freq_i +", "2 × freq_i"),
        ("N N ÷ N N ÷ + freq_j *", "2 × freq_j"),
        ("N N - freq_i -", "0 - freq_i"),
        ("N freq_i freq_j - -", "N - (freq_i - freq_j)"),
        ("N freq_i + freq_j *", "(N + freq_i) × freq_j"),
        ("N freq_i freq_j * /", "N ÷ (freq_i × freq_j)"),
    ],
)
def test_readable(words: str, written: str) -> None:
    assert infix(postfix(words)) == written


def test_negative_and_infinite_weights_count_as_nothing() -> None:
    values = np.array([[[-1.0, 2.0, 2.0], [np.inf, np.nan, 4.0], [-1.0, 0.0, -np.inf]]])
    expected = [[0.0, 0.5, 0.5], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]  # the last row has no weight and keeps its category
    np.testing.assert_array_equal(weights_to_matrices(values)[0], expected)
    huge = np.full((1, 2, 2), 1e308)
    np.testing.assert_array_equal(weights_to_matrices(huge)[0], np.full((2, 2), 0.5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: postfix("N +"), "lacks an operand"),
        (lambda: postfix("N N"), "leaves 2 values"),
        (lambda: postfix("freq_k"), "unknown token 'freq_k'; did you mean"),
        (lambda: postfix(""), "leaves 0 values"),
        (lambda: check_postfix(np.array([0, -1, 0])), "follows the padding at position 2"),
        (lambda: check_postfix(np.array([9])), "token 9 at position 0"),
        (lambda: equation_values(np.array([0, -1]), [0, 0]), "all 0"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        call()

"""Equations for transition matrices, as postfix token ids; Marés (2013) §4.2.

An equation computes the weight of a change from category i to category j from five terminals: the number of records N,
the largest and smallest frequency, and the frequencies of i and j. Weights that are negative or not finite count as 0.
Rows are then divided by their sums; in a row without weight, the category stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sdc_problems._kernel import kernel
from sdc_problems._validation import FloatArray
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.methods.perturbation._pram import category_frequencies, normalize_rows

TERMINALS = ("N", "freq_max", "freq_min", "freq_i", "freq_j")
FUNCTIONS = ("+", "-", "×", "÷")
PAD = -1
"""Padding of the unused end of a row of tokens."""

TOKENS = TERMINALS + FUNCTIONS
Tree: TypeAlias = "float | str | tuple[str, Tree, Tree]"


def postfix(words: str | Sequence[str]) -> npt.NDArray[np.int16]:
    """Token ids of an equation in postfix order; ``*`` and ``/`` are allowed for ``×`` and ``÷``.

    Examples
    --------
    >>> postfix("N freq_j -")
    array([0, 4, 6], dtype=int16)
    """
    names = words.split() if isinstance(words, str) else list(words)
    ids = []
    for name in ({"*": "×", "/": "÷"}.get(n, n) for n in names):
        if name not in TOKENS:
            raise SDCError(f"unknown token {name!r}{did_you_mean(name, TOKENS)} (known: {' '.join(TOKENS)})")
        ids.append(TOKENS.index(name))
    tokens = np.array(ids, dtype=np.int16)
    check_postfix(tokens)
    return tokens


def check_postfix(tokens: npt.NDArray[Any]) -> None:
    """Raise an error if a row is not one complete equation: an operand is missing or left over."""
    waiting = 0
    ended = False
    for position, token in enumerate(tokens.tolist()):
        if token == PAD:
            ended = True
            continue
        if not 0 <= token < len(TOKENS):
            raise SDCError(f"token {token} at position {position} is unknown; ids go from 0 to {len(TOKENS) - 1}")
        if ended:
            raise SDCError(f"a token follows the padding at position {position}")
        if token >= len(TERMINALS):
            if waiting < 2:
                raise SDCError(f"{TOKENS[token]} at position {position} lacks an operand")
            waiting -= 1
        else:
            waiting += 1
    if waiting != 1:
        raise SDCError(f"the equation leaves {waiting} values on the stack, not 1")


@kernel()
def _run(tokens: npt.NDArray[np.int16], frequencies: FloatArray, total: float, out: FloatArray) -> None:
    """Evaluate valid postfix tokens with a stack, for all cells at once: a stack slot is a matrix of values."""
    n = len(frequencies)
    most = least = frequencies[0]
    for frequency in frequencies:
        most, least = max(most, frequency), min(least, frequency)
    stack = np.empty((tokens.shape[1] // 2 + 2, n * n))
    for b in range(tokens.shape[0]):
        top = -1
        for token in tokens[b]:
            if token < 0:
                break
            if token < 5:
                top += 1
                for i in range(n):
                    for j in range(n):
                        if token == 0:
                            value = total
                        elif token == 1:
                            value = most
                        elif token == 2:
                            value = least
                        elif token == 3:
                            value = frequencies[i]
                        else:
                            value = frequencies[j]
                        stack[top, i * n + j] = value
            else:
                top -= 1
                left, right = stack[top], stack[top + 1]
                for c in range(n * n):
                    if token == 5:
                        left[c] += right[c]
                    elif token == 6:
                        left[c] -= right[c]
                    elif token == 7:
                        left[c] *= right[c]
                    elif right[c] == 0.0:
                        left[c] = 1.0
                    else:
                        left[c] /= right[c]
        for c in range(n * n):
            out[b, c] = stack[0, c]


def equation_values(tokens: npt.NDArray[Any], frequencies: npt.ArrayLike) -> FloatArray:
    """Raw values of each equation in each cell (equations × categories × categories).

    Division is protected: ``x ÷ 0 = 1``. Values may be negative or infinite; ``equation_matrices`` turns them into
    probabilities.

    Parameters
    ----------
    tokens
        Rows of valid postfix token ids, padded with -1.
    frequencies
        Count of each category; N is their sum.

    Notes
    -----
    O(equations × tokens × categories²).

    Examples
    --------
    >>> equation_values(postfix("freq_i freq_j ÷"), [2, 4])
    array([[[1. , 0.5],
            [2. , 1. ]]])
    """
    t = category_frequencies(frequencies)
    rows = np.ascontiguousarray(np.atleast_2d(tokens), dtype=np.int16)
    for row in rows:
        check_postfix(row)
    return _values(rows, t)


def _values(rows: npt.NDArray[np.int16], t: FloatArray) -> FloatArray:
    out = np.empty((len(rows), len(t) ** 2))
    _run(rows, t, float(t.sum()), out)
    return out.reshape(len(rows), len(t), len(t))


def weights_to_matrices(values: FloatArray) -> FloatArray:
    """Turn raw values into transition matrices: negative or non-finite cells count as 0, rows are normalized."""
    with np.errstate(invalid="ignore"):
        weights = np.where(np.isfinite(values) & (values > 0), values, 0.0)
    largest = weights.max(axis=-1, keepdims=True)
    # Rows are first scaled by their largest entry, so that sums of huge values stay finite.
    return normalize_rows(weights / np.where(largest > 0, largest, 1.0))


def equation_matrices(tokens: npt.NDArray[Any], frequencies: npt.ArrayLike) -> FloatArray:
    """Transition matrices of equations for an attribute with these frequencies.

    Examples
    --------
    >>> equation_matrices(postfix("freq_j"), [1, 3])
    array([[[0.25, 0.75],
            [0.25, 0.75]]])
    """
    return weights_to_matrices(equation_values(tokens, frequencies))


# -- reading an equation --------------------------------------------------------------------------------------------


def _simplified(function: str, a: Tree, b: Tree) -> Tree:
    """Apply rules that keep the value of every cell: equal operands, zeros and ones, constant folding."""
    if isinstance(a, float) and isinstance(b, float):
        return {"+": a + b, "-": a - b, "×": a * b, "÷": a / b if b else 1.0}[function]
    if function == "+":
        return b if a == 0.0 else a if b == 0.0 else ("×", 2.0, a) if a == b else ("+", a, b)
    if function == "-":
        return 0.0 if a == b else a if b == 0.0 else ("-", a, b)
    if function == "×":
        return 0.0 if 0.0 in (a, b) else b if a == 1.0 else a if b == 1.0 else ("×", a, b)
    return 1.0 if a == b or b == 0.0 else a if b == 1.0 else ("÷", a, b)


def simplify(tokens: npt.NDArray[Any]) -> Tree:
    """Simplify an equation; returns nested tuples ``(function, left, right)`` of terminals and numbers.

    Examples
    --------
    >>> simplify(postfix("freq_i freq_i - freq_j N N ÷ × +"))
    'freq_j'
    """
    check_postfix(tokens)
    stack: list[Tree] = []
    for token in tokens[tokens != PAD].tolist():
        if token < len(TERMINALS):
            stack.append(TOKENS[token])
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(_simplified(TOKENS[token], a, b))
    return stack[0]


def infix(tokens: npt.NDArray[Any]) -> str:
    """Write an equation in infix notation, simplified, with as few parentheses as possible.

    Examples
    --------
    >>> infix(postfix("N freq_i freq_j + - freq_max ÷"))
    '(N - (freq_i + freq_j)) ÷ freq_max'
    """
    return _written(simplify(tokens))


def _written(tree: Tree, binding: int = 0, right: bool = False) -> str:
    if isinstance(tree, float):
        return f"{tree:g}" if tree >= 0 else f"({tree:g})"
    if isinstance(tree, str):
        return tree
    function, a, b = tree
    own = 1 if function in "+-" else 2
    text = f"{_written(a, own)} {function} {_written(b, own, right=True)}"
    # Right operands of - and ÷ keep their parentheses, and so do those of + and ×: floating point is not associative.
    return f"({text})" if own < binding or (own == binding and right) else text

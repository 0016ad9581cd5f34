"""Exceptions of the package: they say where an error is and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SDCError(ValueError):
    """Error in the input: a sentence that says what is wrong, where, and what to do."""


class SDCFailure(SDCError):
    """Failure outside the input: a full disk, a folder without permission, a lost worker, a held lock."""


class SDCWarning(UserWarning):
    """Warning about input that is accepted but probably not intended."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``"; did you mean 'age'?"`` if a known word is similar, otherwise an empty string.

    Examples
    --------
    >>> did_you_mean("aeg", ["age", "sex"])
    "; did you mean 'age'?"
    >>> did_you_mean("nsga2", ["NSGA3", "NSGA2"])
    "; did you mean 'NSGA2'?"
    >>> did_you_mean("zip", ["age", "sex"])
    ''
    """
    words = [str(k) for k in known]
    near = difflib.get_close_matches(word, words, n=1)
    if word not in near:  # a difference in case is the most frequent one
        folded = {k.casefold(): k for k in reversed(words)}
        alike = difflib.get_close_matches(word.casefold(), folded, n=1)
        if alike and (not near or alike[0] == word.casefold()):
            near = [folded[alike[0]]]
    return f"; did you mean {near[0]!r}?" if near else ""

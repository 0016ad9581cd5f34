"""Records kept: the denominator of shares if records with missing values were left out."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SHARE = re.compile(r"\d.*(%|records|unique)")


def left_out(kept: int, dropped: int, *, least: int = 1) -> tuple[str, ...]:
    """Sentence on the records that were left out when the table was read, if there are any.

    Examples
    --------
    >>> left_out(54, 6)
    ('6 of 60 records are left out: they have missing values.',)
    >>> left_out(54, 0)
    ()
    """
    if not dropped:
        return ()
    how_many = f"fewer than {least}" if dropped < least else f"{dropped:,} of {kept + dropped:,}"
    return (f"{how_many} records are left out: they have missing values.",)


def kept_of(kept: int, dropped: int, *, least: int = 1) -> str:
    """Denominator of a share in words: the records kept, and the total; empty if none was left out.

    A number of left-out records below ``least`` is not given exactly.

    Examples
    --------
    >>> kept_of(19_338, 662), kept_of(54, 3, least=5), kept_of(60, 0)
    ('19,338 records kept of 20,000', '54 records kept, without fewer than 5', '')
    """
    if not dropped:
        return ""
    return f"{kept:,} records kept" + (
        f", without fewer than {least}" if dropped < least else f" of {kept + dropped:,}"
    )


def with_records_kept(
    sentences: Iterable[str], kept: int, dropped: int, *, least: int = 1, every: bool = False
) -> list[str]:
    """Sentences that name the base of each share if records were left out.

    Parameters
    ----------
    sentences
        The sentences.
    kept, dropped
        Number of records kept, and number of records left out.
    least
        Smallest number of left-out records that is given.
    every
        Whether each sentence is about a share; otherwise only those that look like it.

    Examples
    --------
    >>> with_records_kept(["8 % is lost.", "age in bands of 5 years."], 54, 6)
    ['8 % is lost (54 records kept of 60).', 'age in bands of 5 years.']
    """
    whole = kept_of(kept, dropped, least=least)
    total = re.compile(rf"\b{kept + dropped:,}\b")
    said = []
    for sentence in sentences:
        if whole and (every or _SHARE.search(sentence)) and whole not in sentence and not total.search(sentence):
            end = "." if sentence.endswith(".") else ""
            sentence = f"{sentence.removesuffix('.')} ({whole}){end}"
        said.append(sentence)
    return said

"""Texts that look like dates, postal codes, or codes whose prefixes have a meaning."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass

_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ]\d{1,2}:.*)?")
_COMPACT = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)")
_YEAR_FIRST = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})(?: \d{1,2}:.*)?")
_YEAR_LAST = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?: \d{1,2}:.*)?")
_DIGITS = re.compile(r"\d{4,10}(?:-\d{3,4})?")
_POSTAL_NAME = re.compile(r"(?:^|[^a-z])(?:zip|zips|plz|postal|postcode|post_?code|cp|cap|npa|postleitzahl)", re.I)
_CODE = re.compile(r"(?=.{2,12}$)[A-Za-z]{0,3}\d[A-Za-z0-9]*(?:[.\-/][A-Za-z0-9]+)*")
_SHARE = 0.95  # of the values must have the look
_SEPARATORS = re.compile(r"[.\-/]")


@dataclass(frozen=True)
class Dates:
    """Texts read as dates.

    Attributes
    ----------
    days
        The day of each text, in the form 2024-12-31.
    certain
        Whether day and month could be told apart; the year is always certain.
    """

    days: list[str]
    certain: bool


def read_dates(texts: Sequence[str]) -> Dates | None:
    """Read texts as dates, if all of them are; 31.12.2024 and 12/31/2024 in the order that is possible for all texts.

    Examples
    --------
    >>> read_dates(["31.12.2024", "01.02.2023"]).days
    ['2024-12-31', '2023-02-01']
    >>> read_dates(["12/31/2024", "01/02/2023"]).days, read_dates(["01/02/2023"]).certain
    (['2024-12-31', '2023-01-02'], False)
    """
    if not texts:
        return None
    for pattern in (_ISO, _YEAR_FIRST, _COMPACT):
        found = [pattern.fullmatch(text) for text in texts]
        if all(found):
            days = _days([(m[1], m[2], m[3]) for m in found if m])
            return None if days is None else Dates(days, certain=True)
    last = [_YEAR_LAST.fullmatch(text) for text in texts]
    if not all(last):
        return None
    day_first = _days([(m[4], m[3], m[1]) for m in last if m])
    month_first = _days([(m[4], m[1], m[3]) for m in last if m])
    dotted = all(m[2] == "." for m in last if m)  # with dots, nobody writes the month first
    if day_first is not None and (dotted or month_first is None):
        return Dates(day_first, certain=True)
    if month_first is not None and day_first is None:
        return Dates(month_first, certain=True)
    return None if day_first is None else Dates(day_first, certain=day_first == month_first)


def looks_like_postal_codes(texts: Sequence[str], name: str) -> bool:
    """Whether values are digits of one length, at least four, and the column's name or a leading zero indicates codes.

    Examples
    --------
    >>> looks_like_postal_codes(["43001", "43201"], "zip"), looks_like_postal_codes(["43001", "43201"], "wage")
    (True, False)
    >>> looks_like_postal_codes(["08001", "43201"], "place")
    True
    """
    if len({len(text.partition("-")[0]) for text in texts}) > 1 or not all(_DIGITS.fullmatch(text) for text in texts):
        return False
    return _POSTAL_NAME.search(name) is not None or any(text.startswith("0") for text in texts)


def looks_like_codes(texts: Sequence[str]) -> bool:
    """Whether values are short codes, of which several share a prefix.

    Examples
    --------
    >>> looks_like_codes(["E11.9", "E11.0", "E10", "J45.1", "J45.9", "I21.4"])
    True
    >>> looks_like_codes(["Olot", "Reus", "Salt", "Vic", "Berga", "Valls"])
    False
    """
    if len(texts) < 6 or sum(_CODE.fullmatch(text) is not None for text in texts) < _SHARE * len(texts):
        return False
    return len({text[:1] for text in texts}) <= len(texts) / 2 or len(set(code_stems(texts)[0])) <= len(texts) / 2


def code_stems(texts: Sequence[str]) -> list[list[str]]:
    """Shorter and shorter prefixes of codes: up to the first separator, then 3, 2 and 1 characters, if distinct.

    A prefix that stands for more than itself ends in "*".

    Examples
    --------
    >>> code_stems(["E11.9", "E11.0", "E10", "J45.1"])
    [['E11*', 'E11*', 'E10*', 'J45*'], ['E1*', 'E1*', 'E1*', 'J4*']]
    """
    stems = [_SEPARATORS.split(text, maxsplit=1)[0] for text in texts]
    longest = max(map(len, stems))
    levels, before = [], len(set(texts))
    for length in [longest, *range(min(longest - 1, 4), 0, -1)]:
        cut = [f"{stem[:length]}*" for stem in stems]
        if 1 < len(set(cut)) < before:
            levels.append(cut)
            before = len(set(cut))
    return levels or [[f"{text[:1]}*" for text in texts]]


def check_digits_97(text: str) -> bool:
    """Whether a text is an IBAN with valid check digits (ISO 7064, MOD 97-10).

    Examples
    --------
    >>> check_digits_97("GB82 WEST 1234 5698 7654 32"), check_digits_97("GB83 WEST 1234 5698 7654 32")
    (True, False)
    """
    code = text.replace(" ", "").upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{10,30}", code):
        return False
    return int("".join(str(int(c, 36)) for c in code[4:] + code[:4])) % 97 == 1


def _days(parts: Sequence[tuple[str, str, str]]) -> list[str] | None:
    """ISO dates from years, months and days; None if one does not exist."""
    try:
        return [datetime.date(int(y), int(m), int(d)).isoformat() for y, m, d in parts]
    except ValueError:
        return None

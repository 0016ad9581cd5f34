"""Proposed roles of columns: direct identifiers, quasi-identifiers and sensitive columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import comb

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.texts import check_digits_97, looks_like_postal_codes, read_dates
from sdc_problems.errors import SDCError
from sdc_problems.microdata import Attribute, Kind, Microdata, Role

_LOOKED_AT = 5000  # number of distinct values of a column that are looked at
_MOSTLY = 0.9  # share of values that must look alike, or of records whose value occurs once
_OWN = {Kind.NUMERIC: _MOSTLY, Kind.ORDINAL: 0.5, Kind.NOMINAL: 0.5}  # share of values that occur once, from which on
# a column singles people out by itself: fewer people know an amount to the last digit than a date or a name
_WORK = 2_000_000_000  # most records times combinations that are counted
_ENOUGH = 0.95  # share of records singled out from which on no larger combination is searched for

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
_PHONE = re.compile(r"(?:\+|00|\(?0)[\d\s()/.\-]{6,20}")
_SSN = re.compile(r"\d{3}-\d{2}-\d{4}|[A-Z]\d{9}|\d{2}[ .]?\d{6}[ .]?[A-Z][ .]?\d{3}")
_NAME = re.compile(r"[^\W\d_][\w'’.\-]*,? [^\W\d_][\w'’.\- ]*")
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-zà-ÿ]+|[A-Z]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words of column names: English, German, French, Spanish, Italian.
_RECORD = _words(
    "id nr no num number nummer numero key uuid guid mrn record case patient patientnr caseid kennung matricule code"
    " accession personnummer pid"
)
_PERSON_NUMBER = _words(
    "ssn nhs insurance insured versicherten versicherung svnr kvnr ahv passport passeport ausweis dni nie nif nss cf"
    " licence license tax taxid steuer iban account konto"
)
_PHONE_NAME = _words("phone telephone tel telefon mobile mobil handy fax telefono")
_PERSON_NAME = _words(
    "name surname firstname lastname forename fullname vorname nachname familienname nom prenom nombre apellido"
    " apellidos cognome"
)
_NO_PERSON = _words(
    "product file town city street country company department drug hospital school variable column ward"
)
_ADDRESS = _words("street address adresse strasse rue calle via housenumber hausnummer")
_SECRET = _words(
    "diagnosis diagnoses diagnose diagnostic diagnostico icd disease illness disorder hiv aids cancer tumor treatment"
    " therapy drug medication procedure surgery test outcome result psychiatric addiction disability income salary wage"
    " wages earnings lohn gehalt einkommen salaire revenu ingreso savings debt wealth capital charge charges cost costs"
    " kosten religion belief party vote politics orientation crime offence conviction death mortality pregnancy"
)
_KNOWN = _words(
    "age alter edad birth birthday birthdate dob geburt geburtsdatum naissance nacimiento born sex gender geschlecht"
    " sexe sexo genero zip postal postcode plz cp city town ort stadt ville ciudad municipality gemeinde commune county"
    " district region state province canton kanton land country nation nationality citizenship native birthplace race"
    " ethnicity ethnic marital civil education degree school studies occupation job profession beruf occupationcode"
    " employer industry workclass household children kids language admission admitted discharge discharged date datum"
    " fecha year month entry height weight"
)


@dataclass(frozen=True)
class ColumnFacts:
    """Facts about a column, and the role that follows from them.

    Attributes
    ----------
    name, kind
        The column, and its kind as read.
    distinct, missing
        Number of different values, and of records without one.
    once
        Number of records whose value occurs once.
    distinction
        Number of different values divided by that of records.
    separation
        Share of pairs of records that the column tells apart.
    role, reason
        The proposal, and why.
    """

    name: str
    kind: Kind
    distinct: int
    missing: int
    once: int
    distinction: float
    separation: float
    role: Role
    reason: str


@dataclass(frozen=True)
class Combination:
    """Columns that together single out records.

    Attributes
    ----------
    columns
        The columns.
    singled_out
        Number of records that are unique in these columns.
    separation
        Share of pairs of records that these columns tell apart.
    """

    columns: tuple[str, ...]
    singled_out: int
    separation: float


@dataclass(frozen=True)
class Scan:
    """Proposal of roles for a table.

    Attributes
    ----------
    records
        Number of records.
    columns
        Facts about each column, in the order of the table.
    combinations
        For each number of columns, the columns that single out the most records; exact among `searched`. The first
        one singles out at least one record; the list ends where nearly all are singled out or more columns add nothing.
    searched
        Columns among which combinations were searched for.
    not_searched
        Columns left out of that search because they tell fewer records apart and there were too many combinations.
    everything
        Number of records that all columns but direct identifiers single out together.
    harmless
        Columns without a role that together single out nobody: they may be released unchanged.
    """

    records: int
    columns: tuple[ColumnFacts, ...]
    combinations: tuple[Combination, ...]
    searched: tuple[str, ...]
    not_searched: tuple[str, ...]
    everything: int
    harmless: tuple[str, ...]

    def named(self, role: Role) -> tuple[str, ...]:
        """Names of the columns with a role."""
        return tuple(facts.name for facts in self.columns if facts.role is role)


def scan(data: Microdata, *, largest: int = 5, progress: Callable[[int, int], object] | None = None) -> Scan:
    """Propose a role for each column of a table, and find the combinations that single out the most records.

    It decides nothing: a column's name and values suggest what others may know about a person, but only the holder of
    the data knows what they do know.

    Parameters
    ----------
    data
        The table; its current roles are ignored.
    largest
        Largest number of columns in a combination.
    progress
        Called with the number of combinations counted and their total.

    Notes
    -----
    Distinction and separation are those of Motwani and Xu (2007), Efficient Algorithms for Masking and Finding
    Quasi-Identifiers. A missing value counts as a value of its own.

    Examples
    --------
    >>> from sdc_problems import datasets
    >>> found = scan(datasets.people(500).data)
    >>> found.combinations[1].columns
    ('age', 'hours')
    >>> found.columns[0].role
    <Role.QUASI_IDENTIFIER: 'quasi-identifier'>
    """
    if not 1 <= largest:
        raise SDCError(f"largest must be 1 or more, not {largest}")
    first = [_facts(data, attribute) for attribute in data.attributes]
    open_ones = [f for f in first if f.role not in (Role.IDENTIFIER, Role.SENSITIVE) and f.distinct > 1]
    open_ones.sort(key=lambda f: -f.separation)
    could = {f.name for f in open_ones}
    while len(open_ones) > 1 and _work(len(open_ones), largest) * data.n_records > _WORK:
        open_ones.pop()  # the column that tells the fewest pairs apart
    names = [f.name for f in open_ones]
    found = _combinations(data, names, largest, progress)
    needed = {name for combination in found for name in combination.columns}
    facts = [_placed(f, needed, found) for f in first]
    others = [f.name for f in facts if f.role is not Role.IDENTIFIER]
    everything = int((_counts(data.codes(others)) == 1).sum()) if others else 0
    searched = tuple(name for name in data.names if name in names)
    left_out = tuple(name for name in data.names if name in could and name not in names)
    harmless = _harmless(data, [f for f in facts if f.role is Role.OTHER])
    return Scan(data.n_records, tuple(facts), tuple(found), searched, left_out, everything, harmless)


# ---------------------------------------------------------------------- one column


def _facts(data: Microdata, attribute: Attribute) -> ColumnFacts:
    n = data.n_records
    counts = np.bincount(data.codes(attribute.name)[:, 0], minlength=attribute.n_categories)
    missing = int(counts[-1]) if attribute.has_missing else 0
    known = counts[: len(counts) - attribute.has_missing]
    role, reason = _proposal(attribute, known)
    return ColumnFacts(
        attribute.name,
        attribute.kind,
        len(known),
        missing,
        int((known == 1).sum()),
        len(known) / n,
        _separation(counts, n),
        role,
        reason,
    )


def direct_identifier(data: Microdata, column: str) -> str | None:
    """Reason why a column seems to identify a person by itself; None if it does not.

    Examples
    --------
    >>> import pandas as pd
    >>> data = Microdata.from_frame(pd.DataFrame({"mail": ["a@x.org", "b@y.org"], "age": [20, 30]}))
    >>> direct_identifier(data, "mail"), direct_identifier(data, "age")
    ('looks like e-mail addresses', None)
    """
    facts = _facts(data, data.attribute(column))
    return facts.reason if facts.role is Role.IDENTIFIER else None


def singling_out(data: Microdata, column: str) -> str | None:
    """Reason why a column singles people out by itself; None if it does not.

    It looks like an identifier, or half of its values (nine tenths for numbers) occur once.

    Examples
    --------
    >>> import pandas as pd
    >>> data = Microdata.from_frame(pd.DataFrame({"town": ["Olot", "Vic", "Reus", "Reus"], "sex": [1, 2, 1, 2]}))
    >>> singling_out(data, "town"), singling_out(data, "sex")
    ('2 of its 4 values occur once', None)
    """
    attribute = data.attribute(column)
    facts = _facts(data, attribute)
    present = data.n_records - facts.missing
    if present and facts.once >= _OWN[attribute.kind] * present:
        return f"{facts.once:,} of its {present:,} values occur once"
    return facts.reason if facts.role is Role.IDENTIFIER else None


def _separation(counts: NDArray[np.int64], n: int) -> float:
    together = counts.astype(np.float64)
    return 1.0 - float((together * (together - 1)).sum()) / (n * (n - 1)) if n > 1 else 0.0


def _proposal(attribute: Attribute, counts: NDArray[np.int64]) -> tuple[Role, str]:
    """Role by the look of the values and the words of the name; OTHER if neither says anything."""
    words = {word.casefold() for word in _WORDS.findall(attribute.name)}
    if len(counts) < 2:
        return Role.OTHER, "one value" if len(counts) else "no values"
    once = int((counts == 1).sum()) / int(counts.sum())
    every = max(1, len(counts) // _LOOKED_AT)
    texts = attribute.labels[: len(counts) : every]
    if direct := _direct(attribute, texts, words, once):
        return Role.IDENTIFIER, direct
    if looks_like_postal_codes(texts, attribute.name):
        return Role.QUASI_IDENTIFIER, "postal codes: others know where a person lives"
    if words & _SECRET:
        return Role.SENSITIVE, "its name says what a person keeps private"
    if read_dates(texts) is not None:
        return Role.QUASI_IDENTIFIER, "dates: others know when things happened"
    if words & _KNOWN:
        return Role.QUASI_IDENTIFIER, "its name says what others know about a person"
    if once >= _MOSTLY and attribute.kind is not Kind.NUMERIC:
        return Role.IDENTIFIER, _once(once)
    if attribute.kind is Kind.NOMINAL and _share(texts, re.compile(r"[A-Z]\d\d(?:\.?\w{1,4})?")) >= _MOSTLY:
        return Role.SENSITIVE, "codes like those of diagnoses"
    if once >= _OWN[attribute.kind]:
        return (Role.QUASI_IDENTIFIER if attribute.kind is Kind.NUMERIC else Role.IDENTIFIER), _once(once)
    return Role.OTHER, ""


def _once(share: float) -> str:
    return f"{share:.0%} of its values occur once"


def _direct(attribute: Attribute, texts: Sequence[str], words: set[str], once: float) -> str | None:
    """Reason why a column identifies a person by itself."""
    text = attribute.kind is Kind.NOMINAL
    if text and _share(texts, _EMAIL) >= _MOSTLY:
        return "looks like e-mail addresses"
    if text and sum(map(check_digits_97, texts)) >= _MOSTLY * len(texts):
        return "looks like IBANs: the check digits are right"
    if (text and _share(texts, _PHONE) >= _MOSTLY and read_dates(texts) is None and _long(texts, 7)) or (
        words & _PHONE_NAME and _long(texts, 5)
    ):
        return "looks like telephone numbers"
    if (words & _PERSON_NUMBER and once >= 0.5) or (text and _share(texts, _SSN) >= _MOSTLY and once >= 0.5):
        return "looks like insurance, passport or account numbers"
    if text and len(texts) > 20 and words & _PERSON_NAME and not words & _NO_PERSON:
        return "its name says that it names persons"
    if text and len(texts) > 20 and once >= 0.5 and _share(texts, _NAME) >= _MOSTLY and not words & _NO_PERSON:
        return "looks like names of persons"
    if (
        text
        and once >= 0.3
        and len(texts) > 20
        and _share(texts, _NAME) >= _MOSTLY
        and words & (_PERSON_NAME | _ADDRESS)
    ):
        return "looks like names or addresses of persons"
    if words & _ADDRESS and once >= 0.3:
        return "looks like addresses"
    if words & _RECORD and once >= _MOSTLY and not _has_decimals(attribute):
        return f"a number of the record: {once:.0%} of its values occur once"
    if attribute.kind is Kind.NUMERIC and once == 1.0 and len(texts) > 20 and _running(attribute):
        return "numbers the records one after another"
    return None


def _has_decimals(attribute: Attribute) -> bool:
    """Whether a column has numbers with decimals, which are amounts or measurements."""
    if attribute.kind is not Kind.NUMERIC:
        return False
    numbers = attribute.numbers
    numbers = numbers[~np.isnan(numbers)]
    return bool((numbers != np.floor(numbers)).any())


def _running(attribute: Attribute) -> bool:
    numbers = attribute.numbers[~np.isnan(attribute.numbers)]
    return not _has_decimals(attribute) and float(numbers.max() - numbers.min()) < 1.05 * len(numbers)


def _share(texts: Sequence[str], pattern: re.Pattern[str]) -> float:
    return sum(pattern.fullmatch(text) is not None for text in texts) / len(texts)


def _long(texts: Sequence[str], digits: int) -> bool:
    """Whether nearly all texts have so many digits."""
    return sum(sum(c.isdigit() for c in text) >= digits for text in texts) >= _MOSTLY * len(texts)


def _placed(facts: ColumnFacts, needed: set[str], found: Sequence[Combination]) -> ColumnFacts:
    """Make a column without a proposal a quasi-identifier if it singles people out together with others."""
    if facts.role is not Role.OTHER or facts.reason:
        return facts
    if facts.name not in needed:
        return replace(facts, reason="neither its name nor its values say that others know it")
    with_it = next(c for c in found if facts.name in c.columns)
    others = [name for name in with_it.columns if name != facts.name]
    how = f"with {', '.join(others)}" if others else "alone"
    return replace(facts, role=Role.QUASI_IDENTIFIER, reason=f"singles out {with_it.singled_out:,} records {how}")


# ---------------------------------------------------------------------- several columns


def _harmless(data: Microdata, others: Sequence[ColumnFacts]) -> tuple[str, ...]:
    """Columns that together single out nobody, taken from those that tell the fewest records apart."""
    group, taken = np.zeros(data.n_records, dtype=np.int64), set[str]()
    for facts in sorted(others, key=lambda f: f.separation):
        finer, n = _refined(group, data.codes(facts.name)[:, 0])
        if (np.bincount(finer, minlength=n) > 1).all():
            group = finer
            taken.add(facts.name)
    return tuple(name for name in data.names if name in taken)


def _work(columns: int, largest: int) -> int:
    return sum(comb(columns, size) for size in range(1, largest + 1))


def _counts(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number of records for each combination of values."""
    group = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        group, _ = _refined(group, column)
    return np.bincount(group)


def _refined(group: NDArray[np.int64], column: NDArray[np.int32]) -> tuple[NDArray[np.int64], int]:
    """Groups split by a further column, numbered from 0, and their number."""
    size = int(column.max()) + 1 if len(column) else 1
    keys = group * size + column
    room = (int(group.max()) + 1) * size if len(group) else 1
    if room > 8 * len(keys) + 1024:
        _, keys = np.unique(keys, return_inverse=True)
        return keys, int(keys.max()) + 1 if len(keys) else 0
    number = np.cumsum(np.bincount(keys, minlength=room) > 0) - 1
    return number[keys], int(number[-1]) + 1


@dataclass
class _Rest:
    """Records that a combination does not single out; those that it does remain so with any further column."""

    alone: int
    rows: NDArray[np.intp]
    group: NDArray[np.int64]

    def split(self, column: NDArray[np.int32]) -> _Rest:
        group, n = _refined(self.group, column[self.rows])
        counts = np.bincount(group, minlength=n)
        kept = counts[group] > 1
        number = np.cumsum(counts > 1) - 1
        return _Rest(self.alone + int((counts == 1).sum()), self.rows[kept], number[group[kept]])


def _combinations(
    data: Microdata, names: Sequence[str], largest: int, progress: Callable[[int, int], object] | None
) -> list[Combination]:
    """Columns that single out the most records, for each number of columns; among equals, the first found."""
    columns = data.codes(names) if names else np.empty((data.n_records, 0), dtype=np.int32)
    search = _Search(np.asfortranarray(columns), min(largest, len(names)), progress)
    found: list[Combination] = []
    for size in range(1, min(largest, len(names)) + 1):
        best, chosen = search.best(size)
        if best <= (found[-1].singled_out if found else 0):
            if found:
                break
            continue
        wanted = sorted((names[j] for j in chosen), key=data.names.index)
        found.append(Combination(tuple(wanted), best, _separation(_counts(columns[:, chosen]), len(columns))))
        if best >= _ENOUGH * len(columns):
            break
    return found


class _Search:
    """Depth-first search for the columns that single out the most records."""

    def __init__(self, columns: NDArray[np.int32], largest: int, progress: Callable[[int, int], object] | None) -> None:
        self.columns, self.progress = columns, progress
        self.total, self.done = _work(columns.shape[1], largest), 0

    def best(self, size: int) -> tuple[int, list[int]]:
        """Most records that so many columns single out, and these columns."""
        self.most, self.chosen = -1, list[int]()
        n = len(self.columns)
        self._extend(_Rest(0, np.arange(n), np.zeros(n, dtype=np.int64)), [], size)
        return self.most, self.chosen

    def _extend(self, rest: _Rest, taken: list[int], lacking: int) -> None:
        if not lacking:
            self.done += 1
            if self.progress is not None:
                self.progress(self.done, self.total)
            if rest.alone > self.most:
                self.most, self.chosen = rest.alone, taken
            return
        begin, end = taken[-1] + 1 if taken else 0, self.columns.shape[1]
        if lacking > 1 and self._bound(rest, range(begin, end)) <= self.most:
            return
        for j in range(begin, end - lacking + 1):
            self._extend(rest.split(self.columns[:, j]), [*taken, j], lacking - 1)

    def _bound(self, rest: _Rest, following: range) -> int:
        """Number of records that all following columns single out together: a bound for each of them."""
        for j in following:
            if not len(rest.rows):
                break
            rest = rest.split(self.columns[:, j])
        return rest.alone

"""Columns of a released file: which are protected, which leave as they were, which do not leave."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.microdata import Microdata, Role
from sdc_problems.roles import singling_out
from sdc_problems.studies.release.guarantees import classes_of

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.problem import SDCProblem
    from sdc_problems.studies.verdict import Verdict


@dataclass(frozen=True)
class Columns:
    """Columns of a table by what a release does with them, in the order of the table.

    Attributes
    ----------
    protected
        Columns that the protection is about.
    sensitive
        Columns that must not be learned about a person; they leave as they were.
    unchanged
        All others that leave as they were.
    left_out
        Columns without a role that do not leave.
    identifiers
        Direct identifiers; they never leave.
    pseudonyms
        Direct identifiers in whose place random numbers leave.
    """

    protected: tuple[str, ...]
    sensitive: tuple[str, ...]
    unchanged: tuple[str, ...]
    left_out: tuple[str, ...]
    identifiers: tuple[str, ...]
    pseudonyms: tuple[str, ...] = ()

    def leaving(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The table without the columns that do not leave."""
        gone = {*self.left_out, *self.identifiers}
        return frame[[name for name in frame.columns if name not in gone]]


@dataclass(frozen=True)
class SingledOut:
    """Records of a file that are the only ones with their combination of values.

    Attributes
    ----------
    unchanged
        In the columns left as they were.
    together
        In these and the protected ones.
    everything
        In all columns that leave, the sensitive ones, too.
    records
        Records of the file.
    """

    unchanged: int
    together: int
    everything: int
    records: int


def protected_columns(problem: SDCProblem) -> tuple[str, ...]:
    """Columns that a problem protects."""
    return tuple(getattr(problem, "attributes", problem.data.quasi_identifiers))


def columns_that_leave(
    data: Microdata, protected: Sequence[str], keep: Sequence[str] | None = None, pseudonyms: Sequence[str] = ()
) -> Columns:
    """Decide which columns leave, and refuse those without a role that look like an identifier.

    Parameters
    ----------
    data
        The table.
    protected
        The columns that the protection is about.
    keep
        All columns without a role that may leave as they were. If not given, all of them leave; one that
        singles people out by itself (`sdc_problems.roles.singling_out`) is an error.
    pseudonyms
        Direct identifiers that leave as random numbers.
    """
    others = [a for a in data.attributes if a.role is Role.OTHER and a.name not in protected]
    names = [attribute.name for attribute in others]
    left_out: tuple[str, ...] = ()
    if keep is not None:
        for name in keep:
            if data.attribute(name).role is Role.IDENTIFIER:
                raise SDCError(
                    f"keep names {name!r}, a direct identifier, which is never released: remove it from keep"
                )
            if name not in names:
                what = "protected" if name in protected else f"a {data.attribute(name).role.value} column"
                raise SDCError(f"keep names {name!r}, which is {what}: keep is for columns without a role")
        left_out = tuple(name for name in names if name not in keep)
    else:
        _refuse_singling_out(data, names)
    sensitive = tuple(name for name in data.sensitive if name not in protected)
    gone = {*protected, *sensitive, *left_out, *data.identifiers}
    return Columns(
        tuple(protected),
        sensitive,
        tuple(name for name in data.names if name not in gone),
        left_out,
        tuple(name for name in data.identifiers if name not in protected and name not in pseudonyms),
        tuple(pseudonyms),
    )


def check_pseudonyms(data: Microdata, names: Sequence[str]) -> None:
    """Refuse columns that are no direct identifiers."""
    for name in names:
        if name not in data.identifiers:
            near = did_you_mean(name, data.identifiers)
            raise SDCError(f"pseudonym names {name!r}, which is not an identifier{near}: name it as an identifier, too")


def pseudonyms(data: Microdata, name: str, seed: int | None) -> NDArray[np.int64]:
    """Random number of each record, the same where the identifier is the same, and none that is an identifier.

    Parameters
    ----------
    data
        The table.
    name
        The identifier's column.
    seed
        Secret seed; drawn if not given.
    """
    attribute = data.attribute(name)
    n = attribute.n_categories
    rng = np.random.default_rng([secrets.randbits(63) if seed is None else seed, data.names.index(name)])
    taken = set(attribute.labels)
    low = 10 ** (len(str(n)) + 1)
    found: dict[int, None] = {}
    while len(found) < n:
        drawn = rng.integers(low, 10 * low, size=n)
        found.update(dict.fromkeys(number for number in drawn.tolist() if str(number) not in taken))
    numbers: NDArray[np.int64] = np.array(list(found)[:n], dtype=np.int64)
    return numbers[data.codes(name)[:, 0]]


def _refuse_singling_out(data: Microdata, others: Sequence[str]) -> None:
    reasons = {name: reason for name in others if (reason := singling_out(data, name)) is not None}
    if not reasons:
        return
    named = "; ".join(f"column {name!r} has no role and {reason}" for name, reason in reasons.items())
    them = "it" if len(reasons) == 1 else "they"
    raise SDCError(
        f"{named}: published unchanged, {them} would single people out. Name as identifiers what names a person, to"
        f" leave it out (--identifiers {','.join(reasons)}), protect what others know, or name in keep (--keep) all"
        f" columns without a role to publish unchanged (now: {', '.join(others)})"
    )


def warn_of_unasked(entry: Mapping[str, Any]) -> None:
    """Warn of columns that nobody gave a role or named in keep, where they single people out.

    Parameters
    ----------
    entry
        Entry of the certificate on the columns.
    """
    names, alone = entry["left_as_they_were"], entry["records_singled_out"]
    found = alone["by_columns_left_as_they_were"]
    if names and found:
        warnings.warn(
            f"columns without a role are published unchanged ({', '.join(names)}): in them, {found:,} of"
            f" {alone['of']:,} records are unique. Name those that may be published (--keep), leave them out"
            " (--identifiers), or protect them",
            UserWarning,
            stacklevel=3,
        )


def singled_out(text: pd.DataFrame, columns: Columns) -> SingledOut:
    """Count the records that the columns left as they were single out, alone and with the protected ones.

    Parameters
    ----------
    text
        The cells of the released file.
    columns
        Its columns.
    """

    def once(names: Sequence[str]) -> int:
        there = [name for name in names if name in text.columns]
        return int((np.bincount(classes_of(text, there)) == 1).sum()) if there and len(text) else 0

    together = [*columns.protected, *columns.unchanged]
    return SingledOut(once(columns.unchanged), once(together), once([*together, *columns.sensitive]), len(text))


def measured(data: Microdata, aligned: pd.DataFrame, columns: Columns, **options: Any) -> Verdict:
    """Measure released records as ``sdc evaluate`` does.

    Parameters
    ----------
    data
        The original table.
    aligned
        The released cells, one row for each record of the original.
    columns
        Columns of the release.
    **options
        Options of `verdict`.
    """
    from sdc_problems.studies.verdict import verdict

    gone = [*columns.identifiers, *columns.pseudonyms, *columns.left_out]
    roles = data.with_roles(quasi_identifiers=columns.protected, sensitive=columns.sensitive, identifiers=gone)
    return verdict(roles, aligned.drop(columns=list(columns.pseudonyms)), same_rows=True, **options)


def sentences(columns: Columns, found: SingledOut | None, *, least: int = 1) -> tuple[str, ...]:
    """Sentences on the columns that are published unchanged, and on the records that they single out.

    Parameters
    ----------
    columns, found
        The columns, and the records that they single out; None if these were not counted.
    least
        Smallest number of records that is said; of fewer it is said that they are fewer.
    """

    def many(count: int) -> str:
        return f"fewer than {least}" if 0 < count < least else f"{count:,}"

    said = []
    if columns.unchanged:
        counted = (
            ""
            if found is None
            else f" In these columns, {many(found.unchanged)} of {found.records:,} records are unique;"
            f" together with {', '.join(columns.protected)}, {many(found.together)} are."
        )
        said.append(f"Unchanged: {', '.join(columns.unchanged)}.{counted}")
    if columns.sensitive:
        counted = "" if found is None else f" In all columns of the file together, {many(found.everything)} are unique."
        said.append(f"Sensitive, unchanged: {', '.join(columns.sensitive)}.{counted}")
    if columns.left_out:
        said.append(f"Left out, because without a role and not kept: {', '.join(columns.left_out)}.")
    if columns.pseudonyms:
        said.append(
            f"Identifiers, replaced by random numbers: {', '.join(columns.pseudonyms)}. The value mapping says"
            " which number belongs to whom. Records with the same number belong to the same person."
        )
    if columns.identifiers:
        said.append(f"Identifiers, left out: {', '.join(columns.identifiers)}.")
    return tuple(said)


def roles_of(certificate: Mapping[str, Any]) -> dict[str, list[str]]:
    """Roles of the original's columns by a certificate, and under ``keep`` all that leave.

    It may come from a stranger: anything in it that is not a name of a column is an error.
    """
    try:
        columns, output = certificate["columns"], certificate["output"]
        found = {
            "quasi_identifiers": [*columns["protected"]],
            "sensitive": [*columns["sensitive"]],
            "identifiers": [*output["identifiers_left_out"], *columns["pseudonyms"]],
            "keep": [*output["columns"]],
        }
    except (KeyError, TypeError):
        found = {"": [0]}
    if not all(isinstance(name, str) for names in found.values() for name in names):
        raise SDCError("the certificate beside the file names no columns: use the certificate as it was written")
    return found


def payload(columns: Columns, found: SingledOut, dropped: int = 0) -> dict[str, Any]:
    """Entry of a certificate on its columns; ``dropped`` records were left out before anything was counted."""
    return {
        "protected": list(columns.protected),
        "sensitive": list(columns.sensitive),
        "left_as_they_were": list(columns.unchanged),
        "left_out": list(columns.left_out),
        "pseudonyms": list(columns.pseudonyms),
        "records_singled_out": {
            "by_columns_left_as_they_were": found.unchanged,
            "together_with_protected": found.together,
            "by_all_columns": found.everything,
            "of": found.records,
            "left_out_for_missing_values": dropped,
        },
    }

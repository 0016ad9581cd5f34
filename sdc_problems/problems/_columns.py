"""Columns that a problem protects: all quasi-identifiers, or those that are named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sdc_problems.errors import SDCError, did_you_mean

if TYPE_CHECKING:
    from sdc_problems.microdata import Microdata


def as_microdata(data: Any, columns: Sequence[str] | None) -> Microdata:
    """Return a problem's table as Microdata; any other kind of table gets ``columns`` as its quasi-identifiers.

    Parameters
    ----------
    data
        Microdata, a DataFrame of pandas or polars, an Arrow table, or a dict of columns.
    columns
        Names; required unless the table is a Microdata, because other tables have no roles.
    """
    from sdc_problems._tables.frames import is_frame
    from sdc_problems.microdata import Microdata

    if isinstance(data, Microdata):
        return data
    if not is_frame(data):
        raise SDCError(f"data must be a Microdata or a table, not {type(data).__name__}")
    if columns is None:
        raise SDCError(
            "a table without roles: name the quasi-identifiers by columns=[…], or declare all roles by"
            " Microdata.from_frame(table, quasi_identifiers=[…], sensitive=[…])"
        )
    return Microdata.from_frame(data, quasi_identifiers=() if isinstance(columns, str) else tuple(columns))


def protected_columns(data: Microdata, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns to protect: all quasi-identifiers, or the named ones in the order given.

    Parameters
    ----------
    data
        The table. If it declares no quasi-identifiers, any columns may be named.
    columns
        Names, or None for all quasi-identifiers.
    """
    if columns is None:
        if not data.quasi_identifiers:
            raise SDCError("no quasi-identifiers were declared: give quasi_identifiers= when the table is made")
        return data.quasi_identifiers
    if isinstance(columns, str):
        raise SDCError(f"columns must be a sequence of names: write columns=[{columns!r}]")
    chosen = tuple(columns)
    if not chosen:
        raise SDCError("columns is empty: name at least one, or leave it out to protect all quasi-identifiers")
    if len(set(chosen)) < len(chosen):
        raise SDCError(f"a column is named twice in {chosen}")
    for name in chosen:
        data.attribute(name)
        if data.quasi_identifiers and name not in data.quasi_identifiers:
            raise SDCError(
                f"column {name!r} is not a quasi-identifier{did_you_mean(name, data.quasi_identifiers)}:"
                " columns= narrows"
                " their choice; declare it as one to protect it, too (data.with_roles, or quasi_identifiers in a study)"
            )
    return chosen


def left_as_they_are(data: Microdata, columns: Sequence[str]) -> tuple[str, ...]:
    """Sentence on the quasi-identifiers that are not protected, as a tuple; empty if there are none."""
    others = [name for name in data.quasi_identifiers if name not in columns]
    return (f"Quasi-identifiers that stay as they are: {', '.join(others)}.",) if others else ()

"""Application of a registered method to columns of a table: arguments of the method, and checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._slices import telling
from sdc_problems._tables.columns import STAR
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import dense
from sdc_problems.hierarchy import Hierarchy
from sdc_problems.methods._by_name import codes_as_cells, missing_codes, numbers_as_cells
from sdc_problems.methods._importance import weights_of
from sdc_problems.methods.partition._centroids import microaggregate, span
from sdc_problems.methods.recoding._generalize import Recoded
from sdc_problems.methods.registry import Method, Partitioned, available
from sdc_problems.microdata import Attribute, Microdata


def apply(
    method: Method,
    data: Microdata,
    *,
    columns: Sequence[str] | None = None,
    k: int | None = None,
    l: int | None = None,
    entropy_l: float | None = None,
    t: float | None = None,
    within: Sequence[str] = (),
    max_suppression: float | None = None,
    suppression_price: float | None = None,
    importance: Mapping[str, float] | None = None,
    seconds: float | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    rng: np.random.Generator | None = None,
    problem: Callable[[], Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> NDArray[Any] | Partitioned | Recoded:
    """Apply a method to columns of a table.

    Parameters
    ----------
    method
        Method to apply.
    data
        Table to protect; it is not changed.
    columns
        Columns to protect; by default, the quasi-identifiers.
    k
        Smallest number of records that look alike, for a method that takes k.
    l, entropy_l, t
        Requirements on the sensitive columns, for a method that can guarantee them.
    within
        Columns whose strata are protected separately, for a method that takes them.
    max_suppression
        Largest number or share of records to suppress, for a method that suppresses records.
    suppression_price
        Loss of a suppressed record, as a multiple of that of a record in which everything is lost.
    importance
        Weight of a lost cell of each column, by name, for a method that weights columns.
    seconds
        Time limit of a method that searches.
    hierarchies
        Hierarchies by column, for a method that takes them.
    rng
        Source of random numbers, for a method that draws any.
    problem
        Function that makes the MicroaggregationProblem, for a method that takes one.
    options
        Options of the method.

    Returns
    -------
    ndarray, Partitioned or Recoded
        Labels of a partition (one per record), with sentences if the method gives any; cells (records × columns:
        numbers, or codes); or a recoded table.

    Examples
    --------
    >>> import pandas as pd
    >>> from sdc_problems.methods import find
    >>> data = Microdata.from_frame(pd.DataFrame({"age": [20, 60, 21, 61]}), quasi_identifiers=["age"])
    >>> apply(find("mdav"), data, k=2)
    array([0, 1, 0, 1], dtype=int32)
    """
    names = list(data.quasi_identifiers if columns is None else columns)
    if not names:
        raise SDCError("no columns to protect: name the quasi-identifiers")
    kinds = tuple(data.attribute(name).kind.value for name in names)
    chosen = method.arguments({} if options is None else options)
    check_columns(method, names, kinds)
    method.refuse_many(len(data))
    if method.takes_k and k is None:
        raise SDCError(f"method {method.name} needs k, the size of the smallest group")
    if not method.takes_k and k is not None:
        raise SDCError(f"method {method.name} promises no k: omit k")
    for name, wanted in (("l", l), ("entropy_l", entropy_l), ("t", t)):
        if wanted is not None and not method.takes(name):
            raise SDCError(f"method {method.name} cannot promise {name}: use {', '.join(_that_take(name))}")
    if within and not method.takes("within"):
        raise SDCError(f"method {method.name} takes no within: apply it to each stratum")
    if max_suppression is not None and not method.takes("max_suppression"):
        raise SDCError(f"method {method.name} leaves out no records: omit max_suppression as well")
    if suppression_price is not None and not method.takes("suppression_price"):
        raise SDCError(f"method {method.name} leaves out no records: omit suppression_price as well")
    if importance and not (method.takes("importance") or method.takes("weights")):
        weigh = ", ".join([*_that_take("importance"), *_that_take("weights")])
        raise SDCError(f"method {method.name} does not weigh columns: omit importance, or use {weigh}")
    weights = weights_of(names, importance)
    if seconds is not None and not method.takes("seconds"):
        raise SDCError(f"method {method.name} has no time limit: omit seconds")
    if method.needs_hierarchies and not hierarchies:
        raise SDCError(f"method {method.name} needs hierarchies: one for each column that it generalizes")
    table = data if tuple(names) == data.quasi_identifiers else _with_columns(data, names)
    supplied: dict[str, Callable[[], Any]] = {
        "X": lambda: points(data, names),
        "codes": lambda: data.codes(names).astype(np.int64),
        "data": lambda: table,
        "problem": lambda: None if problem is None else problem(),
        "hierarchies": lambda: hierarchies,
        "k": lambda: k,
        "l": lambda: l,
        "entropy_l": lambda: entropy_l,
        "t": lambda: t,
        "within": lambda: within,
        "max_suppression": lambda: max_suppression,
        "suppression_price": lambda: suppression_price,
        "importance": lambda: importance,
        "weights": lambda: weights if importance else None,
        "seconds": lambda: seconds,
        "kinds": lambda: kinds,
        "missing_codes": lambda: missing_codes(data, names),
        "rng": lambda: rng,
        "progress": lambda: telling(f"{method.name}: records done"),
    }
    given = {name: value() for name, value in supplied.items() if method.takes(name)}
    for name, value in (("max_suppression", max_suppression), ("seconds", seconds), ("weights", importance)):
        if value is None:
            given.pop(name, None)  # the method has a default
    for name in ("problem", "rng"):
        if name in given and given[name] is None:
            raise SDCError(f"method {method.name} needs {name}")
    try:
        if not method.takes("x"):
            found = method.function(**given, **chosen)
        else:
            X = points(data, names)
            each = [method.function(x=np.ascontiguousarray(X[:, j]), **given, **chosen) for j in range(len(names))]
            found = each[0] if method.form == "partition" else np.stack([np.asarray(cells) for cells in each], axis=1)
    except SDCError as error:  # functions on arrays number columns; users know them by name
        text = re.sub(r"column (\d+) of (?:X|codes)\b", lambda found: f"column {names[int(found[1])]!r}", str(error))
        raise type(error)(text) from None
    return _checked(method, found, len(data), names)


def recoded(
    method: Method,
    data: Microdata,
    found: NDArray[Any] | Partitioned | Recoded,
    *,
    columns: Sequence[str] | None = None,
) -> Recoded:
    """New cells of the protected columns from the result of `apply`, whatever its form.

    Parameters
    ----------
    method, data, columns
        Arguments of `apply`.
    found
        Result of `apply`.

    Examples
    --------
    >>> import pandas as pd
    >>> from sdc_problems.methods import find
    >>> data = Microdata.from_frame(pd.DataFrame({"age": [20, 60, 21, 61]}), quasi_identifiers=["age"])
    >>> method = find("mdav")
    >>> done = recoded(method, data, apply(method, data, k=2))
    >>> done.columns["age"].tolist(), done.sentences[0]
    ([20.5, 60.5, 20.5, 60.5], 'The 4 records form 2 groups of 2 similar records; in age each record gets the mean of its group.')
    """  # noqa: E501 -- the doctest's output is one line
    if isinstance(found, Recoded):
        return found
    names = list(data.quasi_identifiers if columns is None else columns)
    attributes = [data.attribute(name) for name in names]
    kinds = tuple(attribute.kind.value for attribute in attributes)
    told: tuple[str, ...] = ()
    if isinstance(found, Partitioned):
        found, told = found
    if method.form == "partition":
        labels, _ = dense(found)
        cells: NDArray[Any] = microaggregate(points(data, names), labels, kinds=kinds)
        sizes = np.bincount(labels)
        what = {"numeric": "mean", "ordinal": "median", "nominal": "most frequent value"}
        used = " or ".join(dict.fromkeys(what[kind] for kind in kinds))
        sentence = (
            f"The {len(data):,} records form {len(sizes):,} groups of {span(sizes)} similar records; in"
            f" {', '.join(names)} each record gets the {used} of its group."
        )
        new = {
            a.name: cells[:, j] if a.kind.value == "numeric" else codes_as_cells(a, cells[:, j])
            for j, a in enumerate(attributes)
        }
        return Recoded(new, (sentence, *told))
    new = {a.name: _cells(method, a, found[:, j]) for j, a in enumerate(attributes)}
    before = points(data, names)
    changed = [f"{name} {int((before[:, j] != found[:, j]).sum()):,}" for j, name in enumerate(names)]
    sentence = f"{method.title[0].upper()}{method.title[1:]}. Cells changed of {len(data):,}: {', '.join(changed)}."
    return Recoded(new, (sentence,))


def _that_take(name: str) -> list[str]:
    return [method.name for method in available().values() if method.takes(name)]


def _cells(method: Method, attribute: Attribute, found: NDArray[Any]) -> NDArray[Any]:
    if attribute.kind.value == "numeric":
        values = np.asarray(found, dtype=np.float64)
        if not np.isfinite(values).all():
            raise SDCError(f"method {method.name} made values of column {attribute.name!r} that are not numbers")
        return numbers_as_cells(attribute, values)
    codes = found.astype(np.int64)
    if (codes != found).any() or codes.min() < -1 or codes.max() >= attribute.n_categories:
        raise SDCError(
            f"method {method.name} made values of column {attribute.name!r} that are not among its categories"
        )
    suppressed = codes < 0
    cells = codes_as_cells(attribute, np.where(suppressed, 0, codes))
    if suppressed.any():
        cells = cells.astype(object)
        cells[suppressed] = STAR
    return cells


def _with_columns(data: Microdata, names: Sequence[str]) -> Microdata:
    """Table with these quasi-identifiers; all other roles stay the same."""
    return data.with_roles(
        quasi_identifiers=names,
        sensitive=[name for name in data.sensitive if name not in names],
        identifiers=[name for name in data.identifiers if name not in names],
    )


def points(data: Microdata, columns: Sequence[str]) -> NDArray[np.float64]:
    """Columns as numbers: values of numeric columns, codes of the others."""
    table: NDArray[np.float64] = data.codes(list(columns)).astype(np.float64)
    for j, name in enumerate(columns):
        attribute = data.attribute(name)
        if attribute.kind.value == "numeric":
            if attribute.has_missing:
                raise SDCError(f"column {name!r} has missing values: fill them, or drop those records")
            table[:, j] = data.values(name)[:, 0]
    return table


def check_columns(method: Method, names: Sequence[str], kinds: Sequence[str]) -> None:
    """Raise an error for columns of kinds that the method does not accept; it names methods that do."""
    for name, kind in zip(names, kinds, strict=True):
        if kind not in method.kinds:
            others = [m.name for m in available().values() if set(kinds) <= set(m.kinds) and not m.one_column]
            raise SDCError(
                f"method {method.name} is for {' or '.join(method.kinds)} columns, and {name!r} is {kind}: use"
                f" {', '.join(others) or 'another column'}"
            )
    if method.one_column and len(names) != 1:
        raise SDCError(f"method {method.name} is for one column, not for {len(names)}: use mdav, mhm or hybrid")


def _checked(method: Method, found: Any, n: int, names: Sequence[str]) -> NDArray[Any] | Partitioned | Recoded:
    """Check that a result has the form of the method: functions of other packages may return anything."""
    if method.form == "table":
        if not isinstance(found, Recoded) or any(len(cells) != n for cells in found.columns.values()):
            raise SDCError(f"method {method.name} must return a Recoded of {n} records, not {type(found).__name__}")
        for name in found.columns:
            if name not in names:
                raise SDCError(
                    f"method {method.name} changes column {name!r}, which is not one of the columns to protect"
                )
        return found
    p = len(names)
    told = found if method.form == "partition" and isinstance(found, Partitioned) else None
    array = np.asarray(found if told is None else told.labels)
    shape = (n,) if method.form == "partition" else (n, p)
    if method.form == "cells" and array.shape == (n,) and p == 1:
        array = array[:, None]
    if array.shape != shape:
        raise SDCError(f"method {method.name} must return an array of shape {shape}, not {array.shape}")
    return array if told is None else Partitioned(array, told.sentences)

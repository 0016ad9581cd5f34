"""Application of a registered method to columns of a table: what the method is given, and what it may not get."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._slices import telling
from sdc_problems._tables.columns import STAR
from sdc_problems.errors import SDCError
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
        The method.
    data
        The table; it is not changed.
    columns
        The columns to protect; the quasi-identifiers if not given.
    k
        For a method that takes one.
    l, entropy_l, t
        For a method that can promise them, of the sensitive columns.
    within
        Columns whose strata a method protects each on its own, if it takes them.
    max_suppression
        How many records a method that suppresses any may suppress.
    suppression_price
        What a record that it suppresses counts: so many times one that loses everything.
    importance
        What a lost cell of each column counts, by name, for a method that weighs columns.
    seconds
        How long a method that searches may search.
    hierarchies
        By column, for a method that takes them.
    rng
        For a method that draws random numbers.
    problem
        Makes the MicroaggregationProblem, for a method that takes one.
    options
        The method's own options.

    Returns
    -------
    ndarray, Partitioned or Recoded
        Labels of a partition (one per record), with sentences where the method has some; cells (records × columns:
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
    except SDCError as error:  # functions on arrays count columns; a person calls them by name
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
    """New cells of the protected columns, whatever the form of what `apply` returned.

    Parameters
    ----------
    method, data, columns
        As they were given to `apply`.
    found
        What it returned.

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
        labels = np.unique(found, return_inverse=True)[1]
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
    """The table with these quasi-identifiers, each other role as it was."""
    return data.with_roles(
        quasi_identifiers=names,
        sensitive=[name for name in data.sensitive if name not in names],
        identifiers=[name for name in data.identifiers if name not in names],
    )


def points(data: Microdata, columns: Sequence[str]) -> NDArray[np.float64]:
    """Columns as numbers: values of numeric ones, codes of the others."""
    table: NDArray[np.float64] = data.codes(list(columns)).astype(np.float64)
    for j, name in enumerate(columns):
        attribute = data.attribute(name)
        if attribute.kind.value == "numeric":
            if attribute.has_missing:
                raise SDCError(f"column {name!r} has missing values: fill them, or drop those records")
            table[:, j] = data.values(name)[:, 0]
    return table


def check_columns(method: Method, names: Sequence[str], kinds: Sequence[str]) -> None:
    """Refuse columns that the method is not for, and say which methods are."""
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
    """Refuse what is not of the method's form: another package's function may return anything."""
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

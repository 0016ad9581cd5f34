"""Quasi-identifiers of a graph's nodes as the engine takes them, and their released values as cells again."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError, SDCWarning, did_you_mean
from sdc_problems.evaluators.node_clusters import Column
from sdc_problems.microdata import Kind

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.microdata import Microdata

AGGREGATES = ("mode", "median", "mean", "generalize")
_DEFAULT = {Kind.NOMINAL: "mode", Kind.ORDINAL: "median", Kind.NUMERIC: "mean"}


@dataclass(frozen=True)
class Plan:
    """Attributes that are protected, in the engine's order, and how.

    Attributes
    ----------
    names
        Columns, those of a ranking side by side.
    rules
        How each gets its common value; "borda" for ranks.
    rankings
        The ranked columns, best first.
    """

    names: tuple[str, ...]
    rules: tuple[str, ...]
    rankings: tuple[tuple[str, ...], ...]

    def ranking_of(self, name: str) -> tuple[str, ...]:
        """Ranking that a column belongs to, or nothing."""
        return next((group for group in self.rankings if name in group), ())


def plan_of(
    data: Microdata,
    hierarchies: Mapping[str, Hierarchy],
    ranked: Sequence[Sequence[str]],
    aggregate: Mapping[str, str],
) -> Plan:
    """Check what was said about columns against the table."""
    wanted = data.quasi_identifiers
    if not wanted:
        raise SDCError("no quasi-identifiers were declared: give quasi_identifiers= when the graph is read")
    groups = []
    for group in ranked:
        if isinstance(group, str):
            raise SDCError('ranked must be a list of rankings, each a list of columns: [("topic1", "topic2")]')
        groups.append(tuple(group))
    members = [name for group in groups for name in group]
    for said, given in (("hierarchies", hierarchies), ("aggregate", aggregate), ("ranked", members)):
        for name in given:
            if name not in wanted:
                raise SDCError(f"{said} names {name!r}, which is not a quasi-identifier{did_you_mean(name, wanted)}")
    for name in members:
        if members.count(name) > 1:
            raise SDCError(f"column {name!r} stands in a ranking twice")
        if name in hierarchies or name in aggregate:
            raise SDCError(f"column {name!r} is ranked: it takes neither a hierarchy nor another rule")
        if data.attribute(name).kind is Kind.NUMERIC:
            raise SDCError(f"column {name!r} is numeric: a ranking is of names; declare it nominal")
    for group in groups:
        if len(group) < 2:
            raise SDCError("a ranking needs at least two columns, best first")
        _check_ranking(data, group)
    for name, hierarchy in hierarchies.items():
        Places(hierarchy, name).positions(data.attribute(name).labels)
    names, rules = [], []
    for name in wanted:
        group = next((g for g in groups if name in g), ())
        if name in names:
            continue
        if group:
            names += list(group)
            rules += ["borda"] * len(group)
            continue
        attribute = data.attribute(name)
        plain = name not in hierarchies and attribute.kind is Kind.NOMINAL
        if plain and attribute.n_categories == len(data):
            warnings.warn(
                f"column {name!r} has as many different values as there are nodes: one node of each cluster keeps its "
                "own; give it a hierarchy, or remove it from the quasi-identifiers",
                SDCWarning,
                stacklevel=4,
            )
        names.append(name)
        rules.append(_rule(data, name, name in hierarchies, aggregate.get(name)))
    return Plan(tuple(names), tuple(rules), tuple(groups))


def _check_ranking(data: Microdata, group: tuple[str, ...]) -> None:
    domains = [set(data.attribute(name).labels) - {"?"} for name in group]
    if len(set.union(*domains)) == sum(map(len, domains)):
        raise SDCError(f"ranked columns {', '.join(group)} have no value in common: they must be of one domain")
    codes = ranked_codes(data, group)[0].copy()
    rows = np.sort(np.where(codes == _missing_code(data, group), -1 - np.arange(len(group)), codes), axis=1)
    twice = (np.diff(rows, axis=1) == 0).any(axis=1)
    if twice.any():
        raise SDCError(
            f"{int(twice.sum())} record(s) name one value twice in {', '.join(group)}, the first is record "
            f"{int(np.argmax(twice)) + 1}"
        )


def _rule(data: Microdata, name: str, placed: bool, given: str | None) -> str:
    attribute = data.attribute(name)
    if given is None:
        rule = "generalize" if placed else _DEFAULT[attribute.kind]
    else:
        rule = given
    if rule not in AGGREGATES:
        raise SDCError(f"aggregate of {name!r} must be one of {', '.join(AGGREGATES)}, not {given!r}")
    fits = {
        "generalize": placed,
        "mode": attribute.kind is not Kind.NUMERIC or placed,
        "median": attribute.kind is Kind.ORDINAL and not placed,
        "mean": attribute.kind is Kind.NUMERIC and not placed,
    }
    if not fits[rule]:
        way = "give it a hierarchy" if rule == "generalize" else "choose another"
        raise SDCError(f"aggregate {rule!r} does not fit column {name!r}: {way}")
    if attribute.kind is Kind.NUMERIC and attribute.has_missing:
        raise SDCError(f"numeric quasi-identifier {name!r} has missing values: fill them, or drop those records")
    return rule


def columns_of(data: Microdata, plan: Plan, hierarchies: Mapping[str, Hierarchy]) -> list[Column]:
    """Quasi-identifiers as the engine takes them."""
    out = []
    for name, rule in zip(plan.names, plan.rules, strict=True):
        attribute = data.attribute(name)
        group = plan.ranking_of(name)
        if group:
            codes, values = ranked_codes(data, group)
            rank = group.index(name)
            missing = _missing_code(data, group)
            out.append(
                Column(codes[:, rank].copy(), len(values), rule=rule, width=len(group), rank=rank, missing=missing)
            )
        elif name in hierarchies:
            places = Places(hierarchies[name], name)
            where = places.positions(attribute.labels)
            out.append(
                Column(
                    where[data.codes(name)[:, 0]],
                    len(places.labels),
                    kind="placed",
                    rule=rule,
                    branches=places.branches,
                    levels=places.levels,
                )
            )
        elif attribute.kind is Kind.NUMERIC:
            out.append(Column(np.empty(len(data), np.int32), 0, "numeric", rule, data.values(name)[:, 0]))
        else:
            out.append(Column(data.codes(name)[:, 0], attribute.n_categories, attribute.kind.value, rule))
    return out


def ranked_codes(data: Microdata, group: Sequence[str]) -> tuple[NDArray[np.int32], list[Any]]:
    """Codes of ranked columns over their common domain (sorted as text, missing values last), and its values."""
    known: dict[str, Any] = {}
    missing = False
    for name in group:
        attribute = data.attribute(name)
        real = attribute.n_categories - attribute.has_missing
        known.update(zip(attribute.labels[:real], attribute.categories.tolist()[:real], strict=True))
        missing = missing or attribute.has_missing
    texts = sorted(known)
    place = {text: i for i, text in enumerate(texts)}
    codes = np.empty((len(data), len(group)), dtype=np.int32)
    for r, name in enumerate(group):
        attribute = data.attribute(name)
        real = attribute.n_categories - attribute.has_missing
        numbers = [place[text] for text in attribute.labels[:real]] + [len(texts)] * attribute.has_missing
        codes[:, r] = np.array(numbers, dtype=np.int32)[data.codes(name)[:, 0]]
    return codes, [known[text] for text in texts] + [None] * missing


def _missing_code(data: Microdata, group: Sequence[str]) -> int:
    values = ranked_codes(data, group)[1]
    return len(values) - 1 if values and values[-1] is None else -1


class Places:
    """Places of a hierarchy as a tree: every label once, at the highest level where it stands.

    Parameters
    ----------
    hierarchy
        The hierarchy.
    name
        Column that errors name.
    """

    def __init__(self, hierarchy: Hierarchy, name: str) -> None:
        rows = hierarchy.rows()
        top: dict[str, int] = {}
        for row in rows:
            for level, text in enumerate(row):
                top[text] = max(top.get(text, 0), level)
        self.labels = list(top)
        self._name = name
        self._number = {text: i for i, text in enumerate(self.labels)}
        self.levels = np.array([top[text] for text in self.labels], dtype=np.int32)
        self.branches = np.empty((hierarchy.n_levels, len(self.labels)), dtype=np.int32)
        for record, row in enumerate(rows, 1):
            for level, text in enumerate(row):
                if row[top[text]] != text:
                    raise SDCError(
                        f"the hierarchy of column {name!r}: the label at level {level} of row {record} stands for "
                        f"another group at level {top[text]}; name the two groups differently"
                    )
                number = self._number[text]
                self.branches[:, number] = [
                    number if up <= top[text] else self._number[row[up]] for up in range(len(row))
                ]

    def positions(self, labels: Sequence[str]) -> NDArray[np.int32]:
        """Numbers of the places of a column's categories."""
        lacking = [text for text in labels if text not in self._number]
        if lacking:
            raise SDCError(
                f"{len(lacking)} of the {len(labels)} values of column {self._name!r} are missing from its hierarchy "
                '(missing cells are called "?"): add a row for each'
            )
        return np.array([self._number[text] for text in labels], dtype=np.int32)


def released_cells(
    data: Microdata,
    plan: Plan,
    hierarchies: Mapping[str, Hierarchy],
    code: NDArray[np.int32],
    number: NDArray[np.float64],
) -> dict[str, pd.Series[Any]]:
    """Cells of released values, by column: rows of codes and of numbers, one per node or per cluster."""
    import pandas as pd

    out: dict[str, pd.Series[Any]] = {}
    numbers = 0
    for j, (name, rule) in enumerate(zip(plan.names, plan.rules, strict=True)):
        group = plan.ranking_of(name)
        if group:
            values = ranked_codes(data, group)[1]
            out[name] = pd.Series([values[c] for c in code[:, j]], dtype=object)
        elif name in hierarchies:
            labels = np.array(Places(hierarchies[name], name).labels, dtype=object)
            out[name] = pd.Series(labels[code[:, j]], dtype=object)
        elif rule == "mean":
            out[name] = pd.Series(number[:, numbers])
            numbers += 1
        else:
            out[name] = data.attribute(name).cells(code[:, j]).reset_index(drop=True)
    return out

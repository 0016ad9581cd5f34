"""Methods that refer to columns by name: recoding, swapping and Mondrian, applied to the quasi-identifiers of a table.

Functions on arrays refer to columns by position and to categories by code. These take a table, refer to its columns and
categories by name, and describe in sentences what they did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import Progress
from sdc_problems._tables.coded import CodedColumns, coded_texts
from sdc_problems._tables.columns import MISSING, STAR
from sdc_problems._validation import choice
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.evaluators._codes import pair_counts, starts
from sdc_problems.hierarchy import Hierarchy
from sdc_problems.methods._amounts import one_of, percentage
from sdc_problems.methods._importance import weights_of
from sdc_problems.methods.partition._centroids import span
from sdc_problems.methods.partition._precluster import precluster
from sdc_problems.methods.perturbation._swap_records import swap_records
from sdc_problems.methods.recoding import _top_code
from sdc_problems.methods.recoding._classes import Mix, smallest_k
from sdc_problems.methods.recoding._generalize import Recoded, generalize
from sdc_problems.methods.recoding._mondrian import SUMMARIES, Stretches, coded_regions, region_nodes, release
from sdc_problems.methods.recoding._recode import recode_intervals, recode_map
from sdc_problems.microdata import Attribute, Microdata

if TYPE_CHECKING:
    import pandas as pd


def codes_as_cells(attribute: Attribute, codes: NDArray[Any]) -> NDArray[Any]:
    """Cells that codes stand for, with the type of the column in a data frame."""
    return np.asarray(attribute.cells(np.asarray(codes, dtype=np.int32)))


def numbers_as_cells(attribute: Attribute, values: NDArray[np.float64]) -> NDArray[Any]:
    """Numbers as cells; whole numbers in a column of whole numbers stay whole."""
    whole = attribute.categories.dtype.kind in "iu" and bool((np.floor(values) == values).all())
    return values.astype(np.int64) if whole and float(np.abs(values).max(initial=0)) < 2**53 else values


def top_code(
    data: Microdata,
    *,
    threshold: float | Mapping[str, float] | None = None,
    percent: float | None = None,
    categories: int | None = None,
    by: str | float = "threshold",
    decimals: int | None = None,
) -> Recoded:
    """Top coding of the quasi-identifiers: values above a limit become one value.

    Parameters
    ----------
    data
        The table.
    threshold
        The limit of numeric columns: one for all, or by column, as in age=85,wage=9000. A value at the limit stays.
    percent
        The limit as a quantile of each numeric column (95: the largest 5 % are cut).
    categories
        Number of the highest categories of each ordinal column that become one.
    by
        Replacement of the values beyond the limit: the threshold, their mean or median, or a number.
    decimals
        Decimals of the replacement; by default, a limit stays as it is, and a mean has those of the column.
    """
    return _coded(data, threshold, percent, categories, by, decimals, top=True)


def bottom_code(
    data: Microdata,
    *,
    threshold: float | Mapping[str, float] | None = None,
    percent: float | None = None,
    categories: int | None = None,
    by: str | float = "threshold",
    decimals: int | None = None,
) -> Recoded:
    """Bottom coding of the quasi-identifiers: values below a limit become one value.

    Parameters
    ----------
    data
        The table.
    threshold
        The limit of numeric columns: one for all, or by column, as in age=18,wage=100. A value at the limit stays.
    percent
        The limit as a quantile of each numeric column (5: the smallest 5 % are cut).
    categories
        Number of the lowest categories of each ordinal column that become one.
    by
        Replacement of the values beyond the limit: the threshold, their mean or median, or a number.
    decimals
        Decimals of the replacement; by default, a limit stays as it is, and a mean has those of the column.
    """
    return _coded(data, threshold, percent, categories, by, decimals, top=False)


def _coded(
    data: Microdata,
    threshold: float | Mapping[str, float] | None,
    percent: float | None,
    categories: int | None,
    by: str | float,
    decimals: int | None,
    *,
    top: bool,
) -> Recoded:
    how = one_of(threshold=threshold, percent=percent, categories=categories)
    function = _top_code.top_code if top else _top_code.bottom_code
    columns: dict[str, NDArray[Any]] = {}
    sentences = []
    named = tuple(threshold) if isinstance(threshold, Mapping) else data.quasi_identifiers
    for name in named:
        _quasi_identifier(data, name, "threshold")
    for name in named:
        attribute = data.attribute(name)
        numeric = attribute.kind.value == "numeric"
        if numeric == (how == "categories"):
            wanted = "threshold or percent" if numeric else "categories"
            raise SDCError(f"column {name!r} is {attribute.kind.value}: give {wanted} for it, not {how}")
        end = "highest" if top else "lowest"
        if numeric:
            before = data.values(name)[:, 0]
            limit = threshold[name] if isinstance(threshold, Mapping) else threshold
            after = function(before, threshold=limit, percent=percent, by=by, decimals=decimals)
            columns[name] = numbers_as_cells(attribute, after)
            what = f"values {'above' if top else 'below'} a limit become one value"
        else:
            before = data.codes(name)[:, 0].astype(np.float64)
            missing = attribute.n_categories - 1 if attribute.has_missing else None
            after = function(before, categories=categories, n_categories=attribute.n_categories, missing_codes=missing)
            columns[name] = codes_as_cells(attribute, after)
            what = f"the {categories} {end} categories become one"
        sentences.append(f"In {name} {what}: {int((before != after).sum()):,} of {len(data):,} cells changed.")
    return Recoded(columns, tuple(sentences))


def recode_categories(data: Microdata, *, groups: Mapping[str, Sequence[Sequence[str]]]) -> Recoded:
    """Global recoding: the categories of each group become one, called as its most frequent member.

    Parameters
    ----------
    data
        The table.
    groups
        Groups of categories by column, as in {town = [["Olot", "Vic"], ["Reus", "Valls"]]}; others stay.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"town": ["Olot", "Vic", "Vic", "Reus"]})
    >>> data = Microdata.from_frame(frame, quasi_identifiers=["town"])
    >>> recode_categories(data, groups={"town": [["Olot", "Vic"]]}).columns["town"].tolist()
    ['Vic', 'Vic', 'Vic', 'Reus']
    """
    if not isinstance(groups, Mapping) or not groups:
        raise SDCError("groups must give the groups of each column by name, such as groups={'town': [['A', 'B']]}")
    columns: dict[str, NDArray[Any]] = {}
    sentences = []
    for name, listed in groups.items():
        attribute = _quasi_identifier(data, name, "groups")
        code = {label: i for i, label in enumerate(attribute.labels)}
        members: list[list[int]] = []
        for group in listed:
            if isinstance(group, str):
                raise SDCError(f"groups of column {name!r} must be lists of categories, not a text")
            for label in group:
                if str(label) not in code:
                    raise SDCError(f"groups names a category that column {name!r} does not have: {str(label)!r}")
            members.append([code[str(label)] for label in group])
        before = data.codes(name)[:, 0].astype(np.int64)
        after = recode_map(before, members)
        columns[name] = codes_as_cells(attribute, after)
        merged = len(np.unique(before)) - len(np.unique(after))
        sentences.append(
            f"{name} with {merged} fewer categories: {int((before != after).sum()):,} of {len(data):,} cells changed."
        )
    return Recoded(columns, tuple(sentences))


def recode_level(data: Microdata, hierarchies: Mapping[str, Hierarchy], *, level: int) -> Recoded:
    """Global recoding: the quasi-identifiers become the labels of one level of their hierarchies.

    Parameters
    ----------
    data
        The table.
    hierarchies
        A hierarchy for each quasi-identifier, by name.
    level
        Level of all columns: 0 the values themselves, each further one more general.
    """
    return generalize(data, hierarchies, levels=dict.fromkeys(data.quasi_identifiers, level))


def recode_ranges(
    data: Microdata,
    *,
    breaks: Mapping[str, Sequence[float]] | None = None,
    bins: int | None = None,
    spacing: str = "equal_width",
    show: str = "interval",
) -> Recoded:
    """Global recoding of numbers: each value becomes its interval.

    Parameters
    ----------
    data
        The table.
    breaks
        Ends of the intervals by column, ascending, as in {age = [0, 18, 65, 120]}; they must cover all values.
    bins
        Number of intervals of each column, instead of ``breaks``; they are made by ``spacing``.
    spacing
        "equal_width"; "equal_count" (between quantiles); "log_width" (equal width on a logarithmic scale, x > 0).
    show
        "interval" gives text such as "[20, 30)"; "midpoint" and "median" (of the values inside) give numbers.
    """
    how = one_of(breaks=breaks, bins=bins)
    for name in breaks or ():
        _quasi_identifier(data, name, "breaks")
    columns: dict[str, NDArray[Any]] = {}
    sentences = []
    for name in data.quasi_identifiers if breaks is None else breaks:
        attribute = data.attribute(name)
        ends = None if breaks is None else breaks[name]
        found = recode_intervals(data.values(name)[:, 0], breaks=ends, bins=bins, method=spacing, show=show)
        columns[name] = found.values if show == "interval" else numbers_as_cells(attribute, found.values)
        empty = int((found.counts == 0).sum())
        used = f"{len(found.counts)} intervals" + (f", {empty} of them empty" if empty else "")
        given = "given" if how == "breaks" else spacing.replace("_", " ")
        sentences.append(f"{name} in {used} ({given}).")
    return Recoded(columns, tuple(sentences))


def swap_columns(
    data: Microdata,
    *,
    percent: float,
    within: Sequence[str] = (),
    targeted: bool = False,
    rng: np.random.Generator,
) -> Recoded:
    """Data swapping: pairs of records exchange their quasi-identifiers.

    Parameters
    ----------
    data
        The table.
    percent
        Largest percentage of the records that take part in an exchange.
    within
        Columns on which a pair agrees; those of them that are quasi-identifiers stay as they are.
    targeted
        Whether records that are rare in the quasi-identifiers get a partner first.
    rng
        Source of the random draws.
    """
    percentage(percent)
    agreed = [data.attribute(name).name for name in within]
    moved = [name for name in data.quasi_identifiers if name not in agreed]
    if not moved:
        raise SDCError("within names every column to protect: nothing would be exchanged")
    names = [*moved, *agreed]
    found = swap_records(
        data.codes(names),
        range(len(moved)),
        within=range(len(moved), len(names)),
        percent=percent,
        rng=rng,
        targeted=targeted,
        quasi_identifiers=[names.index(name) for name in data.quasi_identifiers],
        missing_codes=missing_codes(data, names),
    )
    columns = {name: codes_as_cells(data.attribute(name), found.values[:, j]) for j, name in enumerate(moved)}
    swapped = int((found.partner != np.arange(len(data))).sum())
    alike = f" with one that agrees in {', '.join(agreed)}" if agreed else ""
    sentences = [f"{swapped:,} of {len(data):,} records exchanged {', '.join(moved)}{alike}."]
    if found.without_partner:
        sentences.append(f"{found.without_partner:,} records found no partner.")
    return Recoded(columns, tuple(sentences))


def mondrian_regions(
    data: Microdata,
    k: int,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    *,
    l: int | None = None,
    entropy_l: float | None = None,
    t: float | None = None,
    importance: Mapping[str, float] | None = None,
    labels: bool = False,
    strict: bool = True,
    summary: str = "interval",
    decimals: int | None = None,
) -> Recoded:
    """Mondrian: regions of at least k records by repeated cuts; each is published as one.

    The ends of an interval are real values: the smallest and the largest in the region. So an end may be the exact
    value of one person, although it does not show which of the k or more records it belongs to. If this discloses too
    much, for example for dates of birth, use ``local-recoding`` or ``lattice``, whose labels come from a hierarchy.

    Parameters
    ----------
    data
        The table.
    k
        Smallest number of records of a region.
    hierarchies
        Hierarchies by column, for ``labels``.
    l, entropy_l, t
        Requirements on the sensitive columns in each region; the smallest k whose regions meet them is used.
    importance
        Weight of the relative range of each column when the column to cut is chosen; by default, 1.
    labels
        Whether nominal columns are cut along their hierarchies and get their labels, instead of lists of categories.
    strict
        Whether equal values stay together; relaxed regions are halved between records and have k to 2k − 1.
    summary
        Summary of the values of a region: "interval"; "mean" of numbers; "median" or "global_median" of numbers
        and ordered categories; "mode".
    decimals
        Decimals of means; by default those of the column.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20, 25, 60, 61], "town": ["Olot", "Reus", "Reus", "Reus"]})
    >>> done = mondrian_regions(Microdata.from_frame(frame, quasi_identifiers=["age", "town"]), 2)
    >>> done.columns["age"].tolist(), done.columns["town"].tolist()
    (['20-25', '20-25', '60-61', '60-61'], ['Olot or Reus', 'Olot or Reus', 'Reus', 'Reus'])
    """
    names = data.quasi_identifiers
    attributes = [data.attribute(name) for name in names]
    kinds = [attribute.kind.value for attribute in attributes]
    mix = Mix.of(data.codes(data.sensitive) if data.sensitive else None, len(data), l, entropy_l, t)
    trees = _nominal_trees(attributes, hierarchies or {}) if labels else [None] * len(names)
    choice(summary, "summary", SUMMARIES)
    coded = [(attribute.codes, _numbers(data, attribute)) for attribute in attributes]
    how: dict[str, Any] = {"strict": strict, "trees": trees, "weights": weights_of(names, importance)}
    size = k if not len(mix.limits) else smallest_k(lambda k: coded_regions(coded, k, **how), k, mix)
    found = coded_regions(coded, size, **how)
    columns: dict[str, Any] = {}
    if summary == "interval":
        stretches = Stretches.of(found)
        for attribute, tree in zip(attributes, trees, strict=True):
            if tree is not None:
                nodes = region_nodes(tree, attribute.codes, stretches)
                columns[attribute.name] = _labels((hierarchies or {})[attribute.name], nodes, found)
            else:
                columns[attribute.name] = _regions(attribute, stretches, found)
    else:
        X = np.column_stack([_column(data, attribute) for attribute in attributes])
        cells = release(X, found, summary, kinds, trees, decimals)
        for j, attribute in enumerate(attributes):
            as_cells = numbers_as_cells if kinds[j] == "numeric" else codes_as_cells
            columns[attribute.name] = as_cells(attribute, cells[:, j])
    sizes = np.bincount(found)
    text = f"The {len(data):,} records form {len(sizes):,} regions of {sizes.min():,} to {sizes.max():,} records in"
    return Recoded(CodedColumns(columns), (f"{text} {', '.join(names)}.",))


def precluster_columns(
    data: Microdata,
    k: int,
    *,
    clusters: int,
    inside: str = "mdav",
    restarts: int = 20,
    merge: str = "smallest",
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Recoded:
    """Protection after clustering: c-median, then microaggregation or Mondrian inside each cluster.

    Parameters
    ----------
    data
        The table.
    k
        Smallest number of records that look alike.
    clusters
        Number of clusters; those of fewer than k records are joined.
    inside
        "mdav", or "global_median" of columns that have an order.
    restarts
        Number of starts of the clustering; the best one is used.
    merge
        Cluster that a small one is joined with: "smallest" (of the others) or "nearest".
    rng
        Source of the random starts, on which only the clusters depend.
    progress
        Called as ``progress(done, total)`` from time to time.

    Examples
    --------
    >>> import pandas as pd
    >>> data = Microdata.from_frame(pd.DataFrame({"age": [20, 25, 60, 61]}), quasi_identifiers=["age"])
    >>> done = precluster_columns(data, 2, clusters=2, rng=np.random.default_rng(1))
    >>> done.columns["age"].tolist()
    [22.5, 22.5, 60.5, 60.5]
    """
    names = data.quasi_identifiers
    attributes = [data.attribute(name) for name in names]
    X = data.codes().astype(np.float64)
    for j, attribute in enumerate(attributes):
        if attribute.kind.value == "numeric":
            X[:, j] = data.values(attribute.name)[:, 0]
        elif attribute.kind.value == "nominal" and inside == "global_median":
            raise SDCError(f"column {names[j]!r} is nominal and has no global_median: use inside=mdav")
    found = precluster(
        X, k, clusters=clusters, method=inside, kinds=[attribute.kind.value for attribute in attributes],
        n_categories=[max(attribute.n_categories, 1) for attribute in attributes], restarts=restarts, merge=merge,
        rng=rng, progress=progress,
    )  # fmt: skip
    columns = {
        attribute.name: numbers_as_cells(attribute, found.values[:, j])
        if attribute.kind.value == "numeric"
        else codes_as_cells(attribute, found.values[:, j])
        for j, attribute in enumerate(attributes)
    }
    groups = np.bincount(found.groups)
    sentences = [
        f"The {len(data):,} records form {len(found.sizes):,} clusters of {span(found.sizes)} records, and"
        f" {len(groups):,} groups of {span(groups)} inside them, which look alike in {', '.join(names)}."
    ]
    if len(found.sizes_before) > len(found.sizes):
        sentences.append(f"Clusters of fewer than {k} records were joined: there were {len(found.sizes_before)}.")
    return Recoded(columns, tuple(sentences))


def _nominal_trees(
    attributes: Sequence[Attribute], hierarchies: Mapping[str, Hierarchy]
) -> list[NDArray[np.int32] | None]:
    """Level tables of the nominal columns, None for the others."""
    trees: list[NDArray[np.int32] | None] = []
    for attribute in attributes:
        name = attribute.name
        if attribute.kind.value != "nominal":
            trees.append(None)
            continue
        if name not in hierarchies:
            raise SDCError(f"column {name!r} has no hierarchy{did_you_mean(name, hierarchies)}: labels come from one")
        trees.append(hierarchies[name].table(attribute.categories, attribute=name))
    return trees


def _column(data: Microdata, attribute: Attribute) -> NDArray[np.float64]:
    """Values of a numeric attribute, codes of any other."""
    if attribute.kind.value == "numeric":
        return data.values(attribute.name)[:, 0]
    return attribute.codes.astype(np.float64)


def _numbers(data: Microdata, attribute: Attribute) -> NDArray[np.float64] | None:
    """Number of each code of a numeric attribute."""
    if attribute.kind.value != "numeric":
        return None
    if attribute.has_missing:
        data.values(attribute.name)  # raises the error
    return attribute.numbers


def _labels(hierarchy: Hierarchy, nodes: NDArray[np.float64], regions: NDArray[np.int32]) -> pd.Categorical:
    """Label of the node (level and group) of each record; a star above the last level."""
    levels, groups = nodes.astype(np.int64).T
    sizes = [len(hierarchy.labels(level)) for level in range(hierarchy.n_levels)]
    begins = np.cumsum([0, *sizes])
    texts = [label for level in range(hierarchy.n_levels) for label in hierarchy.labels(level)]
    return coded_texts((begins[levels] + groups)[regions], [*texts, STAR])


def _regions(attribute: Attribute, stretches: Stretches, regions: NDArray[np.int32]) -> pd.Categorical:
    """Text of each region: interval of numbers, first and last of ordered categories, or all categories that occur."""
    kind, names = attribute.kind.value, attribute.labels
    if kind == "nominal":
        pairs = pair_counts(regions, attribute.codes)
        inside = np.split(pairs.second, starts(pairs.first)[1:])
        return coded_texts(regions, [" or ".join(names[code] for code in codes.tolist()) for codes in inside])
    missing = len(names) - 1 if attribute.has_missing else len(names)  # after the last category, not in any range
    first, last = stretches.ends(attribute.codes)
    gaps = last == missing
    if gaps.any():
        last = stretches.ends(np.where(attribute.codes == missing, -1, attribute.codes))[1]
    ends, which = np.unique(np.stack([first, last, gaps], axis=1), axis=0, return_inverse=True)
    texts = []
    for low_code, high_code, gap in ends.tolist():
        if kind == "numeric":
            low, high = f"{attribute.numbers[low_code]:.12g}", f"{attribute.numbers[high_code]:.12g}"
            minus = low.startswith("-") or high.startswith("-") or "e" in low + high
            texts.append(low if low == high else f"[{low}, {high}]" if minus else f"{low}-{high}")
        elif low_code == missing:
            texts.append(MISSING)
        else:
            low, high = names[low_code], names[high_code]
            texts.append((low if low_code == high_code else f"{low} to {high}") + (f" or {MISSING}" if gap else ""))
    return coded_texts(which.ravel()[regions], texts)


def missing_codes(data: Microdata, names: Sequence[str]) -> list[int | None]:
    """Code of the missing value of each column, None for none."""
    attributes = [data.attribute(name) for name in names]
    return [attribute.n_categories - 1 if attribute.has_missing else None for attribute in attributes]


def _quasi_identifier(data: Microdata, name: str, option: str) -> Attribute:
    if name not in data.quasi_identifiers:
        near = did_you_mean(str(name), data.quasi_identifiers)
        raise SDCError(f"{option} names column {name!r}, which is not one of the columns to protect{near}")
    return data.attribute(name)

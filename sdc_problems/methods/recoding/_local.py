"""Local recoding: each class of similar records gets the lowest labels of hierarchies that cover all its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.coded import CodedColumns, coded_texts
from sdc_problems._tables.columns import STAR
from sdc_problems._validation import IntArray
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.hierarchy import Hierarchy
from sdc_problems.methods._importance import weights_of
from sdc_problems.methods.recoding._classes import Mix, Trees, alike
from sdc_problems.methods.recoding._generalize import Recoded, level_phrase
from sdc_problems.microdata import Microdata

if TYPE_CHECKING:
    import pandas as pd


class LocalRecoding(NamedTuple):
    """Result of `local_recoding`.

    Attributes
    ----------
    labels
        Class of each record.
    levels
        Level of each cell; one level more than the hierarchy has is a star, if the hierarchy does not end in one group.
    glm_percent
        Loss in percent (general loss metric), weighted mean over the attributes.
    """

    labels: IntArray
    levels: IntArray
    glm_percent: float


def local_recoding(
    codes: object,
    k: int,
    *,
    hierarchies: Sequence[object],
    leaves: Sequence[object] | None = None,
    weights: Sequence[float] | None = None,
    sensitive: object = None,
    l: int | None = None,
    entropy_l: float | None = None,
    t: float | None = None,
) -> LocalRecoding:
    """Local recoding: classes of at least k records, each published at its own levels, with little loss.

    Full-domain generalization uses one level for a whole column, so a few unusual records coarsen all others. Here,
    each class has the lowest level of each attribute at which its records are in one group.

    Parameters
    ----------
    codes
        Records × attributes: category codes.
    k
        Smallest number of records of a class, 1 … n.
    hierarchies
        For each attribute, group of each code at each level (``Hierarchy.table``: levels × codes, values first).
    leaves
        For each attribute and level, number of values in each group (``Hierarchy.leaves``); by default, those of the
        table.
    weights
        Weight of a lost cell of each attribute; by default, 1.
    sensitive
        Codes of the sensitive attributes, for the following parameters.
    l
        Smallest number of different values of each sensitive attribute in a class.
    entropy_l
        Smallest entropy ℓ-diversity of a class.
    t
        Largest t-closeness (equal distance) of a class.

    Returns
    -------
    LocalRecoding
        Classes and levels.

    Notes
    -----
    Agglomeration as in Gionis and Tassa (2009), where the distance is the increase of the general loss metric (Iyengar
    2002): of all pairs with a class that is still too small, the pair whose union increases the loss least is merged
    first; then single rows move to classes where their loss is smaller. O(m² p) for m distinct rows, which are
    processed in blocks of 8,192 (512 for a million rows).

    Examples
    --------
    >>> tree = [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
    >>> found = local_recoding([0, 0, 1, 2, 3], 2, hierarchies=[tree])
    >>> found.labels.tolist(), found.levels.ravel().tolist()
    ([0, 0, 0, 1, 1], [1, 1, 1, 1, 1])
    """
    trees = Trees.of(hierarchies, leaves, weights)
    table = np.asarray(codes)
    mix = Mix.of(sensitive, len(table), l, entropy_l, t)
    found, levels = alike(codes, k, trees, mix)
    columns = table.reshape(len(table), -1)
    plain = Trees.of(hierarchies, leaves, None)
    lost = [cost[levels[:, j], columns[:, j]].mean() for j, cost in enumerate(plain.costs)]
    return LocalRecoding(found, levels, 100 * float(np.average(lost, weights=weights)))


def recode_locally(
    data: Microdata,
    hierarchies: Mapping[str, Hierarchy],
    k: int,
    *,
    l: int | None = None,
    entropy_l: float | None = None,
    t: float | None = None,
    importance: Mapping[str, float] | None = None,
) -> Recoded:
    """Local recoding of the quasi-identifiers: the labels of their hierarchies, at levels that differ by class.

    Parameters
    ----------
    data
        The table.
    hierarchies
        Hierarchy of each quasi-identifier, by name.
    k
        Smallest number of records of a class.
    l, entropy_l, t
        Requirements on the sensitive columns in each class.
    importance
        Weight of a lost cell of each column; by default, 1.

    Examples
    --------
    >>> import pandas as pd
    >>> data = Microdata.from_frame(pd.DataFrame({"age": [21, 21, 27, 34, 35]}), quasi_identifiers=["age"])
    >>> recode_locally(data, {"age": Hierarchy.intervals(range(20, 40), [5, 10])}, 2).columns["age"].tolist()
    ['20-29', '20-29', '20-29', '30-39', '30-39']
    """
    names = data.quasi_identifiers
    for name in names:
        if name not in hierarchies:
            raise SDCError(f"column {name!r} has no hierarchy{did_you_mean(name, hierarchies)}: add it to hierarchies")
    chosen = [hierarchies[name] for name in names]
    tables = [h.table(data.categories(name), attribute=name) for name, h in zip(names, chosen, strict=True)]
    codes = data.codes()
    found = local_recoding(
        codes,
        k,
        hierarchies=tables,
        leaves=[[h.leaves(level) for level in range(h.n_levels)] for h in chosen],
        weights=weights_of(names, importance).tolist(),
        sensitive=data.codes(data.sensitive) if data.sensitive else None,
        l=l,
        entropy_l=entropy_l,
        t=t,
    )
    columns = {}
    sizes = np.bincount(found.labels)
    sentences = [
        f"The {len(data):,} records form {len(sizes):,} classes of {sizes.min():,} to {sizes.max():,} records with"
        " equal labels."
    ]
    for j, (name, hierarchy) in enumerate(zip(names, chosen, strict=True)):
        levels = found.levels[:, j]
        shares = np.bincount(levels) / len(levels)
        said = [
            f"{100 * share:.3g} % {_phrase(name, hierarchy, level)}" for level, share in enumerate(shares) if share > 0
        ]
        sentences.append(f"{name}: {', '.join(said)}.")
        if levels.any():
            columns[name] = _cells(hierarchy, tables[j], codes[:, j], levels)
    weighed = ", columns by their importance" if importance else ""
    sentences.append(f"{found.glm_percent:.3g} % of the detail is lost (GLM{weighed}).")
    return Recoded(CodedColumns(columns), tuple(sentences))


def _phrase(name: str, hierarchy: Hierarchy, level: int) -> str:
    if level == hierarchy.n_levels:
        return "blanked"
    return level_phrase(name, hierarchy.describe(level)).removeprefix("is ")


def _cells(
    hierarchy: Hierarchy, table: NDArray[np.int32], codes: NDArray[np.int32], levels: IntArray
) -> pd.Categorical:
    texts = [STAR]
    place = np.zeros(len(codes), dtype=np.int32)
    for level in range(hierarchy.n_levels):
        there = levels == level
        if there.any():
            place[there] = table[level][codes[there]] + len(texts)
            texts += hierarchy.labels(level)
    return coded_texts(place, texts)

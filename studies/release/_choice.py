"""Choice of a method for a demand: the cost of each in one measure, and the one that loses least."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._slices import telling
from sdc_problems._tables.coded import held_cells, placed_cells
from sdc_problems._tables.columns import STAR
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import column_labels
from sdc_problems.hierarchy import Hierarchy
from sdc_problems.methods import mdav
from sdc_problems.methods._apply import apply, points, recoded
from sdc_problems.methods._importance import weights_of
from sdc_problems.methods.recoding._classes import Mix, smallest_k
from sdc_problems.methods.recoding._generalize import MAX_SUPPRESSION, Recoded
from sdc_problems.methods.registry import Partitioned, find
from sdc_problems.microdata import Microdata
from sdc_problems.studies.release._demand import Demand
from sdc_problems.studies.release._losses import glm_percent_of
from sdc_problems.studies.release._strata import in_strata, labels_in_strata, share_of, strata

SECONDS = 20.0
"""Time for the lattice, where measuring all of it takes longer."""
NODES = 1_000_000
"""Nodes of a lattice above which it is searched, however fast one is measured."""
LARGE = 100_000
"""Records above which local suppression is left out where it must lose more than what was found already."""
MDAV_STEPS = 2e10
"""Comparisons of values above which microaggregation is left out: minutes of work."""
TREE_COLUMNS = 8
"""Numeric columns up to which it goes through a k-d tree that looks at few records."""
SEARCH_SEED = 1
"""Seed of a search that is given none: its random numbers change no cell by themselves, so nobody need keep it."""

COMPARED = ("lattice", "local-recoding", "suppress-cells", "mondrian", "mdav")
IN_BLOCKS = "memetic-blocks"
"""Microaggregation of tables for which MDAV takes too long."""
TRUE_VALUES = COMPARED[:-1]
"""Methods that publish true, if coarser, values."""


@dataclass(frozen=True)
class Candidate:
    """Method that meets a demand, and its cost.

    Attributes
    ----------
    method, options
        Its name, and the options that repeat it.
    demand
        The demand that repeats it: with a larger k where that was needed for the sensitive values.
    done
        The protected table; None if the method cannot meet the demand. Of a large table it has cells only where it
        is the best.
    glm_percent
        Percent of the detail that is lost: 0 where all values are published as they are, 100 if none is. The mean of
        the columns, weighted by their importance.
    cost
        The same where suppressed records count their price.
    suppressed, stars
        Records left out; single cells suppressed.
    k
        Records of its smallest class.
    note
        What a person should know of it, such as why it cannot.
    """

    method: str
    demand: Demand
    done: Recoded | None = field(repr=False)  # its cells are those of a table
    glm_percent: float = np.inf
    cost: float = np.inf
    suppressed: int = 0
    stars: int = 0
    k: int = 0
    note: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def true_values(self) -> bool:
        """Whether it publishes true values."""
        return self.method in TRUE_VALUES

    def row(self) -> dict[str, Any]:
        """Its line of the table of costs."""
        costs = {
            "glm_percent": self.glm_percent,
            "cost": self.cost,
            "suppressed_records": self.suppressed,
            "starred_cells": self.stars,
        }
        measured = {**costs, "k": self.k} if self.done is not None else dict.fromkeys([*costs, "k"])
        return {"method": self.method, **measured, "true_values": self.true_values, "note": self.note}


@dataclass(frozen=True)
class Choice:
    """Methods compared for a demand, the best first.

    Attributes
    ----------
    chosen
        The method that is published.
    candidates
        All of them, in the order of what they cost.
    next_k
        The chosen method asked for one record more: found only if it was to be explained.
    price
        Price of a suppressed record, if there was one.
    """

    chosen: Candidate
    candidates: tuple[Candidate, ...]
    next_k: Candidate | None = None
    price: float | None = None

    def _costs(self, candidate: Candidate) -> str:
        """Cost of a method in a few words."""
        if self.price is None:
            return f"{candidate.glm_percent:.3g} % of the detail"
        return f"{candidate.cost:.3g} % of the detail with the price of suppressed records"

    def without_cells(self) -> Choice:
        """The comparison without the table that was chosen."""
        light = {id(c): _without_cells(c) for c in self.candidates}
        next_k = None if self.next_k is None else _without_cells(self.next_k)
        return replace(self, chosen=light[id(self.chosen)], candidates=tuple(light.values()), next_k=next_k)

    def why(self) -> tuple[str, ...]:
        """Sentences on the reasons for the choice, and on the cost of a larger k."""
        best = self.chosen
        said = [f"{best.method} loses least of the allowed methods: {self._costs(best)}."]
        for other in self.candidates:
            if other is best or other.done is None:
                continue
            more = other.cost - best.cost
            if not other.true_values and more < 0:
                said.append(
                    f"{other.method} would lose {self._costs(other)}, but it publishes invented values:"
                    " --allow-perturbed allows it."
                )
            else:
                said.append(f"{other.method} would lose {self._costs(other)}.")
        if self.next_k is not None and self.next_k.done is not None:
            said.append(
                f"With the next larger k, {self.next_k.k}, {best.method} would lose {self._costs(self.next_k)}."
            )
        return tuple(said)


def choose(
    data: Microdata,
    demand: Demand,
    hierarchies: Mapping[str, Hierarchy],
    *,
    within: Sequence[str] = (),
    max_suppression: float | None = None,
    importance: Mapping[str, float] | None = None,
    suppression_price: float | None = None,
    seconds: float = SECONDS,
    allow_perturbed: bool = False,
    explain: bool = False,
    say: Callable[[str], object] | None = None,
) -> Choice:
    """Compare the methods that can meet a demand, and choose the one that loses least.

    Parameters
    ----------
    data
        The table; its quasi-identifiers are protected.
    demand
        What is asked of the classes of alike records.
    hierarchies
        A hierarchy for each quasi-identifier.
    within
        Columns that make strata, in each of which the demand is met.
    max_suppression
        How many records may be left out: a share in [0, 1), or a whole number. 1 % if not given; with a price as many
        as pay.
    importance
        What a lost cell of each column counts in every method and in the comparison; 1 if not said.
    suppression_price
        What a record that is left out counts: so many times one that loses everything; 1 if not given.
    seconds
        Time for the lattice, where measuring all of it takes longer.
    allow_perturbed
        Whether a method may be chosen that publishes other than true values.
    explain
        Whether the next larger k is looked for.
    say
        Called with the name of each method before its turn.
    """
    most = MAX_SUPPRESSION if max_suppression is None and suppression_price is None else max_suppression
    asked = _Asked(hierarchies, tuple(within), most, importance, suppression_price, seconds)
    found: list[Candidate] = []
    for name in COMPARED:
        if say is not None:
            say(name)
        least = min((c.cost for c in found if c.done is not None), default=np.inf)
        found.append(_candidate(name, data, demand, asked, least))
        if len(data) > LARGE:
            found = _lighter(found, allow_perturbed)
    found.sort(key=lambda candidate: candidate.cost)
    allowed = [c for c in found if c.done is not None and (c.true_values or allow_perturbed)]
    if not allowed:
        reasons = "; ".join(f"{c.method}: {c.note}" for c in found if c.true_values)
        raise SDCError(f"no method meets {demand.said()}: allow more suppression, or ask for less ({reasons})")
    best, next_k = allowed[0], None
    if explain and best.k < len(data):
        if say is not None:
            say(f"{best.method} with k = {best.k + 1}")
        more = replace(demand, k=best.k + 1)
        next_k = _candidate(best.method, data, more, asked)
    return Choice(best, tuple(found), next_k, suppression_price)


_NO_CELLS = Recoded({})


def _lighter(found: list[Candidate], allow_perturbed: bool) -> list[Candidate]:
    """The candidates, of which only the best so far keeps its table: each is as large as the original."""
    allowed = [c for c in found if c.done is not None and (c.true_values or allow_perturbed)]
    best = min(allowed, key=lambda candidate: candidate.cost, default=None)
    return [c if c is best else _without_cells(c) for c in found]


def _without_cells(candidate: Candidate) -> Candidate:
    return candidate if candidate.done is None else replace(candidate, done=_NO_CELLS)


@dataclass(frozen=True)
class _Asked:
    """Request besides the demand, as `choose` takes it."""

    hierarchies: Mapping[str, Hierarchy]
    within: tuple[str, ...]
    most: float | None
    importance: Mapping[str, float] | None
    price: float | None
    seconds: float


def _candidate(name: str, data: Microdata, demand: Demand, asked: _Asked, least: float = np.inf) -> Candidate:
    """Cost of a method; it may be left out where it is known to cost more than ``least``."""
    if name == "mdav" and _only_in_blocks(data, demand, asked):
        name = IN_BLOCKS
    left_out = _left_out(name, data, demand, asked, least)
    if left_out is not None:
        return Candidate(name, demand, None, note=f"left out: {left_out}")
    groups = None
    try:
        if name == "lattice":
            found = _lattice(data, demand, asked)
        elif name == "mdav":
            found, groups = _microaggregated(data, demand, asked)
        elif name == IN_BLOCKS:
            method, rng = find(name), np.random.default_rng(SEARCH_SEED)
            made = apply(method, data, k=demand.k, rng=rng)
            assert isinstance(made, Partitioned)
            groups = made.labels
            found = Candidate(name, demand, recoded(method, data, made), note="publishes values that nobody has")
        else:
            method, options = find(name), {"labels": True} if name == "mondrian" else {}

            def protect(part: Microdata) -> Recoded:
                given: dict[str, Any] = {**asdict(demand), "hierarchies": asked.hierarchies, "options": options}
                return recoded(method, part, apply(method, part, **given, importance=asked.importance))

            found = Candidate(name, demand, in_strata(data, asked.within, protect), options=options)
    except SDCError as error:
        return Candidate(name, demand, None, note=str(error))
    assert found.done is not None
    if name == "mondrian":
        groups = _classes(data, found.done, asked.within)
    return _measured(found, data, asked, groups)


def _left_out(name: str, data: Microdata, demand: Demand, asked: _Asked, least: float) -> str | None:
    """Reason for which a method is not tried at all, if it is not."""
    most = find(name).most_records
    if most is not None and len(data) > most:
        return f"more than {most:,} records"
    assert demand.k is not None
    if name == "suppress-cells" and len(data) > LARGE:
        names = [*asked.within, *data.quasi_identifiers]
        sizes = np.bincount(column_labels(data.attribute(column).codes for column in names)[0])
        rare = int(sizes[sizes < demand.k].sum()) / len(data)
        weights = weights_of(data.quasi_identifiers, asked.importance)
        bound = 100 * rare * float(weights.min() / weights.sum())
        if bound > least:
            return f"loses at least {bound:.3g} %"
    if name == "mdav":
        kinds = [data.attribute(column).kind.value for column in data.quasi_identifiers]
        if len(kinds) <= TREE_COLUMNS and set(kinds) == {"numeric"}:
            return None
        if _mdav_steps(data, demand, asked) > MDAV_STEPS:
            return "takes many minutes (--method mdav)"
    return None


def _mdav_steps(data: Microdata, demand: Demand, asked: _Asked) -> float:
    """Comparisons of values that MDAV makes where it looks at every record."""
    assert demand.k is not None
    return sum(len(rows) ** 2 for rows in strata(data, asked.within)) * len(data.quasi_identifiers) / demand.k


def _only_in_blocks(data: Microdata, demand: Demand, asked: _Asked) -> bool:
    """Whether microaggregation takes too long for a comparison, and can be done in blocks instead."""
    kinds = {data.attribute(column).kind.value for column in data.quasi_identifiers}
    plain = demand.l is None and demand.entropy_l is None and demand.t is None and not asked.within
    wide = len(data.quasi_identifiers) > TREE_COLUMNS and not asked.importance
    return kinds == {"numeric"} and plain and wide and _mdav_steps(data, demand, asked) > MDAV_STEPS


def _measured(candidate: Candidate, data: Microdata, asked: _Asked, groups: NDArray[Any] | None) -> Candidate:
    done = candidate.done
    assert done is not None
    lost = np.zeros(len(data), dtype=bool) if done.suppressed is None else np.asarray(done.suppressed, dtype=bool)
    labels = candidate.method == "mondrian"
    classes = groups if labels and groups is not None else _classes(data, done, asked.within)
    sizes = np.bincount(classes[~lost])
    loss = glm_percent_of(data, asked.hierarchies, done, groups, labels=labels, importance=asked.importance)
    return replace(
        candidate,
        glm_percent=loss,
        cost=loss + 100 * ((1.0 if asked.price is None else asked.price) - 1) * float(lost.mean()),
        suppressed=int(lost.sum()),
        stars=_stars(done, lost) if candidate.method == "suppress-cells" else 0,
        k=int(sizes[sizes > 0].min()) if not lost.all() else 0,
    )


def _stars(done: Recoded, lost: NDArray[np.bool_]) -> int:
    """Cells that are stars in records that are left."""
    found = 0
    for name in done.columns:
        place, cells = placed_cells(held_cells(done.columns, name))
        found += int(np.array([isinstance(cell, str) and cell == STAR for cell in cells])[place[~lost]].sum())
    return found


def _lattice(data: Microdata, demand: Demand, asked: _Asked) -> Candidate:
    """The exact optimum of each stratum, or the best that a search finds in the time."""
    assert demand.k is not None
    k, most = demand.k, asked.most
    priced = {} if asked.price is None else {"suppression_price": asked.price}
    options: dict[str, Any] = {**({} if most is None else {"max_suppression": most}), **priced}
    weighed: dict[str, Any] = {"importance": asked.importance, "suppression_price": asked.price}
    if asked.within:
        method, rng = find("lattice"), np.random.default_rng(SEARCH_SEED)  # draws nothing: all nodes are measured

        def best(part: Microdata) -> Recoded:
            given = {**asdict(demand), "max_suppression": share_of(most, len(part), len(data)), **weighed}
            return recoded(method, part, apply(method, part, **given, hierarchies=asked.hierarchies, rng=rng))

        done = in_strata(data, asked.within, best)
        return Candidate("lattice", demand, done, note="the best of each stratum", options=options)
    from sdc_problems.algorithms.generalization.lattice_optimum import DemandedLattice

    lattice = DemandedLattice(data, asked.hierarchies, k, **demand.of_sensitive, max_suppression=most, **weighed)
    nodes = lattice.problem.n_nodes
    if lattice.cost is None:  # boxes of nodes are ruled out without measuring them, however many there are
        needed = lattice.problem.seconds_to_enumerate()
    else:
        needed = lattice.problem.engine.estimated_seconds() if nodes <= NODES else None
    if needed is not None and needed <= asked.seconds:
        done = lattice.recoded(lattice.best_of_all(limit=nodes))
        return Candidate("lattice", demand, done, note=f"the best of all {nodes:,} nodes", options=options)
    x, tried = lattice.search(np.random.default_rng(SEARCH_SEED), seconds=asked.seconds)
    note = f"the best of {tried:,} of {nodes:,} nodes, found in {asked.seconds:g} s"
    return Candidate("lattice", demand, lattice.recoded(x), note=note, options={**options, "evaluations": tried})


def _microaggregated(data: Microdata, demand: Demand, asked: _Asked) -> tuple[Candidate, NDArray[np.int64]]:
    """MDAV with the k that the sensitive values need, and its groups."""
    assert demand.k is not None
    needed = demand.k
    weights = weights_of(data.quasi_identifiers, asked.importance).tolist()
    parts = [data.take(rows) if asked.within else data for rows in strata(data, asked.within)]
    before = 0
    while before < needed:  # until one k is enough in every stratum: a larger one need not be where a smaller was
        before = needed
        for part in parts:
            secret = part.codes(part.sensitive) if part.sensitive else None
            mix = Mix.of(secret, len(part), demand.l, demand.entropy_l, demand.t)
            if len(mix.limits):
                needed = smallest_k(lambda k, part=part: _groups(part, k, weights), needed, mix)  # type: ignore[misc]
    groups = labels_in_strata(data, asked.within, lambda part: _groups(part, needed, weights))
    done = recoded(find("mdav"), data, groups)
    note = "publishes invented values"
    return Candidate("mdav", replace(demand, k=needed), done, note=note), groups


def _groups(data: Microdata, k: int, weights: Sequence[float]) -> NDArray[np.int32]:
    names = data.quasi_identifiers
    kinds = [data.attribute(name).kind.value for name in names]
    return mdav(points(data, names), k, kinds=kinds, weights=weights, progress=telling("records in groups"))


def _classes(data: Microdata, done: Recoded, within: Sequence[str]) -> NDArray[np.int64]:
    """Class of each record: those that look alike in the published columns, and are of one stratum."""

    def columns() -> Iterator[NDArray[Any]]:
        for name in (*within, *data.quasi_identifiers):
            published = name in done.columns and name not in within
            yield placed_cells(held_cells(done.columns, name))[0] if published else data.attribute(name).codes

    return column_labels(columns())[0]


def costs(choice: Choice) -> Iterator[tuple[str, ...]]:
    """Rows of a table for a person: what each method costs; an arrow marks the one that is written.

    With a price there is one more column, of what a method costs with it.
    """

    def priced(cell: str) -> tuple[str, ...]:
        return () if choice.price is None else (cell,)

    for candidate in choice.candidates:
        mark = "→" if candidate is choice.chosen else ""
        if candidate.done is None:
            yield mark, candidate.method, "-", *priced("-"), "-", "-", candidate.note
            continue
        count, what = (candidate.stars, "cell") if candidate.stars else (candidate.suppressed, "record")
        out = f"{count:,} {what}{'s' * (count != 1)}" if count else ""
        lost = f"{candidate.glm_percent:.3g}", *priced(f"{candidate.cost:.3g}")
        yield mark, candidate.method, *lost, out or "none", f"{candidate.k:,}", candidate.note

"""Protection of a table in one step: a registered method, what it promises counted, the files of a release."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.coded import coded_cells, coded_frame, decoded, held_cells, starred, without_lost
from sdc_problems._tables.frames import is_frame
from sdc_problems._validation import choice
from sdc_problems.errors import SDCError
from sdc_problems.methods._apply import apply, recoded
from sdc_problems.methods._importance import checked_price, weights_of
from sdc_problems.methods._recipe_method import RecipeMethod, with_its_roles
from sdc_problems.methods.recoding._generalize import MAX_SUPPRESSION, Recoded
from sdc_problems.methods.registry import Method, Partitioned, find
from sdc_problems.microdata import Microdata
from sdc_problems.roles import direct_identifier
from sdc_problems.studies.release import _columns
from sdc_problems.studies.release._certificate import certificate
from sdc_problems.studies.release._choice import SEARCH_SEED, SECONDS, Choice, choose
from sdc_problems.studies.release._columns import (
    Columns,
    check_pseudonyms,
    columns_that_leave,
    pseudonyms,
    singled_out,
    warn_of_unasked,
)
from sdc_problems.studies.release._demand import Demand
from sdc_problems.studies.release._hierarchies import completed
from sdc_problems.studies.release._strata import check_within, in_strata, share_of, strata
from sdc_problems.studies.release._transaction import Places, Written, refuse_broken, reserve, write
from sdc_problems.studies.release.csv_text import PLAIN, Form, as_written
from sdc_problems.studies.release.guarantees import Guarantee, at_most, classes_of, step_guarantees
from sdc_problems.studies.release.row_order import KEPT_SENTENCE, SHUFFLED_SENTENCE, RowOrder
from sdc_problems.studies.release.value_mapping import ROWS_SEED, SEED, kept_seed, record_by_record, value_mapping
from sdc_problems.studies.report.kept_records import left_out, with_records_kept
from sdc_problems.studies.store.versions import versions
from sdc_problems.studies.verdict import LINKAGE_LIMIT, Verdict
from sdc_problems.studies.verdict.leaves import leaf_counts

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.graph import SocialGraph
    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.methods._recipe import Recipe
    from sdc_problems.studies.release._links import GraphForm, LinkedRelease


@dataclass(frozen=True)
class Protected:
    """A protected table.

    Attributes
    ----------
    coded
        The table itself, with columns of text coded; see `frame`.
    method
        Name of the method.
    what_was_done
        In plain sentences.
    guarantees
        Promises, counted in the written file; in the table's text if none was written.
    promise
        The promise of the method in a sentence; "promises no k" if it has none.
    groups
        Number of groups of a partition.
    places
        The files, None if nothing was written.
    certificate
        Content of the certificate, None if nothing was written.
    verdict
        What the file gives away and has lost, None if nothing was written.
    rows
        The file that says which record of the original each row is, None if it was not written.
    links
        The release of a graph with its links, None for a table.
    choice
        What the other methods would have cost, if one was chosen.
    recipe
        The recipe that was applied in place of one method.
    secret_seed
        Whether who knows the seed can undo the protection.
    """

    coded: pd.DataFrame = field(repr=False)
    method: str
    what_was_done: tuple[str, ...]
    guarantees: tuple[Guarantee, ...]
    promise: str
    groups: int | None = None
    places: Places | None = None
    certificate: dict[str, Any] | None = None
    verdict: Verdict | None = None
    rows: Path | None = None
    links: LinkedRelease | None = None
    choice: Choice | None = None
    recipe: Recipe | None = None
    secret_seed: bool = False

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table itself, in the order of the original; the file that is written has its rows shuffled."""
        return decoded(self.coded)

    @property
    def records(self) -> pd.DataFrame:
        """The table with a row for each record: a super-node as often as it stands for people."""
        if self.links is None or self.links.form == "nodes":
            return self.frame
        return self.links.expanded(self.frame).reset_index(drop=True)

    def payload(self) -> dict[str, Any]:
        """Everything as JSON can hold it."""
        return {
            "schema": "sdc.protected/1",
            "file": None if self.places is None else self.places.file.name,
            "certificate": None if self.places is None else self.places.certificate.name,
            "mapping": None if self.places is None else self.places.mapping.name,
            "rows": None if self.rows is None else self.rows.name,
            "method": self.method,
            **({} if self.recipe is None else RecipeMethod.of(self.recipe).payload()),
            "groups": self.groups,
            "compared": None if self.choice is None else [c.row() for c in self.choice.candidates],
            "why": None if self.choice is None else list(self.choice.why()),
            "what_was_done": list(self.what_was_done),
            "promise": self.promise,
            "guarantees_checked_in_the_file": [g.as_dict() for g in self.guarantees],
            "columns": None if self.certificate is None else self.certificate["columns"],
            "links": None
            if self.places is None or self.places.file_of_links is None
            else self.places.file_of_links.name,
            "graph": None if self.certificate is None else self.certificate.get("graph"),
            "verdict": None if self.verdict is None else self.verdict.payload(),
        }


@dataclass(frozen=True)
class _Work:
    """A table on its way to a file: the protected cells, and what they are measured against."""

    data: Microdata
    method: Method
    demand: Demand
    columns: Columns
    frame: pd.DataFrame
    original: pd.DataFrame
    lost: NDArray[np.bool_]
    what_was_done: tuple[str, ...]
    within: tuple[str, ...] = ()
    allowed: int | None = None
    """Records that may be left out, where that was said or the method has a default."""

    def promises(self, text: pd.DataFrame) -> list[Guarantee]:
        """Count the guarantees in the cells of the file."""
        n, dropped = len(self.original), len(text) < len(self.original)
        kept = text if dropped else text[~self.lost]
        before = self.original[~self.lost] if dropped else self.original
        if self.method.suppresses:
            limit = "no more records are suppressed than allowed"
            allowed = int(self.lost.sum()) if self.allowed is None else self.allowed
            found = [at_most("suppressed", self.columns.protected, allowed, n - len(kept), limit)]
        else:
            whole_file = "no record is left out or added"
            found = [Guarantee("records", (), float(n), float(len(text)), len(text) == n, whole_file)]
        if not found[0].holds or len(before) != len(text):
            return found
        new = {*self.columns.protected, *self.columns.pseudonyms}
        others = [name for name in text.columns if name not in new]
        changed = sum(int((before[name].to_numpy() != text[name].to_numpy()).sum()) for name in others)
        found.append(at_most("changed elsewhere", others, 0, changed, "no other column has changed"))
        for name in self.columns.pseudonyms:
            shown = int(text[name].isin(set(self.original[name])).sum())
            found.append(at_most("identifiers shown", (name,), 0, shown, "no identifier of the original is shown"))
        steps = step_guarantees(self.method.recipe, kept, self.within) if isinstance(self.method, RecipeMethod) else []
        if self.method.guarantee is not None or (isinstance(self.method, RecipeMethod) and self.demand.said()):
            sensitive = [name for name in self.data.sensitive if name not in self.columns.protected]
            protected = self.columns.protected
            alike = (*self.within, *protected)
            reading = self.method.guarantee or "k"
            found += [*steps, *self.demand.counted(kept, self.original, alike, sensitive, reading, self.within)]
        elif steps:
            found += steps
        else:
            same = all((before[name].to_numpy() == text[name].to_numpy()).all() for name in self.columns.protected)
            if same:
                raise SDCError(
                    f"method {self.method.name} changed no cell of {', '.join(self.columns.protected)}: the file would"
                    " be the original; choose larger amounts"
                )
        return found


@dataclass(frozen=True)
class _Weighing:
    """Weights of the columns and the price of a record that is left out."""

    importance: Mapping[str, float] | None
    suppression_price: float | None

    def checked(self, data: Microdata) -> _Weighing:
        """Refuse weights and prices that are none."""
        weights_of(data.quasi_identifiers, self.importance)
        if self.suppression_price is not None:
            checked_price(self.suppression_price)
        return self

    def sentences(self) -> tuple[str, ...]:
        """Sentences for a certificate and a person."""
        found = []
        if self.importance:
            listed = ", ".join(f"{name} {weight:g}" for name, weight in self.importance.items())
            found.append(f"Importance of the columns in the loss: {listed}; 1 for all others.")
        if self.suppression_price is not None:
            price = f"{self.suppression_price:g}"
            found.append(f"A record that is left out counts {price} times as much as one that loses everything.")
        return tuple(found)


def protect(
    data: Microdata | SocialGraph | Any,
    out: Path | str | None = None,
    *,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    method: str | None = None,
    recipe: Recipe | None = None,
    k: int | None = None,
    l: int | None = None,
    entropy_l: float | None = None,
    t: float | None = None,
    max_risk: float | None = None,
    within: Sequence[str] = (),
    max_suppression: float | None = None,
    importance: Mapping[str, float] | None = None,
    suppression_price: float | None = None,
    pseudonym: Sequence[str] = (),
    seconds: float | None = None,
    allow_perturbed: bool = False,
    explain: bool = False,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    seed: int | None = None,
    keep: Sequence[str] | None = None,
    suppressed: Literal["drop", "star"] | None = None,
    keep_order: bool = False,
    rows: bool = True,
    rows_seed: int | None = None,
    formula_guard: bool = False,
    overwrite: bool = False,
    linkage_limit: int = LINKAGE_LIMIT,
    source: Path | None = None,
    inputs: Sequence[Path] = (),
    form: Form = PLAIN,
    graph_form: GraphForm = "nodes",
    say: Callable[[str], object] | None = None,
    **options: Any,
) -> Protected:
    """Protect the quasi-identifiers and write the files of a release; all or nothing.

    A method may be named; or what is asked of alike records is said (k, l, t …), and the method that loses least is
    chosen: among the lattice of generalizations, local recoding, local suppression and Mondrian, which publish true
    values, and microaggregation if it is allowed.

    Parameters
    ----------
    data
        The table; its quasi-identifiers are the columns that are protected. Of a social graph the nodes are protected,
        and the links released with them. A DataFrame of pandas or polars, an Arrow table or a dict of columns has no
        roles: name them.
    quasi_identifiers, sensitive
        Columns with these roles, where ``data`` has none.
    out
        The protected CSV file, its rows shuffled. Beside it come ``<out>.certificate.json``, ``<out>.mapping.csv`` and
        ``<out>.rows.csv`` (both private) and, of a graph, ``<out>.edges.csv``; a name that ends in .graphml or
        .gml makes one file of nodes and links. Nothing is written if it is not given.
    method
        Name of a method (``sdc_problems.methods.available``); if not given, one is chosen.
    recipe
        A recipe instead: each of its columns is protected by the method that it says. They are the columns that are
        protected, whatever the roles of ``data``. What is demanded besides is counted in the file.
    k
        Demand, for a choice, a recipe, or a method that takes one: every record looks like at least k − 1 others.
    l, entropy_l, t
        Further demands, of the sensitive columns: fewest different values of each among alike records; least entropy
        ℓ-diversity; largest distance of their shares from those of the whole table.
    max_risk
        Largest risk to be found, in percent, instead of k: 20 means k = 5.
    within
        Columns that make strata: each is protected on its own, and the demand holds in each; t compares with the
        shares of the stratum, which is known of each record.
    max_suppression
        How many records may be left out: a share in [0, 1), or a whole number; 1 % if not given, with a price as many
        as pay.
    importance
        What a lost cell of each column counts, in the loss of every method that is compared and in the comparison, as
        in ``{"zip": 3}``; 1 if not said.
    suppression_price
        What a record that is left out counts: so many times one that loses everything.
    pseudonym
        Direct identifiers that leave as new random numbers; which is whose stands in the value mapping.
    seconds
        Time for a method that searches; in a choice for the lattice, where measuring all of it takes longer (20).
    allow_perturbed
        Whether a method may be chosen that publishes other than true values.
    explain
        Whether a choice also finds what the next larger k would cost.
    hierarchies
        By column; of columns that have none they are made from the values where a method needs them.
    seed
        Of a method that draws random numbers. If not given, that of the mapping that is overwritten, or a new one.
    keep
        All columns without a role that may leave as they are; if not given, all of them.
    suppressed
        Whether suppressed records are left out, or stay with stars for their quasi-identifiers. If not given they are
        left out; nodes of a graph stay, for their links lead to them, and as super-nodes none is suppressed.
    keep_order
        Whether the rows of the file stay in the order of the original. Then every record is linkable by its row
        number, as the certificate says.
    rows
        Whether ``<out>.rows.csv`` is written, which pairs the file with the original (for `sdc evaluate`).
    rows_seed
        Secret seed of the order of the rows. If not given, `seed`; else that of the mapping that is overwritten; else
        it is drawn. It is kept in the mapping.
    formula_guard
        Put an apostrophe before text that a spreadsheet would take for a formula.
    overwrite
        Whether files that exist already may be replaced.
    linkage_limit
        Most records for which the verdict links probabilistically.
    source
        File that the table was read from: it is named in the certificate and never written to.
    inputs
        Other files that were read, such as those of hierarchies; never written to either.
    form
        How the file is written: delimiter, encoding and decimal mark.
    graph_form
        Of a graph: "nodes", all of them under numbers in random order, or "supernodes", one row per group.
    say
        Called with the name of each method that a choice tries.
    **options
        The method's own options.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20, 60, 21, 61], "ill": ["no", "no", "yes", "no"]})
    >>> data = Microdata.from_frame(frame, quasi_identifiers=["age"], sensitive=["ill"])
    >>> done = protect(data, method="mdav", k=2)
    >>> done.frame["age"].tolist(), [(g.name, g.found) for g in done.guarantees if g.name == "k"]
    ([20.5, 60.5, 20.5, 60.5], [('k', 2.0)])
    >>> done = protect(data, k=2)  # the method that loses least
    >>> done.method, round(done.choice.chosen.glm_percent, 2)  # of equal ones the first
    ('lattice', 33.33)
    """
    if is_frame(data):
        data = Microdata.from_frame(data, quasi_identifiers=quasi_identifiers, sensitive=sensitive)
    elif quasi_identifiers or sensitive:
        raise SDCError(
            "quasi_identifiers= and sensitive= are for tables without roles; for this one use data.with_roles(…)"
        )
    graph = None if isinstance(data, Microdata) else data
    data = data if isinstance(data, Microdata) else data.data
    if recipe is not None:
        if method is not None or options:
            given = "method" if method is not None else next(iter(options))
            raise SDCError(f"{given} cannot be used with a recipe, which sets everything: omit one of them")
        told, data = data, with_its_roles(recipe, data)
        if graph is not None and data is not told:
            raise SDCError(
                "the columns of the recipe must be quasi-identifiers of the nodes: name them when you read the graph"
            )
    if suppressed is None:
        suppressed = "drop" if graph is None else "star"
    choice(suppressed, "suppressed", ("drop", "star"))
    if not data.quasi_identifiers:
        raise SDCError("no columns to protect: name the quasi-identifiers")
    demand = Demand.of(k, l, entropy_l, t, max_risk)
    if recipe is None and method is None:
        demand = _to_choose_for(data, demand, options).checked(data)
    else:
        demand.checked(data)
    found = None if method is None else find(method)
    if recipe is not None:
        found = RecipeMethod.of(recipe)
    if graph is not None and graph_form == "supernodes" and max_suppression is None:
        max_suppression = 0 if found is None or found.takes("max_suppression") else None
    if seed is not None and graph is None:
        refuse_unused_seed(found)
    if keep_order and rows_seed is not None:
        raise SDCError("--rows-seed is the seed of shuffled rows, and --keep-order shuffles none: omit one of them")
    if graph is not None and (keep_order or rows_seed is not None):
        raise SDCError("nodes of a graph are always shuffled, by --seed: omit --keep-order and --rows-seed")
    read, linked_too = [source, *inputs], graph is not None
    places = None if out is None else reserve(Path(out), overwrite=overwrite, inputs=read, edges=linked_too)
    check_pseudonyms(data, pseudonym)
    if pseudonym and graph is not None:
        raise SDCError("nodes of a graph always get new numbers: omit pseudonym")
    columns = columns_that_leave(data, data.quasi_identifiers, keep, pseudonym)
    if found is None or not found.takes("within"):
        check_within(data, within, [*columns.unchanged, *columns.sensitive], demand.k)
    if isinstance(found, Method):
        found.refuse_many(max(map(len, strata(data, within))) if within else len(data))
    if within and graph is not None:
        raise SDCError("links connect the strata of a graph: omit within")
    weigh = _Weighing(importance, suppression_price).checked(data)
    form = form.marking(data, hierarchies)
    made: tuple[str, ...] = ()
    if isinstance(found, RecipeMethod):
        hierarchies, made = completed(found.needing_hierarchies(data), hierarchies)
    elif found is None or found.needs_hierarchies or options.get("labels"):
        hierarchies, made = completed(data, hierarchies)
    made = (*made, *weigh.sentences())
    compared, labels = None, None
    if found is None:
        compared = choose(
            data,
            demand,
            hierarchies or {},
            within=within,
            max_suppression=max_suppression,
            importance=importance,
            suppression_price=suppression_price,
            seconds=SECONDS if seconds is None else seconds,
            allow_perturbed=allow_perturbed,
            explain=explain,
            say=say,
        )
        best = compared.chosen
        found, demand, options = find(best.method), best.demand, dict(best.options)
        assert best.done is not None
        done, compared = best.done, compared.without_cells()
        del best  # and the cells with it, once they are in the table
        secret, seed, rows_seed = _seeds(found, places, seed, rows_seed, keep_order)
    else:
        secret, seed, rows_seed = _seeds(found, places, seed, rows_seed, keep_order)
        rng = None if seed is None else np.random.default_rng(seed)
        if isinstance(found, RecipeMethod):
            refused = {"max_suppression": max_suppression, "suppression_price": suppression_price, "seconds": seconds}
            for name in (name for name, value in {**refused, "importance": importance}.items() if value is not None):
                raise SDCError(f"{name} cannot be used with a recipe, which sets everything: omit it")
        if within and not found.takes("within"):
            done = in_strata(
                data,
                within,
                lambda part: _by_method(
                    part,
                    found,
                    demand,
                    share_of(max_suppression, len(part), len(data)),
                    weigh,
                    seconds,
                    hierarchies,
                    rng,
                    None,
                    (),
                    options,
                )[0],
            )
        else:
            done, labels = _by_method(
                data, found, demand, max_suppression, weigh, seconds, hierarchies, rng, seed, within, options
            )
        if max_suppression is not None:
            options = {**options, "max_suppression": max_suppression}
        if suppression_price is not None:
            options = {**options, "suppression_price": suppression_price}
    if found.takes("max_suppression") and (max_suppression is not None or suppression_price is None):
        most = MAX_SUPPRESSION if max_suppression is None else max_suppression
        allowed = int(most * len(data)) if isinstance(most, float) else int(most)
    else:
        allowed = None
    work = _work(data, found, demand, columns, done, suppressed, made, within, rows_seed)
    work = replace(work, allowed=allowed)
    del done
    groups = None if labels is None else len(np.unique(labels))
    linked = _linked(work, graph, labels, graph_form, rows_seed)
    columns = columns if linked is None else linked.columns

    def promises(text: pd.DataFrame, edges: pd.DataFrame | None = None) -> list[Guarantee]:
        if linked is None or edges is None:
            return work.promises(text)
        counted = linked.promises(text, edges)
        return counted if not all(g.holds for g in counted) else [*counted, *work.promises(linked.aligned(text))]

    if places is None:
        written_as = (work.frame,) if linked is None else (linked.published.nodes, linked.published.edges)
        counted = tuple(promises(*map(as_written, written_as)))
        refuse_broken(counted)
        return Protected(
            written_as[0],
            found.name,
            work.what_was_done,
            counted,
            found.promise,
            groups,
            links=linked,
            choice=compared,
            recipe=recipe,
            secret_seed=found.secret_seed,
        )
    verdicts: list[Verdict] = []

    def papers(written: Written) -> tuple[dict[str, Any], bytes]:
        text = written.text if linked is None else linked.aligned(written.text)
        aligned = record_by_record(text, work.original, work.lost, columns.protected)
        leaves = leaf_counts(hierarchies or {}, {name: written.text[name].unique() for name in columns.protected})
        measured = _columns.measured(data, aligned, columns, linkage_limit=linkage_limit, leaf_counts=leaves)
        alone = singled_out(text, columns)
        told = () if linked is None else linked.sentences(written.text, exposure=True)
        verdicts.append(measured)
        content = certificate(
            {
                "method": found.name,
                "title": found.title,
                **demand.asked,
                **({"within": list(within)} if within else {}),
                **({"importance": dict(importance)} if importance else {}),
                **({} if suppression_price is None else {"suppression_price": suppression_price}),
                "options": {**found.fixed, **options},
                **(found.payload() if isinstance(found, RecipeMethod) else {}),
                "promise": found.promise,
                **({} if compared is None else {"compared": [candidate.row() for candidate in compared.candidates]}),
                "what_was_done": [
                    *work.what_was_done,
                    *told,
                    *with_records_kept(_columns.sentences(columns, alone), len(data), data.n_dropped),
                    *([] if linked is not None else [KEPT_SENTENCE if keep_order else SHUFFLED_SENTENCE]),
                ],
                **({} if linked is None else linked.entry(written, places)),
            },
            {},
            written=written,
            places=places,
            columns=columns,
            alone=alone,
            leaves=leaves,
            measured=measured.payload(),
            data=data,
            source=None if source is None else Path(source).name,
            file=None if source is None else Path(source),
            content_digest=data.digest if graph is None else graph.digest,
            suppressed=suppressed,
            formula_guard=formula_guard,
            shuffled=not keep_order,
            secret_seed=secret,
            seed=seed,
            versions=versions(),
        )
        seeds = {SEED: seed if secret else None, ROWS_SEED: rows_seed}
        return content, value_mapping(work.original, aligned, work.lost, seeds)

    frame = work.frame if linked is None else linked.published.nodes
    dropped = len(work.frame) < len(data)
    order = RowOrder(data.rows[~work.lost] if dropped else data.rows, rows_seed, rows)
    if linked is not None:
        order = linked.order(data.rows, rows)
    written, content = write(
        places,
        frame,
        rows=order,
        formula_guard=formula_guard,
        promises=promises,
        papers=papers,
        form=form,
        graph=None if linked is None else linked.published,
    )
    if keep is None:
        warn_of_unasked(content["columns"])
    said = tuple(content["what_was_done"])
    return Protected(
        frame,
        found.name,
        said,
        written.guarantees,
        found.promise,
        groups,
        places,
        content,
        verdicts[0],
        places.rows if order.private_file else None,
        linked,
        compared,
        recipe,
        found.secret_seed,
    )


def _linked(
    work: _Work, graph: SocialGraph | None, labels: NDArray[Any] | None, form: GraphForm, seed: int | None
) -> LinkedRelease | None:
    """Put the nodes of a graph in random order, with their links."""
    if graph is None or seed is None:
        return None
    if len(work.frame) < graph.n_nodes:
        raise SDCError(
            f"method {work.method.name} leaves out records, and their links would end nowhere: keep them with stars"
            ' (suppressed "star")'
        )
    if form == "supernodes" and work.lost.any():
        raise SDCError(
            f"{int(work.lost.sum())} record(s) are suppressed and would be single super-nodes: suppress none"
            " (max_suppression 0)"
        )
    from sdc_problems.studies.release._links import LinkedRelease

    k = work.demand.k if work.method.guarantee is not None and not work.lost.any() else None
    alike = work.method.guarantee is not None  # then records with equal values are groups of k

    def groups() -> NDArray[Any]:
        return classes_of(work.frame, work.columns.protected) if labels is None else labels

    clusters = groups if alike else None
    rare = work.demand.k
    table = decoded(work.frame)
    return LinkedRelease.of(graph, table, work.columns, k=k, form=form, clusters=clusters, seed=seed, rare=rare)


def _to_choose_for(data: Microdata, demand: Demand, options: Mapping[str, Any]) -> Demand:
    """Demand that a method can be chosen for; k is at least 2, and no quasi-identifier identifies by itself."""
    if options:
        given = ", ".join(options)
        raise SDCError(f"{given} is an option of a method: name the method, or omit the option")
    if demand.k is None and not demand.of_sensitive:
        raise SDCError("there is no demand: give k (such as k=5), max_risk, l or t, or name a method")
    for name in data.quasi_identifiers:
        reason = direct_identifier(data, name)
        if reason is not None:
            raise SDCError(
                f"column {name!r} is a direct identifier ({reason}), which is left out instead of protected: name it as"
                " identifier"
            )
    return demand if demand.k is not None else replace(demand, k=2)


def refuse_unused_seed(found: Method | RecipeMethod | None) -> None:
    """Refuse the seed of a method, or of a choice among methods, that draws no random numbers."""
    if found is None or not found.random:
        drawn = "a choice" if found is None else f"method {found.name}"
        raise SDCError(f"{drawn} draws no random numbers: omit the seed")


def _seeds(
    method: Method, places: Places | None, seed: int | None, rows_seed: int | None, keep_order: bool
) -> tuple[bool, int | None, int | None]:
    """Whether the method's seed is a secret, that seed, and the one that orders the rows."""
    secret = method.secret_seed or (seed is not None and not keep_order)  # what also orders the rows is no longer told
    if not keep_order and rows_seed is None:
        rows_seed = seed if seed is not None or places is None else kept_seed(places.mapping, ROWS_SEED)
    if seed is None and method.search:
        seed = SEARCH_SEED
    elif seed is None and method.random:
        seed = None if places is None else kept_seed(places.mapping, SEED)
        seed = secrets.randbits(63) if seed is None else seed
    if not keep_order and rows_seed is None:
        rows_seed = seed if method.secret_seed and seed is not None else secrets.randbits(63)
    return secret, seed, rows_seed


def _by_method(
    data: Microdata,
    method: Method,
    demand: Demand,
    max_suppression: float | None,
    weigh: _Weighing,
    seconds: float | None,
    hierarchies: Mapping[str, Hierarchy] | None,
    rng: np.random.Generator | None,
    seed: int | None,
    within: Sequence[str],
    options: Mapping[str, Any],
) -> tuple[Recoded, NDArray[Any] | None]:
    """Cells that a method makes, and the group of each record if it makes any."""

    def problem() -> Any:
        from sdc_problems.problems.microaggregation import MicroaggregationProblem

        assert demand.k is not None
        return MicroaggregationProblem(data, demand.k)

    if isinstance(method, RecipeMethod):
        if rng is not None and seed is None:  # a stratum draws its own
            seed = int(rng.integers(2**62))
        return method.recipe.apply(data, hierarchies=hierarchies, seed=seed), None
    found = apply(
        method,
        data,
        **asdict(demand),
        max_suppression=max_suppression,
        **asdict(weigh),
        seconds=seconds,
        hierarchies=hierarchies,
        rng=rng,
        within=within,
        problem=problem,
        options=options,
    )
    labels = None
    if method.form == "partition":
        labels = found.labels if isinstance(found, Partitioned) else np.asarray(found)
    return recoded(method, data, found), labels


def _work(
    data: Microdata,
    method: Method,
    demand: Demand,
    columns: Columns,
    done: Recoded,
    suppressed: str,
    made: Sequence[str],
    within: Sequence[str] = (),
    seed: int | None = None,
) -> _Work:
    lost = np.zeros(len(data), dtype=np.bool_) if done.suppressed is None else np.asarray(done.suppressed, dtype=bool)
    frame = coded_frame(data)
    original = as_written(frame)
    for name in list(frame.columns):
        if name in done.columns:
            cells = held_cells(done.columns, name)
            frame[name] = coded_cells(cells) if isinstance(cells, np.ndarray) else cells
        if name in columns.pseudonyms:
            frame[name] = pseudonyms(data, name, seed)
        if suppressed == "star" and lost.any() and name in columns.protected:
            frame[name] = starred(frame[name], lost)
    frame = columns.leaving(frame)
    if lost.any() and suppressed == "drop":
        frame = without_lost(frame, lost)
    counts = len(data), data.n_dropped
    said = (*left_out(*counts), *made, *with_records_kept(done.sentences, *counts))
    return _Work(data, method, demand, columns, frame, original, lost, said, tuple(within))

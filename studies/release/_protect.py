"""Protection of a table in one step: a registered method, what it promises counted, the files of a release."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.columns import STAR
from sdc_problems._validation import choice
from sdc_problems.errors import SDCError
from sdc_problems.graph import SocialGraph
from sdc_problems.methods._apply import apply, recoded
from sdc_problems.methods.registry import Method, find
from sdc_problems.microdata import Microdata
from sdc_problems.studies.release import _columns
from sdc_problems.studies.release._certificate import certificate
from sdc_problems.studies.release._columns import Columns, columns_that_leave, singled_out
from sdc_problems.studies.release._demand import Demand
from sdc_problems.studies.release._links import GraphForm, LinkedRelease, graph_entry
from sdc_problems.studies.release._transaction import Places, Written, refuse_broken, reserve, write
from sdc_problems.studies.release.csv_text import PLAIN, Form, as_written
from sdc_problems.studies.release.guarantees import Guarantee, at_most
from sdc_problems.studies.release.row_order import KEPT_SENTENCE, SHUFFLED_SENTENCE, RowOrder
from sdc_problems.studies.release.value_mapping import ROWS_SEED, SEED, kept_seed, record_by_record, value_mapping
from sdc_problems.studies.report.kept_records import left_out, with_records_kept
from sdc_problems.studies.run.runner import versions
from sdc_problems.studies.verdict import LINKAGE_LIMIT, Verdict
from sdc_problems.studies.verdict.leaves import leaf_counts

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.hierarchy import Hierarchy

SEARCH_SEED = 1
"""Seed of a search that is given none: its random numbers change no cell by themselves, so nobody need keep it."""


@dataclass(frozen=True)
class Protected:
    """A protected table.

    Attributes
    ----------
    frame
        The table itself, in the order of the original; the file that is written has its rows shuffled.
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
    """

    frame: pd.DataFrame
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

    def payload(self) -> dict[str, Any]:
        """Everything as JSON can hold it."""
        return {
            "schema": "sdc.protected/1",
            "file": None if self.places is None else self.places.file.name,
            "certificate": None if self.places is None else self.places.certificate.name,
            "mapping": None if self.places is None else self.places.mapping.name,
            "rows": None if self.rows is None else self.rows.name,
            "method": self.method,
            "groups": self.groups,
            "what_was_done": list(self.what_was_done),
            "promise": self.promise,
            "guarantees_checked_in_the_file": [g.as_dict() for g in self.guarantees],
            "columns": None if self.certificate is None else self.certificate["columns"],
            "links": None if self.places is None or self.places.edges is None else self.places.edges.name,
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

    def promises(self, text: pd.DataFrame) -> list[Guarantee]:
        """Count in the file's cells what is promised of them."""
        n, dropped = len(self.original), len(text) < len(self.original)
        kept = text if dropped else text[~self.lost]
        before = self.original[~self.lost] if dropped else self.original
        if self.method.suppresses:
            limit = "no more records are suppressed than was said"
            found = [at_most("suppressed", self.columns.protected, int(self.lost.sum()), n - len(kept), limit)]
        else:
            whole_file = "no record is left out or added"
            found = [Guarantee("records", (), float(n), float(len(text)), len(text) == n, whole_file)]
        if not found[0].holds or len(before) != len(text):
            return found
        others = [name for name in text.columns if name not in self.columns.protected]
        changed = sum(int((before[name].to_numpy() != text[name].to_numpy()).sum()) for name in others)
        found.append(at_most("changed elsewhere", others, 0, changed, "no other column has changed"))
        if self.method.guarantee is not None:
            sensitive = [name for name in self.data.sensitive if name not in self.columns.protected]
            protected = self.columns.protected
            found += self.demand.counted(kept, self.original, protected, sensitive, self.method.guarantee)
        else:
            same = all((before[name].to_numpy() == text[name].to_numpy()).all() for name in self.columns.protected)
            if same:
                raise SDCError(
                    f"method {self.method.name} changed no cell of {', '.join(self.columns.protected)}: the file would"
                    " be the original; give it larger amounts"
                )
        return found


def protect(
    data: Microdata | SocialGraph,
    out: Path | str | None = None,
    *,
    method: str = "mdav",
    k: int | None = None,
    l: int | None = None,
    entropy_l: float | None = None,
    t: float | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    seed: int | None = None,
    keep: Sequence[str] | None = None,
    suppressed: Literal["drop", "star"] = "drop",
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
    **options: Any,
) -> Protected:
    """Protect the quasi-identifiers by a registered method and write the files of a release; all or nothing.

    Parameters
    ----------
    data
        The table; its quasi-identifiers are the columns that are protected. Of a social graph the nodes are protected,
        and the links released with them.
    out
        The protected CSV file, its rows shuffled. Beside it come ``<out>.certificate.json``, ``<out>.mapping.csv`` and
        ``<out>.rows.csv`` (both private) and, of a graph, ``<out>.edges.csv``. Nothing is written if it is not given.
    method
        Name of a method (``sdc_problems.methods.available``).
    k
        For a method that takes one: every record looks like at least k − 1 others.
    l, entropy_l, t
        For a method that takes them: fewest different values of each sensitive column among alike records; least
        entropy ℓ-diversity; largest distance of their shares from those of the whole table.
    hierarchies
        By column, for a method that takes them.
    seed
        Of a method that draws random numbers. If not given, that of the mapping that is overwritten, or a new one.
    keep
        All columns without a role that may leave as they are; if not given, all of them.
    suppressed
        Whether suppressed records are left out, or stay with stars for their quasi-identifiers.
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
    """
    graph = data if isinstance(data, SocialGraph) else None
    data = data.data if isinstance(data, SocialGraph) else data
    found = find(method)
    choice(suppressed, "suppressed", ("drop", "star"))
    if not data.quasi_identifiers:
        raise SDCError("no column was named to be protected: name the quasi-identifiers")
    demand = Demand(k, l, entropy_l, t).checked(data)
    if seed is not None and not found.random and graph is None:
        raise SDCError(f"method {found.name} draws no random numbers: leave the seed out")
    if keep_order and rows_seed is not None:
        raise SDCError("a seed of the order of the rows (--rows-seed) is for rows that are shuffled: leave one out")
    if graph is not None and (keep_order or rows_seed is not None):
        raise SDCError("nodes of a graph are always in random order, by --seed: leave --keep-order and --rows-seed out")
    read, linked_too = [source, *inputs], graph is not None
    places = None if out is None else reserve(Path(out), overwrite=overwrite, inputs=read, edges=linked_too)
    columns = columns_that_leave(data, data.quasi_identifiers, keep)
    secret = found.secret_seed or (seed is not None and not keep_order)  # what also orders the rows is no longer told
    if not keep_order and rows_seed is None:
        rows_seed = seed if seed is not None or places is None else kept_seed(places.mapping, ROWS_SEED)
    if seed is None and found.search:
        seed = SEARCH_SEED
    elif seed is None and found.random:
        seed = None if places is None else kept_seed(places.mapping, SEED)
        seed = secrets.randbits(63) if seed is None else seed
    if not keep_order and rows_seed is None:
        rows_seed = seed if found.secret_seed and seed is not None else secrets.randbits(63)
    work, labels = _protected(data, found, demand, columns, hierarchies, seed, suppressed, options)
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
        return Protected(written_as[0], found.name, work.what_was_done, counted, found.promise, groups, links=linked)
    verdicts: list[Verdict] = []

    def papers(written: Written) -> tuple[dict[str, Any], bytes]:
        text = written.text if linked is None else linked.aligned(written.text)
        aligned = record_by_record(text, work.original, work.lost, columns.protected)
        leaves = leaf_counts(hierarchies or {}, {name: set(written.text[name]) for name in columns.protected})
        measured = _columns.measured(data, aligned, columns, linkage_limit=linkage_limit, leaf_counts=leaves)
        alone = singled_out(text, columns)
        told = () if linked is None else linked.sentences(written.text, exposure=True)
        verdicts.append(measured)
        content = certificate(
            {
                "method": found.name,
                "title": found.title,
                **demand.asked,
                "options": {**found.fixed, **options},
                "promise": found.promise,
                "what_was_done": [
                    *work.what_was_done,
                    *told,
                    *with_records_kept(_columns.sentences(columns, alone), len(data), data.n_dropped),
                    *([] if linked is not None else [KEPT_SENTENCE if keep_order else SHUFFLED_SENTENCE]),
                ],
                **graph_entry(linked, written, places),
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
        edges=None if linked is None else linked.published.edges,
    )
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
    )


def _linked(
    work: _Work, graph: SocialGraph | None, labels: NDArray[Any] | None, form: GraphForm, seed: int | None
) -> LinkedRelease | None:
    """Put the nodes of a graph in random order, with their links."""
    if graph is None or seed is None:
        return None
    if len(work.frame) < graph.n_nodes:
        raise SDCError(
            f"method {work.method.name} leaves records out, and their links would lead nowhere: keep them with stars"
            ' (suppressed "star")'
        )
    k = work.demand.k if work.method.guarantee is not None and not work.lost.any() else None
    clusters = None if labels is None else lambda: labels
    return LinkedRelease.of(graph, work.frame, work.columns, k=k, form=form, clusters=clusters, seed=seed)


def _protected(
    data: Microdata,
    method: Method,
    demand: Demand,
    columns: Columns,
    hierarchies: Mapping[str, Hierarchy] | None,
    seed: int | None,
    suppressed: str,
    options: Mapping[str, Any],
) -> tuple[_Work, NDArray[Any] | None]:
    def problem() -> Any:
        from sdc_problems.problems.microaggregation import MicroaggregationProblem

        assert demand.k is not None
        return MicroaggregationProblem(data, demand.k)

    rng = None if seed is None else np.random.default_rng(seed)
    found = apply(method, data, **asdict(demand), hierarchies=hierarchies, rng=rng, problem=problem, options=options)
    done = recoded(method, data, found)
    lost = np.zeros(len(data), dtype=np.bool_) if done.suppressed is None else np.asarray(done.suppressed, dtype=bool)
    whole_table = data.frame().reset_index(drop=True)
    frame = whole_table.copy()
    for name, cells in done.columns.items():
        frame[name] = cells
    if lost.any() and suppressed == "star":
        for name in columns.protected:
            frame[name] = frame[name].astype(object).mask(lost, STAR)
    frame = columns.leaving(frame)
    if lost.any() and suppressed == "drop":
        frame = frame[~lost].reset_index(drop=True).infer_objects()
    counts = len(data), data.n_dropped
    said = (*left_out(*counts), *with_records_kept(done.sentences, *counts))
    work = _Work(data, method, demand, columns, frame, as_written(whole_table), lost, said)
    return work, np.asarray(found) if method.form == "partition" else None

"""``sdc evaluate``: disclosure risk and information loss of a protected file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sdc_problems.errors import SDCError
from sdc_problems.studies.commands._options import json_option, kinds_by_name, names
from sdc_problems.studies.commands.files._links import Linked, links_options
from sdc_problems.studies.commands.files._reading import Reading, format_of, naming_options, reading_options

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import pandas as pd
    from rich.console import Console

    from sdc_problems.graph import SocialGraph
    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.microdata import Microdata
    from sdc_problems.studies.verdict import Verdict
    from sdc_problems.studies.verdict.leaves import Leaves
    from sdc_problems.studies.verdict.parts import Measure


@click.command(name="evaluate")
@click.argument("original", type=click.Path(path_type=Path))
@click.argument("protected", type=click.Path(path_type=Path), required=False)
@click.option(
    "--quasi-identifiers",
    help="Columns that an intruder may know, separated by commas. Default of this and the next three: what the"
    " certificate beside PROTECTED says.",
)
@click.option("--sensitive", help="Columns whose values must stay secret, separated by commas.")
@click.option("--identifiers", help="Direct identifiers of ORIGINAL, which PROTECTED must not have.")
@click.option(
    "--keep", help="Other columns that PROTECTED has. Columns that are not named were left out. Default: all."
)
@click.option(
    "--kinds", default="", help="Kinds of columns, where the detected ones are wrong, as in age=numeric,zip=nominal."
)
@click.option(
    "--population",
    type=click.Path(path_type=Path),
    help="CSV file of the population, with the quasi-identifiers and values written as in ORIGINAL. It adds k-map and"
    " the risk from an intruder who does not know who is in the file.",
)
@click.option("--weights", help="Column of ORIGINAL with sampling weights. It estimates the same without --population.")
@click.option("--households", help="Column of ORIGINAL with the household of each record. It adds household risk.")
@reading_options("ORIGINAL")
@links_options
@click.option(
    "--protected-edges",
    type=click.Path(path_type=Path),
    help="Links of PROTECTED. Default: PROTECTED.edges.csv, as sdc protect and sdc release write it.",
)
@click.option("--same-rows", is_flag=True, help="Pair the rows in their order, even if a column looks shuffled.")
@click.option(
    "--rows",
    type=click.Path(path_type=Path),
    help="File that says which record of ORIGINAL each row is. Default: PROTECTED.rows.csv, if it exists.",
)
@click.option(
    "--hierarchies",
    type=click.Path(path_type=Path),
    help="Folder of hierarchies (COLUMN.csv) whose leaves GLM counts. Default: those in the certificate of PROTECTED.",
)
@click.option(
    "--linkage-limit", type=click.IntRange(min=1), help="Most records for which probabilistic linkage is computed."
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    original: Path,
    protected: Path | None,
    quasi_identifiers: str | None,
    sensitive: str | None,
    identifiers: str | None,
    keep: str | None,
    kinds: str,
    population: Path | None,
    weights: str | None,
    households: str | None,
    encoding: str | None,
    delimiter: str | None,
    decimal: str,
    thousands: str | None,
    na_values: str | None,
    missing: str,
    edges: Path | None,
    links: str | None,
    protected_edges: Path | None,
    same_rows: bool,
    rows: Path | None,
    hierarchies: Path | None,
    linkage_limit: int | None,
    as_json: bool,
) -> None:
    """Measure the disclosure risk and the information loss of PROTECTED, a protected copy of ORIGINAL.

    Both files have the same columns, except for direct identifiers. The rows file that `sdc protect` and `sdc release`
    write beside PROTECTED pairs its rows with those of ORIGINAL. Without it, the rows must be in the same order.
    Quasi-identifiers of PROTECTED may hold generalized labels. A suppressed cell is "*" or empty.

    With --edges, both files are social graphs, and their links are measured, too. Without PROTECTED, the command
    measures the risk of ORIGINAL as it is.
    """
    from sdc_problems._tables.formats import holds_links
    from sdc_problems.studies.report.text import as_json as to_json
    from sdc_problems.studies.verdict import LINKAGE_LIMIT, graph_verdict, verdict
    from sdc_problems.studies.verdict.beside import certificate_of, rows_of_file, says_shuffled
    from sdc_problems.studies.verdict.leaves import certified

    reading = Reading(encoding, delimiter, decimal, thousands, na_values, missing)
    linked = Linked.of(edges, links)
    said = {"quasi_identifiers": quasi_identifiers, "sensitive": sensitive, "identifiers": identifiers, "keep": keep}
    listed = {name: names(value) for name, value in said.items() if value is not None}
    if protected is not None:
        listed = {**_certified_roles(protected, listed), **listed}
    if "quasi_identifiers" not in listed:
        needed = next(param for param in ctx.command.params if param.name == "quasi_identifiers")
        raise click.MissingParameter(ctx=ctx, param=needed)
    kept = listed.pop("keep", None)
    roles: dict[str, Any] = {"sensitive": [], "identifiers": [], **listed, "kinds": kinds_by_name(kinds)}
    graph = None
    with naming_options():
        if linked.there(original):
            graph, form = linked.read(original, reading, **roles)
            data = graph.data
        elif protected_edges is not None:
            raise click.UsageError("--protected-edges is for two graphs: name the links of ORIGINAL, too, by --edges")
        else:
            data, form = reading.table(original, **roles)
        if kept is not None:
            data = _without(data, kept if keep is not None else [name for name in kept if name in data.names])
        persons = None if population is None else _population(population, data, reading)
        known: dict[str, Any] = {"population": persons, "weights": weights, "households": households}
        if protected is None:
            pair = {"same_rows": same_rows, "rows": rows, "hierarchies": hierarchies, "linkage_limit": linkage_limit}
            _refuse_pair_options(**pair, protected_edges=protected_edges)
            found = verdict(data, **known) if graph is None else graph_verdict(_people(graph, data), **known)
        else:
            records = rows_of_file(protected, rows)
            levels = {} if hierarchies is None else _hierarchies(hierarchies, data)
            counts = certified(protected) if hierarchies is None else None
            pairs: pd.DataFrame | None
            if holds_links(protected):
                if graph is None:
                    raise SDCError(f"{protected.name} contains links: name those of ORIGINAL, too, by --edges")
                table, pairs = _protected_graph(protected, graph.id_column, protected_edges)
            else:
                texts: dict[str, Collection[str]] = {name: one.labels for name, one in (counts or {}).items()}
                texts |= {name: set().union(*map(one.labels, range(1, one.n_levels))) for name, one in levels.items()}
                table = _protected(protected, original, data, form, reading, paired=records is not None, known=texts)
                pairs = None if graph is None else _released_links(protected, protected_edges)
            known |= {
                "leaf_counts": counts if hierarchies is None else _leaves(levels, table),
                "linkage_limit": LINKAGE_LIMIT if linkage_limit is None else linkage_limit,
            }
            if graph is None or pairs is None:
                shuffled = records is None and not same_rows and says_shuffled(certificate_of(protected))
                given = [table]
                del table  # now only the call's arguments refer to it, so that it is freed as soon as it is paired
                found = verdict(
                    data,
                    given.pop(),
                    population=persons,
                    weights=weights,
                    households=households,
                    same_rows=same_rows,
                    rows=records,
                    shuffled=shuffled,
                    linkage_limit=known["linkage_limit"],
                    leaf_counts=known["leaf_counts"],
                )
            else:
                records = data.rows if same_rows and records is None else records
                found = graph_verdict(_people(graph, data), table.frame(), edges=pairs, rows=records, **known)
    if as_json:
        click.echo(to_json(found.payload()))
    else:
        show(found)


def _certified_roles(protected: Path, given: dict[str, list[str]]) -> dict[str, list[str]]:
    """Roles of columns from the certificate beside a protected file, if no option gives them, with a note."""
    from sdc_problems.studies.release._columns import roles_of
    from sdc_problems.studies.verdict.beside import certificate_of

    certificate = certificate_of(protected)
    if certificate is None:
        return {}
    taken = {name for columns in given.values() for name in columns}
    found = {
        role: [name for name in columns if role == "keep" or name not in taken]
        for role, columns in roles_of(certificate).items()
        if role not in given
    }
    said = [f"--{role.replace('_', '-')} {','.join(columns)}" for role, columns in found.items() if columns]
    said = [text for text in said if not text.startswith("--keep")]
    if said:
        click.echo(f"note: {protected.name}.certificate.json says {' '.join(said)}", err=True)
    return found


def _protected(
    path: Path,
    original: Path,
    data: Microdata,
    form: dict[str, Any],
    reading: Reading,
    *,
    paired: bool,
    known: Mapping[str, Collection[str]],
) -> Microdata:
    """Read the protected file: in UTF-8 as sdc writes it, or like the original; pair it by its rows file, if any."""
    from sdc_problems._tables.formats import format_of as table_format
    from sdc_problems._tables.look import found_encoding
    from sdc_problems.studies.verdict.pairing import read_protected, without_gaps

    numeric = [a.name for a in data.attributes if a.holds_numbers]
    encoding = None if table_format(path) is not None else found_encoding(path, form.get("encoding", "utf-8"))
    other = format_of(path, encoding=encoding, delimiter=None, otherwise=form.get("delimiter", ","))
    table = read_protected(path, numeric=numeric, known=known, **other, **reading.marks)
    if not paired and data.n_dropped and len(table) == len(data) + data.n_dropped:
        table = without_gaps(table, read_protected(original, **form, **reading.marks), data)
    return table


def _people(graph: SocialGraph, data: Microdata) -> SocialGraph:
    """The graph, with the roles of the table for its records."""
    return graph.with_roles(
        quasi_identifiers=data.quasi_identifiers, sensitive=data.sensitive, identifiers=data.identifiers
    )


def _protected_graph(path: Path, id: str, named: Path | None) -> tuple[Microdata, pd.DataFrame]:
    """Read the nodes and links of a protected GraphML or GML file."""
    import pandas as pd

    from sdc_problems._tables.formats import markup_format
    from sdc_problems.graph._markup import read_markup
    from sdc_problems.studies.verdict.pairing import as_protected

    if named is not None:
        raise SDCError(f"{path.name} already contains the links: omit --protected-edges")
    how = markup_format(path)
    assert how is not None
    found = read_markup(path, how)
    own = {id, "label"} if how == "GML" else {id}
    marks = [{name: cell for name, cell in marks.items() if name not in own} for marks in found.nodes]
    nodes = pd.DataFrame(marks, index=range(len(marks)))
    nodes.insert(0, id, list(map(str, found.ids)))
    ends = {"source": list(map(str, found.sources)), "target": list(map(str, found.targets))}
    return as_protected(nodes), pd.DataFrame({**ends, **pd.DataFrame(found.links, index=range(len(found.links)))})


def _released_links(protected: Path, named: Path | None) -> pd.DataFrame:
    """Read the links of the protected graph; between super-nodes, with their number."""
    from sdc_problems._tables.look import found_encoding

    path = protected.with_name(f"{protected.name}.edges.csv") if named is None else named
    if named is None and not path.is_file():
        raise SDCError(f"there is no file of links beside {protected.name} ({path.name}): name it by --protected-edges")
    other = format_of(path, encoding=found_encoding(path, "utf-8"), delimiter=None)
    from sdc_problems.studies.release.csv_text import Form, read_text

    return read_text(path, Form(**other)).rename(columns=str.lower)


def _population(path: Path, data: Microdata, reading: Reading) -> Microdata:
    """Read a table of the population; its quasi-identifiers have the same kinds as in the original."""
    from sdc_problems._tables.formats import format_of as table_format
    from sdc_problems._tables.formats import read_columns
    from sdc_problems._tables.look import found_encoding
    from sdc_problems._tables.read_csv import CSVFile
    from sdc_problems.microdata import Kind, Microdata

    other = table_format(path) is not None
    encoding = None if other else found_encoding(path, reading.encoding or "utf-8")
    form = format_of(path, encoding=encoding, delimiter=None)
    there = read_columns(path)[0] if other else CSVFile(path, chunksize=None, **form, **reading.marks).header()
    quasi = [data.attribute(name) for name in data.quasi_identifiers]
    kinds = {a.name: "numeric" if a.kind is Kind.NUMERIC else "nominal" for a in quasi if a.name in there}
    return Microdata.from_file(path, missing="category", kinds=kinds, **form, **reading.marks)


def _refuse_pair_options(**given: Any) -> None:
    """Refuse options that need two files."""
    for name, value in given.items():
        if value:
            raise click.UsageError(f"--{name.replace('_', '-')} is for a pair of files: name PROTECTED, too")


def _without(data: Microdata, keep: list[str]) -> Microdata:
    """The table with its left-out columns (without a role, and not to be kept) as identifiers."""
    from sdc_problems.microdata import Role

    for name in keep:
        data.attribute(name)
    gone = [a.name for a in data.attributes if a.role is Role.OTHER and a.name not in keep]
    return data.with_roles(
        quasi_identifiers=data.quasi_identifiers, sensitive=data.sensitive, identifiers=[*data.identifiers, *gone]
    )


def _hierarchies(folder: Path, data: Microdata) -> dict[str, Hierarchy]:
    """Hierarchies from a folder with one file per column."""
    from sdc_problems.hierarchy import Hierarchy

    if not folder.is_dir():
        raise SDCError(f"--hierarchies {str(folder)!r} is not a folder")
    found = {}
    for name in data.quasi_identifiers:
        if (folder / f"{name}.csv").is_file():
            found[name] = Hierarchy.from_csv(folder / f"{name}.csv", name=name)
            found[name].table(data.categories(name), attribute=name)
    if not found:
        raise SDCError(f"--hierarchies {str(folder)!r} has no file COLUMN.csv for any quasi-identifier")
    return found


def _leaves(hierarchies: dict[str, Hierarchy], protected: Microdata) -> dict[str, Leaves]:
    """Counts of leaves under the published labels."""
    from sdc_problems.studies.verdict.leaves import leaf_counts

    shown = {name: protected.attribute(name).labels for name in hierarchies if name in protected.names}
    return leaf_counts(hierarchies, shown)


def show(found: Verdict) -> None:
    """Print a verdict for a person."""
    from sdc_problems.studies.report.terminal import console, plain
    from sdc_problems.studies.verdict.pairing import Fate

    out = console()
    out.print(f"Risk: {plain(found.risk, 500)}.")
    if found.compared:
        out.print(f"Loss: {plain(found.utility, 500)}.")
    if found.compared and found.weakest is not None:
        out.print(f"Weakest records: {_certain(found)}.")
    words = {Fate.GENERALISED.value: "generalized"}  # the certificate keeps its spelling
    fates = "; ".join(f"{plain(name)} ({kind}, {words.get(fate, fate)})" for name, _, kind, fate in found.columns)
    out.print(f"Measured: {fates}.")
    out.print("After each value stands its range, with ↑ if higher is better and ↓ if lower is better.")
    for group in dict.fromkeys(m.group for m in found.measures):
        _show_group(group, [m for m in found.measures if m.group == group], out)
    if found.skipped:
        out.print("\nNot applicable", style="bold")
        for skipped in found.skipped:
            _indented(out, f"{plain(skipped.label)}: {plain(skipped.why, 500)}.", 2)
    for note in found.notes:
        out.print()
        out.print(f"Note: {plain(note, 500)}.")


def _certain(found: Verdict) -> str:
    of_all = f" kept of {found.n_records + found.n_dropped:,}" if found.n_dropped else ""
    certain = f"{found.weakest:,} of {found.n_records - found.n_suppressed:,}{of_all} are found for certain"
    certain += " by the quasi-identifiers"
    without_stars = found.value("certain_complete") or 0
    if without_stars > (found.weakest or 0):
        certain += f", {without_stars:,.0f} if the intruder ignores starred records"
    return certain


def _show_group(group: str, measures: list[Measure], out: Console) -> None:
    """Print a group of measures in two lines each: the figures, and the sentence below."""
    from sdc_problems.studies.report.terminal import plain

    out.print(f"\n{group}", style="bold")
    rows = [[plain(cell) for cell in _figures(m)] for m in measures]
    label, value, _ = (max(len(row[j]) for row in rows) for j in range(3))
    for m, row in zip(measures, rows, strict=True):
        out.print(f"  {row[0].ljust(min(label, 34))}  {row[1].rjust(value)}  {row[2]}", soft_wrap=True)
        _indented(out, plain(m.sentence, 500), 6)


def _indented(out: Console, what: str, by: int) -> None:
    from rich.padding import Padding

    out.print(Padding(what, (0, 0, 0, by), expand=False))


def _figures(measure: Measure) -> tuple[str, str, str]:
    """Label, value and range with direction."""
    from sdc_problems.studies.report.text import number

    value = number(measure.value) + (" %" if measure.unit == "%" else "")
    if measure.before is not None:
        value += f" (was {number(measure.before)})"
    top = "" if measure.high is None else f" {number(measure.high)}"
    return (
        measure.label,
        value,
        f"{ {'higher': '↑', 'lower': '↓'}.get(measure.better, ' ') } {number(measure.low)} …{top}",
    )

"""``sdc protect``: protect a file by a demand, a method or a recipe, and report the result and its cost."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from sdc_problems.errors import SDCError
from sdc_problems.studies.commands._interruption import all_or_nothing
from sdc_problems.studies.commands._options import (
    json_option,
    kinds_by_name,
    names,
    pairs,
    row_options,
    warnings_as_notes,
)
from sdc_problems.studies.commands.files._links import Linked, links_options
from sdc_problems.studies.commands.files._reading import Reading, naming_options, reading_options
from sdc_problems.studies.commands.files.evaluate import show
from sdc_problems.studies.commands.files.protect._demand_options import (
    demand_options,
    importance_of,
    repeating_line,
    show_costs,
)
from sdc_problems.studies.commands.files.protect._method_options import MethodCommand, listed
from sdc_problems.studies.commands.files.protect._recipe_options import (
    for_recipe,
    naming_recipe,
    recipe_options,
    refuse_search,
    searched,
)

if TYPE_CHECKING:
    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.microdata import Microdata


def _list_methods(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    from sdc_problems.methods.registry import available

    if value and not ctx.resilient_parsing:
        click.echo(listed(available().values()))
        click.echo("\nOptions of a method: sdc protect --method NAME --help")
        ctx.exit()


@click.command(name="protect", cls=MethodCommand)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--method", help="Method to use. Its options: add --help.")
@click.option(
    "--methods", is_flag=True, is_eager=True, expose_value=False, callback=_list_methods, help="List the methods."
)
@recipe_options
@demand_options
@click.option("--quasi-identifiers", "--columns", "columns", help="Columns to protect, separated by commas.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="CSV, GraphML or GML file.")
@click.option("--sensitive", default="", help="Secret columns. They stay unchanged.")
@click.option("--identifiers", default="", help="Columns to leave out.")
@click.option("--pseudonym", default="", help="Identifiers to replace by random numbers.")
@click.option("--keep", help="Other columns to publish. Default: all.")
@click.option("--kinds", default="", help="Kinds of columns, as in zip=nominal.")
@click.option("--order", multiple=True, metavar="NAME=A,B,…", help="Order of categories, first to last.")
@click.option(
    "--hierarchy",
    multiple=True,
    metavar="NAME=HOW",
    help="ARX file, or age={intervals = [5, 10]}.",
)
@reading_options("FILE")
@links_options
@click.option(
    "--form",
    type=click.Choice(["nodes", "supernodes"]),
    help="Nodes of a graph, or a row per group.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the method. Default: drawn.")
@click.option(
    "--suppressed",
    type=click.Choice(["drop", "star"]),
    help="Suppressed records: leave out, or star.",
)
@row_options
@click.option("--report", type=click.Path(path_type=Path), help="HTML page to write: before and after.")
@click.option("--formula-guard", is_flag=True, help="Put ' before text that could be a formula.")
@click.option("--overwrite", is_flag=True, help="Replace files that exist.")
@json_option
@click.pass_context
@all_or_nothing
def command(
    ctx: click.Context,
    /,
    file: Path,
    method: str | None,
    recipe: Path | None,
    search: tuple[str, ...] | None,
    k: int | None,
    l: int | None,
    entropy_l: float | None,
    t: float | None,
    max_risk: float | None,
    within: str,
    max_suppression: float | None,
    suppression_price: float | None,
    importance: str,
    seconds: float | None,
    allow_perturbed: bool,
    explain: bool,
    columns: str | None,
    out: Path,
    sensitive: str,
    identifiers: str,
    pseudonym: str,
    keep: str | None,
    kinds: str,
    order: tuple[str, ...],
    hierarchy: tuple[str, ...],
    encoding: str | None,
    delimiter: str | None,
    decimal: str,
    thousands: str | None,
    na_values: str | None,
    missing: str,
    edges: Path | None,
    links: str | None,
    form: Literal["nodes", "supernodes"] | None,
    seed: int | None,
    suppressed: Literal["drop", "star"] | None,
    keep_order: bool,
    no_rows: bool,
    rows_seed: int | None,
    report: Path | None,
    formula_guard: bool,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Protect columns of FILE and write the result to OUT.

    Demands (--k 5 --l 2) hold in each class: records that look alike. Several methods are compared, and the best one
    is used. Or name a --method, or a --recipe with a method for each column.

    OUT has the format of FILE and shuffled rows. Each guarantee is counted in it. Certificate, value mapping, rows
    file and links are beside it.
    """
    from sdc_problems.methods.registry import find
    from sdc_problems.studies.release import protect
    from sdc_problems.studies.release._protect import refuse_unused_seed
    from sdc_problems.studies.release.csv_text import Form
    from sdc_problems.studies.report.picture_types import MOST_RECORDS
    from sdc_problems.studies.report.terminal import console, plain
    from sdc_problems.studies.report.text import as_json as to_json
    from sdc_problems.studies.report.text import number

    reading = Reading(encoding, delimiter, decimal, thousands, na_values, missing)
    linked = Linked.of(edges, links)
    roles = {
        "quasi_identifiers": names(columns or ""),
        "sensitive": names(sensitive),
        "identifiers": names(identifiers),
        "kinds": kinds_by_name(kinds),
        "orders": {name: names(listed) for name, listed in pairs(order, "--order")},
    }
    steps = None
    if search is not None:
        refuse_search(ctx, recipe, out, file, overwrite)
    if recipe is not None:
        steps, roles = for_recipe(ctx, recipe, roles)
    elif columns is None:
        needed = next(param for param in ctx.command.params if param.name == "columns")
        raise click.MissingParameter(ctx=ctx, param=needed)
    if seed is not None and search is None and recipe is None and not linked.there(file):
        refuse_unused_seed(None if method is None else find(method))  # before the table is read
    graph = None
    with naming_recipe(recipe), naming_options():
        if linked.there(file):
            graph, read = linked.read(file, reading, **roles)
            data = graph.data
        elif form is not None:
            raise SDCError("--form is for records with links: name their file by --edges")
        else:
            data, read = reading.table(file, **roles)
    hierarchies, files = _hierarchies(hierarchy, data)
    _refuse_choosing(ctx, method)
    sought = None
    if search is not None and graph is not None:
        raise SDCError("--search is for a table without links: omit --edges")
    files += [] if recipe is None else [recipe]
    if report is not None:
        if len(data) > MOST_RECORDS:
            raise SDCError(
                f"--report draws the columns of up to {MOST_RECORDS:,} records, and the table has {len(data):,}: leave"
                " it out"
            )
        _refuse_report(report, [file, out, *files], overwrite)
    if search is not None:
        sought = searched(data, search, hierarchies=hierarchies, k=k, max_risk=max_risk, seconds=seconds, seed=seed)
        rows_seed = seed if rows_seed is None and not keep_order else rows_seed
        steps, seed, seconds = sought.recipe, sought.seed, None
    with warnings_as_notes(), naming_recipe(recipe), naming_options():
        done = protect(
            data if graph is None else graph,
            out,
            method=method,
            recipe=steps,
            k=k,
            l=l,
            entropy_l=entropy_l,
            t=t,
            max_risk=max_risk,
            within=names(within),
            pseudonym=names(pseudonym),
            max_suppression=max_suppression,
            importance=importance_of(importance),
            suppression_price=suppression_price,
            allow_perturbed=allow_perturbed,
            explain=explain,
            say=None if method is not None or steps is not None else _trying,
            hierarchies=hierarchies,
            seed=seed,
            keep=None if keep is None else names(keep),
            suppressed=suppressed,
            keep_order=keep_order,
            rows=not no_rows,
            rows_seed=rows_seed,
            formula_guard=formula_guard,
            overwrite=overwrite,
            source=file,
            inputs=files if linked.edges is None else [*files, linked.edges],
            form=Form.between(file, out, decimal=decimal, **read),
            graph_form=form or "nodes",
            seconds=seconds,
            **{name: value for name, value in options.items() if value is not None},
        )
    if sought is not None:
        sought.write(out)
    if report is not None:
        from sdc_problems.studies.report.file_page import file_page
        from sdc_problems.studies.store.folder import write_atomically

        write_atomically(report, file_page(data, done))
    if as_json:
        line = None if done.choice is None else repeating_line(ctx, done)
        search_said = {} if sought is None else {"search": sought.payload(out)}
        click.echo(to_json({**done.payload(), **search_said, "repeat": line}))
        return
    assert done.places is not None
    assert done.verdict is not None
    screen = console()
    if sought is not None:
        sought.show(out)
    for sentence in done.what_was_done:
        screen.print(plain(sentence, 1000))
    if done.choice is not None:
        show_costs(done, explain)
    for promise in done.guarantees:
        found, promised = number(promise.found), number(promise.promised)
        of = f" ({plain(', '.join(promise.columns), 200)})" if promise.columns else ""
        screen.print(f"checked in the file: {promise.name} {found} (promised {promised}){of}")
    mixed = dict.fromkeys(
        f"{g.name} = {number(g.promised)}" for g in done.guarantees if g.name in ("l", "entropy_l", "t")
    )
    further = f"; of the sensitive columns {', '.join(mixed)}" if mixed else ""
    screen.print(f"guarantee: {done.promise}{further}")
    screen.print(f"written: {plain(str(done.places.file), 500)}")
    if done.places.edges and done.places.markup is None:
        screen.print(f"links: {plain(str(done.places.links), 500)}")
    if report is not None:
        screen.print(f"page: {plain(str(report), 500)}")
    if sought is not None:
        sought.last_words(file, out)
    screen.print(f"certificate: {plain(str(done.places.certificate), 500)}")
    screen.print(f"value mapping (keep it private): {plain(str(done.places.mapping), 500)}")
    if done.rows is not None:
        screen.print(f"rows file (keep it private): {plain(str(done.rows), 500)}")
    if done.secret_seed:
        screen.print(
            "drawn at random; the seed is in the value mapping, and --seed repeats the draw. Do not publish a second"
            " draw of the same table: two draws together disclose more than one"
        )
    if done.choice is not None:
        screen.print(f"to repeat: {plain(repeating_line(ctx, done), 4000)}", soft_wrap=True)
    screen.print()
    show(done.verdict)


def _refuse_report(report: Path, others: list[Path], overwrite: bool) -> None:
    """Refuse a report that cannot be written, before anything is computed."""
    from sdc_problems.studies.release._transaction import Places
    from sdc_problems.studies.store.folder import refuse_own

    refuse_own(report)
    if not report.parent.is_dir() or report.is_dir():
        raise SDCError(f"--report {str(report)!r} is a folder, or its folder does not exist: choose another file")
    out = Places.of(others[1])
    taken = [*others, *(path for path in vars(out).values() if isinstance(path, Path))]
    if any(report.resolve() == path.resolve() for path in taken):
        raise SDCError(f"--report {str(report)!r} is also read or written for another purpose: choose another file")
    if report.exists() and not overwrite:
        raise SDCError(f"{str(report)!r} already exists: choose another --report, or add --overwrite")


def _trying(method: str) -> None:
    """Name the method that is being tried, on a terminal."""
    if sys.stderr.isatty():
        click.echo(f"trying {method} …", err=True)


def _refuse_choosing(ctx: click.Context, method: str | None) -> None:
    """Refuse options of the comparison of methods if a method is named."""
    from click.core import ParameterSource

    for name in ("allow_perturbed", "explain") if method is not None else ():
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = "--" + name.replace("_", "-")
            raise SDCError(
                f"{option} is for a comparison of methods, and --method names one: omit {option} or --method"
            )


def _hierarchies(given: tuple[str, ...], data: Microdata) -> tuple[dict[str, Hierarchy], list[Path]]:
    """Hierarchies by column, in the form of a study, and their files."""
    if not given:
        return {}, []
    from sdc_problems.studies.study.data import HierarchySection, load_hierarchy
    from sdc_problems.studies.study.validation import validated

    found, files = {}, []
    for name, value in pairs(given, "--hierarchy"):
        try:
            how = tomllib.loads(f"it = {value}")["it"] if value.startswith("{") else {"file": value}
        except tomllib.TOMLDecodeError as error:
            raise SDCError(f"--hierarchy {name}: {value!r} is not a TOML table as in a study file: {error}") from None
        section = validated(HierarchySection, how, f"--hierarchy {name}")
        found[name] = load_hierarchy(section, data, data.attribute(name).name, Path())
        if section.file is not None:
            files.append(Path(section.file))
    return found, files

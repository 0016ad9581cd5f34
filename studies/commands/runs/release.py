"""``sdc release``: the protected file of a solution."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from sdc_problems.studies.commands._options import json_option, names, row_options


@click.command(name="release")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--solution", required=True, metavar="ID", help="As in `sdc status` and front.csv, such as 1-17.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The protected CSV file to write.")
@click.option("--seed", type=click.IntRange(min=0), help="For a random protection; keep it secret. Drawn if not given.")
@click.option("--new-draw", is_flag=True, help="Draw a random protection anew that was released before.")
@click.option(
    "--suppressed",
    type=click.Choice(["drop", "star"]),
    default="drop",
    show_default=True,
    help="Leave suppressed records out, or keep them with stars.",
)
@click.option(
    "--form",
    type=click.Choice(["nodes", "supernodes"]),
    help="Of a social graph: every node and all links (the default), or one row per cluster.",
)
@click.option("--keep", help="All columns without a role that may leave unchanged; as the study says if not given.")
@row_options
@click.option(
    "--override", metavar="REASON", help="Reason to break the study's [require] or k = 1; in the certificate."
)
@click.option("--data", type=click.Path(path_type=Path), help="The original CSV file, if it was moved.")
@click.option("--formula-guard", is_flag=True, help="Put an apostrophe before text that a spreadsheet would execute.")
@click.option("--overwrite", is_flag=True, help="Replace files that exist already.")
@json_option
def command(
    folder: Path,
    solution: str,
    out: Path,
    seed: int | None,
    new_draw: bool,
    suppressed: Literal["drop", "star"],
    form: Literal["nodes", "supernodes"] | None,
    keep: str | None,
    keep_order: bool,
    no_rows: bool,
    rows_seed: int | None,
    override: str | None,
    data: Path | None,
    formula_guard: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Write the protected file of a solution of the run in FOLDER.

    Its rows are shuffled. The file is read back and every promise is counted in it again; if one is broken nothing is
    written. Beside OUT come OUT.certificate.json, which may be published with it, and, for you only, OUT.mapping.csv
    (what became of each value) and OUT.rows.csv (which record each row is, as `sdc evaluate` needs it). Of a social
    graph, OUT.edges.csv holds the links, under the identifiers of OUT; an OUT named .graphml or .gml holds both.
    """
    from sdc_problems.studies.release import release
    from sdc_problems.studies.report.terminal import console, plain
    from sdc_problems.studies.report.text import as_json as to_json
    from sdc_problems.studies.report.text import number

    done = release(
        folder,
        solution,
        out,
        seed=seed,
        new_draw=new_draw,
        suppressed=suppressed,
        graph_form=form,
        keep=None if keep is None else names(keep),
        keep_order=keep_order,
        rows=not no_rows,
        rows_seed=rows_seed,
        override=override,
        data=data,
        formula_guard=formula_guard,
        overwrite=overwrite,
    )
    if as_json:
        click.echo(to_json(done.content))
        return
    out_console = console()
    for sentence in done.content["what_was_done"]:
        out_console.print(plain(sentence, 1000))
    for promise in done.content["guarantees_checked_in_the_file"]:
        columns = f" ({plain(', '.join(promise['columns']), 200)})" if promise["columns"] else ""
        found, promised = number(promise["found"]), number(promise["promised"])
        out_console.print(f"checked in the file: {promise['name']} {found} (promised {promised}){columns}")
    out_console.print(f"guarantee: {done.content['promise']}")
    if done.content["override"]:
        for requirement in done.content["override"]["broken"]:
            out_console.print(f"released in spite of this: {plain(requirement, 500)}")
    out_console.print(f"released: {plain(str(done.file), 500)}")
    if done.edges not in (None, done.file):
        out_console.print(f"links: {plain(str(done.edges), 500)}")
    out_console.print(f"certificate: {plain(str(done.certificate), 500)}")
    if done.decision is not None:
        out_console.print(f"decision record: {plain(str(done.decision), 500)}")
    out_console.print(f"value mapping (keep it to yourself): {plain(str(done.mapping), 500)}")
    if done.rows is not None:
        out_console.print(f"which record each row is (keep it to yourself): {plain(str(done.rows), 500)}")

"""``sdc benchmark``: algorithms on the suite's instances, and what is told of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from sdc_problems.studies.cli import EXIT_FAILURE, EXIT_INTERRUPTED
from sdc_problems.studies.commands._options import json_option

if TYPE_CHECKING:
    from sdc_problems.suite import Instance

SCHEMA = "sdc.benchmark/1"
suite_option = click.option("--suite", default="core", show_default=True, help="Suite of instances.")

instance_option = click.option(
    "--instance", "names", multiple=True, metavar="ID", help="This instance only; may be repeated."
)
folders_argument = click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
budget_option = click.option(
    "--budget", default="long", show_default=True, help="Evaluations to look after: short, long or a number."
)
indicator_option = click.option(
    "--indicator",
    type=click.Choice(["gap", "area", "epsilon", "igd_plus"]),
    default="gap",
    show_default=True,
    help="Indicator that the tests compare.",
)


@click.group(name="benchmark", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Run algorithms on the suite's instances, whose fronts are known, and compare them.

    \b
    sdc benchmark list
    sdc benchmark run --algorithm NSGA2 --algorithm random --seeds 5 --out DIR
    sdc benchmark table DIR
    sdc benchmark plot DIR
    """


@command.command(name="list")
@suite_option
@click.option("--algorithms", is_flag=True, help="List the algorithms that `run` knows by name.")
@json_option
def list_command(suite: str, algorithms: bool, as_json: bool) -> None:
    """List the instances of a suite, with their sizes and what is known of their fronts."""
    from sdc_problems.studies.report.terminal import console
    from sdc_problems.studies.report.text import as_json as to_json

    if algorithms:
        from sdc_problems.studies.benchmark.algorithms import named

        found = named()
        if as_json:
            click.echo(to_json({"schema": SCHEMA, "algorithms": found}))
            return
        for one in found:
            tasks = f", for {' and '.join(one['tasks'])}" if one["tasks"] else ""
            console().print(f"{one['name']:<16}  {one['title']}{tasks}", soft_wrap=True)
        return
    rows = [_said(found) for found in _instances(suite, ())]
    if as_json:
        click.echo(to_json({"schema": SCHEMA, "suite": suite, "instances": rows}))
        return
    from sdc_problems.studies.benchmark.show import beside, columns

    heads = ("instance", "solutions", "front", "known", *rows[0]["budgets"])
    cells = [
        (row["id"], row["space_in_words"].removeprefix("about "), str(row["points"]), row["known"],
         *(f"{n:,}" for n in row["budgets"].values()))
        for row in rows
    ]  # fmt: skip
    notes = [", ".join(row["objectives"]) + ("" if row["available"] else " (its table is not here)") for row in rows]
    width = console().width if console().is_terminal else None
    for line in beside(columns([heads, *cells]), ["objectives", *notes], width):
        console().print(line, soft_wrap=True)


@command.command(name="show")
@click.argument("name", metavar="ID")
@json_option
def show_command(name: str, as_json: bool) -> None:
    """Describe one instance: its task, what is hard about it, and how its front is known."""
    from sdc_problems.studies.report.terminal import console
    from sdc_problems.studies.report.text import as_json as to_json
    from sdc_problems.studies.report.text import number
    from sdc_problems.suite import instance

    found = instance(name)
    said = _said(found)
    said |= {
        "digest": found.digest, "proof": found.proof, "what_is_hard": found.what_is_hard, "options": found.parameters,
        "ideal": found.natural(found.ideal).tolist(), "nadir": found.natural(found.nadir).tolist(),
    }  # fmt: skip
    if as_json:
        click.echo(to_json({"schema": SCHEMA, **said}))
        return
    out = console()
    out.print(f"{found.id}: {found.title}")
    out.print(f"  task        {found.task}, {found.space_in_words} different solutions")
    for objective, best, worst in zip(found.objectives, said["ideal"], said["nadir"], strict=True):
        out.print(f"  objective   {objective}, from {number(best)} (best) to {number(worst)} on the front")
    out.print(f"  front       {len(found.front)} points, {found.known}: {found.proof}", soft_wrap=True)
    out.print(f"  hard        {found.what_is_hard}", soft_wrap=True)
    out.print("  budgets     " + ", ".join(f"{key} {n:,}" for key, n in found.budgets.items()) + " evaluations")
    out.print(f"  digest      {found.digest}")


@command.command(name="run")
@suite_option
@instance_option
@click.option(
    "--algorithm", "algorithms", multiple=True, metavar="NAME",
    help="One of `list --algorithms`, or module:function of (problem, budget, rng); may be repeated.",
)  # fmt: skip
@click.option("--seeds", type=click.IntRange(min=1), help="Runs of each: 1, 2, …; 5 unless said.")
@click.option("--budget", help="Evaluations of a run: short, long or a number; long unless said.")
@click.option("--shipped", is_flag=True, help="The runs behind the results that come with the suite, as planned there.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder for the records.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes; by default one for each processor.")
def run_command(
    suite: str,
    names: tuple[str, ...],
    algorithms: tuple[str, ...],
    seeds: int | None,
    budget: str | None,
    shipped: bool,
    out: Path,
    workers: int | None,
) -> None:
    """Run algorithms on instances; each run is a file of its own in the folder, written when it is complete.

    After a kill or Ctrl-C the same command goes on where it was. More seeds, algorithms or instances may be asked for
    later: runs that are there are not made again. `--shipped` has algorithms, seeds and budget of its own, among which
    `--algorithm` and `--instance` choose.
    """
    from sdc_problems.errors import SDCError
    from sdc_problems.parallel._threads import processors
    from sdc_problems.studies.benchmark.runs import jobs, run_all
    from sdc_problems.studies.benchmark.shipped import planned
    from sdc_problems.studies.report.terminal import console, plain

    err = console(stderr=True)

    def tell(line: str) -> None:
        err.print(line)

    if shipped:
        if seeds is not None or budget is not None:
            raise SDCError("--shipped has seeds and budgets of its own: leave --seeds and --budget out")
        wanted = planned(_instances(suite, names), algorithms, tell=tell)
    elif not algorithms:
        raise SDCError("say which algorithm by --algorithm: one of `sdc benchmark list --algorithms`, or --shipped")
    else:
        evaluations = _budget(budget or "long")
        wanted = jobs(_instances(suite, names), algorithms, seeds=seeds or 5, budget=evaluations, tell=tell)
    done = run_all(wanted, out, workers=workers or processors(), tell=tell)
    if done.left:
        err.print(f"interrupted with {done.left} runs to go; the same command goes on")
        click.get_current_context().exit(EXIT_INTERRUPTED)
    if done.failed:
        err.print(f"{done.failed} runs ended with an error of their algorithm and have no record; the others do")
        click.get_current_context().exit(EXIT_FAILURE)
    console().print(f"{done.made + done.there} runs in {plain(str(out), 500)}", soft_wrap=True)


@command.command(name="serve")
@click.argument("name", metavar="ID")
@click.option("--algorithm", required=True, metavar="NAME", help="Name of the algorithm that asks, for its record.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the operators.")
@click.option("--budget", default="long", show_default=True, help="Evaluations of the run: short, long or a number.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder for the record.")
def serve_command(name: str, algorithm: str, seed: int, budget: str, out: Path) -> None:
    """Measure an instance's solutions for a program in any language: numbers on stdin, objectives on stdout.

    A line of numbers is answered by a line of objectives, all minimised, as the MOEA Framework's external problems
    are; `names`, `objectives`, `lower`, `upper`, `sample N`, `canonical x…`, `mutate x…` and `cross x… y…` are
    answered, too. It ends with an empty line, with the input, or when the budget is spent.
    """
    import numpy as np

    from sdc_problems.errors import SDCError
    from sdc_problems.studies.benchmark.runs import Job
    from sdc_problems.studies.report.terminal import console, plain
    from sdc_problems.suite import Recorder, instance
    from sdc_problems.suite.adapters.lines import serve

    found = instance(name)
    recorder = Recorder(found, _budget(budget), seed=seed, algorithm=algorithm)
    path = Job(algorithm, found.id, seed, recorder.budget).path(out)
    if path.exists():
        raise SDCError(f"{str(path)!r} is there already: choose another --seed, --algorithm or --out")
    try:
        serve(recorder, np.random.default_rng(seed))
    finally:
        path.parent.mkdir(parents=True, exist_ok=True)
        recorder.record().save(path)
    console(stderr=True).print(f"{recorder.evaluations} evaluations in {plain(str(path), 500)}", soft_wrap=True)


@command.command(name="table")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path))
@instance_option
@budget_option
@indicator_option
@click.option("--csv", "as_csv", is_flag=True, help="Print the table as CSV, with all its columns.")
@click.option("--pairs", is_flag=True, help="Print the test of each pair on each instance, too.")
@click.option("--shipped", "beside", is_flag=True, help="Compare with the results that come with the suite, too.")
@json_option
def table_command(
    folders: tuple[Path, ...],
    names: tuple[str, ...],
    budget: str,
    indicator: str,
    as_csv: bool,
    pairs: bool,
    beside: bool,
    as_json: bool,
) -> None:
    """Compare the algorithms whose records are in FOLDERS: indicators, expected runtimes, tests.

    All is computed from the archives that the runs had after BUDGET evaluations, never from final populations. The CSV
    has every named budget if `--budget every` asks for it. Without FOLDERS: the results that come with the suite;
    `--shipped` puts them beside yours, on your instances. Their table has the gap of each seed, and no other indicator.
    """
    from sdc_problems.errors import SDCError
    from sdc_problems.studies.benchmark.shipped import samples_of, shipped, with_shipped
    from sdc_problems.studies.benchmark.show import payload_of, print_table, table_payload
    from sdc_problems.studies.benchmark.tables import every_budget, read_entries, summary, written
    from sdc_problems.studies.report.text import as_json as to_json

    after = _budget(budget)
    if budget == "every" and not as_csv:
        raise SDCError("--budget every is for --csv: tests look at one budget")
    if not folders:
        table = shipped(names, None if budget == "every" else after)
        if not as_csv:
            payload = payload_of(table, samples_of(table, indicator), after, indicator)
    else:
        entries = read_entries(folders, names)
        if as_csv or beside:
            table = every_budget(entries) if budget == "every" else summary(entries, after)
            table = with_shipped(table) if beside else table
            payload = {} if as_csv else payload_of(table, samples_of(table, indicator), after, indicator)
        else:
            payload = table_payload(entries, after, indicator)
    if as_csv:
        click.echo(written(table), nl=False)
    elif as_json:
        click.echo(to_json({"schema": SCHEMA, **payload}))
    else:
        print_table(payload, pairs=pairs)


@command.command(name="plot")
@folders_argument
@instance_option
@budget_option
@indicator_option
@click.option("--between", metavar="A,B", help="Algorithms whose attainment is compared; by default the first two.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder; by default pictures in DIR.")
@click.option("--format", "kind", type=click.Choice(["png", "svg"]), default="png", show_default=True, help="Format.")
def plot_command(
    folders: tuple[Path, ...],
    names: tuple[str, ...],
    budget: str,
    indicator: str,
    between: str | None,
    out: Path | None,
    kind: Literal["png", "svg"],
) -> None:
    """Draw gaps over the run, targets reached, attainment surfaces and their differences, and ranks.

    The front is drawn under what was attained. Instances that not all algorithms have run on count for their own
    pictures only.
    """
    from sdc_problems.errors import SDCError
    from sdc_problems.studies.benchmark.pictures import draw
    from sdc_problems.studies.benchmark.tables import read_entries
    from sdc_problems.studies.commands._options import names as listed
    from sdc_problems.studies.report.plots import rendered
    from sdc_problems.studies.report.terminal import console, plain
    from sdc_problems.studies.store.folder import inside, write_atomically

    chosen = listed(between or "")
    if between is not None and len(chosen) != 2:
        raise SDCError(f"--between takes two algorithms, as in NSGA2,random, not {between!r}")
    entries = read_entries(folders, names)
    place = out or folders[0] / "pictures"
    place.mkdir(parents=True, exist_ok=True)
    pictures = draw(
        entries, budget=_budget(budget), indicator=indicator, between=(chosen[0], chosen[1]) if chosen else None
    )
    for name, figure in pictures:
        path = inside(place, f"{name}.{kind}")
        write_atomically(path, rendered(figure, kind))
        console().print(plain(str(place / path.name), 500), soft_wrap=True)


@command.command(name="check")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@json_option
def check_command(folder: Path | None, as_json: bool) -> None:
    """Check a submission: submission.toml, digests, budgets, and that each F is what its X measures.

    A table.csv in the folder must be what its records say. Nothing in the folder is executed or unpickled. Without
    FOLDER: whether the results that come with the suite are of the instances as they are here. Exit code 1: something
    is wrong.
    """
    from sdc_problems.studies.benchmark.check import check, check_shipped
    from sdc_problems.studies.report.terminal import console, plain
    from sdc_problems.studies.report.text import as_json as to_json

    err = console(stderr=True)
    report = check_shipped() if folder is None else check(folder, tell=lambda line: err.print(plain(line, 500)))
    if as_json:
        said = None if report.submission is None else report.submission.model_dump()
        click.echo(to_json({"schema": SCHEMA, **vars(report), "submission": said}))
    else:
        out = console()
        measured = f", {report.solutions:,} solutions measured again" if folder is not None else " behind the table"
        out.print(f"{report.records:,} records{measured}")
        for line in (*report.problems, *(f"note: {note}" for note in report.notes)):
            out.print(plain(line, 1000), soft_wrap=True)
        out.print("all is as it should be" if not report.problems else f"{len(report.problems)} problems")
    if report.problems:
        click.get_current_context().exit(EXIT_FAILURE)


@command.command(name="export")
@folders_argument
@instance_option
@click.option(
    "--format",
    "kind",
    type=click.Choice(["ioh", "moocore", "paretobench"]),
    required=True,
    help="Format of another tool.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder to write into.")
def export_command(folders: tuple[Path, ...], names: tuple[str, ...], kind: str, out: Path) -> None:
    """Write records for other tools: gaps over the run, or archives.

    IOHanalyzer gets the gaps, moocore and R's eaf the archives at the end, ParetoBench those of 20 moments of each run
    (HDF5, which needs h5py).
    """
    from sdc_problems.studies.benchmark.export import export
    from sdc_problems.studies.benchmark.tables import read_entries
    from sdc_problems.studies.report.terminal import console, plain

    written = export(read_entries(folders, names), kind, out)
    console().print(f"{len(written)} files in {plain(str(out), 500)}", soft_wrap=True)


@command.command(name="page")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path))
@budget_option
@click.option("--shipped", "beside", is_flag=True, help="The results that come with the suite, too.")
@click.option("--verify", is_flag=True, help="Check each submission first, which measures all its solutions again.")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, dir_okay=False), default=Path("leaderboard.html"),
    show_default=True, help="File to write.",
)  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
def page_command(
    folders: tuple[Path, ...], budget: str, beside: bool, verify: bool, out: Path, overwrite: bool
) -> None:
    """Make the leaderboard of FOLDERS: one HTML file that loads nothing, sorted as the reader chooses.

    What was not verified, or was tuned on the suite, is marked. Without FOLDERS: of the results that come with the
    suite.
    """
    from sdc_problems.errors import SDCError
    from sdc_problems.studies.benchmark.page import leaderboard
    from sdc_problems.studies.report.terminal import console, plain
    from sdc_problems.studies.store.folder import write_atomically

    if out.exists() and not overwrite:
        raise SDCError(f"{str(out)!r} exists: replace it by --overwrite, or name another by -o")
    write_atomically(out, leaderboard(folders, budget=_budget(budget), verify=verify, beside=beside))
    console().print(f"leaderboard: {plain(str(out), 500)}", soft_wrap=True)


@command.command(name="freeze")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
def freeze_command(files: tuple[Path, ...]) -> None:
    """Freeze instances of one's own: find their fronts, measure rows, and write it all beside the TOML FILES.

    The folder's index.json lists them then. An instance that was published is not frozen again: a change of any value
    is its next version.
    """
    from sdc_problems.studies.report.terminal import console
    from sdc_problems.suite import freeze

    for file in files:
        found = freeze(file)
        console().print(f"{found.id}: {len(found.front)} points, {found.known}", soft_wrap=True)


@command.command(name="prove")
@suite_option
@instance_option
def prove_command(suite: str, names: tuple[str, ...]) -> None:
    """Prove the fronts of a suite again, and compare them with those that are stored; nothing is written.

    What takes longer than a few seconds is proven again only where --instance names it. Exit code 1: one differs.
    """
    import time

    from sdc_problems.errors import SDCError
    from sdc_problems.studies.report.terminal import console
    from sdc_problems.suite import prove

    out, wrong = console(), 0
    for found in _instances(suite, names):
        if not found.available or (found.stored and not names):
            why = "stored: name it by --instance" if found.available else "its table is not here"
            out.print(f"{found.id}: {why}", soft_wrap=True)
            continue
        began, said = time.process_time(), "the same"
        try:
            prove(found)
        except SDCError as error:
            wrong, said = wrong + 1, str(error)
        seconds = time.process_time() - began
        out.print(f"{found.id}: {len(found.front)} points, {found.known}, {said} ({seconds:.1f} s)", soft_wrap=True)
    if wrong:
        click.get_current_context().exit(EXIT_FAILURE)


@command.command(name="cite")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path))
@suite_option
@instance_option
def cite_command(folders: tuple[Path, ...], suite: str, names: tuple[str, ...]) -> None:
    """Print BibTeX of the suite in its version, the tables and the papers, and one line for a paper.

    Of the instances that the records in FOLDERS are of; of those of --instance; or else of all of the suite.
    """
    from sdc_problems.studies.benchmark.tables import read_entries
    from sdc_problems.suite._citation import citation

    ran_on = {entry.instance.id: entry.instance for entry in read_entries(folders, names)} if folders else {}
    click.echo(citation(list(ran_on.values()) or _instances(suite, names)))


def _budget(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def _instances(suite: str, names: tuple[str, ...]) -> list[Instance]:
    from sdc_problems.errors import SDCError
    from sdc_problems.suite import instance, instances

    if names:
        return [instance(name) for name in dict.fromkeys(names)]
    found = instances(suite)
    if not found:
        known = ", ".join(dict.fromkeys(other.suite for other in instances()))
        raise SDCError(f"there is no suite {suite[:60]!r} (known: {known})")
    return found


def _said(found: Instance) -> dict[str, Any]:
    return {
        "id": found.id, "suite": found.suite, "task": found.task, "title": found.title,
        "objectives": list(found.objectives), "space_in_words": found.space_in_words, "points": len(found.front),
        "space": found.space if found.space < 1e300 else None,
        "known": found.known, "budgets": found.budgets, "available": found.available,
    }  # fmt: skip

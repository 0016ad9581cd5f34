"""Sessions of ``sdc run`` and ``sdc resume``: their options, and their end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sdc_problems.studies.cli import EXIT_INFEASIBLE, EXIT_INTERRUPTED

if TYPE_CHECKING:
    from sdc_problems.studies.run.runner import Outcome

F = TypeVar("F", bound=Callable[..., Any])

pictures_option = click.option("--pictures/--no-pictures", default=True, help="Draw pictures at the end. Default: yes.")


def workers_options(function: F) -> F:
    """Options that change the speed of a run, but never its result."""
    function = click.option(
        "--workers", type=click.IntRange(min=1), help="Number of processes. Default: as the study says."
    )(function)
    return click.option("--scheduler", help='Dask scheduler: "local", or an address such as tcp://host:8786.')(function)


@contextmanager
def beginning(folder: Path) -> Iterator[None]:
    """Announce that the data is being opened; after an early Ctrl-C, say how to continue."""
    from sdc_problems._sharing import sweep
    from sdc_problems.studies.report.terminal import console, plain

    sweep()  # a killed session left copies of the data, and this one may end without sharing any
    err = console(stderr=True)
    if err.is_terminal:
        err.print("opening the data")
    try:
        yield
    except KeyboardInterrupt:
        if folder.is_dir():
            err.print(
                f"interrupted; all complete generations are stored. To continue: sdc resume {plain(str(folder), 500)}"
            )
        else:
            err.print("interrupted before anything was stored: nothing was written")
        click.get_current_context().exit(EXIT_INTERRUPTED)


def finish(
    folder: Path,
    outcome: Outcome,
    *,
    pictures: bool,
    as_json: bool,
    closing: Callable[[dict[str, Any]], str] | None = None,
) -> None:
    """Print the result, draw the pictures, and end with the right exit code.

    ``closing`` makes the text that is printed instead of the fingerprint.
    """
    from sdc_problems.studies.report.summary import account, write_results
    from sdc_problems.studies.report.terminal import console, plain, print_fingerprint, print_front, print_records
    from sdc_problems.studies.report.text import as_json as to_json
    from sdc_problems.studies.store.reader import Run

    err = console(stderr=True)
    with Run(folder) as run:
        payload = account(run)
        if as_json:
            click.echo(to_json(payload))
        if outcome.interrupted:
            err.print(
                f"interrupted; all complete generations are stored. To continue: sdc resume {plain(str(folder), 500)}"
            )
            click.get_current_context().exit(EXIT_INTERRUPTED)
        write_results(run, pictures=pictures)
        if not as_json:
            print_records(payload["data"])
            print_front(run)
            if closing is None:
                print_fingerprint(run)
            else:
                console().print(closing(payload), soft_wrap=True)
            console().print(f"run folder: {plain(str(folder), 500)}")
        if not any(entry["feasible"] for entry in payload["front"]):
            missed = next((ending.missed for ending in outcome.endings if ending.missed), "")
            nearest = f"; the nearest one misses {missed}. Try a longer search, a larger table or another bound"
            err.print(f"nothing feasible: no solution meets the study's [require]{nearest if missed else ''}")
            click.get_current_context().exit(EXIT_INFEASIBLE)

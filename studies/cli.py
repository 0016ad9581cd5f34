"""The ``sdc`` command: a table of commands, each imported only when it is called."""

from __future__ import annotations

import errno
import importlib
import sys
import warnings
from typing import NoReturn, TextIO

import click

from sdc_problems import __version__, _kernel
from sdc_problems.errors import SDCError, SDCFailure, SDCWarning, did_you_mean
from sdc_problems.studies.commands._progress import progress_bar

_usual_warning = warnings.showwarning

# name: (module that defines a click command called `command`, one line for --help); by section, in the order of --help
COMMANDS: dict[str, tuple[str, str]] = {
    "protect": ("files.protect", "Protect a file as asked (k, l, t) by the method that loses least, or by one."),
    "evaluate": ("files.evaluate", "Measure what a protected file gives away and what it has lost."),
    "scan": ("files.scan", "Propose which columns of a file identify a person, and which are secrets."),
    "hierarchy": ("files.hierarchy", "Suggest hierarchies for the columns of a file, or check those there are."),
    "data": ("files.data", "List, describe and fetch the tables that a study can start from."),
    "demo": ("runs.demo", "Run a search on the embedded data: a front, a picture, a run folder."),
    "run": ("runs.run", "Carry out a study."),
    "resume": ("runs.resume", "Go on with a run, whatever ended it."),
    "status": ("runs.status", "Progress of a run, and what it has found."),
    "compare": ("runs.compare", "Several runs side by side, measured alike."),
    "release": ("runs.release", "Write a solution's protected file, checked, with its certificate."),
    "plot": ("runs.plot", "Pictures of a run and of its solutions."),
    "report": ("runs.report", "One HTML file to look at: map, solutions, pictures, progress."),
    "explore": ("runs.explore", "The report's page, live, in a browser on this machine."),
    "schema": ("runs.schema", "The JSON Schema of the study file."),
    "benchmark": ("runs.benchmark", "Algorithms on instances whose fronts are known: run, compare, submit."),
    "reproduce": ("reproduce", "A paper's tables and figures, computed again beside the paper's."),
}
# folder of the commands: its title in --help
SECTIONS = {
    "files": "Files: from a table to a protected one",
    "runs": "Studies: search, look, choose, release",
    "": "Papers",
}

EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_INFEASIBLE = 3
EXIT_INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group that knows its commands' names and first lines without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module and return its ``command``."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"sdc_problems.studies.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command when there is none of that name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"no command {args[0][:60]!r}{did_you_mean(args[0][:60], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table's one-liners: no command is imported for ``--help``."""
        for room, title in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name, line) for name, (module, line) in COMMANDS.items() if module.rpartition(".")[0] == room]
                )


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Results go to stdout, progress and messages to stderr. Start with: sdc demo",
)
@click.version_option(__version__, prog_name="sdc")
def cli() -> None:
    """Protect microdata: search for the best trade-offs between information loss and disclosure risk."""


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning of ours as a note, without the line of source that raised it."""
    if issubclass(category, SDCWarning):
        click.echo(f"note: {message}", err=True)
    else:
        _usual_warning(message, category, filename, lineno, file, line)


def _say_compiling() -> None:
    click.echo("compiling for this machine, once after an installation or update: some seconds …", err=True)


def main() -> NoReturn:
    """Run the command line; bad input is one sentence on stderr and exit code 2, never a traceback."""
    if sys.stderr.isatty():
        _kernel.on_compile = _say_compiling
    try:
        with warnings.catch_warnings(), progress_bar():
            warnings.showwarning = _show_warning
            code = cli.main(prog_name="sdc", standalone_mode=False)
    except click.Abort:
        click.echo("interrupted", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except SDCFailure as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(EXIT_FAILURE)
    except SDCError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(EXIT_USAGE)
    except ValueError as error:
        if "null byte" not in str(error):
            raise
        click.echo("error: a path holds the character NUL, which no file name can", err=True)
        sys.exit(EXIT_USAGE)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        click.echo("error: a path is longer than this system lets names be: choose shorter ones", err=True)
        sys.exit(EXIT_USAGE)
    sys.exit(code if isinstance(code, int) else 0)  # click hands over what Context.exit was told

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
from sdc_problems.parallel._process import was_interrupted
from sdc_problems.studies.commands._progress import progress_bar

_usual_warning = warnings.showwarning

# name: (module that defines a click command called `command`, one line for --help); in sections and order of --help
COMMANDS: dict[str, tuple[str, str]] = {
    "protect": (
        "files.protect",
        "Protect a file: k, l or t by the method that loses least, or a method that you name.",
    ),
    "evaluate": ("files.evaluate", "Measure the disclosure risk and the information loss of a protected file."),
    "scan": ("files.scan", "Propose a role for each column: identifier, quasi-identifier, sensitive or other."),
    "hierarchy": ("files.hierarchy", "Suggest hierarchies for the columns of a file, or check existing ones."),
    "data": ("files.data", "List, describe and fetch the tables that a study can use."),
    "demo": ("runs.demo", "Search for a front on the embedded data, and draw it."),
    "run": ("runs.run", "Run a study in a new run folder."),
    "resume": ("runs.resume", "Continue a run that was interrupted."),
    "status": ("runs.status", "Show the progress and the front of a run."),
    "compare": ("runs.compare", "Compare runs by the same indicators."),
    "release": ("runs.release", "Write the protected file of a solution, and its certificate."),
    "plot": ("runs.plot", "Draw a run and its solutions."),
    "report": ("runs.report", "Write an HTML report: map, solutions, pictures and progress."),
    "explore": ("runs.explore", "Open the page of a run, or the start page, in a browser on this machine."),
    "schema": ("runs.schema", "Print the JSON Schema of the study file, or an example."),
    "benchmark": ("runs.benchmark", "Run and compare algorithms on instances whose fronts are known."),
    "reproduce": ("reproduce", "Compute the tables and figures of a paper again, and compare them with the paper."),
}
# folder of the commands: its title in --help
SECTIONS = {
    "files": "Files: protect a table and measure it",
    "runs": "Studies: search, compare, choose and release",
    "": "Papers",
}

EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_INFEASIBLE = 3
EXIT_INTERRUPTED = 130

LEAST_MEMORY = 640 << 20
"""Bytes of address space that a command needs: a small table takes 580 MiB. With less, scipy's linear algebra may look
for memory forever while it loads, and LLVM ends the process if numba finds none."""

NO_MEMORY = ("failed to map segment", "annot allocate memory", "can't start new thread", "cannot load native module")


class LazyGroup(click.Group):
    """Group of commands whose names and first lines are known without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module and return its ``command``."""
        if cmd_name not in COMMANDS:
            return None
        _check_memory_limit()
        module = importlib.import_module(f"sdc_problems.studies.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest command for an unknown name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"no command {args[0][:60]!r}{did_you_mean(args[0][:60], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one line per command from the table: no command is imported for ``--help``."""
        for room, title in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name, line) for name, (module, line) in COMMANDS.items() if module.rpartition(".")[0] == room]
                )


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Results go to stdout; progress and messages go to stderr. To start: sdc demo",
)
@click.version_option(__version__, prog_name="sdc")
def cli() -> None:
    """Protect microdata, and search for the best trade-offs between information loss and disclosure risk."""


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning of this package as a note, without the line of source code that raised it."""
    if issubclass(category, SDCWarning):
        click.echo(f"note: {message}", err=True)
    else:
        _usual_warning(message, category, filename, lineno, file, line)


def _say_compiling() -> None:
    click.echo("compiling for this machine (once after an installation or an update; takes some seconds) …", err=True)


def _check_memory_limit() -> None:
    """Refuse a memory limit that is too low for any command."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < LEAST_MEMORY:
        raise SDCFailure(
            f"memory is limited to {limit / 2**20:,.0f} MiB of addresses (ulimit -v), and sdc needs"
            f" {LEAST_MEMORY >> 20} MiB: raise the limit"
        )


def out_of_memory(error: BaseException) -> bool:
    """Whether an error is due to a lack of memory, which Python, the library loader and the system report differently.

    Examples
    --------
    >>> out_of_memory(MemoryError()), out_of_memory(ImportError("x.so: failed to map segment from shared object"))
    (True, True)
    >>> out_of_memory(ImportError("no module named x"))
    False
    """
    seen: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and at not in seen:
        if isinstance(at, MemoryError) or (isinstance(at, OSError) and at.errno == errno.ENOMEM):
            return True
        if isinstance(at, ImportError | RuntimeError | OSError) and any(said in str(at) for said in NO_MEMORY):
            return True
        seen.append(at)
        at = at.__cause__ or at.__context__
    return False


def _sentence(error: Exception) -> tuple[str, int] | None:
    """Sentence and exit code for an error that is no bug; None for a bug."""
    if isinstance(error, click.Abort) or was_interrupted():
        return "interrupted", EXIT_INTERRUPTED
    if isinstance(error, SDCError):
        return f"error: {error}", EXIT_FAILURE if isinstance(error, SDCFailure) else EXIT_USAGE
    if isinstance(error, ValueError) and "null byte" in str(error):
        return "error: a path contains the character NUL, which no file name may contain: remove it", EXIT_USAGE
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return "error: a path is longer than this system allows: choose shorter names", EXIT_USAGE
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "error: the disk is full: free some space (files are written whole or not at all)", EXIT_FAILURE
    if out_of_memory(error):
        return (
            "error: there is too little memory for this, on the machine or within the limit set for the command: use"
            " fewer --workers, a smaller table, or raise the limit (what was stored is safe)"
        ), EXIT_FAILURE
    return None


def main() -> NoReturn:
    """Run the command line; bad input gives one sentence on stderr and exit code 2, never a traceback."""
    if sys.stderr.isatty():
        _kernel.on_compile = _say_compiling
    try:
        with warnings.catch_warnings(), progress_bar():
            warnings.showwarning = _show_warning
            code = cli.main(prog_name="sdc", standalone_mode=False)
    except Exception as error:
        if isinstance(error, click.ClickException) and not was_interrupted():
            error.show()
            sys.exit(error.exit_code)
        said = _sentence(error)
        if said is None:
            raise
        text, code = said
        click.echo(text, err=True)
        sys.exit(code)
    sys.exit(code if isinstance(code, int) else 0)  # click returns the code given to Context.exit

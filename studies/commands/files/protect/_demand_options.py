"""Options of ``sdc protect`` for demands on the file; table of the methods' costs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from sdc_problems.errors import SDCError
from sdc_problems.studies.commands._options import ParamType, names, pairs
from sdc_problems.studies.commands.files.protect._method_options import as_typed

if TYPE_CHECKING:
    from sdc_problems.studies.release import Protected

F = TypeVar("F", bound=Callable[..., Any])

CHOOSING = (
    "method",
    "k",
    "l",
    "entropy_l",
    "t",
    "max_risk",
    "max_suppression",
    "suppression_price",
    "seconds",
    "allow_perturbed",
    "explain",
)
"""Options that the comparison turns into a method and its own options."""


class Amount(ParamType):
    """Records that may be left out: ``1%`` or ``300 records``."""

    name = "N%|N records"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a share as a float and a count as an int; a bare number could be either and is refused."""
        if not isinstance(value, str):
            return value
        text = value.strip()
        if share := re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", text):
            percent = float(share[1])
            if percent >= 100:
                self.fail(f"{text} would leave no record: give less than 100%", param, ctx)
            return percent / 100
        if count := re.fullmatch(r"(\d+)\s*records?", text):
            return int(count[1])
        if re.fullmatch(r"0+", text):
            return 0
        if re.fullmatch(r"\d+(\.\d+)?", text):
            records = f"'{text} records'" if "." not in text else f"'{max(round(float(text)), 1)} records'"
            share_said = f" or {100 * float(text):g}% (a share)" if 0 < float(text) < 1 else ""
            self.fail(f"{text} could mean {text}%{share_said} or {records}: write one of them", param, ctx)
        self.fail(f"{text!r} is neither a percentage, as in 1%, nor a count, as in '300 records'", param, ctx)


POSITIVE = click.FloatRange(min=0, min_open=True)


def demand_options(function: F) -> F:
    """Options for demands on classes, and for what may be done to meet them."""
    for option in reversed([
        click.option("--k", type=int, help="Fewest records in a class."),
        click.option("--l", type=int, help="Fewest sensitive values in a class."),
        click.option("--entropy-l", type=float, help="Least entropy ℓ-diversity of a class."),
        click.option("--t", type=float, help="Largest t-closeness of a class, 0 to 1."),
        click.option("--max-risk", type=float, help="Largest risk in percent. 20 means k = 5."),
        click.option("--within", default="", help="Columns. Demands hold in each stratum."),
        click.option("--max-suppression", type=Amount(), help="Most records left out. Default: 1%."),
        click.option("--suppression-price", type=POSITIVE, metavar="P", help="Price of a record left out."),
        click.option("--importance", default="", metavar="NAME=W,…", help="Column weights in the loss. Default: 1."),
        click.option("--seconds", type=POSITIVE, metavar="S", help="Seconds for a search."),
        click.option("--allow-perturbed", is_flag=True, help="Allow methods that write invented values."),
        click.option("--explain", is_flag=True, help="Explain the choice, and price a larger k."),
    ]):  # fmt: skip
        function = option(function)
    return function


def importance_of(text: str) -> dict[str, float] | None:
    """Weights by column, as in ``zip=3,age=1``."""
    found: dict[str, float] = {}
    for name, value in pairs(tuple(names(text)), "--importance"):
        try:
            found[name] = float(value)
        except ValueError:
            raise SDCError(f"--importance {name}={value}: {value!r} is not a number") from None
    return found or None


def show_costs(done: Protected, explain: bool) -> None:
    """Print the cost of each method, and on request the reasons for the choice."""
    from rich.table import Table

    from sdc_problems.studies.release._choice import costs
    from sdc_problems.studies.report.terminal import console, plain

    assert done.choice is not None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    priced = () if done.choice.price is None else ("with price %",)
    for title in ("", "method", "detail lost %", *priced, "suppressed", "k", "→ written"):
        table.add_column(title, justify="left" if title in ("", "method", "→ written") else "right")
    for row in costs(done.choice):
        table.add_row(*(plain(cell, 200) for cell in row))
    screen = console()
    screen.print()
    screen.print(table)
    if explain:
        for sentence in done.choice.why():
            screen.print(plain(sentence, 500))
    screen.print()


def repeating_line(ctx: click.Context, done: Protected) -> str:
    """Command line that makes the same file by the chosen method, without the comparison."""
    assert done.choice is not None
    best = done.choice.chosen
    parts = ["sdc", "protect", str(ctx.params["file"]), "--method", best.method]
    promised = best.demand.asked if best.method != "mdav" else {"k": best.demand.k}
    parts += as_typed({name: value for name, value in promised.items() if value is not None})
    options = dict(best.options)
    if (most := options.pop("max_suppression", None)) is not None:
        parts += ["--max-suppression", f"{most} records" if isinstance(most, int) else f"{100 * most:.12g}%"]
    parts += as_typed(options)
    for parameter in ctx.command.params:
        name = parameter.name or ""
        given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not given or name in CHOOSING or name in ("file", "as_json"):
            continue
        flag, value = max(parameter.opts, key=len), ctx.params[name]
        for each in value if isinstance(value, tuple) else (value,):
            parts += [flag] if each is True else [flag, str(each).replace("\t", "\\t")]
    return shlex.join(parts)

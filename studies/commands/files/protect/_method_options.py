"""Options of ``sdc protect`` for the named method, made from the parameters of its function."""

from __future__ import annotations

import functools
import json
import shlex
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Union

import click

from sdc_problems._signature import REQUIRED, UNKNOWN, Parameter
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.methods.registry import Method, available, find
from sdc_problems.studies.commands._options import ParamType


def named_method(args: Sequence[str]) -> str | None:
    """Value of ``--method`` on a command line; the last one counts, as in click."""
    found = None
    for i, word in enumerate(args):
        if word == "--":
            break
        if word == "--method" and i + 1 < len(args):
            found = args[i + 1]
        elif word.startswith("--method="):
            found = word.partition("=")[2]
    return found


@functools.cache
def method_options(name: str) -> tuple[click.Option, ...]:
    """Options of a method, in the order of its function."""
    return tuple(_option(parameter) for parameter in find(name).options)


def _option(parameter: Parameter) -> click.Option:
    flag = _flag(parameter.name)
    kinds = _kinds(parameter.hint)
    default = parameter.default
    shown: bool | str = default is not None and default is not REQUIRED
    value = None if default is REQUIRED else default
    text = parameter.help + (" Required." if default is REQUIRED else "")
    if kinds == [bool]:
        off = f"--no-{flag[2:]}"
        return click.Option([f"{flag}/{off}", parameter.name], default=value, show_default=bool(shown), help=text)
    choices = [c for kind in kinds if typing.get_origin(kind) is Literal for c in typing.get_args(kind)]
    kind: click.ParamType[Any] = (
        click.Choice([str(c) for c in choices]) if choices and len(kinds) == 1 else OptionValue(kinds)
    )
    if isinstance(value, (list, tuple, dict)) and not value:
        value, shown = None, False
    return click.Option([flag, parameter.name], type=kind, default=value, show_default=shown, help=text)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _kinds(hint: Any) -> list[Any]:
    """Types that a value may have, except None."""
    if hint is UNKNOWN:
        return [str]
    if typing.get_origin(hint) in (Union, types.UnionType):
        return [kind for part in typing.get_args(hint) for kind in _kinds(part)]
    return [] if hint is type(None) else [hint]


class OptionValue(ParamType):
    """Value of any of several types: a number, a text, a list as in a,b, or values by column as in age=1,wage=2."""

    def __init__(self, kinds: Iterable[Any]) -> None:
        self.kinds = list(kinds)
        plain = [kind.__name__ for kind in self.kinds if kind in (int, float, str)]
        many = ["list" if _is(kind, Sequence) else "name=value,…" for kind in self.kinds if typing.get_origin(kind)]
        self.name = "|".join([{"int": "integer", "str": "text"}.get(word, word) for word in plain] + many)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the value as the first of the types that it fits."""
        if not isinstance(value, str):
            return value
        for kind in (k for k in self.kinds if typing.get_origin(k)):
            read = (
                _by_name(value, kind) if _is(kind, Mapping) else _listed(value, kind) if _is(kind, Sequence) else None
            )
            if read is not None:
                return read
        for kind in (int, float):
            if kind in self.kinds:
                try:
                    return kind(value)
                except ValueError:
                    continue
        if str in self.kinds:
            return value
        self.fail(f"{value!r} is not {self._wanted()}", param, ctx)

    def _wanted(self) -> str:
        words = {int: "a whole number", float: "a number"}
        said = [words[kind] for kind in (float, int) if kind in self.kinds][:1]
        for kind in self.kinds:
            if _is(kind, Mapping):
                said.append('values by column, as in age=1,wage=2 or {age = [1, 2], town = [["a", "b"]]}')
            elif _is(kind, Sequence):
                said.append("a list, as in a,b")
        return " or ".join(said)


def _is(kind: Any, outer: type) -> bool:
    origin = typing.get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, outer)


def _by_name(text: str, kind: Any) -> dict[str, Any] | None:
    """Values by name: a TOML table in braces, or name=value pairs."""
    if text.lstrip().startswith("{"):
        try:
            found: dict[str, Any] = tomllib.loads(f"it = {text}")["it"]
        except tomllib.TOMLDecodeError:
            return None
        return found
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(equals and name.strip() for name, equals, _ in pairs):
        return None
    inner = typing.get_args(kind)[1]
    try:
        return {name.strip(): inner(value) if inner in (int, float) else value.strip() for name, _, value in pairs}
    except ValueError:
        return None


def _listed(text: str, kind: Any) -> list[Any] | None:
    inner = typing.get_args(kind)[0]
    words = [word.strip() for word in text.split(",") if word.strip()]
    if inner not in (int, float):
        return words
    if len(words) < 2:
        return None  # a single number is left to the other types
    try:
        return [inner(word) for word in words]
    except ValueError:
        return None


def as_typed(options: Mapping[str, Any]) -> list[str]:
    """Words of a command line that give these options.

    Examples
    --------
    >>> as_typed({"window": 4, "standardize": False, "levels": {"age": 1, "wage": 2}, "groups": {"town": [["a", "b"]]}})
    ['--window', '4', '--no-standardize', '--levels', 'age=1,wage=2', '--groups', '{town = [["a", "b"]]}']
    """
    words = []
    for name, value in options.items():
        if isinstance(value, bool):
            words.append(_flag(name if value else f"no_{name}"))
        elif not isinstance(value, Mapping):
            words += [_flag(name), ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)]
        elif any(isinstance(part, (list, tuple)) for part in value.values()):
            inner = ", ".join(f"{key} = {json.dumps(part, ensure_ascii=False)}" for key, part in value.items())
            words += [_flag(name), f"{{{inner}}}"]
        else:
            words += [_flag(name), ",".join(f"{key}={part}" for key, part in value.items())]
    return words


class MethodCommand(click.Command):
    """Command that also has the options of the method that ``--method`` names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options of the method; an unknown one is refused with the methods that have it."""
        named = named_method(args)
        ctx.meta["method"] = named
        if named is not None:
            ctx.meta["options"] = method_options(named)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise SDCError(self._refusal(ctx, error.option_name)) from None

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Options of the command and of the method."""
        return [*super().get_params(ctx), *ctx.meta.get("options", ())]

    def _refusal(self, ctx: click.Context, option: str) -> str:
        name = ctx.meta.get("method")
        own = [flag for given in ctx.meta.get("options", ()) for flag in given.opts]
        every = [flag for given in self.get_params(ctx) for flag in given.opts if flag.startswith("--")]
        near = did_you_mean(option, every)
        if not near:
            others = [m.name for m in available().values() if option in [_flag(p.name) for p in m.options]]
            near = f"; it belongs to {', '.join(others)}" if others else ""
        if name is None:
            return f"sdc protect has no option {option!r}{near or ' (a --method may add options)'}"
        listed = f"its options: {', '.join(own)}" if own else "it has none of its own"
        return f"method {name} has no option {option!r}{near} ({listed})"

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description of the chosen method."""
        named = ctx.meta.get("method")
        if named is None:
            super().format_help_text(ctx, formatter)
            return
        formatter.write_paragraph()
        with formatter.indentation():
            for line in about(find(named)):
                formatter.write_text(line)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the chosen method's options before those of all methods."""
        named = ctx.meta.get("method")
        options = ctx.meta.get("options", ()) if named is not None else ()
        records = [record for option in options if (record := option.get_help_record(ctx)) is not None]
        if records:
            with formatter.section(f"Options of {named}"):
                formatter.write_dl(records)
        common = [p for p in super().get_params(ctx) if isinstance(p, click.Option)]
        own = [record for p in common if (record := p.get_help_record(ctx)) is not None]
        with formatter.section("Options of all methods" if named else "Options"):
            formatter.write_dl(own)


def about(method: Method) -> list[str]:
    """Lines of help on a method."""
    needs = [word for word, asked in (("k", method.takes_k), ("hierarchies", method.needs_hierarchies)) if asked]
    drawn = "Draws random numbers" + ("; whoever knows the seed can undo them." if method.secret_seed else ".")
    return [
        f"{method.name}: {method.title}.",
        f"For {'a single' if method.one_column else ', '.join(method.kinds)}"
        f"{' ' + method.kinds[0] if method.one_column else ''} column{'' if method.one_column else 's'}."
        f"{' Needs ' + ' and '.join(needs) + '.' if needs else ''}",
        f"Guarantee: {method.promise}.",
        *([] if method.most_records is None else [f"For up to {method.most_records:,} records at once."]),
        drawn if method.random else "Draws no random numbers.",
        *([f"Use it when: {method.use}"] if method.use else []),
        *([f"Use another one when: {method.avoid}"] if method.avoid else []),
        *([f"Example: --method {method.name} {shlex.join(as_typed(method.example))}"] if method.example else []),
    ]


def listed(methods: Iterable[Method]) -> str:
    """Table of methods: name, guarantee, description."""
    rows = [(m.name, m.guarantee or "-", m.title) for m in methods]
    width = max(len(name) for name, _, _ in rows)
    lines = [f"{name.ljust(width)}  {promise}  {title}" for name, promise, title in rows]
    return "\n".join([f"{'method'.ljust(width)}  k: promises k, counted in the written file", *lines])

"""Parameters of a function or class, from its signature and its numpydoc docstring: the one home of a default.

Study files, ``sdc schema``, ``sdc protect`` and the docs take an option's type, default and description from here.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


REQUIRED: Final = _Required()
"""Default of a parameter that has none."""
UNKNOWN: Final = _Unknown()
"""Type of a parameter that has no annotation, or one that only a type checker can resolve."""


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    Attributes
    ----------
    name
        Its name.
    hint
        Its resolved annotation, or ``UNKNOWN``.
    default
        Its default, or ``REQUIRED``.
    help
        Its description in the docstring, on one line; may be empty.
    """

    name: str
    hint: Any
    default: Any
    help: str


def parameters(target: Callable[..., Any]) -> dict[str, Parameter]:
    """Parameters of a function, or of a class' constructor and of the constructors that get its ``**kwargs``.

    Parameters
    ----------
    target
        A function or a class.

    Examples
    --------
    >>> def add(value: int, *, times: int = 2) -> int:
    ...     '''Add.
    ...
    ...     Parameters
    ...     ----------
    ...     value
    ...         What is
    ...         added.
    ...     times
    ...         How often.
    ...     '''
    >>> parameters(add)["value"]
    Parameter(name='value', hint=<class 'int'>, default=REQUIRED, help='What is added.')
    >>> parameters(add)["times"].default
    2
    """
    found: dict[str, Parameter] = {}
    for function, described in _functions(target):
        namespace = vars(sys.modules[function.__module__])
        texts = _described(described, namespace)
        handed_on = False
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind is parameter.VAR_KEYWORD:
                handed_on = True
            elif parameter.kind is not parameter.VAR_POSITIONAL and name != "self" and name not in found:
                default = REQUIRED if parameter.default is parameter.empty else parameter.default
                hint = _resolved(parameter.annotation, namespace)
                found[name] = Parameter(name, hint, default, texts.get(name, ""))
        if not handed_on:
            break
    return found


def _functions(target: Callable[..., Any]) -> Iterator[tuple[Callable[..., Any], str]]:
    """A function with its docstring; for a class its constructors, nearest first, each with its class' docstring."""
    if not isinstance(target, type):
        yield target, target.__doc__ or ""
        return
    for owner in target.__mro__[:-1]:
        if "__init__" in vars(owner):
            function = vars(owner)["__init__"]
            yield function, f"{inspect.cleandoc(owner.__doc__ or '')}\n\n{inspect.cleandoc(function.__doc__ or '')}"


def _resolved(annotation: Any, namespace: Mapping[str, Any]) -> Any:
    if annotation is inspect.Parameter.empty:
        return UNKNOWN

    def holder() -> None: ...

    holder.__annotations__ = {"it": annotation}
    try:
        return typing.get_type_hints(holder, globalns=dict(namespace), include_extras=True)["it"]
    except NameError:  # imported only for type checkers
        return UNKNOWN


def _described(text: str, namespace: Mapping[str, Any]) -> dict[str, str]:
    """Description of each parameter in the section "Parameters"; "As for :class:`Other`." is looked up there."""
    found: dict[str, str] = {}
    for names, words in _entries(inspect.cleandoc(text)):
        reference = re.fullmatch(r"As for :class:`~?([\w.]+)`\.", words)
        other = {} if reference is None else parameters(_named(reference[1], namespace))
        for name in names:
            found[name] = other[name].help if name in other else words
    return found


def _named(path: str, namespace: Mapping[str, Any]) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name) if module else namespace[name]


def _entries(text: str) -> Iterator[tuple[list[str], str]]:
    lines = text.splitlines()
    inside = False
    names: list[str] = []
    words: list[str] = []
    for number, line in enumerate(lines):
        underlined = number + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[number + 1].strip()) is not None
        if underlined:
            if names:
                yield names, _plain(words)
            names, words = [], []
            inside = line.strip() == "Parameters"
        elif inside and line and not line[0].isspace() and not re.fullmatch(r"-{3,}", line.strip()):
            if names:
                yield names, _plain(words)
            names, words = [name.strip() for name in line.partition(":")[0].split(",")], []
        elif inside:
            words.append(line.strip())
    if names:
        yield names, _plain(words)


def _plain(words: list[str]) -> str:
    """Join words to one line with single backticks."""
    return re.sub(r"``(.+?)``", r"`\1`", " ".join(word for word in words if word))

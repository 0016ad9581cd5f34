"""Options of a section of a study file, derived from a constructor with its types, defaults and descriptions.

A task's options are those of its problem's constructor, a search's those of its algorithm's, an operator's those of its
class. Anything that a study file cannot express (data, functions, arrays) is not an option. Neither is anything that
only affects speed, which belongs to ``[run]``.
"""

from __future__ import annotations

import functools
import inspect
import operator
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union

import numpy as np
from pydantic import Field, create_model

from sdc_problems._signature import REQUIRED, parameters
from sdc_problems.errors import SDCError
from sdc_problems.studies.study.validation import Section

RESOURCES = frozenset({"threads", "workers", "memory"})
"""Parameters that only affect how fast something is computed."""
STUDY_SECTIONS = frozenset({"require"})
"""Parameters for which a study file has a separate section."""
_PLAIN = (int, float, bool, str, type(None))


@dataclass(frozen=True)
class Argument:
    """Type of an option for pydantic, with its bounds, and its description if the docstring has none."""

    kind: Any
    help: str = ""


def options_model(
    target: Callable[..., Any],
    *,
    only: Sequence[str] | None = None,
    without: Sequence[str] = (),
    arguments: Mapping[str, Argument] | None = None,
    defaults: Mapping[str, Any] | None = None,
    more: type[Section] | tuple[type[Section], ...] = Section,
) -> type[Section]:
    """Model of a section: one field for each parameter that a study file can express.

    Parameters
    ----------
    target
        The class or function.
    only
        Names of the parameters to take, in this order; by default all.
    without
        Names to leave out.
    arguments
        Types, with bounds, for parameters whose annotation does not give them, and descriptions for those that have
        none.
    defaults
        Defaults of parameters that have none.
    more
        Models whose fields are added.

    Examples
    --------
    >>> from sdc_problems.problems.attribute_grouping import GOMMProblem
    >>> options_model(GOMMProblem, without=("data",)).model_fields["k"].description
    'Smallest cluster of each microaggregation, 2 … n/2.'
    """
    known = parameters(target)
    named = only is not None
    fields: dict[str, Any] = {}
    for name in known if only is None else only:
        parameter = known[name]
        if name in without or (not named and name in RESOURCES | STUDY_SECTIONS):
            continue
        said = (arguments or {}).get(name) or Argument(option_type(parameter.hint), parameter.help)
        default = parameter.default
        if default is REQUIRED:
            default = (defaults or {}).get(name, REQUIRED)
        if said.kind is None:
            if named or default is REQUIRED:
                raise SDCError(
                    f"{target.__qualname__}: {name!r} cannot be in a study file, because it is {parameter.hint}"
                )
            continue
        fields[name] = _field(said.kind, said.help or parameter.help, default)
    text = inspect.cleandoc(target.__doc__ or "").partition("\n\n")[0]
    return create_model(target.__name__, __base__=more, __doc__=" ".join(text.split()), **fields)


def _field(kind: Any, text: str, default: Any) -> tuple[Any, Any]:
    if default is None and type(None) not in typing.get_args(kind):
        kind = _either(kind, type(None))
    if isinstance(default, tuple):
        default = list(default)
    given: dict[str, Any] = {} if default is REQUIRED else {"default": default}
    if text:
        given["description"] = text
    return kind, Field(**given)


def option_type(hint: Any) -> Any:
    """Type of a parameter's value in a study file; None if a file cannot express it.

    In a union, types that a file cannot express are left out: arrays, and objectives that a person wrote.

    Examples
    --------
    >>> option_type(Sequence[str]), option_type(Mapping[str, int] | int | None), option_type(Callable[[], int])
    (list[str], dict[str, int] | int | None, None)
    """
    from sdc_problems.problem import Objective

    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal or hint in _PLAIN:
        return hint
    if origin is Annotated:
        return None if option_type(arguments[0]) is None else hint
    if origin in (Union, types.UnionType):
        parts = [option_type(p) for p in arguments if p is not Objective and typing.get_origin(p) is not np.ndarray]
        return None if None in parts else _either(*parts)
    if origin is tuple and arguments[-1:] != (Ellipsis,):
        if len(set(arguments)) > 1:
            return None
        length = Field(min_length=len(arguments), max_length=len(arguments))
        return _holding(list, arguments[0], lambda listed: Annotated[listed, length])
    if inspect.isclass(origin) and issubclass(origin, Mapping) and arguments[0] is str:
        return _holding(dict, arguments[1])
    if inspect.isclass(origin) and issubclass(origin, Sequence):
        return _holding(list, arguments[0])
    return None


def _either(*kinds: Any) -> Any:
    return functools.reduce(operator.or_, kinds)


def _holding(outer: type, inner: Any, then: Callable[[Any], Any] = lambda kind: kind) -> Any:
    kind = option_type(inner)
    if kind is None:
        return None
    return then(types.GenericAlias(outer, (str, kind) if outer is dict else (kind,)))


def given(options: Section, *, without: Sequence[str] = ()) -> dict[str, Any]:
    """Options as keyword arguments; those that are None are left to the constructor."""
    values = {name: getattr(options, name) for name in type(options).model_fields if name not in without}
    return {name: value for name, value in values.items() if value is not None}


@contextmanager
def refused_as(place: str, names: Sequence[str]) -> Iterator[None]:
    """Make errors of a constructor name the place of the option in the study file.

    Examples
    --------
    >>> with refused_as("problem", ["k"]):
    ...     raise SDCError("k must be a whole number ≥ 2, not 1")
    Traceback (most recent call last):
        ...
    sdc_problems.errors.SDCError: problem.k must be a whole number ≥ 2, not 1
    """
    try:
        yield
    except SDCError as error:
        first = re.match(r"\w+", str(error))
        joint = "." if first is not None and first[0] in names else ": "
        raise type(error)(f"{place}{joint}{error}") from None
